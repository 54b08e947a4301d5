/* transport/tcp/connection.c - a connection's life and what it sends. Several packets that wait go with one system
 * call; a large one goes as far as the system takes it, and the rest later. */
#include "transport/tcp/connection.h"

#include "transport/tcp/socket.h"

#include <assert.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIECES = 32, RETRANSMITS = 3, SILENCE_MS = 1000 };

/* ---- life ---- */

tt_tcp_connection *tt_tcp_connection_create(int fd, int64_t peer, int32_t rail, bool called) {
  assert(fd >= 0 && rail >= 0);
  tt_tcp_connection *connection = calloc(1, sizeof *connection);
  if (!connection)
    return NULL;
  *connection = (tt_tcp_connection){.fd = fd, .peer = peer, .rail = rail, .called = called, .opened_ns = tt_clock_ns()};
  return connection;
}

void tt_tcp_connection_close(tt_tcp_connection *connection, bool reset) {
  if (connection->fd < 0)
    return;
  if (reset)
    tt_tcp_socket_abort(connection->fd);
  else
    tt_tcp_socket_close(connection->fd);
  connection->fd = -1;
}

void tt_tcp_connection_destroy(tt_tcp_connection *connection, tt_streams_pool *pool) {
  tt_tcp_connection_close(connection, false);
  while (connection->sent.first)
    tt_streams_pool_put(pool, tt_streams_queue_remove(&connection->sent));
  tt_streams_pool_put(pool, connection->packet);
  tt_tcp_acks_finish(&connection->acks);
  free(connection);
}

/* ---- out ---- */

static tt_tcp_fate fate_of(tt_tcp_connection *connection, int error) {
  if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR) {
    connection->full = error != EINTR;
    return TT_TCP_GOES;
  }
  connection->error = error;
  return error == EPIPE || error == ECONNRESET ? TT_TCP_ENDED : TT_TCP_BROKEN;
}

/* *sent: 0 where the system takes nothing. */
static tt_tcp_fate push(tt_tcp_connection *connection, struct iovec *piece, size_t count, size_t *sent) {
  const struct msghdr message = {.msg_iov = piece, .msg_iovlen = count};
  ssize_t bytes = sendmsg(connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  *sent = bytes > 0 ? (size_t)bytes : 0;
  connection->moved += *sent;
  return bytes >= 0 ? TT_TCP_GOES : fate_of(connection, errno);
}

static struct iovec piece_of(const tt_streams_packet *packet, size_t from) {
  assert(from < tt_streams_packet_wire_bytes(packet)); /* a head is never nothing */
  return (struct iovec){.iov_base = (void *)(uintptr_t)(tt_streams_packet_wire(packet) + from),
                        .iov_len = tt_streams_packet_wire_bytes(packet) - from};
}

/* The rest of the last packet, and what may follow it. */
static size_t gather(const tt_tcp_connection *connection, const tt_streams_queue *from, size_t most,
                     struct iovec piece[PIECES], size_t *bytes) {
  size_t count = 0;
  *bytes = 0;
  if (connection->part > 0)
    piece[count++] = piece_of(connection->sent.last, connection->part);
  for (size_t n = 0; n < count; n++)
    *bytes += piece[n].iov_len;
  for (const tt_streams_packet *packet = from->first; packet && count < PIECES; packet = packet->next) {
    if (count > 0 && *bytes + tt_streams_packet_wire_bytes(packet) > most)
      break;
    piece[count] = piece_of(packet, 0);
    *bytes += piece[count++].iov_len;
  }
  return count;
}

tt_tcp_fate tt_tcp_connection_send(tt_tcp_connection *connection, tt_streams_queue *from, size_t most,
                                   void (*whole)(void *user, const tt_streams_packet *packet), void *user) {
  assert(connection->called && (connection->part == 0 || connection->sent.last));
  struct iovec piece[PIECES];
  size_t bytes, sent, count = gather(connection, from, most, piece, &bytes);
  if (count == 0)
    return TT_TCP_GOES;
  tt_tcp_fate fate = push(connection, piece, count, &sent);
  connection->full = connection->full || sent < bytes;
  while (sent > 0) {
    if (connection->part == 0)
      tt_streams_queue_add(&connection->sent, tt_streams_queue_remove(from));
    const tt_streams_packet *packet = connection->sent.last;
    size_t rest = tt_streams_packet_wire_bytes(packet) - connection->part, took = sent < rest ? sent : rest;
    sent -= took;
    connection->part = took < rest ? connection->part + took : 0;
    if (connection->part == 0)
      whole(user, packet);
  }
  return fate;
}

tt_tcp_fate tt_tcp_connection_say(tt_tcp_connection *connection) {
  tt_tcp_acks *acks = &connection->acks;
  assert(!connection->called && acks->begin <= acks->end && acks->end <= acks->size);
  tt_tcp_fate fate = TT_TCP_GOES;
  while (fate == TT_TCP_GOES && acks->begin < acks->end && !connection->full) {
    struct iovec piece = {.iov_base = acks->bytes + acks->begin, .iov_len = acks->end - acks->begin};
    size_t sent;
    fate = push(connection, &piece, 1, &sent);
    acks->begin += sent;
  }
  return fate;
}

/* The head of the last packet again, without data: it has come before. Not counted as moved. */
tt_tcp_fate tt_tcp_connection_nudge(tt_tcp_connection *connection) {
  assert(connection->called);
  const int on = 1; /* it is on: to say so again pushes what waits for that time (tail.c) */
  (void)setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connection->full || connection->part > 0 || !connection->sent.last)
    return TT_TCP_GOES;
  tt_streams_head head = connection->sent.last->head;
  head.bytes = 0;
  ssize_t bytes = send(connection->fd, &head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (bytes < 0)
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? TT_TCP_GOES : fate_of(connection, errno);
  connection->why = bytes < (ssize_t)sizeof head ? "a head went in part" : NULL;
  return connection->why ? TT_TCP_BROKEN : TT_TCP_GOES;
}

/* ---- alive? ---- */

size_t tt_tcp_connection_in_flight(const tt_tcp_connection *connection) {
  int bytes = 0;
  return ioctl(connection->fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (size_t)bytes : 0;
}

/* The time to the next retransmission, which doubles each time: no acknowledgement for longer means that the last one
 * was not answered. Of a closed window it is the probes that were not answered: a process that is stopped has a system
 * that answers them. */
bool tt_tcp_connection_is_silent(const tt_tcp_connection *connection) {
  struct tcp_info info = {.tcpi_state = 0};
  socklen_t size = sizeof info;
  if (getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return false;
  bool asked = (info.tcpi_unacked > 0 && info.tcpi_retransmits >= RETRANSMITS) || info.tcpi_probes >= RETRANSMITS;
  return asked && info.tcpi_last_ack_recv > SILENCE_MS && (uint64_t)info.tcpi_last_ack_recv * 1000 > info.tcpi_rto;
}

bool tt_tcp_nic_is_down(const char name[static 16]) {
  char path[64], state[16] = "";
  snprintf(path, sizeof path, "/sys/class/net/%.15s/operstate", name);
  FILE *file = fopen(path, "re");
  if (!file)
    return false;
  bool down =
      fgets(state, sizeof state, file) &&
      (strcmp(state, "down\n") == 0 || strcmp(state, "lowerlayerdown\n") == 0 || strcmp(state, "notpresent\n") == 0);
  fclose(file);
  return down;
}

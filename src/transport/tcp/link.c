/* transport/tcp/link.c - a connection's life and what it sends. Several letters that wait go with one system call; a
 * large one goes as far as the system takes it, and the rest later. */
#include "transport/tcp/link.h"

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

tt_tcp_link *tt_tcp_link_create(int fd, int64_t peer, int32_t rail, bool called) {
  assert(fd >= 0 && rail >= 0);
  tt_tcp_link *link = calloc(1, sizeof *link);
  if (!link)
    return NULL;
  *link = (tt_tcp_link){.fd = fd, .peer = peer, .rail = rail, .called = called, .opened_ns = tt_clock_ns()};
  return link;
}

void tt_tcp_link_close(tt_tcp_link *link, bool reset) {
  if (link->fd < 0)
    return;
  if (reset)
    tt_tcp_socket_abort(link->fd);
  else
    close(link->fd);
  link->fd = -1;
}

void tt_tcp_link_destroy(tt_tcp_link *link, tt_streams_pool *pool) {
  tt_tcp_link_close(link, false);
  while (link->sent.first)
    tt_streams_pool_give(pool, tt_streams_queue_remove(&link->sent));
  tt_streams_pool_give(pool, link->letter);
  tt_tcp_words_finish(&link->words);
  free(link);
}

/* ---- out ---- */

static tt_tcp_fate fate_of(tt_tcp_link *link, int error) {
  if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR) {
    link->full = error != EINTR;
    return TT_TCP_GOES;
  }
  link->error = error;
  return error == EPIPE || error == ECONNRESET ? TT_TCP_ENDED : TT_TCP_BROKEN;
}

/* *sent: 0 where the system takes nothing. */
static tt_tcp_fate push(tt_tcp_link *link, struct iovec *piece, size_t count, size_t *sent) {
  const struct msghdr message = {.msg_iov = piece, .msg_iovlen = count};
  ssize_t bytes = sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  *sent = bytes > 0 ? (size_t)bytes : 0;
  link->moved += *sent;
  return bytes >= 0 ? TT_TCP_GOES : fate_of(link, errno);
}

static struct iovec piece_of(const tt_streams_letter *letter, size_t from) {
  assert(from < tt_streams_letter_wire_bytes(letter)); /* a head is never nothing */
  return (struct iovec){.iov_base = (void *)(uintptr_t)(tt_streams_letter_wire(letter) + from),
                        .iov_len = tt_streams_letter_wire_bytes(letter) - from};
}

/* The rest of the last letter, and what may follow it. */
static size_t gather(const tt_tcp_link *link, const tt_streams_queue *from, size_t most, struct iovec piece[PIECES],
                     size_t *bytes) {
  size_t count = 0;
  *bytes = 0;
  if (link->part > 0)
    piece[count++] = piece_of(link->sent.last, link->part);
  for (size_t n = 0; n < count; n++)
    *bytes += piece[n].iov_len;
  for (const tt_streams_letter *letter = from->first; letter && count < PIECES; letter = letter->next) {
    if (count > 0 && *bytes + tt_streams_letter_wire_bytes(letter) > most)
      break;
    piece[count] = piece_of(letter, 0);
    *bytes += piece[count++].iov_len;
  }
  return count;
}

tt_tcp_fate tt_tcp_link_send(tt_tcp_link *link, tt_streams_queue *from, size_t most,
                             void (*whole)(void *user, const tt_streams_letter *letter), void *user) {
  assert(link->called && (link->part == 0 || link->sent.last));
  struct iovec piece[PIECES];
  size_t bytes, sent, count = gather(link, from, most, piece, &bytes);
  if (count == 0)
    return TT_TCP_GOES;
  tt_tcp_fate fate = push(link, piece, count, &sent);
  link->full = link->full || sent < bytes;
  while (sent > 0) {
    if (link->part == 0)
      tt_streams_queue_add(&link->sent, tt_streams_queue_remove(from));
    const tt_streams_letter *letter = link->sent.last;
    size_t rest = tt_streams_letter_wire_bytes(letter) - link->part, took = sent < rest ? sent : rest;
    sent -= took;
    link->part = took < rest ? link->part + took : 0;
    if (link->part == 0)
      whole(user, letter);
  }
  return fate;
}

tt_tcp_fate tt_tcp_link_say(tt_tcp_link *link) {
  tt_tcp_words *words = &link->words;
  assert(!link->called && words->begin <= words->end && words->end <= words->size);
  tt_tcp_fate fate = TT_TCP_GOES;
  while (fate == TT_TCP_GOES && words->begin < words->end && !link->full) {
    struct iovec piece = {.iov_base = words->bytes + words->begin, .iov_len = words->end - words->begin};
    size_t sent;
    fate = push(link, &piece, 1, &sent);
    words->begin += sent;
  }
  return fate;
}

/* ---- alive? ---- */

size_t tt_tcp_link_in_flight(const tt_tcp_link *link) {
  int bytes = 0;
  return ioctl(link->fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (size_t)bytes : 0;
}

/* The time to the next retransmission, which doubles each time: no acknowledgement for longer means that the last one
 * was not answered. Probes of a closed window are no retransmissions. */
bool tt_tcp_link_is_silent(const tt_tcp_link *link) {
  struct tcp_info info = {.tcpi_state = 0};
  socklen_t size = sizeof info;
  if (getsockopt(link->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return false;
  return info.tcpi_unacked > 0 && info.tcpi_retransmits >= RETRANSMITS && info.tcpi_last_ack_recv > SILENCE_MS &&
         (uint64_t)info.tcpi_last_ack_recv * 1000 > info.tcpi_rto;
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

/* transport/tcp/read.c - what comes on a connection: packets where the other rank has called, acks where this one has.
 *
 *     | head | data ...      | head | data |     a small packet costs one system call, with all that is behind it;
 *            ^ its own memory  ^ scratch         the data of a large one goes where it belongs at once */
#include "transport/tcp/connection.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

_Static_assert(TT_TCP_ACK_BYTES <= sizeof(tt_streams_head), "a connection's piece has room for an ack");
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static tt_tcp_fate wrong(tt_tcp_connection *connection, const char *what) {
  connection->why = what;
  return TT_TCP_WRONG;
}

/* ---- packets ---- */

static tt_tcp_fate finish_packet(tt_tcp_connection *connection, const tt_tcp_reader *reader) {
  tt_streams_packet *packet = connection->packet;
  if (!packet || connection->packet_bytes < packet->bytes)
    return TT_TCP_GOES;
  assert(connection->packet_bytes == packet->bytes); /* what follows it is not read into it */
  connection->packet = NULL;
  return reader->deliver_take(reader->user, connection, packet);
}

static tt_tcp_fate begin_packet(tt_tcp_connection *connection, const tt_tcp_reader *reader) {
  assert(!connection->packet && connection->skip_bytes == 0);
  tt_streams_head head;
  memcpy(&head, connection->piece, sizeof head);
  tt_streams_head_turn(&head);
  const char *what = tt_streams_head_check(&head);
  if (what)
    return wrong(connection, what);
  tt_streams_packet *packet = NULL;
  tt_tcp_fate fate = reader->begin(reader->user, connection, &head, &packet);
  if (fate != TT_TCP_GOES || !packet) {
    connection->skip_bytes = head.bytes;
    return fate;
  }
  packet->head = head;
  packet->peer = connection->peer;
  packet->number = head.packet;
  packet->stream = head.stream;
  packet->bytes = head.bytes;
  connection->packet = packet;
  connection->packet_bytes = 0;
  return finish_packet(connection, reader);
}

/* Takes what belongs together from *bytes; *size has become less. */
static tt_tcp_fate take_data(tt_tcp_connection *connection, const unsigned char **bytes, size_t *size,
                             const tt_tcp_reader *reader) {
  size_t took = least(*size, connection->packet->bytes - connection->packet_bytes);
  memcpy(connection->packet->data + connection->packet_bytes, *bytes, took);
  connection->packet_bytes += took;
  *bytes += took;
  *size -= took;
  return finish_packet(connection, reader);
}

static void skip_data(tt_tcp_connection *connection, const unsigned char **bytes, size_t *size) {
  size_t took = connection->skip_bytes < *size ? (size_t)connection->skip_bytes : *size;
  connection->skip_bytes -= took;
  *bytes += took;
  *size -= took;
}

/* Whether the piece is whole. */
static bool take_piece(tt_tcp_connection *connection, size_t wanted, const unsigned char **bytes, size_t *size) {
  assert(wanted <= sizeof connection->piece && connection->piece_bytes < wanted);
  size_t took = least(*size, wanted - connection->piece_bytes);
  memcpy(connection->piece + connection->piece_bytes, *bytes, took);
  connection->piece_bytes += took;
  *bytes += took;
  *size -= took;
  if (connection->piece_bytes < wanted)
    return false;
  connection->piece_bytes = 0;
  return true;
}

static tt_tcp_fate take_packets(tt_tcp_connection *connection, const unsigned char *bytes, size_t size,
                                const tt_tcp_reader *reader) {
  tt_tcp_fate fate = TT_TCP_GOES;
  while (fate == TT_TCP_GOES && size > 0) {
    if (connection->packet)
      fate = take_data(connection, &bytes, &size, reader);
    else if (connection->skip_bytes > 0)
      skip_data(connection, &bytes, &size);
    else if (take_piece(connection, sizeof(tt_streams_head), &bytes, &size))
      fate = begin_packet(connection, reader);
  }
  return fate;
}

/* ---- acks ---- */

static tt_tcp_fate take_acks(tt_tcp_connection *connection, const unsigned char *bytes, size_t size,
                             const tt_tcp_reader *reader) {
  tt_tcp_fate fate = TT_TCP_GOES;
  while (fate == TT_TCP_GOES && size > 0)
    if (take_piece(connection, TT_TCP_ACK_BYTES, &bytes, &size))
      fate = reader->ack(reader->user, connection, tt_tcp_ack_get(connection->piece));
  return fate;
}

/* ---- bytes ---- */

/* *bytes = 0 and TT_TCP_GOES: there is nothing. */
static tt_tcp_fate receive(tt_tcp_connection *connection, struct iovec *piece, size_t count, size_t *bytes) {
  struct msghdr message = {.msg_iov = piece, .msg_iovlen = count};
  ssize_t came = recvmsg(connection->fd, &message, MSG_DONTWAIT);
  *bytes = came > 0 ? (size_t)came : 0;
  connection->moved += *bytes;
  connection->received += *bytes;
  if (came > 0 || (came < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)))
    return TT_TCP_GOES;
  connection->error = came < 0 ? errno : 0;
  return came == 0 || errno == ECONNRESET ? TT_TCP_ENDED : TT_TCP_BROKEN;
}

/* Once; *more: there may be more. */
static tt_tcp_fate read_once(tt_tcp_connection *connection, unsigned char *scratch, const tt_tcp_reader *reader,
                             size_t *bytes, bool *more) {
  size_t rest = connection->packet ? connection->packet->bytes - connection->packet_bytes : 0;
  struct iovec piece[] = {
      {.iov_base = rest > 0 ? connection->packet->data + connection->packet_bytes : NULL, .iov_len = rest},
      {.iov_base = scratch, .iov_len = TT_TCP_SCRATCH_BYTES}};
  tt_tcp_fate fate = receive(connection, rest > 0 ? piece : piece + 1, rest > 0 ? 2 : 1, bytes);
  *more = *bytes == rest + TT_TCP_SCRATCH_BYTES;
  if (fate != TT_TCP_GOES || *bytes == 0)
    return fate;
  size_t direct = least(*bytes, rest);
  connection->packet_bytes += direct;
  if (direct > 0)
    fate = finish_packet(connection, reader);
  if (fate != TT_TCP_GOES)
    return fate;
  return connection->called ? take_acks(connection, scratch, *bytes - direct, reader)
                            : take_packets(connection, scratch, *bytes - direct, reader);
}

tt_tcp_fate tt_tcp_connection_read(tt_tcp_connection *connection, size_t most, unsigned char *scratch,
                                   const tt_tcp_reader *reader) {
  tt_tcp_fate fate = TT_TCP_GOES;
  bool more = true;
  for (size_t sum = 0, bytes; fate == TT_TCP_GOES && more && sum < most; sum += bytes)
    fate = read_once(connection, scratch, reader, &bytes, &more);
  return fate;
}

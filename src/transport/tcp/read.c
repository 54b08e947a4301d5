/* transport/tcp/read.c - what comes on a link: letters where the other rank has called, words where this one has.
 *
 *     | head | data ...      | head | data |            a small letter costs one system call, with all that is behind
 * it; ^ the letter's own memory ^ scratch        the data of a large one goes where it belongs at once */
#include "transport/tcp/link.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

_Static_assert(TT_TCP_WORD_BYTES <= sizeof(tt_streams_head), "a link's piece has room for a word");
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static tt_tcp_fate wrong(tt_tcp_link *link, const char *what) {
  link->why = what;
  return TT_TCP_WRONG;
}

/* ---- letters ---- */

static tt_tcp_fate finish_letter(tt_tcp_link *link, const tt_tcp_reader *reader) {
  tt_streams_letter *letter = link->letter;
  if (!letter || link->letter_bytes < letter->bytes)
    return TT_TCP_GOES;
  assert(link->letter_bytes == letter->bytes); /* what follows it is not read into it */
  link->letter = NULL;
  return reader->deliver_take(reader->user, link, letter);
}

static tt_tcp_fate begin_letter(tt_tcp_link *link, const tt_tcp_reader *reader) {
  assert(!link->letter && link->skip_bytes == 0);
  tt_streams_head head;
  memcpy(&head, link->piece, sizeof head);
  tt_streams_head_turn(&head);
  const char *what = tt_streams_head_check(&head);
  if (what)
    return wrong(link, what);
  tt_streams_letter *letter = NULL;
  tt_tcp_fate fate = reader->begin(reader->user, link, &head, &letter);
  if (fate != TT_TCP_GOES || !letter) {
    link->skip_bytes = head.bytes;
    return fate;
  }
  letter->head = head;
  letter->peer = link->peer;
  letter->number = head.letter;
  letter->stream = head.stream;
  letter->bytes = head.bytes;
  link->letter = letter;
  link->letter_bytes = 0;
  return finish_letter(link, reader);
}

/* Takes what belongs together from *bytes; *size has become less. */
static tt_tcp_fate take_data(tt_tcp_link *link, const unsigned char **bytes, size_t *size,
                             const tt_tcp_reader *reader) {
  size_t took = least(*size, link->letter->bytes - link->letter_bytes);
  memcpy(link->letter->data + link->letter_bytes, *bytes, took);
  link->letter_bytes += took;
  *bytes += took;
  *size -= took;
  return finish_letter(link, reader);
}

static void skip_data(tt_tcp_link *link, const unsigned char **bytes, size_t *size) {
  size_t took = link->skip_bytes < *size ? (size_t)link->skip_bytes : *size;
  link->skip_bytes -= took;
  *bytes += took;
  *size -= took;
}

/* Whether the piece is whole. */
static bool take_piece(tt_tcp_link *link, size_t wanted, const unsigned char **bytes, size_t *size) {
  assert(wanted <= sizeof link->piece && link->piece_bytes < wanted);
  size_t took = least(*size, wanted - link->piece_bytes);
  memcpy(link->piece + link->piece_bytes, *bytes, took);
  link->piece_bytes += took;
  *bytes += took;
  *size -= took;
  if (link->piece_bytes < wanted)
    return false;
  link->piece_bytes = 0;
  return true;
}

static tt_tcp_fate take_letters(tt_tcp_link *link, const unsigned char *bytes, size_t size,
                                const tt_tcp_reader *reader) {
  tt_tcp_fate fate = TT_TCP_GOES;
  while (fate == TT_TCP_GOES && size > 0) {
    if (link->letter)
      fate = take_data(link, &bytes, &size, reader);
    else if (link->skip_bytes > 0)
      skip_data(link, &bytes, &size);
    else if (take_piece(link, sizeof(tt_streams_head), &bytes, &size))
      fate = begin_letter(link, reader);
  }
  return fate;
}

/* ---- words ---- */

static tt_tcp_fate take_words(tt_tcp_link *link, const unsigned char *bytes, size_t size, const tt_tcp_reader *reader) {
  tt_tcp_fate fate = TT_TCP_GOES;
  while (fate == TT_TCP_GOES && size > 0)
    if (take_piece(link, TT_TCP_WORD_BYTES, &bytes, &size))
      fate = reader->word(reader->user, link, tt_tcp_word_get(link->piece));
  return fate;
}

/* ---- bytes ---- */

/* *bytes = 0 and TT_TCP_GOES: there is nothing. */
static tt_tcp_fate receive(tt_tcp_link *link, struct iovec *piece, size_t count, size_t *bytes) {
  struct msghdr message = {.msg_iov = piece, .msg_iovlen = count};
  ssize_t came = recvmsg(link->fd, &message, MSG_DONTWAIT);
  *bytes = came > 0 ? (size_t)came : 0;
  link->moved += *bytes;
  link->received += *bytes;
  if (came > 0 || (came < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)))
    return TT_TCP_GOES;
  link->error = came < 0 ? errno : 0;
  return came == 0 || errno == ECONNRESET ? TT_TCP_ENDED : TT_TCP_BROKEN;
}

/* Once; *more: there may be more. */
static tt_tcp_fate read_once(tt_tcp_link *link, unsigned char *scratch, const tt_tcp_reader *reader, size_t *bytes,
                             bool *more) {
  size_t rest = link->letter ? link->letter->bytes - link->letter_bytes : 0;
  struct iovec piece[] = {{.iov_base = rest > 0 ? link->letter->data + link->letter_bytes : NULL, .iov_len = rest},
                          {.iov_base = scratch, .iov_len = TT_TCP_SCRATCH_BYTES}};
  tt_tcp_fate fate = receive(link, rest > 0 ? piece : piece + 1, rest > 0 ? 2 : 1, bytes);
  *more = *bytes == rest + TT_TCP_SCRATCH_BYTES;
  if (fate != TT_TCP_GOES || *bytes == 0)
    return fate;
  size_t direct = least(*bytes, rest);
  link->letter_bytes += direct;
  if (direct > 0)
    fate = finish_letter(link, reader);
  if (fate != TT_TCP_GOES)
    return fate;
  return link->called ? take_words(link, scratch, *bytes - direct, reader)
                      : take_letters(link, scratch, *bytes - direct, reader);
}

tt_tcp_fate tt_tcp_link_read(tt_tcp_link *link, size_t most, unsigned char *scratch, const tt_tcp_reader *reader) {
  tt_tcp_fate fate = TT_TCP_GOES;
  bool more = true;
  for (size_t sum = 0, bytes; fate == TT_TCP_GOES && more && sum < most; sum += bytes)
    fate = read_once(link, scratch, reader, &bytes, &more);
  return fate;
}

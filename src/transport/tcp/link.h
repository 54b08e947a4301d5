/* transport/tcp/link.h - one connection on one rail: bytes in, bytes out, is it alive?
 *
 *     who called      letters ->        <- words (acknowledgements, credits)
 *
 * What it means, and what is done when it fails, is its pipe's (pipe.c). */
#ifndef TT_TRANSPORT_TCP_LINK_H
#define TT_TRANSPORT_TCP_LINK_H

#include "transport/streams/letters.h"
#include "transport/tcp/words.h"

typedef enum tt_tcp_fate {
  TT_TCP_GOES,
  TT_TCP_ENDED,  /* by the other machine: its process has closed it, or has ended */
  TT_TCP_BROKEN, /* an error, or silence: the rail has failed */
  TT_TCP_WRONG,  /* what came can not have been said by a peer that is well */
  TT_TCP_LACKS   /* no memory here; recorded */
} tt_tcp_fate;

typedef struct tt_tcp_link {
  struct tt_tcp_link *next; /* of those that came from its peer; of those to be freed */
  int fd;                   /* -1: closed, to be freed */
  int32_t rail;
  int64_t peer, opened_ns;
  bool called;                /* by this rank: it sends letters, and gets words */
  bool full;                  /* the system takes no more now */
  bool watched;               /* epoll tells when it does */
  const char *why;            /* what was wrong, for the log; where an error number says more: NULL */
  int error;                  /* that number */
  uint64_t moved, told_moved; /* bytes, both ways; those already counted for its rail */
  uint64_t received;          /* of `moved` */
  /* out */
  tt_streams_queue sent; /* whole, and not acknowledged; but for the last one's bytes from `part` on */
  size_t part;           /* 0: the last one is whole, too */
  tt_tcp_words words;
  /* in */
  unsigned char piece[sizeof(tt_streams_head)]; /* of a head or a word */
  size_t piece_bytes;
  tt_streams_letter *letter; /* that is coming */
  size_t letter_bytes;       /* of its data, that have come */
  uint64_t skip_bytes;       /* of a letter that had come before */
} tt_tcp_link;

/* What a link tells of what came. */
typedef struct tt_tcp_reader {
  /* Where the data of a letter goes; *letter = NULL: nowhere, it has come before. head: in this machine's order. */
  tt_tcp_fate (*begin)(void *user, tt_tcp_link *link, const tt_streams_head *head, tt_streams_letter **letter);
  tt_tcp_fate (*deliver_take)(void *user, tt_tcp_link *link, tt_streams_letter *letter);
  tt_tcp_fate (*word)(void *user, tt_tcp_link *link, tt_tcp_word word);
  void *user;
} tt_tcp_reader;

#define TT_TCP_SCRATCH_BYTES ((size_t)16 << 10)

/* Takes fd. NULL: no memory. */
tt_tcp_link *tt_tcp_link_create(int fd, int64_t peer, int32_t rail, bool called);
/* Closes the connection: reset, so that nothing of it stays; or in good order. Its letters stay. */
void tt_tcp_link_close(tt_tcp_link *link, bool reset);
/* Gives back what it holds, and frees it. */
void tt_tcp_link_destroy(tt_tcp_link *link, tt_streams_pool *pool);

/* Takes letters from the queue to `sent` as far as the system takes their bytes; `most`: bytes, and one letter at
 * least. Calls whole(user, letter) for each that is gone whole. */
tt_tcp_fate tt_tcp_link_send(tt_tcp_link *link, tt_streams_queue *from, size_t most,
                             void (*whole)(void *user, const tt_streams_letter *letter), void *user);
tt_tcp_fate tt_tcp_link_say(tt_tcp_link *link);
/* Reads at most `most` bytes, or a little more; scratch: TT_TCP_SCRATCH_BYTES, of any link. */
tt_tcp_fate tt_tcp_link_read(tt_tcp_link *link, size_t most, unsigned char *scratch, const tt_tcp_reader *reader);

/* Bytes that the other machine has not acknowledged. */
size_t tt_tcp_link_in_flight(const tt_tcp_link *link);
/* Whether the other machine has not answered for long, though it was asked again and again. A process that is stopped
 * is not meant: its machine answers. */
bool tt_tcp_link_is_silent(const tt_tcp_link *link);
/* Whether a NIC of this machine can not carry anything now. */
bool tt_tcp_nic_is_down(const char name[static 16]);

#endif

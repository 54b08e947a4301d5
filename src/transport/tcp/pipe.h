/* transport/tcp/pipe.h - the pipes: letters to and from every peer, each delivered once, in any order, over whatever
 * rails work.
 *
 *     send_take   into the peer's queue; the next rail with room takes it; kept until acknowledged
 *     progress    what has come is delivered; what can go goes; rails that fail are retired, their letters go again
 *
 * A letter has a number, of its pipe and direction. The receiver knows which numbers it has had, drops what comes
 * twice, and acknowledges on the way back of any connection; what it says there ("all up to 17, and 19 to 23"; "stream
 * 5: 40 slots released") is always the whole state, so that it can be said again on another connection, and nothing is
 * lost with one. */
#ifndef TT_TRANSPORT_TCP_PIPE_H
#define TT_TRANSPORT_TCP_PIPE_H

#include "transport/tcp/door.h"

/* As it travels: 64 bytes, little-endian, then the data. */
typedef struct tt_tcp_head {
  uint64_t letter; /* number in its pipe, from 1 */
  uint64_t id;     /* of its stream */
  uint64_t stream; /* one opening of that stream by its writer, who gives each a number of its own: what is on the way
                      when a stream is closed can not be taken for the next one's of the same id */
  uint32_t slot;   /* number in its stream; wraps */
  uint32_t bytes;  /* of data */
  uint8_t kind;    /* TT_TCP_DATA .. */
  uint8_t again;   /* sent before, on a rail that has failed: the receiver says its whole state again */
  uint16_t unused; /* openings of that id by its writer since the last that was used: nothing is said of those */
  uint8_t reserved[12];
  tutti_slot_header header;
} tt_tcp_head;

enum {
  TT_TCP_DATA = 1, /* a slot */
  TT_TCP_END,      /* the writer has closed its stream; slot: how many there were */
  TT_TCP_BYE       /* the last letter of a pipe; the owner does not see it */
};

#define TT_TCP_LETTER_BYTES (UINT32_C(1) << 30) /* of data, at most: a head that says more is an enemy's */

typedef struct tt_tcp_letter {
  struct tt_tcp_letter *next;
  int64_t peer;
  uint64_t number, stream; /* as in the head, which has the order of the wire once the letter is in a pipe */
  uint32_t bytes;
  uint8_t size_class;
  uint8_t padding[27];
  tt_tcp_head head;
  unsigned char data[]; /* 64-byte aligned, right behind the head */
} tt_tcp_letter;

typedef struct tt_tcp_pipes tt_tcp_pipes;

/* Who has letters sent and gets those that come. `sent` is called from tt_tcp_pipes_send_take too, all else only from
 * tt_tcp_pipes_progress and _flush. */
typedef struct tt_tcp_owner {
  tutti_status (*deliver_take)(void *user, tt_tcp_letter *letter); /* keeps it until tt_tcp_letter_give */
  /* Letters of that stream that the system has not taken whole need this rank's progress: -1: one fewer; 1: one more,
   * where a rail has failed. */
  void (*sent)(void *user, uint64_t stream, int32_t count);
  void (*released)(void *user, int64_t peer, uint64_t stream, uint32_t count); /* the peer has released so many, ever */
  /* For saying the whole state again: calls tt_tcp_pipes_credit for each stream that comes from that peer. */
  void (*credit_all)(void *user, int64_t peer);
  void *user;
} tt_tcp_owner;

/* What each rank has told in the allgather. */
typedef struct tt_tcp_host {
  tt_tcp_rail rail[TT_TCP_RAILS]; /* with ports */
  int64_t rail_count;
} tt_tcp_host;

typedef struct tt_tcp_pipes_spec {
  const tt_tcp_host *host; /* of each rank; borrowed until destroyed */
  int64_t rank, rank_count, first_rail;
  tt_tcp_door *door; /* borrowed */
  tt_tcp_owner owner;
} tt_tcp_pipes_spec;

tutti_status tt_tcp_pipes_create(const tt_tcp_pipes_spec *spec, tt_tcp_pipes **pipes);
/* Says goodbye to everyone it has met; waits, at most timeout_ns, until all letters are acknowledged. */
void tt_tcp_pipes_flush(tt_tcp_pipes *pipes, int64_t timeout_ns);
void tt_tcp_pipes_destroy(tt_tcp_pipes *pipes); /* accepts NULL */

/* A letter with room for that many bytes, from the pool; NULL: no memory. */
tt_tcp_letter *tt_tcp_letter_take(tt_tcp_pipes *pipes, size_t room);
void tt_tcp_letter_give(tt_tcp_pipes *pipes, tt_tcp_letter *letter);

/* Sends letter->head.bytes of data to letter->peer. id, stream, slot, bytes, kind, unused and header are set; the rest
 * of the head is the pipe's. Tries at once what can go without blocking. What is for a peer that is gone is dropped. */
tutti_status tt_tcp_pipes_send_take(tt_tcp_pipes *pipes, tt_tcp_letter *letter);
/* Tells the peer how many slots of that stream of his have been released, ever; goes with the next words on the way
 * back. `now`: do not wait for others to go with. Nothing is lost where there is no way back: the next connection
 * begins with credit_all. */
tutti_status tt_tcp_pipes_credit(tt_tcp_pipes *pipes, int64_t peer, uint64_t stream, uint32_t count, bool now);
/* Letters 1 .. that have come from the peer. */
uint64_t tt_tcp_pipes_had(const tt_tcp_pipes *pipes, int64_t peer);
/* TUTTI_ERR_PEER: *peer is dead; said once for each. */
tutti_status tt_tcp_pipes_progress(tt_tcp_pipes *pipes, int64_t *peer);
/* As peer_dead of the transport's table. */
int tt_tcp_pipes_dead(const tt_tcp_pipes *pipes, int64_t peer);
/* An epoll descriptor: readable when progress may have something to do. */
int tt_tcp_pipes_fd(const tt_tcp_pipes *pipes);
/* Whether something has come since this was asked last: who progresses and then sleeps would not see it. */
bool tt_tcp_pipes_news(tt_tcp_pipes *pipes);
int64_t tt_tcp_pipes_count(const tt_tcp_pipes *pipes, tt_tcp_counts *counts);

#endif

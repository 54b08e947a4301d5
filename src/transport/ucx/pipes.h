/* transport/ucx/pipes.h - packets to and from every rank over UCX, each delivered once, in any order; and what the
 * files of this folder share. */
#ifndef TT_TRANSPORT_UCX_PIPES_H
#define TT_TRANSPORT_UCX_PIPES_H

#include "transport/streams/numbers.h"
#include "transport/streams/packets.h"
#include "transport/streams/streams.h"
#include "transport/ucx/library.h"
#include "transport/ucx/ucx.h"

#define TT_UCX_KEY_BYTES 16

typedef enum tt_ucx_kind {                                 /* of packets, beside the streams' */
                           TT_UCX_CREDIT = TT_STREAMS_OWN, /* of `stream`, `slot` slots have been released, ever */
                           TT_UCX_HELLO,                   /* who receives has an endpoint now, too */
                           TT_UCX_HAD                      /* all packets up to the goodbye have come */
} tt_ucx_kind;

/* UCX's header of each message. */
typedef struct tt_ucx_front {
  unsigned char key[TT_UCX_KEY_BYTES]; /* the job's */
  int64_t from;                        /* little-endian */
} tt_ucx_front;

typedef struct tt_ucx_rail {
  struct tt_ucx_pipes *pipes;
  char nic[16]; /* "eth0" */
  ucp_context_h context;
  ucp_worker_h worker;
  ucp_address_t *address;
  size_t address_bytes;
  uint64_t leaving_bytes; /* of packets that UCX has not done with */
} tt_ucx_rail;

/* To a peer, on a rail. */
typedef struct tt_ucx_endpoint {
  struct tt_ucx_peer *peer;
  ucp_ep_h ep;         /* NULL: none now */
  ucs_status_t failed; /* as UCX has told; UCS_OK: it has not */
  bool unflushed;      /* something may wait in this process still */
  bool flushing;
  int64_t flushed_ns; /* when that was begun */
} tt_ucx_endpoint;

typedef enum tt_ucx_state { TT_UCX_ALIVE, TT_UCX_DEAD, TT_UCX_LEFT } tt_ucx_state; /* as peer_dead has it */

typedef struct tt_ucx_peer {
  struct tt_ucx_pipes *pipes;
  int64_t rank;
  tt_ucx_state state;
  tt_ucx_endpoint endpoint[TT_RAILS_MOST];
  bool reached; /* there has been an endpoint to it */
  bool met;     /* something has come from it, or data was sent: one that is gone without has left */
  /* to the peer */
  uint64_t last_packet;
  bool said_goodbye, had_goodbye; /* by this rank; the peer has had it, and all before */
  /* from the peer */
  tt_streams_numbers had;
  bool leaves; /* it has sent packets 1 .. goodbye, and no more will come */
  uint64_t goodbye;
  bool reported; /* its death */
  char why[128]; /* "died: .." */
} tt_ucx_peer;

typedef struct tt_ucx_pipes {
  tt_ucx_library ucp;
  tt_streams *streams;
  int64_t rank, rank_count, rail_count;
  const int64_t *first_rail; /* as in tt_between_config */
  tt_ucx_rail rail[TT_RAILS_MOST];
  tt_ucx_front front;
  const unsigned char *addresses; /* address_stride bytes of each rank: see ucx.c */
  size_t address_stride;
  tt_streams_pool pool;
  tt_ucx_peer **peer; /* of each rank; NULL: nothing has been sent to it or has come from it */
  int64_t *met;       /* ranks of those that there are */
  int64_t met_count;
  int64_t deaths;        /* not yet reported */
  tt_streams_queue came; /* in a callback of UCX's: used when it is over */
  int64_t requests;      /* of UCX's that have callbacks to come */
  bool failed;           /* an endpoint has */
  bool news;             /* something has come since this was asked last */
  int epoll, ready;      /* of all workers; one that is always readable */
  tutti_status status;   /* sticky: what could not be returned where it happened */
} tt_ucx_pipes;

/* ---- arrival.c ---- */

/* UCX's handler of messages; user: tt_ucx_rail. What comes is added to `came`. */
ucs_status_t tt_ucx_arrive(void *user, const void *front, size_t front_bytes, void *data, size_t bytes,
                           const ucp_am_recv_param_t *how);

/* ---- rail.c ---- */

tutti_status tt_ucx_rails_open(tt_ucx_pipes *pipes, const tt_between_config *config);
void tt_ucx_rails_close(tt_ucx_pipes *pipes);
/* Whether UCX has done anything. */
bool tt_ucx_rails_progress(tt_ucx_pipes *pipes);
/* A descriptor that is readable when there may be something to do; -1: none. */
int tt_ucx_rails_descriptor(tt_ucx_pipes *pipes);

/* ---- peer.c ---- */

/* The peer, made if it is the first time; NULL: no memory. */
tt_ucx_peer *tt_ucx_peer_get(tt_ucx_pipes *pipes, int64_t rank);
/* The endpoint that a packet of so many bytes takes, opened if need be; NULL: there is none, and the peer is dead. */
tt_ucx_endpoint *tt_ucx_peer_endpoint(tt_ucx_peer *peer, size_t bytes);
int64_t tt_ucx_endpoint_rail(const tt_ucx_endpoint *endpoint);
/* Nothing goes to it any more, or comes. */
void tt_ucx_peer_lose(tt_ucx_peer *peer, int64_t rail, const char *how, ucs_status_t why);
/* Does what follows from endpoints that have failed. */
void tt_ucx_peers_settle(tt_ucx_pipes *pipes);
/* Whether all that was sent to it has left this process, or should have; has UCX see to it. */
bool tt_ucx_peer_flush(tt_ucx_peer *peer);
tutti_status tt_ucx_peers_report(tt_ucx_pipes *pipes, int64_t *rank);
/* Ends what UCX has still to do for it. */
void tt_ucx_peers_close(tt_ucx_pipes *pipes);

/* ---- pipes.c ---- */

tutti_status tt_ucx_pipes_send_take(void *pipes, tt_streams_packet *packet);
tutti_status tt_ucx_pipes_credit(void *pipes, int64_t peer, uint64_t stream, uint32_t count, bool now);
uint64_t tt_ucx_pipes_had(void *pipes, int64_t peer);
int tt_ucx_pipes_dead(void *pipes, int64_t peer);
/* TUTTI_ERR_PEER: *peer is dead; said once for each. */
tutti_status tt_ucx_pipes_progress(tt_ucx_pipes *pipes, int64_t *peer);
/* Says goodbye to everyone it has met, and waits, at most timeout_ns, until all have had it. */
void tt_ucx_pipes_flush(tt_ucx_pipes *pipes, int64_t timeout_ns);
/* Ends all; what has been made of it. */
void tt_ucx_pipes_finish(tt_ucx_pipes *pipes);

#endif

/* transport/tcp/peer.h - what the pipes know of each peer; inside pipe.c, peer.c, back.c, tail.c and reach.c only. */
#ifndef TT_TRANSPORT_TCP_PEER_H
#define TT_TRANSPORT_TCP_PEER_H

#include "transport/streams/numbers.h"
#include "transport/tcp/connection.h"
#include "transport/tcp/owner.h"

#define TT_TCP_SECOND INT64_C(1000000000)

typedef enum tt_tcp_state { TT_TCP_ALIVE, TT_TCP_DEAD, TT_TCP_LEFT } tt_tcp_state; /* as peer_dead has it */

/* To that peer, on a rail of this rank. */
typedef struct tt_tcp_path {
  tt_tcp_connection *connection; /* that this rank has called; NULL: none */
  bool calling;
  bool retired;      /* there was one */
  bool refused;      /* the last call was, or the one before */
  int32_t taken;     /* calls on end that its system has taken and nobody has answered */
  int64_t called_ns; /* last */
  int64_t again_ns;  /* not called before */
} tt_tcp_path;

typedef struct tt_tcp_peer {
  int64_t rank;
  tt_tcp_state state;
  bool met; /* there has been a connection, or data for it: one that is gone without has left, and had no part in it */
  /* to the peer */
  tt_tcp_path path[TT_RAILS_MOST];
  tt_streams_queue waiting; /* ascending; those that go again come first */
  uint64_t last_packet;     /* number of the newest */
  uint64_t unacknowledged;
  tt_streams_numbers acknowledged;
  bool bulk; /* one rail is not enough */
  bool cut;  /* a connection has failed: without another one the peer can not say what was lost with it, credits perhaps
              */
  /* from the peer */
  tt_tcp_connection *in;   /* newest first */
  tt_tcp_connection *back; /* the way back that is known to work: the last one that brought something; NULL: none */
  tt_streams_numbers had;
  uint32_t owed_packets; /* that have come and are not acknowledged */
  uint64_t owed_bytes;
  bool says_all; /* its whole state is to be said again */
  bool leaves;   /* it has sent packets 1 .. goodbye, and no more will come */
  uint64_t goodbye;
  /* is it there? */
  bool suspect;                   /* all connections have ended without goodbye */
  bool ended;                     /* by its machine */
  bool refused;                   /* on a rail: nobody listens there any more, or somebody is in the way */
  int64_t suspect_ns, refused_ns; /* since when */
  bool reported;                  /* its death, */
  bool warned;                    /* that it cannot be reached */
} tt_tcp_peer;

struct tt_tcp_pipes {
  tt_tcp_pipes_spec spec;
  int epoll;
  tt_tcp_peer **peer; /* of each rank; NULL: nothing has been sent to it or has come from it */
  int64_t *met;       /* ranks of those that there are */
  int64_t met_count;
  int64_t deaths; /* not yet reported */
  tt_streams_pool pool;
  tt_tcp_connection *closed; /* to be freed when nobody looks at them any more */
  tt_tcp_counts counts[TT_RAILS_MOST];
  bool down[TT_RAILS_MOST]; /* NICs of this machine, when they were looked at */
  int64_t looked_ns, nics_ns, connections_ns;
  tt_random random;
  bool leaves;         /* goodbye has been said to all */
  bool news;           /* something has come for the owner since it was told */
  tutti_status status; /* sticky: what could not be returned where it happened */
  unsigned char scratch[TT_TCP_SCRATCH_BYTES];
};

/* The peer, made if it is the first time; NULL: no memory. */
tt_tcp_peer *tt_tcp_peer_get(tt_tcp_pipes *pipes, int64_t rank);
void tt_tcp_peer_destroy(tt_tcp_pipes *pipes, tt_tcp_peer *peer);

/* ---- peer.c: packets out ---- */

/* Sends what can go. */
void tt_tcp_peer_dispatch(tt_tcp_pipes *pipes, tt_tcp_peer *peer);
tt_tcp_fate tt_tcp_peer_acknowledge(tt_tcp_pipes *pipes, tt_tcp_peer *peer, uint64_t first, uint64_t last);
/* Gives up a connection that has that fate: packets that are not acknowledged wait for another. */
void tt_tcp_peer_retire(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection, tt_tcp_fate fate);
/* A proven connection is one of its peer's from now on; its fd is closed where that can not be. */
tutti_status tt_tcp_peer_connect(tt_tcp_pipes *pipes, const tt_tcp_arrival *arrival);
/* Nothing goes to it any more, or comes. */
void tt_tcp_peer_drop(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_state state);
/* Adds what a connection has moved to its rail's counts. */
void tt_tcp_peer_count(tt_tcp_pipes *pipes, tt_tcp_connection *connection);
/* Has the system tell when a connection takes more, or not. */
void tt_tcp_peer_watch(tt_tcp_pipes *pipes, tt_tcp_connection *connection, bool writes);

/* ---- back.c: what comes on connections, and what is said back ---- */

/* Reads, and says what is owed; retires the connection if that is its fate. */
void tt_tcp_peer_read(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection);
/* Acks on the way back, at once; on that connection: what waits there. */
void tt_tcp_peer_say(tt_tcp_pipes *pipes, tt_tcp_peer *peer);
void tt_tcp_peer_say_on(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection);
/* What was said last, again, where nothing else waits there. */
void tt_tcp_peer_say_again(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection);
void tt_tcp_peer_say_goodbye(tt_tcp_pipes *pipes, tt_tcp_peer *peer);
/* Does what follows from what has come or has happened. */
void tt_tcp_peer_settle(tt_tcp_pipes *pipes, tt_tcp_peer *peer);
/* What can still be read of a connection that can not be written to any more. */
void tt_tcp_peer_drain(tt_tcp_pipes *pipes, tt_tcp_connection *connection, bool ended);

/* ---- tail.c: what was lost at the end ---- */

/* Nudges connections of the peer on which something is stuck since the last look. */
void tt_tcp_peer_look_at_tails(tt_tcp_pipes *pipes, tt_tcp_peer *peer);

/* ---- reach.c: calls, and who is dead ---- */

/* Calls the peer on the rails that it is worth while on now. */
void tt_tcp_reach(tt_tcp_pipes *pipes, tt_tcp_peer *peer, int64_t now_ns);
/* The n-th rail that this rank would take to that peer. */
int32_t tt_tcp_reach_rail(const tt_tcp_pipes *pipes, const tt_tcp_peer *peer, int64_t n);
/* What the door says. */
void tt_tcp_reach_arrive(tt_tcp_pipes *pipes, const tt_tcp_arrival *arrival);
/* A connection has ended. */
void tt_tcp_reach_lose(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_fate fate);
/* Looks after all peers from time to time: calls, silent connections, NICs. */
bool tt_tcp_reach_is_time(const tt_tcp_pipes *pipes, int64_t now_ns);
void tt_tcp_reach_look(tt_tcp_pipes *pipes, int64_t now_ns);

/* All that it has sent has come, the goodbye too, if only at the last look at a connection that has ended. */
static inline bool tt_tcp_peer_has_left(const tt_tcp_peer *peer) {
  return peer->leaves && peer->had.all >= peer->goodbye;
}

#endif

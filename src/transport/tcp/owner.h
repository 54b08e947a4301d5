/* transport/tcp/owner.h - what the pipes are made with: who has packets sent and gets those that come, and where the
 * other ranks are. */
#ifndef TT_TRANSPORT_TCP_OWNER_H
#define TT_TRANSPORT_TCP_OWNER_H

#include "transport/streams/packets.h"
#include "transport/tcp/door.h"

typedef struct tt_tcp_pipes tt_tcp_pipes;

/* Who has packets sent and gets those that come. `sent` is called from tt_tcp_pipes_send_take too, all else only from
 * tt_tcp_pipes_progress and _flush. */
typedef struct tt_tcp_owner {
  tutti_status (*deliver_take)(void *user, tt_streams_packet *packet); /* keeps it, and gives it back to the pool */
  /* Packets of that stream that the system has not taken whole need this rank's progress: -1: one fewer; 1: one more,
   * where a rail has failed. */
  void (*sent)(void *user, uint64_t stream, int32_t count);
  void (*released)(void *user, int64_t peer, uint64_t stream, uint32_t count); /* the peer has released so many, ever */
  /* For saying the whole state again: calls tt_tcp_pipes_credit for each stream that comes from that peer. */
  void (*credit_all)(void *user, int64_t peer);
  void *user;
} tt_tcp_owner;

/* What each rank has told in the allgather. */
typedef struct tt_tcp_host {
  tt_rail rail[TT_RAILS_MOST]; /* with ports */
  int64_t rail_count;
} tt_tcp_host;

typedef struct tt_tcp_pipes_spec {
  const tt_tcp_host *host; /* of each rank; borrowed until destroyed */
  int64_t rank, rank_count;
  const int64_t *first_rail; /* as in tt_between_config */
  tt_tcp_door *door;         /* borrowed */
  tt_tcp_owner owner;
} tt_tcp_pipes_spec;

#endif

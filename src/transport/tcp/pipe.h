/* transport/tcp/pipe.h - the pipes: packets to and from every peer, each delivered once, in any order, over whatever
 * rails work.
 *
 *     send_take   into the peer's queue; the next rail with room takes it; kept until acknowledged
 *     progress    what has come is delivered; what can go goes; rails that fail are retired, their packets go again
 *
 * A packet has a number, of its pipe and direction. The receiver knows which numbers it has had, drops what comes
 * twice, and acknowledges on the way back of any connection; what it says there ("all up to 17, and 19 to 23"; "stream
 * 5: 40 slots released") is always the whole state, so that it can be said again on another connection, and nothing is
 * lost with one. */
#ifndef TT_TRANSPORT_TCP_PIPE_H
#define TT_TRANSPORT_TCP_PIPE_H

#include "transport/tcp/owner.h"

tutti_status tt_tcp_pipes_create(const tt_tcp_pipes_spec *spec, tt_tcp_pipes **pipes);
/* Says goodbye to everyone it has met; waits, at most timeout_ns, until all packets are in the hands of their readers'
 * systems; at most longest_ns where these answer and have no room, as their ranks read late. */
void tt_tcp_pipes_flush(tt_tcp_pipes *pipes, int64_t timeout_ns, int64_t longest_ns);
void tt_tcp_pipes_destroy(tt_tcp_pipes *pipes); /* accepts NULL */

/* Where packets are taken from and given back to. */
tt_streams_pool *tt_tcp_pipes_pool(tt_tcp_pipes *pipes);

/* Sends packet->head.bytes of data to packet->peer. id, stream, slot, bytes, kind, unused and header are set; the rest
 * of the head is the pipe's. Tries at once what can go without blocking. What is for a peer that is gone is dropped. */
tutti_status tt_tcp_pipes_send_take(tt_tcp_pipes *pipes, tt_streams_packet *packet);
/* Tells the peer how many slots of that stream of his have been released, ever; goes with the next acks on the way
 * back. `now`: do not wait for others to go with. Nothing is lost where there is no way back: the next connection
 * begins with credit_all. */
tutti_status tt_tcp_pipes_credit(tt_tcp_pipes *pipes, int64_t peer, uint64_t stream, uint32_t count, bool now);
/* Packets 1 .. that have come from the peer. */
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

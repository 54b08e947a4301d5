/* transport/tcp/door.h - how connections come to be: a listener on every rail, and a proof of both ends that they hold
 * the job's key before anything else that they say is read.
 *
 *     who connects            who listens
 *     HELLO  from, to, rail, 32 random bytes  ->            fixed length; nothing is allocated for it
 *                            <-  32 random bytes, proof     HMAC(key, "listener" | hello | random)
 *     proof                                   ->            HMAC(key, "caller" | hello | random)
 *                            <-  one byte: welcome          so that who connects knows
 *
 * Proofs cover the randomness of both, so that none can be replayed; ranks and rail are covered too. Strangers get
 * nothing but a closed connection; they may hold 32 of them, 5 s each, and never the way in: when a new one comes, the
 * oldest unproven goes, and a rank that this meets calls again by itself. What follows is not encrypted:
 * docs/security.md. */
#ifndef TT_TRANSPORT_TCP_DOOR_H
#define TT_TRANSPORT_TCP_DOOR_H

#include "transport/tcp/arrival.h"
#include "transport/tcp/tcp.h"

typedef struct tt_tcp_door tt_tcp_door;

/* Listens on each rail, on ports that the system chooses; port[n] gets that of rail n, in network order. The key is
 * given later, since it is agreed upon together with the ports: until then nobody is let in, and nobody called. */
tutti_status tt_tcp_door_open(const tt_rail *rail, int64_t rail_count, int64_t rank, in_port_t *port,
                              tt_tcp_door **door);
void tt_tcp_door_key(tt_tcp_door *door, const unsigned char key[TT_TCP_KEY_BYTES]);
void tt_tcp_door_close(tt_tcp_door *door); /* accepts NULL */

/* Begins to connect to `peer` at `address` from the address of that rail (an own one). Does not block. An arrival will
 * tell, within timeout_ns. */
tutti_status tt_tcp_door_call(tt_tcp_door *door, int64_t peer, int32_t rail, const struct sockaddr_storage *address,
                              int64_t timeout_ns);

/* An epoll descriptor: readable when tt_tcp_door_next has something to do. */
int tt_tcp_door_fd(const tt_tcp_door *door);
/* Goes on with all that is under way; true: *arrival is one that is complete or has failed. Call until false. Never
 * blocks, and does a bounded piece of work at a time. The descriptor also tells when time is over. */
bool tt_tcp_door_next(tt_tcp_door *door, tt_tcp_arrival *arrival);

#endif

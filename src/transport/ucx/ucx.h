/* transport/ucx/ucx.h - the transport over UCX, for RDMA fabrics: slots of streams as UCX's active messages, on every
 * rail at once. Optional at build; libucp is loaded when the transport is opened, so that nothing else needs it.
 *
 *     ucx.c           the table; opening: two allgathers tell addresses and the job's key
 *     ../streams/     streams: slots, credits, what came early
 *     pipes.c         packets to and from each rank; knows no stream
 *     peer.c          endpoints to each rank, and who is dead
 *     rail.c          one context and one worker for each NIC
 *     arrival.c       messages that come, as packets
 *     device.c        UCX's names of a NIC
 *     library.c       libucp's functions; absent.c: in their place, where UCX was not there at build
 *
 * Endpoints are opened by who sends, on first need, one for each peer and rail, and by who receives, so that he learns
 * of a death. UCX brings each packet once, or says that it could not: then the peer is taken for dead, since what was
 * on its way is lost. Other than with tcp, a rail that fails is the end of the job's calls.
 *
 * A packet is sent when UCX has done with it. Over TCP, UCX may hold the last one's rest (8 KiB) where the system takes
 * no more: it goes at this rank's next progress. So tcp is the better choice where there is TCP only.
 *
 * UCX checks nobody who connects. Each packet carries the job's key, and what carries another is dropped; but a
 * stranger on the network reaches UCX's own code. */
#ifndef TT_TRANSPORT_UCX_UCX_H
#define TT_TRANSPORT_UCX_UCX_H

#include "transport/between.h"

/* NULL: tutti was built without UCX. Rails of two machines belong together by their place in the list. peer_dead is as
 * tcp's: 1 for a process whose endpoints have failed, 2 for one that has closed. */
const tutti_transport_ops *tt_ucx_ops(void); /* config: tt_between_config */

#endif

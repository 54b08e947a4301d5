/* transport/tcp/arrival.h - what becomes of a connection: it is proven, or has failed. */
#ifndef TT_TRANSPORT_TCP_ARRIVAL_H
#define TT_TRANSPORT_TCP_ARRIVAL_H

#include "base/base.h"

/* A proven connection: non-blocking, close-on-exec, with the options of tt_tcp_socket_tune (socket.h). Whoever gets it
 * owns fd. */
typedef struct tt_tcp_arrival {
  int fd;       /* -1: a call that has failed: nobody answered, refused, or the proof was wrong */
  bool called;  /* by this rank, with tt_tcp_door_call; else it has come in */
  bool refused; /* with fd -1: nobody listens there, or another job's process does: that one has ended */
  bool taken;   /* with fd -1: its system took the connection, but it did not answer in time: its process computes */
  int error;    /* with fd -1: errno that says why, such as ECONNREFUSED, ETIMEDOUT; EKEYREJECTED: the wrong proof */
  int64_t peer;
  int32_t rail; /* of this rank's list; of a connection that came in: the one whose listener took it */
} tt_tcp_arrival;

#endif

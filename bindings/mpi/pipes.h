/* bindings/mpi/pipes.h - packets between the ranks of an MPI communicator: what transport.c makes streams of.
 *
 * A packet is a buffer of a pool, with a head and data. It is sent as one message; the receiver asks MPI what has come,
 * from anyone, and takes all of it, each into a packet that is long enough. So what nobody waits for yet never stands
 * in the way of what somebody waits for. Packets of one sender may arrive in another order than they were sent. */
#ifndef TT_MPI_PIPES_H
#define TT_MPI_PIPES_H

#include <tutti/transport.h>

#include <mpi.h>
#include <stdbool.h>

typedef struct tt_mpi_head { /* travels in front of the data */
  uint64_t stream;
  uint32_t number;  /* of the slot in its stream; wraps */
  uint32_t credits; /* slots that the sender has released of the stream of that id from the receiver to it */
  tutti_slot_header slot;
} tt_mpi_head;

typedef enum tt_mpi_kind { TT_MPI_DATA = 1, TT_MPI_CREDITS, TT_MPI_BYE } tt_mpi_kind; /* MPI's tag */

typedef struct tt_mpi_packet {
  struct tt_mpi_packet *next;
  int64_t peer;
  size_t bytes; /* of data */
  uint8_t size_class, kind;
  bool comes; /* or goes */
  tt_mpi_head head;
  unsigned char data[]; /* 64-byte aligned */
} tt_mpi_packet;

typedef struct tt_mpi_pipes tt_mpi_pipes;

typedef struct tt_mpi_owner {                                      /* who has packets sent and gets those that come */
  tutti_status (*deliver_take)(void *user, tt_mpi_packet *packet); /* of data or credits; keeps it */
  void (*sent)(void *user, const tt_mpi_packet *packet);           /* a packet of data needs this rank no more */
  void *user;
} tt_mpi_owner;

tutti_status tt_mpi_pipes_create(MPI_Comm comm, const tt_mpi_owner *owner, tt_mpi_pipes **pipes);
/* Says goodbye to everyone it has met, and waits a while until what is on its way has arrived and they have said it
 * too: nothing is left in MPI then. Later than that, what is left is left to MPI. */
void tt_mpi_pipes_flush(tt_mpi_pipes *pipes);
/* All packets have been given back or sent. */
void tt_mpi_pipes_destroy(tt_mpi_pipes *pipes);

/* A packet with room for that many bytes, from the pool; NULL: no memory, or more than MPI can count. */
tt_mpi_packet *tt_mpi_packet_get(tt_mpi_pipes *pipes, size_t room);
void tt_mpi_packet_put(tt_mpi_pipes *pipes, tt_mpi_packet *packet);

/* Sends packet->bytes of data to packet->peer, and gives it back. */
tutti_status tt_mpi_pipes_send_take(tt_mpi_pipes *pipes, tt_mpi_packet *packet);
/* Delivers what has come, and lets MPI move on. TUTTI_ERR_PEER: a message from or to *peer has failed, or was
 * lost without memory; of several ranks each is told. */
tutti_status tt_mpi_pipes_progress(tt_mpi_pipes *pipes, int64_t *peer);

#endif

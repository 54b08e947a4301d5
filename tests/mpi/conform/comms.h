/* tests/mpi/conform/comms.h - the communicators of the suite, made once and used by many cases, and barriers' witness.
 *
 * Those with a topology know their neighbors without asking MPI: where several edges join two ranks, the first in the
 * one's list of targets is the first in the other's list of sources, and so on. */
#ifndef TEST_MPI_COMMS_H
#define TEST_MPI_COMMS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { EDGES_MOST = 40 };

typedef struct edges {
  int count;
  int rank[EDGES_MOST];  /* at the other end; MPI_PROC_NULL: beyond the edge of a grid */
  int index[EDGES_MOST]; /* of sources: which of that rank's targets this is */
} edges;

typedef struct suite_comm {
  const char *name;
  MPI_Comm mpi;
  int rank, size;
  edges sources, targets; /* none without a topology */
  bool several;     /* edges join the same two ranks, somewhere: MPIs disagree which block of an all-to-all is whose */
  int slot;         /* of barriers that its ranks have entered */
  int64_t barriers; /* that this rank has entered */
} suite_comm;

void comms_begin(uint64_t seed);
void comms_end(void);
int comms_count(bool topology);
suite_comm *comms_get(bool topology, int index);

/* This rank is about to enter a barrier: its ticket. Later, when it has left: whether all ranks had entered. Always
 * true where ranks do not share memory. */
int64_t comms_enter(suite_comm *comm);
bool comms_entered(const suite_comm *comm, int64_t ticket);

#endif

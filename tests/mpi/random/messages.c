/* tests/mpi/random/messages.c - what a collective moves, as messages of MPI itself. */
#include "random.h"

static MPI_Request messages[4 * MOST_BLOCKS];
static int count, tag;

void send_to(int to, const char *at, int elements_count, MPI_Datatype type) {
  PMPI_Isend(at, elements_count, type, to, tag, comm, &messages[count++]);
}

void receive_from(int from, char *at, int elements_count, MPI_Datatype type) {
  PMPI_Irecv(at, elements_count, type, from, tag, comm, &messages[count++]);
}

void end_messages(void) {
  PMPI_Waitall(count, messages, MPI_STATUSES_IGNORE);
  count = 0;
  tag++;
}

/* bindings/mpi/request_tag.h - tags of the messages that complete requests. Under tt_mpi_lock. */
#ifndef TT_MPI_REQUEST_TAG_H
#define TT_MPI_REQUEST_TAG_H

#include <stdbool.h>

bool tt_mpi_tag_get(int *tag); /* false: no memory, or MPI has no more */
void tt_mpi_tag_give(int tag);
void tt_mpi_tag_clear(void);

#endif

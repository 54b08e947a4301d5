/* transport/shm/shm.h - the shared memory transport: ranks of one machine, one memfd segment for all of them.
 *
 * Nothing of it has a name that outlives the opening: the segment is anonymous, its descriptor travels over a Unix
 * socket whose ends check that they belong to the same user. docs: include/tutti/transport.h is the contract. */
#ifndef TT_TRANSPORT_SHM_SHM_H
#define TT_TRANSPORT_SHM_SHM_H

#include "base/base.h"

#include <tutti/transport.h>

/* What `open` takes as config; NULL or zeros: the defaults. Equal on all ranks. */
typedef struct tt_shm_config {
  int64_t timeout_ns; /* for opening; 0: TUTTI_CREATE_TIMEOUT */
  /* Of each rank of the job: the lowest rank on its node. Opening is collective over the job, but ranks share a segment
   * with those of their node only, under their numbers in the job. NULL: all are on one. */
  const int64_t *head_of;
  uint64_t bytes;      /* address space of the segment, rounded up to a power of two; 0: four times the memory */
  uint64_t slot_bytes; /* of a stream; 0: TUTTI_SLOT_BYTES, and where that is 0 chosen by the number of ranks */
  uint64_t slot_count; /* of a stream, rounded up to a power of two; 0: TUTTI_SLOT_COUNT, then chosen */
  int descriptors;     /* ranks also wait for descriptors, by tt_shm_wait_on */
  int crowded; /* more ranks than cores: a writer whose message is read where it lies waits for its reader's turn */
  int64_t read_bytes; /* shorter pieces are not read; 0: TUTTI_READ_BYTES, and where that is 0 by how fast it is */
  int cma;            /* > 0: read each other's memory where all ranks may; < 0: never; 0: TUTTI_CMA */
} tt_shm_config;

const tutti_transport_ops *tt_shm_ops(void);

/* Bytes from which it would be worth while to read another rank's memory here; -1: the system does not let processes do
 * so. Tries it on a child; for programs that only look ahead. */
int64_t tt_shm_read_bytes(bool crowded);

/* As `wait`, but only until that descriptor is readable. */
void tt_shm_wait_on(void *self, int descriptor, int64_t timeout_ns);

/* Opens every rank of a job inside this process, over one mapping: self[r] is rank r's transport, to be used by one
 * thread at a time and closed like any other. For tests and for jobs of threads. */
tutti_status tt_shm_open_threads(const tt_shm_config *config, int64_t rank_count, void **self);

#endif

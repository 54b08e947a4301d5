/* transport/shm/join.h - how the ranks of a node come to map one segment: meet, join, confirm. All ranks of the job
 * take part, and an error on one node is an error on all. */
#ifndef TT_TRANSPORT_SHM_JOIN_H
#define TT_TRANSPORT_SHM_JOIN_H

#include "transport/shm/pass.h"
#include "transport/shm/segment.h"

#include <tutti/boot.h>

typedef struct tt_shm_meeting {
  const tutti_boot *boot;
  const int64_t *head_of; /* of each rank: the lowest of its node; NULL: rank 0 */
  int64_t member_count;   /* ranks of this node */
  int64_t until_ns;
  void *base; /* reserved address space */
  uint64_t reserved;
  uint64_t bytes; /* of the segment: the least that any of them could reserve */
  int socket;     /* the node's first rank listens, the others connect; -1: none */
  bool remote;    /* all ranks of the job want to read each other's memory */
  bool heap;      /* all have a heap that others may map */
  char name[TT_SHM_PASS_NAME];
} tt_shm_meeting;

/* `bytes` of each rank of the job to all. Collective. TUTTI_ERR_TIMEOUT in the end names who is missing. */
tutti_status tt_shm_allgather(const tt_shm_meeting *meeting, const void *mine, void *all, size_t bytes);
/* Exchanges what each rank has. An error here is the same on every rank and nothing is left open. Collective. */
tutti_status tt_shm_meet(const tutti_boot *boot, const int64_t *head_of, uint64_t bytes, bool remote,
                         int64_t timeout_ns, tt_shm_meeting *meeting);
/* Maps the segment. An error is this rank's own; tt_shm_confirm tells the others. */
tutti_status tt_shm_join(tt_shm_meeting *meeting, tt_shm_segment **segment);
/* Everybody's result: TUTTI_OK, or the error of the first rank that has one. Collective; ends the meeting. */
tutti_status tt_shm_confirm(tt_shm_meeting *meeting, tutti_status status);

#endif

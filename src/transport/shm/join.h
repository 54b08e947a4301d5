/* transport/shm/join.h - how ranks come to map one segment: meet, join, confirm. */
#ifndef TT_TRANSPORT_SHM_JOIN_H
#define TT_TRANSPORT_SHM_JOIN_H

#include "transport/shm/pass.h"
#include "transport/shm/segment.h"

#include <tutti/boot.h>

typedef struct tt_shm_meeting {
  const tutti_boot *boot;
  int64_t until_ns;
  void *base; /* reserved address space */
  uint64_t reserved;
  uint64_t bytes; /* of the segment: the least that any rank could reserve */
  int socket;     /* rank 0 listens, the others connect; -1: none */
  bool remote;    /* all ranks want to read each other's memory */
  char name[TT_SHM_PASS_NAME];
} tt_shm_meeting;

/* Exchanges what each rank has. An error here is the same on every rank and nothing is left open. Collective. */
tutti_status tt_shm_meet(const tutti_boot *boot, uint64_t bytes, bool remote, int64_t timeout_ns,
                         tt_shm_meeting *meeting);
/* Maps the segment. An error is this rank's own; tt_shm_confirm tells the others. */
tutti_status tt_shm_join(tt_shm_meeting *meeting, tt_shm_segment **segment);
/* Everybody's result: TUTTI_OK, or the error of the first rank that has one. Collective; ends the meeting. */
tutti_status tt_shm_confirm(tt_shm_meeting *meeting, tutti_status status);

#endif

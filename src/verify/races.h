/* verify/races.h - clocks over the lanes of each rank, and the accesses to each location that they must order. */
#ifndef TT_VERIFY_RACES_H
#define TT_VERIFY_RACES_H

#include "verify/proof.h"

/* Accesses to one location so far. */
typedef struct tt_accesses {
  uint32_t writer; /* last step that wrote it */
  uint32_t reader; /* list of steps that read it since: entries of tt_races */
} tt_accesses;

typedef struct tt_races {
  const tt_proof *proof;
  uint32_t *clock;      /* of each step: two rows, see races.c */
  size_t *first_clock;  /* of each rank */
  uint32_t *first_step; /* of each rank */
  struct tt_reader {
    uint32_t step, next;
  } *reader;
  uint32_t reader_count;
} tt_races;

tutti_status tt_verify_races_init(tt_races *races, tt_proof *proof);
/* To be called for each step in the order of the proof, before its accesses. */
void tt_verify_tick(tt_races *races, uint32_t step);
/* Whether the access of `earlier` is before that of `step`, slice by slice, by lane order and waits alone. */
bool tt_verify_ordered(const tt_races *races, uint32_t earlier, uint32_t step);
tutti_status tt_verify_read(tt_races *races, uint32_t step, tt_accesses *accesses);
tutti_status tt_verify_write(tt_races *races, uint32_t step, tt_accesses *accesses);

#endif

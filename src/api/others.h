/* api/others.h - programs that are not the job's and compute on cores that its ranks wait on: others.c. */
#ifndef TT_API_OTHERS_H
#define TT_API_OTHERS_H

#include "base/base.h"

/* What the ranks of a machine know together. */
typedef struct tt_others_news {
  int64_t until_ns;            /* others are expected until then */
  int64_t for_ns;              /* for how long that was, when it was found last */
  int64_t used_ns, sampled_ns; /* processor time of all ranks at the last look, and when that was */
  uint32_t taken;              /* 1: some rank looks */
} tt_others_news;

typedef struct tt_others {
  tt_others_news *news; /* in the hidden communicator's board, or own_news */
  tt_others_news own_news;
  int64_t *process; /* those of the job that may share cores with this one */
  int64_t process_count, cores;
  uint64_t yields; /* so far */
} tt_others;

/* process: of each rank that may share cores with this one, in any order; sorted then. */
tutti_status tt_others_open(tt_others *others, int64_t *process, int64_t count);
void tt_others_close(tt_others *others);
/* Gives the core to whoever wants it, and finds out now and then who that is. */
void tt_others_yield(tt_others *others);
static inline bool tt_others_expected(const tt_others *others, int64_t now) {
  return now < __atomic_load_n(&others->news->until_ns, __ATOMIC_RELAXED);
}

#endif

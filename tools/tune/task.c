/* tools/tune/task.c - see task.h. */
#include "task.h"
#include "load.h"

#include "bench/layout.h"
#include "job/job.h"
#include "transport/shm/shm.h"

#define CELLS_BYTES 2048 /* calls up to so long run in cells */

tt_task tune_task_of(const tt_problem *problem, const tt_topo *topo, bool apart, int64_t bytes) {
  bool crowded = tune_load_shares_cores(problem->rank_count);
  return (tt_task){.problem = *problem,
                   .topo = topo,
                   .bytes = bytes,
                   .slot_bytes = (int64_t)tt_comm_slot_bytes(problem->rank_count, apart),
                   .cells_bytes = apart ? 0 : CELLS_BYTES,
                   .read_bytes = tt_options_get()->cma && !apart ? tt_shm_read_bytes(crowded) : 0};
}

tt_task tune_task_on(const tutti_comm *comm, tt_collective collective, int64_t bytes) {
  tt_problem problem = {.collective = collective, .rank_count = comm->size};
  return tune_task_of(&problem, comm->topo, comm->apart, bytes);
}

int64_t tune_task_bytes(const tutti_comm *comm, tt_collective collective, int64_t bytes) {
  int64_t blocks = bench_form_of(collective).cut == BENCH_WHOLE ? 1 : comm->size,
          least = blocks * (int64_t)sizeof(float);
  return collective == TT_BARRIER || bytes < least ? least : bytes;
}

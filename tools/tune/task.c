/* tools/tune/task.c - see task.h. */
#include "task.h"

#include "job/job.h"
#include "transport/shm/shm.h"

#include <unistd.h>

#define CELLS_BYTES 2048 /* calls up to so long run in cells */

tt_task tune_task_of(const tt_problem *problem, const tt_topo *topo, bool apart, int64_t bytes) {
  bool crowded = problem->rank_count > sysconf(_SC_NPROCESSORS_ONLN);
  return (tt_task){.problem = *problem,
                   .topo = topo,
                   .bytes = bytes,
                   .slot_bytes = (int64_t)tt_comm_slot_bytes(problem->rank_count, apart),
                   .cells_bytes = apart ? 0 : CELLS_BYTES,
                   .read_bytes = tt_options_get()->cma && !apart ? tt_shm_read_bytes(crowded) : 0};
}

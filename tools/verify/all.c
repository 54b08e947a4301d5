/* tools/verify/all.c - plans, then bound plans: of every class of blocks that they admit. */
#include "all.h"

#include "bind/bind.h"

#include <inttypes.h>
#include <stdlib.h>

/* A rank publishes to ranks on its own machine. */
static bool stays_on_machines(const tt_meaning *meaning, tt_plan *const *plan, const int64_t *machine) {
  for (int64_t r = 0; r < meaning->rank_count; r++)
    for (uint32_t lane = 0; lane < plan[r]->lane_count; lane++)
      for (uint32_t n = 0; n < plan[r]->lane[lane].reader_count; n++)
        if (machine[plan[r]->reader[plan[r]->lane[lane].first_reader + n]] != machine[r])
          return false;
  return true;
}

/* On those machines where that can be. */
static tutti_status verify_bound(const tt_meaning *meaning, tt_plan *const *plan, const int64_t *machine,
                                 tt_class blocks, tt_bound_plan **bound) {
  bool apart = machine && blocks == TT_CLASS_STREAMS && stays_on_machines(meaning, plan, machine);
  tt_bind_facts facts = {
      .blocks = blocks, .able = TT_MEDIA_LENT, .wide = blocks == TT_CLASS_STREAMS, .machine = apart ? machine : NULL};
  tutti_status status = TUTTI_OK;
  for (int64_t r = 0; r < meaning->rank_count && status == TUTTI_OK; r++)
    status = tt_bind(plan[r], &facts, &bound[r]);
  return status == TUTTI_OK
             ? tt_verify_bound(meaning, (const tt_plan *const *)plan, (const tt_bound_plan *const *)bound)
             : status;
}

static tutti_status verify_class(const tt_meaning *meaning, tt_plan *const *plan, const int64_t *machine,
                                 tt_class blocks) {
  tt_bound_plan **bound = calloc((size_t)meaning->rank_count, sizeof(tt_bound_plan *));
  if (!bound)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " bound plans", meaning->rank_count);
  tutti_status status = verify_bound(meaning, plan, machine, blocks, bound);
  for (int64_t r = 0; r < meaning->rank_count; r++)
    tt_bound_plan_destroy(bound[r]);
  free(bound);
  return status;
}

tutti_status verify_all_plans(const tt_meaning *meaning, tt_plan *const *plan, const int64_t *machine) {
  tutti_status status = tt_verify(meaning, (const tt_plan *const *)plan);
  for (int n = 0; n < TT_CLASS_COUNT && status == TUTTI_OK; n++)
    if (n == TT_CLASS_STREAMS || plan[0]->direct)
      status = verify_class(meaning, plan, machine, (tt_class)n);
  return status;
}

/* exec/instance.c - one outstanding run of a plan: made once, started many times.
 *
 * A start sets lanes to their beginning, finds where blocks lie and lends scratch to mid and tmp.
 */
#include "exec/engine.h"

#include <stdlib.h>

enum { LINE = 64 };

static int64_t slice_of(const tt_plan *plan, const tt_link *link) {
  int64_t slot = (int64_t)tt_link_get(link)->slot_bytes_minimum;
  int64_t slice = plan->slice_bytes > 0 && plan->slice_bytes < slot ? plan->slice_bytes : slot;
  return slice < LINE ? LINE : slice & -(int64_t)LINE;
}

tutti_status tt_instance_create(const tt_plan *plan, tt_link *link, tt_instance **instance) {
  tutti_status status = tt_plan_check(plan);
  if (status)
    return status;
  tt_instance *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for an instance of a plan");
  made->plan = plan;
  made->link = link;
  made->ops = tt_link_get(link)->ops;
  made->transport = tt_link_get(link)->transport;
  made->slice = slice_of(plan, link);
  tt_arena_init(&made->arena);
  status = tt_bind(made);
  if (status)
    tt_instance_destroy(made);
  else
    *instance = made;
  return status;
}

void tt_instance_destroy(tt_instance *instance) {
  if (!instance)
    return;
  tt_memory_finish(&instance->memory);
  tt_arena_finish(&instance->arena);
  free(instance);
}

void tt_instance_log(tt_instance *instance, tt_access_log log, void *user) {
  instance->log = log;
  instance->log_user = user;
}

static void rewind_lanes(tt_instance *instance) {
  instance->active_count = 0;
  for (uint32_t n = 0; n < instance->plan->lane_count; n++) {
    tt_lane_run *lane = &instance->lane[n];
    *lane = (tt_lane_run){.op = lane->first, .first = lane->first, .end = lane->end};
    if (lane->op != lane->end)
      instance->active[instance->active_count++] = n;
  }
}

/* Type, operator and block lengths, unless they are those of the run before. */
static tutti_status set_shape(tt_instance *instance, const tt_run *run) {
  if (run->shape && run->shape == instance->shape)
    return TUTTI_OK;
  instance->shape = 0;
  tutti_status status = tt_arith_init(&instance->arith, run, instance->reduces);
  if (!status)
    status = tt_blocks_init(&instance->blocks, &run->blocks, run->type, instance->plan);
  if (!status)
    instance->shape = run->shape;
  return status;
}

tutti_status tt_instance_start(tt_instance *instance, const tt_run *run) {
  tutti_status status = set_shape(instance, run);
  if (!status)
    status = tt_memory_lend(&instance->memory, instance->plan, instance->uses_mid, run, &instance->blocks);
  if (status)
    return status;
  instance->call = run->call;
  instance->key = run->key;
  instance->referred = false;
  instance->status = TUTTI_OK;
  instance->bad_peer = -1;
  rewind_lanes(instance);
  return TUTTI_OK;
}

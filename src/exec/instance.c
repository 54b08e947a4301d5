/* exec/instance.c - one outstanding run of a plan: made once, started many times.
 *
 * A start sets lanes to their beginning, finds where blocks lie and lends scratch to mid and tmp.
 */
#include "exec/engine.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

tutti_status tt_instance_create(const tt_bound_plan *bound, tt_stream_table *streams, tt_instance **instance) {
  tutti_status status = tt_bound_plan_check(bound);
  if (status != TUTTI_OK)
    return status;
  tt_instance *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for an instance of a plan");
  made->executor.ops = &tt_instance_ops;
  made->bound = bound;
  made->plan = bound->list;
  made->streams.of = streams;
  made->streams.ops = tt_stream_table_spec_of(streams)->ops;
  made->streams.transport = tt_stream_table_spec_of(streams)->transport;
  made->streams.thresholds = tt_stream_table_spec_of(streams)->thresholds;
  made->streams.sent = tt_stream_table_counts(streams);
  tt_arena_init(&made->arena);
  status = tt_ops_make(made);
  if (status != TUTTI_OK)
    tt_instance_destroy(made);
  else
    *instance = made;
  return status;
}

void tt_instance_destroy(tt_instance *instance) {
  if (!instance)
    return;
  tt_instance_end_lending(instance);
  tt_accumulate_finish(&instance->accumulate);
  tt_memory_finish(&instance->memory);
  free(instance->aside.memory);
  tt_arena_finish(&instance->arena);
  free(instance);
}

void tt_executor_log(tt_executor *executor, tt_access_log log, void *user) {
  assert(executor->ops == &tt_instance_ops); /* it walks lanes */
  tt_instance *instance = (tt_instance *)executor;
  instance->log.write = log;
  instance->log.user = user;
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

/* Pieces are of whole elements, unless nobody looks at them. Decided from facts that all ranks know. */
static tutti_status set_slice(tt_instance *instance, const tt_run *run) {
  int64_t element = run->moves_only ? 1 : instance->arith.element_bytes;
  int64_t most = (int64_t)tt_stream_table_spec_of(instance->streams.of)->slot_bytes_minimum;
  instance->slot = tt_slot_bytes(instance->plan, most, element);
  assert(instance->slot >= 64 && instance->slot % 64 == 0);
  if (element > instance->slot) /* of what calls do not check */
    return tt_fail(TUTTI_ERR_ARGUMENT, "elements of %" PRId64 " bytes do not fit into slots of %" PRId64 " bytes",
                   element, instance->slot);
  instance->slice = tt_slice_bytes(instance->slot, element);
  assert(instance->slice > 0 && instance->slice <= instance->slot && instance->slice % element == 0);
  return TUTTI_OK;
}

/* Cells are as long as the longest block that is read or written there. */
static tutti_status touch_blocks(tt_instance *instance) {
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; !instance->blocks.uniform && status == TUTTI_OK && n < instance->plan->step_count; n++) {
    const tt_op *op = &instance->steps.op[n];
    status = tt_blocks_touch(&instance->blocks, op->length, op->dst);
    if (status == TUTTI_OK && op->src.space == TT_SPACE_TMP)
      status = tt_blocks_touch(&instance->blocks, op->length, op->src);
  }
  return status;
}

/* Type, operator and block lengths, unless they are those of the run before. */
static tutti_status set_shape(tt_instance *instance, const tt_run *run) {
  if (run->shape && run->shape == instance->run.shape)
    return TUTTI_OK;
  instance->run.shape = 0;
  tutti_status status = tt_arith_init(&instance->arith, run, instance->steps.reduces);
  if (status == TUTTI_OK)
    status = set_slice(instance, run);
  if (status == TUTTI_OK)
    status = tt_blocks_init(&instance->blocks, run, instance->arith.element_bytes, instance->plan);
  if (status == TUTTI_OK)
    status = touch_blocks(instance);
  if (status != TUTTI_OK)
    return status;
  instance->arith.large = instance->blocks.out_bytes >= instance->streams.thresholds.nontemporal;
  instance->run.shape = run->shape;
  return TUTTI_OK;
}

static tutti_status set_memory(tt_instance *instance, const tt_run *run) {
  tutti_status status = set_shape(instance, run);
  return status != TUTTI_OK
             ? status
             : tt_memory_lend(&instance->memory, instance->plan, instance->steps.uses_mid, run, &instance->blocks);
}

/* The same in float32, between images. */
static tutti_status set_images(tt_instance *instance, const tt_run *run) {
  tt_run wide = *run;
  wide.type = TUTTI_FLOAT32;
  tutti_status status = set_memory(instance, &wide);
  return status != TUTTI_OK ? status
                            : tt_accumulate_start(&instance->accumulate, instance->bound, &instance->arena, run,
                                                  &instance->blocks, &instance->memory);
}

/* Where all that is lent of that buffer is one block. */
static bool is_one(const tt_instance *instance, int space, int64_t *from, int64_t *to) {
  bool any = false;
  for (uint32_t n = 0; n < instance->plan->step_count; n++) {
    const tt_op *op = &instance->steps.op[n];
    if (op->kind != TT_STEP_SEND || op->src.space != space || !(op->media & TT_MEDIA_LENT))
      continue;
    int64_t at = tt_blocks_offset(&instance->blocks, op->src),
            end = at + tt_blocks_bytes(&instance->blocks, op->length);
    if (any && (at != *from || end != *to))
      return false;
    *from = at;
    *to = end;
    any = true;
  }
  return any;
}

/* Where the blocks of all ranks follow one another: in a gap somebody else may write. */
static bool is_dense(const tt_instance *instance, const tt_block_table *table, int space, int64_t *from, int64_t *to) {
  bool in = space == TT_SPACE_IN, any = false;
  const int64_t *offset = in ? table->in_offset : table->out_offset;
  bool listed = table->kind == TT_TABLE_LISTED;
  const int64_t *count = listed ? table->count : in ? table->in_count : table->out_count;
  if (table->kind == TT_TABLE_SPLIT || (listed && !table->has_all[space]) || !offset || !count)
    return false;
  for (int64_t b = 0; b < instance->plan->rank_count; b++) {
    if (count[b] == 0)
      continue;
    if (any && offset[b] != *to)
      return false;
    *from = any ? *from : offset[b];
    *to = offset[b] + count[b];
    any = true;
  }
  *from *= instance->blocks.element_bytes;
  *to *= instance->blocks.element_bytes;
  return any;
}

/* A buffer of which something is lent. NULL: none of it is, or not all of it is the call's. */
static const unsigned char *find_lent(const tt_instance *instance, const tt_run *run, int space, int64_t *bytes) {
  const tt_blocks *blocks = &instance->blocks;
  const unsigned char *base = instance->memory.base[space];
  int64_t own = blocks->base + (blocks->rank < blocks->extra), from = 0, to = 0;
  if (!instance->steps.lends[space] || !base)
    return NULL;
  if (blocks->uniform)
    to = blocks->own[space] ? own * blocks->element_bytes : blocks->out_bytes;
  else if (!is_dense(instance, &run->blocks, space, &from, &to) && !is_one(instance, space, &from, &to))
    return NULL;
  *bytes = to - from;
  return base + from;
}

/* Before anything is sent: what is to be lent may have to move to where peers read it. */
static void begin_lending(tt_instance *instance, const tt_run *run, bool wide) {
  const tutti_transport_ops *ops = instance->streams.ops;
  if (!(instance->steps.lends[0] || instance->steps.lends[1]) || !ops->lending)
    return;
  instance->run.lending = ops->lending(instance->streams.transport, 1);
  for (int space = TT_SPACE_IN; space <= TT_SPACE_OUT && instance->run.lending && !wide; space++) {
    int64_t bytes = 0;
    const unsigned char *lent = find_lent(instance, run, space, &bytes);
    if (lent && bytes >= instance->streams.thresholds.lend)
      ops->use(instance->streams.transport, lent, (size_t)bytes);
  }
}

void tt_instance_end_lending(tt_instance *instance) {
  if (instance->run.lending)
    instance->streams.ops->lending(instance->streams.transport, 0);
  instance->run.lending = false;
}

tutti_status tt_instance_start(tt_instance *instance, const tt_run *run, const tt_beside *beside) {
  bool wide = tt_accumulate_applies(run);
  tt_instance_end_lending(instance); /* of a run that was given up */
  tutti_status status = wide ? set_images(instance, run) : set_memory(instance, run);
  instance->accumulate.on = wide && status == TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  begin_lending(instance, run, wide);
  instance->beside = beside;
  instance->executor.went = 0;
  instance->run.call = run->call;
  instance->run.key = run->key;
  instance->run.referred = false;
  instance->run.single_copy = run->single_copy;
  instance->run.lends_from = tt_run_lends_from(run, &instance->streams.thresholds, instance->steps.takes);
  instance->fault.status = TUTTI_OK;
  instance->fault.peer = -1;
  rewind_lanes(instance);
  tt_spent *spent = tt_stream_table_spec_of(instance->streams.of)->spent;
  instance->stopwatch.spent = spent;
  if (spent)
    tt_stopwatch_begin(&instance->stopwatch, spent, instance->plan);
  return TUTTI_OK;
}

/* ---- as an executor ---- */

static void destroy(tt_executor *executor) { tt_instance_destroy((tt_instance *)executor); }

static tutti_status start(tt_executor *executor, const tt_run *run) {
  return tt_instance_start((tt_instance *)executor, run, NULL);
}

static tutti_status step(tt_executor *executor, bool *done, bool *moved, int64_t *peer) {
  return tt_instance_step((tt_instance *)executor, done, moved, peer);
}

static bool awaits_neighbour(const tt_executor *executor) {
  return tt_instance_awaits_neighbour((const tt_instance *)executor);
}

static bool awaits_far(const tt_executor *executor) { return tt_instance_awaits_far((const tt_instance *)executor); }

/* Streams wake those that they concern. */
static void await(const tt_executor *executor, bool one) {
  (void)executor;
  (void)one;
}

static bool never(const tt_executor *executor) {
  (void)executor;
  return false;
}

static tutti_status stay(tt_executor *executor, tt_stream_table *streams) {
  (void)executor;
  (void)streams;
  return tt_fail(TUTTI_ERR_UNSUPPORTED, "an instance with streams cannot move to another communicator");
}

const tt_executor_ops tt_instance_ops = {destroy, start, step, awaits_neighbour, awaits_far, await, never, never, stay};

/* exec/direct.c - one-round plans on small messages: each rank publishes what it sends in its cell, then takes what
 * comes from the others in plan order. No streams, no lanes.
 *
 *     rank 0   in -> own line, sequence       ... peer 1's sequence? -> out = in (op) peer 1's data
 *     rank 1   in -> own line, sequence       ... peer 0's sequence? -> out = peer 0's data (op) in
 *
 * Receives, reductions and copies keep an order that the plan's lanes and waits allow; so the bits are those of the
 * interpreter. Only ranks that send something are waited for, and who is read before a place is written again. Where
 * lengths are known to both ends only, long blocks go through streams (layout.c): then an instance does all steps, and
 * takes from cells what lies there.
 * Cost: one line's way from core to core for up to TT_CELL_INLINE bytes. */
#include "exec/direct.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { PATIENT_POLLS = 200 };

static bool may_move(const tt_executor *executor) {
  const tt_direct *direct = (const tt_direct *)executor;
  return !direct->instance && !direct->shape.far && !direct->shape.writes_far && direct->fault.status == TUTTI_OK;
}

static tutti_status move(tt_executor *executor, tt_stream_table *streams) {
  tt_direct *direct = (tt_direct *)executor;
  tt_cells *cells;
  tutti_status status = tt_stream_table_cells(streams, &cells);
  if (status != TUTTI_OK)
    return status;
  direct->streams = streams;
  direct->cells = cells;
  direct->sent = &tt_stream_table_counts(streams)[TT_MEDIUM_CELL];
  direct->polls = cells->spec->patient ? PATIENT_POLLS : 1;
  return TUTTI_OK;
}

static void destroy(tt_executor *executor) {
  tt_direct *direct = (tt_direct *)executor;
  tt_instance_destroy(direct->instance);
  tt_memory_finish(&direct->memory);
  tt_arena_finish(&direct->arena);
  free(direct);
}

static tt_cell_use *line_use(const tt_direct *direct) { return &direct->cells->line_use[direct->cells->line_at]; }

static tt_cell_use *data_use(const tt_direct *direct) {
  return &direct->shape.area->use[tt_cells_turn(direct->shape.area, direct->now.sequence)];
}

/* What the current call's line or data were used for before, if anyone may still read it; NULL: nobody does. */
static tt_cell_use *in_use(const tt_direct *direct) {
  if (!tt_cells_writable(direct->cells, line_use(direct)))
    return line_use(direct);
  return direct->shape.writes_far && !tt_cells_writable(direct->cells, data_use(direct)) ? data_use(direct) : NULL;
}

static inline unsigned char *data_of(const tt_direct *direct, int64_t rank, tt_line *line, tt_direct_spot spot) {
  return (spot.near ? line->near : tt_cells_data(direct->shape.area, rank, direct->now.sequence)) + spot.at;
}

/* A copy without a call for the commonest sizes. */
static inline void copy_piece(unsigned char *to, const unsigned char *from, int64_t bytes) {
  if (bytes == 8)
    memcpy(to, from, 8);
  else if (bytes == 4)
    memcpy(to, from, 4);
  else
    tt_copy(to, from, (size_t)bytes);
}

/* What stands before a block whose length only its two ends know: it is of this call, that block, and so long. */
static inline uint32_t tag_of(const tt_direct *direct, uint32_t mark) {
  return (uint32_t)(((direct->now.key | TT_KEY_MEANING) + (uint64_t)mark * 0x9E3779B97F4A7C15u) >> 32);
}

/* Publishes what the plan sends, unless some rank may still read what was there. */
static bool publish(tt_direct *direct) {
  assert(!direct->now.published);
  tt_cells *cells = direct->cells;
  if (direct->stopwatch.spent)
    tt_stopwatch_look(&direct->stopwatch);
  if (in_use(direct)) {
    if (direct->stopwatch.spent)
      tt_stopwatch_idle(&direct->stopwatch);
    return false;
  }
  tt_line *line = tt_cells_line(cells, direct->plan->rank);
  const unsigned char *in = direct->memory.base[TT_SPACE_IN];
  for (uint32_t n = 0; n < direct->shape.piece_count; n++) {
    const tt_direct_piece *piece = &direct->shape.piece[n];
    unsigned char *to = data_of(direct, direct->plan->rank, line, piece->to);
    uint32_t tag = tag_of(direct, piece->mark);
    if (piece->to.tagged)
      memcpy(to - TT_DIRECT_TAG, &tag, sizeof tag);
    copy_piece(to, in + piece->from, piece->bytes);
  }
  line->key = direct->now.key;
  atomic_store_explicit(&line->sequence, direct->now.sequence, memory_order_release); /* pairs with has_come */
  tt_cells_wake(cells, direct->shape.readers);
  tt_cells_used(cells, line_use(direct), direct->shape.readers);
  if (direct->shape.writes_far)
    tt_cells_used(cells, data_use(direct), direct->shape.readers);
  direct->now.published = true;
  direct->executor.went |= TT_MEDIA(TT_MEDIUM_CELL);
  direct->sent->messages++;
  direct->sent->bytes += direct->shape.piece_bytes;
  if (direct->stopwatch.spent)
    tt_stopwatch_moved(&direct->stopwatch, direct->steps.send_level, false);
  return true;
}

static tutti_status start_instance(tt_direct *direct, const tt_run *run) {
  tutti_status status =
      direct->instance ? TUTTI_OK : tt_instance_create(direct->bound, direct->streams, &direct->instance);
  return status != TUTTI_OK ? status : tt_instance_start(direct->instance, run, &direct->beside);
}

/* Nothing but buffers and call number differs from the run before. */
static inline bool is_again(const tt_direct *direct, const tt_run *run) {
  return direct->shape.made && run->shape && run->shape == direct->shape.run.shape;
}

static tutti_status start(tt_executor *executor, const tt_run *run) {
  tt_direct *direct = (tt_direct *)executor;
  direct->memory.base[TT_SPACE_IN] = (unsigned char *)(uintptr_t)run->in;
  direct->memory.base[TT_SPACE_OUT] = run->out;
  tutti_status status = is_again(direct, run) ? TUTTI_OK : tt_layout(direct, run);
  if (status == TUTTI_OK && direct->shape.rests)
    status = start_instance(direct, run);
  if (status == TUTTI_OK)
    status = tt_cells_begin(direct->cells);
  if (status != TUTTI_OK)
    return status;
  direct->now.sequence = direct->cells->sequence;
  direct->now.key = run->key + run->call * (0x9E3779B97F4A7C15u & ~TT_KEY_MEANING);
  direct->now.position = 0;
  direct->now.completed = false;
  direct->executor.went = 0;
  direct->fault.status = TUTTI_OK;
  direct->now.taken = !direct->shape.rests;
  direct->now.published = direct->shape.piece_count == 0;
  tt_spent *spent = direct->cells->spec->spent;
  direct->stopwatch.spent = spent;
  if (spent)
    tt_stopwatch_begin(&direct->stopwatch, spent, direct->plan);
  if (!direct->now.published)
    publish(direct);
  return TUTTI_OK;
}

static bool has_tag(const tt_direct *direct, const unsigned char *data, uint32_t mark) {
  uint32_t wanted = tag_of(direct, mark);
  return memcmp(data - TT_DIRECT_TAG, &wanted, sizeof wanted) == 0;
}

/* ---- what the instance asks, where it does the steps ---- */

static bool has(void *user, uint32_t step) { return !((const tt_direct *)user)->shape.spot[step].streams; }

static tutti_status peek(void *user, uint32_t step, uint32_t mark, const unsigned char **data) {
  tt_direct *direct = user;
  int32_t peer = direct->plan->step[step].peer;
  tt_direct_spot spot = direct->shape.spot[step];
  assert(peer >= 0 && !spot.streams);
  tt_line *line = tt_cells_line(direct->cells, peer);
  *data = NULL;
  if (atomic_load_explicit(&line->sequence, memory_order_acquire) != direct->now.sequence) /* pairs with publish */
    return TUTTI_OK;
  *data = data_of(direct, peer, line, spot);
  if (!tt_key_agrees(line->key, direct->now.key) || (spot.tagged && !has_tag(direct, *data, mark)))
    return TUTTI_ERR_MISMATCH;
  direct->cells->completed[peer] = direct->now.sequence - 1;
  return TUTTI_OK;
}

/* ---- what this one does by itself ---- */

static tutti_status mismatch(tt_direct *direct, int32_t peer) {
  direct->fault.status = TUTTI_ERR_MISMATCH;
  direct->fault.peer = direct->cells->spec->job_rank[peer];
  return direct->fault.status;
}

/* Whether the peer has published its data of this call; polls for a while where that keeps no other rank from running.
 */
static inline bool has_come(const tt_direct *direct, tt_line *line) {
  for (int n = 0; n < direct->polls; n++)
    if (atomic_load_explicit(&line->sequence, memory_order_acquire) == direct->now.sequence) /* pairs with publish */
      return true;
  return false;
}

/* Does one op; *ready = false where what it takes has not come. `watched`: in a copy of its own, so that the other one
 * has nothing of it. */
static ALWAYS_INLINE tutti_status take(tt_direct *direct, const tt_direct_take *of, bool *ready, bool watched) {
  unsigned char *dst = direct->memory.base[of->dst_space] + of->dst_at;
  const unsigned char *src = direct->memory.base[of->src_space] + of->src_at, *data = src;
  if (of->peer >= 0) {
    tt_line *line = tt_cells_line(direct->cells, of->peer);
    *ready = has_come(direct, line);
    if (!*ready)
      return TUTTI_OK;
    if (watched)
      tt_stopwatch_came(&direct->stopwatch, of->level, false);
    if (line->key != direct->now.key && !tt_key_agrees(line->key, direct->now.key))
      return mismatch(direct, of->peer);
    direct->cells->completed[of->peer] = direct->now.sequence - 1;
    data = data_of(direct, of->peer, line, of->data);
    if (of->data.tagged && !has_tag(direct, data, of->mark))
      return mismatch(direct, of->peer);
  } else if (of->use.reduces)
    src = dst; /* a copy that combines */
  if (of->combines)
    direct->arith.combine(of->use.left ? data : src, of->use.left ? src : data, dst, of->count, false);
  else
    tt_arith_apply(&direct->arith, of->use, src, data, dst, of->bytes);
  if (watched)
    tt_stopwatch_moved(&direct->stopwatch, of->level, false);
  return TUTTI_OK;
}

static bool in_cells(const tt_executor *executor) { return !((const tt_direct *)executor)->shape.rests; }

static bool awaits_neighbour(const tt_executor *executor) {
  const tt_direct *direct = (const tt_direct *)executor;
  const tt_cells *cells = direct->cells;
  const bool *neighbour = tt_stream_table_neighbours(direct->streams);
  if (!neighbour)
    return false;
  if (!direct->now.published) {
    const tt_cell_use *use = in_use(direct);
    return use && tt_cells_awaits(cells, use, neighbour);
  }
  if (!direct->now.taken)
    return tt_instance_awaits_neighbour(direct->instance);
  for (uint32_t n = direct->now.position; n < direct->shape.take_count; n++) {
    int32_t peer = direct->shape.take[n].peer;
    if (peer >= 0 && neighbour[peer] &&
        atomic_load_explicit(&tt_cells_line(cells, peer)->sequence, memory_order_relaxed) != direct->now.sequence)
      return true;
  }
  return false;
}

/* One of those that this rank lacks; -1: any may be. A hint, as above: the look that counts acquires. */
static int64_t find_awaited(const tt_direct *direct) {
  const tt_cells *cells = direct->cells;
  if (!direct->now.published) {
    const tt_cell_use *use = in_use(direct);
    return use ? tt_cells_awaited(direct->cells, use) : -1;
  }
  for (uint32_t n = direct->shape.take_count; direct->now.taken && n > direct->now.position; n--) {
    int32_t peer = direct->shape.take[n - 1].peer;
    if (peer >= 0 &&
        atomic_load_explicit(&tt_cells_line(cells, peer)->sequence, memory_order_relaxed) != direct->now.sequence)
      return peer;
  }
  return -1;
}

static void await(const tt_executor *executor, bool one) {
  const tt_direct *direct = (const tt_direct *)executor;
  tt_cells_prepare_sleep(direct->cells, one ? find_awaited(direct) : -1);
}

static void complete(tt_direct *direct) {
  assert(!direct->now.completed);
  tt_cells *cells = direct->cells;
  tt_cells_complete(cells, direct->now.sequence);
  if (direct->shape.reads_all)
    cells->settled = direct->now.sequence - 1;
  if (direct->shape.owes)
    tt_cells_wake(cells, direct->shape.owed); /* a publisher may wait for this rank to be through */
}

static tutti_status failed(tt_direct *direct, int64_t *peer) {
  *peer = direct->fault.peer;
  return tt_fail(direct->fault.status, "rank %" PRId64 " called something else, or sent another message",
                 direct->fault.peer);
}

/* Takes what has come, up to `end`. */
static ALWAYS_INLINE tutti_status take_up_to(tt_direct *direct, uint32_t end, bool *moved, int64_t *peer,
                                             bool watched) {
  assert(direct->now.position <= end && end <= direct->shape.take_count);
  assert(!direct->shape.rests || direct->shape.take_count == 0); /* the instance does the steps */
  while (direct->now.position < end) {
    bool ready = true;
    if (take(direct, &direct->shape.take[direct->now.position], &ready, watched) != TUTTI_OK)
      return failed(direct, peer);
    if (!ready)
      return TUTTI_OK;
    *moved = true;
    direct->now.position++;
  }
  return TUTTI_OK;
}

/* *done where that was all. */
static ALWAYS_INLINE tutti_status take_all(tt_direct *direct, bool *done, bool *moved, int64_t *peer, bool watched) {
  if (!direct->now.completed) {
    tutti_status status = take_up_to(direct, direct->shape.released, moved, peer, watched);
    if (status != TUTTI_OK || direct->now.position < direct->shape.released)
      return status;
    complete(direct);
    direct->now.completed = true;
  }
  tutti_status status = take_up_to(direct, direct->shape.take_count, moved, peer, watched);
  *done = direct->now.position == direct->shape.take_count;
  return status;
}

static __attribute__((noinline)) tutti_status take_all_watched(tt_direct *direct, bool *done, bool *moved,
                                                               int64_t *peer) {
  tt_stopwatch_look(&direct->stopwatch);
  tutti_status status = take_all(direct, done, moved, peer, true);
  if (!*done)
    tt_stopwatch_idle(&direct->stopwatch);
  return status;
}

static tutti_status step(tt_executor *executor, bool *done, bool *moved, int64_t *peer) {
  tt_direct *direct = (tt_direct *)executor;
  *done = *moved = false;
  if (direct->fault.status != TUTTI_OK)
    return failed(direct, peer);
  if (!direct->now.published) {
    *moved = publish(direct);
    if (!*moved)
      return TUTTI_OK;
  }
  if (!direct->now.taken) {
    tutti_status status = tt_instance_step(direct->instance, &direct->now.taken, moved, peer);
    if (status != TUTTI_OK || !direct->now.taken)
      return status;
    direct->executor.went |= direct->instance->executor.went;
  }
  return direct->stopwatch.spent ? take_all_watched(direct, done, moved, peer)
                                 : take_all(direct, done, moved, peer, false);
}

/* Cells are of one machine. */
static bool awaits_far(const tt_executor *executor) {
  (void)executor;
  return false;
}

static const tt_executor_ops ops = {
    destroy, start, step, awaits_neighbour, awaits_far, await, in_cells, may_move, move,
};

static tutti_status create(const tt_bound_plan *bound, tt_stream_table *streams, tt_executor **executor) {
  tutti_status status = tt_bound_plan_check(bound);
  tt_direct *made = status != TUTTI_OK ? NULL : calloc(1, sizeof *made);
  if (!made)
    return status != TUTTI_OK ? status : tt_fail(TUTTI_ERR_MEMORY, "no memory for a direct executor");
  made->executor.ops = &ops;
  made->bound = bound;
  made->plan = bound->list;
  made->beside = (tt_beside){.has = has, .peek = peek, .user = made};
  tt_arena_init(&made->arena);
  status = move(&made->executor, streams);
  if (status == TUTTI_OK)
    status = tt_flatten(made);
  if (status != TUTTI_OK)
    destroy(&made->executor);
  else
    *executor = &made->executor;
  return status;
}

tutti_status tt_executor_create(const tt_bound_plan *bound, tt_stream_table *streams, tt_executor **executor) {
  if (bound->blocks != TT_CLASS_STREAMS)
    return create(bound, streams, executor);
  tt_instance *instance;
  tutti_status status = tt_instance_create(bound, streams, &instance);
  if (status == TUTTI_OK)
    *executor = &instance->executor;
  return status;
}

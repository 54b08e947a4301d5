/* exec/direct.c - one-round plans over shared cells: publish what the plan sends, then take from the others in plan
 * order.
 *
 *     rank 0   in -> own line, sequence       ... peer 1's sequence? -> out = in (op) peer 1's data
 *     rank 1   in -> own line, sequence       ... peer 0's sequence? -> out = peer 0's data (op) in
 *
 * The data are an image of the rank's input as far as the plan sends it, so that a reader knows where each block lies.
 * Receives, reductions and copies keep an order that the plan's lanes and waits allow; so the bits are those of the
 * interpreter. Cost: one line's way from core to core for up to TT_CELL_INLINE bytes. */
#include "exec/direct.h"

#include <stdlib.h>
#include <string.h>

enum { PATIENT_POLLS = 200 };

bool tt_direct_fits(const tt_plan *plan, int64_t bytes) {
  return plan->direct && bytes <= tt_options_get()->direct_bytes;
}

tutti_status tt_direct_create(const tt_plan *plan, tt_link *link, tt_direct **direct) {
  tutti_status status = tt_plan_check(plan);
  tt_direct *made = status ? NULL : calloc(1, sizeof *made);
  if (!made)
    return status ? status : tt_fail(TUTTI_ERR_MEMORY, "no memory for a direct executor");
  made->plan = plan;
  made->shape.type = TUTTI_TYPE_COUNT;
  tt_arena_init(&made->arena);
  status = tt_link_cells(link, &made->cells);
  if (!status)
    status = tt_flatten(made);
  if (!status)
    made->polls = made->cells->spec->patient ? PATIENT_POLLS : 1;
  if (status)
    tt_direct_destroy(made);
  else
    *direct = made;
  return status;
}

void tt_direct_destroy(tt_direct *direct) {
  if (!direct)
    return;
  tt_memory_finish(&direct->memory);
  tt_arena_finish(&direct->arena);
  free(direct);
}

/* ---- shape: what depends on type, operator and block lengths ---- */

static bool same_shape(const tt_run *a, const tt_run *b) {
  if (a->shape && a->shape == b->shape)
    return true;
  return a->type == b->type && a->op == b->op && a->in_own == b->in_own && a->out_own == b->out_own &&
         a->blocks.total == b->blocks.total && a->blocks.block_count == b->blocks.block_count && !a->blocks.count &&
         !b->blocks.count;
}

static int compare_ranges(const void *a, const void *b) {
  int64_t x = ((const tt_direct_range *)a)->begin, y = ((const tt_direct_range *)b)->begin;
  return (x > y) - (x < y);
}

/* Ranges of the input that are sent, ascending; neighbours are one. */
static void shape_ranges(tt_direct *direct) {
  for (uint32_t n = 0; n < direct->sent_count; n++)
    direct->range[n] = (tt_direct_range){tt_memory_offset(&direct->memory, direct->sent[n], &direct->blocks),
                                         tt_blocks_span(&direct->blocks, direct->sent[n]).bytes};
  qsort(direct->range, direct->sent_count, sizeof *direct->range, compare_ranges);
  uint32_t count = 0;
  for (uint32_t n = 0; n < direct->sent_count; n++) {
    tt_direct_range *last = count ? &direct->range[count - 1] : NULL;
    if (last && last->begin + last->bytes == direct->range[n].begin)
      last->bytes += direct->range[n].bytes;
    else
      direct->range[count++] = direct->range[n];
  }
  direct->range_count = count;
}

static void shape_ops(tt_direct *direct) {
  const tt_memory *memory = &direct->memory;
  for (uint32_t n = 0; n < direct->op_count; n++) {
    tt_direct_op *of = &direct->op[n];
    of->bytes = tt_blocks_span(&direct->blocks, of->block).bytes;
    of->src_at = tt_memory_offset(memory, of->src, &direct->blocks);
    of->dst_at = tt_memory_offset(memory, of->dst, &direct->blocks);
    of->data_at = tt_memory_offset(memory, of->block, &direct->blocks); /* images are laid out as the input is */
  }
}

static tutti_status set_shape(tt_direct *direct, const tt_run *run) {
  direct->shape = (tt_run){.type = TUTTI_TYPE_COUNT};
  tutti_status status = tt_arith_init(&direct->arith, run, direct->reduces);
  if (!status)
    status = tt_blocks_init(&direct->blocks, &run->blocks, run->type, direct->plan);
  if (!status)
    status = tt_memory_lend(&direct->memory, direct->plan, direct->uses_mid, run, &direct->blocks);
  if (status)
    return status;
  int64_t image = run->in_own ? tt_blocks_longest_block(&direct->blocks, run->blocks.block_count)
                              : tt_blocks_total_bytes(&direct->blocks);
  if (image > direct->cells->data_bytes)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%lld bytes for the direct executor, at most %lld fit", (long long)image,
                   (long long)direct->cells->data_bytes);
  direct->near = image <= TT_CELL_INLINE;
  if (!direct->near && (status = tt_cells_open_data(direct->cells)))
    return status;
  shape_ranges(direct);
  shape_ops(direct);
  direct->shape = *run;
  return TUTTI_OK;
}

/* ---- a run ---- */

static inline unsigned char *data_of(const tt_direct *direct, int64_t rank, tt_line *line) {
  return direct->near ? line->near : tt_cells_data(direct->cells, rank, direct->sequence);
}

/* The last call that used what this one is to write. */
static inline int64_t call_before(const tt_direct *direct) {
  return (int64_t)direct->sequence - (direct->near ? TT_CELL_LINES : TT_CELL_DATA);
}

/* memcpy without a call for the commonest sizes. */
static inline void copy_range(unsigned char *to, const unsigned char *from, int64_t bytes) {
  if (bytes == 8)
    memcpy(to, from, 8);
  else if (bytes == 4)
    memcpy(to, from, 4);
  else if (bytes > 0)
    memcpy(to, from, (size_t)bytes);
}

/* Publishes what the plan sends, unless some rank may still read what was there. */
static bool publish(tt_direct *direct) {
  tt_cells *cells = direct->cells;
  if (!tt_cells_writable(cells, call_before(direct)))
    return false;
  tt_line *line = tt_cells_line(cells, direct->plan->rank, direct->sequence);
  unsigned char *data = data_of(direct, direct->plan->rank, line);
  const unsigned char *in = direct->memory.base[TT_SPACE_IN];
  for (uint32_t n = 0; n < direct->range_count; n++)
    copy_range(data + direct->range[n].begin, in + direct->range[n].begin, direct->range[n].bytes);
  line->key = direct->key;
  atomic_store_explicit(&line->sequence, direct->sequence, memory_order_release); /* pairs with take */
  tt_cells_wake(cells);
  direct->published = true;
  return true;
}

/* Takes the buffers of a run, whose shape is the last one's or a new one. */
static tutti_status lend(tt_direct *direct, const tt_run *run) {
  if (!same_shape(run, &direct->shape))
    return set_shape(direct, run);
  direct->memory.base[TT_SPACE_IN] = (unsigned char *)(uintptr_t)run->in;
  direct->memory.base[TT_SPACE_OUT] = run->out;
  return TUTTI_OK; /* scratch is as large as the shape needs */
}

tutti_status tt_direct_start(tt_direct *direct, const tt_run *run) {
  tutti_status status = lend(direct, run);
  if (status)
    return status;
  direct->sequence = ++direct->cells->sequence;
  direct->key = run->key + run->call * 0x9E3779B97F4A7C15u;
  direct->position = 0;
  direct->status = TUTTI_OK;
  direct->published = !direct->publishes;
  if (direct->publishes)
    publish(direct);
  return TUTTI_OK;
}

static tutti_status mismatch(tt_direct *direct, int32_t peer) {
  direct->status = TUTTI_ERR_MISMATCH;
  direct->bad_peer = direct->cells->spec->job_rank[peer];
  return direct->status;
}

/* Whether the peer has published its data of this call; polls for a while where that keeps no other rank from running.
 */
static inline bool has_come(const tt_direct *direct, tt_line *line) {
  for (int n = 0; n < direct->polls; n++)
    if (atomic_load_explicit(&line->sequence, memory_order_acquire) == direct->sequence) /* pairs with publish */
      return true;
  return false;
}

/* Does one op; *ready = false where what it takes has not come. */
static tutti_status take(tt_direct *direct, const tt_direct_op *of, bool *ready) {
  unsigned char *dst = direct->memory.base[of->dst.space] + of->dst_at;
  const unsigned char *src = direct->memory.base[of->src.space] + of->src_at, *data = src;
  if (of->peer >= 0) {
    tt_line *line = tt_cells_line(direct->cells, of->peer, direct->sequence);
    *ready = has_come(direct, line);
    if (!*ready)
      return TUTTI_OK;
    if (line->key != direct->key)
      return mismatch(direct, of->peer);
    direct->cells->completed[of->peer] = direct->sequence - 1;
    data = data_of(direct, of->peer, line) + of->data_at;
  } else if (of->use.reduces)
    src = dst; /* a copy that combines */
  if (of->bytes > 0)
    tt_arith_take(&direct->arith, of->use, src, data, dst, of->bytes);
  return TUTTI_OK;
}

bool tt_direct_awaits_neighbour(const tt_direct *direct) {
  const tt_cells *cells = direct->cells;
  const bool *neighbour = cells->spec->neighbour;
  if (!neighbour)
    return false;
  if (!direct->published)
    return tt_cells_awaits_neighbour(cells, call_before(direct));
  for (uint32_t n = direct->position; n < direct->op_count; n++) {
    int32_t peer = direct->op[n].peer;
    if (peer >= 0 && neighbour[peer] &&
        atomic_load_explicit(&tt_cells_line(cells, peer, direct->sequence)->sequence, memory_order_relaxed) !=
            direct->sequence)
      return true;
  }
  return false;
}

static void complete(tt_direct *direct) {
  tt_cells *cells = direct->cells;
  tt_cells_complete(cells, direct->sequence);
  if (direct->reads_all)
    cells->settled = direct->sequence - 1;
  if (!direct->publishes)
    tt_cells_wake(cells); /* a publisher may wait for this rank to be through */
}

static tutti_status failed(tt_direct *direct, int64_t *peer) {
  *peer = direct->bad_peer;
  return tt_fail(direct->status, "rank %lld called something else", (long long)direct->bad_peer);
}

tutti_status tt_direct_step(tt_direct *direct, bool *done, bool *moved, int64_t *peer) {
  *done = *moved = false;
  if (direct->status)
    return failed(direct, peer);
  if (!direct->published) {
    *moved = publish(direct);
    if (!*moved)
      return TUTTI_OK;
  }
  while (direct->position < direct->op_count) {
    bool ready = true;
    if (take(direct, &direct->op[direct->position], &ready))
      return failed(direct, peer);
    if (!ready)
      return TUTTI_OK;
    *moved = true;
    direct->position++;
  }
  complete(direct);
  *done = true;
  return TUTTI_OK;
}

/* exec/layout.c - where each block of a run travels, so that both of its ends find the same place.
 *
 *     image    lengths that all ranks know: a rank publishes its input as it is, as far as somebody reads it; a reader
 *              finds a block where it lies in the sender's input
 *     shares   lengths that both ends know: a line and the data of a call are cut into equal shares, one for each
 * reader. What one rank sends to another is put there in the order of blocks, near where it fits, else far; what fits
 * in neither goes through a stream. Both ends find the same, without a word; a tag in front of each block tells where
 * they do not, because they differ in its length
 *
 *     data of rank 0, shares   | for rank 0 | b1 b7 . . . for rank 1 | b2 . . for rank 2 |      b8, long: stream
 *
 * Where nothing goes through streams, what the rank takes is a list. Else the instance does it, in lanes: a step may
 * wait for another one wherever the blocks of the two travel.
 *
 * A block of no bytes costs a test. The cost is O(steps), whenever lengths, type or operator are other ones than
 * before.
 */
#include "exec/direct.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_RANKS = 32 };

static bool by_shares(const tt_block_table *table) {
  return (table->kind == TT_TABLE_SQUARE && table->in_count) || (table->kind == TT_TABLE_LISTED && !table->known);
}

static int64_t longest_block(const tt_block_table *table) {
  if (table->kind == TT_TABLE_SPLIT)
    return table->total / table->block_count + (table->total % table->block_count > 0);
  if (table->kind == TT_TABLE_SQUARE)
    return table->each;
  int64_t longest = 0;
  for (int64_t block = 0; block < table->block_count; block++)
    longest = table->count[block] > longest ? table->count[block] : longest;
  return longest;
}

/* Elements of the input of all ranks together or of one that has them all: at most `most`. Where ranks are many and
 * each has but its own block, streams between all pairs of them would take longer than any such block. */
static bool is_short(const tt_run *run, int64_t rank_count, int64_t most) {
  const tt_block_table *table = &run->blocks;
  if (table->kind == TT_TABLE_SPLIT && run->in_own && rank_count > MANY_RANKS)
    return longest_block(table) <= most / MANY_RANKS;
  if (table->kind == TT_TABLE_SPLIT)
    return table->total <= most;
  if (table->kind == TT_TABLE_SQUARE)
    return table->each <= most / rank_count;
  int64_t left = most;
  for (int64_t block = 0; block < table->block_count && left >= 0; block++)
    left -= table->count[block] <= left ? table->count[block] : left + 1;
  return left >= 0;
}

/* What is better read where it lies is not copied to cells. */
static bool is_better_in_place(const tt_run *run, int64_t element) {
  return run->single_copy && run->refer_least > 0 &&
         longest_block(&run->blocks) >= (run->refer_least + element - 1) / element;
}

tt_class tt_run_class(const tt_plan *plan, const tt_run *run) {
  int64_t element = run->element_bytes ? run->element_bytes : (int64_t)tutti_type_size(run->type);
  if (!plan->direct || element <= 0 || tt_accumulate_applies(run))
    return TT_CLASS_STREAMS;
  if (by_shares(&run->blocks))
    return run->moves_only ? TT_CLASS_ENDS : TT_CLASS_STREAMS;
  bool in_cells =
      is_short(run, plan->rank_count, tt_options_get()->direct_bytes / element) && !is_better_in_place(run, element);
  return in_cells ? TT_CLASS_CELLS : TT_CLASS_STREAMS;
}

/* ---- the same shape again ---- */

static bool same_table(const tt_block_table *a, const tt_block_table *b) {
  bool square = a->kind == TT_TABLE_SQUARE && !a->in_count && !b->in_count;
  return a->kind == b->kind && (a->kind == TT_TABLE_SPLIT || square) && a->total == b->total && a->each == b->each &&
         a->block_count == b->block_count;
}

static bool same_shape(const tt_run *a, const tt_run *b) {
  return a->type == b->type && a->op == b->op && a->element_bytes == b->element_bytes && !a->user_op && !b->user_op &&
         a->in_own == b->in_own && a->out_own == b->out_own && same_table(&a->blocks, &b->blocks);
}

/* ---- where blocks are on their way ---- */

static int64_t image_bytes(const tt_direct *direct, const tt_run *run) {
  const tt_block_table *table = &run->blocks;
  const tt_blocks *blocks = &direct->blocks;
  if (table->kind == TT_TABLE_LISTED)
    return direct->shape.image[table->block_count];
  if (run->in_own && table->kind == TT_TABLE_SPLIT)
    return (blocks->base + (blocks->extra > 0)) * blocks->element_bytes;
  return blocks->out_bytes;
}

/* Where the blocks of a list lie: one after the other. */
static tutti_status list_image(tt_direct *direct, const tt_block_table *table) {
  if (!direct->shape.image)
    direct->shape.image = tt_arena_alloc(&direct->arena, (size_t)table->block_count + 1, sizeof *direct->shape.image);
  if (!direct->shape.image)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a list of %" PRId64 " blocks", table->block_count);
  for (int64_t block = 0; block < table->block_count; block++)
    direct->shape.image[block + 1] = direct->shape.image[block] + table->count[block] * direct->blocks.element_bytes;
  return TUTTI_OK;
}

static int64_t image_at(const tt_direct *direct, tt_place length) {
  if (direct->blocks.kind == TT_TABLE_LISTED)
    return direct->shape.image[length.block] + tt_blocks_before(&direct->blocks, length);
  return tt_blocks_image(&direct->blocks, length);
}

#ifndef NDEBUG
/* Whether so many bytes at the spot are in the line, or in the data of one call. */
static bool is_inside(const tt_direct *direct, tt_direct_spot spot, int64_t bytes) {
  int64_t before = spot.tagged ? TT_DIRECT_TAG : 0;
  return spot.at >= before && spot.at + bytes <= (spot.near ? TT_CELL_INLINE : direct->shape.area->bytes);
}
#endif
/* ---- pieces and takes ---- */

static void add_readers(tt_direct *direct, const tt_direct_send *send) {
  if (send->peer >= 0)
    tt_cells_add(direct->shape.readers, send->peer);
  for (uint32_t n = 0; send->peer < 0 && n < send->reader_count; n++)
    tt_cells_add(direct->shape.readers, direct->plan->reader[send->first_reader + n]);
}

static void add_piece(tt_direct *direct, const tt_direct_send *send, int64_t bytes, tt_direct_spot to) {
  direct->shape.spot[send->step] = to;
  direct->shape.rests |= to.streams;
  if (to.streams)
    return;
  assert(is_inside(direct, to, bytes) && direct->shape.piece_count < direct->steps.send_count);
  add_readers(direct, send);
  direct->shape.writes_far |= !to.near;
  direct->shape.piece[direct->shape.piece_count++] =
      (tt_direct_piece){.from = tt_memory_offset(&direct->memory, send->src, &direct->blocks),
                        .bytes = bytes,
                        .mark = tt_blocks_mark(send->length, bytes),
                        .to = to};
}

static void set_spot(tt_direct *direct, const tt_direct_op *op, tt_direct_spot from) {
  direct->shape.spot[op->step] = from;
  direct->shape.rests |= from.streams;
  if (from.streams)
    return;
  tt_cells_add(direct->shape.sources, op->peer);
  direct->shape.far |= !from.near;
}

static void add_take(tt_direct *direct, const tt_direct_op *op, int64_t bytes) {
  assert(op->peer < 0 || is_inside(direct, direct->shape.spot[op->step], bytes));
  assert(bytes % direct->arith.element_bytes == 0);
  bool divides = op->use.finish > 1 && direct->arith.average;
  direct->shape.take[direct->shape.take_count++] =
      (tt_direct_take){.peer = op->peer,
                       .src_space = (uint8_t)op->src.space,
                       .dst_space = (uint8_t)op->dst.space,
                       .level = op->level,
                       .use = op->use,
                       .mark = tt_blocks_mark(op->length, bytes),
                       .bytes = bytes,
                       .count = (size_t)(bytes / direct->arith.element_bytes),
                       .combines = op->use.reduces && direct->arith.combine && !divides,
                       .src_at = tt_memory_offset(&direct->memory, op->src, &direct->blocks),
                       .dst_at = tt_memory_offset(&direct->memory, op->dst, &direct->blocks),
                       .data = direct->shape.spot[op->step]};
}

static void add_takes(tt_direct *direct) {
  for (uint32_t n = 0; n < direct->steps.op_count; n++) {
    int64_t bytes = tt_blocks_bytes(&direct->blocks, direct->steps.op[n].length);
    if (bytes > 0)
      add_take(direct, &direct->steps.op[n], bytes);
    if (n < direct->bound->released)
      direct->shape.released = direct->shape.take_count;
  }
}

static int compare_pieces(const void *a, const void *b) {
  int64_t x = ((const tt_direct_piece *)a)->to.at, y = ((const tt_direct_piece *)b)->to.at;
  return (x > y) - (x < y);
}

/* Of an image: in order, what is there twice once, neighbors as one. */
static void merge_pieces(tt_direct *direct) {
  qsort(direct->shape.piece, direct->shape.piece_count, sizeof *direct->shape.piece, compare_pieces);
  uint32_t count = 0;
  for (uint32_t n = 0; n < direct->shape.piece_count; n++) {
    tt_direct_piece *last = count ? &direct->shape.piece[count - 1] : NULL, *next = &direct->shape.piece[n];
    assert(!last || next->to.at >= last->to.at + last->bytes || next->to.at + next->bytes <= last->to.at + last->bytes);
    if (last && next->to.at < last->to.at + last->bytes)
      continue;
    if (last && last->to.at + last->bytes == next->to.at && last->from + last->bytes == next->from)
      last->bytes += next->bytes;
    else
      direct->shape.piece[count++] = *next;
  }
  direct->shape.piece_count = count;
}

/* What a user's operator sees is aligned as the user's elements are: lines are, to 16 bytes. */
static bool is_near(const tt_direct *direct, const tt_run *run, int64_t bytes) {
  return bytes <= TT_CELL_INLINE && (!run->user_op || direct->arith.element_bytes % 32 != 0);
}

static tutti_status lay_image(tt_direct *direct, const tt_run *run) {
  tutti_status status = run->blocks.kind == TT_TABLE_LISTED ? list_image(direct, &run->blocks) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  int64_t image = image_bytes(direct, run);
  int number = 0;
  while (number < TT_CELL_AREAS && direct->cells->area[number].bytes < image)
    number++;
  if (number == TT_CELL_AREAS)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%" PRId64 " bytes do not fit the direct executor, which takes at most %" PRId64,
                   image, direct->cells->area[TT_CELL_AREAS - 1].bytes);
  direct->shape.area = &direct->cells->area[number];
  bool near = is_near(direct, run, image);
  for (uint32_t n = 0; n < direct->steps.send_count; n++) {
    const tt_direct_send *send = &direct->steps.send[n];
    int64_t bytes = tt_blocks_bytes(&direct->blocks, send->length);
    if (bytes > 0)
      add_piece(direct, send, bytes, (tt_direct_spot){.near = near, .at = image_at(direct, send->length)});
  }
  merge_pieces(direct);
  for (uint32_t n = 0; n < direct->steps.op_count; n++) {
    const tt_direct_op *op = &direct->steps.op[n];
    if (op->peer >= 0 && tt_blocks_bytes(&direct->blocks, op->length) > 0)
      set_spot(direct, op, (tt_direct_spot){.near = near, .at = image_at(direct, op->length)});
  }
  return TUTTI_OK;
}

/* Blocks that may not go in cells leave no gap there. */
static tt_direct_spot spot_of(const tt_direct *direct, uint32_t step, tt_shares *of, int64_t bytes) {
  bool admitted = direct->bound->step[step].media & TT_MEDIA(TT_MEDIUM_CELL);
  return admitted ? tt_shares_next(of, bytes) : (tt_direct_spot){.streams = true};
}

static void lay_sends(tt_direct *direct) {
  tt_shares of = tt_shares_begin(direct->plan->rank_count, direct->shape.area->bytes);
  for (uint32_t n = 0; n < direct->steps.send_count; n++) {
    const tt_direct_send *send = &direct->steps.send[n];
    int64_t bytes = tt_blocks_bytes(&direct->blocks, send->length);
    tt_shares_turn(&of, send->peer, send->peer);
    if (bytes > 0)
      add_piece(direct, send, bytes, spot_of(direct, send->step, &of, bytes));
  }
}

static void lay_ops(tt_direct *direct) {
  tt_shares of = tt_shares_begin(direct->plan->rank_count, direct->shape.area->bytes);
  for (uint32_t n = 0; n < direct->steps.op_by_place_count; n++) {
    const tt_direct_op *op = &direct->steps.op[direct->steps.op_by_place[n]];
    tt_shares_turn(&of, op->peer, direct->plan->rank);
    int64_t bytes = tt_blocks_bytes(&direct->blocks, op->length);
    if (bytes > 0)
      set_spot(direct, op, spot_of(direct, op->step, &of, bytes));
  }
}

static void lay_shares(tt_direct *direct) {
  direct->shape.area = &direct->cells->area[TT_CELL_AREAS - 1];
  lay_sends(direct);
  lay_ops(direct);
}

/* ---- all of it ---- */

static tutti_status touch_blocks(tt_direct *direct) {
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; status == TUTTI_OK && n < direct->steps.op_count; n++)
    status = tt_blocks_touch(&direct->blocks, direct->steps.op[n].length, direct->steps.op[n].dst);
  for (uint32_t n = 0; status == TUTTI_OK && n < direct->steps.send_count; n++)
    status = tt_blocks_touch(&direct->blocks, direct->steps.send[n].length, direct->steps.send[n].src);
  return status;
}

static tutti_status set_sizes(tt_direct *direct, const tt_run *run) {
  tutti_status status = tt_arith_init(&direct->arith, run, direct->steps.reduces);
  if (status == TUTTI_OK)
    status = tt_blocks_init(&direct->blocks, run, direct->arith.element_bytes, direct->plan);
  if (status == TUTTI_OK && !direct->blocks.uniform)
    status = touch_blocks(direct);
  return status;
}

/* Scratch and takes, unless the instance does all that, with scratch of its own. */
static tutti_status set_takes(tt_direct *direct, const tt_run *run) {
  if (direct->shape.rests)
    return TUTTI_OK;
  tutti_status status = tt_memory_lend(&direct->memory, direct->plan, direct->steps.uses_mid, run, &direct->blocks);
  if (status == TUTTI_OK)
    add_takes(direct);
  return status;
}

static void clear(tt_direct *direct) {
  size_t bytes = direct->cells->set_words * sizeof *direct->shape.readers;
  memset(direct->shape.readers, 0, bytes);
  memset(direct->shape.sources, 0, bytes);
  direct->shape.piece_count = direct->shape.take_count = direct->shape.released = 0;
  direct->shape.far = direct->shape.writes_far = direct->shape.rests = direct->shape.made = false;
}

/* Who is waited for, and who waits. */
static void set_peers(tt_direct *direct) {
  int64_t sources = 0;
  direct->shape.owes = false;
  for (size_t n = 0; n < direct->cells->set_words; n++) {
    sources += __builtin_popcountll(direct->shape.sources[n]);
    direct->shape.owed[n] = direct->shape.sources[n] & ~direct->shape.readers[n];
    direct->shape.owes |= direct->shape.owed[n] != 0;
  }
  assert(sources < direct->plan->rank_count); /* nobody takes from itself */
  direct->shape.reads_all = sources == direct->plan->rank_count - 1;
}

tutti_status tt_layout(tt_direct *direct, const tt_run *run) {
  if (direct->shape.made && same_shape(run, &direct->shape.run)) {
    direct->shape.run.shape = run->shape;
    return TUTTI_OK; /* scratch is as large as the shape needs */
  }
  clear(direct);
  tutti_status status = set_sizes(direct, run);
  if (status == TUTTI_OK && by_shares(&run->blocks))
    lay_shares(direct);
  else if (status == TUTTI_OK)
    status = lay_image(direct, run);
  if (status == TUTTI_OK)
    status = set_takes(direct, run);
  if (status == TUTTI_OK && (direct->shape.far || direct->shape.writes_far))
    status = tt_cells_open_area(direct->cells, direct->shape.area);
  if (status != TUTTI_OK)
    return status;
  set_peers(direct);
  direct->shape.piece_bytes = 0;
  for (uint32_t n = 0; n < direct->shape.piece_count; n++)
    direct->shape.piece_bytes += direct->shape.piece[n].bytes;
  direct->shape.run = *run;
  direct->shape.made = true;
  return TUTTI_OK;
}

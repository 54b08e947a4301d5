/* exec/blocks.c - block numbers to byte ranges, without a division where the table is uniform. */
#include "exec/blocks.h"

#include <assert.h>
#include <inttypes.h>

enum { LINE_SHIFT = 6 }; /* units are multiples of 64 bytes */

_Static_assert(TT_PARTS_MOST <= UINT16_MAX, "a place's part has 16 bits");
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static tt_cut cut_of(const tt_blocks *blocks, int64_t count) {
  int64_t units = count >> blocks->unit_shift;
  return (tt_cut){units / blocks->part_count, units % blocks->part_count};
}

static tutti_status check(const tt_block_table *table, const tt_plan *plan) {
  if (table->block_count * (int64_t)plan->part_count != (int64_t)plan->block_count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "the block table has %" PRId64 " blocks, but the plan has %u blocks in %u parts",
                   table->block_count, plan->block_count, plan->part_count);
  if (table->kind == TT_TABLE_SQUARE && table->block_count != plan->rank_count * plan->rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "the block table has %" PRId64 " blocks, which is not one for each pair of %" PRId64 " ranks",
                   table->block_count, plan->rank_count);
  if (table->total < 0 || table->each < 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%" PRId64 " elements", least(table->total, table->each));
  return TUTTI_OK;
}

static tutti_status too_many(int64_t count, int64_t element_bytes) {
  return tt_fail(TUTTI_ERR_MEMORY, "%" PRId64 " elements of %" PRId64 " bytes exceed the address space", count,
                 element_bytes);
}

/* Blocks of one length, or of two. */
static tutti_status set_uniform(tt_blocks *blocks, const tt_block_table *table, const tt_plan *plan) {
  int64_t total = table->total, count = table->block_count;
  if (table->kind == TT_TABLE_SQUARE && __builtin_mul_overflow(table->each, plan->rank_count, &total))
    return too_many(table->each, blocks->element_bytes);
  if (__builtin_mul_overflow(total, blocks->element_bytes, &blocks->out_bytes))
    return too_many(total, blocks->element_bytes);
  bool whole = table->kind == TT_TABLE_SQUARE || count == 1;
  blocks->base = table->kind == TT_TABLE_SQUARE ? table->each : whole ? total : total / count;
  blocks->extra = whole ? 0 : total - blocks->base * count;
  assert(blocks->extra >= 0 && blocks->extra < count);
  blocks->mid_bytes = table->kind == TT_TABLE_SPLIT ? blocks->out_bytes : 0;
  int64_t longest = blocks->base + (blocks->extra > 0);
  if (blocks->part_count > 1) {
    for (int longer = 0; longer < 2; longer++)
      blocks->cut[longer] = cut_of(blocks, blocks->base + longer);
    longest = least(longest, (cut_of(blocks, longest).units + 1) << blocks->unit_shift);
  }
  blocks->longest = longest * blocks->element_bytes;
  return TUTTI_OK;
}

tutti_status tt_blocks_init(tt_blocks *blocks, const tt_run *run, int64_t element_bytes, const tt_plan *plan) {
  const tt_block_table *table = &run->blocks;
  tutti_status status = check(table, plan);
  if (status != TUTTI_OK)
    return status;
  bool square = table->kind == TT_TABLE_SQUARE, listed = table->kind == TT_TABLE_LISTED;
  int shift = __builtin_ctzll((uint64_t)element_bytes);
  *blocks = (tt_blocks){.kind = table->kind,
                        .uniform = table->kind == TT_TABLE_SPLIT || (square && !table->in_count),
                        .own = {run->in_own && !square && !listed, run->out_own && !square && !listed},
                        .unit_shift = LINE_SHIFT - (shift < LINE_SHIFT ? shift : LINE_SHIFT),
                        .part_count = plan->part_count,
                        .rank = plan->rank,
                        .element_bytes = element_bytes,
                        .count = {square ? table->in_count : table->count, table->out_count},
                        .offset = {table->in_offset, table->out_offset, table->mid_offset}};
  if (blocks->uniform)
    return set_uniform(blocks, table, plan);
  if (listed && __builtin_mul_overflow(table->total, element_bytes, &blocks->mid_bytes))
    return too_many(table->total, element_bytes);
  return TUTTI_OK;
}

/* Elements of the composition block. */
static int64_t count_of(const tt_blocks *blocks, tt_place length) {
  if (blocks->uniform)
    return blocks->base + (length.block < blocks->extra);
  if (blocks->kind == TT_TABLE_LISTED)
    return blocks->count[0][length.block];
  assert(length.space == TT_SPACE_IN || length.space == TT_SPACE_OUT); /* no rank knows the length of others */
  return blocks->count[length.space][length.peer];
}

/* Elements of the block before its part number `part`. */
static int64_t part_begin(const tt_blocks *blocks, tt_cut cut, int64_t part, int64_t count) {
  assert(part >= 0 && part <= blocks->part_count);
  if (part == blocks->part_count)
    return count;
  return (part * cut.units + least(part, cut.longer)) << blocks->unit_shift;
}

static tt_cut cut_for(const tt_blocks *blocks, tt_place length, int64_t count) {
  return blocks->uniform ? blocks->cut[length.block < blocks->extra] : cut_of(blocks, count);
}

int64_t tt_blocks_bytes(const tt_blocks *blocks, tt_place length) {
  int64_t count = count_of(blocks, length);
  if (blocks->part_count > 1) {
    tt_cut cut = cut_for(blocks, length, count);
    count = part_begin(blocks, cut, length.part + 1, count) - part_begin(blocks, cut, length.part, count);
  }
  return count * blocks->element_bytes;
}

int64_t tt_blocks_before(const tt_blocks *blocks, tt_place length) {
  if (blocks->part_count == 1)
    return 0;
  int64_t count = count_of(blocks, length);
  return part_begin(blocks, cut_for(blocks, length, count), length.part, count) * blocks->element_bytes;
}

static int64_t block_offset(const tt_blocks *blocks, tt_place place) {
  if (blocks->kind == TT_TABLE_LISTED)
    return blocks->offset[place.space][place.block];
  if (blocks->kind == TT_TABLE_SQUARE)
    return blocks->uniform ? place.peer * blocks->base : blocks->offset[place.space][place.peer];
  if (place.space <= TT_SPACE_OUT && blocks->own[place.space])
    return 0;
  return place.block * blocks->base + least(place.block, blocks->extra);
}

int64_t tt_blocks_offset(const tt_blocks *blocks, tt_place place) {
  assert(place.space < TT_SPACE_TMP);
  return block_offset(blocks, place) * blocks->element_bytes + tt_blocks_before(blocks, place);
}

int64_t tt_blocks_image(const tt_blocks *blocks, tt_place length) {
  assert(blocks->kind != TT_TABLE_LISTED);
  if (blocks->kind == TT_TABLE_SQUARE && length.space == TT_SPACE_OUT) /* its sender has it at this rank's place */
    return blocks->rank * blocks->base * blocks->element_bytes + tt_blocks_before(blocks, length);
  length.space = TT_SPACE_IN;
  return tt_blocks_offset(blocks, length);
}

tutti_status tt_blocks_touch(tt_blocks *blocks, tt_place length, tt_place dst) {
  if (blocks->kind == TT_TABLE_SQUARE && length.space == TT_PLACE_FOREIGN)
    return tt_fail(TUTTI_ERR_ARGUMENT, "rank %" PRId64 " does not know the length of block %u", blocks->rank,
                   length.block);
  int64_t count = count_of(blocks, length), bytes;
  if (count < 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "block %u has %" PRId64 " elements", length.block, count);
  if (__builtin_mul_overflow(count, blocks->element_bytes, &bytes))
    return too_many(count, blocks->element_bytes);
  bytes = tt_blocks_bytes(blocks, length);
  if (dst.space == TT_SPACE_TMP)
    blocks->longest = most(blocks->longest, bytes);
  if (dst.space == TT_SPACE_OUT && __builtin_add_overflow(blocks->out_bytes, bytes, &blocks->out_bytes))
    return too_many(count, blocks->element_bytes);
  return TUTTI_OK;
}

tt_place tt_blocks_place(const tt_plan *plan, tt_ref ref) {
  if (ref.space == TT_SPACE_TMP)
    return (tt_place){.space = TT_SPACE_TMP, .block = ref.index};
  assert(plan->part_count >= 1 && plan->part_count <= TT_PARTS_MOST && ref.space < TT_SPACE_TMP);
  uint32_t block = ref.index / plan->part_count, ranks = (uint32_t)plan->rank_count;
  return (tt_place){.space = (uint16_t)ref.space,
                    .block = block,
                    .peer = ref.space == TT_SPACE_IN ? block % ranks : block / ranks,
                    .part = (uint16_t)(ref.index % plan->part_count)};
}

tt_place tt_blocks_length(const tt_plan *plan, uint32_t block) {
  tt_place in = tt_blocks_place(plan, (tt_ref){TT_SPACE_IN, block});
  tt_place out = tt_blocks_place(plan, (tt_ref){TT_SPACE_OUT, block});
  if (out.peer == plan->rank)
    return in;
  if (in.peer != plan->rank)
    out.space = TT_PLACE_FOREIGN;
  return out;
}

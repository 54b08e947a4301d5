/* exec/blocks.c - block numbers to byte ranges, without a division where the table is uniform. */
#include "exec/blocks.h"

enum { UNIT_SHIFT = 6 }; /* parts begin at multiples of 64 bytes of their block */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static tt_cut cut_of(const tt_blocks *blocks, int64_t count) {
  int64_t units = count >> blocks->unit_shift;
  return (tt_cut){units / blocks->part_count, units % blocks->part_count};
}

static tutti_status check(const tt_block_table *table, const tt_plan *plan) {
  if (table->block_count * (int64_t)plan->part_count != (int64_t)plan->block_count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "a table of %lld blocks for a plan of %u blocks in %u parts",
                   (long long)table->block_count, plan->block_count, plan->part_count);
  if (table->total < 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%lld elements", (long long)table->total);
  return TUTTI_OK;
}

tutti_status tt_blocks_init(tt_blocks *blocks, const tt_block_table *table, tutti_type type, const tt_plan *plan) {
  tutti_status status = check(table, plan);
  if (status)
    return status;
  int shift = __builtin_ctzll(tutti_type_size(type));
  if (table->total > INT64_MAX >> shift)
    return tt_fail(TUTTI_ERR_MEMORY, "%lld elements of %zu bytes are more than can be addressed",
                   (long long)table->total, tutti_type_size(type));
  *blocks = (tt_blocks){.count = table->count,
                        .offset = table->offset,
                        .total = table->total,
                        .part_count = plan->part_count,
                        .element_shift = shift,
                        .unit_shift = UNIT_SHIFT - shift};
  if (table->count)
    return TUTTI_OK;
  bool one = table->block_count == 1;
  blocks->base = one ? table->total : table->total / table->block_count;
  blocks->extra = one ? 0 : table->total % table->block_count;
  if (blocks->part_count > 1)
    for (int longer = 0; longer < 2; longer++)
      blocks->cut[longer] = cut_of(blocks, blocks->base + longer);
  return TUTTI_OK;
}

/* Elements of the block before its part number `part`. */
static int64_t part_begin(const tt_blocks *blocks, tt_cut cut, int64_t part, int64_t count) {
  if (part == blocks->part_count)
    return count;
  return (part * cut.units + least(part, cut.longer)) << blocks->unit_shift;
}

tt_span tt_blocks_span(const tt_blocks *blocks, tt_place place) {
  uint32_t block = place.block;
  bool uniform = blocks->count == NULL;
  bool longer = uniform && block < blocks->extra;
  int64_t count = uniform ? blocks->base + longer : blocks->count[block];
  int64_t offset = uniform ? block * blocks->base + least(block, blocks->extra) : blocks->offset[block];
  int shift = blocks->element_shift;
  if (blocks->part_count == 1)
    return (tt_span){offset << shift, 0, count << shift};
  tt_cut cut = uniform ? blocks->cut[longer] : cut_of(blocks, count);
  int64_t begin = part_begin(blocks, cut, place.part, count);
  int64_t end = part_begin(blocks, cut, place.part + 1, count);
  return (tt_span){offset << shift, begin << shift, (end - begin) << shift};
}

int64_t tt_blocks_total_bytes(const tt_blocks *blocks) { return blocks->total << blocks->element_shift; }

static int64_t longest_count(const tt_blocks *blocks, int64_t block_count) {
  int64_t longest = blocks->base + (blocks->extra > 0);
  for (int64_t block = 0; blocks->count && block < block_count; block++)
    longest = blocks->count[block] > longest ? blocks->count[block] : longest;
  return longest;
}

int64_t tt_blocks_longest_block(const tt_blocks *blocks, int64_t block_count) {
  return longest_count(blocks, block_count) << blocks->element_shift;
}

int64_t tt_blocks_longest_part(const tt_blocks *blocks, int64_t block_count) {
  int64_t count = longest_count(blocks, block_count);
  if (blocks->part_count > 1)
    count = least(count, (cut_of(blocks, count).units + 1) << blocks->unit_shift);
  return count << blocks->element_shift;
}

tt_place tt_blocks_place(tt_ref ref, uint32_t part_count) {
  if (ref.space == TT_SPACE_TMP)
    return (tt_place){.space = TT_SPACE_TMP, .block = ref.index};
  return (tt_place){
      .space = (uint16_t)ref.space, .block = ref.index / part_count, .part = (uint16_t)(ref.index % part_count)};
}

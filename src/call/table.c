/* call/table.c - where the blocks of a call with lists lie: from what the user passed to the executor's block table.
 *
 * Blocks are numbered as the composition has them: by rank, by (from, to) where every rank has one for every rank, by
 * edge of a graph. A rank knows and fills in those that it has or gets. */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct table {
  const tutti_comm *comm;
  const tt_call *call;
  bool square;
  int64_t *count[2], *offset[2]; /* of TT_IN and TT_OUT; LISTED: count[1] is count[0] */
  uint64_t lengths;
} table;

/* Memory for so many words; what it held is lost. */
static int64_t *take_words(tt_words *words, int64_t count) {
  if (count <= words->count)
    return words->word;
  free(words->word);
  words->word = malloc((size_t)count * sizeof *words->word);
  words->count = words->word ? count : 0;
  return words->word;
}

/* Where a side's block stands in the table. */
static int64_t index_of(const table *to, tt_buffer side, int64_t block) {
  const tutti_graph *graph = to->call->lists->graph;
  if (graph)
    return side == TT_IN ? graph->out_edge[block] : graph->in_edge[block];
  return tt_compose_side(to->call->collective, side).unit == TT_EACH_RANK ? block : to->comm->rank;
}

/* The composition's number of the block there. */
static uint64_t number_of(const table *to, tt_buffer side, int64_t index) {
  assert(index >= 0 && (!to->square || index < to->comm->size));
  int64_t rank = to->comm->rank, size = to->comm->size;
  if (!to->square)
    return (uint64_t)index;
  return (uint64_t)(side == TT_IN ? rank * size + index : index * size + rank);
}

static void put(table *to, tt_buffer side, int64_t block, const tt_block *at) {
  int64_t index = index_of(to, side, block);
  assert(at->bytes >= 0 && at->count >= 0);
  to->count[side][index] = at->count;
  to->offset[side][index] = at->offset;
  if (at->bytes == 0)
    return;
  uint64_t length = tt_record_length(number_of(to, side, index), at->bytes);
  to->lengths += side == TT_IN ? length : -length;
}

/* Edges of other ranks, where all are alike: a plan may lead them through this one. */
static void fill_others(table *to, int64_t edge_count) {
  for (int64_t e = 0; e < edge_count; e++)
    to->count[0][e] = to->call->count;
}

static void next_block(const table *to, tt_buffer side, tt_block_walk *walk, tt_block *block) {
  tutti_status status = tt_call_next(to->comm, to->call, side, walk, block);
  assert(status == TUTTI_OK); /* tt_call_check has seen all of them */
  (void)status;
}

static void fill_side(table *to, tt_buffer side) {
  const tutti_graph *graph = to->call->lists->graph;
  int64_t blocks = tt_call_block_count(to->comm, to->call, side);
  tt_block_walk walk = {0};
  tt_block block;
  if (!tt_call_has(to->comm, to->call, side))
    return;
  if (graph && tt_compose_side(to->call->collective, side).unit == TT_ONE_BLOCK) { /* the same one over every edge */
    next_block(to, side, &walk, &block);
    for (int64_t n = 0; n < graph->out_count; n++)
      put(to, side, n, &block);
    return;
  }
  for (int64_t n = 0; n < blocks; n++) {
    next_block(to, side, &walk, &block);
    put(to, side, n, &block);
  }
}

static bool has_all(const table *to, tt_buffer side) {
  return !to->call->lists->graph && tt_call_has(to->comm, to->call, side) &&
         tt_compose_side(to->call->collective, side).unit == TT_EACH_RANK;
}

/* Scratch for all blocks, one after the other; only where all ranks know all of them. */
static int64_t fill_mid(const int64_t *count, int64_t *offset, int64_t block_count) {
  int64_t total = 0;
  for (int64_t b = 0; b < block_count; b++) {
    offset[b] = total;
    total += count[b];
  }
  return total;
}

tutti_status tt_table_make(const tutti_comm *comm, const tt_call *call, tt_words *words, tt_bound *bound) {
  const tt_composition *composition = bound->entry->composition;
  table to = {.comm = comm, .call = call, .square = composition->layout[TT_IN] == TT_LAYOUT_ROW};
  int64_t length = to.square ? comm->size : composition->block_count, *word = take_words(words, 4 * length);
  if (!word)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a table of %" PRId64 " blocks", length);
  for (int side = TT_IN; side <= TT_OUT; side++) {
    to.offset[side] = word + side * length;
    to.count[side] = word + (to.square ? 2 + side : 2) * length;
  }
  tt_lengths lengths = tt_compose_info(call->collective).lengths;
  if (lengths == TT_LENGTHS_ALL && call->lists->graph)
    fill_others(&to, length);
  fill_side(&to, TT_IN);
  fill_side(&to, TT_OUT);
  tt_block_table *made = &bound->run.blocks;
  *made = (tt_block_table){.kind = to.square ? TT_TABLE_SQUARE : TT_TABLE_LISTED,
                           .block_count = composition->block_count,
                           .has_all = {has_all(&to, TT_IN), has_all(&to, TT_OUT)},
                           .in_offset = to.offset[TT_IN],
                           .out_offset = to.offset[TT_OUT]};
  if (to.square) {
    made->in_count = to.count[TT_IN];
    made->out_count = to.count[TT_OUT];
  } else
    made->count = to.count[TT_IN];
  made->known = lengths == TT_LENGTHS_ALL;
  if (made->known && !call->lists->graph) {
    made->mid_offset = word + 3 * length;
    made->total = fill_mid(made->count, word + 3 * length, length);
  }
  bound->said.lengths = lengths == TT_LENGTHS_ALL ? 0 : to.lengths;
  return TUTTI_OK;
}

/* bench/layout.h - who has what: the blocks of every collective for a stated size, the same for all libraries.
 *
 * The stated size is that of nccl-tests: the whole vector, which all blocks make up together; in all-to-all and between
 * neighbors what one rank gives. Blocks are
 *
 *     even     size / ranks, or size / neighbors
 *     uneven   (v, w): block n of N gets n + 1 of N (N + 1) / 2 equal shares, as far as whole elements go. From rank r
 *              to rank s goes block (r + s) mod ranks, so that all give as much as they get
 *     sparse   (all-to-allv, -w): ranks r + 1 and r + 2 get one and two thirds, the others nothing
 *
 * Neighbors are those on a grid of rows x columns ranks, as square as may be, that is closed around: up, down, left,
 * right, each rank once. Of neighbor-allgatherv's blocks the mean is even: rank r's is 2 (r + 1) / (ranks + 1) times
 * that. In the w forms every second block is made of bytes instead of elements. */
#ifndef BENCH_LAYOUT_H
#define BENCH_LAYOUT_H

#include "protocol.h"

#include <stdlib.h>

/* Which blocks there are: one for all; those that a rank gives to everyone, gets from everyone, gives to each. */
typedef enum bench_cut { BENCH_WHOLE, BENCH_BY_SOURCE, BENCH_BY_TARGET, BENCH_BY_PAIR } bench_cut;

typedef struct bench_form {
  bench_cut cut;
  tt_operands sum;
  bool sums; /* elements are combined */
  bool from_root, to_root, neighbor;
  bool uneven, typed; /* v; w */
} bench_form;

/* From the rows of compose/collectives.inc, which workers of other libraries have too. */
static inline bench_form bench_form_of(int64_t collective) {
#define TT_COLLECTIVE(id, function, name, kind, lengths, in, out, operands, ...)                                       \
  [TT_##id] = {{in, out}, TT_OPERANDS_##operands},
  static const struct {
    tt_side side[2];
    tt_operands operands;
  } rows[TT_COLLECTIVE_COUNT] = {
#include "compose/collectives.inc"
  };
  const tt_side *in = &rows[collective].side[TT_IN], *out = &rows[collective].side[TT_OUT];
  bool gives_each = in->unit != TT_ONE_BLOCK, gets_each = out->unit != TT_ONE_BLOCK;
  return (bench_form){.cut = gives_each  ? gets_each ? BENCH_BY_PAIR : BENCH_BY_TARGET
                             : gets_each ? BENCH_BY_SOURCE
                                         : BENCH_WHOLE,
                      .sum = rows[collective].operands,
                      .sums = rows[collective].operands >= TT_OPERANDS_ALL,
                      .from_root = in->of_root,
                      .to_root = out->of_root,
                      .neighbor = out->unit == TT_EACH_SOURCE,
                      .uneven = in->length != TT_BY_COUNT || out->length != TT_BY_COUNT,
                      .typed = in->typed};
}

/* Those of which most blocks may be empty: each rank has a block for each rank, all of their own length. */
static inline bool bench_may_be_sparse(int64_t collective) {
  bench_form form = bench_form_of(collective);
  return form.cut == BENCH_BY_PAIR && form.uneven && !form.neighbor;
}

typedef struct bench_problem {
  tt_collective collective;
  int32_t ranks;
  bool sparse;
  int64_t elements; /* of the stated size */
} bench_problem;

static inline bench_problem bench_problem_of(tt_collective collective, int32_t ranks, bool sparse, int64_t elements) {
  return (bench_problem){collective, ranks, sparse && bench_may_be_sparse(collective), elements};
}

/* ---- the grid ---- */

static inline int32_t bench_grid_rows(int32_t ranks) {
  int32_t rows = 1;
  for (int32_t n = 2; n * n <= ranks; n++)
    rows = ranks % n == 0 ? n : rows;
  return rows;
}

/* How many, at most 4; a rank alone is its own. */
static inline int32_t bench_neighbors(int32_t ranks, int32_t rank, int32_t neighbor[4]) {
  int32_t rows = bench_grid_rows(ranks), columns = ranks / rows, row = rank / columns, column = rank % columns;
  const int32_t around[4] = {(row + rows - 1) % rows * columns + column, (row + 1) % rows * columns + column,
                             row * columns + (column + columns - 1) % columns, row * columns + (column + 1) % columns};
  int32_t count = 0;
  for (int n = 0; n < 4; n++) {
    bool known = around[n] == rank && ranks > 1;
    for (int32_t k = 0; k < count; k++)
      known = known || neighbor[k] == around[n];
    if (!known)
      neighbor[count++] = around[n];
  }
  return count;
}

/* ---- peers: with whom a rank has blocks ---- */

static inline int32_t bench_peer_count(const bench_problem *of) {
  int32_t neighbor[4];
  return bench_form_of(of->collective).neighbor ? bench_neighbors(of->ranks, 0, neighbor) : of->ranks;
}

static inline int32_t bench_peer(const bench_problem *of, int32_t rank, int32_t number) {
  int32_t neighbor[4];
  if (!bench_form_of(of->collective).neighbor)
    return number;
  bench_neighbors(of->ranks, rank, neighbor);
  return neighbor[number];
}

static inline int32_t bench_peer_number(const bench_problem *of, int32_t rank, int32_t peer) {
  int32_t number = 0;
  while (bench_peer(of, rank, number) != peer)
    number++;
  return number;
}

/* Blocks that the stated size is cut into. */
static inline int32_t bench_block_count(const bench_problem *of) {
  if (bench_form_of(of->collective).cut == BENCH_WHOLE)
    return 1;
  if (of->sparse)
    return of->ranks > 2 ? 2 : 1;
  return bench_peer_count(of);
}

/* ---- blocks, in elements ---- */

static inline int64_t bench_uneven_begin(int64_t elements, int64_t blocks, int64_t number) {
  int64_t all = blocks * (blocks + 1) / 2, before = number * (number + 1) / 2;
  return elements / all * before + elements % all * before / all;
}

static inline int64_t bench_uneven(int64_t elements, int64_t blocks, int64_t number) {
  return bench_uneven_begin(elements, blocks, number + 1) - bench_uneven_begin(elements, blocks, number);
}

static inline int64_t bench_sparse(const bench_problem *of, int32_t from, int32_t to) {
  int32_t blocks = bench_block_count(of), number = of->ranks == 1 ? 0 : (to - from + of->ranks) % of->ranks - 1;
  return number >= 0 && number < blocks ? bench_uneven(of->elements, blocks, number) : 0;
}

/* What goes from one rank to another, or to everyone, or from everyone. */
static inline int64_t bench_block(const bench_problem *of, int32_t from, int32_t to) {
  const bench_form form = bench_form_of(of->collective);
  int32_t blocks = bench_block_count(of);
  if (form.cut == BENCH_WHOLE || !form.uneven)
    return of->elements / blocks;
  if (of->sparse)
    return bench_sparse(of, from, to);
  if (form.cut == BENCH_BY_PAIR)
    return bench_uneven(of->elements, blocks, form.neighbor ? bench_peer_number(of, from, to) : (from + to) % blocks);
  if (form.neighbor)
    return of->elements / blocks * 2 * (from + 1) / (of->ranks + 1);
  return bench_uneven(of->elements, blocks, form.cut == BENCH_BY_SOURCE ? from : to);
}

/* Where the block for `to` begins in the vector of `from`. */
static inline int64_t bench_block_begin(const bench_problem *of, int32_t from, int32_t to) {
  int64_t begin = 0;
  if (bench_form_of(of->collective).cut == BENCH_BY_TARGET || bench_form_of(of->collective).cut == BENCH_BY_PAIR)
    for (int32_t n = 0; bench_peer(of, from, n) != to; n++)
      begin += bench_block(of, from, bench_peer(of, from, n));
  return begin;
}

/* In the w forms. */
static inline bool bench_block_of_bytes(int32_t from, int32_t to) { return (from + to) % 2 != 0; }

/* ---- of one rank ---- */

typedef struct bench_layout {
  int32_t peers;
  int64_t count;                                          /* of every block where they are even, else of none */
  int64_t in_elements, out_elements;                      /* on ranks that have them */
  int64_t *in_count, *in_offset, *out_count, *out_offset; /* of each peer; elements */
} bench_layout;

static inline void bench_layout_finish(bench_layout *layout) { free(layout->in_count); }

static inline bool bench_layout_init(const bench_problem *of, int32_t rank, bench_layout *layout) {
  bench_cut cut = bench_form_of(of->collective).cut;
  int32_t peers = bench_peer_count(of);
  int64_t *table = calloc(4 * (size_t)peers, sizeof *table), given = 0, taken = 0;
  *layout = (bench_layout){.peers = peers, .in_count = table};
  if (!table)
    return false;
  layout->count = bench_form_of(of->collective).uneven ? 0 : bench_block(of, 0, 0);
  layout->in_offset = table + peers;
  layout->out_count = table + 2 * peers;
  layout->out_offset = table + 3 * peers;
  for (int32_t n = 0; n < peers; n++) {
    int32_t peer = bench_peer(of, rank, n);
    layout->in_offset[n] = given;
    layout->out_offset[n] = taken;
    given += layout->in_count[n] = bench_block(of, rank, peer);
    taken += layout->out_count[n] = bench_block(of, peer, rank);
  }
  layout->in_elements = cut == BENCH_WHOLE ? of->elements : cut == BENCH_BY_SOURCE ? bench_block(of, rank, 0) : given;
  layout->out_elements = cut == BENCH_WHOLE ? of->elements : cut == BENCH_BY_TARGET ? bench_block(of, 0, rank) : taken;
  return true;
}

/* ---- the bound ---- */

/* Elements that have to come to a rank at the least: blocks that it did not have in its `out`, operands that it did not
 * have and has to combine. Allreduce is a reduce-scatter and an allgather; reduce's operands are shared among all. */
static inline int64_t bench_moved(const bench_problem *of, int32_t rank, int32_t root) {
  const bench_form form = bench_form_of(of->collective);
  int64_t moved = 0, others = of->ranks - 1;
  if ((form.from_root && form.cut == BENCH_WHOLE && rank == root) || (form.sum == TT_OPERANDS_BELOW && rank == 0))
    return 0;
  if (form.sum == TT_OPERANDS_ALL && form.cut == BENCH_WHOLE)
    return (form.to_root ? 1 : 2) * of->elements * others / of->ranks;
  if (form.cut == BENCH_WHOLE)
    return of->elements;
  if (form.cut == BENCH_BY_TARGET)
    return bench_block(of, root, rank) * (form.sum == TT_OPERANDS_ALL ? others : 1);
  for (int32_t n = 0; n < bench_peer_count(of) && (!form.to_root || rank == root); n++)
    moved += bench_block(of, bench_peer(of, rank, n), rank);
  return moved;
}

/* How many of these are operands that all ranks together combine with their own, one rank each part of the result. */
static inline int64_t bench_operands(const bench_problem *of, int32_t rank, int32_t root) {
  const bench_form form = bench_form_of(of->collective);
  if (form.sum != TT_OPERANDS_ALL || of->ranks < 2)
    return 0;
  return form.cut == BENCH_WHOLE ? of->elements * (of->ranks - 1) / of->ranks : bench_moved(of, rank, root);
}

#endif

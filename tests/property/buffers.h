/* tests/property/buffers.h - one call's buffers: where blocks lie in them, what they are filled with, and whether they
 * are right at the end.
 *
 * Blocks lie as a composition's layouts say: all of them one after the other; the rank's own alone; a row or a column
 * of a square; or, where their lengths differ, with gaps. What must be there at the end is taken from the meaning that
 * the definition gives. */
#ifndef TEST_PROPERTY_BUFFERS_H
#define TEST_PROPERTY_BUFFERS_H

#include "exec/testing.h"
#include "ir/ir.h"
#include "verify/verify.h"

enum { GUARD = 64, FILLER = 0x5A, BLOCKS = TEST_RANKS * TEST_RANKS };

/* A number, or the bytes of a map. */
typedef struct value {
  double number;
  unsigned char map[32];
} value;

typedef struct call {
  const tt_meaning *meaning;
  const tt_composition *composition;
  tt_class blocks; /* below STREAMS: the direct executor runs it */
  bool moves_only, single_copy;
  tutti_type type;
  tutti_op op;
  int64_t element_bytes; /* not 0: elements of a user's operator that does not commute */
  test_maps maps;
  tt_user_op user_op;
  tt_table_kind table;
  bool even;       /* SQUARE: all blocks are of one length */
  bool unknown;    /* LISTED: only both ends of a move know a length */
  void *transport; /* of the loop: buffers are its memory; NULL: they are not */
  int64_t total, capacity;
  int64_t count[BLOCKS], first[BLOCKS + 1];                      /* first: where it is among all blocks */
  int64_t in_at[TEST_RANKS][BLOCKS], out_at[TEST_RANKS][BLOCKS]; /* where the rank has it in its buffer */
  struct line {
    int64_t in_count[TEST_RANKS], out_count[TEST_RANKS], in_at[TEST_RANKS], out_at[TEST_RANKS];
  } line[TEST_RANKS];                   /* SQUARE: the rank's row and column */
  unsigned char *memory[TEST_RANKS][2]; /* in, out */
  unsigned char *in[TEST_RANKS], *out[TEST_RANKS];
  value *wanted;               /* of all elements, as the rank that was looked at last must have them */
  tt_expected made_of[BLOCKS]; /* what wanted is, by block */
} call;

static inline size_t call_size(const call *of) {
  return of->element_bytes ? (size_t)of->element_bytes : tutti_type_size(of->type);
}

/* ---- lengths and places ---- */

static inline void call_lengths(call *of, tt_random *random, int64_t total, bool differ) {
  int64_t blocks = of->meaning->block_count;
  for (int64_t b = 0; b < blocks; b++) {
    of->count[b] = total / blocks + (b < total % blocks);
    if (of->table == TT_TABLE_SQUARE && of->even)
      of->count[b] = total / blocks;
    else if (differ)
      of->count[b] = (int64_t)tt_random_below(random, (uint64_t)(2 * (total / blocks) + 2));
    of->first[b + 1] = of->first[b] + of->count[b];
  }
  of->total = of->first[blocks];
}

static inline bool is_held(const call *of, int side, int64_t rank, int64_t block) {
  int64_t ranks = of->meaning->rank_count;
  switch (of->composition->layout[side]) {
  case TT_LAYOUT_OWN:
    return block == rank;
  case TT_LAYOUT_ROW:
    return block / ranks == rank;
  case TT_LAYOUT_COLUMN:
    return block % ranks == rank;
  default:
    return true;
  }
}

/* One after the other those that the rank has; with gaps where lengths are listed. */
static inline void place_side(call *of, int side, int64_t rank) {
  int64_t at = 0;
  for (int64_t b = 0; b < of->meaning->block_count; b++) {
    (side == TT_IN ? of->in_at : of->out_at)[rank][b] = at;
    if (is_held(of, side, rank, b))
      at += of->count[b] + (of->table == TT_TABLE_LISTED ? b % 3 : 0);
  }
}

/* In place, each block that both sides have is at one address: the side that has all blocks says where. */
static inline void place_call(call *of, int64_t rank) {
  place_side(of, TT_IN, rank);
  place_side(of, TT_OUT, rank);
  of->in[rank] = of->memory[rank][TT_IN];
  of->out[rank] = of->memory[rank][TT_OUT];
  if (!of->meaning->in_place)
    return;
  size_t size = call_size(of);
  if (of->composition->layout[TT_OUT] == TT_LAYOUT_OWN)
    of->out[rank] = of->in[rank] + (size_t)(of->in_at[rank][rank] - of->out_at[rank][rank]) * size;
  else if (of->composition->layout[TT_IN] == TT_LAYOUT_OWN)
    of->in[rank] = of->out[rank] + (size_t)(of->out_at[rank][rank] - of->in_at[rank][rank]) * size;
  else
    of->in[rank] = of->out[rank];
}

/* ---- elements ---- */

static inline value input_value(const call *of, int64_t rank, int64_t index) {
  value made = {.number = test_value(rank, index, 1)};
  for (int64_t byte = 0; byte < of->element_bytes; byte++)
    made.map[byte] = test_map_byte(rank, index, byte);
  return made;
}

static inline double combine_numbers(tutti_op op, double left, double right) {
  switch (op) {
  case TUTTI_PRODUCT:
    return left * right;
  case TUTTI_MIN:
    return left < right ? left : right;
  case TUTTI_MAX:
    return left > right ? left : right;
  default:
    return left + right;
  }
}

static inline double divided(const call *of, double sum, int64_t count) {
  if (of->type == TUTTI_INT32 || of->type == TUTTI_INT64)
    return (double)((int64_t)sum / count);
  return of->type == TUTTI_FLOAT64 ? sum / (double)count : (double)((float)sum / (float)count);
}

static inline value member_value(const call *of, int64_t member, int64_t index);

static inline value sum_value(const call *of, const tt_expected *sum, int64_t index) {
  int64_t count = sum->list ? sum->list_count : sum->last - sum->first + 1;
  value all = member_value(of, sum->list ? sum->list[0] : sum->first, index);
  for (int64_t n = 1; n < count; n++) {
    value next = member_value(of, sum->list ? sum->list[n] : sum->first + n, index);
    all.number = combine_numbers(of->op, all.number, next.number);
    test_compose_one(all.map, next.map, all.map, of->element_bytes);
  }
  if (of->op == TUTTI_AVERAGE)
    all.number = divided(of, all.number, count);
  return all;
}

static inline value member_value(const call *of, int64_t member, int64_t index) {
  int64_t ranks = of->meaning->rank_count;
  return member < ranks ? input_value(of, member, index) : sum_value(of, &of->meaning->sum[member - ranks], index);
}

static inline void put_value(const call *of, unsigned char *at, int64_t index, const value *from) {
  if (of->element_bytes)
    memcpy(at + index * of->element_bytes, from->map, (size_t)of->element_bytes);
  else
    test_put(of->type, at, index, from->number);
}

static inline bool is_value(const call *of, const unsigned char *at, int64_t index, const value *wanted) {
  if (of->element_bytes)
    return memcmp(at + index * of->element_bytes, wanted->map, (size_t)of->element_bytes) == 0;
  return test_get(of->type, at, index) == wanted->number;
}

/* ---- a call ---- */

static inline void fill_call(call *of, int64_t rank) {
  for (int64_t b = 0; b < of->meaning->block_count; b++)
    for (int64_t n = 0; n < of->count[b] && of->meaning->has_in(of->meaning, rank, b); n++) {
      value input = input_value(of, rank, of->first[b] + n);
      put_value(of, of->in[rank], of->in_at[rank][b] + n, &input);
    }
}

static inline void open_call(call *of) {
  of->capacity = of->total + 3 * of->meaning->block_count;
  for (int64_t rank = 0; rank < of->meaning->rank_count; rank++) {
    for (int side = 0; side < 2; side++) {
      size_t bytes = (size_t)of->capacity * call_size(of) + GUARD;
      void *memory = of->transport ? NULL : malloc(bytes);
      if (of->transport)
        test_ok(tt_loop_ops()->alloc(of->transport, bytes, &memory));
      assert_non_null(memory);
      of->memory[rank][side] = memset(memory, FILLER, bytes);
    }
    place_call(of, rank);
    fill_call(of, rank);
  }
  of->wanted = malloc((size_t)(of->total + 1) * sizeof *of->wanted);
  assert_non_null(of->wanted);
  memset(of->made_of, 0, (size_t)of->meaning->block_count * sizeof *of->made_of);
}

static inline void close_call(const call *of) {
  free(of->wanted);
  for (int64_t rank = 0; rank < of->meaning->rank_count; rank++)
    for (int side = 0; side < 2; side++)
      if (of->transport)
        tt_loop_ops()->free(of->transport, of->memory[rank][side]);
      else
        free(of->memory[rank][side]);
}

static inline bool is_same(const tt_expected *left, const tt_expected *right) {
  return left->kind == right->kind && left->source == right->source && left->first == right->first &&
         left->last == right->last && left->list == right->list && left->list_count == right->list_count;
}

/* Mostly all ranks must have the same. */
static inline const value *want(call *of, const tt_expected *expected, int64_t block) {
  value *wanted = of->wanted + of->first[block];
  if (is_same(&of->made_of[block], expected))
    return wanted;
  of->made_of[block] = *expected;
  for (int64_t n = 0; n < of->count[block]; n++) {
    int64_t index = of->first[block] + n;
    wanted[n] =
        expected->kind == TT_MEANING_COPY ? input_value(of, expected->source, index) : sum_value(of, expected, index);
  }
  return wanted;
}

/* Index of the first wrong element of what the rank has in block b of out; -1: none. */
static inline int64_t find_wrong(call *of, int64_t rank, int64_t block) {
  tt_expected expected = of->meaning->expect(of->meaning, rank, block);
  if (expected.kind == TT_MEANING_NOTHING)
    return -1;
  const value *wanted = want(of, &expected, block);
  for (int64_t n = 0; n < of->count[block]; n++)
    if (!is_value(of, of->out[rank], of->out_at[rank][block] + n, &wanted[n]))
      return n;
  return -1;
}

static inline bool is_filler(const unsigned char *memory, size_t bytes) {
  return memory[0] == FILLER && memcmp(memory, memory + 1, bytes - 1) == 0;
}

static inline void fill_blocks(const call *of, int64_t rank, unsigned char *out) {
  size_t size = call_size(of);
  for (int64_t b = 0; b < of->meaning->block_count; b++)
    if (of->meaning->expect(of->meaning, rank, b).kind != TT_MEANING_NOTHING)
      memset(out + (size_t)of->out_at[rank][b] * size, FILLER, (size_t)of->count[b] * size);
}

/* Whether all bytes of out that are no block's are as they were; in place, those behind both buffers. */
static inline bool is_rest_kept(const call *of, int64_t rank) {
  static unsigned char rest[1 << 21];
  size_t bytes = (size_t)of->capacity * call_size(of) + GUARD;
  const unsigned char *behind[2] = {of->memory[rank][TT_IN] + bytes - GUARD, of->memory[rank][TT_OUT] + bytes - GUARD};
  if (!is_filler(behind[TT_IN], GUARD) || !is_filler(behind[TT_OUT], GUARD))
    return false;
  if (of->meaning->in_place)
    return true;
  assert_true(bytes <= sizeof rest);
  memcpy(rest, of->memory[rank][TT_OUT], bytes);
  fill_blocks(of, rank, rest);
  return is_filler(rest, bytes);
}

/* ---- what the executors are told ---- */

static inline void fill_line(call *of, int64_t rank) {
  struct line *line = &of->line[rank];
  int64_t ranks = of->meaning->rank_count;
  for (int64_t n = 0; n < ranks; n++) {
    line->in_count[n] = of->count[rank * ranks + n];
    line->out_count[n] = of->count[n * ranks + rank];
    line->in_at[n] = of->in_at[rank][rank * ranks + n];
    line->out_at[n] = of->out_at[rank][n * ranks + rank];
  }
}

static inline tt_block_table table_of(call *of, int64_t rank) {
  tt_block_table table = {.kind = of->table, .block_count = of->meaning->block_count, .total = of->total};
  if (of->table == TT_TABLE_LISTED) {
    table.count = of->count;
    table.known = !of->unknown;
    table.in_offset = of->in_at[rank];
    table.out_offset = of->out_at[rank];
    table.mid_offset = of->first;
  } else if (of->table == TT_TABLE_SQUARE && of->even) {
    table.each = of->count[0];
  } else if (of->table == TT_TABLE_SQUARE) {
    fill_line(of, rank);
    table.in_count = of->line[rank].in_count;
    table.out_count = of->line[rank].out_count;
    table.in_offset = of->line[rank].in_at;
    table.out_offset = of->line[rank].out_at;
  }
  return table;
}

static inline tt_run run_of(call *of, int64_t rank, uint64_t number) {
  return (tt_run){.in = of->in[rank],
                  .out = of->out[rank],
                  .in_own = of->composition->layout[TT_IN] == TT_LAYOUT_OWN,
                  .out_own = of->composition->layout[TT_OUT] == TT_LAYOUT_OWN,
                  .blocks = table_of(of, rank),
                  .type = of->type,
                  .op = of->op,
                  .element_bytes = of->element_bytes,
                  .user_op = of->element_bytes ? &of->user_op : NULL,
                  .moves_only = of->moves_only,
                  .single_copy = of->single_copy,
                  .call = number,
                  .key = 11};
}

#endif

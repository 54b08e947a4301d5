/* tests/conformance/definition.h - what each collective does, from its definition: which blocks a rank's buffers hold,
 * how long they are, and what must be in them at the end. Of the library it knows the rows of collectives.
 *
 * Lengths of blocks that differ, types of blocks and graphs are drawn from the call's seed, so that every rank knows
 * those of all others. */
#ifndef TEST_CONFORMANCE_DEFINITION_H
#define TEST_CONFORMANCE_DEFINITION_H

#include "compose/compose.h"
#include "support/elements.h"

#include <tutti/tutti.h>

#include <stdlib.h>

enum { CALL_RANKS = 64, CALL_DEGREE = 2 * CALL_RANKS };

/* Types and operators of the user's own, which every context of a test has. */
#define CALL_MATRIX ((tutti_type)TUTTI_TYPE_COUNT)       /* 2 x 2 numbers of 32 bits, modulo 2^32 */
#define CALL_TRIPLE ((tutti_type)(TUTTI_TYPE_COUNT + 1)) /* 3 bytes */
#define CALL_PRODUCT ((tutti_op)TUTTI_OP_COUNT)          /* of matrices: does not commute */
#define CALL_LARGEST ((tutti_op)(TUTTI_OP_COUNT + 1))    /* of each byte of a triple */
enum { CALL_TYPE_COUNT = TUTTI_TYPE_COUNT + 2, CALL_OP_COUNT = TUTTI_OP_COUNT + 2 };

typedef enum call_mode { CALL_BLOCK, CALL_START, CALL_INIT, CALL_MODE_COUNT } call_mode;
typedef enum call_places {
  CALL_APART,
  CALL_IN_PLACE,
  CALL_MIXED,
  CALL_PLACES_COUNT
} call_places; /* mixed: odd ranks */

/* What all ranks agree on, and, for the messages of the test, the parameters it runs with. */
typedef struct call {
  tt_collective collective;
  tutti_type type;
  tutti_op op;
  int64_t count, root; /* count: of a block; where they differ, of the longest */
  uint64_t seed;       /* of lengths */
  int graph;           /* which of call_graphs */
  call_mode mode;
  call_places places;
  char params[128]; /* "": the profile's choice */
} call;

/* ---- what the buffers are ---- */

/* How many blocks: one, one for each rank, for each destination, for each source. */
typedef enum call_unit { CALL_ONE, CALL_RANK, CALL_TO, CALL_FROM } call_unit;

typedef struct call_row {
  call_unit in, out;
  bool in_root, out_root; /* the root has it, the others do not */
  bool lists, types;      /* blocks differ in length, in type */
} call_row;

static inline call_row call_row_of(tt_collective collective) {
  static const call_unit units[] = {[TT_ONE_BLOCK] = CALL_ONE,
                                    [TT_EACH_RANK] = CALL_RANK,
                                    [TT_EACH_DESTINATION] = CALL_TO,
                                    [TT_EACH_SOURCE] = CALL_FROM};
  tt_side in = tt_compose_side(collective, TT_IN), out = tt_compose_side(collective, TT_OUT);
  return (call_row){.in = units[in.unit],
                    .out = units[out.unit],
                    .in_root = in.of_root,
                    .out_root = out.of_root,
                    .lists = in.length != TT_BY_COUNT || out.length != TT_BY_COUNT,
                    .types = in.typed};
}

static inline bool call_reduces(tt_collective collective) { return tt_compose_info(collective).reduces; }

/* ---- graphs ---- */

typedef struct call_neighbors {
  int64_t count, rank[CALL_DEGREE];
} call_neighbors;

static inline uint64_t call_mix(uint64_t seed, int64_t a, int64_t b, int64_t c) {
  const int64_t parts[] = {a, b, c};
  return tt_hash(seed, parts, sizeof parts);
}

/* Edges from i to j; graph 0 has none. */
static inline int64_t call_edges(int graph, int64_t i, int64_t j) {
  uint64_t mixed = call_mix(99, graph, i, j);
  return graph == 0 || mixed % 3 ? 0 : 1 + (int64_t)((mixed >> 8) % 4 / 3);
}

static inline void call_shuffle(call_neighbors *list, uint64_t seed) {
  for (int64_t n = list->count; n > 1; n--) {
    int64_t other = (int64_t)(call_mix(seed, n, 0, 0) % (uint64_t)n), moved = list->rank[other];
    list->rank[other] = list->rank[n - 1];
    list->rank[n - 1] = moved;
  }
}

/* Rank's destinations, or its sources, in the order in which it gives them. */
static inline void call_list_neighbors(int graph, int64_t size, int64_t rank, bool to, call_neighbors *list) {
  list->count = 0;
  for (int64_t other = 0; other < size; other++)
    for (int64_t n = to ? call_edges(graph, rank, other) : call_edges(graph, other, rank); n > 0; n--)
      list->rank[list->count++] = other;
  call_shuffle(list, (uint64_t)(graph * 100 + 2 * rank + to));
}

/* How often the rank at `place` comes before it in the list. */
static inline int64_t call_before(const call_neighbors *list, int64_t place) {
  int64_t before = 0;
  for (int64_t n = 0; n < place; n++)
    before += list->rank[n] == list->rank[place];
  return before;
}

/* Where `rank` comes for the time number `time`, from 0. */
static inline int64_t call_place_of(const call_neighbors *list, int64_t rank, int64_t time) {
  int64_t place = 0;
  while (list->rank[place] != rank || time-- > 0)
    place++;
  return place;
}

/* ---- blocks ---- */

typedef enum call_content { CALL_NOTHING, CALL_COPY, CALL_SUM } call_content;

/* A block of a rank's `in` or `out`, and what is in it before, or must be in it at the end. */
typedef struct call_block {
  int64_t count;
  tutti_type type;
  call_content content;
  int64_t rank;  /* COPY: that rank's block of in */
  int64_t last;  /* SUM: of that block of ranks 0 .. last */
  int64_t index; /* of the block in in */
} call_block;

static inline int64_t call_length(const call *of, int64_t size, int64_t a, int64_t b, int64_t c) {
  uint64_t mixed = call_mix(of->seed, a, b, c);
  const int64_t lengths[] = {0, 0, 0, 1, 2, size - 1, 17, of->count};
  int64_t length = lengths[mixed % TT_COUNT(lengths)];
  return length < of->count ? length : of->count;
}

static inline tutti_type call_block_type(const call *of, int64_t i, int64_t j, int64_t n) {
  static const tutti_type types[] = {TUTTI_INT8, TUTTI_FLOAT64, TUTTI_INT32, CALL_TRIPLE, TUTTI_BFLOAT16};
  return call_row_of(of->collective).types ? types[call_mix(of->seed + 1, i, j, n) % TT_COUNT(types)] : of->type;
}

static inline int64_t call_block_count(const call *of, int64_t size, int64_t rank, bool in) {
  call_row row = call_row_of(of->collective);
  call_neighbors list;
  if ((in ? row.in_root : row.out_root) && rank != of->root)
    return 0;
  switch (in ? row.in : row.out) {
  case CALL_ONE:
    return 1;
  case CALL_RANK:
    return size;
  default:
    call_list_neighbors(of->graph, size, rank, in, &list);
    return list.count;
  }
}

/* Block k of rank's in. */
static inline call_block call_in_block(const call *of, int64_t size, int64_t rank, int64_t k) {
  call_row row = call_row_of(of->collective);
  call_neighbors to;
  int64_t a = rank, b = -1, n = -1; /* what its length depends on */
  if (row.in == CALL_RANK && row.out == CALL_RANK)
    b = k;
  else if (row.in == CALL_RANK)
    a = k;
  if (row.in == CALL_TO) {
    call_list_neighbors(of->graph, size, rank, true, &to);
    b = to.rank[k];
    n = call_before(&to, k);
  }
  return (call_block){.count = row.lists ? call_length(of, size, a, b, n) : of->count,
                      .type = call_block_type(of, a, b, n),
                      .content = CALL_COPY,
                      .rank = rank,
                      .index = k};
}

static inline call_block call_summed(call_block block, int64_t last) {
  block.content = last < 0 ? CALL_NOTHING : CALL_SUM;
  block.last = last;
  return block;
}

/* What block k of rank's out must be. */
static inline call_block call_out_block(const call *of, int64_t size, int64_t rank, int64_t k) {
  call_row row = call_row_of(of->collective);
  if (row.out == CALL_FROM) {
    call_neighbors from = {0}, to;
    call_list_neighbors(of->graph, size, rank, false, &from);
    call_list_neighbors(of->graph, size, from.rank[k], true, &to);
    int64_t place = row.in == CALL_ONE ? 0 : call_place_of(&to, rank, call_before(&from, k));
    return call_in_block(of, size, from.rank[k], place);
  }
  if (row.out == CALL_RANK)
    return call_in_block(of, size, k, row.in == CALL_RANK ? rank : 0);
  tt_sources from = tt_compose_sources(tt_compose_operands(of->collective), rank, size, of->root);
  call_block block = call_in_block(of, size, from.first, row.in == CALL_RANK ? rank : 0);
  if (from.first > from.last)
    block.content = CALL_NOTHING;
  return call_reduces(of->collective) ? call_summed(block, from.last) : block;
}

/* ---- elements ---- */

static inline size_t call_type_bytes(tutti_type type) {
  return type == CALL_MATRIX ? 16 : type == CALL_TRIPLE ? 3 : tutti_type_size(type);
}

static inline bool call_op_fits(tutti_op op, tutti_type type) {
  if (op == CALL_PRODUCT || op == CALL_LARGEST)
    return type == (op == CALL_PRODUCT ? CALL_MATRIX : CALL_TRIPLE);
  return tutti_op_fits(op, type);
}

static inline bool call_is_ordered(const call *of) {
  tt_operands operands = tt_compose_operands(of->collective);
  return of->op == CALL_PRODUCT || operands == TT_OPERANDS_UP_TO || operands == TT_OPERANDS_BELOW;
}

/* Element `index` of rank's input. */
static inline void call_element(const call *of, tutti_type type, int64_t rank, int64_t index, int64_t round,
                                unsigned char *to) {
  uint64_t mixed[2] = {call_mix(3, rank, index, round), call_mix(4, rank, index, round)};
  if (type < TUTTI_TYPE_COUNT)
    element_write(type, to, element_value(type, of->op, rank, index, round));
  else
    memcpy(to, mixed, call_type_bytes(type));
}

static inline void call_multiply(const void *left, const void *right, void *out, int64_t count, void *user) {
  (void)user;
  for (int64_t n = 0; n < count; n++) {
    uint32_t a[4], b[4], made[4];
    memcpy(a, (const char *)left + n * 16, sizeof a);
    memcpy(b, (const char *)right + n * 16, sizeof b);
    for (int e = 0; e < 4; e++)
      made[e] = a[e / 2 * 2] * b[e % 2] + a[e / 2 * 2 + 1] * b[2 + e % 2];
    memcpy((char *)out + n * 16, made, sizeof made);
  }
}

static inline void call_maximize(const void *left, const void *right, void *out, int64_t count, void *user) {
  const unsigned char *a = left, *b = right;
  unsigned char *made = out;
  (void)user;
  for (int64_t n = 0; n < 3 * count; n++)
    made[n] = a[n] > b[n] ? a[n] : b[n];
}

/* What elements `index` of ranks 0 .. last combine to. */
static inline void call_sum(const call *of, int64_t last, int64_t index, int64_t round, unsigned char *to) {
  unsigned char next[16];
  if (of->type < TUTTI_TYPE_COUNT) {
    element_write(of->type, to, element_combined(of->type, of->op, last + 1, index, round));
    return;
  }
  call_element(of, of->type, 0, index, round, to);
  for (int64_t rank = 1; rank <= last; rank++) {
    call_element(of, of->type, rank, index, round, next);
    (of->op == CALL_PRODUCT ? call_multiply : call_maximize)(to, next, to, 1, NULL);
  }
}

/* Creates the types and operators above; of every context, before any other of its own. */
static inline tutti_status call_create_types(tutti_context *context) {
  tutti_type type;
  tutti_op op;
  tutti_status status = tutti_type_create(context, 16, &type);
  if (status == TUTTI_OK)
    status = tutti_type_create(context, 3, &type);
  if (status == TUTTI_OK)
    status = tutti_op_create(context, call_multiply, NULL, 16, 0, &op);
  return status == TUTTI_OK ? tutti_op_create(context, call_maximize, NULL, 3, 1, &op) : status;
}

#endif

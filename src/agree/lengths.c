/* agree/lengths.c - lengths of blocks that only their two ends know: does everyone's idea of them agree?
 *
 * Block b has an odd 64-bit factor f(b) that looks random. A rank's record holds the sum of f(b) * bytes over what it
 * sends, less the same over what it receives, modulo 2^64. All ranks' sums together are D = sum of f(b) * (sent -
 * expected), which is 0 where all agree and otherwise not, but for one case in 2^60 or so. Where only one block
 * differs, D / f(b) is the difference for that b and an enormous number for every other: so it is found without any
 * rank's lists.
 *
 * A block of a user's composition moves between many ranks, and what one receives too much it may send too much. There
 * b is (block, sender), and a second sum, of f(sender, receiver) * a hash of 16 bits of (block, bytes), says in the
 * same way which two ranks differ, in however many blocks. */
#include "agree/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define PLAUSIBLE ((int64_t)1 << 40) /* bytes by which a block may differ */

static uint64_t factor_of(uint64_t block) {
  uint64_t x = (block + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (x ^ x >> 31) | 1;
}

uint64_t tt_record_length(uint64_t block, int64_t bytes) {
  assert(bytes >= 0);
  return factor_of(block) * (uint64_t)bytes;
}

tt_record_move tt_record_move_of(int64_t rank_count, int64_t block, int64_t from, int64_t to, int64_t bytes) {
  assert(from >= 0 && from < rank_count && to >= 0 && to < rank_count && block >= 0 && bytes >= 0);
  uint64_t ranks = (uint64_t)rank_count, number = (uint64_t)block * ranks + (uint64_t)from;
  uint64_t pair = ~((uint64_t)from * ranks + (uint64_t)to);
  uint64_t hash = factor_of((uint64_t)block ^ factor_of((uint64_t)bytes)) >> 48;
  return (tt_record_move){factor_of(number) * (uint64_t)bytes, factor_of(pair) * hash};
}

/* 1 / x modulo 2^64; each turn doubles the bits that are right. */
static uint64_t inverse(uint64_t x) {
  assert(x & 1);
  uint64_t y = x; /* right in 3 bits */
  for (int n = 0; n < 5; n++)
    y *= 2 - x * y;
  assert(x * y == 1);
  return y;
}

/* All ranks' lengths together; false where one has not come to the call, or it is long ago, or called another: whose
 * record may have come since the calls were compared. */
static bool sum_up(const tutti_comm *comm, uint64_t number, tt_record *record, tt_record_move *sum) {
  tt_record other;
  *sum = (tt_record_move){0};
  for (int64_t r = 0; r < comm->size; r++) {
    if (!tt_record_read(comm, r, number, &other) || (r > 0 && other.key != record->key))
      return false;
    *record = other;
    sum->lengths += other.lengths;
    sum->pairs += other.lists;
  }
  return true;
}

/* Of a block of a user's composition: those that it moves between. */
static tt_lengths lengths_of(const tt_record *record) {
  return tt_record_is_composition(record) ? TT_LENGTHS_ENDS
                                          : tt_compose_info((tt_collective)record->collective).lengths;
}

bool tt_record_lengths_differ(const tutti_comm *comm, uint64_t number) {
  tt_record record;
  tt_record_move sum;
  return tt_record_read(comm, comm->rank, number, &record) && lengths_of(&record) != TT_LENGTHS_ALL &&
         sum_up(comm, number, &record, &sum) && sum.lengths != 0;
}

/* ---- which block ---- */

typedef struct pair {
  int64_t from, to;
} pair;

static const tutti_graph *find_graph(const tutti_comm *comm, uint64_t number) {
  const tutti_graph *graph = comm->side.main ? comm->side.main->graphs.list : comm->graphs.list;
  while (graph && graph->number != number)
    graph = graph->next;
  return graph;
}

static int64_t block_count(const tutti_comm *comm, const tt_record *record, const tutti_graph *graph) {
  if (graph)
    return graph->all.edge_count;
  return lengths_of(record) == TT_LENGTHS_ROOT ? comm->size : comm->size * comm->size;
}

static pair ends_of(const tutti_comm *comm, const tt_record *record, const tutti_graph *graph, int64_t block) {
  assert(block >= 0 && block < block_count(comm, record, graph));
  if (graph)
    return (pair){graph->from[block], graph->to[block]};
  if (lengths_of(record) != TT_LENGTHS_ROOT)
    return (pair){block / comm->size, block % comm->size};
  bool from_root = tt_compose_side((tt_collective)record->collective, TT_IN).of_root;
  return from_root ? (pair){record->root, block} : (pair){block, record->root};
}

/* The number below `count` whose factor alone explains the sum, flipped by `flip`, and what it is multiplied with; -1:
 * there is none. */
static int64_t find_number(uint64_t sum, int64_t count, uint64_t flip, int64_t *times) {
  int64_t found = -1;
  *times = PLAUSIBLE;
  for (int64_t n = 0; n < count; n++) {
    int64_t most = llabs(*times), by = (int64_t)(sum * inverse(factor_of((uint64_t)n ^ flip)));
    if (by > -most && by < most) {
      found = n;
      *times = by;
    }
  }
  return found;
}

static void add_amount(tt_text *to, const tt_record *record, int64_t more) {
  int64_t element = tt_said_type_bytes(record->type), by = llabs(more);
  bool typed = !tt_record_is_composition(record) && tt_compose_side((tt_collective)record->collective, TT_IN).typed;
  bool whole = !typed && element > 0 && by % element == 0;
  tt_text_add(to, "%" PRId64 " %s %s", whole ? by / element : by, whole ? "elements" : "bytes",
              more > 0 ? "more" : "less");
}

static void add_block(tt_text *to, const tt_record *record, pair ends, int64_t more) {
  tt_text_add(to, "rank %" PRId64 " sends rank %" PRId64 " ", ends.from, ends.to);
  add_amount(to, record, more);
  tt_text_add(to, " than rank %" PRId64 " expects", ends.to);
}

/* Of a composition. seen: two ranks that are known to differ; from -1: none. */
static void add_moves(tt_text *to, int64_t ranks, const tt_record *record, tt_record_move sum, pair seen) {
  int64_t more, times, number = find_number(sum.lengths, record->count * ranks, 0, &more);
  int64_t two = find_number(sum.pairs, ranks * ranks, UINT64_MAX, &times);
  pair ends = {two / ranks, two % ranks};
  if (two >= 0 && number >= 0 && number % ranks == ends.from) {
    tt_text_add(to, "of block %" PRId64 " ", number / ranks);
    add_block(to, record, ends, more);
  } else if (two >= 0) {
    tt_text_add(to, "rank %" PRId64 " sends blocks of other lengths than rank %" PRId64 " expects", ends.from, ends.to);
  } else if (number >= 0) {
    tt_text_add(to, "block %" PRId64 " is %s at rank %" PRId64 ", which sends it, than at its receiver", number / ranks,
                more > 0 ? "longer" : "shorter", number % ranks);
  } else {
    tt_text_add(to, "the lengths of several blocks differ");
    if (seen.from >= 0)
      tt_text_add(to, ", such as those from rank %" PRId64 " to rank %" PRId64, seen.from, seen.to);
  }
}

void tt_record_add_lengths(tt_text *to, const tutti_comm *comm, uint64_t number, int64_t peer) {
  tt_record record;
  tt_record_move sum;
  int64_t more, block = -1;
  tt_text_add(to, "ranks differ in ");
  tt_record_add_number(to, comm, number);
  if (!sum_up(comm, number, &record, &sum)) {
    tt_text_add(to, ": lengths of blocks");
    return;
  }
  tt_text_add(to, " on a communicator of %" PRId64 ", ", comm->size);
  tt_record_add_call(to, &record);
  tt_text_add(to, ": ");
  if (tt_record_is_composition(&record)) {
    add_moves(to, comm->size, &record, sum, (pair){peer, comm->rank});
    return;
  }
  const tutti_graph *graph = find_graph(comm, record.lists);
  if (graph || !tt_compose_info((tt_collective)record.collective).has_graph)
    block = find_number(sum.lengths, block_count(comm, &record, graph), 0, &more);
  if (block >= 0)
    add_block(to, &record, ends_of(comm, &record, graph, block), more);
  else
    tt_text_add(to, "senders and receivers of several blocks pass different lengths");
}

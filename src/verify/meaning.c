/* verify/meaning.c - what each collective means, written from its definition (MPI 3.1, chapters 5 and 7) and from
 * nothing else. What out block b of rank r is, where r has it:
 *
 *     broadcast           block b of the root's in
 *     gather              on the root: what rank b has in, its only block
 *     scatter             b = r: block b of the root's in
 *     allgather           what rank b has in, its only block
 *     all-to-all          b = i * p + r: block b of rank i's in
 *     neighbor            b is an edge to r: block b of the in of the rank that it comes from
 *     reduce              on the root: block b of every rank's in, combined
 *     allreduce, barrier  block b of every rank's in, combined; of a barrier, a token
 *     reduce-scatter      b = r: block b of every rank's in, combined
 *     scan, exscan        block b of the in of ranks 0 .. r, combined; of exscan 0 .. r-1, and nothing on rank 0
 *
 * Counts that differ from rank to rank are lengths of blocks, and change nothing here. */
#include "verify/verify.h"

#include <inttypes.h>
#include <string.h>

static const tt_expected nothing = {.kind = TT_MEANING_NOTHING};

static tt_expected copy_of(int64_t source) { return (tt_expected){.kind = TT_MEANING_COPY, .source = source}; }

static tt_expected sum_of(const tt_meaning *meaning, int64_t first, int64_t last) {
  if (first == last)
    return copy_of(first);
  return (tt_expected){.kind = TT_MEANING_SUM, .first = first, .last = last, .ordered = meaning->ordered};
}

/* ---- out ---- */

static tt_expected sum_everywhere(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)rank, (void)block;
  return sum_of(meaning, 0, meaning->rank_count - 1);
}

static tt_expected sum_on_root(const tt_meaning *meaning, int64_t rank, int64_t block) {
  return rank == meaning->root ? sum_everywhere(meaning, rank, block) : nothing;
}

static tt_expected sum_of_own_block(const tt_meaning *meaning, int64_t rank, int64_t block) {
  return block == rank ? sum_everywhere(meaning, rank, block) : nothing;
}

static tt_expected sum_up_to_rank(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)block;
  return sum_of(meaning, 0, rank);
}

static tt_expected sum_below_rank(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)block;
  return rank > 0 ? sum_of(meaning, 0, rank - 1) : nothing;
}

static tt_expected copy_of_root(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)rank, (void)block;
  return copy_of(meaning->root);
}

static tt_expected own_block_of_root(const tt_meaning *meaning, int64_t rank, int64_t block) {
  return block == rank ? copy_of(meaning->root) : nothing;
}

static tt_expected copy_of_each(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)meaning, (void)rank;
  return copy_of(block);
}

static tt_expected copies_on_root(const tt_meaning *meaning, int64_t rank, int64_t block) {
  return rank == meaning->root ? copy_of(block) : nothing;
}

static tt_expected column_of_square(const tt_meaning *meaning, int64_t rank, int64_t block) {
  return block % meaning->rank_count == rank ? copy_of(block / meaning->rank_count) : nothing;
}

static tt_expected copy_over_edge(const tt_meaning *meaning, int64_t rank, int64_t block) {
  const tt_question *graph = meaning->question;
  return block < graph->edge_count && graph->to[block] == rank ? copy_of(graph->from[block]) : nothing;
}

/* ---- in ---- */

static bool in_everywhere(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)meaning, (void)rank, (void)block;
  return true;
}

static bool in_on_root(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)block;
  return rank == meaning->root;
}

static bool in_of_own_block(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)meaning;
  return block == rank;
}

static bool in_row_of_square(const tt_meaning *meaning, int64_t rank, int64_t block) {
  return block / meaning->rank_count == rank;
}

static bool in_of_edge(const tt_meaning *meaning, int64_t rank, int64_t block) {
  return block < meaning->question->edge_count && meaning->question->from[block] == rank;
}

/* ---- collectives ---- */

/* How many blocks a form may have. ANY: the vector may be cut as the form likes. */
enum cut { ANY, SPLIT, SQUARE, EDGES };

static const struct {
  const char *name;
  enum cut cut;
  bool has_root, in_place; /* in_place: it can be */
  tt_expected (*expect)(const tt_meaning *meaning, int64_t rank, int64_t block);
  bool (*has_in)(const tt_meaning *meaning, int64_t rank, int64_t block);
} rows[] = {
    {"allreduce", ANY, false, true, sum_everywhere, in_everywhere},
    {"barrier", ANY, false, true, sum_everywhere, in_everywhere},
    {"reduce", ANY, true, true, sum_on_root, in_everywhere},
    {"reduce-scatter", SPLIT, false, true, sum_of_own_block, in_everywhere},
    {"reduce-scatterv", SPLIT, false, true, sum_of_own_block, in_everywhere},
    {"scan", ANY, false, true, sum_up_to_rank, in_everywhere},
    {"exscan", ANY, false, true, sum_below_rank, in_everywhere},
    {"broadcast", ANY, true, true, copy_of_root, in_on_root},
    {"gather", SPLIT, true, true, copies_on_root, in_of_own_block},
    {"gatherv", SPLIT, true, true, copies_on_root, in_of_own_block},
    {"scatter", SPLIT, true, true, own_block_of_root, in_on_root},
    {"scatterv", SPLIT, true, true, own_block_of_root, in_on_root},
    {"allgather", SPLIT, false, true, copy_of_each, in_of_own_block},
    {"allgatherv", SPLIT, false, true, copy_of_each, in_of_own_block},
    {"all-to-all", SQUARE, false, false, column_of_square, in_row_of_square},
    {"all-to-allv", SQUARE, false, false, column_of_square, in_row_of_square},
    {"all-to-allw", SQUARE, false, false, column_of_square, in_row_of_square},
    {"neighbor-allgather", EDGES, false, false, copy_over_edge, in_of_edge},
    {"neighbor-allgatherv", EDGES, false, false, copy_over_edge, in_of_edge},
    {"neighbor-all-to-all", EDGES, false, false, copy_over_edge, in_of_edge},
    {"neighbor-all-to-allv", EDGES, false, false, copy_over_edge, in_of_edge},
    {"neighbor-all-to-allw", EDGES, false, false, copy_over_edge, in_of_edge},
};

static size_t find(const char *collective) {
  size_t n = 0;
  while (n < TT_COUNT(rows) && strcmp(rows[n].name, collective) != 0)
    n++;
  return n;
}

static bool cut_fits(enum cut cut, const tt_question *question) {
  int64_t ranks = question->rank_count, blocks = question->block_count;
  switch (cut) {
  case ANY:
    return blocks >= 1;
  case SPLIT:
    return blocks == ranks;
  case SQUARE:
    return blocks == ranks * ranks;
  default:
    return blocks == (question->edge_count > 0 ? question->edge_count : 1);
  }
}

static tutti_status check_edges(const tt_question *question) {
  for (int64_t e = 0; e < question->edge_count; e++)
    if (question->from[e] < 0 || question->from[e] >= question->rank_count || question->to[e] < 0 ||
        question->to[e] >= question->rank_count)
      return tt_fail(TUTTI_ERR_ARGUMENT, "%s: edge %" PRId64 " goes from rank %d to rank %d of %" PRId64 " ranks",
                     question->collective, e, (int)question->from[e], (int)question->to[e], question->rank_count);
  return TUTTI_OK;
}

static tutti_status check(const tt_question *question, size_t row) {
  if (question->rank_count < 1 || question->root < 0 || question->root >= question->rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: root %" PRId64 " of %" PRId64 " ranks", question->collective,
                   question->root, question->rank_count);
  if (!cut_fits(rows[row].cut, question))
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s of %" PRId64 " ranks does not have %" PRId64 " blocks", question->collective,
                   question->rank_count, question->block_count);
  if (question->in_place && !rows[row].in_place)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s cannot be in place", question->collective);
  if (question->edge_count > 0 && rows[row].cut != EDGES)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s has no edges", question->collective);
  return rows[row].cut == EDGES ? check_edges(question) : TUTTI_OK;
}

tutti_status tt_verify_meaning(const tt_question *question, tt_meaning *meaning) {
  size_t row = find(question->collective);
  if (row == TT_COUNT(rows))
    return tt_fail(TUTTI_ERR_ARGUMENT, "collective '%s' has no meaning to verify", question->collective);
  tutti_status status = check(question, row);
  if (status == TUTTI_OK)
    *meaning = (tt_meaning){.name = rows[row].name,
                            .rank_count = question->rank_count,
                            .block_count = question->block_count,
                            .in_place = question->in_place,
                            .ordered = question->ordered,
                            .reproducible = question->reproducible,
                            .root = rows[row].has_root ? question->root : 0,
                            .question = question,
                            .expect = rows[row].expect,
                            .has_in = rows[row].has_in};
  return status;
}

/* verify/meaning.c - what each collective means, written from its definition and from nothing else.
 *
 *     broadcast       out block b of every rank: block b of the root's in
 *     allgather       out block b of every rank: what rank b has in, its only block
 *     reduce-scatter  out of rank b, its only block: block b of every rank's in, combined
 *     allreduce       out block b of every rank: block b of every rank's in, combined
 *     barrier         allreduce of a token: nobody is done before everybody has begun */
#include "verify/verify.h"

#include <string.h>

static tt_meaning_kind sum_everywhere(const tt_meaning *meaning, int64_t rank, int64_t block, int64_t *source) {
  (void)meaning, (void)rank, (void)block, (void)source;
  return TT_MEANING_SUM;
}

static tt_meaning_kind sum_of_own_block(const tt_meaning *meaning, int64_t rank, int64_t block, int64_t *source) {
  (void)meaning, (void)source;
  return block == rank ? TT_MEANING_SUM : TT_MEANING_NOTHING;
}

static tt_meaning_kind copy_of_root(const tt_meaning *meaning, int64_t rank, int64_t block, int64_t *source) {
  (void)rank, (void)block;
  *source = meaning->root;
  return TT_MEANING_COPY;
}

static tt_meaning_kind copy_of_each(const tt_meaning *meaning, int64_t rank, int64_t block, int64_t *source) {
  (void)meaning, (void)rank;
  *source = block;
  return TT_MEANING_COPY;
}

static bool in_everywhere(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)meaning, (void)rank, (void)block;
  return true;
}

static bool in_at_root(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)block;
  return rank == meaning->root;
}

static bool in_of_own_block(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)meaning;
  return block == rank;
}

static const struct {
  bool has_root, split; /* split: there is a block for each rank, never a single one */
  tt_meaning meaning;
} meanings[] = {
    {false, false, {.name = "allreduce", .expect = sum_everywhere, .has_in = in_everywhere}},
    {true, false, {.name = "broadcast", .expect = copy_of_root, .has_in = in_at_root}},
    {false,
     true,
     {.name = "allgather",
      .layout = {TT_LAYOUT_OWN, TT_LAYOUT_ALL},
      .expect = copy_of_each,
      .has_in = in_of_own_block}},
    {false,
     true,
     {.name = "reduce-scatter",
      .layout = {TT_LAYOUT_ALL, TT_LAYOUT_OWN},
      .expect = sum_of_own_block,
      .has_in = in_everywhere}},
    {false, false, {.name = "barrier", .expect = sum_everywhere, .has_in = in_everywhere}},
};

static size_t find(const char *collective) {
  size_t n = 0;
  while (n < TT_COUNT(meanings) && strcmp(meanings[n].meaning.name, collective) != 0)
    n++;
  return n;
}

tutti_status tt_verify_meaning(const char *collective, int64_t rank_count, int64_t block_count, int64_t root,
                               bool in_place, tt_meaning *meaning) {
  size_t row = find(collective);
  if (row == TT_COUNT(meanings))
    return tt_fail(TUTTI_ERR_ARGUMENT, "collective '%s' has no meaning to verify", collective);
  if (rank_count < 1 || root < 0 || root >= rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: root %lld of %lld ranks", collective, (long long)root,
                   (long long)rank_count);
  if (block_count != rank_count && (block_count != 1 || meanings[row].split))
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s of %lld ranks does not have %lld blocks", collective, (long long)rank_count,
                   (long long)block_count);
  *meaning = meanings[row].meaning;
  meaning->rank_count = rank_count;
  meaning->block_count = block_count;
  meaning->root = meanings[row].has_root ? root : 0;
  meaning->in_place = in_place;
  return TUTTI_OK;
}

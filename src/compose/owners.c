/* compose/owners.c - dealing the blocks of an allreduce to groups of ranks: as many to each, to its members in turn.
 *
 * What a group of ranks sends and receives is then the same for all, whatever their sizes: 2 (g-1)/g of the vector for
 * g groups, the least there is. Blocks that follow each other and whose owners make equal steps are one family, so that
 * equal groups of neighbours take one, and interleaved ones a family each. */
#include "compose/compose.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REDUCES, GATHERS };

/* Members of each group, ascending: those of group g are member[first[g]] .. member[first[g + 1] - 1]. */
typedef struct members {
  int64_t *first;
  int32_t *member;
  int64_t most; /* of one group */
} members;

static bool find_members(const int32_t *group_of, int64_t group_count, int64_t rank_count, tt_arena *arena,
                         members *out) {
  out->first = tt_arena_alloc(arena, (size_t)group_count + 2, sizeof *out->first);
  out->member = tt_arena_alloc(arena, (size_t)rank_count, sizeof *out->member);
  out->most = 0;
  if (arena->failed)
    return false;
  int64_t *next =
      out->first + 1; /* where the next member of each group goes; in the end, where the next group begins */
  for (int64_t r = 0; r < rank_count; r++) {
    assert(group_of[r] >= 0 && group_of[r] < group_count);
    next[group_of[r] + 1]++;
  }
  for (int64_t g = 0; g < group_count; g++) {
    out->most = next[g + 1] > out->most ? next[g + 1] : out->most;
    next[g + 1] += next[g];
  }
  for (int64_t r = 0; r < rank_count; r++)
    out->member[next[group_of[r]]++] = (int32_t)r;
  return true;
}

static int64_t owner_of(const members *of, int64_t block) {
  int64_t group = block / of->most, count = of->first[group + 1] - of->first[group];
  assert(count > 0); /* no group is empty */
  return of->member[of->first[group] + block % of->most % count];
}

static tt_family family_of(int what, int64_t block, int64_t owner) {
  return (tt_family){.primitive = what == REDUCES ? TT_REDUCTION : TT_MULTICAST,
                     .count_i = 1,
                     .count_j = 1,
                     .root = {owner, 1, 0},
                     .block = {block, 1, 0},
                     .ends = {.kind = TT_ENDS_ALL},
                     .from = what == REDUCES ? TT_IN : TT_OUT,
                     .to = TT_OUT};
}

/* Adds a block to the last family, or begins another one. Returns how many there are. */
static int take(tt_family *family, int count, const tt_family *one) {
  tt_family *last = count > 0 ? &family[count - 1] : NULL;
  assert(!last || last->block.base + last->count_i == one->block.base); /* blocks come in turn */
  int64_t step = last ? one->root.base - tt_ir_at(last->root, last->count_i - 1, 0) : 0;
  if (last && (last->count_i == 1 || last->root.i == step)) {
    last->root.i = step;
    last->count_i++;
    return count;
  }
  family[count] = *one;
  return count + 1;
}

/* Of interleaved groups as many as blocks, of neighbours a few: the arena keeps what there are. */
static tt_family *deal(int what, const members *of, int64_t blocks, tt_arena *arena, int *count) {
  tt_family *all = malloc((size_t)blocks * sizeof *all + 1), *kept = NULL;
  *count = 0;
  for (int64_t b = 0; b < blocks && all; b++) {
    const tt_family one = family_of(what, b, owner_of(of, b));
    *count = take(all, *count, &one);
  }
  if (all && (kept = tt_arena_alloc(arena, (size_t)*count, sizeof *kept)))
    memcpy(kept, all, (size_t)*count * sizeof *kept);
  free(all);
  return kept;
}

tutti_status tt_compose_owners(const int32_t *group_of, int64_t group_count, int64_t rank_count, tt_arena *arena,
                               tt_owners *owners) {
  members of;
  tt_family *family[2] = {NULL, NULL};
  bool fine = find_members(group_of, group_count, rank_count, arena, &of);
  int64_t blocks = fine ? group_count * of.most : 0;
  int count = 0;
  for (int what = 0; what < 2 && fine; what++)
    fine = (family[what] = deal(what, &of, blocks, arena, &count)) != NULL;
  if (!fine)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the owners of %" PRId64 " blocks", blocks);
  *owners = (tt_owners){rank_count, blocks, count, {family[REDUCES], family[GATHERS]}};
  return TUTTI_OK;
}

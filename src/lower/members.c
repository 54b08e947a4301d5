/* lower/members.c - which ranks take part in a stage, and the line in which they stand.
 *
 * A rank takes part where a primitive names it, as root or end. At each level, groups stand in the order of their
 * lowest ranks, so that a group's first member is its lowest one, and so is its first subgroup. */
#include "lower/levels.h"

#include <assert.h>
#include <string.h>

/* ---- who takes part ---- */

/* Marks every value of an affine form. */
static void mark_form(const tt_family *family, tt_affine form, int32_t *marked) {
  int64_t count_i = form.i ? family->count_i : 1, count_j = form.j ? family->count_j : 1;
  for (int64_t i = 0; i < count_i; i++)
    for (int64_t j = 0; j < count_j; j++)
      marked[tt_ir_at(form, i, j)] = 1;
}

static int64_t most_of(const tt_family *family, tt_affine form) {
  return tt_ir_at(form, form.i > 0 ? family->count_i - 1 : 0, form.j > 0 ? family->count_j - 1 : 0);
}

static void mark_family(const tt_family *family, int64_t rank_count, int32_t *marked) {
  const tt_ends *ends = &family->ends;
  int64_t run = ends->kind == TT_ENDS_ALL ? rank_count : 0;
  if (ends->kind == TT_ENDS_RANGE)
    run = most_of(family, ends->one) + 1;
  for (int64_t r = 0; r < run; r++)
    marked[r] = 1;
  for (int64_t n = 0; n < ends->list_count && ends->kind == TT_ENDS_LIST; n++)
    marked[ends->list[n]] = 1;
  if (ends->kind == TT_ENDS_ONE)
    mark_form(family, ends->one, marked);
  if (run < rank_count)
    mark_form(family, family->root, marked);
}

/* perm in rank order; position[r] = -1 where r takes no part. */
static void find_members(const tt_stage *stage, tt_lower_stage *out) {
  memset(out->position, 0, (size_t)out->rank_total * sizeof *out->position);
  for (int n = 0; n < stage->family_count; n++)
    mark_family(tt_ir_family(stage, n), out->rank_total, out->position);
  out->rank_count = 0;
  for (int64_t r = 0; r < out->rank_total; r++)
    if (out->position[r])
      out->perm[out->rank_count++] = (int32_t)r;
    else
      out->position[r] = -1;
}

/* ---- the line ---- */

/* Numbers groups by first appearance among the members in rank order. */
static void number_groups(const tt_lower_stage *out, const tt_topo_level *level, int32_t *number) {
  int32_t next = 0;
  for (int64_t g = 0; g < level->group_count; g++)
    number[g] = -1;
  for (int64_t r = 0; r < out->rank_total; r++)
    if (out->position[r] >= 0 && number[level->group_of[r]] < 0)
      number[level->group_of[r]] = next++;
}

/* Stable sort of perm by group at one level of the topology. */
static void sort_by_group(tt_lower_stage *out, const tt_topo_level *level, int32_t *number, int32_t *count,
                          int32_t *sorted) {
  number_groups(out, level, number);
  assert(level->group_count <= out->rank_total);
  memset(count, 0, (size_t)(level->group_count + 1) * sizeof *count);
  for (int64_t n = 0; n < out->rank_count; n++)
    count[number[level->group_of[out->perm[n]]] + 1]++;
  for (int64_t g = 0; g < level->group_count; g++)
    count[g + 1] += count[g];
  for (int64_t n = 0; n < out->rank_count; n++)
    sorted[count[number[level->group_of[out->perm[n]]]]++] = out->perm[n];
  assert(count[level->group_count - 1] == out->rank_count); /* each has its place */
  memcpy(out->perm, sorted, (size_t)out->rank_count * sizeof *sorted);
}

bool tt_lower_members(const tt_stage *stage, const tt_topo_level *const *level, int level_count, tt_arena *arena,
                      tt_lower_stage *out) {
  size_t ranks = (size_t)out->rank_total;
  out->perm = tt_arena_alloc(arena, ranks, sizeof *out->perm);
  out->position = tt_arena_alloc(arena, ranks, sizeof *out->position);
  int32_t *number = tt_arena_alloc(arena, ranks, sizeof *number),
          *count = tt_arena_alloc(arena, ranks + 1, sizeof *count),
          *sorted = tt_arena_alloc(arena, ranks, sizeof *sorted);
  if (arena->failed)
    return false;
  find_members(stage, out);
  for (int n = level_count - 1; n >= 0; n--) /* the innermost first: later sorts keep its order */
    if (level[n]->group_of)
      sort_by_group(out, level[n], number, count, sorted);
  for (int32_t at = 0; at < out->rank_count; at++)
    out->position[out->perm[at]] = at;
  return true;
}

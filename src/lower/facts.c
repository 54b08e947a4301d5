/* lower/facts.c - what all ranks know of a stage without lowering any: does it keep rank order, do ranks pass blocks
 * on.
 *
 * A stage keeps rank order where groups are runs of ranks, and at each level what comes in a round is next to what is
 * there (tt_shape_keeps_order). With one root, the group that each tree begins in is known. With several, all groups
 * are taken to be one. */
#include "lower/levels.h"

#include <inttypes.h>

/* ---- rank order ---- */

static tutti_status not_in_order(const tt_stage *stage, const tt_lower_level *level) {
  const tt_level_params *params = &level->params;
  char shape[TT_SHAPE_TEXT];
  tt_shape_print(params, shape);
  bool far = params->shape->info.has_order && params->order == TT_FAR;
  return tt_fail(TUTTI_ERR_PLAN, "stage '%s', level '%s': %s,%s%s does not keep rank order", stage->name, level->name,
                 shape, tt_labelling_name(params->labelling), far ? ",far" : "");
}

/* The outermost level whose groups are no runs. */
static tutti_status no_runs(const tt_stage *stage, const tt_lower_stage *levels) {
  for (int n = 0; n < levels->level_count; n++) {
    const tt_lower_level *level = &levels->level[n];
    for (int64_t g = 1; g < level->group_count; g++)
      if (levels->perm[level->start[g]] < level->highest[g - 1])
        return tt_fail(TUTTI_ERR_PLAN,
                       "stage '%s': rank order needs consecutive ranks in each group, but level '%s' has other groups",
                       stage->name, level->name);
  }
  return TUTTI_OK;
}

/* Trees of ends up to a rank reach the first groups of those around them. So these must stand in the order of their
 * lowest ranks. Groups of the machine do; groups of a size do not where the ranks that they are cut from do not. */
static tutti_status are_sorted(const tt_stage *stage, const tt_lower_stage *levels) {
  for (int n = 0; n < levels->level_count; n++) {
    const tt_lower_level *level = &levels->level[n];
    for (int32_t at = 1; at < levels->rank_count; at++) {
      int32_t group = level->group_at[at], lowest = level->start[group];
      if (at == lowest && n > 0 && level[-1].group_at[at] != level[-1].group_at[at - 1])
        continue;
      if (levels->perm[at] < levels->perm[at > lowest ? lowest : level->start[group - 1]])
        return tt_fail(TUTTI_ERR_PLAN,
                       "stage '%s': what goes up to some rank needs groups in the order of their ranks, but level '%s' "
                       "has others; name its size behind the machine's levels",
                       stage->name, level->name);
    }
  }
  return TUTTI_OK;
}

/* Where no end comes after its root, trees of ends up to a rank end at the first group. */
static bool ends_at_root(const tt_family *family) {
  for (int corner = 0; corner < 4; corner++) {
    int64_t i = corner & 1 ? family->count_i - 1 : 0, j = corner & 2 ? family->count_j - 1 : 0;
    if (tt_ir_at(family->ends.one, i, j) > tt_ir_at(family->root, i, j))
      return false;
  }
  return true;
}

/* Trees at level n over all ends of their groups, whatever group they begin in. */
static bool always_keeps(const tt_lower_stage *levels, int n) {
  for (int64_t g = 0; g < (n ? levels->level[n - 1].group_count : 1); g++) {
    tt_tree tree = tt_lower_tree(levels, n, g);
    if (!tt_shape_always_keeps_order(&tree))
      return false;
  }
  return true;
}

/* The tree of ends up to the root: its last group is the root's. */
static bool range_keeps(const tt_lower_stage *levels, int n, const tt_family *family) {
  tt_tree tree = tt_lower_tree(levels, n, 0);
  bool cut = tree.level->labelling == TT_REFLECT && ends_at_root(family);
  return n == 0 && cut && tt_shape_keeps_order(&tree, tree.f - 1);
}

/* Trees of one part of one root, from the outermost inwards: which of a group's subgroups each begins in. */
static int root_keeps(const tt_lower_stage *levels, int n, int64_t outer, int64_t root, int64_t part) {
  if (n == levels->level_count)
    return -1;
  const tt_lower_level *level = &levels->level[n];
  tt_tree tree = tt_lower_tree(levels, n, outer);
  if (!tt_shape_keeps_order(&tree, level->group_at[levels->position[root]] - level->first[outer]))
    return n;
  for (int64_t g = 0; g < tree.f; g++) {
    int64_t leader = tt_lower_representative(levels, n, outer, root, part, g);
    int bad = root_keeps(levels, n + 1, level->first[outer] + g, leader, part);
    if (bad >= 0)
      return bad;
  }
  return -1;
}

static int64_t largest_group(const tt_lower_level *level) {
  int64_t most = 1;
  for (int64_t g = 0; g < level->group_count; g++)
    most = level->start[g + 1] - level->start[g] > most ? level->start[g + 1] - level->start[g] : most;
  return most;
}

/* The level that does not keep order, or -1. */
static int find_bad_level(const tt_family *family, const tt_lower_stage *levels, int64_t stripe) {
  bool range = family->ends.kind == TT_ENDS_RANGE;
  int bad = -1;
  for (int n = levels->level_count - 1; n >= 0; n--)
    if (!always_keeps(levels, n) && !(range && range_keeps(levels, n, family)))
      bad = n;
  if (bad < 0 || range || family->count_i * family->count_j > 1)
    return bad;
  int64_t most = largest_group(&levels->level[0]), parts = stripe > 1 ? stripe : 1;
  bad = -1;
  for (int64_t part = 0; part < parts && part < most && bad < 0; part++)
    bad = root_keeps(levels, 0, 0, tt_ir_at(family->root, 0, 0), part);
  return bad;
}

tutti_status tt_lower_check_order(const tt_stage *stage, const tt_lower_stage *levels, int64_t stripe, bool all) {
  for (int n = 0; n < stage->family_count; n++) {
    const tt_family *family = tt_ir_family(stage, n);
    tutti_status status = family->ends.kind == TT_ENDS_RANGE ? are_sorted(stage, levels) : TUTTI_OK;
    if (status != TUTTI_OK)
      return status;
    if (family->primitive != TT_REDUCTION || !(family->ordered || all) || family->ends.kind == TT_ENDS_ONE)
      continue;
    status = no_runs(stage, levels);
    int bad = status == TUTTI_OK ? find_bad_level(family, levels, stripe) : -1;
    if (bad >= 0)
      status = not_in_order(stage, &levels->level[bad]);
    if (status != TUTTI_OK)
      return status;
  }
  return TUTTI_OK;
}

/* ---- relays ---- */

/* Of all levels, one joins more than one group, and there every way is one message. */
static bool is_one_hop(const tt_lower_stage *levels) {
  int joining = 0;
  for (int n = 0; n < levels->level_count; n++) {
    const tt_lower_level *level = &levels->level[n];
    int64_t most = 0;
    for (int64_t g = 0; g < (n ? level[-1].group_count : 1); g++)
      most = level->first[g + 1] - level->first[g] > most ? level->first[g + 1] - level->first[g] : most;
    joining += most > 1;
    bool detour = level->striped && largest_group(level) > 1;
    if (detour || (most > 2 && !level->params.shape->direct))
      return false;
  }
  return joining <= 1;
}

bool tt_lower_relays(const tt_stage *stage, const tt_lower_stage *levels) {
  for (int n = 0; n < stage->family_count; n++)
    if (tt_ir_family(stage, n)->ends.kind != TT_ENDS_ALL && !is_one_hop(levels))
      return true;
  return false;
}

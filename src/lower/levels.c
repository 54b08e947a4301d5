/* lower/levels.c - topology and parameters -> the levels of one stage; the passes hierarchy, ring(n) and folding.
 *
 * Each level is made from the group number of each rank along the line that members.c has made. */
#include "lower/levels.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- levels from group maps ---- */

/* Fills in a level from the group number at each position: equal neighbours inside one outer group are one group. */
static bool fill_level(tt_lower_stage *out, int number, const int32_t *key, tt_arena *arena) {
  tt_lower_level *level = &out->level[number];
  const tt_lower_level *outer = number ? level - 1 : NULL;
  int64_t outer_count = outer ? outer->group_count : 1;
  level->first = tt_arena_alloc(arena, (size_t)outer_count + 1, sizeof *level->first);
  level->start = tt_arena_alloc(arena, (size_t)out->rank_count + 1, sizeof *level->start);
  level->group_at = tt_arena_alloc(arena, (size_t)out->rank_count, sizeof *level->group_at);
  level->highest = tt_arena_alloc(arena, (size_t)out->rank_count, sizeof *level->highest);
  if (arena->failed)
    return false;
  int32_t count = 0;
  for (int32_t n = 0; n < out->rank_count; n++) {
    bool new_outer = n == 0 || (outer && outer->group_at[n] != outer->group_at[n - 1]);
    if (new_outer)
      level->first[outer ? outer->group_at[n] : 0] = count;
    if (new_outer || key[n] != key[n - 1])
      level->start[count++] = n;
    level->group_at[n] = count - 1;
    int32_t before = new_outer ? 0 : level->highest[n > level->start[count - 1] ? count - 1 : count - 2];
    level->highest[count - 1] = out->perm[n] > before ? out->perm[n] : before;
  }
  assert(count >= outer_count && count <= out->rank_count); /* no group is empty */
  level->start[count] = (int32_t)out->rank_count;
  level->first[outer_count] = count;
  level->group_count = count;
  return true;
}

static int64_t subgroups(const tt_lower_level *level, int64_t outer_group) {
  return level->first[outer_group + 1] - level->first[outer_group];
}

tt_tree tt_lower_tree(const tt_lower_stage *stage, int level, int64_t outer) {
  return (tt_tree){&stage->level[level].params, subgroups(&stage->level[level], outer), false};
}

/* The level inside which a group of `level` is represented: a folded one by its first subgroup. */
static const tt_lower_level *represented_in(const tt_lower_stage *stage, int level) {
  return &stage->level[stage->level[level].fold ? level + 1 : level];
}

int64_t tt_lower_place_of(const tt_lower_stage *stage, int number, int64_t root, int64_t part) {
  const tt_lower_level *in = represented_in(stage, number);
  assert(stage->position[root] >= 0); /* it takes part */
  int64_t position = stage->position[root];
  return stage->level[number].striped ? part : position - in->start[in->group_at[position]];
}

int64_t tt_lower_representative(const tt_lower_stage *stage, int number, int64_t outer, int64_t root, int64_t part,
                                int64_t index) {
  const tt_lower_level *level = &stage->level[number], *in = represented_in(stage, number);
  int64_t sub = level->first[outer] + index, place = tt_lower_place_of(stage, number, root, part);
  assert(index >= 0 && sub < level->first[outer + 1]);
  if (level->fold)
    sub = in->first[sub];
  int64_t size = in->start[sub + 1] - in->start[sub];
  assert(size > 0);
  return stage->perm[in->start[sub] + (place < size ? place : place % size)];
}

/* What depends on all trees of a level: the most rounds, and whether all of them share partial results. */
static tutti_status look_at_trees(const char *stage, tt_lower_stage *out, int number) {
  tt_lower_level *level = &out->level[number];
  int64_t outer_count = number ? level[-1].group_count : 1;
  level->rounds = 0;
  level->shares = number + 1 == out->level_count || level[1].shares;
  for (int64_t g = 0; g < outer_count; g++) {
    tt_tree tree = tt_lower_tree(out, number, g);
    assert(tree.f > 0);
    const char *misfit = tt_shape_misfit(&tree);
    if (misfit)
      return tt_fail(TUTTI_ERR_PLAN, "stage '%s', level '%s': %s; it has %" PRId64 " groups", stage, level->name,
                     misfit, tree.f);
    int64_t rounds = tt_shape_rounds(&tree);
    level->rounds = rounds > level->rounds ? rounds : level->rounds;
    level->shares = level->shares && tt_shape_shares(&tree);
  }
  return TUTTI_OK;
}

/* ---- passes: each gives the group number at each position for a level that it adds ---- */

/* ring(n): n virtual nodes, runs of the outermost groups. */
static void ring_groups(const tt_lower_stage *out, const int32_t *outer_group, int64_t group_count, int64_t n,
                        int32_t *key) {
  for (int64_t at = 0; at < out->rank_count; at++)
    key[at] = (int32_t)((int64_t)outer_group[at] * n / group_count);
}

static int64_t power_of_two_below(int64_t f) {
  int64_t power = 1;
  while (power * 2 <= f)
    power *= 2;
  return power;
}

/* Folding: f groups become a power of two of groups of one or two; the first ones are pairs. */
static int32_t fold_group(int64_t index, int64_t f) {
  int64_t pairs = f - power_of_two_below(f);
  return (int32_t)(index < 2 * pairs ? index / 2 : index - pairs);
}

static bool needs_fold(const tt_lower_stage *out, int number) {
  const tt_lower_level *level = &out->level[number];
  int64_t outer_count = number ? out->level[number - 1].group_count : 1;
  for (int64_t g = 0; level->params.labelling == TT_XOR && g < outer_count; g++)
    if (power_of_two_below(subgroups(level, g)) != subgroups(level, g))
      return true;
  return false;
}

static void add_suffix(tt_lower_level *level, const char *suffix) {
  size_t room = sizeof level->name - strlen(suffix) - 1;
  level->name[strlen(level->name) < room ? strlen(level->name) : room] = '\0';
  strcat(level->name, suffix);
}

/* Puts a level of folded groups in front of level `number`, which continues as a star inside them. */
static bool fold(tt_lower_stage *out, int number, tt_arena *arena) {
  tt_lower_level unfolded = out->level[number];
  int32_t *key = tt_arena_alloc(arena, (size_t)out->rank_count, sizeof *key);
  if (arena->failed)
    return false;
  for (int64_t at = 0; at < out->rank_count; at++) {
    int64_t outer = number ? out->level[number - 1].group_at[at] : 0;
    key[at] = fold_group(unfolded.group_at[at] - unfolded.first[outer], subgroups(&unfolded, outer));
  }
  out->level[number].fold = true;
  out->level[number].publish = false;
  out->level[number + 1] = unfolded;
  out->level[number + 1].params.shape = &tt_shape_star;
  out->level[number + 1].params.labelling = TT_ROTATE;
  add_suffix(&out->level[number + 1], ".pair");
  return fill_level(out, number, key, arena) && fill_level(out, number + 1, unfolded.group_at, arena);
}

/* ---- resolve ---- */

/* Ranks of a group of a level that parameters make up: "4" is runs of four; 0: the level is the topology's. */
static int64_t virtual_size(const char *name) { return *name >= '0' && *name <= '9' ? strtoll(name, NULL, 10) : 0; }

/* -1: it has none of that name. */
static int find_topo_level(const tt_topo *topo, const char *name) {
  for (int n = 0; n < topo->level_count; n++)
    if (strcmp(topo->level[n].name, name) == 0)
      return n;
  return -1;
}

const tt_topo_level *tt_lower_outermost(const tt_params *params, const tt_topo *topo) {
  int outermost = params->stage_count > 0 ? topo->level_count : topo->level_count - 1;
  for (int n = 0; n < params->stage_count; n++) {
    int found = find_topo_level(topo, params->stage[n].level[0].name);
    outermost = found >= 0 && found < outermost ? found : outermost;
  }
  return outermost < topo->level_count ? &topo->level[outermost] : NULL;
}

int64_t tt_lower_most(const tt_params *params, const tt_topo *topo) {
  int64_t most = 1;
  for (int n = 0; n < params->stage_count; n++) {
    const char *name = params->stage[n].level[0].name;
    int found = find_topo_level(topo, name); /* one that is not there is refused later */
    int64_t size = found >= 0 ? topo->level[found].most : virtual_size(name);
    most = size > most ? size : most;
  }
  return most < topo->rank_count ? most : topo->rank_count;
}

static tutti_status check_virtual(const tt_stage_params *stage, int number) {
  int64_t outer = number > 0 ? virtual_size(stage->level[number - 1].name) : 0;
  if (outer && outer <= virtual_size(stage->level[number].name))
    return tt_fail(TUTTI_ERR_PLAN, "level '%s' has no smaller groups than '%s' around it", stage->level[number].name,
                   stage->level[number - 1].name);
  return TUTTI_OK;
}

static tutti_status check_levels(const tt_stage_params *stage, const tt_topo *topo) {
  int last = -1;
  for (int n = 0; n < stage->level_count; n++) {
    int found = find_topo_level(topo, stage->level[n].name);
    if (virtual_size(stage->level[n].name)) {
      tutti_status status = check_virtual(stage, n);
      if (status != TUTTI_OK)
        return status;
      continue;
    }
    if (found < 0)
      return tt_fail(TUTTI_ERR_PLAN, "the topology has no level '%s'", stage->level[n].name);
    if (found <= last)
      return tt_fail(TUTTI_ERR_PLAN,
                     "level '%s' is inside '%s' in the topology; name levels from the outermost inwards",
                     stage->level[n - 1].name, stage->level[n].name);
    last = found;
  }
  if (virtual_size(stage->level[stage->level_count - 1].name) || last != topo->level_count - 1)
    return tt_fail(TUTTI_ERR_PLAN, "the last level must be 'core', not '%s'",
                   stage->level[stage->level_count - 1].name);
  return TUTTI_OK;
}

static const tt_stage_params flat = {.level_count = 1, .level = {{.name = "core", .shape = &tt_shape_star, .k = 2}}};

static const tt_stage_params *find_stage(const tt_params *params, const char *name) {
  const tt_stage_params *found = &flat;
  for (int n = 0; n < params->stage_count; n++)
    if (strcmp(params->stage[n].stage, name) == 0)
      return &params->stage[n];
    else if (!params->stage[n].stage[0])
      found = &params->stage[n];
  return found;
}

/* Whether each tree of the level joins only ranks that streams of several readers reach. */
static bool stay_in_reach(const tt_lower_stage *out, int number, const int32_t *reach_of) {
  const int32_t *outer = number ? out->level[number - 1].group_at : NULL;
  for (int64_t at = 1; reach_of && at < out->rank_count; at++)
    if ((!outer || outer[at] == outer[at - 1]) && reach_of[out->perm[at]] != reach_of[out->perm[at - 1]])
      return false;
  return true;
}

static bool add_level(tt_lower_stage *out, const tt_level_params *params, const tt_topo *topo, bool striped,
                      const int32_t *key, tt_arena *arena) {
  int number = out->level_count++, found = find_topo_level(topo, params->name);
  _Static_assert(2 * (TT_TOPO_LEVELS + 1) <= TT_PLAN_LEVELS, "each level, and the ring's, may be folded");
  assert(number < TT_PLAN_LEVELS && (found >= 0 || virtual_size(params->name))); /* check_levels has found it */
  out->level[number] = (tt_lower_level){.params = *params,
                                        .striped = striped,
                                        .publish = found == topo->level_count - 1 && topo->level[found].publish &&
                                                   stay_in_reach(out, number, topo->reach_of)};
  memcpy(out->level[number].name, params->name, sizeof params->name);
  if (!fill_level(out, number, key, arena))
    return false;
  if (!needs_fold(out, number))
    return true;
  out->level_count++;
  return fold(out, number, arena);
}

/* Runs of `size` positions in each group of the level that was added last. */
static void virtual_groups(const tt_lower_stage *out, int64_t size, int32_t *key) {
  const tt_lower_level *outer = out->level_count ? &out->level[out->level_count - 1] : NULL;
  for (int32_t at = 0; at < out->rank_count; at++)
    key[at] = (int32_t)((at - (outer ? outer->start[outer->group_at[at]] : 0)) / size);
}

/* Group number at each position at the level of that name, inside those that there are. */
static void level_groups(const tt_lower_stage *out, const tt_topo *topo, const char *name, int32_t *key) {
  int64_t size = virtual_size(name);
  if (size) {
    virtual_groups(out, size, key);
    return;
  }
  const tt_topo_level *level = &topo->level[find_topo_level(topo, name)];
  for (int64_t at = 0; at < out->rank_count; at++)
    key[at] = level->group_of ? level->group_of[out->perm[at]] : (int32_t)at;
}

/* Numbers groups 0, 1, ... along the line. */
static int64_t renumber(const tt_lower_stage *out, int32_t *key) {
  int32_t next = -1, last = -1;
  for (int64_t at = 0; at < out->rank_count; at++) {
    if (at == 0 || key[at] != last)
      next++;
    last = key[at];
    key[at] = next;
  }
  return next + 1;
}

/* Members of the largest group: the longest run of one number. */
static int64_t longest_run(const tt_lower_stage *out, const int32_t *key) {
  int64_t most = 0;
  for (int64_t at = 0, begin = 0; at < out->rank_count; at++) {
    begin = key[at] == key[begin] ? begin : at;
    most = at + 1 - begin > most ? at + 1 - begin : most;
  }
  return most;
}

static tutti_status add_outermost(tt_lower_stage *out, const tt_stage_params *stage, const tt_topo *topo,
                                  const tt_params *params, int32_t *key, int32_t *ring_key, tt_arena *arena) {
  tt_level_params level = stage->level[0];
  bool striped = params->stripe > 0 || params->even;
  int64_t groups = renumber(out, key);
  out->most = longest_run(out, key);
  if (params->ring > groups)
    return tt_fail(TUTTI_ERR_PLAN, "ring=%" PRId64 " exceeds the %" PRId64 " groups of level '%s'", params->ring,
                   groups, level.name);
  if (params->ring > 0) {
    tt_level_params chain = level;
    chain.shape = &tt_shape_chain;
    chain.labelling = TT_ROTATE;
    if (params->ring == groups)
      level = chain;
    else {
      ring_groups(out, key, groups, params->ring, ring_key);
      if (!add_level(out, &chain, topo, striped, ring_key, arena))
        return tt_fail(TUTTI_ERR_MEMORY, "no memory for group tables");
      out->level[0].publish = false;
      add_suffix(&out->level[0], ".ring");
    }
  }
  return add_level(out, &level, topo, striped, key, arena) ? TUTTI_OK
                                                           : tt_fail(TUTTI_ERR_MEMORY, "no memory for group tables");
}

/* A tree from level n inwards takes: a way to the representative where that may be another rank, its own rounds, the
 * rest. */
static tutti_status count_time(const char *stage, tt_lower_stage *out) {
  out->time[out->level_count] = 0;
  for (int n = out->level_count - 1; n >= 0; n--) {
    tt_lower_level *level = &out->level[n];
    tutti_status status = look_at_trees(stage, out, n);
    if (status != TUTTI_OK)
      return status;
    out->time[n] = level->rounds + out->time[n + 1] * (level->fold || level->striped ? 2 : 1);
    assert(out->time[n] >= out->time[n + 1]);
  }
  return TUTTI_OK;
}

static tutti_status add_levels(tt_lower_stage *out, const tt_stage_params *chosen, const tt_topo *topo,
                               const tt_params *params, tt_arena *arena) {
  size_t ranks = (size_t)out->rank_count;
  int32_t *key = tt_arena_alloc(arena, ranks, sizeof *key), *ring_key = tt_arena_alloc(arena, ranks, sizeof *ring_key);
  if (arena->failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for group tables of %" PRId64 " ranks", out->rank_count);
  level_groups(out, topo, chosen->level[0].name, key);
  tutti_status status = add_outermost(out, chosen, topo, params, key, ring_key, arena);
  for (int n = 1; n < chosen->level_count && status == TUTTI_OK; n++) {
    level_groups(out, topo, chosen->level[n].name, key);
    if (!add_level(out, &chosen->level[n], topo, false, key, arena))
      status = tt_fail(TUTTI_ERR_MEMORY, "no memory for group tables");
  }
  return status;
}

static bool reduces(const tt_stage *stage) {
  for (int n = 0; n < stage->family_count; n++)
    if (tt_ir_family(stage, n)->primitive == TT_REDUCTION)
      return true;
  return false;
}

tutti_status tt_lower_resolve(const tt_composition *composition, int stage_number, const tt_topo *topo,
                              const tt_params *params, tt_arena *arena, tt_lower_stage *out) {
  const tt_stage *stage = &composition->stage[stage_number];
  const tt_stage_params *chosen = find_stage(params, stage->name);
  const tt_topo_level *level[TT_TOPO_LEVELS];
  int level_count = 0;
  tt_params used = *params;
  tutti_status status = check_levels(chosen, topo);
  if (status != TUTTI_OK)
    return status;
  if (params->reproducible && reduces(stage)) {
    chosen = &flat;
    used.stripe = used.ring = 0;
    used.even = false;
  }
  for (int n = 0; n < chosen->level_count; n++)
    if (!virtual_size(chosen->level[n].name))
      level[level_count++] = &topo->level[find_topo_level(topo, chosen->level[n].name)];
  memset(out, 0, sizeof *out);
  out->rank_total = composition->rank_count;
  if (!tt_lower_members(stage, level, level_count, arena, out))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for group tables of %" PRId64 " ranks", composition->rank_count);
  if (out->rank_count == 0) /* nothing happens here */
    return TUTTI_OK;
  status = add_levels(out, chosen, topo, &used, arena);
  return status == TUTTI_OK ? count_time(stage->name, out) : status;
}

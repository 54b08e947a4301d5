/* lower/touch.c - a primitive with one end touches only ranks on the way from its root to that end.
 *
 * From the root down, level by level: the way to any end passes the rank where it represents its group, and then all
 * ends below its label do; where it represents none, none do. So all ends of one root that touch the rank are found at
 * once. Where parts of a block take different ways (stripe, folding), a few ends too many are found: edges.c decides.
 * Costs O(levels) a root, and what is found. */
#include "lower/touch.h"

#include <assert.h>
#include <string.h>

/* The ends of one root that touch the rank: none, all, or those in groups below label v of a tree. */
typedef struct spot {
  bool none, all;
  int level;
  int64_t outer, home, mine;
  bool alone; /* of the tree only group `mine` */
  tt_tree tree;
} spot;

/* Whether `me` can represent its group `mine` for some part of a block, other than as its root's own place. */
static bool may_represent(const tt_lower_stage *stage, int number, int64_t mine, int64_t me) {
  const tt_lower_level *level = &stage->level[number];
  if (!level->fold)
    return true;
  return level[1].group_at[stage->position[me]] == level[1].first[mine];
}

static spot at_group(const tt_walk *walk, int number, int64_t outer, int64_t home, int64_t mine, bool alone) {
  const tt_lower_level *level = &walk->stage->level[number];
  return (spot){.level = number,
                .outer = outer,
                .home = home - level->first[outer],
                .mine = mine - level->first[outer],
                .alone = alone,
                .tree = tt_lower_tree(walk->stage, number, outer)};
}

/* Where the rank is among the trees of one root. */
static spot find_spot(const tt_walk *walk, int64_t root, int64_t me) {
  const tt_lower_stage *stage = walk->stage;
  int64_t outer = 0, position = stage->position[me];
  assert(position >= 0 && stage->position[root] >= 0); /* both take part */
  if (root == me)
    return (spot){.all = true};
  for (int n = 0; n < stage->level_count; n++) {
    const tt_lower_level *level = &stage->level[n];
    int64_t home = level->group_at[stage->position[root]], mine = level->group_at[position];
    bool detour = level->fold || level->striped;
    if (mine == home && detour)
      return (spot){.all = true};
    if (mine != home && detour)
      return at_group(walk, n, outer, home, mine, !may_represent(stage, n, mine, me));
    if (mine != home) {
      root = tt_lower_representative(stage, n, outer, root, 0, mine - level->first[outer]);
      if (root == me)
        return at_group(walk, n, outer, home, mine, false);
    }
    outer = mine;
  }
  return (spot){.none = true};
}

/* Whether the way to `end` passes the spot; where odd channels go the other way around, in either. */
static bool spot_has(const tt_walk *walk, const spot *at, int64_t end) {
  if (at->all || at->none)
    return at->all;
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t position = walk->stage->position[end];
  int64_t group = level->group_at[position] - level->first[at->outer];
  if (group < 0 || group >= at->tree.f)
    return false;
  if (at->alone || group == at->mine)
    return group == at->mine;
  tt_tree tree = at->tree;
  for (int back = 0; back <= walk->two_ways; back++) {
    tree.backward = back;
    int64_t v = tt_shape_label(&tree, at->mine, at->home);
    if (tt_shape_is_under(&tree, v, tt_shape_label(&tree, group, at->home)))
      return true;
  }
  return false;
}

/* ---- a row: all ends of one root ---- */

static void mark_end(tt_touch *touch, int64_t end) {
  assert(touch->walk->family->ends.one.j != 0); /* ends of one root differ */
  const tt_family *family = touch->walk->family;
  int64_t rest = end - tt_ir_at(family->ends.one, touch->i, 0), step = family->ends.one.j;
  int64_t j = rest / step;
  if (rest % step == 0 && j >= 0 && j < family->count_j)
    touch->row[j / 64] |= (uint64_t)1 << j % 64;
}

static void mark_group(tt_touch *touch, const spot *at, int64_t group) {
  assert(group >= 0 && group < at->tree.f);
  const tt_lower_level *level = &touch->walk->stage->level[at->level];
  const int32_t *start = &level->start[level->first[at->outer] + group];
  for (int64_t n = start[0]; n < start[1]; n++)
    mark_end(touch, touch->walk->stage->perm[n]);
}

static void mark_row(tt_touch *touch) {
  spot at = find_spot(touch->walk, tt_ir_at(touch->walk->family->root, touch->i, 0), touch->me);
  memset(touch->row, 0, (size_t)(touch->walk->family->count_j + 63) / 64 * sizeof *touch->row);
  touch->all = at.all;
  if (at.all || at.none)
    return;
  mark_group(touch, &at, at.mine);
  for (int back = 0; back <= touch->walk->two_ways && !at.alone; back++) {
    at.tree.backward = back;
    int64_t v = tt_shape_label(&at.tree, at.mine, at.home);
    for (int64_t u = v; u < at.tree.f; u = tt_shape_next_below(&at.tree, v, u))
      mark_group(touch, &at, tt_shape_group(&at.tree, u, at.home));
  }
}

/* The first marked j that is not below touch->j; count_j where there is none. */
static int64_t next_in_row(const tt_touch *touch) {
  int64_t count = touch->walk->family->count_j;
  for (int64_t j = touch->j; j < count && !touch->all; j = (j / 64 + 1) * 64) {
    uint64_t left = touch->row[j / 64] >> j % 64;
    if (left)
      return j + __builtin_ctzll(left);
  }
  return touch->all ? touch->j : count;
}

/* ---- one after the other ---- */

static int64_t next_tested(const tt_touch *touch) {
  const tt_family *family = touch->walk->family;
  int64_t j = touch->j;
  for (; j < family->count_j; j++) {
    spot at = find_spot(touch->walk, tt_ir_at(family->root, touch->i, j), touch->me);
    if (spot_has(touch->walk, &at, tt_ir_at(family->ends.one, touch->i, j)))
      break;
  }
  return j;
}

tt_touch tt_touch_begin(const tt_walk *walk, int64_t me) {
  const tt_family *family = walk->family;
  tt_touch touch = {.walk = walk, .me = me, .every = family->ends.kind != TT_ENDS_ONE};
  touch.marks = !touch.every && family->root.j == 0 && family->ends.one.j != 0 && family->count_j > 1;
  if (touch.marks)
    touch.row = tt_arena_alloc(walk->arena, (size_t)(family->count_j + 63) / 64, sizeof *touch.row);
  return touch;
}

bool tt_touch_next(tt_touch *touch, int64_t *i, int64_t *j) {
  const tt_family *family = touch->walk->family;
  for (; touch->i < family->count_i && !touch->walk->arena->failed; touch->i++, touch->j = 0) {
    if (touch->marks && touch->j == 0)
      mark_row(touch);
    int64_t next = touch->every ? touch->j : touch->marks ? next_in_row(touch) : next_tested(touch);
    if (next < family->count_j) {
      *i = touch->i;
      *j = next;
      touch->j = next + 1;
      return true;
    }
  }
  return false;
}

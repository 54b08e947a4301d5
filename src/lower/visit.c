/* lower/visit.c - the edges of one tree that begin or end at one rank: to its parent, and to those of its children
 * below which some end lies. */
#include "lower/visit.h"

#include <assert.h>
#include <string.h>

#define BY_SOURCE ((uint32_t)1 << 31)

/* ---- which labels the tree must reach ---- */

static bool lists_under(const tt_walk *walk, const tt_visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  const tt_ends *ends = &walk->family->ends;
  for (int64_t n = 0; n < ends->list_count; n++) {
    int64_t group = level->group_at[walk->stage->position[ends->list[n]]] - level->first[at->group];
    if (ends->list[n] != at->ends.except && group >= 0 && group < tree->f &&
        tt_shape_is_under(tree, v, tt_shape_label(tree, group, home)))
      return true;
  }
  return false;
}

/* Whether v is represented by the excepted rank, which has the block. */
static bool has_block(const tt_walk *walk, const tt_visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  return at->ends.except >= 0 && tt_visit_representative(walk, at, tt_shape_group(tree, v, home)) == at->ends.except;
}

bool tt_visit_has(const tt_walk *walk, const tt_visit *at, int64_t rank) {
  if (at->level == 0)
    return true;
  const tt_lower_level *outer = &walk->stage->level[at->level - 1];
  return outer->group_at[walk->stage->position[rank]] == at->group;
}

bool tt_visit_needs(const tt_walk *walk, const tt_visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  if (at->ends.every)
    return true;
  if (at->ends.upto >= 0)
    return tt_shape_meets(tree, v, home, at->reached);
  if (at->ends.one < 0)
    return lists_under(walk, at, tree, home, v);
  return tt_visit_has(walk, at, at->ends.one) &&
         tt_shape_is_under(tree, v, tt_shape_label(tree, tt_visit_home(walk, at, at->ends.one), home));
}

/* ---- edges ---- */

/* Room for one more edge; NULL where memory is exhausted. */
static tt_edge *new_edge(tt_walk *walk) {
  if (walk->edge_count == walk->edge_room) {
    int64_t room = walk->edge_room ? 2 * walk->edge_room : 64;
    tt_edge *grown = tt_arena_alloc(walk->arena, (size_t)room, sizeof *grown);
    if (!grown)
      return NULL;
    if (walk->edge_count)
      memcpy(grown, walk->edge, (size_t)walk->edge_count * sizeof *grown);
    walk->edge = grown;
    walk->edge_room = room;
  }
  return &walk->edge[walk->edge_count++];
}

/* Which of the ranks below a set of subgroups are ends: 0 for all of them. */
static int64_t cut_of(const tt_walk *walk, const tt_visit *at, const tt_subset *set) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t last = set->first + (set->count - 1) * set->stride;
  bool whole = at->ends.upto < 0 || (set->stride > 0 && last < at->reached &&
                                     level->highest[level->first[at->group] + last] <= at->ends.upto);
  return whole ? 0 : at->ends.upto + 1;
}

static tt_payload payload_of(const tt_walk *walk, const tt_visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  tt_payload payload = {.block = walk->block, .kind = (uint16_t)at->kind, .owner = walk->owner};
  if (at->kind == TT_PAYLOAD_BLOCK)
    return payload;
  bool complete = at->kind == TT_PAYLOAD_COMPLETE;
  payload.level = (uint16_t)(complete ? at->complete_level : at->level);
  payload.group = (int32_t)(complete ? at->complete_group : at->group);
  if (walk->shared && (walk->family->ends.kind == TT_ENDS_RANGE || walk->stage->level[payload.level].shares))
    payload.owner = -1 - walk->family_id;
  if (complete) {
    payload.cut = walk->family->ends.kind == TT_ENDS_RANGE ? walk->one + 1 : 0;
    return payload;
  }
  if (payload.owner >= 0) { /* one tree: a label says it */
    payload.first = v;
    return payload;
  }
  tt_subset set = tt_shape_subset(tree, v, home);
  payload.first = set.first;
  payload.stride = set.stride;
  payload.count = set.count;
  payload.cut = cut_of(walk, at, &set);
  return payload;
}

static bool may_publish(const tt_walk *walk, const tt_visit *at, const tt_tree *tree) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  return walk->publish && level->publish && level->params.shape->direct && tree->f > 2 && at->ends.every &&
         at->ends.except < 0 && at->kind != TT_PAYLOAD_COMPLETE;
}

/* Messages of one round are taken in the order of their distance, so that not all go to one rank at once; readers of
 * published, shared or ordered ones all take them in the order of their sources (any other order could leave two
 * waiting for each other), after the others.
 */
static uint32_t tie_of(const tt_walk *walk, int64_t me, const tt_edge *edge) {
  int64_t ranks = walk->stage->rank_total, distance = edge->sends ? edge->peer - me : me - edge->peer;
  bool in_turn = edge->payload.kind == TT_PAYLOAD_PARTIAL && (edge->payload.owner < 0 || walk->ordered);
  if (edge->published || in_turn)
    return BY_SOURCE + (uint32_t)walk->stage->position[edge->sends ? me : edge->peer];
  return (uint32_t)(distance < 0 ? distance + ranks : distance);
}

/* Along a chain each member's share has lanes of its own: where a group has fewer members, one rank carries several
 * shares, and all have to move at once, lest the last ones begin when the first are through. */
static int64_t branch_of(const tt_walk *walk, const tt_visit *at, const tt_tree *tree, int64_t v) {
  if (tree->level->shape->line)
    return tt_lower_place_of(walk->stage, at->level, at->root, walk->part);
  return tt_shape_branch(tree, v);
}

int64_t tt_visit_rounds(const tt_walk *walk, const tt_visit *at, const tt_tree *tree) {
  return at->ends.upto >= 0 ? tt_shape_rounds(tree) : walk->stage->level[at->level].rounds;
}

/* The edge between label v and its parent, as rank `me` at one of its ends sees it. */
static void tree_edge(tt_walk *walk, int64_t me, const tt_visit *at, const tt_tree *tree, int64_t home, int64_t v,
                      bool me_is_child) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  bool away = at->kind != TT_PAYLOAD_PARTIAL;
  int64_t round = tt_shape_round(tree, v), other = me_is_child ? tt_shape_parent(tree, v) : v;
  int64_t up = level->fold || level->striped ? walk->stage->time[at->level + 1] : 0;
  int64_t back = tt_visit_rounds(walk, at, tree) - 1 - round;
  int64_t time = away ? at->base + up + round : at->base + walk->stage->time[at->level + 1] + back;
  tt_edge *edge = new_edge(walk);
  if (!edge)
    return;
  *edge = (tt_edge){
      .time = (uint32_t)time,
      .peer = (int32_t)tt_visit_representative(walk, at, tt_shape_group(tree, other, home)),
      .level = (uint16_t)at->level,
      .branch = (uint16_t)branch_of(walk, at, tree, v),
      .sends = away != me_is_child,
      .published = may_publish(walk, at, tree),
      .payload = payload_of(walk, at, tree, home, v),
  };
  assert(time >= 0 && time <= UINT32_MAX && edge->peer != me); /* groups are disjoint */
  edge->tie = tie_of(walk, me, edge);
}

void tt_visit_edges(tt_walk *walk, int64_t me, const tt_visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  assert(v >= 0 && v < tree->f && tt_visit_has(walk, at, me));
  if (v != 0 && me != at->ends.except)
    tree_edge(walk, me, at, tree, home, v, true);
  if (!at->ends.every && at->ends.upto < 0 && at->ends.one >= 0) { /* one end: at most one child leads to it */
    int64_t end = tt_shape_label(tree, tt_visit_home(walk, at, at->ends.one), home);
    if (end != v)
      tree_edge(walk, me, at, tree, home, tt_shape_toward(tree, v, end), false);
    return;
  }
  for (int64_t child = -1; tt_shape_next_child(tree, v, &child);)
    if (tt_visit_needs(walk, at, tree, home, child) && !has_block(walk, at, tree, home, child))
      tree_edge(walk, me, at, tree, home, child, false);
}

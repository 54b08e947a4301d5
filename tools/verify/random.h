/* tools/verify/random.h - random graphs, and random compositions that mean something: multicasts and reductions over
 * any sets, in up to six stages, through in, out and mid. */
#ifndef TUTTI_TOOLS_VERIFY_RANDOM_H
#define TUTTI_TOOLS_VERIFY_RANDOM_H

#include "compose/compose.h"
#include "verify/verify.h"

#include <string.h>

static inline int64_t random_number(tt_random *random, int64_t limit) {
  return (int64_t)tt_random_below(random, (uint64_t)limit);
}

/* Any edges, a rank to itself and one edge twice included; now and then none. */
static inline tutti_status random_graph(tt_random *random, int64_t rank_count, tt_arena *arena, tt_graph *graph) {
  int64_t count = random_number(random, 3 * rank_count + 1);
  int32_t *from = tt_arena_alloc(arena, (size_t)count, sizeof *from);
  int32_t *to = tt_arena_alloc(arena, (size_t)count, sizeof *to);
  for (int64_t e = 0; e < count && !arena->failed; e++) {
    from[e] = (int32_t)random_number(random, rank_count);
    to[e] = (int32_t)random_number(random, rank_count);
  }
  *graph = (tt_graph){.rank_count = rank_count, .edge_count = count, .from = from, .to = to};
  return tt_compose_graph(graph, arena);
}

/* ---- compositions ---- */

/* Steps of -1, 0 or 1 over a loop, so that a good part of what is drawn is in its range. */
static inline tt_affine random_affine(tt_random *random, int64_t limit) {
  return (tt_affine){random_number(random, limit), random_number(random, 3) - 1, random_number(random, 3) - 1};
}

static inline tt_ends random_ends(tt_random *random, int64_t rank_count, tt_arena *arena) {
  static const tt_ends_kind kinds[] = {TT_ENDS_ALL, TT_ENDS_ONE, TT_ENDS_LIST, TT_ENDS_LIST, TT_ENDS_RANGE};
  tt_ends ends = {.kind = kinds[tt_random_below(random, TT_COUNT(kinds))], .one = random_affine(random, rank_count)};
  if (ends.kind != TT_ENDS_LIST)
    return ends;
  int64_t *list = tt_arena_alloc(arena, (size_t)rank_count, sizeof *list);
  uint64_t one_in = 1 + tt_random_below(random, 5);
  for (int64_t rank = 0; rank < rank_count && list; rank++)
    if (tt_random_below(random, one_in) == 0)
      list[ends.list_count++] = rank;
  ends.list = list;
  return ends;
}

/* The first stage takes in; later ones mostly what came before. */
static inline tt_buffer random_source(tt_random *random, const tt_composition *of) {
  bool first = of->stage_count == 1 || tt_random_below(random, 4) == 0;
  return first ? TT_IN : tt_random_below(random, 3) ? TT_MID : TT_OUT;
}

static inline tt_family random_family(tt_random *random, const tt_composition *of, bool ordered, tt_arena *arena) {
  tt_primitive primitive = (tt_primitive)tt_random_below(random, 2);
  return (tt_family){.primitive = primitive,
                     .count_i = 1 + random_number(random, of->rank_count),
                     .count_j = tt_random_below(random, 4) ? 1 : 1 + random_number(random, 3),
                     .root = random_affine(random, of->rank_count),
                     .block = random_affine(random, of->block_count),
                     .ends = random_ends(random, of->rank_count, arena),
                     .from = random_source(random, of),
                     .to = tt_random_below(random, 2) ? TT_OUT : TT_MID,
                     .ordered = ordered && primitive == TT_REDUCTION};
}

static inline bool means_something(const tt_composition *composition) {
  tt_arena arena;
  tt_meaning meaning;
  tt_arena_init(&arena);
  bool means = tt_verify_primitives(composition, &arena, &meaning) == TUTTI_OK;
  tt_arena_finish(&arena);
  return means;
}

static inline tt_stage *add_stage(tt_composition *composition) {
  static const char names[TT_STAGES + 1] = "abcdefgh";
  tt_stage *stage = &composition->stage[composition->stage_count];
  stage->name[0] = names[composition->stage_count++];
  return stage;
}

static inline tt_family family_of_list(tt_primitive primitive, int64_t root, const int64_t *list, int64_t count,
                                       tt_buffer from, tt_buffer to) {
  return (tt_family){.primitive = primitive,
                     .count_i = 1,
                     .count_j = 1,
                     .root = {root, 0, 0},
                     .ends = {.kind = TT_ENDS_LIST, .list = list, .list_count = count},
                     .from = from,
                     .to = to};
}

/* Two stages: ranks fall into groups, of which each is combined at one rank; what these have is combined. */
static inline void add_groups(tt_random *random, tt_composition *composition, bool ordered, tt_arena *arena) {
  int64_t ranks = composition->rank_count, groups = 2 + random_number(random, 3);
  int64_t *list = tt_arena_alloc(arena, (size_t)((groups + 1) * ranks), sizeof *list);
  int64_t *roots = list + groups * ranks, count[TT_STAGE_FAMILIES] = {0};
  for (int64_t rank = 0, group; rank < ranks; rank++) {
    group = random_number(random, groups);
    list[group * ranks + count[group]++] = rank;
  }
  tt_stage *first = add_stage(composition), *second = add_stage(composition);
  for (int64_t g = 0, root = 0; g < groups && root < ranks; g++, root++)
    if (count[g] > 0) {
      roots[first->family_count] = root += random_number(random, ranks - root) / (groups - g);
      first->family[first->family_count++] =
          family_of_list(TT_REDUCTION, root, list + g * ranks, count[g], TT_IN, TT_MID);
    }
  second->family_count = 1;
  second->family[0] =
      family_of_list(TT_REDUCTION, random_number(random, ranks), roots, first->family_count, TT_MID, TT_OUT);
  for (int n = 0; n < first->family_count; n++)
    first->family[n].ordered = ordered;
  second->family[0].ordered = ordered;
  if (!means_something(composition)) /* an ordered one whose groups of one rank are in the wrong order */
    first->family_count = second->family_count = 0;
}

/* One stage of multicasts of more blocks: what cells and streams share. */
static inline void random_moves(tt_random *random, int64_t rank_count, bool in_place, tt_arena *arena,
                                tt_composition *composition) {
  memset(composition, 0, sizeof *composition);
  composition->rank_count = rank_count;
  composition->block_count = 1 + random_number(random, 8);
  composition->in_place = in_place;
  composition->layout[TT_IN] = composition->layout[TT_OUT] = TT_LAYOUT_TOUCHED;
  tt_stage *stage = add_stage(composition);
  for (int tries = 0; tries < 60 && stage->family_count < TT_STAGE_FAMILIES; tries++) {
    tt_family *family = &stage->family[stage->family_count++];
    *family = random_family(random, composition, false, arena);
    family->primitive = TT_MULTICAST;
    if (!means_something(composition))
      stage->family_count--;
  }
}

/* Draws families for one more stage and keeps those with which the composition still means something. */
static inline void random_stage(tt_random *random, tt_composition *composition, bool ordered, tt_arena *arena) {
  tt_stage *stage = add_stage(composition);
  for (int tries = 0; tries < 60 && stage->family_count < TT_STAGE_FAMILIES; tries++) {
    stage->family[stage->family_count++] = random_family(random, composition, ordered, arena);
    if (!means_something(composition))
      stage->family_count--;
    else if (tt_random_below(random, 3) == 0)
      break;
  }
}

static inline void random_composition(tt_random *random, int64_t rank_count, bool in_place, bool ordered,
                                      tt_arena *arena, tt_composition *composition) {
  memset(composition, 0, sizeof *composition);
  composition->rank_count = rank_count;
  composition->block_count = 1 + random_number(random, 4);
  composition->in_place = in_place;
  if (tt_random_below(random, 2))
    composition->layout[TT_IN] = composition->layout[TT_OUT] = TT_LAYOUT_TOUCHED;
  if (rank_count > 2 && tt_random_below(random, 4) == 0)
    add_groups(random, composition, ordered, arena);
  for (int64_t stages = 1 + random_number(random, 4); stages > 0; stages--)
    random_stage(random, composition, ordered, arena);
}

#endif

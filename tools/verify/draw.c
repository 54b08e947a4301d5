/* tools/verify/draw.c - random cases: each can be repeated alone, from its seed. */
#include "cases.h"

#include "tune/tune.h"

#include <string.h>

#define SLOT_BYTES 65536

static void draw_groups(tt_case *one, tt_random *random) {
  one->level_count = (int)tt_random_below(random, 3);
  uint64_t nodes = 1 + tt_random_below(random, (uint64_t)one->problem.rank_count);
  bool interleaved = tt_random_below(random, 2);
  for (int64_t r = 0, node = 0; r < one->problem.rank_count; r++) {
    node = interleaved ? (int64_t)tt_random_below(random, nodes) : node + (tt_random_below(random, 3) == 0);
    one->group_of[0][r] = node;
    one->group_of[1][r] = node * 4 + (int64_t)tt_random_below(random, 3); /* inside the node */
  }
}

static void draw_collective(tt_case *one, tt_random *random) {
  tt_problem *problem = &one->problem;
  problem->collective = (tt_collective)tt_random_below(random, TT_COLLECTIVE_COUNT);
  tt_collective_info info = tt_compose_info(problem->collective);
  problem->root = info.has_root ? (int64_t)tt_random_below(random, (uint64_t)problem->rank_count) : 0;
  if (info.has_graph || info.in == TT_LAYOUT_ROW)
    problem->in_place = false;
  if (!info.reduces)
    problem->ordered = false;
}

static void draw_params(tt_case *one, tt_random *random) {
  static const char *const names[] = {"node", "socket"};
  bool named = one->kind == TT_CASE_RANDOM;
  const tt_drawing drawing = {.collective = named ? one->problem.collective : TT_COLLECTIVE_COUNT,
                              .level = names,
                              .level_count = one->level_count,
                              .slot_bytes = SLOT_BYTES};
  tt_params_draw(&drawing, random, &one->params);
  one->form = named ? tt_compose_form(one->problem.collective, one->params.form) : "";
  one->params.form[0] = '\0';
  one->params.reproducible = tt_random_below(random, 8) == 0;
}

void tt_case_draw(tt_case *one, tt_case_kind kind, uint64_t seed) {
  memset(one, 0, sizeof *one);
  tt_random random;
  tt_random_init(&random, seed);
  one->kind = kind;
  one->seed = seed;
  one->form = "";
  one->problem.rank_count = 1 + (int64_t)tt_random_below(&random, 24);
  one->problem.in_place = tt_random_below(&random, 2);
  one->problem.ordered = tt_random_below(&random, 2);
  if (kind == TT_CASE_RANDOM)
    draw_collective(one, &random);
  draw_groups(one, &random);
  draw_params(one, &random);
  one->random = random;
}

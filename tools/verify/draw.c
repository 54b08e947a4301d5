/* tools/verify/draw.c - random cases: each can be repeated alone, from its seed. */
#include "cases.h"

#include <string.h>

static void draw_level(tt_level_params *level, const char *name, tt_random *random) {
  memset(level, 0, sizeof *level);
  strcpy(level->name, name);
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  level->shape = shapes[tt_random_below(random, count)];
  const tt_shape_info *info = tt_shape_about(level->shape);
  level->k = (info->k_most ? info->k_least : 2) + (int)tt_random_below(random, 4);
  do
    level->labelling = (tt_labelling)tt_random_below(random, TT_LABELLING_COUNT);
  while (!(info->labellings >> level->labelling & 1));
  level->order = (tt_order)tt_random_below(random, TT_ORDER_COUNT);
}

static void draw_stage(tt_case *one, const char *name, tt_random *random) {
  static const char *const names[] = {"node", "socket"}, *const sizes[] = {"4", "3", "2"};
  tt_stage_params *stage = &one->params.stage[one->params.stage_count++];
  memset(stage, 0, sizeof *stage);
  strcpy(stage->stage, name);
  for (int n = 0; n < one->level_count; n++)
    if (tt_random_below(random, 4))
      draw_level(&stage->level[stage->level_count++], names[n], random);
  for (size_t n = 0; n < TT_COUNT(sizes); n++)
    if (tt_random_below(random, 6) == 0)
      draw_level(&stage->level[stage->level_count++], sizes[n], random);
  draw_level(&stage->level[stage->level_count++], "core", random);
}

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
  one->form = info.form[tt_random_below(random, (uint64_t)info.form_count)];
  problem->root = info.has_root ? (int64_t)tt_random_below(random, (uint64_t)problem->rank_count) : 0;
  if (info.has_graph || info.in == TT_LAYOUT_ROW)
    problem->in_place = false;
  if (!info.reduces)
    problem->ordered = false;
}

static void draw_params(tt_case *one, tt_random *random) {
  tt_params_init(&one->params);
  draw_stage(one, "", random);
  if (strchr(one->form, '.') && tt_random_below(random, 2)) { /* the last stage, by its name, has its own */
    char name[TT_STAGE_NAME] = "";
    strncat(name, one->form, strcspn(one->form, "."));
    draw_stage(one, name, random);
  }
  one->params.stripe = (int64_t)tt_random_below(random, 5) + TT_STRIPE_ALL;
  one->params.even = one->params.stripe == 0 && tt_random_below(random, 2);
  one->params.channels = 1 + (int64_t)tt_random_below(random, 3);
  one->params.ring = tt_random_below(random, 3) ? 0 : 1;
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

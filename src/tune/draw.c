/* tune/draw.c - parameters at random, of all that can be written: each shape with each k, labelling and order at each
 * level, also what space.c leaves out because it seldom pays. Of the same tables as the space; no copy of the lists. */
#include "tune/tune.h"

#include <string.h>

#define SLICE_UNIT 64

static uint64_t below(tt_random *random, uint64_t limit) { return tt_random_below(random, limit); }

static void draw_level(tt_random *random, const char *name, tt_stage_params *stage) {
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  tt_level_params *level = &stage->level[stage->level_count++];
  memset(level, 0, sizeof *level);
  strcpy(level->name, name);
  level->shape = shapes[below(random, count)];
  const tt_shape_info *info = tt_shape_about(level->shape);
  level->k = info->k_most ? info->k_least + (int)below(random, 4) : 2;
  do
    level->labelling = (tt_labelling)below(random, TT_LABELLING_COUNT);
  while (!(info->labellings >> level->labelling & 1));
  level->order = (tt_order)below(random, info->has_order ? TT_ORDER_COUNT : 1);
}

/* Levels of the machine, and groups of a size before, between and behind them. */
static void draw_stage(const tt_drawing *of, tt_random *random, const char *name, tt_params *params) {
  static const char *const sizes[] = {"4", "3", "2"};
  tt_stage_params *stage = &params->stage[params->stage_count++];
  memset(stage, 0, sizeof *stage);
  strcpy(stage->stage, name);
  size_t size = 0;
  for (int n = 0; n <= of->level_count; n++) {
    for (; size < TT_COUNT(sizes) && (n == of->level_count || below(random, 2)); size++)
      if (below(random, 6) == 0)
        draw_level(random, sizes[size], stage);
    if (n < of->level_count && below(random, 4))
      draw_level(random, of->level[n], stage);
  }
  draw_level(random, "core", stage);
}

/* The last stage, by its name, may have trees of its own. */
static void draw_form(const tt_drawing *of, tt_random *random, tt_params *params) {
  draw_stage(of, random, "", params);
  if (of->collective == TT_COLLECTIVE_COUNT)
    return;
  tt_collective_info info = tt_compose_info(of->collective);
  const char *form = info.form[below(random, (uint64_t)info.form_count)];
  strcpy(params->form, form);
  if (strchr(form, '.') && below(random, 2)) {
    char name[TT_STAGE_NAME] = "";
    strncat(name, form, strcspn(form, "."));
    draw_stage(of, random, name, params);
  }
}

void tt_params_draw(const tt_drawing *of, tt_random *random, tt_params *params) {
  tt_params_init(params);
  draw_form(of, random, params);
  params->stripe = (int64_t)below(random, 5) + TT_STRIPE_ALL;
  params->even = params->stripe == 0 && below(random, 2);
  params->ring = below(random, 3) ? 0 : (int64_t)1 << below(random, 3);
  params->channels = 1 + (int64_t)below(random, 4);
  params->single_copy = below(random, 4) == 0;
  if (below(random, 2))
    params->slice_bytes = SLICE_UNIT * (1 + (int64_t)below(random, (uint64_t)(of->slot_bytes / SLICE_UNIT)));
}

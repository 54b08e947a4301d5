/* tools/plan/picture.c - the files that `tutti plan` writes: the picture and the dependency graph. */
#include "picture.h"
#include "text.h"

#include "draw/draw.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT 160

/* Adds a stage's way of using a level: "core: chain", or "core: chain (scatter), star (allgather)". */
static void add_use(char *text, const char *stage, const tt_level_params *level, bool one_way) {
  char shape[64];
  size_t used = strlen(text);
  plan_level_text(level, shape, sizeof shape);
  bool first = strchr(text, ':') == NULL;
  snprintf(text + used, TEXT - used, one_way ? "%s%s" : "%s%s (%s)", first ? ": " : "; ", shape, stage);
}

static bool same_use(const tt_level_params *a, const tt_level_params *b) {
  char x[64], y[64];
  plan_level_text(a, x, sizeof x);
  plan_level_text(b, y, sizeof y);
  return strcmp(x, y) == 0;
}

/* The legend of plan level `number`. */
static void describe_level(const plan_work *work, int number, char *text) {
  tt_level_info use[TT_STAGES];
  const char *stage[TT_STAGES];
  int count = 0;
  bool one_way = true;
  for (int s = 0; s < work->composition.stage_count; s++)
    for (int n = 0; n < tt_lowering_level_count(work->lowering, s); n++) {
      tt_level_info level = tt_lowering_level(work->lowering, s, n);
      if (level.plan_level != number)
        continue;
      use[count] = level;
      stage[count] = work->composition.stage[s].name;
      one_way = one_way && same_use(&use[0].params, &use[count].params);
      count++;
    }
  snprintf(text, TEXT, "%s", work->plan[0]->level[number]);
  for (int n = 0; n < (one_way ? 1 : count); n++)
    add_use(text, stage[n], &use[n].params, one_way);
}

static bool is_ordered(const tt_composition *composition) {
  for (int s = 0; s < composition->stage_count; s++)
    for (int n = 0; n < composition->stage[s].family_count; n++)
      if (tt_ir_family(&composition->stage[s], n)->ordered)
        return true;
  return false;
}

/* A picture, and the texts in it. */
typedef struct drawing {
  char title[TEXT], params[512], levels[TT_PLAN_LEVELS][TEXT];
  tt_draw_stage stages[TT_STAGES];
  tt_draw_picture picture;
} drawing;

static void describe(const plan_work *work, drawing *to) {
  plan_title(work, to->title, sizeof to->title);
  tt_params_print(&work->params, to->params, sizeof to->params);
  to->picture = (tt_draw_picture){.plan = (const tt_plan *const *)work->plan,
                                  .topo = work->topo,
                                  .unit_blocks = plan_unit_blocks(work),
                                  .unit_text = plan_unit_text(work),
                                  .ordered = is_ordered(&work->composition),
                                  .title = to->title,
                                  .subtitle = to->params,
                                  .stage = to->stages,
                                  .stage_count = work->composition.stage_count};
  for (int n = 0; n < (int)work->plan[0]->level_count; n++) {
    describe_level(work, n, to->levels[n]);
    to->picture.level_text[n] = to->levels[n];
  }
  for (int s = 0; s < to->picture.stage_count; s++)
    to->stages[s] = (tt_draw_stage){work->composition.stage[s].name, tt_lowering_round(work->lowering, s)};
}

static tutti_status draw(const plan_work *work, tutti_status (*how)(const tt_draw_picture *, FILE *), FILE *out) {
  drawing made;
  if (!plan_work_is_whole(work) && work->composition.rank_count <= TT_DRAW_RANKS)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "too many steps to draw");
  if (!plan_work_is_whole(work))
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "a picture of %" PRId64 " ranks is too large to draw; the limit is %d",
                   work->composition.rank_count, TT_DRAW_RANKS);
  describe(work, &made);
  return how(&made.picture, out);
}

tutti_status plan_picture_svg(const plan_work *work, FILE *out) { return draw(work, tt_draw_svg, out); }

static tutti_status write_svg(void *work, FILE *out) { return draw(work, tt_draw_svg, out); }
static tutti_status write_dot(void *work, FILE *out) { return draw(work, tt_draw_dot, out); }

tutti_status plan_picture_write(plan_work *work) {
  const plan_options *options = work->options;
  tutti_status status = options->picture.svg ? tool_write_file(options->picture.svg, write_svg, work) : TUTTI_OK;
  return status == TUTTI_OK && options->picture.dot ? tool_write_file(options->picture.dot, write_dot, work) : status;
}

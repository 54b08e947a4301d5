/* draw/draw.h - pictures of all ranks' plans: SVG for people, DOT for graph tools.
 *
 * The picture shows what happens without saying how long it takes: rounds across, ranks down, an arrow for each
 * message. */
#ifndef TT_DRAW_DRAW_H
#define TT_DRAW_DRAW_H

#include "plan/plan.h"
#include "topo/topo.h"

#include <stdio.h>

#define TT_DRAW_RANKS 64 /* more make no picture that a person can read */

/* A stage: what stands above the rounds from `first_time` to the next one's. */
typedef struct tt_draw_stage {
  const char *name;
  uint32_t first_time;
} tt_draw_stage;

typedef struct tt_draw_picture {
  const tt_plan *const *plan;             /* plan[r] is rank r's */
  const tt_topo *topo;                    /* rows stand together by its outermost level; NULL: one group */
  int64_t unit_blocks;                    /* what n is: so many blocks of a plan; 0: all of them */
  const char *unit_text;                  /* the same in words; NULL: the whole vector */
  bool ordered;                           /* show which operand of a combination has come */
  const char *title, *subtitle;           /* lines above the picture */
  const char *level_text[TT_PLAN_LEVELS]; /* legend of each level; NULL: its name */
  const tt_draw_stage *stage;
  int stage_count;
} tt_draw_picture;

/* TUTTI_ERR_UNSUPPORTED where there are more than TT_DRAW_RANKS ranks. Errors of `out` are the caller's to look at. */
tutti_status tt_draw_svg(const tt_draw_picture *picture, FILE *out);
/* Every rank's steps as nodes; lane order, waits and streams as edges. */
tutti_status tt_draw_dot(const tt_draw_picture *picture, FILE *out);

/* Any text as text of an SVG element: what has a meaning there is escaped, control characters are left out. */
void tt_draw_svg_text(FILE *out, const char *text);

#endif

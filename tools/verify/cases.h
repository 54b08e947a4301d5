/* tools/verify/cases.h - what `tutti verify` proves: a case is a collective or a random composition, its form,
 * parameters, ranks and their groups.
 *
 *     verify_grid.c   cases on a grid: every value of every axis with every other
 *     verify_draw.c   random cases
 *     verify_prove.c  case -> plans of all ranks -> proof */
#ifndef TUTTI_TOOLS_VERIFY_CASES_H
#define TUTTI_TOOLS_VERIFY_CASES_H

#include "compose/compose.h"
#include "lower/lower.h"

#define TT_CASE_RANKS 64
#define TT_CASE_TEXT 1024

/* How operands are combined. */
typedef enum tt_case_order { TT_ORDER_ANY, TT_ORDER_RANKS, TT_ORDER_REPRODUCIBLE, TT_ORDER_KINDS } tt_case_order;

typedef enum tt_axis {
  TT_AXIS_IN_PLACE,
  TT_AXIS_ORDER,
  TT_AXIS_CHANNELS,
  TT_AXIS_STRIPE,
  TT_AXIS_MAP,
  TT_AXIS_ROOT, /* where the collective has one; of neighbor collectives: the graph */
  TT_AXIS_PRESET,
  TT_AXIS_RANKS,
  TT_AXES
} tt_axis;

typedef enum tt_case_kind { TT_CASE_GRID, TT_CASE_RANDOM, TT_CASE_COMPOSITION } tt_case_kind;

typedef struct tt_case {
  tt_case_kind kind;
  tt_problem problem; /* its graph is made when the case is proven */
  const char *form;
  int at[TT_AXES]; /* grid: the coordinates */
  int64_t max_ranks;
  uint64_t seed;    /* other kinds */
  tt_random random; /* of the graph or the composition */
  tt_params params;
  int level_count; /* besides "core" */
  int64_t group_of[2][TT_CASE_RANKS];
} tt_case;

/* Walks over the grid of one collective and form. */
bool tt_case_first(tt_case *one, tt_collective collective, const char *form, int64_t max_ranks);
bool tt_case_next(tt_case *one);
void tt_case_print_axes(int64_t max_ranks);
tutti_status tt_case_graph(const tt_case *one, tt_arena *arena, tt_graph *graph); /* of a neighbor collective */
const char *tt_case_map_name(const tt_case *one);

/* Any collective and form, or any composition; any topology of up to three levels, and parameters. */
void tt_case_draw(tt_case *one, tt_case_kind kind, uint64_t seed);

/* TT_OPEN: no memory; it is not counted, as nothing is known then. */
typedef enum tt_verdict { TT_PROVEN, TT_SAME_PLAN, TT_INVALID, TT_FAILED, TT_VERDICTS, TT_OPEN } tt_verdict;

typedef struct tt_outcome {
  tt_verdict verdict;
  char text[512]; /* why it is invalid, or how the proof failed */
} tt_outcome;

tt_outcome tt_case_prove(const tt_case *one);
void tt_case_print(const tt_case *one, char text[static TT_CASE_TEXT]);
void tt_case_print_composition(const tt_case *one); /* where it is a random one */

#endif

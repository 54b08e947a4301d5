/* tools/verify_cases.h - what `tutti verify` proves: one case is a collective, its form, parameters, ranks and their
 * groups. */
#ifndef TT_TOOLS_VERIFY_CASES_H
#define TT_TOOLS_VERIFY_CASES_H

#include "compose/compose.h"
#include "lower/lower.h"

#define TT_CASE_RANKS 64
#define TT_CASE_TEXT 1024

typedef struct tt_case {
  tt_collective collective;
  const char *form;
  int64_t rank_count, root, max_ranks;
  bool in_place, random;
  /* the grid's coordinates */
  int preset, ranks_at, root_at, map_at, stripe_at, channels_at;
  /* random cases: their own */
  tt_params params;
  int level_count; /* besides "core" */
  int64_t group_of[2][TT_CASE_RANKS];
} tt_case;

typedef enum tt_case_kind { TT_CASE_PROVEN, TT_CASE_SAME, TT_CASE_INVALID, TT_CASE_FAILED } tt_case_kind;

typedef struct tt_outcome {
  tt_case_kind kind;
  char text[512]; /* why it is invalid, or how the proof failed */
} tt_outcome;

/* Walks over the grid of one collective and form. */
bool tt_case_first(tt_case *one, tt_collective collective, const char *form, int64_t max_ranks);
bool tt_case_next(tt_case *one);
/* Any collective, form, topology of up to three levels, and parameters. */
void tt_case_random(tt_case *one, tt_random *random);
tt_outcome tt_case_prove(const tt_case *one);
void tt_case_print(const tt_case *one, char text[static TT_CASE_TEXT]);

#endif

/* tools/tune/cell.h - one task: which of its candidates is fastest. */
#ifndef TUTTI_TOOLS_TUNE_CELL_H
#define TUTTI_TOOLS_TUNE_CELL_H

#include "ranks.h"

#include "tune/tune.h"

#define TUNE_SURE 2
#define TUNE_FAR 3.0 /* times the best prediction: what is not tried. The model is never that wrong */

/* How many times the reference's time a candidate took; where a longer vector is measured, the first guess. */
typedef struct tune_guess {
  const char *params;
  double ratio;
} tune_guess;

typedef struct tune_guesses {
  tune_guess *guess;
  int64_t count;
  tt_arena arena;
} tune_guesses;

typedef struct tune_sample {
  const char *params;
  double time_ns; /* the median, */
  int64_t rounds; /* of so many */
} tune_sample;

typedef struct tune_result {
  char params[TUNE_TEXT]; /* of the winner */
  char rules[TUNE_TEXT];  /* what the profile chooses */
  double time_ns, rules_ns;
  int64_t candidates;  /* that the space has */
  int64_t left_out;    /* not to be tried: the model says that they are far from the best */
  int64_t tried;       /* at least once */
  double others;       /* processors that other programs used meanwhile */
  bool disturbed;      /* by them: nothing is known */
  tune_sample *sample; /* the fastest that were tried: of most rounds first, of as many rounds the fastest first */
  int64_t sample_count;
  tt_arena arena;
} tune_result;

/* tune_result_finish is called after each of these in any case. */
void tune_result_finish(tune_result *result);
/* Measures for about so long. guesses: of the last size of the same collective and ranks, or empty; replaced by those
 * of this one. */
tutti_status tune_cell_run(tune_ranks *all, const tt_task *task, const tt_sim_rates *rates, int64_t budget_ns,
                           tune_guesses *guesses, tune_result *result);
/* Only these candidates; the first two of them are tried in any case. */
tutti_status tune_cell_race(tune_ranks *all, const tt_task *task, int64_t budget_ns, const char *const *params,
                            int64_t count, tune_result *result);

#endif

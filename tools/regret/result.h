/* tools/regret/result.h - what was measured of one task: a line of JSON, from which everything else follows. */
#ifndef TUTTI_TOOLS_REGRET_RESULT_H
#define TUTTI_TOOLS_REGRET_RESULT_H

#include "bench/stats.h"
#include "tools/tune/ranks.h"

#include "tune/tune.h"

#include <stdio.h>

enum {
  REGRET_ROUNDS = 20,
  REGRET_COPIES = 5,
  REGRET_BEST = 12, /* that run in all rounds, with the choices */
  REGRET_CHOOSERS = 10,
  REGRET_FINALISTS = REGRET_BEST + REGRET_CHOOSERS,
  REGRET_NAME = 32
};

/* What a chooser says. */
typedef struct regret_choice {
  char name[REGRET_NAME];
  char params[TUNE_TEXT];
  bool insists; /* where they make no plan, a call is an error */
  int finalist; /* that runs alike */
} regret_choice;

typedef struct regret_finalist {
  char params[TUNE_TEXT];
  double round_ns[REGRET_ROUNDS]; /* of a call, in each */
} regret_finalist;

typedef struct regret_result {
  char machine[TT_MACHINE_TEXT]; /* of rank 0 */
  tt_region region;
  int64_t candidates; /* all different */
  int64_t dropped;    /* of them, after the first round */
  regret_choice choice[REGRET_CHOOSERS];
  int choice_count;
  regret_finalist finalist[REGRET_FINALISTS];
  int finalist_count;
  double copy_ns[REGRET_COPIES][REGRET_ROUNDS]; /* of the first choice, under another name */
} regret_result;

/* What follows from it. */
typedef struct regret_verdict {
  int best; /* finalist */
  double best_ns;
  bench_interval ratio[REGRET_CHOOSERS]; /* of each choice to the best */
  double floor;                          /* of the first choice to the best of its copies */
} regret_verdict;

regret_verdict regret_judge(const regret_result *result);

/* The next line, of the heap; NULL: there is none. number: of the line, for the error. */
tutti_status regret_result_read(FILE *file, const char *path, int64_t number, regret_result **result);
/* Adds a line at the end. */
tutti_status regret_result_write(FILE *file, const char *path, const regret_result *result);

#endif

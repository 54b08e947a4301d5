/* tools/tune/rates.c - see rates.h. */
#include "rates.h"
#include "check.h"
#include "task.h"

#include "call/call.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the file ---- */

void tune_rates_path(const char *wisdom, char path[static TUNE_RATES_PATH]) {
  tt_wisdom_beside(wisdom, "machine.json", path);
}

tutti_status tune_rates_read(const char *wisdom, const char *machine, tt_fits **fits) {
  char path[TUNE_RATES_PATH];
  tune_rates_path(wisdom, path);
  *fits = NULL;
  tutti_status status = access(path, F_OK) == 0 ? tt_fits_read(path, fits) : TUTTI_OK;
  if (status == TUTTI_OK && *fits && strcmp((*fits)->machine, machine) != 0) {
    tt_fits_destroy(*fits); /* another machine's */
    *fits = NULL;
  }
  return status;
}

static tutti_status keep(const char *wisdom, const char *machine, const tt_fit *fit) {
  char path[TUNE_RATES_PATH], about[200], day[32];
  time_t now = time(NULL);
  strftime(day, sizeof day, "%Y-%m-%d", localtime(&now));
  snprintf(about, sizeof about, "tutti " TUTTI_VERSION ", %s", day);
  tune_rates_path(wisdom, path);
  printf("\nrates of machine %s go to %s\n", machine, path);
  return tt_fits_write(path, machine, about, fit);
}

/* ---- how well they predict ---- */

typedef struct checking {
  tune_ranks *all;
  const tune_options *options;
  int64_t budget_ns; /* of a cell */
  tune_score score;
} checking;

static void print_head(void) {
  printf("\n  %-15s %5s %6s %10s %11s %11s %11s\n", "collective", "ranks", "bytes", "candidates", "error",
         "ranks' corr.", "first/best");
}

static tutti_status check_sizes(checking *of, tt_collective collective, const tt_sim_rates *rates) {
  const tutti_comm *comm = of->all->words;
  tutti_status status = TUTTI_OK;
  for (int s = 0; s < of->options->size_count && status == TUTTI_OK; s++) {
    tt_task task = tune_task_on(comm, collective, tune_task_bytes(comm, collective, of->options->size[s]));
    status = tune_check_cell(of->all, rates, &task, of->budget_ns, of->options->again, &of->score);
  }
  return status;
}

/* From where on times are predicted, and not only which plans are faster: between machines where the links take most of
 * it, nowhere where ranks share cores. */
static int64_t predicted_from(const tutti_comm *comm, const tt_sim_rates *rates) {
  return rates->cores > 0 ? INT64_MAX : comm->apart ? 256 << 10 : 16 << 10;
}

/* Each collective is checked with rates that were measured just before. */
static tutti_status check(tune_ranks *all, const tune_options *options, tune_fit *fit) {
  checking of = {.all = all,
                 .options = options,
                 .budget_ns = options->budget_ns / (options->collective_count * options->size_count),
                 .score = {.from_bytes = predicted_from(all->words, &fit->fit.rates)}};
  tutti_status status = TUTTI_OK;
  print_head();
  for (int c = 0; c < options->collective_count && status == TUTTI_OK; c++) {
    status = c > 0 ? tune_lead_fit(all, true, fit) : TUTTI_OK;
    if (status == TUTTI_OK && options->collective[c] != TT_BARRIER)
      status = check_sizes(&of, options->collective[c], &fit->fit.rates);
  }
  tune_score_print(&of.score);
  tune_score_finish(&of.score);
  return status;
}

/* ---- all ---- */

tutti_status tune_rates_run(tune_ranks *all, const tune_options *options, const char *wisdom, const char *machine) {
  static tune_fit fit;
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < options->rank_kinds && status == TUTTI_OK; n++) {
    status = tune_lead_group(all, options->ranks[n]);
    if (status == TUTTI_OK)
      status = tt_comm_place(all->words);
    if (status == TUTTI_OK)
      status = tune_lead_fit(all, true, &fit);
    if (status == TUTTI_OK)
      tune_fit_print(&fit);
    if (status == TUTTI_OK)
      status = keep(wisdom, machine, &fit.fit);
    if (status == TUTTI_OK && options->check)
      status = check(all, options, &fit);
    if (status == TUTTI_OK)
      status = tune_lead_leave(all);
  }
  return status;
}

/* tools/plan/ranking.c - `tutti plan --params all`: every preset with its modelled time, the cheapest first.
 *
 * The time comes from sim, for each of a few sizes; rounds, messages and bytes beside it are its reasons. Presets are
 * ordered by how many times the best time they take, in the geometric mean over the sizes. */
#include "ranking.h"
#include "text.h"
#include "work.h"

#include "tools/shared/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- rows ---- */

static tutti_status fill(plan_ranking *all, const plan_work *work, plan_row *to) {
  tt_plan_counts most = plan_busiest(work);
  tutti_status status = TUTTI_OK;
  to->rounds = work->plan[0]->time_count;
  to->messages = most.messages;
  plan_unit_format(work, most.blocks, to->bytes);
  for (int n = 0; n < all->size_count && status == TUTTI_OK; n++) {
    status = plan_work_cost(work, all->size[n], &to->time_ns[n]);
    if (status == TUTTI_ERR_UNSUPPORTED) {
      to->time_ns[n] = -1;
      all->gaps = true;
      status = TUTTI_OK;
    }
  }
  all->unit = plan_unit_text(work);
  plan_title(work, all->title, sizeof all->title);
  tt_sim_model_print(&work->model, all->model, sizeof all->model);
  return status;
}

static tutti_status make_row(plan_ranking *all, const tt_preset *preset, plan_row *to) {
  plan_work work;
  *to = (plan_row){.preset = preset};
  tutti_status status = plan_work_open(all->options, preset->text, &work);
  if (status == TUTTI_OK)
    status = plan_work_lower(&work, PLAN_SIMULATED);
  if (status == TUTTI_OK) {
    status = fill(all, &work, to);
  } else if (status == TUTTI_ERR_PLAN) {
    snprintf(to->reason, sizeof to->reason, "%s", tutti_last_error());
    status = TUTTI_OK;
  }
  plan_work_close(&work);
  return status;
}

/* ---- order ---- */

double plan_ranking_best(const plan_ranking *all, int size) {
  double best = INFINITY;
  for (size_t n = 0; n < all->count; n++)
    if (!all->row[n].reason[0] && all->row[n].time_ns[size] >= 0)
      best = fmin(best, all->row[n].time_ns[size]);
  return best;
}

/* Rows without a time come after those with one, presets without a plan last. */
static void judge(plan_ranking *all) {
  for (size_t n = 0; n < all->count; n++) {
    plan_row *at = &all->row[n];
    for (int s = 0; s < all->size_count; s++)
      at->score += at->reason[0]        ? 2e9
                   : at->time_ns[s] < 0 ? 1e9
                                        : log((at->time_ns[s] + 1e-3) / (plan_ranking_best(all, s) + 1e-3));
  }
}

static int by_score(const void *a, const void *b) {
  const plan_row *x = a, *y = b;
  if (x->score != y->score)
    return x->score < y->score ? -1 : 1;
  return x->preset < y->preset ? -1 : x->preset > y->preset; /* the table's order */
}

tutti_status plan_ranking_make(const plan_options *options, plan_ranking *all) {
  *all = (plan_ranking){.options = options};
  all->size_count = plan_sizes(options, &all->size);
  const tt_preset *preset = tt_preset_table(&all->count);
  all->row = calloc(all->count, sizeof *all->row);
  tutti_status status = all->row ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for a table");
  for (size_t n = 0; n < all->count && status == TUTTI_OK; n++)
    status = make_row(all, &preset[n], &all->row[n]);
  if (status != TUTTI_OK)
    return status;
  judge(all);
  qsort(all->row, all->count, sizeof *all->row, by_score);
  return TUTTI_OK;
}

void plan_ranking_finish(plan_ranking *all) { free(all->row); }

/* ---- text ---- */

static void print_head(const plan_ranking *all) {
  printf("%s\nmodel: %s\n\n  %-22s %6s %8s %10s ", all->title, all->model, "preset", "rounds", "messages", "bytes");
  for (int n = 0; n < all->size_count; n++) {
    char size[16];
    tt_format_bytes(all->size[n], size);
    printf("%11s ", all->options->problem.collective == TT_BARRIER ? "time" : size);
  }
  puts(" parameters");
}

static void print_row(const plan_ranking *all, const plan_row *at) {
  printf("  %-22s %6u %8" PRId64 " %8s n ", at->preset->name, at->rounds, at->messages, at->bytes);
  for (int n = 0; n < all->size_count; n++) {
    char time[32] = "-";
    if (at->time_ns[n] >= 0)
      tool_format_time(at->time_ns[n], time);
    printf("%11s%s", time, at->time_ns[n] >= 0 && at->time_ns[n] <= plan_ranking_best(all, n) ? "*" : " ");
  }
  printf(" %s\n", at->preset->text);
}

static void print_remarks(const plan_ranking *all) {
  printf("\n  n: %s. messages, bytes: the most that a rank sends or receives\n", all->unit);
  puts("  *: the fastest. Rows are ordered by time / fastest time (geometric mean over the sizes)");
  if (all->gaps)
    puts("  -: too many steps to simulate, and no few ranks that stand for all");
}

static void print_table(const plan_ranking *all) {
  bool any = !all->row[0].reason[0];
  if (any)
    print_head(all);
  for (size_t n = 0; n < all->count && !all->row[n].reason[0]; n++)
    print_row(all, &all->row[n]);
  if (any)
    print_remarks(all);
  if (all->row[all->count - 1].reason[0])
    puts("\nno plan:");
  for (size_t n = 0; n < all->count; n++)
    if (all->row[n].reason[0])
      printf("  %-22s %s\n", all->row[n].preset->name, all->row[n].reason);
}

tutti_status plan_ranking_print(const plan_options *options) {
  plan_ranking all;
  tutti_status status = plan_ranking_make(options, &all);
  if (status == TUTTI_OK)
    print_table(&all);
  plan_ranking_finish(&all);
  return status;
}

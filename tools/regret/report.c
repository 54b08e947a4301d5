/* tools/regret/report.c - see report.h. */
#include "report.h"

#include "tools/shared/shared.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FLAGGED 1.05 /* the interval lies wholly above it */

void regret_format_region(const tt_region *region, char text[static 96]) {
  char bytes[16];
  tt_format_bytes(region->bytes, bytes);
  snprintf(text, 96, "%s, %" PRId64 " ranks, %s", tt_compose_info(region->collective).name, region->rank_count, bytes);
}

static bool is_flagged(const bench_interval *ratio) { return ratio->low > FLAGGED; }

void regret_print_head(const regret_chooser *chooser, int count) {
  puts("Times of a call with what each chooses / with the best plan of the space; * its 95 % interval lies above "
       "1.05\n");
  printf("  %-15s %5s %6s %6s %7s %11s %6s", "collective", "ranks", "bytes", "plans", "dropped", "best", "floor");
  for (int n = 0; n < count; n++)
    printf(" %9.9s", chooser[n].name);
  puts("   the best");
}

static void print_region(const tt_region *region) {
  char bytes[16];
  tt_format_bytes(region->bytes, bytes);
  printf("  %-15s %5" PRId64 " %6s", tt_compose_info(region->collective).name, region->rank_count, bytes);
}

void regret_print_row(const regret_result *result) {
  regret_verdict verdict = regret_judge(result);
  char time[32];
  tool_format_time(verdict.best_ns, time);
  print_region(&result->region);
  printf(" %6" PRId64 " %7" PRId64 " %11s %6.3f", result->candidates, result->dropped, time, verdict.floor);
  for (int n = 0; n < result->choice_count; n++)
    printf(" %8.3f%c", verdict.ratio[n].middle, is_flagged(&verdict.ratio[n]) ? '*' : ' ');
  printf("  %s\n", result->finalist[verdict.best].params);
  fflush(stdout);
}

void regret_print_disturbed(const tt_region *region, double others) {
  print_region(region);
  printf("  not kept: others use %.1f processors\n", others);
  fflush(stdout);
}

/* ---- all tasks ---- */

typedef struct sum {
  int64_t tasks, flagged;
  double logs;
  bench_interval worst;
  const regret_result *where;
} sum;

static void add(sum *of, const regret_result *result, const bench_interval *ratio) {
  of->tasks++;
  of->flagged += is_flagged(ratio);
  of->logs += log(ratio->middle);
  if (!of->where || ratio->middle > of->worst.middle) {
    of->worst = *ratio;
    of->where = result;
  }
}

static void print_sum(const char *name, const sum *of) {
  char where[96];
  regret_format_region(&of->where->region, where);
  printf("  %-31s %5" PRId64 " %6.3f", name, of->tasks, exp(of->logs / (double)of->tasks));
  if (of->worst.low > 0)
    printf(" %7" PRId64 " %6.3f  %.3f .. %.3f  %s\n", of->flagged, of->worst.middle, of->worst.low, of->worst.high,
           where);
  else
    printf(" %7s %6.3f  %14s  %s\n", "", of->worst.middle, "", where);
}

static bool is_by(const regret_result *result, const regret_chooser *chooser, int count) {
  for (int n = 0; n < count && n < result->choice_count; n++)
    if (strcmp(result->choice[n].name, chooser[n].name) != 0)
      return false;
  return result->choice_count == count;
}

void regret_print_summary(const regret_chooser *chooser, int count, regret_result *const *result,
                          int64_t result_count) {
  sum of[REGRET_CHOOSERS] = {{0}}, floor = {0};
  for (int64_t n = 0; n < result_count; n++) {
    if (!is_by(result[n], chooser, count))
      continue;
    regret_verdict verdict = regret_judge(result[n]);
    add(&floor, result[n], &(bench_interval){.middle = verdict.floor});
    for (int a = 0; a < count; a++)
      add(&of[a], result[n], &verdict.ratio[a]);
  }
  if (floor.tasks == 0)
    return;
  printf("\n  %-31s %5s %6s %7s %6s  %14s\n", "", "tasks", "mean", "above *", "worst", "95 % interval");
  print_sum("floor: copies of the first", &floor);
  for (int a = 0; a < count; a++)
    print_sum(chooser[a].name, &of[a]);
}

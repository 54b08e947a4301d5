/* tools/bench/summary.c - geometric means below the table: over the rows of one collective with the same parameters. */
#include "summary.h"
#include "columns.h"

#include "bench/layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COPY_BOUND 1.5

typedef struct mean {
  double log_sum, least;
  int64_t least_bytes;
  int count;
} mean;

static void mean_add(mean *all, double ratio, int64_t bytes) {
  if (all->count == 0 || ratio < all->least) {
    all->least = ratio;
    all->least_bytes = bytes;
  }
  all->log_sum += log(ratio);
  all->count++;
}

static void print_mean(const mean *all, const char *name) {
  char size[16];
  if (all->count == 0)
    return;
  printf("   %s ", name);
  bench_print_ratio(exp(all->log_sum / all->count));
  if (all->count == 1)
    return;
  tt_format_bytes(all->least_bytes, size);
  printf(" (least %.2f at %s)", all->least, size);
}

/* Where copying is all that is left, no library can be much faster. */
static bool is_copy_bound(const bench_row *row) { return row->stats[0].median_ns <= COPY_BOUND * row->copy_ns; }

static bool all_wait_for_all(const bench_job *job, tt_collective collective) {
  bench_form form = bench_form_of(collective);
  bool prefix = form.sum == TT_OPERANDS_UP_TO || form.sum == TT_OPERANDS_BELOW;
  bool sparse = job->options->call.sparse && bench_may_be_sparse(collective);
  return !form.from_root && !form.to_root && !form.neighbor && !prefix && !sparse;
}

/* A floor as far as it can be measured, or 0: the larger of an exchange of flags and of the copies. Of other
 * collectives than those where all wait for all, small calls may overlap, and flags are no floor. */
static double floor_of(const bench_job *job, const bench_row *row) {
  if (job->flags_ns == 0 || !all_wait_for_all(job, row->collective))
    return 0;
  return job->flags_ns > row->copy_ns ? job->flags_ns : row->copy_ns;
}

typedef struct means {
  mean each[BENCH_GROUPS];
  mean best;  /* of those that are others than tutti, the least */
  mean free;  /* the same where copies do not bound */
  mean floor; /* best / floor: what x would be if tutti was as fast as can be */
} means;

/* Neither tutti with other parameters, nor an MPI with tutti in front of it. */
static bool is_other(const bench_group *group) {
  return !group->launcher->params && !strstr(group->launcher->name, "+tutti");
}

static void add_row(const bench_job *job, const bench_row *row, means *all) {
  double least = 0, floor = floor_of(job, row);
  for (int g = 1; g < job->group_count; g++) {
    double ratio = row->stats[g].ratio;
    if (!row->stats[g].present)
      continue;
    mean_add(&all->each[g], ratio, row->bytes);
    if (is_other(&job->group[g]) && (least == 0 || ratio < least))
      least = ratio;
  }
  if (least > 0)
    mean_add(&all->best, least, row->bytes);
  if (least > 0 && !is_copy_bound(row))
    mean_add(&all->free, least, row->bytes);
  if (least > 0 && floor > 0)
    mean_add(&all->floor, least * fmax(row->stats[0].median_ns / floor, 1), row->bytes);
}

static int peer_count(const bench_job *job) {
  int count = 0;
  for (int g = 1; g < job->group_count; g++)
    count += is_other(&job->group[g]);
  return count;
}

static void print_means(const bench_job *job, const bench_row *row, int row_count) {
  means all = {0};
  int compared = 0;
  for (int i = 0; i < row_count; i++)
    if (row[i].result == BENCH_OK && row[i].collective == row->collective && row[i].params == row->params)
      add_row(job, &row[i], &all);
  for (int g = 1; g < job->group_count; g++)
    compared += all.each[g].count;
  if (compared == 0)
    return;
  printf("%-*s geometric mean %s", bench_name_width(job->options), tt_compose_info(row->collective).name, row->params);
  for (int g = 1; g < job->group_count; g++)
    print_mean(&all.each[g], job->group[g].launcher->name);
  if (peer_count(job) > 1)
    print_mean(&all.best, "the better of them");
  if (all.free.count > 0 && all.free.count < all.best.count)
    printf("   without the %d within %.1f x of the copy bound %.2f", all.best.count - all.free.count, COPY_BOUND,
           exp(all.free.log_sum / all.free.count));
  if (all.floor.count > 0)
    printf("   at the floor %.2f", exp(all.floor.log_sum / all.floor.count));
  putchar('\n');
}

static bool is_first(const bench_row *row, int at) {
  for (int i = 0; i < at; i++)
    if (row[i].collective == row[at].collective && row[i].params == row[at].params)
      return false;
  return true;
}

void bench_print_summary(const bench_job *job, const bench_row *row, int row_count) {
  for (int i = 0; i < row_count && job->group_count > 1 && !job->options->call.overlap; i++)
    if (is_first(row, i))
      print_means(job, &row[i], row_count - i);
}

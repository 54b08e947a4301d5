/* tools/bench_summary.c - geometric means below the table: over the rows of one collective with the same parameters. */
#include "bench.h"

#include <math.h>
#include <stdio.h>

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

/* Adds each library's ratio and, of those that are others than tutti, the least; to `free` where copies do not bound.
 */
static void add_row(const bench_job *job, const bench_row *row, mean *each, mean *best, mean *free) {
  double least = 0;
  for (int g = 1; g < job->group_count; g++) {
    double ratio = row->stats[g].ratio;
    if (!row->stats[g].present)
      continue;
    mean_add(&each[g], ratio, row->bytes);
    if (!job->group[g].launcher->params && (least == 0 || ratio < least))
      least = ratio;
  }
  if (least > 0)
    mean_add(best, least, row->bytes);
  if (least > 0 && !is_copy_bound(row))
    mean_add(free, least, row->bytes);
}

static int peer_count(const bench_job *job) {
  int count = 0;
  for (int g = 1; g < job->group_count; g++)
    count += job->group[g].launcher->params == NULL;
  return count;
}

static void print_means(const bench_job *job, const bench_row *row, int row_count) {
  mean each[BENCH_GROUPS] = {0}, best = {0}, free = {0};
  int compared = 0;
  for (int i = 0; i < row_count; i++)
    if (row[i].result == BENCH_OK && row[i].collective == row->collective && row[i].params == row->params)
      add_row(job, &row[i], each, &best, &free);
  for (int g = 1; g < job->group_count; g++)
    compared += each[g].count;
  if (compared == 0)
    return;
  printf("%-*s geometric mean %s", bench_name_width(job->options), tt_compose_info(row->collective).name, row->params);
  for (int g = 1; g < job->group_count; g++)
    print_mean(&each[g], job->group[g].launcher->name);
  if (peer_count(job) > 1)
    print_mean(&best, "the better of them");
  if (free.count > 0 && free.count < best.count)
    printf("   without the %d within %.1f x of the copy bound %.2f", best.count - free.count, COPY_BOUND,
           exp(free.log_sum / free.count));
  putchar('\n');
}

static bool is_first(const bench_row *row, int at) {
  for (int i = 0; i < at; i++)
    if (row[i].collective == row[at].collective && row[i].params == row[at].params)
      return false;
  return true;
}

void bench_print_summary(const bench_job *job, const bench_row *row, int row_count) {
  for (int i = 0; i < row_count && job->group_count > 1 && !job->options->overlap; i++)
    if (is_first(row, i))
      print_means(job, &row[i], row_count - i);
}

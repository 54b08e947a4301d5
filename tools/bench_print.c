/* tools/bench_print.c - what `tutti bench` says: header, one line a row as soon as it is measured, summary, progress.
 *
 * Colour is for terminals only: red for what is wrong or slower than a peer, green for what is faster. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RED "31"
#define GREEN "32"
#define SLOWER 0.95

static bool coloured(FILE *stream) { return isatty(fileno(stream)) != 0; }

static void paint(FILE *stream, const char *colour) {
  if (coloured(stream))
    fprintf(stream, "\033[%sm", colour);
}

static void unpaint(FILE *stream) {
  if (coloured(stream))
    fputs("\033[0m", stream);
}

/* ---- stderr ---- */

void bench_progress_clear(void) {
  if (isatty(STDERR_FILENO))
    fputs("\r\033[K", stderr);
}

void bench_progress(const char *format, ...) {
  static int64_t last_ns;
  int64_t now_ns = tt_clock_ns();
  if (!isatty(STDERR_FILENO) || now_ns - last_ns < 100000000)
    return;
  va_list arguments;
  va_start(arguments, format);
  bench_progress_clear();
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  last_ns = now_ns;
}

int bench_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  bench_progress_clear();
  paint(stderr, RED);
  fputs("tutti bench: ", stderr);
  vfprintf(stderr, format, arguments);
  unpaint(stderr);
  fputc('\n', stderr);
  va_end(arguments);
  return -1;
}

/* ---- numbers ---- */

double bench_algorithm_bandwidth(const bench_row *row) { return (double)row->bytes / row->stats[0].median_ns; }

double bench_bus_bandwidth(const bench_row *row, int64_t rank_count) {
  double others = (double)(rank_count - 1) / (double)rank_count;
  double factor = row->collective == BENCH_ALLREDUCE         ? 2 * others
                  : bench_collectives[row->collective].parts ? others
                                                             : 1;
  return factor * bench_algorithm_bandwidth(row);
}

/* Three digits or more: 0.072, 7.21, 72.1, 721, 7210. */
static void print_time(double time_ns) {
  double us = time_ns / 1000;
  printf(" %9.*f", us < 1 ? 3 : us < 10 ? 2 : us < 100 ? 1 : 0, us);
}

static void print_ratio(double ratio) {
  if (ratio < SLOWER || ratio > 1 / SLOWER)
    paint(stdout, ratio < 1 ? RED : GREEN);
  printf(" %7.2f", ratio);
  unpaint(stdout);
}

/* ---- header ---- */

static int params_width(const bench_options *options) {
  size_t width = 0;
  for (int i = 0; i < options->params_count; i++)
    width = strlen(options->params[i]) > width ? strlen(options->params[i]) : width;
  return width > 0 && width < 6 ? 6 : (int)width;
}

static void print_legend(const bench_job *job) {
  const bench_options *options = job->options;
  const char *name = job->group[0].launcher->name;
  int64_t ranks = options->rank_count, cores = job->core_count < ranks ? job->core_count : ranks;
  printf("# %lld rank%s on %lld core%s (rank r on core r mod %d), float32, sum, roots rotate%s%s\n", (long long)ranks,
         ranks == 1 ? "" : "s", (long long)cores, cores == 1 ? "" : "s", job->core_count,
         options->mode == BENCH_PERSISTENT ? ", persistent calls" : "", options->shared_memory ? ", tutti_alloc" : "");
  printf(
      "# size     bytes of the whole vector, as in nccl-tests: all ranks' parts together in allgather, reduce-scatter\n"
      "# us       a call of %s, slowest rank: median and 99th percentile over batches of at least 50 us\n"
      "# GB/s     size / time; bus: times nccl-tests' factor\n"
      "# copy us  the copy bound: %lld core%s memcpy the vector at once%s, measured between the batches\n"
      "# share    copy us / us\n",
      name, (long long)cores, cores == 1 ? "" : "s", ranks > cores ? ", until every rank has its copy" : "");
  if (job->group_count > 1)
    printf("# x        time of the other library / time of %s: median over interleaved pairs, the other one asleep\n",
           name);
  for (int g = 0; g < job->group_count; g++)
    printf("# %-8s %s: %s\n", job->group[g].launcher->name, job->group[g].version, job->group[g].command);
}

void bench_print_header(const bench_job *job) {
  int width = params_width(job->options);
  bench_progress_clear();
  print_legend(job);
  printf("%-14s %7s", "collective", "size");
  if (width > 0)
    printf(" %-*s", width, "params");
  printf(" %9s %9s %7s %7s %9s %6s", "us", "p99 us", "GB/s", "bus", "copy us", "share");
  for (int g = 1; g < job->group_count; g++)
    printf(" %9s %7s", job->group[g].launcher->name, "x");
  puts(job->options->check ? "  data" : "");
  fflush(stdout);
}

/* ---- rows ---- */

static void print_bandwidth(const bench_job *job, const bench_row *row) {
  if (row->collective == BENCH_BARRIER) {
    printf(" %7s %7s %9s %6s", "-", "-", "-", "-");
    return;
  }
  printf(" %7.2f %7.2f", bench_algorithm_bandwidth(row), bench_bus_bandwidth(row, job->options->rank_count));
  print_time(row->copy_ns);
  printf(" %5.0f%%", 100 * row->copy_ns / row->stats[0].median_ns);
}

static void print_numbers(const bench_job *job, const bench_row *row) {
  print_time(row->stats[0].median_ns);
  print_time(row->stats[0].p99_ns);
  print_bandwidth(job, row);
  for (int g = 1; g < job->group_count; g++) {
    print_time(row->stats[g].median_ns);
    print_ratio(row->stats[g].ratio);
  }
  fputs(job->options->check ? "  right" : "", stdout);
}

static void print_failure(const bench_row *row) {
  if (row->result != BENCH_NO_PLAN)
    paint(stdout, RED);
  printf("  %s%s", row->result == BENCH_WRONG_DATA ? "WRONG: " : "", row->text);
  unpaint(stdout);
}

void bench_print_row(const bench_job *job, const bench_row *row) {
  char size[16];
  int width = params_width(job->options);
  tt_format_bytes(row->bytes, size);
  bench_progress_clear();
  printf("%-14s %7s", bench_collectives[row->collective].name, row->collective == BENCH_BARRIER ? "-" : size);
  if (width > 0)
    printf(" %-*s", width, row->params);
  if (row->result == BENCH_OK)
    print_numbers(job, row);
  else
    print_failure(row);
  putchar('\n');
  fflush(stdout);
}

/* ---- summary: over the rows of one collective with the same parameters ---- */

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

static double best_ratio(const bench_job *job, const bench_row *row) {
  double best = row->stats[1].ratio;
  for (int g = 2; g < job->group_count; g++)
    best = row->stats[g].ratio < best ? row->stats[g].ratio : best;
  return best;
}

static void print_mean(const mean *all, const char *name) {
  char size[16];
  printf("   %s ", name);
  print_ratio(exp(all->log_sum / all->count));
  if (all->count == 1)
    return;
  tt_format_bytes(all->least_bytes, size);
  printf(" (least %.2f at %s)", all->least, size);
}

static void print_means(const bench_job *job, const bench_row *row, int row_count) {
  mean each[BENCH_GROUPS] = {0}, best = {0};
  for (int i = 0; i < row_count; i++) {
    if (row[i].result != BENCH_OK || row[i].collective != row->collective || row[i].params != row->params)
      continue;
    for (int g = 1; g < job->group_count; g++)
      mean_add(&each[g], row[i].stats[g].ratio, row[i].bytes);
    mean_add(&best, best_ratio(job, &row[i]), row[i].bytes);
  }
  if (best.count == 0)
    return;
  printf("%-14s geometric mean %s", bench_collectives[row->collective].name, row->params);
  for (int g = 1; g < job->group_count; g++)
    print_mean(&each[g], job->group[g].launcher->name);
  if (job->group_count > 2)
    print_mean(&best, "the better of them");
  putchar('\n');
}

static bool is_first(const bench_row *row, int at) {
  for (int i = 0; i < at; i++)
    if (row[i].collective == row[at].collective && row[i].params == row[at].params)
      return false;
  return true;
}

void bench_print_summary(const bench_job *job, const bench_row *row, int row_count) {
  if (job->group_count < 2)
    return;
  for (int i = 0; i < row_count; i++)
    if (is_first(row, i))
      print_means(job, &row[i], row_count - i);
}

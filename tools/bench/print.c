/* tools/bench/print.c - what `tutti bench` says while it runs: one line a row as soon as it is measured, and progress.
 *
 * Colour is for terminals only: red for what is wrong or slower than a peer, green for what is faster. */
#include "bench.h"

#include "bench/layout.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RED "31"
#define GREEN "32"
#define SLOWER 0.95

static bool quiet;

void bench_be_quiet(void) { quiet = true; }

bool bench_is_quiet(void) { return quiet; }

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
  if (quiet)
    return -1;
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

/* Allreduce brings everything twice, all that has a block a rank brings the others' blocks. */
double bench_bus_bandwidth(const bench_row *row, int64_t rank_count) {
  const bench_form *form = &bench_forms[row->collective];
  double others = (double)(rank_count - 1) / (double)rank_count;
  double factor = row->collective == TT_ALLREDUCE               ? 2 * others
                  : form->cut != BENCH_WHOLE && !form->neighbor ? others
                                                                : 1;
  return factor * bench_algorithm_bandwidth(row);
}

/* Three digits or more: 0.072, 7.21, 72.1, 721, 7210. */
static void print_time(double time_ns) {
  double us = time_ns / 1000;
  printf(" %9.*f", us < 1 ? 3 : us < 10 ? 2 : us < 100 ? 1 : 0, us);
}

void bench_print_ratio(double ratio) {
  if (ratio < SLOWER || ratio > 1 / SLOWER)
    paint(stdout, ratio < 1 ? RED : GREEN);
  printf(" %7.2f", ratio);
  unpaint(stdout);
}

void bench_print_note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  bench_progress_clear();
  fputs("# ", stdout);
  vprintf(format, arguments);
  putchar('\n');
  va_end(arguments);
}

/* ---- columns that every row begins with ---- */

int bench_name_width(const bench_options *options) {
  size_t width = strlen("collective");
  for (int c = 0; c < options->collective_count; c++) {
    size_t length = strlen(tt_compose_info(options->collective[c]).name);
    width = length > width ? length : width;
  }
  return (int)width;
}

int bench_params_width(const bench_options *options) {
  size_t width = 0;
  for (int i = 0; i < options->params_count; i++)
    width = strlen(options->params[i]) > width ? strlen(options->params[i]) : width;
  return width > 0 && width < 6 ? 6 : (int)width;
}

bool bench_has_media(const bench_job *job) { return !job->map && !job->options->overlap && !job->options->launched; }

static void print_start(const bench_job *job, const bench_row *row) {
  const bench_options *options = job->options;
  int width = bench_params_width(options);
  bool even;
  char size[16] = "-";
  if (row->bytes > 0)
    tt_format_bytes(options->per_pair ? row->bytes / bench_block_number(options, row->collective, &even) : row->bytes,
                    size);
  printf("%-*s %7s", bench_name_width(options), tt_compose_info(row->collective).name, size);
  if (width > 0)
    printf(" %-*s", width, row->params);
  if (bench_has_media(job))
    printf(" %-*s", BENCH_BY, row->stats[0].ran.media[0] ? row->stats[0].ran.media : "-");
}

static void print_failure(const bench_row *row) {
  if (row->result != BENCH_NO_PLAN)
    paint(stdout, RED);
  printf("  %s%s", row->result == BENCH_WRONG_DATA ? "WRONG: " : "", row->text);
  unpaint(stdout);
}

/* ---- rows ---- */

static void print_copy(const bench_row *row) {
  if (row->copy_ns == 0) {
    printf(" %9s %6s", "-", "-");
    return;
  }
  print_time(row->copy_ns);
  printf(" %5.0f%%", 100 * row->copy_ns / row->stats[0].median_ns);
}

static void print_bound(const bench_row *row) {
  if (row->bound_ns == 0) {
    printf(" %9s %8s", "-", "-");
    return;
  }
  print_time(row->bound_ns);
  double times = row->stats[0].median_ns / row->bound_ns;
  printf(" %8.*f", times < 1000 ? 2 : 0, times);
}

/* Links are slower than memory by far. */
static void print_gigabytes(double rate) { printf(" %7.*f", rate < 0.1 ? 4 : rate < 1 ? 3 : 2, rate); }

static void print_bandwidth(const bench_job *job, const bench_row *row) {
  if (row->bytes > 0) {
    print_gigabytes(bench_algorithm_bandwidth(row));
    print_gigabytes(bench_bus_bandwidth(row, job->options->rank_count));
  } else {
    printf(" %7s %7s", "-", "-");
  }
  if (bench_has_bound(job))
    print_bound(row);
  else if (!job->map)
    print_copy(row);
}

static void print_interval(const bench_stats *stats) {
  char text[32] = "-";
  if (stats->ratio_high > 0)
    snprintf(text, sizeof text, "%.*f..%.*f", stats->ratio_low < 100 ? 2 : 0, stats->ratio_low,
             stats->ratio_high < 100 ? 2 : 0, stats->ratio_high);
  printf("%*s", BENCH_INTERVAL, text);
}

static void print_other(const bench_job *job, const bench_group *group, const bench_stats *stats) {
  bool launched = job->options->launched;
  if (!stats->present) {
    printf(" %*s %7s%*s", bench_column_width(group), "-", "-", launched ? BENCH_INTERVAL : 0, launched ? "-" : "");
    return;
  }
  printf("%*s", bench_column_width(group) - 9, "");
  print_time(stats->median_ns);
  bench_print_ratio(stats->ratio);
  if (launched)
    print_interval(stats);
}

static void print_calls(const bench_job *job, const bench_row *row) {
  print_time(row->stats[0].median_ns);
  print_time(row->stats[0].p99_ns);
  print_bandwidth(job, row);
  for (int g = 1; g < job->group_count; g++)
    print_other(job, &job->group[g], &row->stats[g]);
}

/* One line for each library, without and with tests. */
static void print_overlap(const bench_job *job, const bench_row *row) {
  bool first = true;
  for (int g = 0; g < job->group_count; g++)
    for (int t = 0; t < 2 && row->overlap[g].present; t++, first = false) {
      const bench_overlap_stats *stats = &row->overlap[g];
      if (!first) {
        fputs(job->options->check ? "  right\n" : "\n", stdout);
        print_start(job, row);
      }
      printf(" %-12s %5d", job->group[g].launcher->name, t == 0 ? 0 : BENCH_PIECES - 1);
      print_time(stats->call_ns);
      print_time(stats->compute_ns);
      print_time(stats->tests[t].both_ns);
      printf(" %6.0f%%", 100 * stats->tests[t].hidden);
    }
}

void bench_print_row(const bench_job *job, const bench_row *row) {
  bench_progress_clear();
  print_start(job, row);
  if (row->result != BENCH_OK)
    print_failure(row);
  else if (job->options->overlap)
    print_overlap(job, row);
  else
    print_calls(job, row);
  puts(row->result == BENCH_OK && job->options->check ? "  right" : "");
  if (row->result == BENCH_OK && job->options->nics)
    bench_print_flow(job, row);
  if (row->result == BENCH_OK && job->options->levels)
    bench_print_levels(job, row);
  fflush(stdout);
}

/* tools/bench/print.c - what `tutti bench` says while it runs: one line a row as soon as it is measured, and progress.
 *
 * Colour is for terminals only: red for what is wrong or slower than a peer, green for what is faster. */
#include "print.h"
#include "call.h"
#include "columns.h"
#include "flow.h"
#include "levels.h"
#include "say.h"

#include <stdio.h>

static void print_start(const bench_job *job, const bench_row *row) {
  const bench_options *options = job->options;
  int width = bench_params_width(options);
  bool even;
  char size[16] = "-";
  if (row->bytes > 0)
    tt_format_bytes(
        options->rows.per_pair ? row->bytes / bench_call_blocks(options, row->collective, &even) : row->bytes, size);
  printf("%-*s %7s", bench_name_width(options), tt_compose_info(row->collective).name, size);
  if (width > 0)
    printf(" %-*s", width, row->params);
  if (bench_has_media(job))
    printf(" %-*s", BENCH_BY, row->stats[0].ran.media[0] ? row->stats[0].ran.media : "-");
}

static void print_failure(const bench_row *row) {
  if (row->result != BENCH_NO_PLAN)
    bench_paint(stdout, BENCH_RED);
  printf("  %s%s", row->result == BENCH_WRONG_DATA ? "WRONG: " : "", row->text);
  bench_unpaint(stdout);
}

/* ---- rows ---- */

static void print_copy(const bench_row *row) {
  if (row->copy_ns == 0) {
    printf(" %9s %6s", "-", "-");
    return;
  }
  bench_print_time(9, row->copy_ns);
  printf(" %5.0f%%", 100 * row->copy_ns / row->stats[0].median_ns);
}

static void print_bound(const bench_row *row) {
  if (row->bound_ns == 0) {
    printf(" %9s %8s", "-", "-");
    return;
  }
  bench_print_time(9, row->bound_ns);
  double times = row->stats[0].median_ns / row->bound_ns;
  printf(" %8.*f", times < 1000 ? 2 : 0, times);
}

/* Links are slower than memory by far. */
static void print_gigabytes(double rate) { printf(" %7.*f", rate < 0.1 ? 4 : rate < 1 ? 3 : 2, rate); }

static void print_bandwidth(const bench_job *job, const bench_row *row) {
  if (row->bytes > 0) {
    print_gigabytes(bench_algorithm_bandwidth(row));
    print_gigabytes(bench_bus_bandwidth(row, job->options->ranks.count));
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
  bool launched = job->options->launch.given;
  if (!stats->present) {
    printf(" %*s %7s%*s", bench_column_width(group), "-", "-", launched ? BENCH_INTERVAL : 0, launched ? "-" : "");
    return;
  }
  printf("%*s", bench_column_width(group) - 9, "");
  bench_print_time(9, stats->median_ns);
  bench_print_ratio(stats->ratio);
  if (launched)
    print_interval(stats);
}

static void print_calls(const bench_job *job, const bench_row *row) {
  bench_print_time(9, row->stats[0].median_ns);
  bench_print_time(9, row->stats[0].p99_ns);
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
        fputs(job->options->call.check ? "  right\n" : "\n", stdout);
        print_start(job, row);
      }
      printf(" %-12s %5d", job->group[g].launcher->name, t == 0 ? 0 : BENCH_PIECES - 1);
      bench_print_time(9, stats->call_ns);
      bench_print_time(9, stats->compute_ns);
      bench_print_time(9, stats->tests[t].both_ns);
      printf(" %6.0f%%", 100 * stats->tests[t].hidden);
    }
}

void bench_print_row(const bench_job *job, const bench_row *row) {
  bench_progress_clear();
  print_start(job, row);
  if (row->result != BENCH_OK)
    print_failure(row);
  else if (job->options->call.overlap)
    print_overlap(job, row);
  else
    print_calls(job, row);
  puts(row->result == BENCH_OK && job->options->call.check ? "  right" : "");
  if (row->result == BENCH_OK && job->options->launch.nics)
    bench_print_flow(job, row);
  if (row->result == BENCH_OK && job->options->levels)
    bench_print_levels(job, row);
  fflush(stdout);
}

/* tools/bench/columns.c - how wide columns are, and numbers in them. Red is what is slower than a peer, green what is
 * faster. */
#include "columns.h"
#include "say.h"

#include "bench/layout.h"

#include <stdio.h>
#include <string.h>

#define SLOWER 0.95

/* ---- widths ---- */

int bench_name_width(const bench_options *options) {
  size_t width = strlen("collective");
  for (int c = 0; c < options->rows.collective_count; c++) {
    size_t length = strlen(tt_compose_info(options->rows.collective[c]).name);
    width = length > width ? length : width;
  }
  return (int)width;
}

int bench_params_width(const bench_options *options) {
  size_t width = 0;
  for (int i = 0; i < options->rows.params_count; i++)
    width = strlen(options->rows.params[i]) > width ? strlen(options->rows.params[i]) : width;
  return width > 0 && width < 6 ? 6 : (int)width;
}

bool bench_has_media(const bench_job *job) {
  return !job->map && !job->options->call.overlap && !job->options->launch.given;
}

bool bench_has_bound(const bench_job *job) { return job->map && job->map->machines > 1; }

int bench_column_width(const bench_group *group) {
  size_t width = strlen(group->launcher->name);
  return width > 9 ? (int)width : 9;
}

/* ---- numbers ---- */

double bench_algorithm_bandwidth(const bench_row *row) { return (double)row->bytes / row->stats[0].median_ns; }

/* Allreduce brings everything twice, all that has a block a rank brings the others' blocks. */
double bench_bus_bandwidth(const bench_row *row, int64_t rank_count) {
  const bench_form form = bench_form_of(row->collective);
  double others = (double)(rank_count - 1) / (double)rank_count;
  double factor = row->collective == TT_ALLREDUCE ? 2 * others : form.cut != BENCH_WHOLE && !form.neighbor ? others : 1;
  return factor * bench_algorithm_bandwidth(row);
}

void bench_print_time(int width, double time_ns) {
  double us = time_ns / 1000;
  printf(" %*.*f", width, us < 1 ? 3 : us < 10 ? 2 : us < 100 ? 1 : 0, us);
}

void bench_print_ratio(double ratio) {
  if (ratio < SLOWER || ratio > 1 / SLOWER)
    bench_paint(stdout, ratio < 1 ? BENCH_RED : BENCH_GREEN);
  printf(" %7.2f", ratio);
  bench_unpaint(stdout);
}

/* tools/bench.c - `tutti bench`: how fast the collectives are here, and how near to the limit and to others that is.
 *
 * The driver measures nothing itself: ranks of tutti and of each library it is compared with run the same loop
 * (bench/loop.h) when told to, one library at a time. See bench.h for the parts. */
#include "bench.h"
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct rows {
  bench_row *row;
  int count;
  bool failed;
} rows;

/* The nearest size that is a whole number of elements on every rank, at least one each. */
static int64_t whole_elements(const bench_options *options, bench_collective collective, int64_t bytes) {
  int64_t unit = 4 * (bench_collectives[collective].parts ? options->rank_count : 1);
  return collective == BENCH_BARRIER ? 0 : bytes < unit ? unit : bytes / unit * unit;
}

/* Parameters that make no plan are said, and are a failure only where they were asked for by name.
 * Returns 1 where that is so for every size. */
static int run_row(bench_job *job, rows *all, bench_collective collective, const char *params, int64_t bytes) {
  bench_row *row = &all->row[all->count];
  *row = (bench_row){.collective = collective, .params = params, .bytes = bytes};
  if (bench_point_run(job, row) != 0)
    return -1;
  all->count++;
  all->failed =
      all->failed || row->result == BENCH_WRONG_DATA || (row->result == BENCH_NO_PLAN && !job->options->params_all);
  bench_print_row(job, row);
  return row->result == BENCH_NO_PLAN;
}

static int run_sizes(bench_job *job, rows *all, bench_collective collective, const char *params) {
  const bench_options *options = job->options;
  int64_t last = -1;
  int result = 0;
  for (int s = 0; s < options->size_count && result == 0; s++) {
    int64_t bytes = whole_elements(options, collective, options->size[s]);
    if (bytes != last)
      result = run_row(job, all, collective, params, bytes);
    last = bytes;
  }
  return result < 0 ? -1 : 0;
}

static int run_all(bench_job *job, rows *all) {
  const bench_options *options = job->options;
  for (int c = 0; c < options->collective_count; c++)
    for (int p = 0; p < options->params_count; p++)
      if (run_sizes(job, all, options->collective[c], options->params[p]) != 0)
        return -1;
  return 0;
}

static int run_job(bench_job *job, rows *all) {
  bench_print_header(job);
  int result = run_all(job, all);
  bench_progress_clear();
  bench_print_summary(job, all->row, all->count);
  if (job->options->json && bench_json_write(job, all->row, all->count) != 0)
    return -1;
  return result;
}

static int bench(const bench_options *options) {
  static bench_job job;
  rows all = {0};
  int result = bench_job_open(options, &job);
  size_t most = (size_t)(options->collective_count * options->params_count * options->size_count);
  all.row = calloc(most, sizeof *all.row);
  if (result == 0)
    result = all.row ? run_job(&job, &all) : bench_fail("no memory for %zu rows", most);
  bench_job_close(&job, result == 0);
  free(all.row);
  return result == 0 && !all.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int tt_tool_bench(int argc, char **argv) {
  bench_options options;
  int result = bench_options_parse(argc, argv, &options);
  return result == 0 ? bench(&options) : result > 0 ? EXIT_SUCCESS : 2;
}

/* tools/bench.c - `tutti bench`: how fast the collectives are here, and how near to the limit and to others that is.
 *
 * The driver measures nothing itself: ranks of tutti and of each library it is compared with run the same loop
 * (bench/loop.h) when told to, one library at a time. See bench.h for the parts. */
#include "bench.h"
#include "tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rows {
  bench_row *row;
  int count;
  bool failed;
} rows;

/* The nearest size that is a whole number of elements, and of blocks where these are even; at least one of each. */
static int64_t whole_elements(const bench_options *options, tt_collective collective, int64_t bytes) {
  bool even;
  int64_t blocks = bench_block_number(options, collective, &even);
  int64_t unit = (int64_t)tutti_type_size(options->type) * (even ? blocks : 1);
  bytes *= options->per_pair ? blocks : 1;
  return collective == TT_BARRIER ? 0 : bytes < unit ? unit : bytes / unit * unit;
}

/* Parameters that make no plan are said, and are a failure only where they were asked for by name.
 * Returns 1 where a row has no numbers, and so for every size. */
static int run_row(bench_job *job, rows *all, tt_collective collective, const char *params, int64_t bytes) {
  bench_row *row = &all->row[all->count];
  *row = (bench_row){.collective = collective, .params = params, .bytes = bytes};
  if ((job->options->overlap ? bench_overlap_run(job, row) : bench_point_run(job, row)) != 0)
    return -1;
  all->count++;
  all->failed = all->failed || row->result == BENCH_WRONG_DATA || row->result == BENCH_LACKS ||
                (row->result == BENCH_NO_PLAN && !job->options->params_all);
  bench_print_row(job, row);
  return row->result == BENCH_NO_PLAN || row->result == BENCH_LACKS;
}

static int run_sizes(bench_job *job, rows *all, tt_collective collective, const char *params) {
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

static int run_job(bench_job *job, rows *all, FILE *json) {
  bench_print_header(job);
  int result = run_all(job, all);
  bench_progress_clear();
  bench_print_summary(job, all->row, all->count);
  if (json && bench_json_write(job, all->row, all->count, json) != 0)
    return -1;
  return result;
}

static int bench_with(const bench_options *options, rows *all, FILE *json) {
  static bench_job job;
  int result = bench_job_open(options, &job);
  if (result == 0)
    result = run_job(&job, all, json);
  bench_job_close(&job, result == 0);
  return result;
}

/* The file is opened first: an hour of measurements is not lost for want of a folder. */
static int bench(const bench_options *options) {
  rows all = {0};
  FILE *json = NULL;
  size_t most = (size_t)(options->collective_count * options->params_count * options->size_count);
  if (options->json && !(json = fopen(options->json, "we")))
    return bench_fail("--json: %s: %s", options->json, strerror(errno)), EXIT_FAILURE;
  all.row = calloc(most, sizeof *all.row);
  int result = all.row ? bench_with(options, &all, json) : bench_fail("no memory for %zu rows", most);
  if (json && fclose(json) != 0)
    result = bench_fail("--json: %s: %s", options->json, strerror(errno));
  free(all.row);
  return result == 0 && !all.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int tt_tool_bench(int argc, char **argv) {
  bench_options options;
  int result = bench_options_parse(argc, argv, &options);
  return result == 0 ? bench(&options) : result > 0 ? EXIT_SUCCESS : 2;
}

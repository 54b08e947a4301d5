/* tools/bench/bench.c - `tutti bench`: how fast the collectives are here, and how near to the limit and to others that
 * is.
 *
 * What is timed is one loop for all libraries (bench/loop.h). Who runs it, and who starts whom:
 *
 *     tutti bench                     the driver starts ranks of each library on this machine and tells them, point by
 *                                     point, what to run, one library at a time (start.c)
 *     mpirun -n 16 tutti bench        this process is one of the ranks: they measure by themselves (joined.c)
 *     tutti bench --launch 'mpirun -n 16'   the driver starts such jobs of each library in turn, and pairs their times
 *                                     (rounds.c) */
#include "bench.h"
#include "header.h"
#include "joined.h"
#include "json.h"
#include "libraries.h"
#include "overlap.h"
#include "point.h"
#include "rounds.h"
#include "say.h"
#include "start.h"
#include "summary.h"

#include "tools/shared/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int measure_row(bench_job *job, bench_rows *rows, bench_row *row) {
  if ((job->options->call.overlap ? bench_overlap_run(job, row) : bench_point_run(job, row)) != 0)
    return -1;
  return bench_rows_done(job, rows, row);
}

static int run_job(bench_job *job, bench_rows *rows, FILE *json) {
  bench_print_header(job);
  int result = bench_rows_visit(job, rows, measure_row);
  bench_progress_clear();
  bench_print_summary(job, rows->row, rows->count);
  if (json && bench_json_write(job, rows->row, rows->count, json) != 0)
    return -1;
  return result;
}

/* What is said of jobs on several machines. */
static int check_here(const bench_options *options) {
  if (options->launch.rate > 0 || options->launch.nics)
    return bench_fail("%s: all of these ranks are on this machine; see --launch",
                      options->launch.nics ? "--nics" : "--rate");
  return 0;
}

static int run_here(const bench_options *options, bench_rows *rows, FILE *json) {
  static bench_job job;
  if (check_here(options) != 0)
    return -1;
  int result = bench_start(options, &job);
  if (result == 0)
    result = run_job(&job, rows, json);
  bench_start_end(&job, result == 0);
  return result;
}

/* The file is opened first: an hour of measurements is not lost for want of a folder. What is in it stays until there
 * are others. */
static int run_driver(bench_options *options, bench_rows *rows) {
  FILE *json = NULL;
  if (options->json && !(json = fopen(options->json, "ae")))
    return bench_fail("--json: %s: %s", options->json, strerror(errno));
  int result = options->launch.given ? bench_rounds_run(options, rows, json) : run_here(options, rows, json);
  if (json && fclose(json) != 0)
    result = bench_fail("--json: %s: %s", options->json, strerror(errno));
  return result;
}

/* A search is made by the ranks themselves: they are started as a launcher would. */
static int start_search(const bench_options *options, int argc, char **argv) {
  tool_words line = {.count = 0};
  tool_words_add_job(&line, "bench", options->ranks.count, argc, argv);
  if (!line.failed)
    execv(line.word[0], line.word);
  bench_fail("cannot start %s: %s", line.failed ? "ranks" : line.word[0], strerror(errno));
  tool_words_finish(&line);
  return EXIT_FAILURE;
}

static int bench(bench_options *options, bool is_rank) {
  bench_rows rows = {0};
  int result = bench_rows_alloc(options, &rows);
  if (result == 0)
    result = is_rank ? bench_joined_run(options, &rows) : run_driver(options, &rows);
  bool right = result == 0 && !rows.failed;
  bench_rows_free(&rows);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int tt_tool_bench(int argc, char **argv) {
  static bench_options options;
  int64_t rank = 0;
  bool is_rank = tool_is_rank(&rank);
  if (rank > 0)
    bench_be_quiet();
  int result = bench_options_parse(argc, argv, &options);
  if (result == TOOL_GO_ON)
    result = bench_libraries_find(&options);
  if (result < 0 && rank > 0) /* rank 0's may be others, and right */
    fprintf(stderr, "tutti bench: rank %" PRId64 " does not understand its arguments\n", rank);
  if (result == TOOL_GO_ON && options.rows.search && !is_rank)
    return start_search(&options, argc, argv);
  return result == TOOL_GO_ON ? bench(&options, is_rank) : result == TOOL_HELPED ? EXIT_SUCCESS : TOOL_MISUSED;
}

/* tools/bench/joined.c - `tutti bench` as one of the ranks that a launcher has started: mpirun -n 16 tutti bench ...
 *
 * All ranks go through the same rows (bench/ranks.h); rank 0 prints and writes. */
#include "joined.h"
#include "call.h"
#include "flow.h"
#include "header.h"
#include "json.h"
#include "levels.h"
#include "own.h"
#include "say.h"
#include "search.h"
#include "summary.h"

#include "tools/shared/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- is it asked for what it can do? ---- */

static int check_options(const bench_options *options) {
  const char *advice = "; start it without a launcher: tutti bench --launch 'mpirun -n 16'";
  if (options->launch.given)
    return bench_fail("--launch: a launcher started this process as a rank; start it without a launcher");
  if (options->library.count > 1)
    return bench_fail("--against: a launcher started these ranks, and they run only tutti%s --against %s", advice,
                      options->library.at[1]->name);
  if (strcmp(options->library.at[0]->name, "tutti") != 0)
    return bench_fail("--library %s: a launcher started these ranks, and they run only tutti%s --library %s",
                      options->library.at[0]->name, advice, options->library.at[0]->name);
  if (options->call.overlap)
    return bench_fail("--overlap needs ranks that `tutti bench` starts itself; start it without a launcher");
  if (options->ranks.core_count > 0)
    return bench_fail("--cores %d: the launcher chooses the cores of these ranks", options->ranks.core_count);
  return 0;
}

/* ---- rows ---- */

typedef struct ranks_job {
  bench_job job; /* first: visits get it */
  bench_ranks ranks;
  FILE *json;
} ranks_job;

static bench_task task_of(const bench_options *options, const bench_ranks *ranks, const bench_row *row) {
  bench_task task = bench_call_task(options);
  task.command.collective = (int32_t)row->collective;
  task.command.bytes = row->bytes;
  task.command.sharing = bench_map_sharing(&ranks->map, ranks->point.rank);
  task.command.delay = options->call.delay;
  snprintf(task.command.params, sizeof task.command.params, "%s", row->params);
  return task;
}

static int search_row(bench_job *job, bench_rows *rows, const bench_task *task, bench_row *row) {
  int result = bench_search_row(&((ranks_job *)job)->ranks, job->options, task, row);
  rows->failed = rows->failed || row->result != BENCH_OK;
  return result;
}

static int measure_row(bench_job *job, bench_rows *rows, bench_row *row) {
  static bench_figures figures;
  bench_ranks *ranks = &((ranks_job *)job)->ranks;
  bench_task task = task_of(job->options, ranks, row);
  if (job->options->rows.search)
    return search_row(job, rows, &task, row);
  row->result = bench_ranks_measure(ranks, &task, &figures);
  memcpy(row->text, figures.text, sizeof row->text);
  row->round_count = 1;
  if (row->result == BENCH_OK) {
    row->stats[0] = (bench_stats){.present = true,
                                  .median_ns = figures.median_ns,
                                  .p99_ns = figures.p99_ns,
                                  .ratio = 1,
                                  .calls = figures.calls,
                                  .batch_count = figures.batches};
    bench_stats_add_flow(&row->stats[0], &ranks->map, figures.flow);
    bench_stats_set_levels(&row->stats[0], &figures.levels);
  }
  int result = bench_rows_done(job, rows, row);
  return row->result == BENCH_FAILED ? -1 : result;
}

static int run_rows(ranks_job *all, bench_rows *rows) {
  bench_job *job = &all->job;
  bench_print_header(job);
  int result = bench_rows_visit(job, rows, measure_row);
  bench_print_summary(job, rows->row, rows->count);
  if (all->json && bench_json_write(job, rows->row, rows->count, all->json) != 0)
    return -1;
  return result;
}

/* ---- the job ---- */

/* Whether all ranks can go on. */
static int agree(ranks_job *all, int mine) {
  bench_reply reply = {.result = mine == 0 ? BENCH_OK : BENCH_FAILED};
  bench_answer answer;
  return bench_ranks_agree(&all->ranks, &reply, &answer) == BENCH_OK ? 0 : -1;
}

/* Only rank 0 writes: the others' output goes nowhere. */
static int open_output(ranks_job *all, const bench_options *options) {
  if (all->ranks.point.rank != 0)
    return freopen("/dev/null", "w", stdout) ? 0 : bench_fail("/dev/null: %s", strerror(errno));
  if (options->json && !(all->json = fopen(options->json, "ae")))
    return bench_fail("--json: %s: %s", options->json, strerror(errno));
  return 0;
}

/* Without PMI, srun's tasks do not know of each other. */
static int check_alone(int32_t ranks) {
  const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
  if (ranks > 1 || tool_is_set("TUTTI_BOOT") || !tasks || atoi(tasks) < 2)
    return 0;
  return bench_fail("srun started %s tasks, and each is a job of its own; use --mpi=pmix or --mpi=pmi2 for one job",
                    tasks);
}

static int check_count(const bench_options *options, int32_t ranks) {
  if (check_alone(ranks) != 0)
    return -1;
  if (!options->ranks.given || options->ranks.count == ranks)
    return 0;
  return bench_fail("-n %" PRId64 ": the launcher started %d rank%s", options->ranks.count, ranks,
                    ranks == 1 ? "" : "s");
}

static int run_all(ranks_job *all, bench_options *options, bench_rows *rows) {
  bench_job *job = &all->job;
  bench_group *group = &job->group[0];
  int result = agree(all, open_output(all, options));
  options->ranks.count = all->ranks.point.size;
  *job = (bench_job){.options = options, .group_count = 1, .map = &all->ranks.map};
  *group = (bench_group){.launcher = options->library.at[0], .rank_count = options->ranks.count};
  memcpy(group->version, all->ranks.version, sizeof group->version);
  snprintf(group->command, sizeof group->command, "started by the launcher");
  if (result == 0)
    result = run_rows(all, rows);
  if (all->json && fclose(all->json) != 0)
    result = bench_fail("--json: %s: %s", options->json, strerror(errno));
  return result;
}

int bench_joined_run(bench_options *options, bench_rows *rows) {
  static ranks_job all;
  static char text[BENCH_TEXT];
  if (check_options(options) != 0)
    return -1;
  if (bench_ranks_open(&all.ranks, bench_own_library(), text) != BENCH_OK)
    return bench_fail("%s", text);
  int result = check_count(options, all.ranks.point.size);
  if (result == 0)
    result = run_all(&all, options, rows);
  bench_ranks_close(&all.ranks);
  bench_own_library()->close();
  return result;
}

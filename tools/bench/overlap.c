/* tools/bench/overlap.c - one row of --overlap: how much of a call computation hides.
 *
 *     call       post | wait
 *     compute           | 32 pieces, together about as long as the call
 *     both       post | 32 pieces, without and with a test after each | wait
 *
 * Each library runs these four in every round. Computation is arithmetic in registers, so it shares nothing with the
 * call but the core. */
#include "overlap.h"
#include "runner.h"

enum { CALL, COMPUTE, BOTH, TESTED, KINDS };

static const int32_t parts[KINDS] = {[CALL] = BENCH_POST,
                                     [COMPUTE] = BENCH_COMPUTE,
                                     [BOTH] = BENCH_POST | BENCH_COMPUTE,
                                     [TESTED] = BENCH_POST | BENCH_COMPUTE | BENCH_TEST};

#define PROBE_STEPS 100000

/* As many steps as take about as long as the call alone. */
static int choose_steps(bench_job *job, bench_row *row, bench_runner *kind, int64_t *steps) {
  int64_t target_ns = bench_runner_target_ns(job);
  double call_ns = 1, probe_ns = 1;
  kind[COMPUTE].command.steps = PROBE_STEPS;
  if (bench_runner_calibrate(job, row, &kind[CALL], target_ns, &call_ns) != 0)
    return -1;
  if (row->result == BENCH_OK && bench_runner_calibrate(job, row, &kind[COMPUTE], target_ns, &probe_ns) != 0)
    return -1;
  *steps = (int64_t)(call_ns / probe_ns * PROBE_STEPS) + BENCH_PIECES;
  return 0;
}

static int calibrate(bench_job *job, bench_row *row, bench_runner *kind) {
  int64_t steps;
  double ignored;
  if (choose_steps(job, row, kind, &steps) != 0)
    return -1;
  for (int k = COMPUTE; k < KINDS && row->result == BENCH_OK; k++) {
    kind[k].command.steps = steps;
    if (bench_runner_calibrate(job, row, &kind[k], bench_runner_target_ns(job), &ignored) != 0)
      return -1;
  }
  return 0;
}

static double least(double a, double b) { return a < b ? a : b; }

static void summarise(bench_row *row, bench_runner *kind) {
  bench_overlap_stats *stats = &row->overlap[kind->group->number];
  double hidden[BENCH_ROUNDS_MAX];
  for (int k = BOTH; k <= TESTED; k++) {
    for (int64_t r = 0; r < row->round_count; r++) {
      double call_ns = kind[CALL].set_ns[r], compute_ns = kind[COMPUTE].set_ns[r];
      hidden[r] = (call_ns + compute_ns - kind[k].set_ns[r]) / least(call_ns, compute_ns);
    }
    stats->tests[k - BOTH].hidden = bench_median(hidden, row->round_count);
    stats->tests[k - BOTH].both_ns = bench_median(kind[k].batch_ns, kind[k].batch_count);
  }
  stats->present = true;
  stats->call_ns = bench_median(kind[CALL].batch_ns, kind[CALL].batch_count);
  stats->compute_ns = bench_median(kind[COMPUTE].batch_ns, kind[COMPUTE].batch_count);
}

static int measure(bench_job *job, bench_row *row, bench_runner *all, int count) {
  for (int i = 0; i < count && row->result == BENCH_OK; i += KINDS)
    if (calibrate(job, row, &all[i]) != 0)
      return -1;
  if (bench_runner_rounds(job, row, all, count) != 0)
    return -1;
  for (int i = 0; i < count; i++)
    if (i % KINDS != COMPUTE && bench_runner_check(job, row, &all[i]) != 0)
      return -1;
  for (int i = 0; i < count && row->result == BENCH_OK; i += KINDS)
    summarise(row, &all[i]);
  return 0;
}

/* Its four runners, unless it lacks type or operator. */
static int add_library(bench_job *job, bench_row *row, bench_group *group, bench_runner *all, int *count) {
  bench_runner *kind = &all[*count];
  bool lacks = false;
  for (int k = 0; k < KINDS; k++) {
    if (bench_runner_init(job, row, group, &kind[k]) != 0)
      return -1;
    kind[k].command.verb = BENCH_RUN;
    kind[k].command.mode = BENCH_NONBLOCKING;
    kind[k].command.parts = parts[k];
  }
  if (bench_runner_prepare(job, row, &kind[CALL], &lacks) != 0)
    return -1;
  for (int k = 0; k < KINDS && lacks; k++)
    bench_runner_finish(&kind[k]);
  *count += lacks ? 0 : KINDS;
  return 0;
}

int bench_overlap_run(bench_job *job, bench_row *row) {
  bench_runner all[BENCH_RUNNERS] = {0};
  int result = 0, count = 0;
  for (int g = 0; g < job->group_count && result == 0 && row->result == BENCH_OK; g++)
    result = add_library(job, row, &job->group[g], all, &count);
  if (result == 0 && row->result == BENCH_OK)
    result = measure(job, row, all, count);
  for (int i = 0; i < BENCH_RUNNERS; i++)
    bench_runner_finish(&all[i]);
  return result;
}

/* tools/bench_point.c - one row: how many calls make a batch, interleaved rounds, statistics.
 *
 *     round:   tutti runs a set of batches | openmpi runs one | mpich runs one | memcpy of the vector
 *
 * Only one library is awake at a time, and a ratio compares sets of the same round, so that what disturbs the machine
 * for longer than a round disturbs all of them alike. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNNERS (BENCH_GROUPS + 1)
#define BATCH_NS 100000        /* at least so long where every rank has a core */
#define BATCH_SHARED_NS 400000 /* where ranks share cores, and leave a barrier further apart */
#define SET_NS 3000000         /* a set of batches, about */
#define SET_BATCHES 20
#define COPY_DELAY_NS 300000 /* until every rank that copies is awake */
#define ROUNDS_MIN 7
#define ROUNDS_MAX 1000

/* One participant of the rounds: a library, or the copy. */
typedef struct runner {
  bench_group *group;
  bench_command command;
  int64_t rank_count; /* that take part */
  double *batch_ns;   /* of a call: one entry a batch */
  double *set_ns;     /* the median of each round */
  int64_t batch_count;
} runner;

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* Of sorted values: the one below or at which a share of all lies. */
static double quantile(const double *sorted, int64_t count, double share) {
  int64_t at = (int64_t)(share * (double)count);
  return sorted[at < count ? at : count - 1];
}

static double median(double *value, int64_t count) {
  qsort(value, (size_t)count, sizeof *value, by_value);
  double upper = quantile(value, count, 0.5);
  return count % 2 != 0 ? upper : (upper + value[count / 2 - 1]) / 2;
}

static int ask(bench_job *job, runner *who, bench_answer *answer) {
  who->command.start_ns = tt_clock_ns() + COPY_DELAY_NS;
  return bench_group_ask(job, who->group, &who->command, who->rank_count, answer);
}

/* Notes a failure that ends the row but not the job. Returns whether there is one. */
static bool row_failed(bench_row *row, const runner *who, const bench_answer *answer) {
  if (answer->result == BENCH_OK)
    return false;
  row->result = answer->result;
  snprintf(row->text, sizeof row->text, "%s: %.400s", who->group->launcher->name, answer->text);
  return true;
}

static int prepare(bench_job *job, bench_row *row, runner *who) {
  bench_answer answer;
  who->command.verb = BENCH_PREPARE;
  if (ask(job, who, &answer) != 0)
    return -1;
  row_failed(row, who, &answer);
  who->command.verb = BENCH_RUN;
  return 0;
}

/* More calls in a batch until the shortest of three is long enough. The very first batch is checked. */
static int calibrate(bench_job *job, bench_row *row, runner *who, int64_t target_ns) {
  bench_answer answer;
  int64_t shortest_ns = 0;
  who->command.calls = 0;
  who->command.batches = 3;
  while (shortest_ns < target_ns) {
    int64_t factor = shortest_ns > 0 ? 1 + target_ns * 5 / 4 / shortest_ns : 1;
    who->command.check = job->options->check && who->command.calls == 0;
    who->command.calls = who->command.calls == 0 ? 1
                                                 : who->command.calls * (factor < 2    ? 2
                                                                         : factor > 64 ? 64
                                                                                       : factor);
    if (ask(job, who, &answer) != 0)
      return -1;
    if (row_failed(row, who, &answer))
      return 0;
    shortest_ns = answer.slowest_ns[0];
    for (int b = 1; b < answer.batch_count; b++)
      shortest_ns = answer.slowest_ns[b] < shortest_ns ? answer.slowest_ns[b] : shortest_ns;
    shortest_ns = shortest_ns > 0 ? shortest_ns : 1;
  }
  int64_t batches = SET_NS / shortest_ns;
  who->command.check = 0;
  who->command.batches = batches < 1 ? 1 : batches > SET_BATCHES ? SET_BATCHES : (int32_t)batches;
  return 0;
}

static int run_set(bench_job *job, bench_row *row, runner *who, int64_t round) {
  bench_answer answer;
  double set[BENCH_BATCHES];
  if (ask(job, who, &answer) != 0)
    return -1;
  if (row_failed(row, who, &answer))
    return 0;
  for (int b = 0; b < answer.batch_count; b++) {
    set[b] = (double)answer.slowest_ns[b] / (double)who->command.calls;
    who->batch_ns[who->batch_count++] = set[b];
  }
  who->set_ns[round] = median(set, answer.batch_count);
  return 0;
}

static int run_rounds(bench_job *job, bench_row *row, runner *all, int count) {
  const char *name = bench_collectives[row->collective].name;
  int64_t end_ns = tt_clock_ns() + (int64_t)(job->options->seconds * 1e9);
  char size[16];
  tt_format_bytes(row->bytes, size);
  for (int64_t round = 0; row->result == BENCH_OK && round < ROUNDS_MAX; round++) {
    if (round >= ROUNDS_MIN && tt_clock_ns() > end_ns)
      break;
    bench_progress("%s %s %s: round %lld", name, row->params, size, (long long)round + 1);
    for (int i = 0; i < count && row->result == BENCH_OK; i++)
      if (run_set(job, row, &all[(i + round) % count], round) != 0)
        return -1;
    row->round_count = round + 1;
  }
  return 0;
}

/* The last batch is checked like the first. */
static int check_last(bench_job *job, bench_row *row, runner *who) {
  bench_answer answer;
  who->command.check = 1;
  who->command.batches = 1;
  if (row->result != BENCH_OK || !job->options->check)
    return 0;
  if (ask(job, who, &answer) != 0)
    return -1;
  row_failed(row, who, &answer);
  return 0;
}

static void summarise(bench_row *row, const runner *first, runner *who, bench_stats *stats) {
  double ratio[ROUNDS_MAX];
  for (int64_t round = 0; round < row->round_count; round++)
    ratio[round] = who->set_ns[round] / first->set_ns[round];
  stats->ratio = median(ratio, row->round_count);
  stats->median_ns = median(who->batch_ns, who->batch_count);
  stats->p99_ns = quantile(who->batch_ns, who->batch_count, 0.99);
  stats->calls = who->command.calls;
  stats->batch_count = who->batch_count;
}

/* Every rank copies the vector: one a core at once, so often as ranks share a core. */
static void summarise_copy(const bench_job *job, bench_row *row, runner *copy) {
  int64_t turns = (job->options->rank_count + copy->rank_count - 1) / copy->rank_count;
  row->copy_ns = (double)turns * median(copy->batch_ns, copy->batch_count);
}

static bench_command command_of(const bench_job *job, const bench_row *row) {
  bench_command command = {.collective = (int32_t)row->collective,
                           .mode = (int32_t)job->options->mode,
                           .shared = job->options->shared_memory,
                           .bytes = row->bytes};
  snprintf(command.params, sizeof command.params, "%s", row->params);
  return command;
}

static int measure(bench_job *job, bench_row *row, runner *all, int count) {
  int group_count = job->group_count;
  int64_t target_ns = job->options->rank_count > job->core_count ? BATCH_SHARED_NS : BATCH_NS;
  for (int i = 0; i < group_count && row->result == BENCH_OK; i++)
    if (prepare(job, row, &all[i]) != 0)
      return -1;
  for (int i = 0; i < count && row->result == BENCH_OK; i++)
    if (calibrate(job, row, &all[i], i < group_count ? target_ns : BATCH_NS) != 0)
      return -1;
  if (run_rounds(job, row, all, count) != 0)
    return -1;
  for (int i = 0; i < group_count; i++)
    if (check_last(job, row, &all[i]) != 0)
      return -1;
  for (int i = 0; i < group_count && row->result == BENCH_OK; i++)
    summarise(row, &all[0], &all[i], &row->stats[i]);
  if (count > group_count && row->result == BENCH_OK)
    summarise_copy(job, row, &all[group_count]);
  return 0;
}

static bool init_runner(const bench_job *job, const bench_row *row, bench_group *group, runner *who) {
  *who = (runner){.group = group, .command = command_of(job, row), .rank_count = group->rank_count};
  who->batch_ns = calloc(ROUNDS_MAX * SET_BATCHES, sizeof *who->batch_ns);
  who->set_ns = calloc(ROUNDS_MAX, sizeof *who->set_ns);
  return who->batch_ns && who->set_ns;
}

int bench_point_run(bench_job *job, bench_row *row) {
  runner all[RUNNERS] = {0};
  int result = 0, count = job->group_count;
  for (int i = 0; i < job->group_count && result == 0; i++)
    result = init_runner(job, row, &job->group[i], &all[i]) ? 0 : bench_fail("no memory for the measurements");
  if (row->collective != BENCH_BARRIER && result == 0) {
    runner *copy = &all[count++];
    result = init_runner(job, row, &job->group[0], copy) ? 0 : bench_fail("no memory for the measurements");
    copy->command.verb = BENCH_COPY;
    copy->rank_count = job->core_count < copy->rank_count ? job->core_count : copy->rank_count;
  }
  if (result == 0)
    result = measure(job, row, all, count);
  for (int i = 0; i < RUNNERS; i++) {
    free(all[i].batch_ns);
    free(all[i].set_ns);
  }
  return result;
}

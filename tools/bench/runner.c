/* tools/bench/runner.c - calibration, interleaved rounds and what is computed from them: see runner.h. */
#include "runner.h"
#include "call.h"
#include "group.h"
#include "say.h"

#include "bench/layout.h"
#include "bench/pace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET_NS 3000000 /* a set of batches, about */
#define SET_BATCHES 20
#define COPY_DELAY_NS 300000 /* until every rank that copies is awake */
#define ROUNDS_MIN 7

int64_t bench_runner_target_ns(const bench_job *job) {
  return job->options->ranks.count > job->core_count ? BENCH_BATCH_SHARED_NS : BENCH_BATCH_NS;
}

/* ---- a runner ---- */

static bench_command command_of(const bench_job *job, const bench_row *row, const bench_group *group) {
  const bench_options *options = job->options;
  const char *more = group->launcher->params;
  bench_command command = bench_call_command(options);
  command.collective = (int32_t)row->collective;
  command.bytes = row->bytes;
  command.cores = job->core_count;
  command.sharing = (int32_t)((options->ranks.count - 1) / job->core_count + 1);
  command.delay = group->number == 0 ? options->call.delay : 0;
  snprintf(command.params, sizeof command.params, "%s%s%s", row->params, more && row->params[0] ? " " : "",
           more ? more : "");
  return command;
}

int bench_runner_init(const bench_job *job, const bench_row *row, bench_group *group, bench_runner *who) {
  *who = (bench_runner){.group = group, .command = command_of(job, row, group), .rank_count = group->rank_count};
  who->batch_ns = calloc(BENCH_ROUNDS_MAX * SET_BATCHES, sizeof *who->batch_ns);
  who->set_ns = calloc(BENCH_ROUNDS_MAX, sizeof *who->set_ns);
  return who->batch_ns && who->set_ns ? 0 : bench_fail("no memory for the measurements");
}

void bench_runner_finish(bench_runner *who) {
  free(who->batch_ns);
  free(who->set_ns);
  *who = (bench_runner){0};
}

static int ask(bench_job *job, bench_runner *who, bench_answer *answer) {
  who->command.start_ns = tt_clock_ns() + COPY_DELAY_NS;
  return bench_group_ask(job, who->group, &who->command, who->rank_count, answer);
}

/* Notes a failure that ends the row but not the job. Returns whether there is one. */
static bool row_failed(bench_row *row, const bench_runner *who, const bench_answer *answer) {
  if (answer->result == BENCH_OK)
    return false;
  row->result = answer->result;
  snprintf(row->text, sizeof row->text, "%s: %.400s", who->group->launcher->name, answer->text);
  return true;
}

/* Says so once, until it is something else that is lacking. */
static void say_lack(bench_group *group, const bench_row *row, const bench_options *options, const char *what) {
  bool sums = bench_form_of(row->collective).sums;
  char text[BENCH_TEXT];
  snprintf(text, sizeof text, "%s is not compared: it %.200s (%s%s%s)", group->launcher->name, what,
           tutti_type_name(options->call.type), sums ? ", " : "", sums ? tutti_op_name(options->call.op) : "");
  if (strcmp(text, group->lack) != 0)
    bench_print_remark("%s", text);
  memcpy(group->lack, text, sizeof text);
}

int bench_runner_prepare(bench_job *job, bench_row *row, bench_runner *who, bool *lacks) {
  bench_answer answer;
  bool sums = bench_form_of(row->collective).sums;
  *lacks = who->group->launcher->params && !sums; /* they would change nothing */
  if (*lacks)
    return 0;
  who->command.verb = BENCH_PREPARE;
  if (bench_group_ask(job, who->group, &who->command, who->rank_count, &answer) != 0)
    return -1;
  who->command.verb = BENCH_RUN;
  *lacks = answer.result == BENCH_LACKS && who->group->number > 0;
  if (*lacks)
    say_lack(who->group, row, job->options, answer.text);
  else
    row_failed(row, who, &answer);
  return 0;
}

/* ---- calibration ---- */

/* More calls in a batch until the shortest of three is long enough. */
int bench_runner_calibrate(bench_job *job, bench_row *row, bench_runner *who, int64_t target_ns, double *call_ns) {
  bench_answer answer;
  int64_t shortest_ns = 0;
  bool checked = who->command.verb == BENCH_RUN && job->options->call.check && who->command.parts != BENCH_COMPUTE;
  target_ns =
      who->command.apart && who->command.verb == BENCH_RUN ? 1 : target_ns; /* a batch is a call: bench/pace.h */
  who->command.calls = 0;
  who->command.batches = 3;
  while (shortest_ns < target_ns) {
    who->command.check = checked && who->command.calls == 0;
    who->command.calls = bench_more_calls(who->command.calls, shortest_ns, target_ns);
    if (ask(job, who, &answer) != 0)
      return -1;
    if (row_failed(row, who, &answer))
      return 0;
    shortest_ns = bench_shortest(&answer);
  }
  who->command.check = 0;
  who->command.batches = bench_set_batches(SET_NS, shortest_ns, SET_BATCHES);
  *call_ns = (double)shortest_ns / (double)who->command.calls;
  return 0;
}

/* ---- rounds ---- */

static int run_set(bench_job *job, bench_row *row, bench_runner *who, int64_t round) {
  bench_answer answer;
  double set[BENCH_BATCHES];
  if (ask(job, who, &answer) != 0)
    return -1;
  if (row_failed(row, who, &answer))
    return 0;
  who->ran = answer.ran;
  for (int b = 0; b < answer.batch_count; b++) {
    set[b] = (double)answer.slowest_ns[b] / (double)who->command.calls;
    who->batch_ns[who->batch_count++] = set[b];
  }
  who->set_ns[round] = bench_median(set, answer.batch_count);
  return 0;
}

int bench_runner_rounds(bench_job *job, bench_row *row, bench_runner *all, int count) {
  const char *name = tt_compose_info(row->collective).name;
  int64_t end_ns = tt_clock_ns() + (int64_t)(job->options->seconds * 1e9);
  int64_t least = job->options->seconds > 0 ? ROUNDS_MIN : 1;
  char size[16];
  tt_format_bytes(row->bytes, size);
  for (int64_t round = 0; row->result == BENCH_OK && round < BENCH_ROUNDS_MAX; round++) {
    if (round >= least && tt_clock_ns() > end_ns)
      break;
    bench_progress("%s %s %s: round %" PRId64, name, row->params, size, round + 1);
    for (int i = 0; i < count && row->result == BENCH_OK; i++)
      if (run_set(job, row, &all[(i + round) % count], round) != 0)
        return -1;
    row->round_count = round + 1;
  }
  return 0;
}

int bench_runner_watch(bench_job *job, bench_row *row, bench_runner *who, bench_levels *levels) {
  bench_answer answer;
  who->command.verb = BENCH_WATCH;
  int result = ask(job, who, &answer);
  who->command.verb = BENCH_RUN;
  *levels = answer.levels;
  if (result == 0)
    row_failed(row, who, &answer);
  return result;
}

int bench_runner_check(bench_job *job, bench_row *row, bench_runner *who) {
  bench_answer answer;
  int32_t batches = who->command.batches;
  if (row->result != BENCH_OK || !job->options->call.check)
    return 0;
  who->command.check = 1;
  who->command.batches = 1;
  int result = ask(job, who, &answer);
  who->command.check = 0;
  who->command.batches = batches; /* --levels has a set */
  if (result == 0)
    row_failed(row, who, &answer);
  return result;
}

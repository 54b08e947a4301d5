/* tools/bench/point.c - one row of calls: every library, and the copy of what has to move at least. */
#include "point.h"
#include "call.h"
#include "levels.h"
#include "runner.h"

#include "bench/layout.h"
#include "bench/pace.h"

/* Of the libraries that have type and operator; the copy comes last. */
typedef struct runners {
  bench_runner all[BENCH_GROUPS + 1];
  int libraries, count;
} runners;

static int add_library(bench_job *job, bench_row *row, bench_group *group, runners *with) {
  bench_runner *who = &with->all[with->count++];
  bool lacks = false;
  if (bench_runner_init(job, row, group, who) != 0 || bench_runner_prepare(job, row, who, &lacks) != 0)
    return -1;
  if (!lacks)
    return with->libraries++, 0;
  bench_runner_finish(who);
  with->count--;
  return 0;
}

static int add_copy(bench_job *job, bench_row *row, runners *with) {
  bench_runner *copy = &with->all[with->count++];
  if (bench_runner_init(job, row, &job->group[0], copy) != 0)
    return -1;
  copy->command.verb = BENCH_COPY;
  copy->rank_count = job->core_count < copy->rank_count ? job->core_count : copy->rank_count;
  return 0;
}

static void summarise(bench_row *row, const bench_runner *first, bench_runner *who) {
  double ratio[BENCH_ROUNDS_MAX];
  bench_stats *stats = &row->stats[who->group->number];
  for (int64_t round = 0; round < row->round_count; round++)
    ratio[round] = who->set_ns[round] / first->set_ns[round];
  *stats = (bench_stats){.present = true,
                         .ran = who->ran,
                         .ratio = bench_median(ratio, row->round_count),
                         .median_ns = bench_median(who->batch_ns, who->batch_count),
                         .calls = who->command.calls,
                         .batch_count = who->batch_count};
  stats->p99_ns = bench_quantile(who->batch_ns, who->batch_count, 0.99); /* which the median has sorted */
}

/* After all that is compared: these calls are slower. */
static int watch(bench_job *job, bench_row *row, runners *with) {
  bench_levels levels;
  for (int i = 0; i < with->libraries && job->options->levels && row->result == BENCH_OK; i++) {
    if (bench_runner_watch(job, row, &with->all[i], &levels) != 0)
      return -1;
    bench_stats_set_levels(&row->stats[with->all[i].group->number], &levels);
  }
  return 0;
}

static int measure(bench_job *job, bench_row *row, runners *with) {
  double call_ns;
  for (int i = 0; i < with->count && row->result == BENCH_OK; i++) {
    int64_t target_ns = i < with->libraries ? bench_runner_target_ns(job) : BENCH_BATCH_NS;
    with->all[i].command.bounded = with->all[0].command.calls;
    if (bench_runner_calibrate(job, row, &with->all[i], target_ns, &call_ns) != 0)
      return -1;
  }
  if (bench_runner_rounds(job, row, with->all, with->count) != 0)
    return -1;
  for (int i = 0; i < with->libraries; i++)
    if (bench_runner_check(job, row, &with->all[i]) != 0)
      return -1;
  if (row->result != BENCH_OK)
    return 0;
  for (int i = 0; i < with->libraries; i++)
    summarise(row, &with->all[0], &with->all[i]);
  if (with->count > with->libraries)
    row->copy_ns = bench_median(with->all[with->libraries].batch_ns, with->all[with->libraries].batch_count);
  return watch(job, row, with);
}

/* Whether anything has to come to any rank. */
static bool moves(const bench_options *options, const bench_row *row) {
  bench_problem problem = bench_call_problem(options, row->collective, row->bytes);
  int64_t moved = 0;
  for (int32_t rank = 0; rank < problem.ranks; rank++)
    moved += bench_moved(&problem, rank, 0);
  return moved > 0;
}

int bench_point_run(bench_job *job, bench_row *row) {
  runners with = {.count = 0};
  int result = 0;
  for (int g = 0; g < job->group_count && result == 0 && row->result == BENCH_OK; g++)
    result = add_library(job, row, &job->group[g], &with);
  if (result == 0 && row->result == BENCH_OK && moves(job->options, row))
    result = add_copy(job, row, &with);
  if (result == 0 && row->result == BENCH_OK)
    result = measure(job, row, &with);
  for (int i = 0; i < with.count; i++)
    bench_runner_finish(&with.all[i]);
  return result;
}

/* tests/simgrid/compare.c - our times beside SimGrid's: a row for each machine, job, composition and length.
 *
 *     simgrid_compare [RANKS [LEAST [MACHINE]]]    up to so many ranks: 64 (what system/simgrid runs), 256 or 1024
 *                                                  (default, what it runs with TUTTI_TEST_LONG=1); from LEAST on; of
 *                                                  machines whose name begins so
 *
 * A row is "contended" where a packet waits for a link. There SimGrid shares the link's bandwidth among the packets on
 * it, while ours go over it one after the other. Exit code 1 where the median difference of the rows without contention
 * is above 10 %: none of this is measured, every run says the same. */
#include "compare.h"

#include <math.h>
#include <string.h>

typedef struct sim_job {
  tt_collective collective;
  const char *params;
} sim_job;

static const sim_job jobs[] = {
    {TT_BROADCAST, "[core:2-nomial,far]"},
    {TT_BROADCAST, "[node:2-nomial,far/core:star]"},
    {TT_REDUCE, "[node:2-nomial,far/core:2-nomial,far]"},
    {TT_ALLREDUCE, "[core:2-nomial,xor]"},
    {TT_ALLREDUCE, "form=allgather.reduce-scatter [core:2-nomial,xor]"},
    {TT_ALLREDUCE, "form=allgather.reduce-scatter [core:chain]"},
    {TT_ALLREDUCE, "[node:chain/core:star]"},
    {TT_ALLREDUCE, "[node:2-nomial,xor/core:star] stripe=4"},
    {TT_ALLGATHER, "[core:2-nomial,near]"},
    {TT_ALLGATHER, "[core:chain]"},
    {TT_ALLGATHER, "[node:chain/core:star]"},
    {TT_REDUCE_SCATTER, "[core:2-nomial,xor]"},
    {TT_ALL_TO_ALL, "[core:2-nomial,near]"},
    {TT_ALL_TO_ALL, "[core:star]"},
    {TT_SCAN, "[core:2-nomial,reflect,far]"},
};

static const int64_t rank_counts[] = {64, 256, 1024}, blocks[] = {64, 65536};
enum { PACKETS_MOST = 100000, ROWS_MOST = 2000 };

static struct {
  double difference[2][ROWS_MOST]; /* not contended, contended */
  int count[2], left_out, failed;
} found;

/* ---- one row ---- */

static tutti_status open_plans(const machine *on, const sim_job *of, int64_t ranks, int64_t root, plans *all) {
  tt_problem problem = {.collective = of->collective, .rank_count = ranks, .root = root};
  tutti_status status = plans_begin(all, ranks, NULL, false);
  if (status == TUTTI_OK)
    status = machine_place(on, all);
  if (status == TUTTI_OK)
    status = tt_params_parse(of->params, &all->params);
  if (status == TUTTI_OK)
    status = plans_compose(&problem, NULL, all);
  return status == TUTTI_OK ? plans_lower(all) : status;
}

typedef struct ours {
  double time_ns; /* negative: no time */
  bool contended;
} ours;

/* Nothing is cut, so messages are packets. */
static int64_t packets(const played *of) {
  int64_t sum = 0;
  for (int c = 0; c < of->call_count; c++)
    for (int64_t r = 0; r < of->all[c]->count; r++)
      sum += tt_plan_sent(of->all[c]->plan[r], -1).messages;
  return sum;
}

static ours simulate(const played *of) {
  tt_sim_result result;
  tt_sim_call call[CALLS_MOST];
  ours time = {.time_ns = -1};
  for (int c = 0; c < of->call_count; c++)
    call[c] = (tt_sim_call){.plan = (const tt_plan *const *)of->all[c]->plan,
                            .lengths = {.total_bytes = of->block_bytes * of->all[c]->plan[0]->block_count}};
  if (tt_sim_run_calls(of->model, call, of->call_count, false, &result) == TUTTI_OK)
    time.time_ns = result.time_ps / 1000;
  time.contended = result.link_waits > 0;
  tt_sim_finish(&result);
  return time;
}

static void print_row(const machine *on, const sim_job *job, const played *of) {
  bool left_out = packets(of) > PACKETS_MOST;
  found.left_out += left_out;
  if (left_out)
    return;
  ours time = simulate(of);
  double theirs = play_once(of), difference = 100 * (time.time_ns - theirs) / theirs;
  printf("%-16s %5d %-15s %-50s %6d %12.2f %12.2f %+8.2f%%%s\n", on->name, (int)of->all[0]->count,
         tt_compose_info(job->collective).name, job->params, (int)of->block_bytes, time.time_ns / 1000, theirs / 1000,
         difference, time.contended ? " contended" : "");
  fflush(stdout);
  found.failed += time.time_ns < 0 || theirs < 0;
  if (time.time_ns >= 0 && theirs >= 0)
    found.difference[time.contended][found.count[time.contended]++] = fabs(difference);
}

static void print_rows(const machine *on, const sim_job *job, int64_t ranks) {
  plans all, also = {.count = 0};
  tt_sim_model model;
  sim_job beside = {TT_BROADCAST, on->also};
  tutti_status status = open_plans(on, job, ranks, 0, &all);
  if (on->also && status == TUTTI_OK)
    status = open_plans(on, &beside, ranks, ranks - 1, &also);
  if (status == TUTTI_OK) {
    tt_sim_model_init(&model, all.topo);
    status = tt_sim_model_parse(on->model, &model);
  }
  for (size_t n = 0; n < TT_COUNT(blocks) && status == TUTTI_OK; n++)
    print_row(
        on, job,
        &(played){.model = &model, .all = {&all, &also}, .call_count = on->also ? 2 : 1, .block_bytes = blocks[n]});
  if (status != TUTTI_OK)
    printf("%s, %d ranks, %s: %s\n", on->name, (int)ranks, job->params, tutti_last_error());
  found.failed += status != TUTTI_OK;
  plans_close(&all);
  if (on->also)
    plans_close(&also);
}

/* ---- all rows ---- */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double print_median(const char *name, int kind) {
  int count = found.count[kind];
  double *value = found.difference[kind];
  qsort(value, (size_t)count, sizeof *value, by_value);
  double median = count ? value[count / 2] : 0;
  printf("%s: %d rows, median difference %.2f %%, largest %.2f %%\n", name, count, median,
         count ? value[count - 1] : 0);
  return median;
}

int main(int argc, char **argv) {
  int64_t most = argc > 1 ? strtoll(argv[1], NULL, 10) : 1024;
  int64_t least = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;
  const char *only = argc > 3 ? argv[3] : "";
  if (argc > 4 || most < rank_counts[0])
    return fprintf(stderr, "usage: simgrid_compare [RANKS [LEAST [MACHINE]]], RANKS at least 64\n"), 2;
  printf("%-16s %5s %-15s %-50s %6s %12s %12s %9s\n", "machine", "ranks", "collective", "parameters", "block",
         "ours, us", "SimGrid, us", "difference");
  size_t machine_count;
  const machine *machines = machines_all(&machine_count);
  for (size_t n = 0; n < machine_count * TT_COUNT(rank_counts) * TT_COUNT(jobs); n++) {
    const machine *on = &machines[n / TT_COUNT(jobs) / TT_COUNT(rank_counts)];
    int64_t ranks = rank_counts[n / TT_COUNT(jobs) % TT_COUNT(rank_counts)];
    if (least <= ranks && ranks <= most && strncmp(on->name, only, strlen(only)) == 0)
      print_rows(on, &jobs[n % TT_COUNT(jobs)], ranks);
  }
  double median = print_median("nothing is contended", 0);
  print_median("contended", 1);
  printf("%d rows of more than %d packets are left out, %d failed\n", found.left_out, PACKETS_MOST, found.failed);
  return found.failed || found.count[0] == 0 || median > 10;
}

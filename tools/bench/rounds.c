/* tools/bench/rounds.c - `tutti bench --launch`: jobs of each library in turn, by launchers of the user's.
 *
 *     first     one job each without points: are their ranks where the others' are?
 *     round 0   tutti: all rows | openmpi: all rows | mpich: all rows
 *     round 1   openmpi | mpich | tutti
 *     ...
 *
 * Only one job is there at a time: the others take no cores, and a resource manager may permit no more. Times of a
 * round are a pair; a job's own luck (ports, buffers, what it finds on the machines) is a part of what is measured. */
#include "rounds.h"
#include "call.h"
#include "flow.h"
#include "header.h"
#include "json.h"
#include "levels.h"
#include "outside.h"
#include "say.h"
#include "signals.h"
#include "start.h"
#include "summary.h"

#include "bench/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one library, row and round; 0: not measured. */
typedef struct sample {
  double median_ns, p99_ns;
} sample;

typedef struct rounds {
  bench_job job; /* first: visits get it */
  bench_rows *rows;
  bench_map map;    /* of all libraries' ranks */
  sample *sample;   /* [library][row][round] */
  bool *left_out;   /* of each library: it has failed */
  int64_t done;     /* launches */
  int64_t start_ns; /* of the first round */
  int *row_of;      /* of each point of the job that runs */
  char **point;
  const bench_map *now; /* of that job's ranks */
  int group, round;     /* that run */
} rounds;

static sample *sample_at(const rounds *all, int group, int row, int64_t round) {
  const int64_t round_count = all->job.options->launch.round_count;
  return &all->sample[((int64_t)group * all->rows->count + row) * round_count + round];
}

/* ---- where the ranks are ---- */

static int32_t first_difference(const bench_map *a, const bench_map *b) {
  int32_t rank = 0;
  while (rank < a->ranks && rank < b->ranks &&
         strcmp(a->machine[a->machine_of[rank]].name, b->machine[b->machine_of[rank]].name) == 0)
    rank++;
  return rank;
}

/* TUTTI_NODES pretends machines to tutti alone: then only the numbers of ranks and hosts can be compared. */
static bool is_alike(const bench_map *own, const bench_map *map) {
  bool pretended = own->hosts < own->machines;
  return own->hosts == map->hosts && (pretended ? own->ranks == map->ranks : bench_map_equal(own, map));
}

static int check_placement(const rounds *all, const bench_group *group, const bench_map *map) {
  const bench_map *own = &all->map;
  const char *measured = all->job.group[0].launcher->name, *name = group->launcher->name;
  int32_t rank = first_difference(own, map);
  if (is_alike(own, map))
    return 0;
  if (own->ranks != map->ranks)
    return bench_fail("%s has %d ranks and %s %d: give both launchers the same number", measured, own->ranks, name,
                      map->ranks);
  if (rank == own->ranks)
    return bench_fail("%s has %d machines and %s %d", measured, own->machines, name, map->machines);
  return bench_fail("%s has rank %d on %s and %s on %s: give both launchers the same hosts in the same order", measured,
                    rank, own->machine[own->machine_of[rank]].name, name, map->machine[map->machine_of[rank]].name);
}

static int look_at(rounds *all, bench_group *group) {
  bench_outside outside = {.job = &all->job, .group = group, .task = bench_call_task(all->job.options)};
  bench_progress("%s: it did not report where its ranks are", group->launcher->name);
  int result = bench_outside_run(&outside);
  memcpy(group->version, outside.version, sizeof group->version);
  group->rank_count = outside.map.ranks;
  if (result == 0 && group->number == 0) {
    all->map = outside.map;
    return 0;
  }
  if (result == 0)
    result = check_placement(all, group, &outside.map);
  bench_map_finish(&outside.map);
  return result;
}

static int look_at_all(rounds *all) {
  bench_job *job = &all->job;
  for (int i = 0; i < job->options->library.count; i++) {
    bench_group *group = &job->group[job->group_count];
    *group = (bench_group){.launcher = job->options->library.at[i], .number = job->group_count};
    int result = look_at(all, group);
    if (result < 0 || (result > 0 && i == 0))
      return -1;
    job->group_count += result == 0;
  }
  return 0;
}

/* ---- rows and points ---- */

static int collect(bench_job *job, bench_rows *rows, bench_row *row) {
  (void)job;
  (void)rows;
  (void)row;
  return 0;
}

/* Parameters of a row change nothing in a library that takes none; a library of more parameters takes part in what they
 * change. */
static bool takes(const bench_launcher *launcher, const bench_row *row) {
  return !launcher->params || bench_form_of(row->collective).sums;
}

static int make_points(rounds *all, const bench_launcher *launcher) {
  int count = 0;
  for (int r = 0; r < all->rows->count; r++) {
    const bench_row *row = &all->rows->row[r];
    const char *more = launcher->params ? launcher->params : "";
    if (!takes(launcher, row))
      continue;
    snprintf(all->point[count], BENCH_TEXT, "%d,%" PRId64 ",%s%s%s", (int)row->collective, row->bytes,
             launcher->kind->worker ? "" : row->params, *more && row->params[0] ? " " : "", more);
    all->row_of[count++] = r;
  }
  return count;
}

static int make_room(rounds *all) {
  const bench_options *options = all->job.options;
  size_t rows = (size_t)all->rows->count;
  char *text = malloc(rows * BENCH_TEXT);
  all->sample = calloc((size_t)all->job.group_count * rows * (size_t)options->launch.round_count, sizeof *all->sample);
  all->row_of = calloc(rows, sizeof *all->row_of);
  all->point = calloc(rows, sizeof *all->point);
  all->left_out = calloc(BENCH_GROUPS, sizeof *all->left_out);
  if (!text || !all->sample || !all->row_of || !all->point || !all->left_out)
    return free(text), bench_fail("no memory for %zu rows of %" PRId64 " rounds", rows, options->launch.round_count);
  for (size_t r = 0; r < rows; r++)
    all->point[r] = text + r * BENCH_TEXT;
  return 0;
}

static void finish(rounds *all) {
  if (all->point)
    free(all->point[0]);
  free(all->point);
  free(all->row_of);
  free(all->left_out);
  free(all->sample);
  bench_map_finish(&all->map);
}

/* ---- rounds ---- */

static void print_failure(rounds *all, bench_row *row, const bench_figures *figures) {
  bench_group *group = &all->job.group[all->group];
  if (figures->result == BENCH_LACKS && all->group > 0) {
    if (strcmp(group->lack, figures->text) != 0)
      bench_print_remark("%s is not compared: it %s", group->launcher->name, figures->text);
    memcpy(group->lack, figures->text, sizeof group->lack);
    return;
  }
  row->result = figures->result;
  snprintf(row->text, sizeof row->text, "%s: %.400s", group->launcher->name, figures->text);
}

static void say_progress(const rounds *all, const bench_row *row) {
  const bench_job *job = &all->job;
  int64_t launches = job->group_count * job->options->launch.round_count;
  double left_s = all->done == 0 ? 0
                                 : (double)(tt_clock_ns() - all->start_ns) / 1e9 / (double)all->done *
                                       (double)(launches - all->done);
  char size[16];
  tt_format_bytes(row->bytes, size);
  bench_progress("round %d of %" PRId64 ": %s %s %s%s%.0f%s", all->round + 1, job->options->launch.round_count,
                 job->group[all->group].launcher->name, tt_compose_info(row->collective).name, size,
                 all->done ? ", about " : "", all->done ? left_s : 0, all->done ? " s left" : "");
}

static void hear_point(void *user, int number, const bench_figures *figures) {
  rounds *all = user;
  bench_row *row = &all->rows->row[all->row_of[number]];
  bench_stats *stats = &row->stats[all->group];
  say_progress(all, row);
  if (!is_alike(&all->map, all->now)) /* run_one says so */
    return;
  if (figures->result != BENCH_OK) {
    print_failure(all, row, figures);
    return;
  }
  *sample_at(all, all->group, all->row_of[number], all->round) = (sample){figures->median_ns, figures->p99_ns};
  stats->calls = figures->calls;
  stats->batch_count += figures->batches;
  bench_stats_add_flow(stats, all->now, figures->flow);
  bench_stats_set_levels(stats, &figures->levels);
}

static int run_one(rounds *all, int group, int round) {
  bench_outside outside = {.job = &all->job,
                           .group = &all->job.group[group],
                           .task = bench_call_task(all->job.options),
                           .point = all->point,
                           .listener = {all, hear_point}};
  all->now = &outside.map;
  all->group = group;
  all->round = round;
  outside.point_count = make_points(all, outside.group->launcher);
  int result = outside.point_count > 0 ? bench_outside_run(&outside) : 0;
  if (result == 0 && outside.point_count > 0 && !is_alike(&all->map, &outside.map))
    result = bench_fail("%s: its ranks are not where they were at first; give all jobs the same hosts",
                        outside.group->launcher->name);
  bench_map_finish(&outside.map);
  all->done++;
  return result;
}

/* A library that has failed is left out from there on; the one that is measured cannot be. */
static int run_rounds(rounds *all) {
  int count = all->job.group_count;
  all->start_ns = tt_clock_ns();
  for (int round = 0; round < all->job.options->launch.round_count; round++)
    for (int i = 0; i < count; i++) {
      int group = (i + round) % count;
      if (all->left_out[group] || run_one(all, group, round) == 0)
        continue;
      if (group == 0 || all->job.interrupted)
        return -1;
      all->left_out[group] = true;
      bench_print_remark("%s is left out from round %d on because it failed", all->job.group[group].launcher->name,
                         round + 1);
    }
  return 0;
}

/* ---- what came out ---- */

typedef struct series {
  double own[BENCH_ROUNDS_MAX], other[BENCH_ROUNDS_MAX], p99[BENCH_ROUNDS_MAX];
  int64_t count;
} series;

/* The rounds in which both have been measured. */
static void find_pairs(const rounds *all, int group, int row, series *pairs) {
  pairs->count = 0;
  for (int64_t round = 0; round < all->job.options->launch.round_count; round++) {
    const sample *own = sample_at(all, 0, row, round), *other = sample_at(all, group, row, round);
    if (own->median_ns <= 0 || other->median_ns <= 0)
      continue;
    pairs->own[pairs->count] = own->median_ns;
    pairs->p99[pairs->count] = other->p99_ns;
    pairs->other[pairs->count++] = other->median_ns;
  }
}

static void summarise(const rounds *all, int group, bench_row *row) {
  static series pairs;
  bench_stats *stats = &row->stats[group];
  find_pairs(all, group, (int)(row - all->rows->row), &pairs);
  stats->present = pairs.count > 0;
  if (!stats->present)
    return;
  if (group == 0)
    row->round_count = pairs.count;
  bench_interval ratio = bench_interval_of(pairs.other, pairs.own, pairs.count);
  stats->ratio = ratio.middle;
  stats->ratio_low = group > 0 ? ratio.low : 0;
  stats->ratio_high = group > 0 ? ratio.high : 0;
  stats->pair_count = pairs.count;
  stats->round_ns = malloc((size_t)pairs.count * sizeof *stats->round_ns);
  if (stats->round_ns)
    memcpy(stats->round_ns, pairs.other, (size_t)pairs.count * sizeof *stats->round_ns);
  stats->median_ns = bench_median(pairs.other, pairs.count);
  stats->p99_ns = bench_median(pairs.p99, pairs.count);
}

static void divide_flow(const rounds *all, int group, bench_row *row) {
  bench_stats *stats = &row->stats[group];
  int64_t count = 0;
  for (int64_t round = 0; round < all->job.options->launch.round_count; round++)
    count += sample_at(all, group, (int)(row - all->rows->row), round)->median_ns > 0;
  for (int host = 0; stats->flow && host < all->map.hosts; host++)
    for (int n = 0; n < stats->flow[host].nic_count; n++) {
      stats->flow[host].nic[n].sent /= (double)count;
      stats->flow[host].nic[n].received /= (double)count;
    }
}

static void print_rows(rounds *all) {
  for (int r = 0; r < all->rows->count; r++) {
    bench_row *row = &all->rows->row[r];
    for (int group = 0; group < all->job.group_count; group++) {
      divide_flow(all, group, row);
      summarise(all, group, row);
    }
    if (row->stats[0].present || row->result != BENCH_OK)
      bench_rows_done(&all->job, all->rows, row);
  }
}

static void print_stuck(const bench_job *job) {
  for (int g = 0; g < job->group_count; g++)
    if (job->group[g].stuck_count > 0)
      bench_print_remark("%s: %d of its jobs did not end after their last output and were killed",
                         job->group[g].launcher->name, job->group[g].stuck_count);
}

static int run_all(rounds *all, bench_options *options, FILE *json) {
  bench_job *job = &all->job;
  if (bench_signals_open(job) != 0 || look_at_all(all) != 0)
    return -1;
  job->map = &all->map;
  options->ranks.count = all->map.ranks;
  if (bench_rows_visit(job, all->rows, collect) != 0 || make_room(all) != 0)
    return -1;
  bench_print_header(job);
  int result = run_rounds(all);
  bench_progress_clear();
  print_rows(all);
  bench_print_summary(job, all->rows->row, all->rows->count);
  print_stuck(job);
  for (int g = 0; g < job->group_count; g++)
    all->rows->failed = all->rows->failed || all->left_out[g];
  if (json && bench_json_write(job, all->rows->row, all->rows->count, json) != 0)
    return -1;
  return result;
}

int bench_rounds_run(bench_options *options, bench_rows *rows, FILE *json) {
  static rounds all;
  all = (rounds){.job = {.options = options, .listener = -1, .signals = -1}, .rows = rows};
  int result = run_all(&all, options, json);
  bench_start_end(&all.job, false);
  finish(&all);
  return result;
}

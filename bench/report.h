/* bench/report.h - tasks and figures as text: between the driver of `tutti bench --launch` and the jobs that it starts,
 * which it reaches through their launcher only.
 *
 *     arguments   ranks SETTINGS POINT...           settings "0,0,0,0,0,0,1,0,0,0.5", points "3,65536,parameters"
 *     rank 0      tutti-bench: job 8 2 1 Open MPI v4.1.4        ranks, machines, hosts, version
 *     prints      tutti-bench: machine 0 0 4 2 node0 eth0=100000000,eth1=100000000    number, host, ranks, cores, ...
 *                 tutti-bench: ranks 0 0 0 0 1 1 1 1            the machine of each
 *                 tutti-bench: point 0 0 41 64 1234.5 2345.6    number, result, calls, batches, median, p99, reason
 *                 tutti-bench: nics 0 1 123.4/125.0,...         host, NICs: bytes sent/received a call, before its
 * point tutti-bench: levels 8 1234.5 3 1230.1         ranks, a call, the busiest rank, its call; before it tutti-bench:
 * level 1 1.5 900.2 2.5 700.1 node far, times of moving and waiting, of the busiest; name tutti-bench: alive at times,
 * so that silence means something tutti-bench: end
 *
 * A launcher may put labels before a line, and programs may print other lines. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "ranks.h"

#define BENCH_MARK "tutti-bench: "
#define BENCH_ALIVE_NS INT64_C(1000000000)

/* ---- tasks ---- */

static inline void bench_task_print(const bench_task *task, char *text, size_t size) {
  const bench_command *c = &task->command;
  snprintf(text, size, "%d,%d,%d,%d,%d,%d,%d,%d,%d,%g", c->type, c->op, c->sparse, c->mode, c->apart, c->shared,
           task->check, task->nics, task->levels, task->seconds);
}

static inline bool bench_task_parse(const char *text, bench_task *task) {
  bench_command *c = &task->command;
  int check, nics, levels;
  *task = (bench_task){.nics = false};
  bool whole = sscanf(text, "%d,%d,%d,%d,%d,%d,%d,%d,%d,%lf", &c->type, &c->op, &c->sparse, &c->mode, &c->apart,
                      &c->shared, &check, &nics, &levels, &task->seconds) == 10;
  task->check = whole && check;
  task->nics = whole && nics;
  task->levels = whole && levels;
  return whole && c->type >= 0 && c->type < TUTTI_TYPE_COUNT && c->op >= 0 && c->op < TUTTI_OP_COUNT;
}

static inline bool bench_point_parse(const char *text, bench_command *command) {
  int used = 0;
  if (sscanf(text, "%d,%" SCNd64 ",%n", &command->collective, &command->bytes, &used) != 2 || used == 0 ||
      command->collective < 0 || command->collective >= TT_COLLECTIVE_COUNT || command->bytes < 0)
    return false;
  snprintf(command->params, sizeof command->params, "%s", text + used);
  return true;
}

/* ---- what rank 0 prints ---- */

static inline void bench_report_machine(const bench_machine *machine, int number) {
  printf(BENCH_MARK "machine %d %d %d %d %s ", number, machine->host, machine->ranks, machine->cores, machine->name);
  for (int n = 0; n < machine->nic_count; n++)
    printf("%s%s=%" PRId64, n ? "," : "", machine->nic[n].name, machine->nic[n].bits_per_second);
  putchar('\n');
}

static inline void bench_report_job(const bench_ranks *all) {
  const bench_map *map = &all->map;
  printf(BENCH_MARK "job %d %d %d %s\n", map->ranks, map->machines, map->hosts, all->version);
  for (int m = 0; m < map->machines; m++)
    bench_report_machine(&map->machine[m], m);
  fputs(BENCH_MARK "ranks", stdout);
  for (int32_t rank = 0; rank < map->ranks; rank++)
    printf(" %d", map->machine_of[rank]);
  putchar('\n');
  fflush(stdout);
}

static inline void bench_report_flow(const bench_map *map, const bench_flow *flow) {
  for (int32_t host = 0; host < map->hosts; host++) {
    int count = bench_map_host(map, host)->nic_count;
    printf(BENCH_MARK "nics %d %d ", host, count);
    for (int n = 0; n < count; n++)
      printf("%s%.1f/%.1f", n ? "," : "", flow[host].sent[n], flow[host].received[n]);
    putchar('\n');
  }
}

static inline void bench_report_levels(const bench_levels *levels) {
  printf(BENCH_MARK "levels %d %.3f %d %.3f\n", levels->ranks, levels->call_ns, levels->busiest,
         levels->busiest_call_ns);
  for (int32_t n = 0; n < levels->level_count; n++) {
    const bench_level *level = &levels->level[n];
    printf(BENCH_MARK "level %d %.3f %.3f %.3f %.3f %s\n", level->far, level->mean.move_ns, level->mean.wait_ns,
           level->busiest.move_ns, level->busiest.wait_ns, level->name);
  }
}

static inline void bench_report_point(const bench_ranks *all, int number, const bench_figures *figures) {
  if (figures->flow)
    bench_report_flow(&all->map, figures->flow);
  if (figures->levels.ranks > 0)
    bench_report_levels(&figures->levels);
  printf(BENCH_MARK "point %d %d %" PRId64 " %" PRId64 " %.3f %.3f %.*s\n", number, figures->result, figures->calls,
         figures->batches, figures->median_ns, figures->p99_ns, (int)strcspn(figures->text, "\n"), figures->text);
  fflush(stdout);
}

static inline void bench_report_alive(const bench_ranks *all) {
  static int64_t last_ns;
  int64_t now_ns = bench_clock_ns();
  if (all->point.rank != 0 || now_ns - last_ns < BENCH_ALIVE_NS)
    return;
  puts(BENCH_MARK "alive");
  fflush(stdout);
  last_ns = now_ns;
}

static inline void bench_report_end(void) {
  puts(BENCH_MARK "end");
  fflush(stdout);
}

/* ---- what the driver reads ---- */

static inline void bench_report_read_nics(const char *list, bench_machine *machine) {
  char copy[512], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", list);
  for (char *one = strtok_r(copy, ",", &rest); one && machine->nic_count < BENCH_NICS;
       one = strtok_r(NULL, ",", &rest)) {
    bench_nic *nic = &machine->nic[machine->nic_count];
    machine->nic_count += sscanf(one, "%15[^=]=%" SCNd64, nic->name, &nic->bits_per_second) == 2;
  }
}

/* After "job": makes the map. */
static inline bool bench_report_read_job(const char *text, bench_map *map, char version[BENCH_TEXT]) {
  int ranks, machines, hosts, used = 0;
  if (sscanf(text, "%d %d %d %n", &ranks, &machines, &hosts, &used) != 3 || ranks < 1 || machines < 1 ||
      machines > ranks || hosts < 1 || hosts > machines || !bench_map_alloc(map, ranks, machines))
    return false;
  map->machines = machines;
  map->hosts = hosts;
  snprintf(version, BENCH_TEXT, "%s", text + used);
  return true;
}

static inline bool bench_report_read_machine(const char *text, bench_map *map) {
  bench_machine one = {0};
  int number, used = 0;
  if (sscanf(text, "%d %d %d %d %63s %n", &number, &one.host, &one.ranks, &one.cores, one.name, &used) != 5 ||
      number < 0 || number >= map->machines || one.host < 0 || one.host >= map->hosts)
    return false;
  bench_report_read_nics(text + used, &one);
  map->machine[number] = one;
  return true;
}

static inline bool bench_report_read_ranks(const char *text, bench_map *map) {
  char *end = NULL;
  for (int32_t rank = 0; rank < map->ranks; rank++, text = end) {
    long machine = strtol(text, &end, 10);
    if (end == text || machine < 0 || machine >= map->machines)
      return false;
    map->machine_of[rank] = (int32_t)machine;
  }
  for (int32_t rank = map->ranks; rank-- > 0;)
    map->machine[map->machine_of[rank]].first = rank;
  return true;
}

static inline bool bench_report_read_point(const char *text, int *number, bench_figures *figures) {
  int used = 0;
  *figures = (bench_figures){.result = BENCH_OK};
  if (sscanf(text, "%d %d %" SCNd64 " %" SCNd64 " %lf %lf %n", number, &figures->result, &figures->calls,
             &figures->batches, &figures->median_ns, &figures->p99_ns, &used) != 6 ||
      figures->result < BENCH_OK || figures->result > BENCH_FAILED)
    return false;
  snprintf(figures->text, sizeof figures->text, "%s", text + used);
  return figures->result != BENCH_OK || figures->median_ns > 0;
}

static inline bool bench_report_read_flow(const char *text, const bench_map *map, bench_flow *flow) {
  int host, count, used = 0;
  if (sscanf(text, "%d %d %n", &host, &count, &used) != 2 || host < 0 || host >= map->hosts || count > BENCH_NICS)
    return false;
  for (int n = 0; n < count; n++) {
    int length = 0;
    if (sscanf(text + used, "%lf/%lf%n", &flow[host].sent[n], &flow[host].received[n], &length) != 2)
      return false;
    used += length + (text[used + length] == ',');
  }
  return true;
}

/* After "levels": begins them. */
static inline bool bench_report_read_levels(const char *text, bench_levels *levels) {
  *levels = (bench_levels){0};
  return sscanf(text, "%d %lf %d %lf", &levels->ranks, &levels->call_ns, &levels->busiest, &levels->busiest_call_ns) ==
         4;
}

/* After "level": one more. */
static inline bool bench_report_read_level(const char *text, bench_levels *levels) {
  char name[BENCH_LEVEL_NAME];
  int far;
  bench_span mean, busiest;
  if (sscanf(text, "%d %lf %lf %lf %lf %15s", &far, &mean.move_ns, &mean.wait_ns, &busiest.move_ns, &busiest.wait_ns,
             name) != 6)
    return false;
  bench_level *level = bench_levels_find(levels, name, far != 0);
  if (!level)
    return false;
  level->mean = mean;
  level->busiest = busiest;
  return true;
}

/* ---- a job of a launcher's ---- */

static inline int bench_report_points(bench_ranks *all, bench_task *task, int count, char **point) {
  static bench_figures figures;
  for (int n = 0; n < count; n++) {
    if (!bench_point_parse(point[n], &task->command))
      return fprintf(stderr, "tutti bench worker: '%s' is not a point\n", point[n]), BENCH_FAILED;
    bench_ranks_measure(all, task, &figures);
    if (all->point.rank == 0)
      bench_report_point(all, n, &figures);
    if (figures.result == BENCH_FAILED)
      return BENCH_FAILED;
  }
  return BENCH_OK;
}

/* argv: program, "ranks", settings, points. A library that has failed is not left politely. */
static inline int bench_report_main(const bench_library *library, int argc, char **argv) {
  static bench_ranks all;
  static char text[BENCH_TEXT];
  bench_task task;
  if (argc < 3 || !bench_task_parse(argv[2], &task))
    return fprintf(stderr, "tutti bench worker: started by `tutti bench` only\n"), 2;
  if (bench_ranks_open(&all, library, text) != BENCH_OK) {
    fprintf(stderr, "tutti bench worker: %s\n", text);
    _exit(1);
  }
  all.alive = bench_report_alive;
  if (all.point.rank == 0)
    bench_report_job(&all);
  if (bench_report_points(&all, &task, argc - 3, argv + 3) != BENCH_OK)
    _exit(1);
  if (all.point.rank == 0)
    bench_report_end();
  bench_ranks_close(&all);
  library->close();
  return 0;
}

#endif

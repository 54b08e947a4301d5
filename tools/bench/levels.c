/* tools/bench/levels.c - --levels: below a row, where the time of a call goes.
 *
 *     #   tutti: where 325 us go, mean of 8 ranks                        | rank 2, which waits least
 *     #   node, far    moves  12.3 us   3.8%  waits   200 us  61.5%      | moves   7.0%  waits  50.0%
 *     #   core, near   moves  ...
 *     #   other               ...
 *
 * Each column adds up to the whole. */
#include "levels.h"
#include "columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_stats_set_levels(bench_stats *stats, const bench_levels *levels) {
  if (levels->ranks == 0)
    return;
  if (!stats->levels)
    stats->levels = malloc(sizeof *stats->levels);
  if (stats->levels)
    *stats->levels = *levels;
}

/* "node, far": what is far stands first, what is no level's last. */
static int place_of(const bench_level *level) { return level->far ? 0 : strcmp(level->name, "own") == 0 ? 2 : 1; }

static void print_us(double time_ns) {
  bench_print_time(8, time_ns);
  fputs(" us", stdout);
}

static void print_part(const char *what, double part_ns, double call_ns) {
  printf("  %s", what);
  print_us(part_ns);
  printf(" %5.1f%%", 100 * part_ns / call_ns);
}

static void print_level(const bench_levels *levels, const bench_level *level) {
  static const char *const places[] = {", far", ", near", ""};
  char name[BENCH_LEVEL_NAME + 8];
  snprintf(name, sizeof name, "%s%s", level->name, places[place_of(level)]);
  printf("#   %-14s", name);
  print_part("moves", level->mean.move_ns, levels->call_ns);
  print_part("waits", level->mean.wait_ns, levels->call_ns);
  printf("  | moves %5.1f%%  waits %5.1f%%\n", 100 * level->busiest.move_ns / levels->busiest_call_ns,
         100 * level->busiest.wait_ns / levels->busiest_call_ns);
}

static void print_library(const char *library, const bench_levels *levels) {
  printf("#   %s: where", library);
  print_us(levels->call_ns);
  printf(" go, mean of %d ranks | rank %d, which waits least\n", levels->ranks, levels->busiest);
  for (int place = 0; place < 3; place++)
    for (int32_t n = 0; n < levels->level_count; n++)
      if (place_of(&levels->level[n]) == place)
        print_level(levels, &levels->level[n]);
  double other = bench_levels_other(levels, false);
  printf("#   %-14s", "other");
  print_part("     ", other, levels->call_ns);
  printf("%26s| %11.1f%%\n", "", 100 * bench_levels_other(levels, true) / levels->busiest_call_ns);
}

void bench_print_levels(const bench_job *job, const bench_row *row) {
  for (int g = 0; g < job->group_count; g++)
    if (row->stats[g].levels)
      print_library(job->group[g].launcher->name, row->stats[g].levels);
}

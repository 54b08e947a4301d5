/* bench/levels.h - where the time of a call goes, by levels of the library's plans: what a rank says, and what that
 * comes to over all of them.
 *
 * Of calls that are measured for this alone. Means over ranks: their parts add up to the whole. What is no level's is
 * the rest: checking the call, telling others of it, and all that is between two calls. */
#ifndef BENCH_LEVELS_H
#define BENCH_LEVELS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BENCH_LEVELS 16
#define BENCH_LEVEL_NAME 16

typedef struct bench_level_spent {
  char name[BENCH_LEVEL_NAME];
  int32_t far; /* with ranks on other machines */
  int32_t unused;
  int64_t move_ns, wait_ns;
} bench_level_spent;

/* Of one rank, in all calls that were watched. */
typedef struct bench_spent {
  int64_t calls, call_ns; /* 0: none were */
  int32_t rank, level_count;
  bench_level_spent level[BENCH_LEVELS];
} bench_spent;

typedef struct bench_span {
  double move_ns, wait_ns; /* of a call */
} bench_span;

typedef struct bench_level {
  char name[BENCH_LEVEL_NAME];
  bool far;
  bench_span mean, busiest; /* over ranks; of the one that is busiest */
} bench_level;

typedef struct bench_levels {
  int32_t ranks;          /* that have said something; 0: no library that knows */
  double call_ns;         /* mean over ranks */
  int32_t busiest;        /* the rank that waits least */
  double busiest_call_ns; /* its */
  int32_t level_count;
  bench_level level[BENCH_LEVELS];
} bench_levels;

static inline bench_level *bench_levels_find(bench_levels *levels, const char *name, bool far) {
  for (int32_t n = 0; n < levels->level_count; n++)
    if (levels->level[n].far == far && strcmp(levels->level[n].name, name) == 0)
      return &levels->level[n];
  if (levels->level_count == BENCH_LEVELS)
    return NULL;
  bench_level *made = &levels->level[levels->level_count++];
  *made = (bench_level){.far = far};
  snprintf(made->name, sizeof made->name, "%.*s", (int)sizeof made->name - 1, name);
  return made;
}

static inline double bench_levels_waits(const bench_levels *levels) {
  double sum = 0;
  for (int32_t n = 0; n < levels->level_count; n++)
    sum += levels->level[n].busiest.wait_ns;
  return sum;
}

/* What no level has, of the ranks' mean or of the busiest. */
static inline double bench_levels_other(const bench_levels *levels, bool busiest) {
  double left = busiest ? levels->busiest_call_ns : levels->call_ns;
  for (int32_t n = 0; n < levels->level_count; n++) {
    const bench_span *span = busiest ? &levels->level[n].busiest : &levels->level[n].mean;
    left -= span->move_ns + span->wait_ns;
  }
  return left;
}

/* Whether the rank waits less than the busiest one so far. */
static inline bool bench_levels_is_busier(const bench_levels *levels, const bench_spent *spent) {
  double waits = 0;
  for (int32_t n = 0; n < spent->level_count; n++)
    waits += (double)spent->level[n].wait_ns / (double)spent->calls;
  return levels->ranks == 0 || waits < bench_levels_waits(levels);
}

static inline void bench_levels_set_busiest(bench_levels *levels, const bench_spent *spent) {
  levels->busiest = spent->rank;
  levels->busiest_call_ns = (double)spent->call_ns / (double)spent->calls;
  for (int32_t n = 0; n < levels->level_count; n++)
    levels->level[n].busiest = (bench_span){0, 0};
}

/* One more rank. */
static inline void bench_levels_add(bench_levels *levels, const bench_spent *spent) {
  if (spent->calls == 0)
    return;
  bool busier = bench_levels_is_busier(levels, spent);
  double calls = (double)spent->calls, before = levels->ranks, ranks = before + 1;
  if (busier)
    bench_levels_set_busiest(levels, spent);
  for (int32_t n = 0; n < levels->level_count; n++) {
    bench_span *mean = &levels->level[n].mean;
    *mean = (bench_span){mean->move_ns * before / ranks, mean->wait_ns * before / ranks};
  }
  levels->call_ns = (levels->call_ns * before + (double)spent->call_ns / calls) / ranks;
  levels->ranks++;
  for (int32_t n = 0; n < spent->level_count; n++) {
    const bench_level_spent *from = &spent->level[n];
    bench_level *level = bench_levels_find(levels, from->name, from->far);
    bench_span span = {(double)from->move_ns / calls, (double)from->wait_ns / calls};
    if (!level)
      continue;
    level->mean.move_ns += span.move_ns / ranks;
    level->mean.wait_ns += span.wait_ns / ranks;
    if (busier)
      level->busiest = span;
  }
}

#endif

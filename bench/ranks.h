/* bench/ranks.h - the ranks of a job that some launcher has started, perhaps on many machines, measure a point by
 * themselves.
 *
 * No driver tells them what to do: each runs the same tasks in the same order and decides from what all have told each
 * other through the library's own gather, so all decide the same. What is timed is the loop of loop.h. */
#ifndef BENCH_RANKS_H
#define BENCH_RANKS_H

#include "loop.h"
#include "map.h"
#include "pace.h"
#include "stats.h"

#define BENCH_BATCHES_KEPT 4096
#define BENCH_BATCHES_LEAST 3
#define BENCH_SETS 4 /* the time of a point is cut into so many, about */

typedef struct bench_task {
  bench_command command; /* calls, batches and check are chosen here */
  double seconds;        /* of measuring; 0: as little as possible */
  bool check;
  bool nics;   /* count what passes them */
  bool levels; /* say where the time goes */
} bench_task;

/* What came out: the same on all ranks. */
typedef struct bench_figures {
  int result;               /* bench_result */
  char text[BENCH_TEXT];    /* of a failure */
  double median_ns, p99_ns; /* of a call, slowest rank */
  int64_t calls, batches;
  bench_ran ran;          /* the last call */
  const bench_flow *flow; /* of each host; NULL: not counted */
  bench_levels levels;    /* of no ranks: not asked, or not known */
} bench_figures;

typedef struct bench_ranks {
  const bench_library *library;
  bench_point point;
  bench_command command; /* that the point was prepared for */
  char version[BENCH_TEXT];
  bench_map map;
  bench_place place;  /* of this rank */
  bench_reply *reply; /* of each rank */
  bench_traffic *traffic;
  bench_flow *flow;
  int64_t target_ns, start_ns;
  double call_ns;                               /* in the shortest batch of the last set */
  void (*alive)(const struct bench_ranks *all); /* now and then while measuring; NULL: nobody wants to know */
  double batch_ns[BENCH_BATCHES_KEPT];          /* of a call */
  int64_t batch_count;
} bench_ranks;

/* ---- agreement ---- */

/* What all ranks say. A library that cannot tell any more is a failure of this rank's. */
static inline int bench_ranks_agree(bench_ranks *all, const bench_reply *mine, bench_answer *answer) {
  memset(answer, 0, sizeof *answer);
  bench_reply lost = {.result = BENCH_OK};
  lost.result = all->library->gather(mine, all->reply, sizeof *mine, lost.text);
  for (int32_t rank = 0; rank < all->point.size && lost.result == BENCH_OK; rank++)
    bench_answer_add(answer, &all->reply[rank]);
  if (lost.result != BENCH_OK)
    bench_answer_add(answer, mine->result == BENCH_FAILED ? mine : &lost);
  return answer->result;
}

/* ---- opening ---- */

static inline void bench_ranks_close(bench_ranks *all) {
  bench_release_all(all->library, &all->point);
  free(all->reply);
  free(all->traffic);
  free(all->flow);
  bench_map_finish(&all->map);
}

static inline int bench_ranks_find_map(bench_ranks *all, char *text) {
  size_t size = (size_t)all->point.size;
  char nics[BENCH_LIST] = "";
  int64_t part = 0;
  bench_place *place = calloc(size, sizeof *place);
  if (all->library->place)
    all->library->place(all->point.rank, all->point.size, nics, &part);
  bench_place_find(nics, &all->place);
  all->place.part = part;
  int result = place ? all->library->gather(&all->place, place, sizeof *place, text) : BENCH_FAILED;
  if (result == BENCH_OK && !bench_map_make(&all->map, place, all->point.size))
    result = BENCH_FAILED;
  free(place);
  return result;
}

/* Afterwards bench_ranks_close. text: of a failure. */
static inline int bench_ranks_open(bench_ranks *all, const bench_library *library, char *text) {
  all->library = library;
  all->point.command = &all->command;
  int result = library->open(&all->point.rank, &all->point.size, text);
  if (result != BENCH_OK)
    return result;
  memcpy(all->version, text, sizeof all->version);
  snprintf(text, BENCH_TEXT, "no memory for a job of %d ranks", all->point.size);
  all->reply = calloc((size_t)all->point.size, sizeof *all->reply);
  all->traffic = calloc((size_t)all->point.size, sizeof *all->traffic);
  all->flow = calloc((size_t)all->point.size, sizeof *all->flow);
  if (!all->reply || !all->traffic || !all->flow)
    return BENCH_FAILED;
  result = bench_ranks_find_map(all, text);
  bool crowded = result == BENCH_OK && bench_map_is_crowded(&all->map);
  all->target_ns = all->map.machines > 1 ? BENCH_BATCH_APART_NS : crowded ? BENCH_BATCH_SHARED_NS : BENCH_BATCH_NS;
  return result;
}

/* ---- bytes ---- */

/* The lowest rank of each host reads. Batches begin with a barrier: nobody sends before all have read. */
static inline void bench_ranks_count(const bench_ranks *all, bench_traffic *traffic) {
  const bench_map *map = &all->map;
  int32_t host = map->machine[map->machine_of[all->point.rank]].host;
  memset(traffic, 0, sizeof *traffic);
  if (bench_map_host(map, host)->first == all->point.rank)
    bench_traffic_read(&all->place, traffic);
}

static inline int bench_ranks_gather_flow(bench_ranks *all, const bench_traffic *before, int64_t calls, char *text) {
  bench_traffic mine;
  bench_ranks_count(all, &mine);
  for (int n = 0; n < BENCH_NICS; n++) {
    mine.sent[n] -= before->sent[n];
    mine.received[n] -= before->received[n];
  }
  int result = all->library->gather(&mine, all->traffic, sizeof mine, text);
  for (int32_t host = 0; host < all->map.hosts && result == BENCH_OK; host++) {
    const bench_traffic *from = &all->traffic[bench_map_host(&all->map, host)->first];
    for (int n = 0; n < BENCH_NICS; n++) {
      all->flow[host].sent[n] = (double)from->sent[n] / (double)calls;
      all->flow[host].received[n] = (double)from->received[n] / (double)calls;
    }
  }
  return result;
}

/* ---- a point ---- */

static inline int bench_ranks_prepare(bench_ranks *all, const bench_task *task, bench_answer *answer) {
  bench_reply mine = {.result = BENCH_OK};
  bench_release_all(all->library, &all->point);
  all->command = task->command;
  mine.result = bench_prepare(all->library, &all->point, mine.text);
  return bench_ranks_agree(all, &mine, answer);
}

/* One set of batches; `late`: whether any rank says that the time is over. */
static inline int bench_ranks_run(bench_ranks *all, const bench_command *command, bench_answer *answer) {
  bench_reply mine = {.result = BENCH_OK};
  mine.result = bench_run(all->library, &all->point, command, &mine);
  if (all->map.hosts > 1) /* they have a clock each */
    memset(mine.begin_ns, 0, sizeof mine.begin_ns);
  mine.elapsed_ns = bench_clock_ns() - all->start_ns;
  int result = bench_ranks_agree(all, &mine, answer);
  all->call_ns = (double)bench_shortest(answer) / (double)command->calls;
  if (all->alive)
    all->alive(all);
  return result;
}

static inline void bench_ranks_keep(bench_ranks *all, const bench_command *command, const bench_answer *answer) {
  for (int b = 0; b < answer->batch_count && all->batch_count < BENCH_BATCHES_KEPT; b++)
    all->batch_ns[all->batch_count++] = (double)answer->slowest_ns[b] / (double)command->calls;
}

/* More calls in a batch until the shortest is long enough; those batches count already. */
static inline int bench_ranks_calibrate(bench_ranks *all, const bench_task *task, bench_command *command,
                                        bench_answer *answer) {
  int64_t shortest_ns = 0;
  int result = BENCH_OK;
  command->calls = 0;
  int64_t target_ns = task->command.apart ? 1 : all->target_ns; /* apart: a batch is a call (pace.h) */
  while (shortest_ns < target_ns && result == BENCH_OK) {
    command->check = task->check && command->calls == 0;
    command->batches = command->calls == 0 ? 1 : BENCH_BATCHES_LEAST;
    command->calls = bench_more_calls(command->calls, shortest_ns, target_ns);
    result = bench_ranks_run(all, command, answer);
    shortest_ns = bench_shortest(answer);
  }
  bench_ranks_keep(all, command, answer);
  return result;
}

/* Where all roots can have their turn within a set, each batch is whole turns: all libraries are timed with the same
 * roots. Batches of calibration were not. */
static inline void bench_ranks_turn(bench_ranks *all, const bench_task *task, bench_command *command) {
  const bench_form form = bench_form_of(command->collective);
  int64_t size = all->point.size, calls = (command->calls + size - 1) / size * size;
  bool rooted = form.from_root || form.to_root;
  if (!rooted || command->apart || all->call_ns * (double)calls > task->seconds * 1e9 / BENCH_SETS)
    return;
  command->calls = calls;
  all->batch_count = 0;
}

/* Whether there are batches enough: the same on all ranks, since `elapsed_ns` is. */
static inline bool bench_ranks_enough(const bench_ranks *all, const bench_task *task, const bench_answer *answer,
                                      bool counted) {
  if (all->batch_count >= BENCH_BATCHES_KEPT)
    return true;
  if ((task->nics && !counted) || all->batch_count < (task->seconds > 0 ? BENCH_BATCHES_LEAST : 1))
    return false;
  return (double)answer->elapsed_ns >= task->seconds * 1e9;
}

/* Sets of batches until the time is over; every one is checked, which is not timed. *calls: all, warming up included,
 * and those that say how long a delay has to be. */
static inline int bench_ranks_sets(bench_ranks *all, const bench_task *task, bench_command *command,
                                   bench_answer *answer, int64_t *calls) {
  int64_t set_ns = (int64_t)(task->seconds * 1e9 / BENCH_SETS);
  int result = BENCH_OK;
  *calls = 0;
  command->check = task->check;
  while (result == BENCH_OK && !bench_ranks_enough(all, task, answer, *calls > 0)) {
    int64_t batch_ns = (int64_t)(all->call_ns * (double)command->calls) + 1;
    command->batches = bench_set_batches(set_ns, batch_ns, BENCH_BATCHES);
    *calls += (command->batches * command->calls + command->calls / 8 + 1) * (command->delay > 0 ? 2 : 1);
    result = bench_ranks_run(all, command, answer);
    bench_ranks_keep(all, command, answer);
  }
  return result;
}

/* One set more, of which the times themselves are not kept. */
static inline int bench_ranks_watch(bench_ranks *all, const bench_task *task, bench_command *command,
                                    bench_answer *answer, bench_figures *figures) {
  if (!task->levels || !all->library->watch)
    return BENCH_OK;
  command->verb = BENCH_WATCH;
  int result = bench_ranks_run(all, command, answer);
  figures->levels = answer->levels;
  return result;
}

static inline int bench_ranks_time(bench_ranks *all, const bench_task *task, bench_answer *answer,
                                   bench_figures *figures) {
  bench_command command = task->command;
  bench_traffic before;
  int64_t calls;
  command.verb = BENCH_RUN;
  all->batch_count = 0;
  all->start_ns = bench_clock_ns();
  int result = bench_ranks_calibrate(all, task, &command, answer);
  if (result == BENCH_OK)
    bench_ranks_turn(all, task, &command);
  bench_ranks_count(all, &before);
  if (result == BENCH_OK)
    result = bench_ranks_sets(all, task, &command, answer, &calls);
  if (result == BENCH_OK && task->nics)
    result = answer->result = bench_ranks_gather_flow(all, &before, calls, answer->text);
  if (result == BENCH_OK)
    result = bench_ranks_watch(all, task, &command, answer, figures);
  if (result != BENCH_OK)
    return result;
  figures->ran = answer->ran;
  figures->calls = command.calls;
  figures->batches = all->batch_count;
  figures->median_ns = bench_median(all->batch_ns, all->batch_count);
  figures->p99_ns = bench_quantile(all->batch_ns, all->batch_count, 0.99);
  figures->flow = task->nics ? all->flow : NULL;
  return BENCH_OK;
}

/* Collective. After BENCH_FAILED the ranks are of no more use. */
static inline int bench_ranks_measure(bench_ranks *all, const bench_task *task, bench_figures *figures) {
  bench_answer answer;
  *figures = (bench_figures){.result = bench_ranks_prepare(all, task, &answer)};
  if (figures->result == BENCH_OK)
    figures->result = bench_ranks_time(all, task, &answer, figures);
  if (figures->result != BENCH_OK)
    memcpy(figures->text, answer.text, sizeof figures->text);
  return figures->result;
}

#endif

/* bench/dispatch.c - what the choice of parameters costs: the look-up of a call in the table that all ranks have, the
 * whole choice with it, and the making of the table. With a file of lessons: what rank 0 does with it when a job of
 * eight ranks on one machine starts.
 *
 *     bench_dispatch [LEARNED.json] */
#include "stats.h"

#include "tune/lessons.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 1 << 20, ROUNDS = 15, TABLES = 200 };

static const tt_region shape = {
    .collective = TT_ALLREDUCE, .rank_count = 8, .node_count = 1, .ranks_per_node = 8, .nic_count = 1};

/* Winners of every third power of two, and a lesson of two classes behind them. */
static tt_wisdom *make_wisdom(void) {
  static double vector[2 * TT_FEATURES] = {-1, 0, 0, 0, 0, 1}, weight[] = {1, -1};
  static tt_lessons lessons = {.path = "learned.json", .count = 1};
  tt_wisdom *wisdom;
  lessons.lesson[0] = (tt_lesson){.by = TT_TEACHER_CLASSIFIER,
                                  .least = shape,
                                  .most = shape,
                                  .class = {"linear", "ring"},
                                  .classifier = {2, 2, {1, 1}, 1, {0}, vector, weight}};
  lessons.lesson[0].collective = TT_ALLREDUCE;
  lessons.lesson[0].most.bytes = INT64_C(1) << 30;
  if (tt_wisdom_create("0123456789abcdef", "", &wisdom) != TUTTI_OK)
    exit(1);
  for (int power = 12; power < 24; power += 6) {
    tt_winner winner = {.region = shape, .text = "binomial"};
    winner.region.bytes = INT64_C(1) << power;
    if (tt_wisdom_put(wisdom, &winner) != TUTTI_OK)
      exit(1);
  }
  if (tt_lessons_infer(&lessons, &shape, wisdom) != TUTTI_OK)
    exit(1);
  return wisdom;
}

static void print(const char *what, double *ns, const char *unit) {
  printf("%-60s %8.1f %s\n", what, bench_median(ns, ROUNDS), unit);
}

/* As job/wisdom.c does, for each shape of the job. */
static void ask_lessons(const char *path) {
  double read_us[ROUNDS], infer_us[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    tt_lessons *lessons;
    tt_wisdom *wisdom;
    int64_t begin_ns = tt_clock_ns();
    if (tt_lessons_read(path, &lessons) != TUTTI_OK || tt_wisdom_create(lessons->machine, "", &wisdom) != TUTTI_OK) {
      fprintf(stderr, "%s\n", tutti_last_error());
      exit(1);
    }
    read_us[r] = (double)(tt_clock_ns() - begin_ns) / 1000;
    begin_ns = tt_clock_ns();
    for (int64_t ranks = 2; ranks <= 8; ranks++) {
      tt_region of = shape;
      of.rank_count = of.ranks_per_node = ranks;
      if (tt_lessons_infer(lessons, &of, wisdom) != TUTTI_OK)
        exit(1);
    }
    infer_us[r] = (double)(tt_clock_ns() - begin_ns) / 1000;
    tt_wisdom_destroy(wisdom);
    tt_lessons_destroy(lessons);
  }
  print("lessons are read", read_us, "us");
  print("lessons are asked for 2 .. 8 ranks", infer_us, "us");
}

int main(int argc, char **argv) {
  static int64_t bytes[CALLS];
  static tt_dispatch dispatch;
  double look_ns[ROUNDS], choose_ns[ROUNDS], make_us[ROUNDS];
  tt_wisdom *wisdom = make_wisdom();
  tt_authorities of = {.params = "", .wisdom = wisdom, .dispatch = &dispatch};
  tt_random random;
  int64_t found = 0, learned = 0;
  tt_random_init(&random, 1);
  for (int n = 0; n < CALLS; n++)
    bytes[n] = (int64_t)(tt_random_next(&random) >> (34 + tt_random_below(&random, 28)));
  for (int r = 0; r < ROUNDS; r++) {
    int64_t begin_ns = tt_clock_ns();
    for (int n = 0; n < TABLES; n++)
      tt_dispatch_make(wisdom, &shape, &dispatch);
    make_us[r] = (double)(tt_clock_ns() - begin_ns) / TABLES / 1000;
    begin_ns = tt_clock_ns();
    for (int n = 0; n < CALLS; n++)
      found += dispatch.winner[TT_ALLREDUCE][tt_dispatch_bucket(bytes[n])];
    look_ns[r] = (double)(tt_clock_ns() - begin_ns) / CALLS;
    tt_region call = shape;
    begin_ns = tt_clock_ns();
    for (int n = 0; n < CALLS; n++) {
      call.bytes = bytes[n];
      learned += tt_choose(&of, &call, false).by == TT_BY_LEARNED;
    }
    choose_ns[r] = (double)(tt_clock_ns() - begin_ns) / CALLS;
  }
  print("a look-up in the table", look_ns, "ns");
  print("the choice: program, TUTTI_PARAMS, wisdom, learned, model", choose_ns, "ns");
  print("the table of a shape", make_us, "us");
  printf("of %d calls lessons decided %" PRId64 " (%" PRId64 ")\n", CALLS, learned / ROUNDS, found);
  tt_wisdom_destroy(wisdom);
  if (argc > 1)
    ask_lessons(argv[1]);
  return 0;
}

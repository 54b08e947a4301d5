/* exec/stopwatch_test.c - a watched run says of which levels its time is, and does what it does unwatched.
 *
 *     rank 0 -> rank 1 at level "core", on its machine
 *     rank 0 -> rank 2 at level "node", on another machine */
#include "exec/testing.h"

enum { RANKS = 3, ELEMENTS = 1000, SLOT = 256 };

static const char *const plans[RANKS] = {
    "plan rank 0 of 3 blocks 1 parts 1 tmp 0 times 1 slice 0\nlevel 0 node\nlevel 1 core\n"
    "lane 0 id 0 send level 0 channel 0\n  0 t0 send ->2 b0 in.0 first last\n"
    "lane 1 id 128 send level 1 channel 0\n  0 t0 send ->1 b0 in.0 first last\n"
    "lane 2 id 1 local level 0 channel 0\n  0 t0 copy b0 in.0 => out.0\n",
    "plan rank 1 of 3 blocks 1 parts 1 tmp 0 times 1 slice 0\nlevel 0 node\nlevel 1 core\n"
    "lane 0 id 128 recv level 1 channel 0\n  0 t0 recv <-0 b0 => out.0 first last\n",
    "plan rank 2 of 3 blocks 1 parts 1 tmp 0 times 1 slice 0\nlevel 0 node\nlevel 1 core\n"
    "lane 0 id 0 recv level 0 channel 0\n  0 t0 recv <-0 b0 => out.0 first last\n"};

typedef struct fixture {
  test_job job;
  bool far[RANKS][RANKS];
  tt_spent spent[RANKS];
  int64_t elapsed_ns[RANKS]; /* in calls of the executor */
  int32_t in[ELEMENTS], out[RANKS][ELEMENTS];
} fixture;

/* The same stream tables, which know that rank 2 is on a machine of its own. */
static void open_stream_tables(fixture *of) {
  static const int64_t machine[RANKS] = {0, 0, 1};
  of->job.machine = machine;
  for (int64_t rank = 0; rank < RANKS; rank++) {
    for (int64_t peer = 0; peer < RANKS; peer++)
      of->far[rank][peer] = (rank == 2) != (peer == 2);
    tt_stream_table_spec spec = {.ops = tt_loop_ops(),
                                 .transport = of->job.transport[rank],
                                 .job_rank = of->job.job_rank,
                                 .rank = rank,
                                 .ids = TT_STREAM_TABLE_IDS,
                                 .rank_count = RANKS,
                                 .stream_base = 1000,
                                 .far = of->far[rank],
                                 .slot_bytes_minimum = SLOT};
    tt_stream_table_destroy(of->job.streams[rank]);
    test_ok(tt_stream_table_create(&spec, &of->job.streams[rank]));
  }
}

static void open_fixture(fixture *of) {
  memset(of, 0, sizeof *of);
  tt_loop_options options = {.rank_count = RANKS, .slot_bytes = SLOT, .slot_count = 2, .seed = 7};
  test_job_open(&of->job, &options, SLOT);
  open_stream_tables(of);
  for (int64_t rank = 0; rank < RANKS; rank++)
    test_job_plan(&of->job, rank, plans[rank]);
  for (int n = 0; n < ELEMENTS; n++)
    of->in[n] = 3 * n + 1;
}

static void start(fixture *of, int64_t rank, uint64_t call) {
  tt_run run = {.in = of->in,
                .out = of->out[rank],
                .blocks = {.block_count = 1, .total = ELEMENTS},
                .type = TUTTI_INT32,
                .call = call,
                .key = 1};
  test_ok(of->job.instance[rank]->ops->start(of->job.instance[rank], &run));
}

/* The clock goes on between two steps: what waits has waited. */
static bool step(fixture *of, int64_t rank) {
  bool done, moved;
  int64_t peer, before = tt_clock_ns();
  while (tt_clock_ns() == before)
    ;
  test_ok(of->job.instance[rank]->ops->step(of->job.instance[rank], &done, &moved, &peer));
  return done;
}

/* Readers look in vain before the sender starts. */
static void run_all(fixture *of, uint64_t call) {
  bool done[RANKS] = {false};
  memset(of->out, 0, sizeof of->out);
  int64_t before = tt_clock_ns();
  for (int64_t rank = RANKS - 1; rank >= 0; rank--) {
    start(of, rank, call);
    done[rank] = step(of, rank);
    assert_false(done[rank]);
  }
  while (!done[0] || !done[1] || !done[2])
    for (int64_t rank = 0; rank < RANKS; rank++)
      done[rank] = done[rank] || step(of, rank);
  for (int64_t rank = 0; rank < RANKS; rank++) {
    of->elapsed_ns[rank] += tt_clock_ns() - before;
    assert_memory_equal(of->out[rank], of->in, sizeof of->in);
  }
}

static void watch_all(fixture *of, bool on) {
  for (int64_t rank = 0; rank < RANKS; rank++)
    tt_stream_table_watch(of->job.streams[rank], on ? &of->spent[rank] : NULL);
}

static const tt_level_spent *find(const fixture *of, int rank, const char *name, bool far) {
  for (uint32_t n = 0; n < of->spent[rank].level_count; n++)
    if (of->spent[rank].level[n].far == far && strcmp(of->spent[rank].level[n].name, name) == 0)
      return &of->spent[rank].level[n];
  fail_msg("rank %d has spent nothing on %s", rank, name);
  return NULL;
}

static int64_t sum(const tt_spent *spent) {
  int64_t all = 0;
  for (uint32_t n = 0; n < spent->level_count; n++)
    all += spent->level[n].move_ns + spent->level[n].wait_ns;
  return all;
}

static void test_time_is_of_the_levels_of_steps(void **state) {
  static fixture of;
  (void)state;
  open_fixture(&of);
  watch_all(&of, true);
  for (uint64_t call = 1; call <= 3; call++)
    run_all(&of, call);
  assert_int_equal(of.spent[0].level_count, 3);
  find(&of, 0, "node", true);
  find(&of, 0, "core", false);
  assert_int_equal(find(&of, 0, "own", false)->wait_ns, 0); /* nobody is waited for */
  assert_int_equal(of.spent[1].level_count, 1);
  assert_true(find(&of, 1, "core", false)->wait_ns > 0);
  assert_int_equal(of.spent[2].level_count, 1);
  assert_true(find(&of, 2, "node", true)->wait_ns > 0);
  for (int rank = 0; rank < RANKS; rank++)
    assert_true(sum(&of.spent[rank]) <= of.elapsed_ns[rank]); /* no span is counted twice */
  test_job_close(&of.job);
}

static void test_unwatched_runs_add_nothing(void **state) {
  static fixture of;
  (void)state;
  open_fixture(&of);
  run_all(&of, 1);
  watch_all(&of, true);
  run_all(&of, 2);
  tt_spent before[RANKS];
  memcpy(before, of.spent, sizeof before);
  watch_all(&of, false);
  run_all(&of, 3);
  assert_memory_equal(before, of.spent, sizeof before);
  assert_true(sum(&of.spent[1]) > 0);
  test_job_close(&of.job);
}

static void test_more_levels_than_there_is_room_for_are_left_out(void **state) {
  static fixture of;
  (void)state;
  open_fixture(&of);
  watch_all(&of, true);
  for (int n = 0; n < TT_SPENT_LEVELS; n++)
    snprintf(of.spent[1].level[n].name, sizeof of.spent[1].level[n].name, "level%d", n);
  of.spent[1].level_count = TT_SPENT_LEVELS;
  run_all(&of, 1);
  assert_int_equal(of.spent[1].level_count, TT_SPENT_LEVELS);
  assert_int_equal(sum(&of.spent[1]), 0);
  test_job_close(&of.job);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_time_is_of_the_levels_of_steps),
      cmocka_unit_test(test_unwatched_runs_add_nothing),
      cmocka_unit_test(test_more_levels_than_there_is_room_for_are_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

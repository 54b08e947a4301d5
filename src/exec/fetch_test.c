/* exec/fetch_test.c - slots whose bytes lie in another process, fetched by the engine: where they are stored, and
 * combined. Ranks are threads here: the transport's remote_test.c has processes. */
#include "exec/engine.h"
#include "exec/testing.h"
#include "transport/shm/shm.h"

enum { RANKS = 2, SLOT_BYTES = 32 << 10, TOTAL = 50000, TURNS_MOST = 1000000 };

typedef struct fetcher {
  tutti_transport_ops ops; /* shm's; counts what is fetched */
  void *transport[RANKS];
  tt_stream_table *streams[RANKS];
  tt_plan *plan[RANKS];
  tt_bound_plan *bound[RANKS];
  tt_executor *instance[RANKS];
  int32_t in[RANKS][TOTAL], out[RANKS][TOTAL];
} fetcher;

static int fetched;
static bool single_copy = true;

static tutti_status count_fetch(void *self, tutti_stream *stream, size_t offset, void *to, size_t bytes) {
  fetched++;
  return tt_shm_ops()->fetch(self, stream, offset, to, bytes);
}

static void open_ranks(fetcher *of, const char *const *text) {
  static const int64_t job_rank[] = {0, 1};
  tt_shm_config config = {.bytes = 64 << 20, .slot_bytes = SLOT_BYTES, .slot_count = 2, .cma = 1};
  of->ops = *tt_shm_ops();
  of->ops.fetch = count_fetch;
  fetched = 0;
  test_ok(tt_shm_open_threads(&config, RANKS, of->transport));
  for (int r = 0; r < RANKS; r++) {
    tt_stream_table_spec spec = {.ops = &of->ops,
                                 .transport = of->transport[r],
                                 .job_rank = job_rank,
                                 .rank = r,
                                 .ids = TT_STREAM_TABLE_IDS,
                                 .rank_count = RANKS,
                                 .stream_base = 1000,
                                 .slot_bytes_minimum = SLOT_BYTES};
    test_ok(tt_stream_table_create(&spec, &of->streams[r]));
    test_ok(tt_plan_parse(text[r], &of->plan[r]));
    of->bound[r] = test_bind(of->plan[r], TT_CLASS_STREAMS);
    test_ok(tt_executor_create(of->bound[r], of->streams[r], &of->instance[r]));
    for (int n = 0; n < TOTAL; n++)
      of->in[r][n] = n * (r + 1);
  }
}

static void close_ranks(fetcher *of) {
  for (int r = 0; r < RANKS; r++) {
    tt_executor_destroy(of->instance[r]);
    tt_bound_plan_destroy(of->bound[r]);
    tt_plan_destroy(of->plan[r]);
    tt_stream_table_destroy(of->streams[r]);
    of->ops.close(of->transport[r]);
  }
  free(of);
}

/* other: elements that rank 1 expects. */
static void start_rank(fetcher *of, int rank, tt_run with) {
  with.in = of->in[rank];
  with.out = of->out[rank];
  with.call = 1;
  with.key = 9;
  test_ok(of->instance[rank]->ops->start(of->instance[rank], &with));
}

static void start(fetcher *of, int64_t other) {
  for (int r = 0; r < RANKS; r++)
    start_rank(of, r,
               (tt_run){.blocks = {.block_count = 1, .total = r ? other : TOTAL},
                        .type = TUTTI_INT32,
                        .op = TUTTI_SUM,
                        .single_copy = single_copy});
}

enum { BIG_WORDS = 3750, BIG_COUNT = TOTAL / BIG_WORDS };

static bool left_is_result;

/* Of elements of 15000 bytes. */
static void add_big(const void *left, const void *right, void *out, int64_t count, void *user) {
  const int32_t *a = left, *b = right;
  int32_t *sum = out;
  (void)user;
  left_is_result = left_is_result || left == out;
  for (int64_t n = 0; n < count * BIG_WORDS; n++)
    sum[n] = a[n] + b[n];
}

static void start_big(fetcher *of) {
  static const tt_user_op op = {.reduce = add_big, .element_bytes = BIG_WORDS * sizeof(int32_t), .commutes = true};
  for (int r = 0; r < RANKS; r++)
    start_rank(of, r,
               (tt_run){.blocks = {.block_count = 1, .total = BIG_COUNT},
                        .type = TUTTI_BYTE,
                        .element_bytes = BIG_WORDS * sizeof(int32_t),
                        .user_op = &op,
                        .single_copy = true});
}

static void run(fetcher *of) {
  bool done[RANKS] = {false}, moved;
  int64_t peer;
  for (int turn = 0; !done[0] || !done[1]; turn++) {
    assert_true(turn < TURNS_MOST);
    test_ok(of->instance[turn % 2]->ops->step(of->instance[turn % 2], &done[turn % 2], &moved, &peer));
  }
}

static fetcher *make(const char *const *text) {
  fetcher *of = calloc(1, sizeof *of);
  assert_non_null(of);
  open_ranks(of, text);
  return of;
}

static const char *const exchange[] = {
    "plan rank 0 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0\nlevel 0 core\n"
    "lane 0 id 1 send level 0 channel 0\n  0 t0 send ->1 b0 in.0 first last\n"
    "lane 1 id 1 recv level 0 channel 0\n  0 t0 reduce <-1 b0 in.0 => out.0 first last\n",
    "plan rank 1 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0\nlevel 0 core\n"
    "lane 0 id 1 send level 0 channel 0\n  0 t0 send ->0 b0 in.0 first last\n"
    "lane 1 id 1 recv level 0 channel 0\n  0 t0 reduce <-0 b0 in.0 => out.0 left first last\n"};
static const char *const move[] = {"plan rank 0 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0\nlevel 0 core\n"
                                   "lane 0 id 1 send level 0 channel 0\n  0 t0 send ->1 b0 in.0 first last\n",
                                   "plan rank 1 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0\nlevel 0 core\n"
                                   "lane 0 id 1 recv level 0 channel 0\n  0 t0 recv <-0 b0 => out.0 first last\n"};

static void test_fetched_slices_are_stored(void **state) {
  (void)state;
  fetcher *of = make(move);
  start(of, TOTAL);
  run(of);
  assert_memory_equal(of->out[1], of->in[0], sizeof of->in[0]);
  assert_int_equal(fetched, 1); /* one reference, however many slots that is */
  close_ranks(of);
}

static void test_fetched_slices_are_combined(void **state) {
  (void)state;
  fetcher *of = make(exchange);
  start(of, TOTAL);
  run(of);
  for (int n = 0; n < TOTAL; n++)
    assert_true(of->out[0][n] == 3 * n && of->out[1][n] == 3 * n);
  assert_int_equal(fetched, 2 * (1 + sizeof of->in[0] / (128 << 10))); /* each comes in pieces */
  close_ranks(of);
}

static void test_fetched_slices_are_finished(void **state) {
  static const char *const finish[] = {
      "plan rank 0 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0\nlevel 0 core\n"
      "lane 0 id 1 send level 0 channel 0\n  0 t0 send ->1 b0 in.0 first last\n",
      "plan rank 1 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0\nlevel 0 core\n"
      "lane 0 id 1 recv level 0 channel 0\n  0 t0 recv <-0 b0 => out.0 first last finish 2\n"};
  (void)state;
  fetcher *of = make(finish);
  for (int r = 0; r < RANKS; r++)
    start_rank(of, r,
               (tt_run){.blocks = {.block_count = 1, .total = TOTAL},
                        .type = TUTTI_INT32,
                        .op = TUTTI_AVERAGE,
                        .single_copy = true});
  run(of);
  for (int n = 0; n < TOTAL; n++)
    assert_int_equal(of->out[1][n], n / 2);
  assert_int_equal(fetched, 1);
  close_ranks(of);
}

static void test_fetched_slices_are_combined_with_what_is_there(void **state) {
  static const char *const twice[] = {
      "plan rank 0 of 2 blocks 1 parts 1 tmp 0 times 2 slice 0\nlevel 0 core\n"
      "lane 0 id 1 recv level 0 channel 0\n  0 t0 reduce <-1 b0 in.0 => out.0 first last\n"
      "  1 t1 reduce <-1 b0 out.0 => out.0 first last\n",
      "plan rank 1 of 2 blocks 1 parts 1 tmp 0 times 2 slice 0\nlevel 0 core\n"
      "lane 0 id 1 send level 0 channel 0\n  0 t0 send ->0 b0 in.0 first last\n  1 t1 send ->0 b0 in.0 first last\n"};
  (void)state;
  fetcher *of = make(twice);
  start_big(of);
  run(of);
  for (int n = 0; n < BIG_COUNT * BIG_WORDS; n++)
    assert_int_equal(of->out[0][n], 5 * n);
  start(of, TOTAL); /* more fits into what is fetched at once */
  run(of);
  for (int n = 0; n < TOTAL; n++)
    assert_int_equal(of->out[0][n], 5 * n);
  assert_true(fetched > 2);
  close_ranks(of);
}

/* What it does may depend on that, and both ranks have to get the same. */
static void test_users_operators_do_not_find_the_left_operand_in_the_result(void **state) {
  (void)state;
  fetcher *of = make(exchange);
  left_is_result = false;
  start_big(of);
  run(of);
  for (int n = 0; n < BIG_COUNT * BIG_WORDS; n++)
    assert_true(of->out[0][n] == 3 * n && of->out[1][n] == 3 * n);
  assert_false(left_is_result);
  close_ranks(of);
}

static void test_nothing_is_fetched_unless_the_run_says_so(void **state) {
  (void)state;
  fetcher *of = make(move);
  single_copy = false;
  start(of, TOTAL);
  run(of);
  single_copy = true;
  assert_memory_equal(of->out[1], of->in[0], sizeof of->in[0]);
  assert_int_equal(fetched, 0);
  close_ranks(of);
}

static void test_slice_of_another_length_is_a_mismatch(void **state) {
  (void)state;
  bool done, moved;
  int64_t peer = -1;
  fetcher *of = make(move);
  start(of, 100);
  test_ok(of->instance[0]->ops->step(of->instance[0], &done, &moved, &peer));
  assert_int_equal(of->instance[1]->ops->step(of->instance[1], &done, &moved, &peer), TUTTI_ERR_MISMATCH);
  assert_int_equal(peer, 0);
  assert_int_equal(of->out[1][100], 0); /* nothing behind the block was touched */
  close_ranks(of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fetched_slices_are_stored),
      cmocka_unit_test(test_fetched_slices_are_combined),
      cmocka_unit_test(test_fetched_slices_are_finished),
      cmocka_unit_test(test_fetched_slices_are_combined_with_what_is_there),
      cmocka_unit_test(test_users_operators_do_not_find_the_left_operand_in_the_result),
      cmocka_unit_test(test_nothing_is_fetched_unless_the_run_says_so),
      cmocka_unit_test(test_slice_of_another_length_is_a_mismatch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* exec/engine_test.c - hand-made plans on the loop transport: every type and operator, many schedules, slots, slices
 * and counts, both modes; and what happens when ranks differ. */
#include "exec/testing.h"
#include "support/sanitized.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>

/* One thread runs all ranks of a schedule: the thread sanitizer has little to see there, and is slow. */
#ifdef __SANITIZE_THREAD__
enum { SCHEDULES = 40 };
#else
enum { SCHEDULES = 400 };
#endif
enum { CALLS = 3, GUARD = 64, MAP_MOST = 400 };

/* Read by the sanitizers: an allocation that is too large fails, as it does without them. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

/* ---- plans ---- */

typedef struct shape { /* of a case */
  int64_t rank_count, blocks, parts, slice;
  bool in_place;
} shape;

static void add_header(test_text *text, const shape *of, int64_t rank, int64_t tmp, int64_t times) {
  text->used = 0;
  test_add(text, "plan rank %d of %d blocks %d parts %d tmp %d times %d slice %d%s\nlevel 0 core\n", (int)rank,
           (int)of->rank_count, (int)(of->blocks * of->parts), (int)of->parts, (int)tmp, (int)times, (int)of->slice,
           of->in_place ? " in-place" : "");
}

/* Allreduce of two ranks: both send all of their blocks in one message and combine what comes, left operand first. */
static void exchange_plan(test_text *text, const shape *of, int64_t rank) {
  int blocks = (int)(of->blocks * of->parts), peer = (int)(1 - rank);
  add_header(text, of, rank, 0, 1);
  test_add(text, "lane 0 id 3 send level 0 channel 0\n");
  for (int n = 0; n < blocks; n++)
    test_add(text, "  %d t0 send ->%d b%d in.%d%s%s\n", n, peer, n, n, n == 0 ? " first" : "",
             n == blocks - 1 ? " last" : "");
  test_add(text, "lane 1 id 3 recv level 0 channel 0\n");
  for (int n = 0; n < blocks; n++)
    test_add(text, "  %d t0 reduce <-%d b%d in.%d => out.%d%s%s%s finish 2 wait 0.%d\n", n, peer, n, n, n,
             rank == 1 ? " left" : "", n == 0 ? " first" : "", n == blocks - 1 ? " last" : "", n);
}

/* Where round t of the ring's reduction leaves the partial sum of a block: a cell for each round, out at the end. */
static void add_partial(test_text *text, int block, int round, int last) {
  if (round == last)
    test_add(text, "out.%d", block);
  else
    test_add(text, "tmp.%d", round);
}

/* Ring allreduce, one part: reduce-scatter, then allgather, slices forwarded as they come. */
static void ring_plan(test_text *text, const shape *of, int64_t rank) {
  int p = (int)of->rank_count, r = (int)rank, rounds = 2 * (p - 1), last = p - 2;
  add_header(text, of, rank, p - 2, rounds);
  test_add(text, "lane 0 id 1 send level 0 channel 0\n");
  for (int t = 0; t < rounds; t++) {
    int block = (r - t + 2 * p) % p;
    test_add(text, "  %d t%d send ->%d b%d ", t, t, (r + 1) % p, block);
    if (t == 0)
      test_add(text, "in.%d", block);
    else if (t - 1 < last)
      add_partial(text, block, t - 1, last);
    else
      test_add(text, "out.%d", block);
    test_add(text, " first last");
    if (t > 0)
      test_add(text, " wait 1.%d", t - 1);
    test_add(text, "\n");
  }
  test_add(text, "lane 1 id 1 recv level 0 channel 0\n");
  for (int t = 0; t < rounds; t++) {
    int block = (r - t - 1 + 3 * p) % p;
    test_add(text, "  %d t%d %s <-%d b%d ", t, t, t <= last ? "reduce" : "recv", (r + p - 1) % p, block);
    if (t <= last)
      test_add(text, "in.%d ", block);
    test_add(text, "=> ");
    if (t <= last)
      add_partial(text, block, t, last);
    else
      test_add(text, "out.%d", block);
    test_add(text, " first last");
    if (t == last)
      test_add(text, " finish %d", p);
    if (t > last)
      test_add(text, " wait 0.%d*", t - last - 1);
    test_add(text, "\n");
  }
}

/* Broadcast along a chain, all blocks in one message; a rank forwards what it has while more comes. */
static void chain_plan(test_text *text, const shape *of, int64_t rank) {
  int blocks = (int)(of->blocks * of->parts), lane = 0;
  add_header(text, of, rank, 0, of->rank_count);
  if (rank == 0) {
    test_add(text, "lane %d id 9 local level 0 channel 0\n", lane++);
    for (int n = 0; n < blocks; n++)
      test_add(text, "  %d t0 copy b%d in.%d => out.%d finish 1\n", n, n, n, n);
  } else {
    test_add(text, "lane %d id 5 recv level 0 channel 0\n", lane++);
    for (int n = 0; n < blocks; n++)
      test_add(text, "  %d t%d recv <-%d b%d => out.%d%s%s\n", n, (int)rank - 1, (int)rank - 1, n, n,
               n == 0 ? " first" : "", n == blocks - 1 ? " last" : "");
  }
  if (rank == of->rank_count - 1)
    return;
  test_add(text, "lane %d id 5 send level 0 channel 0\n", lane);
  for (int n = 0; n < blocks; n++) {
    test_add(text, "  %d t%d send ->%d b%d %s.%d%s%s", n, (int)rank, (int)rank + 1, n, rank == 0 ? "in" : "out", n,
             n == 0 ? " first" : "", n == blocks - 1 ? " last" : "");
    test_add(text, rank == 0 ? "\n" : " wait 0.%d\n", n);
  }
}

/* Allreduce by publishing: each rank's blocks go to all others at once, who take them in the order of ranks. Not in
 * place: a rank that could take no more before it has sent more would hold up a stream that others read before this
 * rank's. */
static void publish_plan(test_text *text, const shape *of, int64_t rank) {
  int blocks = (int)(of->blocks * of->parts), p = (int)of->rank_count, r = (int)rank, step = 0;
  char readers[64] = "";
  for (int peer = 0; peer < p; peer++)
    if (peer != r)
      snprintf(readers + strlen(readers), sizeof readers - strlen(readers), " %d", peer);
  add_header(text, of, rank, 0, 1);
  test_add(text, "lane 0 id 6 send level 0 channel 0 published readers%s\n", readers);
  for (int n = 0; n < blocks; n++)
    test_add(text, "  %d t0 send ->* b%d in.%d%s%s\n", n, n, n, n == 0 ? " first" : "", n == blocks - 1 ? " last" : "");
  test_add(text, "lane 1 id 6 recv level 0 channel 0 published readers%s\n", readers);
  for (int peer = 0; peer < p; peer++)
    for (int n = 0; n < blocks && peer != r; n++, step++) {
      test_add(text, "  %d t0 reduce <-%d b%d %s.%d => out.%d%s%s", step, peer, n, step < blocks ? "in" : "out", n, n,
               n == 0 ? " first" : "", n == blocks - 1 ? " last" : "");
      if (step >= (p - 2) * blocks)
        test_add(text, " finish %d", p);
      test_add(text, "\n");
    }
}

/* Whose element is operand number k, from the left, of what `rank` gets in `block`. */
static int64_t exchange_operand(int64_t ranks, int64_t rank, int64_t block, int64_t k) {
  (void)ranks, (void)rank, (void)block;
  return k;
}

static int64_t ring_operand(int64_t ranks, int64_t rank, int64_t block, int64_t k) {
  (void)rank;
  return (block - 1 - k + 2 * ranks) % ranks;
}

static int64_t publish_operand(int64_t ranks, int64_t rank, int64_t block, int64_t k) {
  (void)ranks, (void)block;
  return k == 0 ? rank : k - (k <= rank);
}

static const struct {
  const char *name;
  void (*plan)(test_text *text, const shape *of, int64_t rank);
  int64_t (*operand)(int64_t ranks, int64_t rank, int64_t block, int64_t k); /* NULL: reduces nothing */
  bool in_place;
} family[] = {{"exchange", exchange_plan, exchange_operand, true},
              {"ring", ring_plan, ring_operand, true},
              {"chain", chain_plan, NULL, false},
              {"publish", publish_plan, publish_operand, false}};

/* ---- a case: buffers, calls, results ---- */

typedef struct test_case {
  shape of;
  size_t family;
  size_t slot_bytes, slot_count;
  int64_t total; /* elements */
  tutti_type type;
  tutti_op op;
  uint64_t seed;
  bool threads, allocates; /* buffers from the transport */
  test_maps maps;          /* elements of the user's and his operator; 0 bytes: type and op */
  test_job job;
  unsigned char *in[TEST_RANKS], *out[TEST_RANKS];
  bool bad[TEST_RANKS];
} test_case;

static size_t bytes_of(const test_case *at) {
  return (size_t)at->total * (at->maps.bytes ? (size_t)at->maps.bytes : tutti_type_size(at->type));
}

static int64_t scale_of(const test_case *at) {
  return family[at->family].operand ? test_scale(at->op, at->of.rank_count) : 1;
}

static void describe(const test_case *at, int64_t rank, int64_t index) {
  print_error("%s ranks %" PRId64 " blocks %" PRId64 " parts %" PRId64 " slice %" PRId64
              "%s slots %zu x %zu total %" PRId64 " %s %s (elements of %" PRId64 ") "
              "seed %" PRIu64 "%s: rank %" PRId64 " element %" PRId64 "\n",
              family[at->family].name, at->of.rank_count, at->of.blocks, at->of.parts, at->of.slice,
              at->of.in_place ? " in place" : "", at->slot_count, at->slot_bytes, at->total, tutti_type_name(at->type),
              tutti_op_name(at->op), at->maps.bytes, at->seed, at->threads ? " threads" : "", rank, index);
}

static unsigned char *make_buffer(const test_case *at, int64_t rank) {
  void *memory = NULL;
  if (at->allocates)
    test_ok(tt_loop_ops()->alloc(at->job.transport[rank], bytes_of(at) + GUARD, &memory));
  else
    memory = aligned_alloc(64, (bytes_of(at) + GUARD + 63) / 64 * 64);
  assert_non_null(memory);
  return memory;
}

static void free_buffer(const test_case *at, int64_t rank, void *memory) {
  if (at->allocates)
    tt_loop_ops()->free(at->job.transport[rank], memory);
  else
    free(memory);
}

static void fill(test_case *at, int64_t rank) {
  memset(at->out[rank], 0x77, bytes_of(at) + GUARD);
  for (int64_t n = 0; n < at->total; n++)
    if (at->maps.bytes)
      test_put_map(&at->maps, at->in[rank] + n * at->maps.bytes, rank, n);
    else
      test_put(at->type, at->in[rank], n, test_value(rank, n, scale_of(at)));
}

static int64_t block_of(const test_case *at, int64_t index) {
  int64_t block = 0, base = at->total / at->of.blocks, extra = at->total % at->of.blocks;
  while (index >= (block + 1) * base + (block + 1 < extra ? block + 1 : extra))
    block++;
  return block;
}

/* Whether the rank's element is that of rank 0, or all ranks' maps composed in the order of the family. */
static bool right_map(test_case *at, int64_t rank, int64_t index) {
  unsigned char all[MAP_MOST], next[MAP_MOST];
  int64_t ranks = family[at->family].operand ? at->of.rank_count : 1, block = block_of(at, index);
  for (int64_t k = 0; k < ranks; k++) {
    int64_t from = ranks > 1 ? family[at->family].operand(ranks, rank, block, k) : 0;
    test_put_map(&at->maps, k ? next : all, from, index);
    if (k > 0)
      test_compose_one(all, next, all, at->maps.bytes);
  }
  return !at->maps.misaligned && memcmp(all, at->out[rank] + index * at->maps.bytes, (size_t)at->maps.bytes) == 0;
}

static bool right_number(const test_case *at, int64_t rank, int64_t index) {
  double want = family[at->family].operand ? test_combined(at->op, at->of.rank_count, index, scale_of(at))
                                           : test_value(0, index, scale_of(at));
  return test_get(at->type, at->out[rank], index) == want;
}

/* Whether the rank's result is right and nothing behind it was touched. */
static bool right(test_case *at, int64_t rank) {
  for (int64_t n = 0; n < at->total; n++)
    if (at->maps.bytes ? !right_map(at, rank, n) : !right_number(at, rank, n)) {
      describe(at, rank, n);
      return false;
    }
  for (size_t n = 0; n < GUARD; n++)
    if (at->out[rank][bytes_of(at) + n] != 0x77)
      return false;
  return true;
}

static tutti_status start(test_case *at, int64_t rank, uint64_t call) {
  fill(at, rank);
  tt_user_op op = {test_compose, &at->maps, (size_t)at->maps.bytes, false};
  tt_run run = {.in = at->in[rank],
                .out = at->out[rank],
                .moves_only = !family[at->family].operand,
                .blocks = {.block_count = at->of.blocks, .total = at->total},
                .type = at->type,
                .op = at->op,
                .element_bytes = at->maps.bytes,
                .user_op = at->maps.bytes ? &op : NULL,
                .call = call,
                .key = 42};
  return at->job.instance[rank]->ops->start(at->job.instance[rank], &run);
}

static void open_case(test_case *at) {
  tt_loop_options options = {at->of.rank_count, at->slot_bytes, at->slot_count, at->threads, at->seed};
  test_job_open(&at->job, &options, at->slot_bytes);
  test_text *text = malloc(sizeof *text);
  assert_non_null(text);
  for (int64_t rank = 0; rank < at->of.rank_count; rank++) {
    family[at->family].plan(text, &at->of, rank);
    test_job_plan(&at->job, rank, text->data);
    at->out[rank] = make_buffer(at, rank);
    at->in[rank] = at->of.in_place ? at->out[rank] : make_buffer(at, rank);
    at->bad[rank] = false;
  }
  free(text);
}

static void close_case(test_case *at) {
  for (int64_t rank = 0; rank < at->of.rank_count; rank++) {
    if (!at->of.in_place)
      free_buffer(at, rank, at->in[rank]);
    free_buffer(at, rank, at->out[rank]);
  }
  test_job_close(&at->job);
}

/* Steps the rank's instance; true when it is complete, after checking its result and starting the next call, if any. */
static bool step_rank(test_case *at, int64_t rank, uint64_t *call) {
  bool done, moved;
  int64_t peer = -1;
  test_ok(at->job.instance[rank]->ops->step(at->job.instance[rank], &done, &moved, &peer));
  if (!done)
    return false;
  at->bad[rank] |= !right(at, rank);
  if (*call == CALLS)
    return true;
  test_ok(start(at, rank, ++*call));
  return false;
}

static void run_scheduled(test_case *at) {
  uint64_t call[TEST_RANKS];
  bool done[TEST_RANKS] = {false};
  int64_t left = at->of.rank_count;
  for (int64_t rank = 0; rank < left; rank++)
    test_ok(start(at, rank, call[rank] = 1));
  for (int64_t turns = 0; left > 0; turns++) {
    if (turns > 10000000)
      describe(at, -1, -1);
    assert_true(turns <= 10000000);
    int64_t rank = (int64_t)tt_loop_pick(at->job.loop, (uint64_t)at->of.rank_count);
    if (!done[rank] && step_rank(at, rank, &call[rank])) {
      done[rank] = true;
      left--;
    }
  }
}

typedef struct thread {
  test_case *at;
  int64_t rank;
  pthread_t id;
} thread;

static void *run_rank(void *argument) {
  thread *self = argument;
  uint64_t call = 1;
  test_ok(start(self->at, self->rank, call));
  while (!step_rank(self->at, self->rank, &call))
    sched_yield();
  return NULL;
}

static void run_threads(test_case *at) {
  thread of[TEST_RANKS];
  for (int64_t rank = 0; rank < at->of.rank_count; rank++) {
    of[rank] = (thread){.at = at, .rank = rank};
    assert_int_equal(pthread_create(&of[rank].id, NULL, run_rank, &of[rank]), 0);
  }
  for (int64_t rank = 0; rank < at->of.rank_count; rank++)
    pthread_join(of[rank].id, NULL);
}

static void run_case(test_case *at) {
  open_case(at);
  if (at->threads)
    run_threads(at);
  else
    run_scheduled(at);
  for (int64_t rank = 0; rank < at->of.rank_count; rank++)
    assert_false(at->bad[rank]);
  close_case(at);
}

static int64_t one_of(tt_random *random, const int64_t *choice, size_t count) {
  return choice[tt_random_below(random, count)];
}

#define ONE_OF(random, ...)                                                                                            \
  one_of(random, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void random_case(test_case *at, uint64_t seed, bool threads) {
  tt_random random;
  tt_random_init(&random, seed);
  memset(at, 0, sizeof *at);
  at->seed = seed;
  at->threads = threads;
  at->family = tt_random_below(&random, TT_COUNT(family));
  at->of.rank_count = family[at->family].plan == exchange_plan ? 2 : ONE_OF(&random, 2, 3, 4, 5);
  bool ring = family[at->family].plan == ring_plan;
  at->of.blocks = ring ? at->of.rank_count : ONE_OF(&random, 1, 2, 5, 9);
  at->of.parts = ring ? 1 : ONE_OF(&random, 1, 1, 2, 3);
  at->of.slice = ONE_OF(&random, 0, 64, 200, 512);
  at->of.in_place = ONE_OF(&random, 0, 0, 1) && family[at->family].in_place;
  at->slot_bytes = (size_t)ONE_OF(&random, 64, 128, 1024, 16384);
  at->slot_count = (size_t)ONE_OF(&random, 1, 2, 4);
  at->total = ONE_OF(&random, 0, 1, 2, 17, 64, 200, 1000, 5000) + (int64_t)tt_random_below(&random, 3);
  at->type = (tutti_type)tt_random_below(&random, TEST_TYPES);
  at->op = (tutti_op)tt_random_below(&random, TEST_OPS);
  at->allocates = ONE_OF(&random, 0, 1);
  int64_t slice = at->of.slice && at->of.slice < (int64_t)at->slot_bytes ? at->of.slice & -64 : (int64_t)at->slot_bytes;
  at->maps.bytes = ONE_OF(&random, 0, 0, 1, 3, 12, 16, 48, 64, 100, 192, 400);
  if (at->maps.bytes > slice && family[at->family].operand) /* what is only moved may be longer */
    at->maps.bytes = 24;
}

static void test_plans_give_right_results_under_every_schedule(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < (uint64_t)fewer_sanitized(SCHEDULES); seed++) {
    test_case at;
    random_case(&at, seed, false);
    run_case(&at);
  }
}

static void test_plans_give_right_results_between_threads(void **state) {
  (void)state;
  for (uint64_t seed = 1000; seed < 1060; seed++) {
    test_case at;
    random_case(&at, seed, true);
    run_case(&at);
  }
}

/* One slot, many small blocks and a message longer than all slots: nothing hangs, for 200 schedules. */
static void test_one_slot_is_enough_for_long_messages(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 200; seed++) {
    test_case at = {.of = {.rank_count = 3, .blocks = 7, .parts = 2, .slice = 64},
                    .family = 2,
                    .slot_bytes = 128,
                    .slot_count = 1,
                    .total = 3001,
                    .type = TUTTI_INT32,
                    .seed = seed};
    run_case(&at);
  }
}

static void test_large_pieces_of_shared_memory_travel_as_references(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    test_case at = {.of = {.rank_count = 3, .blocks = 2, .parts = 1},
                    .family = 2,
                    .slot_bytes = 8192,
                    .slot_count = 2,
                    .total = 50000,
                    .type = TUTTI_FLOAT32,
                    .seed = seed,
                    .allocates = true};
    run_case(&at);
  }
}

/* ---- ranks that differ ---- */

static void test_other_key_is_a_mismatch_that_names_the_peer(void **state) {
  (void)state;
  test_case at = {.of = {.rank_count = 2, .blocks = 1, .parts = 1},
                  .slot_bytes = 1024,
                  .slot_count = 2,
                  .total = 10,
                  .type = TUTTI_INT32,
                  .threads = true};
  open_case(&at);
  test_ok(start(&at, 0, 7));
  test_ok(start(&at, 1, 8));
  bool done, moved;
  int64_t peer = -1;
  test_ok(at.job.instance[0]->ops->step(at.job.instance[0], &done, &moved, &peer));
  assert_true(moved);
  assert_int_equal(at.job.instance[1]->ops->step(at.job.instance[1], &done, &moved, &peer), TUTTI_ERR_MISMATCH);
  assert_int_equal(peer, 0);
  assert_non_null(strstr(tutti_last_error(), "rank 0"));
  assert_int_equal(at.job.instance[1]->ops->step(at.job.instance[1], &done, &moved, &peer), TUTTI_ERR_MISMATCH);
  assert_false(done);
  for (size_t n = 0; n < bytes_of(&at); n++)
    assert_int_equal(at.out[1][n], 0x77);
  close_case(&at);
}

static void test_more_bytes_than_expected_are_a_mismatch(void **state) {
  (void)state;
  test_case at = {.of = {.rank_count = 2, .blocks = 1, .parts = 1},
                  .slot_bytes = 1024,
                  .slot_count = 2,
                  .total = 10,
                  .type = TUTTI_INT32,
                  .threads = true};
  open_case(&at);
  test_ok(start(&at, 0, 1));
  at.total = 8;
  test_ok(start(&at, 1, 1));
  bool done, moved;
  int64_t peer = -1;
  test_ok(at.job.instance[0]->ops->step(at.job.instance[0], &done, &moved, &peer));
  assert_int_equal(at.job.instance[1]->ops->step(at.job.instance[1], &done, &moved, &peer), TUTTI_ERR_MISMATCH);
  at.total = 10;
  close_case(&at);
}

static void test_absurd_sizes_are_errors(void **state) {
  (void)state;
  test_case at = {.of = {.rank_count = 3, .blocks = 3, .parts = 1},
                  .family = 1,
                  .slot_bytes = 1024,
                  .slot_count = 2,
                  .total = 10,
                  .type = TUTTI_FLOAT64};
  open_case(&at);
  tt_run run = {.blocks = {.block_count = 3, .total = INT64_MAX / 4}, .type = TUTTI_FLOAT64, .op = TUTTI_SUM};
  assert_int_equal(at.job.instance[0]->ops->start(at.job.instance[0], &run), TUTTI_ERR_MEMORY);
  run.blocks.total = INT64_MAX / 8;
  assert_int_equal(at.job.instance[0]->ops->start(at.job.instance[0], &run), TUTTI_ERR_MEMORY);
  run.blocks.block_count = 2;
  assert_int_equal(at.job.instance[0]->ops->start(at.job.instance[0], &run), TUTTI_ERR_ARGUMENT);
  close_case(&at);
}

/* ---- elements and operators that cannot be ---- */

static tutti_status start_elements(size_t slot_bytes, int64_t slice, tt_run run) {
  test_case at = {.of = {.rank_count = 2, .blocks = 1, .parts = 1, .slice = slice},
                  .slot_bytes = slot_bytes,
                  .slot_count = 2,
                  .type = TUTTI_INT32};
  open_case(&at);
  run.blocks.block_count = 1;
  tutti_status status = at.job.instance[0]->ops->start(at.job.instance[0], &run);
  close_case(&at);
  return status;
}

static void test_element_longer_than_a_slot_is_an_error_where_it_is_combined(void **state) {
  (void)state;
  tt_user_op op = {test_compose, NULL, 1001, false};
  tt_run run = {.element_bytes = 1001, .user_op = &op};
  assert_int_equal(start_elements(1024, 0, run), TUTTI_OK);
  assert_int_equal(start_elements(512, 0, run), TUTTI_ERR_ARGUMENT);
  assert_non_null(strstr(tutti_last_error(), "1001"));
  assert_non_null(strstr(tutti_last_error(), "512"));
  assert_int_equal(start_elements(4096, 960, run), TUTTI_OK); /* no slice cuts an element */
  run.moves_only = true;
  assert_int_equal(start_elements(512, 0, run), TUTTI_OK);
}

static void test_operator_that_does_not_fit_is_an_error(void **state) {
  (void)state;
  tt_user_op op = {test_compose, NULL, 12, false};
  static const struct {
    tutti_type type;
    tutti_op op;
    int64_t element_bytes;
    bool user, fits;
  } rows[] = {
      {TUTTI_FLOAT32, TUTTI_BIT_AND, 0, false, false}, {TUTTI_UINT16, TUTTI_BIT_AND, 0, false, true},
      {TUTTI_COMPLEX64, TUTTI_MAX, 0, false, false},   {TUTTI_FLOAT64_INT32, TUTTI_MIN_LOC, 0, false, true},
      {TUTTI_BYTE, TUTTI_SUM, 0, false, false},        {TUTTI_BYTE, TUTTI_SUM, 12, false, false},
      {TUTTI_BYTE, TUTTI_SUM, 12, true, true},         {TUTTI_BYTE, TUTTI_SUM, 13, true, false},
      {TUTTI_INT32, TUTTI_SUM, 0, true, false},
  };
  for (size_t n = 0; n < TT_COUNT(rows); n++) {
    tt_run run = {.type = rows[n].type,
                  .op = rows[n].op,
                  .element_bytes = rows[n].element_bytes,
                  .user_op = rows[n].user ? &op : NULL};
    assert_int_equal(start_elements(1024, 0, run), rows[n].fits ? TUTTI_OK : TUTTI_ERR_ARGUMENT);
  }
}

/* ---- what the log sees ---- */

static void count_bytes(void *user, const tt_access *access) {
  int64_t *bytes = user; /* read, written */
  bytes[access->write] += (int64_t)access->bytes;
}

static void test_log_sees_every_byte(void **state) {
  (void)state;
  test_case at = {.of = {.rank_count = 2, .blocks = 3, .parts = 1},
                  .slot_bytes = 128,
                  .slot_count = 2,
                  .total = 100,
                  .type = TUTTI_INT32};
  int64_t bytes[2] = {0, 0};
  open_case(&at);
  tt_executor_log(at.job.instance[0], count_bytes, bytes);
  run_scheduled(&at);
  assert_int_equal(bytes[0], CALLS * 2 * 400); /* sends, and operands of the reduction */
  assert_int_equal(bytes[1], CALLS * 400);
  close_case(&at);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plans_give_right_results_under_every_schedule),
      cmocka_unit_test(test_plans_give_right_results_between_threads),
      cmocka_unit_test(test_one_slot_is_enough_for_long_messages),
      cmocka_unit_test(test_large_pieces_of_shared_memory_travel_as_references),
      cmocka_unit_test(test_other_key_is_a_mismatch_that_names_the_peer),
      cmocka_unit_test(test_more_bytes_than_expected_are_a_mismatch),
      cmocka_unit_test(test_absurd_sizes_are_errors),
      cmocka_unit_test(test_element_longer_than_a_slot_is_an_error_where_it_is_combined),
      cmocka_unit_test(test_operator_that_does_not_fit_is_an_error),
      cmocka_unit_test(test_log_sees_every_byte),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

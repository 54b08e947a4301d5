/* tests/property/accumulate_test.c - acc=f32: sums of 16-bit floats that are rounded once, at the end.
 *
 * The same plans run on float16 or bfloat16 with `wide` set, and on float32 with the same numbers: the first must be
 * the second, rounded. Some sums are also known: where small numbers vanish beside a large one if every combination
 * rounds. All ranks run inside one process, under a random schedule. */
#include "compose/compose.h"
#include "exec/testing.h"
#include "tune/tune.h"

#include <math.h>

enum { RANKS = 9, COUNT = 1000, SLOT_BYTES = 256, DRAWN = 120, GUARD_BYTE = 0x5A };

typedef struct run_case {
  tt_collective collective;
  const char *params;
  int64_t rank_count;
  bool in_place;
  tutti_op op;
} run_case;

typedef struct buffers { /* of each rank, of elements of one type */
  unsigned char in[RANKS][COUNT * sizeof(float)], out[RANKS][COUNT * sizeof(float)];
} buffers;

static test_job job;
static tt_composition composition;

/* ---- running ---- */

/* False where the parameters do not fit. */
static bool open_case(const run_case *of, uint64_t seed) {
  tt_loop_options options = {of->rank_count, SLOT_BYTES, 2, false, seed};
  tt_problem problem = {.collective = of->collective, .rank_count = of->rank_count, .in_place = of->in_place};
  tt_arena arena;
  tt_params params;
  tt_lowering *lowering;
  tt_arena_init(&arena);
  test_job_open(&job, &options, SLOT_BYTES);
  test_ok(tt_params_parse(of->params, &params));
  assert_true(params.acc_float32);
  test_ok(tt_compose(&problem, params.form, &composition));
  bool fits = tt_lowering_create(&composition, tt_topo_flat(&arena, of->rank_count), &params, &lowering) == TUTTI_OK;
  for (int64_t rank = 0; rank < of->rank_count && fits; rank++) {
    test_ok(tt_lower_rank(lowering, rank, &job.plan[rank]));
    test_job_instance(&job, rank);
  }
  if (fits)
    tt_lowering_destroy(lowering);
  tt_arena_finish(&arena);
  return fits;
}

static bool out_is_own(void) { return composition.layout[TT_OUT] == TT_LAYOUT_OWN; }

/* First element of the rank's own block, or of the one after it. */
static int64_t own_begin(int64_t rank, int64_t ranks) {
  int64_t extra = COUNT % ranks;
  return rank * (COUNT / ranks) + (rank < extra ? rank : extra);
}

/* Where the rank's result is: in place it is part of `in`. */
static unsigned char *result_of(const run_case *of, buffers *at, int64_t rank, tutti_type type) {
  size_t before = out_is_own() ? (size_t)own_begin(rank, of->rank_count) * tutti_type_size(type) : 0;
  return of->in_place ? at->in[rank] + before : at->out[rank];
}

static void start(const run_case *of, buffers *at, tutti_type type, bool wide, uint64_t number) {
  for (int64_t rank = 0; rank < of->rank_count; rank++) {
    tt_run run = {.in = at->in[rank],
                  .out = result_of(of, at, rank, type),
                  .out_own = out_is_own(),
                  .wide = wide,
                  .blocks = {.block_count = composition.block_count, .total = COUNT},
                  .type = type,
                  .op = of->op,
                  .call = number,
                  .key = 7};
    test_ok(job.instance[rank]->ops->start(job.instance[rank], &run));
  }
}

static void run_call(const run_case *of, buffers *at, tutti_type type, bool wide, uint64_t number) {
  bool done[RANKS] = {false};
  int64_t left = of->rank_count;
  start(of, at, type, wide, number);
  for (int64_t turns = 0; left > 0; turns++) {
    int64_t rank = (int64_t)tt_loop_pick(job.loop, (uint64_t)of->rank_count), peer;
    bool moved;
    assert_true(turns < 10000000);
    if (done[rank])
      continue;
    test_ok(job.instance[rank]->ops->step(job.instance[rank], &done[rank], &moved, &peer));
    left -= done[rank];
  }
}

/* ---- comparing ---- */

/* Numbers of very different size, so that orders of combination differ; products stay in range. */
static void fill(const run_case *of, buffers *narrow, buffers *wide, tutti_type type, tt_random *random) {
  memset(narrow, GUARD_BYTE, sizeof *narrow);
  memset(wide, GUARD_BYTE, sizeof *wide);
  for (int64_t rank = 0; rank < of->rank_count; rank++) {
    float number[COUNT];
    for (int n = 0; n < COUNT; n++) {
      number[n] = 1 + (float)tt_random_below(random, 1024) / 1024;
      if (of->op != TUTTI_PRODUCT)
        number[n] *= (float)(1 << tt_random_below(random, 11)) * (tt_random_below(random, 2) ? 1 : -1);
    }
    tt_dtype_narrow(type, narrow->in[rank], number, COUNT);
    tt_dtype_widen(type, (float *)(void *)wide->in[rank], narrow->in[rank], COUNT);
  }
}

static void compare(const run_case *of, buffers *narrow, buffers *wide, tutti_type type) {
  for (int64_t rank = 0; rank < of->rank_count; rank++) {
    int64_t begin = out_is_own() ? own_begin(rank, of->rank_count) : 0;
    int64_t count = out_is_own() ? own_begin(rank + 1, of->rank_count) - begin : COUNT;
    uint16_t rounded[COUNT];
    tt_dtype_narrow(type, rounded, (const float *)(const void *)result_of(of, wide, rank, TUTTI_FLOAT32),
                    (size_t)count);
    const unsigned char *result = result_of(of, narrow, rank, type);
    if (memcmp(result, rounded, (size_t)count * sizeof *rounded) != 0)
      fail_msg("%s %s %s ranks %d%s %s: rank %d differs", tt_compose_info(of->collective).name, of->params,
               tutti_type_name(type), (int)of->rank_count, of->in_place ? " in place" : "", tutti_op_name(of->op),
               (int)rank);
    if (!of->in_place)
      assert_int_equal(narrow->out[rank][(size_t)count * sizeof *rounded], GUARD_BYTE);
  }
}

static bool check_case(const run_case *of, uint64_t seed) {
  static buffers narrow, wide, again;
  tt_random random;
  tt_random_init(&random, seed);
  bool fits = open_case(of, seed);
  for (tutti_type type = TUTTI_FLOAT16; type <= TUTTI_BFLOAT16 && fits; type++) {
    uint64_t number = 3 * (uint64_t)type;
    fill(of, &narrow, &wide, type, &random);
    again = narrow;
    run_call(of, &wide, TUTTI_FLOAT32, false, number);
    run_call(of, &narrow, type, true, number + 1);
    run_call(of, &again, type, true, number + 2);
    compare(of, &narrow, &wide, type);
    compare(of, &again, &wide, type);
  }
  test_job_close(&job);
  return fits;
}

static const char *draw(tt_collective collective, uint64_t seed) {
  static char text[512];
  const tt_drawing drawing = {.collective = collective, .slot_bytes = SLOT_BYTES};
  tt_params params;
  tt_random random;
  tt_random_init(&random, seed);
  tt_params_draw(&drawing, &random, &params);
  params.acc_float32 = true;
  tt_params_print(&params, text, sizeof text);
  return text;
}

static void test_results_are_float32_results_rounded_once(void **state) {
  (void)state;
  static const tt_collective collectives[] = {TT_ALLREDUCE, TT_ALLREDUCE, TT_REDUCE_SCATTER};
  static const tutti_op ops[] = {TUTTI_SUM, TUTTI_PRODUCT, TUTTI_AVERAGE};
  tt_random random;
  int fit = 0;
  tt_random_init(&random, 1);
  for (uint64_t seed = 0; seed < DRAWN; seed++) {
    tt_collective collective = collectives[tt_random_below(&random, TT_COUNT(collectives))];
    run_case one = {.collective = collective,
                    .params = draw(collective, seed),
                    .rank_count = 1 + (int64_t)tt_random_below(&random, RANKS),
                    .in_place = tt_random_below(&random, 2),
                    .op = ops[tt_random_below(&random, TT_COUNT(ops))]};
    fit += check_case(&one, seed);
  }
  assert_true(fit > DRAWN / 2);
}

/* ---- sums that are known ---- */

/* In rank order, of `first` on rank 0 and `other` on each other rank. */
static double combined(tutti_op op, tutti_type type, bool wide, float first, float other) {
  static buffers at;
  const run_case of = {TT_ALLREDUCE, "linear acc=f32", RANKS, false, op};
  float image[COUNT];
  assert_true(open_case(&of, 1));
  for (int64_t rank = 0; rank < RANKS; rank++) {
    for (int n = 0; n < COUNT; n++)
      image[n] = rank == 0 ? first : other;
    tt_dtype_narrow(type, at.in[rank], image, COUNT);
  }
  run_call(&of, &at, type, wide, 1);
  tt_dtype_widen(type, image, at.out[RANKS - 1], COUNT);
  for (int n = 1; n < COUNT; n++)
    assert_true(image[n] == image[0]);
  test_job_close(&job);
  return (double)image[0];
}

/* 2048 + 1 is 2048 in float16, which has 11 bits, and 256 + 1 is 256 in bfloat16, which has 8. */
static void test_small_numbers_do_not_vanish_beside_a_large_one(void **state) {
  (void)state;
  assert_true(combined(TUTTI_SUM, TUTTI_FLOAT16, true, 2048, 1) == 2048 + RANKS - 1);
  assert_true(combined(TUTTI_SUM, TUTTI_FLOAT16, false, 2048, 1) == 2048);
  assert_true(combined(TUTTI_SUM, TUTTI_BFLOAT16, true, 256, 1) == 256 + RANKS - 1);
  assert_true(combined(TUTTI_SUM, TUTTI_BFLOAT16, false, 256, 1) == 256);
}

/* The largest float16 is 65504. */
static void test_sums_may_pass_the_range_on_the_way_to_an_average(void **state) {
  (void)state;
  assert_true(combined(TUTTI_AVERAGE, TUTTI_FLOAT16, true, 60000, 60000) == 60000);
  assert_true(isinf(combined(TUTTI_AVERAGE, TUTTI_FLOAT16, false, 60000, 60000)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results_are_float32_results_rounded_once),
      cmocka_unit_test(test_small_numbers_do_not_vanish_beside_a_large_one),
      cmocka_unit_test(test_sums_may_pass_the_range_on_the_way_to_an_average),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

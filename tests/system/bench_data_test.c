/* tests/system/bench_data_test.c - what `tutti bench` compares results with: blocks that fit together on all ranks, and
 * values that the reduction kernels come to, too. */
#include "../../bench/layout.h"
#include "../../bench/values.h"

#include "dtype/dtype.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define RANKS_MOST 9

/* ---- layout ---- */

static void check_rank(const bench_problem *problem, int32_t rank, int64_t *given, int64_t *taken) {
  bench_layout layout;
  int64_t in = 0, out = 0;
  assert_true(bench_layout_init(problem, rank, &layout));
  for (int32_t n = 0; n < layout.peers; n++) {
    int32_t peer = bench_peer(problem, rank, n);
    assert_int_equal(bench_peer(problem, peer, bench_peer_number(problem, peer, rank)), rank);
    assert_int_equal(layout.in_count[n], bench_block(problem, rank, peer));
    assert_int_equal(layout.out_count[n], bench_block(problem, peer, rank));
    assert_int_equal(layout.in_offset[n], in);
    assert_int_equal(layout.out_offset[n], out);
    if (bench_form_of(problem->collective).cut >= BENCH_BY_TARGET)
      assert_int_equal(bench_block_begin(problem, rank, peer), in);
    in += layout.in_count[n];
    out += layout.out_count[n];
  }
  *given = layout.in_elements;
  *taken = layout.out_elements;
  bench_layout_finish(&layout);
}

static void check_problem(const bench_problem *problem) {
  const bench_form form = bench_form_of(problem->collective);
  int64_t given = 0, taken = 0, in, out, size = problem->elements;
  for (int32_t rank = 0; rank < problem->ranks; rank++) {
    check_rank(problem, rank, &in, &out);
    given += in;
    taken += out;
    if (form.cut == BENCH_WHOLE || form.cut >= BENCH_BY_TARGET)
      assert_int_equal(in, size);
    if (form.cut == BENCH_WHOLE || (form.cut == BENCH_BY_SOURCE && !form.neighbor))
      assert_int_equal(out, size);
  }
  if (form.cut == BENCH_BY_SOURCE && !form.neighbor)
    assert_int_equal(given, size);
  if (form.cut == BENCH_BY_TARGET)
    assert_int_equal(taken, size);
  if (form.cut == BENCH_BY_PAIR)
    assert_int_equal(taken, size * problem->ranks);
}

static void test_blocks_make_up_the_stated_size(void **state) {
  (void)state;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (int32_t ranks = 1; ranks <= RANKS_MOST; ranks++)
      for (int sparse = 0; sparse < 2; sparse++) {
        bench_problem problem = bench_problem_of((tt_collective)c, ranks, sparse, 2520);
        check_problem(&problem);
        problem.elements = bench_form_of(c).uneven ? 5 : 0;
        check_problem(&problem);
      }
}

static void test_uneven_blocks_differ_and_sparse_ones_are_few(void **state) {
  (void)state;
  bench_problem uneven = bench_problem_of(TT_ALL_TO_ALLV, 4, false, 1000);
  bench_problem sparse = bench_problem_of(TT_ALL_TO_ALLV, 4, true, 999);
  const int64_t shares[] = {100, 200, 300, 400}, thirds[] = {0, 333, 666, 0};
  for (int32_t to = 0; to < 4; to++) {
    assert_int_equal(bench_block(&uneven, 0, to), shares[to]);
    assert_int_equal(bench_block(&sparse, 0, to), thirds[to]);
  }
}

static void test_grid_is_as_square_as_may_be(void **state) {
  int32_t neighbor[4];
  (void)state;
  assert_int_equal(bench_grid_rows(12), 3);
  assert_int_equal(bench_grid_rows(7), 1);
  assert_int_equal(bench_neighbors(12, 5, neighbor), 4); /* 3 x 4: row 1, column 1 */
  const int32_t expected[] = {1, 9, 4, 6};
  assert_memory_equal(neighbor, expected, sizeof expected);
  assert_int_equal(bench_neighbors(2, 0, neighbor), 1);
  assert_int_equal(bench_neighbors(1, 0, neighbor), 1);
}

/* ---- values ---- */

static bool is_right(const bench_period *expected, const void *data) {
  return bench_compare(data, 0, BENCH_PERIOD, expected) < 0;
}

/* What the kernels make of all ranks' vectors, from the first rank on. */
static void check_arithmetic(tutti_type type, tutti_op op, int32_t ranks) {
  static bench_period own, expected;
  static union {
    unsigned char bytes[sizeof own.data];
    long double aligned;
  } sum, next;
  bench_arithmetic with = {type, (int32_t)op, ranks};
  bench_period_make(&with, 0, 0, &own);
  bench_fill(sum.bytes, BENCH_PERIOD, &own);
  for (int32_t rank = 1; rank < ranks; rank++) {
    bench_period_make(&with, rank, rank, &own);
    bench_fill(next.bytes, BENCH_PERIOD, &own);
    tt_dtype_combine(type, op)(sum.bytes, next.bytes, sum.bytes, BENCH_PERIOD, false);
  }
  if (op == TUTTI_AVERAGE)
    tt_dtype_divide(type, sum.bytes, BENCH_PERIOD, ranks);
  bench_period_make(&with, 0, ranks - 1, &expected);
  if (!is_right(&expected, sum.bytes))
    fail_msg("%s, %s, %d ranks", tutti_type_name(type), tutti_op_name(op), ranks);
}

static void test_kernels_come_to_the_expected_values(void **state) {
  (void)state;
  for (int t = 0; t < TUTTI_TYPE_COUNT; t++) {
    assert_int_equal(bench_types[t].size, tutti_type_size((tutti_type)t));
    for (int op = 0; op < TUTTI_OP_COUNT; op++)
      for (int32_t ranks = 1; ranks <= RANKS_MOST && tutti_op_fits((tutti_op)op, (tutti_type)t); ranks++)
        check_arithmetic((tutti_type)t, (tutti_op)op, ranks);
  }
}

/* Vectors of two ranks differ, and so do a vector and itself an element further on. */
static void test_values_depend_on_rank_and_index(void **state) {
  static bench_period first, second;
  (void)state;
  for (int t = 0; t < TUTTI_TYPE_COUNT; t++) {
    bench_arithmetic with = {(tutti_type)t, BENCH_MOVED, 2};
    bench_period_make(&with, 0, 0, &first);
    bench_period_make(&with, 1, 1, &second);
    assert_true(is_right(&first, first.data));
    assert_false(is_right(&first, second.data));
    assert_true(bench_compare(first.data, 1, BENCH_PERIOD, &first) >= 0);
  }
}

static void test_every_wrong_byte_is_found(void **state) {
  static bench_period period;
  (void)state;
  for (int t = 0; t < TUTTI_TYPE_COUNT; t++) {
    bench_arithmetic with = {(tutti_type)t, BENCH_MOVED, 2};
    const bench_range range[2] = {bench_value_range((tutti_type)t), bench_second_range((tutti_type)t)};
    bench_period_make(&with, 0, 0, &period);
    static unsigned char data[sizeof period.data];
    memcpy(data, period.data, sizeof data);
    for (int r = 0; r < 2; r++)
      for (size_t b = 0; b < range[r].bytes; b++) {
        unsigned char *byte = &data[5 * bench_types[t].size + range[r].at + b];
        *byte ^= 1;
        assert_int_equal(bench_compare(data, 0, BENCH_PERIOD, &period), 5);
        *byte ^= 1;
      }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_make_up_the_stated_size),
      cmocka_unit_test(test_uneven_blocks_differ_and_sparse_ones_are_few),
      cmocka_unit_test(test_grid_is_as_square_as_may_be),
      cmocka_unit_test(test_kernels_come_to_the_expected_values),
      cmocka_unit_test(test_values_depend_on_rank_and_index),
      cmocka_unit_test(test_every_wrong_byte_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

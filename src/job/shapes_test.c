/* job/shapes_test.c - the shapes that are listed for a job: that of all ranks first, none twice. */
#include "job/context.h"
#include "job/wisdom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Of `first` ranks on one node, and the others on as many nodes as it takes. */
static int64_t list_of(int64_t size, int64_t first, tt_region shape[static TT_SHAPES]) {
  static int64_t node[64];
  static tutti_context context;
  context.size = size;
  context.machine.groups = node;
  for (int64_t r = 0; r < size; r++)
    node[r] = r / first;
  return tt_shapes_list(&context, shape);
}

static bool has(const tt_region *shape, int64_t count, int64_t ranks, int64_t nodes, int64_t each) {
  int64_t found = 0;
  for (int64_t n = 0; n < count; n++)
    found += shape[n].rank_count == ranks && shape[n].node_count == nodes && shape[n].ranks_per_node == each;
  assert_in_range(found, 0, 1);
  return found == 1;
}

static void test_all_ranks_come_first(void **state) {
  (void)state;
  static const int64_t jobs[][2] = {{2, 1}, {2, 2}, {4, 3}, {16, 4}, {16, 8}, {16, 12}, {17, 12}, {64, 8}};
  for (size_t n = 0; n < TT_COUNT(jobs); n++) {
    tt_region shape[TT_SHAPES];
    int64_t size = jobs[n][0], each = jobs[n][1], count = list_of(size, each, shape);
    assert_in_range(count, 1, TT_SHAPES);
    assert_true(has(shape, 1, size, (size + each - 1) / each, each));
    for (int64_t s = 0; s < count; s++)
      assert_true(has(shape, count, shape[s].rank_count, shape[s].node_count, shape[s].ranks_per_node));
  }
}

static void test_a_small_job_has_all_and_a_large_one_the_usual(void **state) {
  (void)state;
  tt_region shape[TT_SHAPES];
  assert_int_equal(list_of(4, 2, shape), 4);
  assert_true(has(shape, 4, 2, 1, 2) && has(shape, 4, 2, 2, 1) && has(shape, 4, 3, 2, 2) && has(shape, 4, 4, 2, 2));
  assert_int_equal(list_of(64, 8, shape), 5);
  assert_true(has(shape, 5, 8, 8, 1) && has(shape, 5, 2, 1, 2) && has(shape, 5, 4, 1, 4) && has(shape, 5, 8, 1, 8));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_ranks_come_first),
                                     cmocka_unit_test(test_a_small_job_has_all_and_a_large_one_the_usual)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* lower/shape_exchange_test.c - the shape is neighbor exchange as Chen et al. have it, and says where it does not fit.
 */
#include "support/trees.h"

/* Whom rank r exchanges with in a round: pairs first, then the neighbor on the other side, and so on in turn. */
static int64_t partner_of(int64_t r, int64_t round, int64_t f) {
  bool up = (r % 2 == 0) == (round % 2 == 0);
  return (r + (up ? 1 : f - 1)) % f;
}

/* Chen et al.: first the own block, then both of the pair, then what came in the round before. */
static void check_exchange(int64_t f) {
  tt_level_params level = {.name = "core", .shape = &tt_shape_exchange, .k = 2};
  tt_tree tree = {&level, f, false};
  uint64_t new[TREE_GROUPS], came[TREE_GROUPS];
  for (int64_t r = 0; r < f; r++)
    new[r] = (uint64_t)1 << r;
  for (int64_t round = 0; round < f / 2; round++) {
    for (int64_t r = 0; r < f; r++) {
      int64_t from = partner_of(r, round, f);
      came[r] = new[from];
      for (int64_t home = 0; home < f; home++)
        if (new[from] >> home & 1) {
          int64_t v = tt_shape_label(&tree, r, home);
          assert_int_equal(tt_shape_round(&tree, v), round);
          assert_int_equal(tt_shape_group(&tree, tt_shape_parent(&tree, v), home), from);
        }
    }
    for (int64_t r = 0; r < f; r++)
      new[r] = round == 0 ? new[r] | came[r] : came[r];
  }
  assert_int_equal(tt_shape_rounds(&tree), f / 2);
}

static void test_exchange_is_neighbor_exchange(void **state) {
  (void)state;
  for (int64_t f = 2; f <= TREE_GROUPS; f += 2)
    check_exchange(f);
}

static void test_misfits_say_why(void **state) {
  (void)state;
  tt_level_params level = {.name = "core", .shape = &tt_shape_exchange, .k = 2};
  assert_null(tt_shape_misfit(&(tt_tree){&level, 1, false}));
  assert_null(tt_shape_misfit(&(tt_tree){&level, 6, false}));
  assert_string_equal(tt_shape_misfit(&(tt_tree){&level, 7, false}), "exchange needs an even number of groups");
  level.labelling = TT_XOR;
  assert_string_equal(tt_shape_misfit(&(tt_tree){&level, 8, false}), "exchange has a labelling of its own");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exchange_is_neighbor_exchange),
      cmocka_unit_test(test_misfits_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

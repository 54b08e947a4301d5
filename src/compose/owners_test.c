/* Blocks are dealt evenly: as many to each group, to its members in turn, in as few families as owners allow. */
#include "compose/compose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define RANKS 8

typedef struct dealt {
  const char *what;
  int32_t group_of[RANKS];
  int64_t ranks, groups, blocks;
  int families;
  int64_t owner[16];
} dealt;

static const dealt all[] = {
    {"equal ones", {0, 0, 1, 1}, 4, 2, 4, 1, {0, 1, 2, 3}},
    {"interleaved", {0, 1, 0, 1, 0, 1}, 6, 2, 6, 2, {0, 2, 4, 1, 3, 5}},
    {"3 and 1", {0, 0, 0, 1}, 4, 2, 6, 2, {0, 1, 2, 3, 3, 3}},
    {"1 and 4", {0, 1, 1, 1, 1}, 5, 2, 8, 2, {0, 0, 0, 0, 1, 2, 3, 4}},
    {"2, 3 and 1", {0, 0, 1, 1, 1, 2}, 6, 3, 9, 4, {0, 1, 0, 2, 3, 4, 5, 5, 5}},
    {"alone", {0}, 1, 1, 1, 1, {0}},
};

static void check(const tt_owners *owners, const dealt *of) {
  for (int what = 0; what < 2; what++) {
    int64_t block = 0;
    for (int f = 0; f < owners->family_count; f++) {
      const tt_family *family = &owners->family[what][f];
      assert_int_equal(family->primitive, what ? TT_MULTICAST : TT_REDUCTION);
      for (int64_t i = 0; i < family->count_i; i++, block++) {
        assert_int_equal(tt_ir_at(family->block, i, 0), block);
        assert_int_equal(tt_ir_at(family->root, i, 0), of->owner[block]);
      }
    }
    assert_int_equal(block, of->blocks);
  }
}

static void test_each_group_owns_as_many_blocks(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(all); n++) {
    tt_arena arena;
    tt_owners owners;
    tt_arena_init(&arena);
    print_message("%s\n", all[n].what);
    assert_int_equal(tt_compose_owners(all[n].group_of, all[n].groups, all[n].ranks, &arena, &owners), TUTTI_OK);
    assert_int_equal(owners.block_count, all[n].blocks);
    assert_int_equal(owners.family_count, all[n].families);
    check(&owners, &all[n]);
    tt_arena_finish(&arena);
  }
}

/* Only where results may be anybody's, and in any order. */
static void test_only_a_free_cut_has_owners(void **state) {
  (void)state;
  static const struct {
    tt_collective collective;
    const char *form;
    bool ordered;
    int64_t blocks;
  } cases[] = {{TT_ALLREDUCE, "split", false, 6},    {TT_ALLREDUCE, "one", false, 1},
               {TT_ALLREDUCE, "split", true, 4},     {TT_ALLREDUCE, "broadcast.reduce", false, 1},
               {TT_REDUCE_SCATTER, "one", false, 4}, {TT_ALLGATHER, "one", false, 4},
               {TT_BROADCAST, "split", false, 4},    {TT_REDUCE, "split", false, 4}};
  tt_arena arena;
  tt_owners owners;
  tt_arena_init(&arena);
  assert_int_equal(tt_compose_owners(all[2].group_of, 2, 4, &arena, &owners), TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(cases); n++) {
    const tt_problem problem = {
        .collective = cases[n].collective, .rank_count = 4, .ordered = cases[n].ordered, .owners = &owners};
    tt_composition composition;
    assert_int_equal(tt_compose(&problem, cases[n].form, &composition), TUTTI_OK);
    assert_int_equal(composition.block_count, cases[n].blocks);
  }
  tt_arena_finish(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_group_owns_as_many_blocks),
      cmocka_unit_test(test_only_a_free_cut_has_owners),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

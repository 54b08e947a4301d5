/* tune/testing.h - what the tests of wisdom share: regions, and that all of it comes back. */
#ifndef TT_TUNE_TESTING_H
#define TT_TUNE_TESTING_H

#include "tune/tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define MACHINE "0123456789abcdef"

/* All ranks are on one node. */
static inline tt_region region_of(tt_collective collective, int64_t ranks, int64_t bytes) {
  return (tt_region){.collective = collective,
                     .bytes = bytes,
                     .rank_count = ranks,
                     .node_count = 1,
                     .ranks_per_node = ranks,
                     .nic_count = 1};
}

static inline void expect_same_region(const tt_region *a, const tt_region *b) {
  assert_int_equal(a->collective, b->collective);
  assert_memory_equal(&a->bytes, &b->bytes, sizeof *a - offsetof(tt_region, bytes));
}

static inline void expect_equal(const tt_wisdom *a, const tt_wisdom *b) {
  assert_int_equal(a->count, b->count);
  for (int64_t n = 0; n < a->count; n++) {
    const tt_winner *x = &a->winner[n], *y = &b->winner[n];
    expect_same_region(&x->region, &y->region);
    assert_string_equal(x->text, y->text);
    assert_int_equal(x->time_ns, y->time_ns);
    assert_int_equal(x->rules_ns, y->rules_ns);
  }
  assert_int_equal(a->outside_count, b->outside_count);
  for (int64_t n = 0; n < a->outside_count; n++) {
    const tt_outside *x = &a->outside[n], *y = &b->outside[n];
    expect_same_region(&x->region, &y->region);
    assert_string_equal(x->library, y->library);
    assert_int_equal(x->time_ns, y->time_ns);
    assert_int_equal(x->tutti_ns, y->tutti_ns);
    assert_int_equal(x->wins, y->wins);
  }
  assert_int_equal(a->inferred_count, b->inferred_count);
  for (int64_t n = 0; n < a->inferred_count; n++) {
    const tt_inferred *x = &a->inferred[n], *y = &b->inferred[n];
    expect_same_region(&x->region, &y->region);
    assert_int_equal(x->bytes_last, y->bytes_last);
    assert_int_equal(x->by, y->by);
    assert_string_equal(x->text, y->text);
    assert_string_equal(x->source, y->source);
  }
}

/* As they were, and not where some are lacking. */
static inline void expect_back_from_numbers(const tt_wisdom *wisdom) {
  tt_wisdom *back = NULL, *cut = NULL;
  int64_t *numbers, count;
  assert_int_equal(tt_wisdom_pack(wisdom, &numbers, &count), TUTTI_OK);
  assert_int_equal(tt_wisdom_unpack(numbers, count, &back), TUTTI_OK);
  expect_equal(wisdom, back);
  for (int64_t less = 1; less < count; less++) {
    assert_int_equal(tt_wisdom_unpack(numbers, less, &cut), TUTTI_ERR_MISMATCH);
    tt_wisdom_destroy(cut);
  }
  free(numbers);
  tt_wisdom_destroy(back);
}

#endif

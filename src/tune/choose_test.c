/* tune/choose_test.c - the strongest that says something decides, and whoever says nothing says why. */
#include "tune/wisdom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const tt_region call = {
    .collective = TT_ALLREDUCE, .bytes = 4096, .rank_count = 8, .node_count = 2, .ranks_per_node = 4, .nic_count = 1};

static tt_profile *profile_of(const char *text) {
  char path[] = "/tmp/tutti-choose-XXXXXX";
  tt_profile *profile;
  int file = mkstemp(path);
  assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
  close(file);
  assert_int_equal(tt_profile_open(path, &profile), TUTTI_OK);
  unlink(path);
  return profile;
}

static tt_wisdom *wisdom_of(const char *text, tt_dispatch *dispatch) {
  tt_wisdom *wisdom;
  assert_int_equal(tt_wisdom_create("0123456789abcdef", "", &wisdom), TUTTI_OK);
  assert_int_equal(tt_wisdom_put(wisdom, &(tt_winner){.region = call, .text = text}), TUTTI_OK);
  tt_dispatch_make(wisdom, &call, dispatch);
  return wisdom;
}

/* One of the lessons alone. */
static tt_wisdom *inferred_of(tt_authority by, const char *text, tt_dispatch *dispatch) {
  tt_wisdom *wisdom;
  tt_inferred row = {.region = call, .bytes_last = 2 * call.bytes, .by = by, .text = text, .line = 7};
  assert_int_equal(tt_wisdom_create("0123456789abcdef", "", &wisdom), TUTTI_OK);
  wisdom->lessons = tt_arena_format(&wisdom->arena, "/x/learned.json");
  assert_int_equal(tt_wisdom_append_inferred(wisdom, &row), TUTTI_OK);
  tt_dispatch_make(wisdom, &call, dispatch);
  return wisdom;
}

/* One authority less each time: the next one decides. */
static void test_the_order_of_authority(void **state) {
  (void)state;
  static tt_dispatch dispatch[3];
  tt_profile *profile = profile_of("{\"rules\": [{\"collective\": \"allreduce\", \"params\": \"two-level-ring\"}]}");
  tt_wisdom *wisdom[] = {wisdom_of("ring", &dispatch[0]), inferred_of(TT_BY_LEARNED, "linear ring=2", &dispatch[1]),
                         inferred_of(TT_BY_MODEL, "linear ring=4", &dispatch[2])};
  tt_authorities of = {"binomial", "recursive-doubling", wisdom[0], &dispatch[0], profile};
  static const char *const expected[TT_AUTHORITY_COUNT] = {
      "binomial", "recursive-doubling", "ring", "linear ring=2", "linear ring=4", "two-level-ring", "linear"};
  for (tt_authority by = TT_BY_PROGRAM; by < TT_AUTHORITY_COUNT; by++) {
    tt_choice choice = tt_choose(&of, &call, false), same = tt_choose_by(&of, by, &call, false);
    assert_int_equal(choice.by, by);
    assert_string_equal(choice.text, expected[by]);
    assert_int_equal(same.by, by);
    assert_ptr_equal(same.text, choice.text);
    assert_int_equal(choice.winner != NULL, by == TT_BY_WISDOM);
    assert_int_equal(tt_authority_insists(by), by < TT_BY_WISDOM);
    of.set = by >= TT_BY_PROGRAM ? NULL : of.set;
    of.params = by >= TT_BY_PARAMS ? "" : of.params;
    if (by >= TT_BY_WISDOM) {
      int next = by == TT_BY_WISDOM ? 1 : by == TT_BY_LEARNED ? 2 : -1;
      of.wisdom = next < 0 ? NULL : wisdom[next];
      of.dispatch = next < 0 ? NULL : &dispatch[next];
    }
    of.profile = by >= TT_BY_PROFILE ? NULL : of.profile;
  }
  tt_profile_close(profile);
  for (size_t n = 0; n < TT_COUNT(wisdom); n++)
    tt_wisdom_destroy(wisdom[n]);
}

/* Wisdom has the lengths near what was measured; lessons have the others that they know. */
static void test_lessons_decide_where_wisdom_is_silent(void **state) {
  (void)state;
  static tt_dispatch dispatch;
  tt_wisdom *wisdom = wisdom_of("ring", &dispatch);
  tt_authorities of = {NULL, "", wisdom, &dispatch, NULL};
  tt_inferred row = {.region = call, .bytes_last = 1 << 20, .by = TT_BY_LEARNED, .text = "binomial", .line = 7};
  row.region.bytes = 64;
  wisdom->lessons = tt_arena_format(&wisdom->arena, "/x/learned.json");
  assert_int_equal(tt_wisdom_append_inferred(wisdom, &row), TUTTI_OK);
  tt_dispatch_make(wisdom, &call, &dispatch);
  static const struct {
    int64_t bytes;
    tt_authority by;
  } rows[] = {{32, TT_BY_NOBODY},     {64, TT_BY_LEARNED},      {512, TT_BY_LEARNED},
              {1024, TT_BY_WISDOM},   {4096, TT_BY_WISDOM},     {16384, TT_BY_WISDOM},
              {32768, TT_BY_LEARNED}, {1 << 20, TT_BY_LEARNED}, {2 << 20, TT_BY_NOBODY}};
  for (size_t n = 0; n < TT_COUNT(rows); n++) {
    tt_region at = call;
    at.bytes = rows[n].bytes;
    tt_choice choice = tt_choose(&of, &at, false);
    assert_int_equal(choice.by, rows[n].by);
    if (choice.by == TT_BY_LEARNED)
      assert_string_equal(choice.source, "/x/learned.json:7");
    assert_int_equal(tt_choose(&of, &at, true).by, TT_BY_NOBODY); /* an operator that does not commute */
  }
  tt_region at = call;
  at.bytes = INT64_MAX;
  assert_int_equal(tt_choose(&of, &at, false).by, TT_BY_NOBODY);
  tt_wisdom_destroy(wisdom);
}

static const char *silence(const tt_authorities *of, tt_authority by, const tt_region *region, bool ordered) {
  tt_choice choice = tt_choose_by(of, by, region, ordered);
  assert_null(choice.text);
  return choice.why;
}

static void test_who_says_nothing_says_why(void **state) {
  (void)state;
  static tt_dispatch dispatch;
  tt_profile *profile =
      profile_of("{\"rules\": [{\"collective\": \"allreduce\", \"bytes\": \"1K\", \"params\": \"ring\"}]}");
  tt_wisdom *wisdom = wisdom_of("ring", &dispatch);
  tt_authorities none = {.params = ""}, all = {NULL, "", wisdom, &dispatch, profile};
  tt_region far = call, unknown = call, other = call;
  far.bytes = 1 << 20;
  unknown.bytes = INT64_MAX;
  other.collective = TT_REDUCE;
  assert_string_equal(silence(&none, TT_BY_PROGRAM, &call, false), "the program has set no parameters");
  assert_string_equal(silence(&none, TT_BY_PARAMS, &call, false), "it is not set");
  assert_string_equal(silence(&none, TT_BY_WISDOM, &call, false), "there is none");
  assert_non_null(strstr(silence(&all, TT_BY_WISDOM, &call, true), "an operator that commutes"));
  assert_non_null(strstr(silence(&all, TT_BY_WISDOM, &far, false), "within a factor of four"));
  assert_non_null(strstr(silence(&all, TT_BY_WISDOM, &other, false), "no entry for this collective"));
  assert_non_null(strstr(silence(&all, TT_BY_WISDOM, &unknown, false), "not all ranks know"));
  assert_string_equal(silence(&all, TT_BY_PROFILE, &call, false), "no rule fits this call");
  assert_string_equal(silence(&none, TT_BY_PROFILE, &call, false), "no rule fits this call");
  tt_profile_close(profile);
  tt_wisdom_destroy(wisdom);
}

/* A file may say that something absurdly long was measured: lengths that nobody knows are not near it. */
static void test_unknown_lengths_are_near_to_nothing(void **state) {
  (void)state;
  static tt_dispatch dispatch;
  tt_region longest = call;
  tt_wisdom *wisdom = wisdom_of("ring", &dispatch);
  longest.bytes = INT64_MAX - 1;
  assert_int_equal(tt_wisdom_put(wisdom, &(tt_winner){.region = longest, .text = "binomial"}), TUTTI_OK);
  tt_dispatch_make(wisdom, &call, &dispatch);
  tt_authorities of = {NULL, "", wisdom, &dispatch, NULL};
  assert_string_equal(tt_choose(&of, &longest, false).text, "binomial");
  longest.bytes = INT64_MAX;
  assert_string_equal(tt_choose(&of, &longest, false).text, "linear");
  tt_wisdom_destroy(wisdom);
}

static void test_a_region_has_the_facts_of_the_topology(void **state) {
  (void)state;
  int64_t map[7] = {0, 0, 0, 1, 1, 2, 2};
  tt_arena arena;
  tt_arena_init(&arena);
  tt_topo *topo = tt_topo_flat(&arena, 7);
  assert_int_equal(tt_topo_add(topo, &arena, "node", map), TUTTI_OK);
  tt_region region = tt_region_of(topo, TT_ALLREDUCE, 100, 2, 0, 8);
  assert_int_equal(region.rank_count, 7);
  assert_int_equal(region.node_count, 3);
  assert_int_equal(region.ranks_per_node, 3);
  assert_int_equal(region.nic_count, 2);
  assert_int_equal(region.core_count, 8);
  assert_int_equal(region.bytes, 100);
  assert_int_equal(tt_region_of(topo, TT_GATHERV, 100, 2, 0, 8).bytes, INT64_MAX); /* only the root knows */
  tt_arena_finish(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_order_of_authority),
      cmocka_unit_test(test_lessons_decide_where_wisdom_is_silent),
      cmocka_unit_test(test_who_says_nothing_says_why),
      cmocka_unit_test(test_unknown_lengths_are_near_to_nothing),
      cmocka_unit_test(test_a_region_has_the_facts_of_the_topology),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

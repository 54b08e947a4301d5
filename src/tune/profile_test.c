/* tune/profile_test.c - profiles: every mistake is named, the first rule that fits is taken, and the shipped one makes
 * proven plans. */
#include "tune/tune.h"

#include "support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Opens a profile with this text, from a file that is gone afterwards. */
static tutti_status open_text(const char *text, tt_profile **profile) {
  char path[] = "/tmp/tutti-profile-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  close(file);
  tutti_status status = tt_profile_open(path, profile);
  unlink(path);
  return status;
}

static void test_mistakes_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text, *error;
  } broken[] = {
      {"", "line 1"},
      {"[1, 2", "line 1"},
      {"{\n\"rules\": [,]}", "line 2"},
      {"[]", "it has no \"rules\" array"},
      {"{}", "it has no \"rules\" array"},
      {"{\"rules\": {}}", "it has no \"rules\" array"},
      {"{\"rules\": [7]}", "rule 1, \"collective\": does not name a collective"},
      {"{\"rules\": [{\"params\": \"ring\"}]}", "rule 1, \"collective\": does not name a collective"},
      {"{\"rules\": [{\"collective\": \"sing\", \"params\": \"ring\"}]}",
       "rule 1, \"collective\": does not name a collective"},
      {"{\"rules\": [{\"collective\": 1, \"params\": \"ring\"}]}",
       "rule 1, \"collective\": does not name a collective"},
      {"{\"rules\": [{\"collective\": [], \"params\": \"ring\"}]}",
       "rule 1, \"collective\": does not name a collective"},
      {"{\"rules\": [{\"collective\": [\"scan\", \"sing\"], \"params\": \"linear\"}]}",
       "rule 1, \"collective\": does not name a collective"},
      {"{\"rules\": [{\"collective\": \"barrier\"}]}", "rule 1, \"params\": is missing"},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": [1]}]}", "rule 1, \"params\": is missing"},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": \"linear\"}, {\"collective\": \"barrier\", \"params\": "
       "\"x\"}]}",
       "'x' is neither a preset nor a parameter"},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": \"linear\", \"byts\": \"1K\"}]}",
       "rule 1, \"byts\": is unknown; members are collective, ranks, nodes, ranks_per_node, ranks_per_core, nics, "
       "bytes, params"},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": \"linear\", \"ranks\": 2}]}",
       "rule 1, \"ranks\": is not [least, most] or [least]"},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": \"linear\", \"ranks\": []}]}",
       "rule 1, \"ranks\": is not [least, most] or [least]"},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": \"linear\", \"nodes\": [1, \"2\"]}]}",
       "rule 1, \"nodes\": is not [least, most] or [least]"},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": \"linear\", \"nodes\": [3, 2]}]}",
       "rule 1, \"nodes\": has a least value above its most"},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": \"linear\", \"ranks\": [-5, 0]}]}",
       "rule 1, \"ranks\": begins below 1"},
      {"{\"rules\": [], \"rule\": []}", "\"rule\" is unknown; members are name, rules"},
      {"{\"rules\": [], \"rules\": []}", "line 1: duplicate object key"},
      {"{}", "/tmp/tutti-profile-"},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": \"linear\", \"bytes\": 1024}]}",
       "rule 1, \"bytes\": is not a size such as \"64K\", or of a core's level 2 cache such as \"L2/3\" or \"L2*4\""},
      {"{\"rules\": [{\"collective\": \"barrier\", \"params\": \"linear\", \"bytes\": \"many\"}]}",
       "rule 1, \"bytes\": is not a size such as \"64K\", or of a core's level 2 cache such as \"L2/3\" or \"L2*4\""},
  };
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    tt_profile *profile = NULL;
    if (open_text(broken[n].text, &profile) == TUTTI_OK)
      fail_msg("accepted: %s", broken[n].text);
    if (!strstr(tutti_last_error(), broken[n].error))
      fail_msg("%s: expected \"%s\" in \"%s\"", broken[n].text, broken[n].error, tutti_last_error());
    assert_null(profile);
  }
}

static void test_a_missing_file_is_named(void **state) {
  (void)state;
  tt_profile *profile = NULL;
  assert_int_not_equal(tt_profile_open("/tmp/no/such/profile.json", &profile), TUTTI_OK);
  assert_string_equal(tutti_last_error(), "/tmp/no/such/profile.json: cannot be read: No such file or directory");
  assert_int_not_equal(tt_profile_open("/tmp", &profile), TUTTI_OK);
  assert_string_equal(tutti_last_error(), "/tmp: cannot be read: Is a directory");
  assert_null(profile);
}

static void test_the_first_rule_that_fits_is_taken(void **state) {
  (void)state;
  static const char text[] =
      "{\"name\": \"test\", \"rules\": ["
      "{\"collective\": \"allreduce\", \"ranks\": [2, 4], \"bytes\": \"1K\", \"params\": \"linear\"},"
      "{\"collective\": \"allreduce\", \"nodes\": [2, 9], \"params\": \"two-level-ring\"},"
      "{\"collective\": \"allreduce\", \"params\": \"ring\"},"
      "{\"collective\": [\"scan\", \"exscan\"], \"params\": \"linear\"}]}";
  static const struct {
    tt_region region;
    const char *params;
  } calls[] = {
      {{TT_ALLREDUCE, 1024, 2, 1, 1, 0, 0, 0}, "linear"},
      {{TT_ALLREDUCE, 1024, 4, 3, 1, 0, 0, 0}, "linear"},
      {{TT_ALLREDUCE, 1025, 4, 3, 1, 0, 0, 0}, "two-level-ring"},
      {{TT_ALLREDUCE, 0, 5, 9, 1, 0, 0, 0}, "two-level-ring"},
      {{TT_ALLREDUCE, 0, 1, 1, 1, 0, 0, 0}, "ring"},
      {{TT_ALLREDUCE, INT64_MAX, 99, 10, 1, 0, 0, 0}, "ring"},
      {{TT_SCAN, 8, 2, 1, 1, 0, 0, 0}, "linear"},
      {{TT_EXSCAN, 8, 2, 1, 1, 0, 0, 0}, "linear"},
      {{TT_BROADCAST, 8, 2, 1, 1, 0, 0, 0}, NULL},
  };
  tt_profile *profile;
  assert_int_equal(open_text(text, &profile), TUTTI_OK);
  assert_string_equal(profile->name, "test");
  assert_int_equal(profile->rule_count, 5); /* one for each collective */
  for (size_t n = 0; n < TT_COUNT(calls); n++) {
    const tt_rule *rule = tt_profile_find(profile, &calls[n].region);
    assert_int_equal(rule == NULL, calls[n].params == NULL);
    if (rule)
      assert_string_equal(rule->text, calls[n].params);
  }
  assert_int_equal(tt_profile_find(profile, &calls[4].region)->number, 3);
  assert_int_equal(tt_profile_find(profile, &calls[7].region)->number, 4);
  tt_profile_close(profile);
}

/* Brackets, quotes and the member's name inside strings and deeper are no elements. */
static void test_a_rule_knows_its_line(void **state) {
  (void)state;
  static const char text[] = "{\n"
                             "  \"name\": \"\\\"rules\\\": [{ \\\\\",\n"
                             "  \"rules\":\n"
                             "  [{\"collective\": \"scan\", \"params\": \"linear\"}, {\"collective\": \"exscan\",\n"
                             "    \"ranks\": [1, 2], \"params\": \"linear\"},\n"
                             "\n"
                             "   {\"collective\": [\"gather\",\n"
                             "\"scatter\"], \"params\": \"linear\"},\n"
                             "   {\"collective\": \"reduce\", \"params\": \"linear\"}\n"
                             "]}";
  static const int line[] = {4, 4, 7, 7, 9};
  tt_profile *profile;
  assert_int_equal(open_text(text, &profile), TUTTI_OK);
  assert_int_equal(profile->rule_count, TT_COUNT(line));
  for (size_t n = 0; n < TT_COUNT(line); n++)
    assert_int_equal(atoi(strrchr(profile->rule[n].source, ':') + 1), line[n]);
  tt_profile_close(profile);
  assert_int_not_equal(open_text("{\"rules\": [{\"collective\": \"scan\", \"params\": \"linear\"},\n\n7]}", &profile),
                       TUTTI_OK);
  assert_non_null(strstr(tutti_last_error(), ": line 3: rule 2, "));
}

static void test_rules_may_ask_for_ranks_of_a_node_and_nics(void **state) {
  (void)state;
  static const char text[] =
      "{\"rules\": ["
      "{\"collective\": \"allreduce\", \"ranks_per_node\": [4], \"nics\": [2, 3], \"params\": \"linear\"},"
      "{\"collective\": \"allreduce\", \"nics\": [1, 1], \"params\": \"ring\"},"
      "{\"collective\": \"allreduce\", \"params\": \"bruck\"}]}";
  static const struct {
    int64_t each, nics;
    const char *params;
  } calls[] = {{4, 2, "linear"}, {9, 3, "linear"}, {4, 4, "bruck"}, {3, 2, "bruck"}, {4, 1, "ring"}, {4, 0, "ring"}};
  tt_profile *profile;
  assert_int_equal(open_text(text, &profile), TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(calls); n++) {
    const tt_region region = {TT_ALLREDUCE, 8, 4 * calls[n].each, 4, calls[n].each, calls[n].nics, 0, 0};
    assert_string_equal(tt_profile_find(profile, &region)->text, calls[n].params);
  }
  tt_profile_close(profile);
}

static void test_a_limit_may_be_a_part_or_a_multiple_of_the_cache(void **state) {
  (void)state;
  static const char text[] = "{\"rules\": ["
                             "{\"collective\": \"reduce\", \"bytes\": \"L2/3\", \"params\": \"linear\"},"
                             "{\"collective\": \"reduce\", \"bytes\": \"L2\", \"params\": \"chain\"},"
                             "{\"collective\": \"reduce\", \"bytes\": \"L2*4\", \"params\": \"ring\"},"
                             "{\"collective\": \"reduce\", \"params\": \"binomial\"}]}";
  static const struct {
    int64_t l2_bytes, bytes;
    const char *params;
  } calls[] = {{3000, 1000, "linear"},       {3000, 1001, "chain"}, {3000, 3000, "chain"},
               {3000, 3001, "ring"},         {3000, 12000, "ring"}, {3000, 12001, "binomial"},
               {0, (1 << 20) / 3, "linear"}, {0, 1 << 20, "chain"}, {0, 4 << 20, "ring"}};
  tt_profile *profile;
  assert_int_equal(open_text(text, &profile), TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(calls); n++) {
    const tt_region region = {.collective = TT_REDUCE,
                              .bytes = calls[n].bytes,
                              .rank_count = 2,
                              .node_count = 1,
                              .ranks_per_node = 2,
                              .l2_bytes = calls[n].l2_bytes};
    assert_string_equal(tt_profile_find(profile, &region)->text, calls[n].params);
  }
  tt_profile_close(profile);
}

static void test_rules_may_ask_for_ranks_that_share_cores(void **state) {
  (void)state;
  static const char text[] = "{\"rules\": ["
                             "{\"collective\": \"exscan\", \"ranks_per_core\": [3], \"params\": \"chain\"},"
                             "{\"collective\": \"exscan\", \"ranks_per_core\": [2, 2], \"params\": \"linear\"},"
                             "{\"collective\": \"exscan\", \"params\": \"binomial\"}]}";
  static const struct {
    int64_t each, cores;
    const char *params;
  } calls[] = {{4, 4, "binomial"}, {4, 8, "binomial"}, {5, 4, "linear"},  {8, 4, "linear"},
               {9, 4, "chain"},    {9, 0, "binomial"}, {1, 1, "binomial"}};
  tt_profile *profile;
  assert_int_equal(open_text(text, &profile), TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(calls); n++) {
    const tt_region region = {.collective = TT_EXSCAN,
                              .bytes = 8,
                              .rank_count = 2 * calls[n].each,
                              .node_count = 2,
                              .ranks_per_node = calls[n].each,
                              .core_count = calls[n].cores};
    assert_string_equal(tt_profile_find(profile, &region)->text, calls[n].params);
  }
  tt_profile_close(profile);
}

static void test_spacing_does_not_change_the_hash(void **state) {
  (void)state;
  tt_profile *a, *b, *c;
  assert_int_equal(open_text("{\"rules\":[{\"collective\":\"barrier\",\"params\":\"linear\"}]}", &a), TUTTI_OK);
  assert_int_equal(open_text("{ \"rules\" : [\n{\"params\": \"linear\", \"collective\": \"barrier\"}] }", &b),
                   TUTTI_OK);
  assert_int_equal(open_text("{\"rules\":[{\"collective\":\"barrier\",\"params\":\"chain\"}]}", &c), TUTTI_OK);
  assert_true(a->hash == b->hash && a->hash != c->hash);
  tt_profile_close(a);
  tt_profile_close(b);
  tt_profile_close(c);
}

static void test_closing_nothing_is_fine(void **state) {
  (void)state;
  tt_profile_close(NULL);
}

/* ---- the shipped profile ---- */

/* Programs always have nodes, often one. "ragged": two of different sizes; "mixed": two, interleaved. */
static const char *const maps[] = {"cyclic:1", "ragged", "mixed", "cyclic:2", "cyclic:3", "cyclic:9"};

static const char *map_text(const char *map, int64_t ranks, char text[64]) {
  bool ragged = strcmp(map, "ragged") == 0, mixed = strcmp(map, "mixed") == 0;
  if (!ragged && !mixed)
    return map;
  for (int64_t r = 0; r < ranks; r++) {
    text[2 * r] = (ragged ? r > ranks / 2 : r * 3 % 7 % 2) ? '1' : '0';
    text[2 * r + 1] = r + 1 < ranks ? ',' : ':';
  }
  text[2 * ranks] = '\0';
  return text;
}

/* A rule for one order of ranks, which nodes may not have: the star is taken then. */
static bool may_have_no_plan(const tt_rule *rule, const char *map) {
  bool scans = rule->collective == TT_SCAN || rule->collective == TT_EXSCAN;
  return scans && strcmp(map, "ragged") != 0;
}

static void prove_rule(const tt_rule *rule, const char *map, const tt_problem *problem) {
  plans all;
  char text[64];
  plans_case of = {
      .problem = *problem, .params = rule->text, .map = map_text(map, problem->rank_count, text), .publish = true};
  tutti_status opened = plans_open(&of, &all);
  bool excused = opened == TUTTI_ERR_PLAN && may_have_no_plan(rule, map);
  if (!excused && (opened != TUTTI_OK || plans_verify(&of, &all) != TUTTI_OK))
    fail_msg("rule %d, %d ranks, map %s, root %d: %s", (int)rule->number, (int)problem->rank_count, map,
             (int)problem->root, tutti_last_error());
  plans_close(&all);
}

static int64_t node_count(const char *map, int64_t ranks) {
  plans all;
  char text[64];
  assert_int_equal(plans_begin(&all, ranks, map_text(map, ranks, text), false), TUTTI_OK);
  int64_t count = all.topo->level[0].group_count;
  plans_close(&all);
  return count;
}

static bool holds(const tt_rule *rule, int64_t ranks, int64_t nodes) {
  return ranks >= rule->ranks_min && ranks <= rule->ranks_max && nodes >= rule->nodes_min && nodes <= rule->nodes_max;
}

/* Every rank to the next one and to the one behind it. */
static const tt_graph *ring_graph(int64_t ranks, tt_arena *arena) {
  tt_graph *graph = tt_arena_alloc(arena, 1, sizeof *graph);
  int32_t *from = tt_arena_alloc(arena, (size_t)(2 * ranks), sizeof *from);
  int32_t *to = tt_arena_alloc(arena, (size_t)(2 * ranks), sizeof *to);
  for (int64_t e = 0; e < 2 * ranks; e++) {
    from[e] = (int32_t)(e / 2);
    to[e] = (int32_t)((e / 2 + (e % 2 ? 1 : ranks - 1)) % ranks);
  }
  *graph = (tt_graph){.rank_count = ranks, .edge_count = 2 * ranks, .from = from, .to = to};
  assert_int_equal(tt_compose_graph(graph, arena), TUTTI_OK);
  return graph;
}

static void prove_roots(const tt_rule *rule, const char *map, int64_t ranks) {
  tt_collective_info info = tt_compose_info(rule->collective);
  tt_arena arena;
  tt_arena_init(&arena);
  tt_problem problem = {
      .collective = rule->collective, .rank_count = ranks, .graph = info.has_graph ? ring_graph(ranks, &arena) : NULL};
  bool once = info.has_graph || info.in == TT_LAYOUT_ROW; /* in place is no plan of its own */
  for (problem.root = 0; problem.root < (info.has_root ? ranks : 1); problem.root++)
    for (int in_place = 0; in_place < (once ? 1 : 2); in_place++) {
      problem.in_place = in_place;
      prove_rule(rule, map, &problem);
    }
  tt_arena_finish(&arena);
}

static void test_every_shipped_rule_makes_proven_plans(void **state) {
  (void)state;
  tt_profile *profile;
  assert_int_equal(tt_profile_open(NULL, &profile), TUTTI_OK);
  for (int64_t n = 0; n < profile->rule_count; n++)
    for (int64_t ranks = 1; ranks <= 9; ranks++)
      for (size_t m = 0; m < TT_COUNT(maps); m++)
        if (holds(&profile->rule[n], ranks, node_count(maps[m], ranks)))
          prove_roots(&profile->rule[n], maps[m], ranks);
  tt_profile_close(profile);
}

static void test_the_shipped_profile_has_a_rule_for_every_call(void **state) {
  (void)state;
  static const int64_t bytes[] = {0, 1, 4096, 1 << 20, INT64_MAX};
  tt_profile *profile;
  assert_int_equal(tt_profile_open("", &profile), TUTTI_OK);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    bool asked = tt_compose_info((tt_collective)c).lengths == TT_LENGTHS_ALL; /* else bytes are no common fact */
    for (int64_t ranks = 1; ranks <= 1024 && asked; ranks *= 2)
      for (int64_t nodes = 1; nodes <= ranks; nodes *= 2)
        for (size_t n = 0; n < TT_COUNT(bytes); n++)
          assert_non_null(
              tt_profile_find(profile, &(tt_region){(tt_collective)c, bytes[n], ranks, nodes, ranks / nodes, 0, 0, 0}));
  }
  tt_profile_close(profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mistakes_are_named),
      cmocka_unit_test(test_a_missing_file_is_named),
      cmocka_unit_test(test_the_first_rule_that_fits_is_taken),
      cmocka_unit_test(test_a_rule_knows_its_line),
      cmocka_unit_test(test_rules_may_ask_for_ranks_of_a_node_and_nics),
      cmocka_unit_test(test_a_limit_may_be_a_part_or_a_multiple_of_the_cache),
      cmocka_unit_test(test_rules_may_ask_for_ranks_that_share_cores),
      cmocka_unit_test(test_spacing_does_not_change_the_hash),
      cmocka_unit_test(test_closing_nothing_is_fine),
      cmocka_unit_test(test_every_shipped_rule_makes_proven_plans),
      cmocka_unit_test(test_the_shipped_profile_has_a_rule_for_every_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

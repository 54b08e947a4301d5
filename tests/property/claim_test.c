/* tests/property/claim_test.c - what is compiled, printed as `tutti plan --text` prints it and read back, is the same
 * and proven: for every collective and form, with any parameters. */
#include "../../tools/verify/random.h"
#include "support/plans.h"
#include "tune/tune.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWN = 24 };

static const int64_t rank_counts[] = {1, 2, 3, 4, 5, 6, 8, 9, 12};

static void put(FILE *out, char *text) {
  assert_non_null(text);
  fputs(text, out);
  free(text);
}

static tt_plan_claim claim_of(const plans_case *of, const plans *all) {
  tt_collective_info info = tt_compose_info(of->problem.collective);
  tt_plan_claim claim = {.rank_count = of->problem.rank_count,
                         .block_count = all->composition.block_count,
                         .root = info.has_root ? of->problem.root : -1,
                         .in_place = of->problem.in_place,
                         .ordered = of->problem.ordered,
                         .reproducible = all->params.reproducible};
  snprintf(claim.collective, sizeof claim.collective, "%s", info.name);
  if (info.has_graph) {
    claim.edge_count = of->problem.graph->edge_count;
    claim.from = of->problem.graph->from;
    claim.to = of->problem.graph->to;
  }
  return claim;
}

static bool equal_claims(const tt_plan_claim *a, const tt_plan_claim *b) {
  bool equal = strcmp(a->collective, b->collective) == 0 && a->rank_count == b->rank_count &&
               a->block_count == b->block_count && a->root == b->root && a->in_place == b->in_place &&
               a->ordered == b->ordered && a->reproducible == b->reproducible && a->edge_count == b->edge_count;
  for (int64_t e = 0; equal && e < a->edge_count; e++)
    equal = a->from[e] == b->from[e] && a->to[e] == b->to[e];
  return equal;
}

static void check_text(const plans_case *of, const plans *all) {
  tt_plan_claim claim = claim_of(of, all);
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  put(out, tt_plan_claim_print(&claim));
  for (int64_t r = 0; r < all->count; r++)
    put(out, tt_plan_print(all->plan[r]));
  fclose(out);
  tt_plan_set *set = NULL;
  if (tt_plan_set_parse(text, size, &set) != TUTTI_OK || tt_verify_claim(set) != TUTTI_OK)
    fail_msg("%s with %s: %s\n%s", claim.collective, of->params, tutti_last_error(), text);
  assert_int_equal(set->plan_count, all->count);
  assert_true(equal_claims(&set->claim, &claim));
  for (int64_t r = 0; r < all->count; r++)
    assert_true(tt_plan_equal(set->plan[r], all->plan[r]));
  tt_plan_set_destroy(set);
  free(text);
}

/* Whatever is drawn that does not fit together makes no plan. */
static bool check_case(tt_collective collective, const char *form, int64_t ranks, tt_random *random) {
  static const char *const levels[] = {"node"};
  const tt_drawing drawing = {collective, levels, (int)tt_random_below(random, 2), 65536};
  tt_params drawn;
  tt_collective_info info = tt_compose_info(collective);
  char params[512], map[64];
  tt_arena arena;
  tt_graph graph;
  tt_arena_init(&arena);
  assert_int_equal(random_graph(random, ranks, &arena, &graph), TUTTI_OK);
  tt_params_draw(&drawing, random, &drawn);
  drawn.form[0] = '\0';
  drawn.reproducible = tt_random_below(random, 5) == 0;
  tt_params_print(&drawn, params, sizeof params);
  snprintf(map, sizeof map, "cyclic:%d", 1 + (int)tt_random_below(random, 4));
  plans_case one = {.problem = {.collective = collective,
                                .rank_count = ranks,
                                .root = info.has_root ? (int64_t)tt_random_below(random, (uint64_t)ranks) : 0,
                                .in_place = !info.has_graph && info.in != TT_LAYOUT_ROW && tt_random_below(random, 2),
                                .ordered = info.reduces && tt_random_below(random, 4) == 0,
                                .graph = info.has_graph ? &graph : NULL},
                    .form = form,
                    .params = params,
                    .map = map,
                    .publish = tt_random_below(random, 2)};
  plans all;
  bool is_plan = plans_open(&one, &all) == TUTTI_OK;
  if (is_plan)
    check_text(&one, &all);
  plans_close(&all);
  tt_arena_finish(&arena);
  return is_plan;
}

static int check_form(tt_collective collective, const char *form, tt_random *random) {
  int checked = 0;
  for (int drawn = 0; drawn < DRAWN; drawn++)
    for (size_t n = 0; n < TT_COUNT(rank_counts); n++)
      checked += check_case(collective, form, rank_counts[n], random);
  return checked;
}

static void test_what_is_compiled_is_proven_from_its_text(void **state) {
  (void)state;
  const char *given = getenv("TUTTI_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
  tt_random random;
  tt_random_init(&random, seed);
  int checked = 0;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    for (int f = 0; f < info.form_count; f++) {
      int more = check_form((tt_collective)c, info.form[f], &random);
      assert_true(more > 0);
      checked += more;
    }
  }
  print_message("%d sets of plans, TUTTI_TEST_SEED=%" PRIu64 "\n", checked, seed);
  assert_true(checked > 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_compiled_is_proven_from_its_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

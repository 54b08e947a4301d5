/* Messages and blocks that each rank sends, of every preset, collective and form, against the literature's formulas.
 *
 * A form's counts are the sums of its stages', since a fence keeps their messages apart. So there is one formula for
 * each stage and way of laying trees (formulas.h). A block is n / block_count bytes of the vector of n, so that blocks
 * are bytes. A published message counts once. */
#include "conformance/formulas.h"
#include "lower/shape.h"
#include "support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static formula find_formula(const char *stage, way laid) {
  for (size_t n = 0; n < TT_COUNT(formulas) && laid < WAYS; n++)
    if (strcmp(formulas[n].stage, stage) == 0)
      return formulas[n].of[laid];
  return NULL;
}

static way way_of_nomial(const tt_level_params *level, bool two_level) {
  bool is_far = level->order == TT_FAR;
  if (two_level)
    return level->labelling == TT_XOR && !is_far ? TWO_LEVEL_HALVING : WAYS;
  if (level->labelling == TT_XOR)
    return is_far ? XOR_FAR : XOR;
  if (level->labelling == TT_REFLECT)
    return is_far ? REFLECT_FAR : WAYS;
  return level->k > 2 ? K_NOMIAL : is_far ? FAR : NEAR;
}

/* How a stage's trees are laid; WAYS where no column has it. */
static way way_of(const tt_params *params, const tt_level_info *outer) {
  const tt_level_params *level = &outer->params;
  bool two_level = strcmp(outer->name, "node") == 0;
  if (level->shape == &tt_shape_star)
    return !two_level ? STAR : params->stripe == 1 ? NODE_AWARE : WAYS;
  if (level->shape == &tt_shape_chain)
    return two_level ? TWO_LEVEL_RING : level->labelling == TT_REFLECT ? REFLECT_CHAIN : CHAIN;
  if (level->shape == &tt_shape_nomial)
    return way_of_nomial(level, two_level);
  if (level->shape == &tt_shape_ary)
    return ARY;
  if (level->shape == &tt_shape_planted)
    return params->channels == 2 ? TWO_TREE : WAYS;
  if (level->shape == &tt_shape_postal)
    return !two_level && level->labelling == TT_ROTATE ? POSTAL : WAYS;
  return level->shape == &tt_shape_exchange ? EXCHANGE : WAYS;
}

/* Reflect counts ranks in the other direction; scans have formulas of their own. */
static place seen_by(const place *at, way laid, const char *stage) {
  place seen = *at;
  if ((laid == REFLECT_CHAIN || laid == REFLECT_FAR) && !strstr(stage, "scan")) {
    seen.rank = (at->p - at->rank) % at->p;
    seen.root = (at->p - at->root) % at->p;
  }
  return seen;
}

/* ---- the tests ---- */

static int64_t cells, without;

/* Negative where a stage has no formula. */
static counts expected_of(const plans *all, const tt_lowering *lowering, place at) {
  counts sum = {0, 0};
  at.blocks = all->composition.block_count;
  for (int s = 0; s < all->composition.stage_count; s++) {
    if (tt_lowering_level_count(lowering, s) == 0)
      continue;
    const char *stage = all->composition.stage[s].name;
    tt_level_info outer = tt_lowering_level(lowering, s, 0);
    way laid = way_of(&all->params, &outer);
    formula of = find_formula(stage, laid);
    at.k = outer.params.k;
    place seen = seen_by(&at, laid, stage);
    counts sent = of ? of(&seen) : (counts){-1, -1};
    if (sent.messages < 0)
      return sent;
    sum = add(sum, sent);
  }
  return sum;
}

static void check_rank(const plans_case *of, const plans *all, const tt_lowering *lowering, const place *at) {
  counts expected = expected_of(all, lowering, *at), sent = tt_plan_sent(all->plan[at->rank], -1);
  cells += expected.messages >= 0 && at->rank == 0;
  without += expected.messages < 0 && at->rank == 0;
  if (expected.messages >= 0 && (sent.messages != expected.messages || sent.blocks != expected.blocks))
    fail_msg(
        "%s, form %s, %s%s, %d ranks%s%s, root %d: rank %d sends %d messages, %d blocks; the formula says %d and %d",
        tt_compose_info(of->problem.collective).name, of->form, of->params, of->publish ? ", published" : "",
        (int)at->p, of->map ? " on " : "", of->map ? of->map : "", (int)at->root, (int)at->rank, (int)sent.messages,
        (int)sent.blocks, (int)expected.messages, (int)expected.blocks);
}

/* Parameters that do not fit a number of ranks, or do not keep the order of a scan, say so. */
static bool is_known_refusal(void) {
  return strstr(tutti_last_error(), "does not keep rank order") || strstr(tutti_last_error(), "exchange needs an even");
}

static void check_counts(const plans_case *of, place at) {
  plans all;
  tt_lowering *lowering = NULL;
  tutti_status status = plans_open(of, &all);
  if (status != TUTTI_OK && !is_known_refusal())
    fail_msg("%s: %s", of->params, tutti_last_error());
  if (status == TUTTI_OK)
    assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
  for (at.rank = 0; at.rank < at.p && lowering; at.rank++)
    check_rank(of, &all, lowering, &at);
  tt_lowering_destroy(lowering);
  plans_close(&all);
}

/* Every form, for roots at the ends and in between. */
static void check_text(const char *text, tt_collective collective, plans_case of, place at) {
  tt_collective_info info = tt_compose_info(collective);
  tt_params params;
  assert_int_equal(tt_params_parse(text, &params), TUTTI_OK);
  for (int f = 0; f < info.form_count && !info.has_graph; f++) {
    bool other_form = params.form[0] && strcmp(params.form, "split") != 0 && strcmp(params.form, info.form[f]) != 0;
    const int64_t roots[] = {0, 1, at.p / 2, at.p - 1};
    for (size_t r = 0; r < (info.has_root ? TT_COUNT(roots) : 1) && !other_form; r++) {
      at.root = roots[r] < at.p ? roots[r] : 0;
      of.form = info.form[f];
      of.params = text;
      of.problem = (tt_problem){.collective = collective, .rank_count = at.p, .root = at.root};
      check_counts(&of, at);
    }
  }
}

/* Collectives that differ in who knows lengths have the plans of those before them. */
static void for_every_preset(bool two_level, plans_case of, place at) {
  size_t count;
  const tt_preset *preset = tt_preset_table(&count);
  for (size_t n = 0; n < count; n++)
    for (int c = 0; c < TT_ALLGATHERV; c++)
      if ((strstr(preset[n].text, "node:") != NULL) == two_level && (!at.publish || strstr(preset[n].text, "star")))
        check_text(preset[n].text, (tt_collective)c, of, at);
}

/* From 33 to 64; and to 31 from 17, but for make test-long. */
static int64_t next_ranks(int64_t p) { return p == 33 ? 64 : p == 17 && !getenv("TUTTI_TEST_LONG") ? 31 : p + 1; }

static void print_cells(int64_t at_least) {
  print_message("%d cells, %d more without a formula\n", (int)cells, (int)without);
  assert_true(cells >= at_least);
}

static void test_flat_presets_send_what_the_literature_says(void **state) {
  (void)state;
  cells = without = 0;
  for (int64_t p = 1; p <= 64; p = next_ranks(p))
    for (int publish = 0; publish < 2; publish++)
      for_every_preset(false, (plans_case){.publish = publish},
                       (place){.p = p, .nodes = 1, .per_node = p, .publish = publish});
  print_cells(7000);
}

static void test_two_level_presets_send_what_the_literature_says(void **state) {
  (void)state;
  static const int64_t nodes[] = {1, 2, 3, 4, 5, 7, 8, 16}, sizes[] = {1, 2, 3, 4, 8};
  cells = without = 0;
  for (size_t n = 0; n < TT_COUNT(nodes); n++)
    for (size_t m = 0; m < TT_COUNT(sizes); m++)
      for (int publish = 0; publish < 2 && nodes[n] * sizes[m] <= 64; publish++) {
        char map[16];
        snprintf(map, sizeof map, "%dx%d", (int)nodes[n], (int)sizes[m]);
        for_every_preset(
            true, (plans_case){.map = map, .publish = publish},
            (place){.p = nodes[n] * sizes[m], .nodes = nodes[n], .per_node = sizes[m], .publish = publish});
      }
  print_cells(5000);
}

/* Every k, and both collectives that Bruck's paper is about. */
static void test_k_bruck_sends_what_the_literature_says(void **state) {
  (void)state;
  cells = without = 0;
  for (int64_t p = 1; p <= 64; p = next_ranks(p))
    for (int k = 2; k <= 8; k++) {
      char text[32];
      snprintf(text, sizeof text, "[core:%d-nomial]", k);
      check_text(text, TT_ALLGATHER, (plans_case){.publish = false}, (place){.p = p, .nodes = 1, .per_node = p});
      check_text(text, TT_ALL_TO_ALL, (plans_case){.publish = false}, (place){.p = p, .nodes = 1, .per_node = p});
    }
  print_cells(300);
}

/* What each rank gets: blocks of its receives. */
static int64_t received_blocks(const tt_plan *plan) {
  int64_t blocks = 0;
  for (uint32_t n = 0; n < plan->step_count; n++)
    blocks += plan->step[n].kind == TT_STEP_RECV || plan->step[n].kind == TT_STEP_RECV_REDUCE;
  return blocks;
}

/* No rank but leaves has children in both trees, so that none sends or gets more than n, the root included. */
static void test_two_trees_load_each_rank_with_n_both_ways(void **state) {
  (void)state;
  static const tt_collective collectives[] = {TT_BROADCAST, TT_REDUCE};
  for (int64_t p = 1; p <= 64; p = next_ranks(p))
    for (int64_t root = 0; root < p; root += p < 8 ? 1 : p / 4)
      for (size_t c = 0; c < TT_COUNT(collectives); c++) {
        plans all;
        plans_case of = {.problem = {.collective = collectives[c], .rank_count = p, .root = root},
                         .form = "one",
                         .params = "two-tree"};
        assert_int_equal(plans_open(&of, &all), TUTTI_OK);
        for (int64_t r = 0; r < p; r++) {
          assert_true(tt_plan_sent(all.plan[r], -1).blocks <= 2);
          assert_true(received_blocks(all.plan[r]) <= 2);
        }
        plans_close(&all);
      }
}

/* ---- the most that any rank sends, and rounds, of shapes that no preset has, too ---- */

static int64_t log_up(int64_t p, int64_t k) {
  int64_t result = 0;
  for (int64_t power = 1; power < p; power *= k)
    result++;
  return result;
}

static void expect_most(tt_collective collective, const char *params, int64_t p, int64_t root, counts most,
                        int64_t rounds) {
  plans all;
  counts found = {0, 0};
  plans_case of = {
      .problem = {.collective = collective, .rank_count = p, .root = root}, .form = "one", .params = params};
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  for (int64_t r = 0; r < p; r++) {
    counts sent = tt_plan_sent(all.plan[r], -1);
    found.messages = sent.messages > found.messages ? sent.messages : found.messages;
    found.blocks = sent.blocks > found.blocks ? sent.blocks : found.blocks;
  }
  if (found.messages != most.messages || found.blocks != most.blocks || all.plan[0]->time_count != rounds)
    fail_msg("%s, %s, %d ranks: %d messages, %d blocks, %d rounds; the formula says %d, %d, %d",
             tt_compose_info(collective).name, params, (int)p, (int)found.messages, (int)found.blocks,
             (int)all.plan[0]->time_count, (int)most.messages, (int)most.blocks, (int)rounds);
  plans_close(&all);
}

static void test_powers_of_two_take_log2_rounds(void **state) {
  (void)state;
  static const char *const orders[] = {"[core:2-nomial,xor]", "[core:2-nomial,xor,far]"};
  for (int64_t p = 2; p <= 64; p *= 2)
    for (size_t n = 0; n < TT_COUNT(orders); n++) {
      int64_t rounds = log2_up(p);
      expect_most(TT_ALLGATHER, orders[n], p, 0, (counts){rounds, p - 1}, rounds);
      expect_most(TT_REDUCE_SCATTER, orders[n], p, 0, (counts){rounds, p - 1}, rounds);
      expect_most(TT_ALLREDUCE, orders[n], p, 0, (counts){rounds, rounds}, rounds);
    }
}

/* Bruck's with k ports: ceil(log_k p) rounds of up to k - 1 messages; p - 1 blocks for any p. */
static void test_k_nomial_trees_take_log_k_rounds(void **state) {
  (void)state;
  static const int64_t ranks[] = {3, 5, 7, 8, 9, 12, 17, 27, 64};
  for (size_t n = 0; n < TT_COUNT(ranks); n++)
    for (int k = 2; k <= 4; k++) {
      int64_t p = ranks[n], rounds = log_up(p, k), messages = 0;
      for (int64_t power = 1; power < p; power *= k)
        for (int64_t digit = 1; digit < k; digit++)
          messages += digit * power < p;
      char params[32];
      snprintf(params, sizeof params, "[core:%d-nomial]", k);
      expect_most(TT_ALLGATHER, params, p, 0, (counts){messages, p - 1}, rounds);
      expect_most(TT_REDUCE_SCATTER, params, p, 0, (counts){messages, p - 1}, rounds);
      expect_most(TT_BROADCAST, params, p, p - 1, (counts){messages, messages}, rounds);
    }
}

static void test_scans_take_log2_rounds_of_one_value(void **state) {
  (void)state;
  for (int64_t p = 2; p <= 64; p = p == 33 ? 64 : p + 1) {
    int64_t rounds = log2_up(p);
    expect_most(TT_SCAN, "scan", p, 0, (counts){rounds, rounds}, rounds);
    expect_most(TT_EXSCAN, "scan", p, 0, (counts){rounds, rounds}, rounds);
    expect_most(TT_SCAN, "pipelined-scan", p, 0, (counts){1, 1}, p - 1);
    expect_most(TT_EXSCAN, "pipelined-scan", p, 0, (counts){1, 1}, p - 1);
  }
}

static void test_neighbor_exchange_takes_half_as_many_rounds_as_ranks(void **state) {
  (void)state;
  for (int64_t p = 2; p <= 64; p += 2)
    expect_most(TT_ALLGATHER, "neighbor-exchange", p, 0, (counts){p / 2, p - 1}, p / 2);
}

/* Of f(n), the last k - 1 pass while the last messages are on their way. */
static void test_postal_trees_take_as_many_rounds_as_the_postal_model_needs(void **state) {
  (void)state;
  cells = without = 0;
  for (int64_t p = 2; p <= 64; p = p == 33 ? 64 : p + 1)
    for (int k = 1; k <= 8; k++) {
      int64_t rounds = postal_time(p, k) - k + 1;
      char params[32];
      snprintf(params, sizeof params, "[core:%d-postal]", k);
      expect_most(TT_BROADCAST, params, p, p / 2, (counts){rounds, rounds}, rounds);
      expect_most(TT_ALLGATHER, params, p, 0, (counts){rounds, p - 1}, rounds);
      for (int c = 0; c < TT_ALLGATHERV; c++)
        check_text(params, (tt_collective)c, (plans_case){.publish = false},
                   (place){.p = p, .nodes = 1, .per_node = p});
    }
  print_cells(8000);
}

static void test_rings_take_one_round_a_rank(void **state) {
  (void)state;
  static const int64_t ranks[] = {3, 5, 7, 8, 12, 17};
  for (size_t n = 0; n < TT_COUNT(ranks); n++) {
    counts most = {ranks[n] - 1, ranks[n] - 1};
    expect_most(TT_ALLGATHER, "[core:chain]", ranks[n], 0, most, ranks[n] - 1);
    expect_most(TT_REDUCE_SCATTER, "[core:chain]", ranks[n], 0, most, ranks[n] - 1);
    expect_most(TT_ALLGATHER, "[core:star]", ranks[n], 0, most, 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_flat_presets_send_what_the_literature_says),
      cmocka_unit_test(test_two_level_presets_send_what_the_literature_says),
      cmocka_unit_test(test_k_bruck_sends_what_the_literature_says),
      cmocka_unit_test(test_two_trees_load_each_rank_with_n_both_ways),
      cmocka_unit_test(test_scans_take_log2_rounds_of_one_value),
      cmocka_unit_test(test_neighbor_exchange_takes_half_as_many_rounds_as_ranks),
      cmocka_unit_test(test_powers_of_two_take_log2_rounds),
      cmocka_unit_test(test_k_nomial_trees_take_log_k_rounds),
      cmocka_unit_test(test_postal_trees_take_as_many_rounds_as_the_postal_model_needs),
      cmocka_unit_test(test_rings_take_one_round_a_rank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

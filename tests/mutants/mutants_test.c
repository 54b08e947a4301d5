/* tests/mutants/mutants_test.c - the verifier is as sharp as execution.
 *
 * Compiled plans are changed in one thing and run under many random schedules. Whatever any run shows wrong must be
 * refused by the verifier. What it accepts and no run shows wrong is counted by kind of change: those changes do no
 * harm. */
#include "cases.h"
#include "engine.h"
#include "interpreter.h"
#include "mutate.h"
#include "verify/examples.h"
#include "verify/proof.h"

#include <setjmp.h>

#include <cmocka.h>

enum { BASES = 75, MUTANTS = 2800, SCHEDULES = 60 };

/* make test-long has more. */
static int times(void) { return getenv("TUTTI_TEST_LONG") ? 10 : 1; }

static const struct mutation {
  const char *name, *harmless; /* harmless: why some of them are */
  bool (*apply)(draft *on, tt_random *random);
} mutations[] = {
    {"drop a step", "it brings to mid what nobody takes", drop_step},
    {"drop a wait", "other orders imply it", drop_wait},
    {"slices for whole", "the block is the same; or it waits longer than it must", weaken_wait},
    {"wait for another", "another order implies what is lost", move_wait},
    {"one wait more", "it only waits longer", add_wait},
    {"wrong block", "", wrong_block},
    {"wrong peer", "", wrong_peer},
    {"swap two steps", "they do not depend on each other", swap_steps},
    {"wrong place", "a place that holds the same, or that nobody reads", wrong_place},
    {"reduce or not", "into mid, where nobody takes it", wrong_kind},
    {"wrong finish", "a division by one, or of what nobody takes", wrong_finish},
    {"operands turned", "operators commute", turn_operands},
    {"message bounds", "", wrong_bounds},
    {"transfer twice", "it reduces nothing", NULL},
};

enum { DOUBLE = TT_COUNT(mutations) - 1 };

/* Why the verifier refuses what no run shows: a race needs bad luck; rounds are for pictures, no run looks at them. */
static const char *const strictness[] = {"race", "another round", ""};

typedef struct tally {
  int made, malformed, shown, on_loop, accepted; /* shown: wrong by any run; on_loop: by one of the engine */
  int strict[TT_COUNT(strictness)];              /* refused for a reason that has these words, though no run shows it */
} tally;

static const tt_plan *const *plans_of(const plan_case *of) { return (const tt_plan *const *)of->plan; }

/* The worst that the schedules show, on numbers or with the engine; every second run has one slot a stream. ordered:
 * operand order is looked at. */
static outcome worst_of_numbers(const plan_case *of, uint64_t seed, bool ordered) {
  outcome worst = RIGHT;
  for (uint64_t n = 0; n < SCHEDULES && worst == RIGHT; n++)
    worst = interpret(&of->meaning, plans_of(of), seed + n, n % 2 == 0 ? 1 : 0, ordered, NULL, NULL);
  return worst;
}

static outcome worst_on_loop(const plan_case *of, uint64_t seed, bool ordered) {
  outcome worst = RIGHT;
  for (uint64_t n = 0; n < SCHEDULES && worst == RIGHT; n++)
    worst = run_on_loop(&of->meaning, plans_of(of), seed + n, n % 2 == 0 ? 1 : 0, ordered, NULL);
  return worst;
}

static bool fits(const plan_case *of) {
  uint32_t lanes = 0, steps = 0, blocks = of->plan[0]->block_count;
  for (int64_t rank = 0; rank < of->meaning.rank_count; rank++) {
    lanes += of->plan[rank]->lane_count;
    steps += of->plan[rank]->step_count;
  }
  return lanes <= LANES && steps > 0 && steps <= 400 && blocks <= 256;
}

static bool draw_base(tt_random *random, plan_case *into) {
  for (int tries = 0; tries < 1000; tries++) {
    if (!case_draw(random, into))
      continue;
    if (fits(into))
      return true;
    case_finish(into);
  }
  return false;
}

/* ---- plans as they are ---- */

static void test_compiled_plans_are_proven_and_run_right(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 11);
  for (int n = 0; n < BASES * times(); n++) {
    plan_case base;
    tt_facts facts;
    assert_true(draw_base(&random, &base));
    if (tt_verify_facts(&base.meaning, plans_of(&base), &facts) != TUTTI_OK)
      fail_msg("%s: %s", base.text, tutti_last_error());
    outcome worst = worst_of_numbers(&base, (uint64_t)n * SCHEDULES, facts.ordered);
    if (worst == RIGHT)
      worst = worst_on_loop(&base, (uint64_t)n * SCHEDULES, facts.ordered && n % 2 == 0);
    if (worst != RIGHT)
      fail_msg("%s: proven, but a run shows %d", base.text, (int)worst);
    case_finish(&base);
  }
}

/* One slot less than declared: none. The verifier says beforehand which plans then hang. */
static bool expect_hang_without_slots(const plan_case *of, uint64_t seed, const tt_facts *facts) {
  outcome got = interpret(&of->meaning, plans_of(of), seed, WITHOUT_SLOTS, facts->ordered, NULL, NULL);
  if (got != (facts->rendezvous ? RIGHT : STUCK))
    fail_msg("%s: without slots it %s", of->text, got == RIGHT ? "runs" : "hangs");
  return got == STUCK;
}

static int count_hanging_examples(void) {
  int hang = 0;
  for (int n = 0; n < EXAMPLES; n++) {
    const example *of = &examples[n];
    plan_case base = {.plan = {NULL}};
    tt_facts facts;
    base.question = example_question(of, false);
    assert_int_equal(tt_verify_meaning(&base.question, &base.meaning), TUTTI_OK);
    for (int rank = 0; rank < of->rank_count; rank++) {
      char *text = example_text(of, rank);
      assert_int_equal(tt_plan_parse(text, &base.plan[rank]), TUTTI_OK);
      free(text);
    }
    assert_int_equal(tt_verify_facts(&base.meaning, plans_of(&base), &facts), TUTTI_OK);
    hang += expect_hang_without_slots(&base, 1, &facts);
    case_finish(&base);
  }
  return hang;
}

static void test_without_slots_those_hang_that_the_verifier_names(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 12);
  int hang = 0;
  for (int n = 0; n < BASES * times(); n++) {
    plan_case base;
    tt_facts facts;
    assert_true(draw_base(&random, &base));
    assert_int_equal(tt_verify_facts(&base.meaning, plans_of(&base), &facts), TUTTI_OK);
    hang += expect_hang_without_slots(&base, (uint64_t)n, &facts);
    case_finish(&base);
  }
  int hanging_examples = count_hanging_examples();
  assert_true(hanging_examples > 0);
  print_message("without slots %d of %d compiled plans and %d of %d examples hang, as said\n", hang, BASES * times(),
                hanging_examples, EXAMPLES);
}

/* ---- mutants ---- */

static void replace(plan_case *base, uint32_t rank, tt_plan *plan) {
  tt_plan_destroy(base->plan[rank]);
  base->plan[rank] = plan;
}

static bool change_one(plan_case *base, const struct mutation *mutation, tt_random *random) {
  uint32_t rank = any(random, (uint32_t)base->meaning.rank_count);
  draft parts;
  take_apart(base->plan[rank], &parts);
  bool changed = parts.count > 0 && mutation->apply(&parts, random);
  if (changed)
    replace(base, rank, put_together(&parts));
  else
    free(parts.step);
  return changed;
}

static void double_at(plan_case *base, uint32_t rank, uint32_t at) {
  draft parts;
  take_apart(base->plan[rank], &parts);
  double_step(&parts, at);
  replace(base, rank, put_together(&parts));
}

/* The n-th receive of that lane id from a source, as an index into the plan's steps; -1: none. */
static int64_t step_at(const tt_plan *plan, uint32_t lane_id, tt_role role, int32_t peer, uint32_t number) {
  for (uint32_t n = 0; n < plan->lane_count; n++)
    for (uint32_t k = 0; plan->lane[n].id == lane_id && plan->lane[n].role == role && k < plan->lane[n].step_count; k++)
      if (plan->step[plan->lane[n].first_step + k].peer == peer && number-- == 0)
        return plan->lane[n].first_step + k;
  return -1;
}

/* The same block is sent and received once more, at both ends. */
static bool transfer_twice(plan_case *base, tt_random *random) {
  uint32_t rank = any(random, (uint32_t)base->meaning.rank_count);
  const tt_plan *plan = base->plan[rank];
  if (plan->lane_count == 0)
    return false;
  const tt_lane *lane = &plan->lane[any(random, plan->lane_count)];
  if (lane->role != TT_ROLE_SEND || lane->published)
    return false;
  uint32_t at = lane->first_step + any(random, lane->step_count), number = 0;
  int32_t peer = plan->step[at].peer;
  for (uint32_t n = lane->first_step; n < at; n++)
    number += plan->step[n].peer == peer;
  int64_t other = step_at(base->plan[peer], lane->id, TT_ROLE_RECV, (int32_t)rank, number);
  if (other < 0)
    return false;
  double_at(base, rank, at);
  double_at(base, (uint32_t)peer, (uint32_t)other);
  return true;
}

static bool is_well_formed(const plan_case *of) {
  for (int64_t rank = 0; rank < of->meaning.rank_count; rank++)
    if (tt_plan_check(of->plan[rank]) != TUTTI_OK)
      return false;
  return true;
}

static void report_escape(const plan_case *mutant, const struct mutation *mutation, outcome shown) {
  for (int64_t rank = 0; rank < mutant->meaning.rank_count; rank++) {
    char *text = tt_plan_print(mutant->plan[rank]);
    print_error("%s", text);
    free(text);
  }
  fail_msg("%s: %s was accepted, but a run shows %d", mutant->text, mutation->name, (int)shown);
}

static void judge(const plan_case *mutant, const struct mutation *mutation, uint64_t seed, tally *into) {
  into->made++;
  if (!is_well_formed(mutant)) {
    into->malformed++;
    return;
  }
  tt_facts facts = {false, false};
  bool accepted = tt_verify_facts(&mutant->meaning, plans_of(mutant), &facts) == TUTTI_OK;
  bool ordered = mutant->meaning.ordered || (accepted && facts.ordered);
  outcome shown = worst_of_numbers(mutant, seed, ordered);
  outcome on_loop = worst_on_loop(mutant, seed, mutant->meaning.ordered);
  into->on_loop += on_loop != RIGHT;
  shown = shown == RIGHT ? on_loop : shown;
  if (accepted && shown != RIGHT)
    report_escape(mutant, mutation, shown);
  into->shown += shown != RIGHT;
  into->accepted += accepted;
  for (size_t n = 0; shown == RIGHT && !accepted; n++)
    if (strstr(tutti_last_error(), strictness[n]) != NULL) {
      into->strict[n]++;
      break;
    }
  if (accepted)
    expect_hang_without_slots(mutant, seed, &facts);
}

static void print_tallies(const tally *tallies) {
  print_message("%-17s %5s %9s %13s | refused, not shown: race round other | accepted, harmless where\n", "change",
                "made", "malformed", "shown on loop");
  for (size_t n = 0; n < TT_COUNT(mutations); n++) {
    const tally *of = &tallies[n];
    print_message("%-17s %5d %9d %5d %7d | %24d %5d %5d | %8d %s\n", mutations[n].name, of->made, of->malformed,
                  of->shown, of->on_loop, of->strict[0], of->strict[1], of->strict[2], of->accepted,
                  mutations[n].harmless);
  }
}

static void print_origins(const int *of_collective, int ordered) {
  print_message("%d of them where operators do not commute; of", ordered);
  for (int c = 0; c <= TT_COLLECTIVE_COUNT; c++) {
    const char *name = tt_compose_info((tt_collective)c).name;
    assert_true(of_collective[c] > 0);
    print_message(" %s %d%s", name ? name : "random compositions", of_collective[c], name ? "," : "\n");
  }
}

static void test_what_a_run_shows_wrong_is_refused(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 13);
  tally tallies[TT_COUNT(mutations)] = {{0}};
  int of_collective[TT_COLLECTIVE_COUNT + 1] = {0}, ordered = 0;
  for (int made = 0; made < MUTANTS * times();) {
    size_t kind = (size_t)made % TT_COUNT(mutations);
    plan_case mutant;
    assert_true(draw_base(&random, &mutant));
    bool changed = kind == DOUBLE ? transfer_twice(&mutant, &random) : change_one(&mutant, &mutations[kind], &random);
    if (changed) {
      judge(&mutant, &mutations[kind], (uint64_t)made++ * SCHEDULES, &tallies[kind]);
      of_collective[mutant.collective]++;
      ordered += mutant.meaning.ordered;
    }
    case_finish(&mutant);
  }
  print_tallies(tallies);
  print_origins(of_collective, ordered);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_compiled_plans_are_proven_and_run_right),
      cmocka_unit_test(test_without_slots_those_hang_that_the_verifier_names),
      cmocka_unit_test(test_what_a_run_shows_wrong_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

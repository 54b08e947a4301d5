/* tests/mutants/bound_test.c - the proof of bound plans is as sharp as execution.
 *
 * What bind makes of compiled plans is changed in one thing and run under many random schedules, on numbers and with
 * the library's executors. Whatever any run shows wrong must be refused. Changes that leave a list right must be
 * accepted, whether bind would have written it or not. */
#include "bound_interpreter.h"
#include "bound_mutate.h"
#include "engine.h"
#include "verify/proof.h"

#include <setjmp.h>

#include <cmocka.h>

/* A tenth of what make test-long does. */
enum { MUTANTS = 45, RIGHT_ONES = 110, SCHEDULES_BOUND = 40 };

typedef struct change {
  const char *name, *harmless; /* harmless: why some of them are */
  bool (*apply)(bound_case *of, tt_random *random);
} change;

static const change wrong[] = {
    {"another tmp", "one that nothing else uses meanwhile", another_tmp},
    {"two memories", "nothing is read from there", two_memories},
    {"lost release", "another one of its stream is left", lost_release},
    {"early release", "only copies are left", early_release},
    {"lent too soon", "nothing writes there later", lend_too_soon},
    {"order swapped", "the two do not depend on each other", swap_order},
    {"another medium", "it is one that may be", another_medium},
    {"another place", "they are of different peers", another_place},
};

static const change right[] = {
    {"tmp renamed", "", rename_tmp},       {"another order", "", other_order}, {"lent less", "", lend_less},
    {"released later", "", later_release}, {"other places", "", other_places},
};

static int64_t times(void) { return getenv("TUTTI_TEST_LONG") ? 10 : 1; }

static const tt_plan *const *plans_of(const bound_case *of) { return (const tt_plan *const *)of->base.plan; }
static const tt_bound_plan *const *bound_of(const bound_case *of) { return (const tt_bound_plan *const *)of->bound; }

static bool fits(const plan_case *of) {
  uint32_t lanes = 0, blocks = of->plan[0]->block_count, most = 0;
  for (int64_t rank = 0; rank < of->meaning.rank_count; rank++) {
    lanes += of->plan[rank]->lane_count;
    most = of->plan[rank]->step_count > most ? of->plan[rank]->step_count : most;
  }
  return lanes <= LANES && most > 0 && most <= 100 && blocks <= 64;
}

static bool plans_only_move(const plan_case *of) {
  for (int64_t rank = 0; rank < of->meaning.rank_count; rank++)
    for (uint32_t n = 0; n < of->plan[rank]->step_count; n++)
      if (tt_plan_step_combines(&of->plan[rank]->step[n]))
        return false;
  return true;
}

/* A class that its plans allow. */
static tt_class draw_class(tt_random *random, const plan_case *of) {
  if (!of->plan[0]->direct || any(random, 6) == 0)
    return TT_CLASS_STREAMS;
  return plans_only_move(of) && any(random, 2) ? TT_CLASS_ENDS : TT_CLASS_CELLS;
}

/* Half of them may go in cells: such plans are rare among all. */

static void draw_bound(tt_random *random, bound_case *into) {
  for (bool direct = any(random, 2);;) {
    memset(into->bound, 0, sizeof into->bound);
    memset(into->list, 0, sizeof into->list);
    if (!case_draw(random, &into->base))
      continue;
    into->blocks = draw_class(random, &into->base);
    into->able = any(random, 4) ? TT_MEDIA_LENT : 0;
    if (fits(&into->base) && into->base.plan[0]->direct >= direct && bind_all(into))
      return;
    bound_finish(into);
  }
}

/* ---- runs ---- */

static outcome worst_run(const bound_case *of, uint64_t seed, bool ordered) {
  outcome worst = RIGHT;
  for (uint64_t n = 0; n < SCHEDULES_BOUND && worst == RIGHT; n++)
    worst = interpret_bound(&of->base.meaning, bound_of(of), seed + n, n % 2 == 0 ? 1 : 0, ordered);
  return worst;
}

static outcome worst_on_loop(const bound_case *of, uint64_t seed, bool ordered) {
  outcome worst = RIGHT;
  for (uint64_t n = 0; n < SCHEDULES_BOUND / 2 && worst == RIGHT; n++)
    worst = run_bound_on_loop(&of->base.meaning, bound_of(of), seed + n, n % 2 == 0 ? 1 : 0, ordered, NULL);
  return worst;
}

static bool is_well_formed(const bound_case *of) {
  for (int64_t rank = 0; rank < of->base.meaning.rank_count; rank++)
    if (tt_bound_plan_check(of->bound[rank]) != TUTTI_OK)
      return false;
  return true;
}

static bool is_accepted(const bound_case *of) {
  return tt_verify_bound(&of->base.meaning, plans_of(of), bound_of(of)) == TUTTI_OK;
}

/* Whether operands stand in rank order by the plans: then runs look at it. */
static bool is_ordered(const bound_case *of) {
  tt_facts facts = {false, false};
  assert_int_equal(tt_verify_facts(&of->base.meaning, plans_of(of), &facts), TUTTI_OK);
  return of->base.meaning.ordered || facts.ordered;
}

static void fail_with(const bound_case *of, const char *name, const char *what) {
  for (int64_t rank = 0; rank < of->base.meaning.rank_count; rank++) {
    char *text = tt_bound_plan_print(of->bound[rank]);
    print_error("%s", text);
    free(text);
  }
  fail_msg("%s: %s: %s", of->base.text, name, what);
}

/* ---- as bind makes them ---- */

static void test_what_bind_makes_is_proven_and_runs_right(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 31);
  int of_class[TT_CLASS_COUNT] = {0};
  for (int64_t n = 0; n < 100 * times(); n++) {
    static bound_case of;
    draw_bound(&random, &of);
    of_class[of.blocks]++;
    if (!is_accepted(&of))
      fail_with(&of, "as bound", tutti_last_error());
    bool ordered = is_ordered(&of);
    if (worst_run(&of, (uint64_t)n * 64, ordered) != RIGHT)
      fail_with(&of, "as bound", "a run on numbers is wrong");
    if (worst_on_loop(&of, (uint64_t)n * 64, of.base.meaning.ordered) != RIGHT)
      fail_with(&of, "as bound", "a run of the executors is wrong");
    bound_finish(&of);
  }
  for (int c = 0; c < TT_CLASS_COUNT; c++) {
    print_message("%s %d%s", tt_class_name[c], of_class[c], c + 1 < TT_CLASS_COUNT ? ", " : "\n");
    assert_true(of_class[c] > 0);
  }
}

/* ---- changed ---- */

typedef struct tally {
  int made, malformed, shown, on_loop, refused, accepted; /* refused: though no run shows it */
} tally;

static void judge(bound_case *mutant, const change *by, uint64_t seed, bool ordered, tally *into) {
  into->made++;
  if (!is_well_formed(mutant)) {
    into->malformed++;
    return;
  }
  bool accepted = is_accepted(mutant);
  outcome shown = worst_run(mutant, seed, ordered);
  outcome on_loop = worst_on_loop(mutant, seed, mutant->base.meaning.ordered);
  if (accepted && (shown != RIGHT || on_loop != RIGHT))
    fail_with(mutant, by->name, shown != RIGHT ? "accepted, but a run is wrong" : "accepted, but executors go wrong");
  into->on_loop += on_loop != RIGHT;
  into->shown += shown != RIGHT || on_loop != RIGHT;
  into->accepted += accepted;
  into->refused += !accepted && shown == RIGHT && on_loop == RIGHT;
}

static void test_what_a_run_shows_wrong_is_refused(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 32);
  tally tallies[TT_COUNT(wrong)] = {{0}};
  int shown = 0;
  for (size_t kind = 0; kind < TT_COUNT(wrong); kind++)
    while (tallies[kind].made < MUTANTS * times()) {
      static bound_case mutant;
      draw_bound(&random, &mutant);
      bool ordered = is_ordered(&mutant);
      if (wrong[kind].apply(&mutant, &random))
        judge(&mutant, &wrong[kind], (uint64_t)tallies[kind].made * 64, ordered, &tallies[kind]);
      bound_finish(&mutant);
    }
  print_message("%-17s %5s %9s %13s | refused, not shown | accepted, harmless where\n", "change", "made", "malformed",
                "shown on loop");
  for (size_t n = 0; n < TT_COUNT(wrong); n++) {
    const tally *of = &tallies[n];
    shown += of->shown;
    print_message("%-17s %5d %9d %5d %7d | %18d | %8d %s\n", wrong[n].name, of->made, of->malformed, of->shown,
                  of->on_loop, of->refused, of->accepted, wrong[n].harmless);
    assert_true(of->shown > 0);
  }
  print_message("%d shown wrong by a run, all refused\n", shown);
}

static void test_right_lists_are_accepted(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 33);
  int accepted = 0;
  for (size_t kind = 0; kind < TT_COUNT(right); kind++)
    for (int made = 0; made < RIGHT_ONES * (int)times() / 5;) {
      static bound_case of;
      draw_bound(&random, &of);
      bool ordered = is_ordered(&of);
      if (right[kind].apply(&of, &random)) {
        made++;
        if (!is_accepted(&of))
          fail_with(&of, right[kind].name, tutti_last_error());
        if (worst_run(&of, (uint64_t)made * 64, ordered) != RIGHT)
          fail_with(&of, right[kind].name, "a run is wrong");
        accepted++;
      }
      bound_finish(&of);
    }
  print_message("%d right lists that bind would not write, all accepted\n", accepted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_bind_makes_is_proven_and_runs_right),
      cmocka_unit_test(test_what_a_run_shows_wrong_is_refused),
      cmocka_unit_test(test_right_lists_are_accepted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

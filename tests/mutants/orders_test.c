/* tests/mutants/orders_test.c - every ordering that a run relies on is one that the plan demands.
 *
 * Random compiled plans run under a random schedule, on numbers and with the engine, with each access to memory logged.
 * Two accesses to one place, one of them a write, must be ordered by lanes and waits alone. What lanes and waits order
 * is worked out here as sets of steps, apart from the verifier's clocks; and what the verifier calls ordered must be in
 * those sets. */
#include "cases.h"
#include "engine.h"
#include "interpreter.h"
#include "verify/races.h"

#include <setjmp.h>

#include <cmocka.h>

enum { PLANS = 1000, STEPS = 512, ACCESSES = 1 << 14 };

typedef struct access_entry {
  uint32_t step;
  uintptr_t begin, end;
  bool write;
} access_entry;

typedef struct step_set {
  uint64_t word[STEPS / 64];
} step_set;

/* Steps of one rank: which are complete before a step begins, and of which slice s is complete before its slice s
 * begins. */
typedef struct orders {
  const tt_plan *plan;
  bool known[STEPS];
  step_set whole[STEPS], slice[STEPS];
} orders;

static struct {
  access_entry entry[RANKS][ACCESSES];
  uint32_t count[RANKS];
  const plan_case *of;
} journal;

static void add_access(int64_t rank, access_entry entry) {
  assert_true(journal.count[rank] < ACCESSES);
  journal.entry[rank][journal.count[rank]++] = entry;
}

static void note_number(void *user, uint32_t rank, uint32_t step, tt_ref at, uint32_t slice, bool write) {
  (void)user;
  if (journal.of->meaning.in_place && at.space == TT_SPACE_IN)
    at.space = TT_SPACE_OUT;
  uintptr_t place = ((uintptr_t)at.space << 16 | at.index) * SLICES + slice;
  add_access(rank, (access_entry){step, place, place + 1, write});
}

static void note_bytes(void *user, const tt_access *access) {
  (void)user;
  uint32_t first = journal.of->plan[access->rank]->lane[access->lane].first_step;
  uintptr_t begin = (uintptr_t)access->address;
  add_access(access->rank, (access_entry){first + access->step, begin, begin + access->bytes, access->write});
}

static void unite(step_set *set, const step_set *with) {
  for (uint32_t n = 0; n < STEPS / 64; n++)
    set->word[n] |= with->word[n];
}

static void put(step_set *set, uint32_t step) { set->word[step / 64] |= UINT64_C(1) << step % 64; }
static bool has(const step_set *set, uint32_t step) { return (set->word[step / 64] >> step % 64 & 1) != 0; }

static void know(orders *of, uint32_t step);

static void after(orders *of, uint32_t step, uint32_t before, bool whole) {
  know(of, before);
  unite(&of->whole[step], whole ? &of->slice[before] : &of->whole[before]);
  unite(&of->slice[step], &of->slice[before]);
  put(&of->slice[step], before);
  if (whole)
    put(&of->whole[step], before);
}

static void know(orders *of, uint32_t step) {
  if (of->known[step])
    return;
  of->known[step] = true;
  const tt_step *at = &of->plan->step[step];
  for (uint32_t n = 0; n < of->plan->lane_count; n++)
    if (step > of->plan->lane[n].first_step && step < of->plan->lane[n].first_step + of->plan->lane[n].step_count)
      after(of, step, step - 1, true);
  for (uint32_t n = 0; n < at->wait_count; n++) {
    const tt_wait *wait = &of->plan->wait[at->wait_first + n];
    after(of, step, of->plan->lane[wait->lane].first_step + wait->step, wait->whole);
  }
}

static void know_all(const tt_plan *plan, orders *of) {
  memset(of, 0, sizeof *of);
  of->plan = plan;
  for (uint32_t step = 0; step < plan->step_count; step++)
    know(of, step);
}

static bool conflict(const access_entry *a, const access_entry *b) {
  return a->begin < b->end && b->begin < a->end && (a->write || b->write) && a->step != b->step;
}

/* Steps of one block have the same slices at the same places; others must not overlap at all. */
static bool is_ordered(const orders *of, uint32_t a, uint32_t b) {
  return has(of->plan->step[a].block == of->plan->step[b].block ? &of->slice[b] : &of->whole[b], a);
}

static int check_rank(uint32_t rank) {
  static orders known;
  int relied = 0;
  const access_entry *entry = journal.entry[rank];
  know_all(journal.of->plan[rank], &known);
  for (uint32_t later = 0; later < journal.count[rank]; later++)
    for (uint32_t earlier = 0; earlier < later; earlier++)
      if (conflict(&entry[earlier], &entry[later])) {
        relied++;
        if (!is_ordered(&known, entry[earlier].step, entry[later].step))
          fail_msg("%s: rank %u: steps %u and %u are not ordered", journal.of->text, rank, entry[earlier].step,
                   entry[later].step);
      }
  return relied;
}

/* Pairs of accesses in one run, by numbers or on loop, that had to be ordered. */
static int check_run(const plan_case *of, uint64_t seed, bool on_loop) {
  const tt_plan *const *plan = (const tt_plan *const *)of->plan;
  memset(journal.count, 0, sizeof journal.count);
  journal.of = of;
  outcome got = on_loop ? run_on_loop(&of->meaning, plan, seed, 0, of->meaning.ordered, note_bytes)
                        : interpret(&of->meaning, plan, seed, 0, false, note_number, NULL);
  if (got != RIGHT)
    fail_msg("%s: a run shows %d", of->text, (int)got);
  int relied = 0;
  for (uint32_t rank = 0; rank < (uint32_t)of->meaning.rank_count; rank++)
    relied += check_rank(rank);
  return relied;
}

static bool draw_small(tt_random *random, plan_case *into) {
  uint32_t lanes = 0, steps = 0;
  if (!case_draw(random, into))
    return false;
  for (int64_t rank = 0; rank < into->meaning.rank_count; rank++) {
    lanes += into->plan[rank]->lane_count;
    steps += into->plan[rank]->step_count;
  }
  if (lanes <= LANES && steps < STEPS)
    return true;
  case_finish(into);
  return false;
}

static void test_runs_rely_on_no_order_but_the_plan_s(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 21);
  int numbers = 0, bytes = 0;
  for (int done = 0; done < PLANS;) {
    plan_case drawn;
    if (!draw_small(&random, &drawn))
      continue;
    numbers += check_run(&drawn, (uint64_t)done, false);
    bytes += check_run(&drawn, (uint64_t)done, true);
    case_finish(&drawn);
    done++;
  }
  assert_true(numbers > PLANS && bytes > PLANS);
  print_message("%d plans; pairs of accesses that had to be ordered: %d on numbers, %d on loop\n", PLANS, numbers,
                bytes);
}

/* ---- the verifier's clocks ---- */

static void compare_clocks(const tt_proof *proof, const tt_races *races) {
  static orders known;
  for (uint32_t rank = 0, first = 0; rank < proof->rank_count; first += proof->plan[rank++]->step_count) {
    know_all(proof->plan[rank], &known);
    for (uint32_t a = 0; a < proof->plan[rank]->step_count; a++)
      for (uint32_t b = 0; b < proof->plan[rank]->step_count; b++)
        if (a != b)
          assert_int_equal(tt_verify_ordered(races, first + a, first + b), has(&known.slice[b], a));
  }
}

static void test_clocks_order_what_lanes_and_waits_order_and_nothing_else(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 22);
  for (int done = 0; done < PLANS / 10;) {
    plan_case drawn;
    if (!draw_small(&random, &drawn))
      continue;
    tt_proof proof = {.meaning = &drawn.meaning,
                      .plan = (const tt_plan *const *)drawn.plan,
                      .rank_count = (uint32_t)drawn.meaning.rank_count,
                      .block_count = drawn.plan[0]->block_count,
                      .part_count = drawn.plan[0]->part_count};
    tt_races races;
    tt_arena_init(&proof.arena);
    assert_int_equal(tt_verify_index(&proof), TUTTI_OK);
    assert_int_equal(tt_verify_match(&proof), TUTTI_OK);
    assert_int_equal(tt_verify_order(&proof), TUTTI_OK);
    assert_int_equal(tt_verify_races_init(&races, &proof), TUTTI_OK);
    for (uint32_t n = 0; n < proof.step_count; n++)
      tt_verify_tick(&races, proof.order[n]);
    compare_clocks(&proof, &races);
    tt_arena_finish(&proof.arena);
    case_finish(&drawn);
    done++;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_runs_rely_on_no_order_but_the_plan_s),
      cmocka_unit_test(test_clocks_order_what_lanes_and_waits_order_and_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

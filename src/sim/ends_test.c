/* Bound plans on a machine whose rates are known: times that can be found by hand. Blocks are a slot or some of them.
 */
#include "bind/bind.h"
#include "sim/sim.h"
#include "support/plans.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define RANKS_MOST 8
#define SLOT 1024

typedef struct job {
  plans all;
  tt_bound_plan *bound[RANKS_MOST];
  int64_t machine[RANKS_MOST], core[RANKS_MOST];
  double start_ps[RANKS_MOST];
  tt_sim_rates rates;
  tt_sim_bound of;
  double rank_ns[RANKS_MOST]; /* of the last run */
} job;

/* A piece takes so long, and so long a byte. */
static tt_sim_end end(double piece_ns, double byte_ns) {
  tt_sim_end made = {.piece_ns = {0}};
  for (int k = 0; k < TT_SIM_PIECES; k++)
    made.piece_ns[k] = piece_ns + byte_ns * (double)tt_sim_piece[k];
  return made;
}

/* Of a slot: 1 us to send it, 2 us to store it, 3 us to combine it, 1 us more where it is new; 10 ns on its way. */
#define SEND 1000.0
#define STORE 2000.0
#define COMBINE 3000.0
#define NEW 1000.0
#define WAY 10.0

static void set_rates(tt_sim_rates *rates) {
  *rates = (tt_sim_rates){.within = {.alpha_ns = WAY, .ports = TT_SIM_PORTS},
                          .between = {.alpha_ns = 500, .beta_ns = 1, .ports = 1}};
  for (int medium = 0; medium < TT_MEDIUM_COUNT; medium++) {
    rates->end[medium][TT_SIM_SEND] = end(SEND - SLOT / 2, 0.5);
    rates->end[medium][TT_SIM_STORE] = end(STORE - SLOT, 1);
    rates->end[medium][TT_SIM_COMBINE] = end(COMBINE - SLOT, 1);
    rates->end[medium][TT_SIM_STORE_NEW] = end(STORE + NEW - SLOT, 1);
    rates->end[medium][TT_SIM_COMBINE_NEW] = end(COMBINE + NEW - SLOT, 1);
  }
}

static void bind_all(job *of, tt_class class, const int64_t *machine) {
  tt_bind_facts facts = {.blocks = class, .able = TT_MEDIA_LENT, .machine = machine};
  for (int64_t r = 0; r < of->all.count; r++) {
    tt_bound_plan_destroy(of->bound[r]);
    of->bound[r] = NULL;
    assert_int_equal(tt_bind(of->all.plan[r], &facts, &of->bound[r]), TUTTI_OK);
  }
  of->of = (tt_sim_bound){
      .plan = (const tt_bound_plan *const *)of->bound, .rates = &of->rates, .machine = machine, .read_least = -1};
}

static void open_job(job *of, tt_collective collective, int64_t ranks, const char *params, tt_class class) {
  plans_case plan_of = {
      .problem = {.collective = collective, .rank_count = ranks, .in_place = collective == TT_BROADCAST},
      .params = params};
  memset(of, 0, sizeof *of);
  if (plans_open(&plan_of, &of->all) != TUTTI_OK)
    fail_msg("%s: %s", params, tutti_last_error());
  set_rates(&of->rates);
  bind_all(of, class, NULL);
}

static double time_ns(job *of, int64_t bytes) {
  tt_sim_result result;
  tt_sim_model model;
  tt_sim_lengths lengths = {.total_bytes = bytes};
  tt_sim_model_init(&model, of->all.topo);
  tt_sim_rates_set(&of->rates, of->of.machine ? of->all.topo->level_count : 0, &model);
  model.slot_bytes = SLOT;
  model.slot_count = 4;
  if (tt_sim_run_bound(&model, &of->of, &lengths, &result) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
  double time = result.time_ps / 1000;
  for (int64_t r = 0; r < of->all.count; r++)
    of->rank_ns[r] = result.rank_ps[r] / 1000;
  tt_sim_finish(&result);
  return time;
}

static void close_job(job *of) {
  for (int64_t r = 0; r < of->all.count; r++)
    tt_bound_plan_destroy(of->bound[r]);
  plans_close(&of->all);
}

static void is_near(double time, double wanted) {
  if (fabs(time - wanted) > 0.01) /* ends are rounded to picoseconds */
    fail_msg("%f ns instead of %f ns", time, wanted);
}

/* ---- ends ---- */

static void test_a_piece_is_sent_is_on_its_way_and_is_stored(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  is_near(time_ns(&of, SLOT), SEND + WAY + STORE);
  is_near(of.rank_ns[0], SEND + WAY); /* the packet has left */
  close_job(&of);
}

static void test_a_piece_between_two_lengths_lies_on_their_line(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  is_near(time_ns(&of, SLOT / 2), SEND - SLOT / 4 + WAY + STORE - SLOT / 2);
  close_job(&of);
}

static void test_both_ends_work_at_a_time(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  is_near(time_ns(&of, 100 * SLOT), SEND + WAY + 100 * STORE);
  close_job(&of);
}

/* The sender may be four slots ahead. */
static void test_a_slow_receiver_holds_the_sender_up(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  time_ns(&of, 100 * SLOT);
  is_near(of.rank_ns[0], SEND + WAY + 96 * STORE + SEND + WAY);
  close_job(&of);
}

static void test_what_is_received_is_combined(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_ALLREDUCE, 2, "[core:star]", TT_CLASS_STREAMS);
  is_near(time_ns(&of, SLOT), SEND + WAY + COMBINE);
  close_job(&of);
}

static void test_a_cell_is_written_once_for_all_readers(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_ALLREDUCE, 4, "[core:star]", TT_CLASS_CELLS);
  is_near(time_ns(&of, SLOT), SEND + WAY + 3 * COMBINE);
  close_job(&of);
}

static void test_what_is_read_where_it_lies_takes_the_sender_one_word(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  of.of.single_copy = true;
  of.of.read_least = 2 * SLOT;
  of.rates.end[TT_MEDIUM_READ][TT_SIM_SEND] = end(7, 0);
  of.rates.end[TT_MEDIUM_READ][TT_SIM_STORE] = end(0, 3);
  is_near(time_ns(&of, 8 * SLOT), 7 + WAY + 3 * 8 * SLOT);
  is_near(of.rank_ns[0], 7 + WAY + 3 * 8 * SLOT);  /* it lends so long */
  is_near(time_ns(&of, SLOT), SEND + WAY + STORE); /* too short */
  close_job(&of);
}

/* What the second stage sends, the first has made. */
static void test_new_bytes_come_from_the_other_ranks_cache(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_ALLREDUCE, 2, "form=allgather.reduce-scatter [core:star]", TT_CLASS_STREAMS);
  double before = time_ns(&of, 2 * SLOT);
  of.rates.end[TT_MEDIUM_SLOT][TT_SIM_STORE_NEW] = of.rates.end[TT_MEDIUM_SLOT][TT_SIM_STORE];
  is_near(before - time_ns(&of, 2 * SLOT), NEW);
  close_job(&of);
}

/* ---- caches ---- */

static void test_what_was_used_long_ago_takes_longer(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  for (int k = 0; k < TT_SIM_REUSES; k++)
    of.rates.end[TT_MEDIUM_SLOT][TT_SIM_STORE].reuse_ns[k] = k < 2 ? 0 : 1;
  int64_t below = tt_sim_reuse[1], above = tt_sim_reuse[2];
  is_near(time_ns(&of, below), SEND + WAY + (double)(below / SLOT) * STORE);
  is_near(time_ns(&of, above), SEND + WAY + (double)(above / SLOT) * (STORE + SLOT));
  close_job(&of);
}

static void test_results_past_the_cache_have_a_rate_of_their_own(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  of.rates.end[TT_MEDIUM_SLOT][TT_SIM_STORE].past_ns = 2;
  of.of.past_bytes = 3 * SLOT;
  is_near(time_ns(&of, 2 * SLOT), SEND + WAY + 2 * STORE);
  is_near(time_ns(&of, 3 * SLOT), SEND + WAY + 3 * (STORE + 2 * SLOT));
  close_job(&of);
}

static void test_ranks_share_memory(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_ALLGATHER, 2, "[core:star]", TT_CLASS_STREAMS);
  of.rates.cache_bytes = SLOT;
  of.rates.memory_ns = 10;
  is_near(time_ns(&of, 2 * SLOT), 6 * 10 * SLOT); /* each sends its block, copies it, and stores the other's */
  close_job(&of);
}

/* ---- beside each other ---- */

/* The first is stored while the sender is at work on the second, and the second while the third lies in its slot. */
static void test_ends_of_one_stream_disturb_each_other(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  for (int k = 0; k < TT_SIM_PIECES; k++)
    of.rates.end[TT_MEDIUM_SLOT][TT_SIM_STORE].both_ns[k] = 100;
  is_near(time_ns(&of, SLOT), SEND + WAY + STORE);
  is_near(time_ns(&of, 3 * SLOT), SEND + WAY + 3 * STORE + 200);
  close_job(&of);
}

/* The first piece is sent alone; then each takes half as long as one twice as long. */
static void test_streams_are_like_one_with_longer_pieces(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star] channels=2", TT_CLASS_STREAMS);
  double alone = SEND - SLOT / 4;
  is_near(time_ns(&of, SLOT), alone + WAY + STORE);
  is_near(of.rank_ns[0], alone + SEND / 2 + WAY);
  is_near(time_ns(&of, 2 * SLOT), SEND + WAY + 2 * STORE); /* not longer than a slot */
  close_job(&of);
}

/* ---- cores ---- */

static void test_ranks_of_one_core_work_one_after_the_other(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  of.rates.cores = 1;
  of.rates.switch_ns = 77;
  for (int act = 0; act < TT_SIM_ACTS; act++)
    of.rates.own[act] = end(5, 1); /* bytes of the same cache */
  double first = of.rates.end[TT_MEDIUM_SLOT][TT_SIM_SEND].piece_ns[0] + 5 + SLOT,
         last = of.rates.end[TT_MEDIUM_SLOT][TT_SIM_STORE].piece_ns[0] + 5 + SLOT;
  is_near(time_ns(&of, SLOT), first + WAY + 77 + last);
  is_near(time_ns(&of, 4 * SLOT), 4 * first + 77 + 4 * last); /* the sender goes on as long as it can */
  close_job(&of);
}

static void test_ranks_of_different_cores_do_not_wait(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_ALLREDUCE, 4, "form=broadcast.reduce [core:star]", TT_CLASS_STREAMS);
  double alone = time_ns(&of, SLOT);
  of.rates.cores = 4;
  of.of.core = of.core;
  for (int act = 0; act < TT_SIM_ACTS; act++)
    of.rates.own[act] = end(COMBINE, 1);
  for (int64_t r = 0; r < 4; r++)
    of.core[r] = 3 - r;
  is_near(time_ns(&of, SLOT), alone);
  for (int64_t r = 0; r < 4; r++)
    of.core[r] = 0;
  assert_true(time_ns(&of, SLOT) > alone);
  close_job(&of);
}

/* ---- machines, calls ---- */

static void test_between_machines_a_level_takes_time_for_each_byte(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  of.machine[1] = 1;
  bind_all(&of, TT_CLASS_STREAMS, of.machine);
  is_near(time_ns(&of, SLOT), SEND + 500 + SLOT + STORE);
  close_job(&of);
}

static void test_ranks_begin_when_they_have_ended_the_call_before(void **state) {
  (void)state;
  job of;
  open_job(&of, TT_BROADCAST, 2, "[core:star]", TT_CLASS_STREAMS);
  of.start_ps[0] = 4e6;
  of.start_ps[1] = 9e6;
  of.of.start_ps = of.start_ps;
  is_near(time_ns(&of, SLOT), 9000 + STORE);
  of.rates.cores = 2;
  is_near(time_ns(&of, SLOT), 9000 + STORE);
  close_job(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_piece_is_sent_is_on_its_way_and_is_stored),
      cmocka_unit_test(test_a_piece_between_two_lengths_lies_on_their_line),
      cmocka_unit_test(test_both_ends_work_at_a_time),
      cmocka_unit_test(test_a_slow_receiver_holds_the_sender_up),
      cmocka_unit_test(test_what_is_received_is_combined),
      cmocka_unit_test(test_a_cell_is_written_once_for_all_readers),
      cmocka_unit_test(test_what_is_read_where_it_lies_takes_the_sender_one_word),
      cmocka_unit_test(test_new_bytes_come_from_the_other_ranks_cache),
      cmocka_unit_test(test_what_was_used_long_ago_takes_longer),
      cmocka_unit_test(test_results_past_the_cache_have_a_rate_of_their_own),
      cmocka_unit_test(test_ranks_share_memory),
      cmocka_unit_test(test_ends_of_one_stream_disturb_each_other),
      cmocka_unit_test(test_streams_are_like_one_with_longer_pieces),
      cmocka_unit_test(test_ranks_of_one_core_work_one_after_the_other),
      cmocka_unit_test(test_ranks_of_different_cores_do_not_wait),
      cmocka_unit_test(test_between_machines_a_level_takes_time_for_each_byte),
      cmocka_unit_test(test_ranks_begin_when_they_have_ended_the_call_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

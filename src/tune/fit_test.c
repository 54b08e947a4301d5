/* Probes of a machine whose rates are known give those rates back; what was not measured follows from what was. */
#include "tune/tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#define SLOT (32 << 10)
#define CELL (4 << 10)
#define READ (16 << 10)
#define MEMORY (64 << 20)
#define PAST (16 << 20)

typedef struct measured {
  tt_probe probe[TT_PROBES_MOST];
  tt_probe_time time[TT_PROBES_MOST];
  int count;
} measured;

static tt_sim_act act_of(const tt_probe *probe) {
  return probe->combines ? (probe->is_new ? TT_SIM_COMBINE_NEW : TT_SIM_COMBINE)
                         : (probe->is_new ? TT_SIM_STORE_NEW : TT_SIM_STORE);
}

/* ---- a machine ---- */

/* Every number is another one. */
static tt_sim_end make_end(double scale) {
  tt_sim_end end = {.past_ns = 0.03 * scale};
  for (int k = 0; k < TT_SIM_PIECES; k++) {
    end.piece_ns[k] = scale * (100 + 0.05 * (double)tt_sim_piece[k] + 3 * k);
    end.both_ns[k] = -scale * 0.001 * (double)tt_sim_piece[k];
  }
  for (int k = 4; k < TT_SIM_REUSES; k++) /* 2 MiB are in the cache */
    end.reuse_ns[k] = scale * 0.01 * k;
  return end;
}

static tt_sim_rates make_rates(void) {
  tt_sim_rates rates = {.within = {.alpha_ns = 150, .ports = TT_SIM_PORTS}, .call_ns = 60};
  for (int medium = 0; medium < TT_MEDIUM_COUNT; medium++)
    for (int act = 0; act < TT_SIM_ACTS; act++)
      rates.end[medium][act] = make_end(1 + 0.2 * medium + 0.1 * act);
  return rates;
}

/* What one end of a probe takes. */
static double end_ns(const tt_probe *probe, const tt_sim_end *end) {
  double piece_ns = tt_sim_end_ns(end, probe->piece_bytes, probe->past ? 0 : (double)probe->reuse_bytes);
  if (probe->past)
    piece_ns += end->past_ns * (double)probe->piece_bytes;
  if (probe->pieces > 1)
    piece_ns += tt_sim_beside_ns(end->both_ns, probe->piece_bytes);
  return piece_ns * (double)probe->pieces;
}

static void measure(const tt_sim_rates *rates, bool far, double request_ns, measured *out) {
  out->count = tt_fit_probes(SLOT, CELL, READ, MEMORY, PAST, far, out->probe);
  for (int n = 0; n < out->count; n++) {
    const tt_probe *probe = &out->probe[n];
    const tt_sim_end *end = rates->end[probe->medium];
    double send_ns = end_ns(probe, &end[TT_SIM_SEND]), take_ns = end_ns(probe, &end[act_of(probe)]);
    const tt_sim_level *way = far ? &rates->between : &rates->within;
    double bytes = (double)(probe->piece_bytes * probe->pieces);
    out->time[n] = (tt_probe_time){
        .way_ns = send_ns + take_ns + way->alpha_ns + request_ns, .send_ns = send_ns, .take_ns = take_ns};
    if (far && probe->pieces > 1)
      out->time[n].way_ns = bytes * way->beta_ns;
  }
}

/* ---- and back ---- */

static void is_near(const char *what, int medium, int act, int knot, double found, double wanted) {
  if (fabs(found - wanted) > 1e-6 * fmax(1, fabs(wanted)))
    fail_msg("%s %d, act %d, of %s: %g instead of %g", what, knot, act, tt_medium_name[medium], found, wanted);
}

static void compare(const tt_sim_rates *found, const tt_sim_rates *wanted, int medium, int act, int64_t least,
                    int64_t most) {
  const tt_sim_end *a = &found->end[medium][act], *b = &wanted->end[medium][act];
  for (int k = 0; k < TT_SIM_PIECES; k++)
    if (tt_sim_piece[k] >= least && tt_sim_piece[k] <= most)
      is_near("piece", medium, act, k, a->piece_ns[k], b->piece_ns[k]);
}

/* Of flows, from 4 KiB to a slot. */
static void compare_beside(const tt_sim_rates *found, const tt_sim_rates *wanted, int act) {
  const tt_sim_end *a = &found->end[TT_MEDIUM_SLOT][act], *b = &wanted->end[TT_MEDIUM_SLOT][act];
  for (int k = 0; k < TT_SIM_PIECES; k++)
    if (tt_sim_piece[k] >= SLOT / 8 && tt_sim_piece[k] <= SLOT)
      is_near("both", TT_MEDIUM_SLOT, act, k, a->both_ns[k], b->both_ns[k]);
  is_near("past", TT_MEDIUM_SLOT, act, 0, a->past_ns, b->past_ns);
}

static void test_a_known_machine_is_found(void **state) {
  (void)state;
  measured all;
  tt_sim_rates known = make_rates(), found;
  tt_fit_facts facts = {.request_ns = 70, .call_ns = 60};
  measure(&known, false, facts.request_ns, &all);
  tt_fit_rates(all.probe, all.time, all.count, &facts, &found);
  assert_true(found.within.alpha_ns > 149.9 && found.within.alpha_ns < 150.1);
  assert_true(found.call_ns == 60);
  for (int act = TT_SIM_STORE; act <= TT_SIM_COMBINE; act++) {
    compare(&found, &known, TT_MEDIUM_SLOT, act, 0, SLOT);
    compare(&found, &known, TT_MEDIUM_READ, act, READ, INT64_MAX);
    compare_beside(&found, &known, act);
    for (int k = 1; k < TT_SIM_REUSES; k++)
      is_near("reuse", TT_MEDIUM_SLOT, act, k, found.end[TT_MEDIUM_SLOT][act].reuse_ns[k],
              known.end[TT_MEDIUM_SLOT][act].reuse_ns[k]);
  }
  compare(&found, &known, TT_MEDIUM_SLOT, TT_SIM_SEND, 0, SLOT);
  compare(&found, &known, TT_MEDIUM_CELL, TT_SIM_STORE, 0, CELL);
  for (int act = TT_SIM_STORE_NEW; act <= TT_SIM_COMBINE_NEW; act++)
    compare(&found, &known, TT_MEDIUM_READ, act, READ, INT64_MAX);
}

static void test_ways_between_machines_are_found(void **state) {
  (void)state;
  measured all;
  tt_sim_rates known = make_rates(), found;
  tt_fit_facts facts = {.request_ns = 70};
  known.between = (tt_sim_level){.alpha_ns = 12000, .beta_ns = 0.5, .ports = 1};
  measure(&known, true, facts.request_ns, &all);
  tt_fit_rates(all.probe, all.time, all.count, &facts, &found);
  assert_true(fabs(found.between.alpha_ns - 12000) < 0.1 && fabs(found.between.beta_ns - 0.5) < 1e-9);
  compare(&found, &known, TT_MEDIUM_MESSAGE, TT_SIM_SEND, 0, SLOT);
}

static void test_what_ranks_share_is_found(void **state) {
  (void)state;
  measured all;
  tt_sim_rates known = make_rates(), found;
  tt_fit_facts facts = {.request_ns = 70, .cores = 2, .copiers = 2};
  measure(&known, false, facts.request_ns, &all);
  facts.hop_ns = all.time[0].way_ns + 400; /* of the smallest piece */
  for (int k = 0; k < TT_SIM_REUSES; k++) {
    facts.alone_ns[k] = k < 4 ? 0.02 : 0.06;
    facts.all_ns[k] = k < 4 ? 0.02 : 0.1;
  }
  tt_fit_rates(all.probe, all.time, all.count, &facts, &found);
  assert_true(fabs(found.switch_ns - 400) < 1e-6 && found.cores == 2);
  assert_int_equal(found.cache_bytes, tt_sim_reuse[4]);
  assert_true(fabs(found.memory_ns - 0.05) < 1e-9); /* two copy 0.1 ns a byte each */
}

static void test_cells_combine_as_much_slower_as_slots_do(void **state) {
  (void)state;
  measured all;
  tt_sim_rates known = make_rates(), found;
  tt_fit_facts facts = {.request_ns = 70};
  measure(&known, false, facts.request_ns, &all);
  tt_fit_rates(all.probe, all.time, all.count, &facts, &found);
  const tt_sim_end *cell = found.end[TT_MEDIUM_CELL], *slot = found.end[TT_MEDIUM_SLOT];
  for (int k = 0; k < 3; k++)
    is_near("cell", TT_MEDIUM_CELL, TT_SIM_COMBINE, k,
            cell[TT_SIM_COMBINE].piece_ns[k] - cell[TT_SIM_STORE].piece_ns[k],
            slot[TT_SIM_COMBINE].piece_ns[k] - slot[TT_SIM_STORE].piece_ns[k]);
}

/* From no byte on, from less than a slot, and from never. */
static void test_probes_have_pieces_wherever_stores_go_past_the_cache(void **state) {
  (void)state;
  static const int64_t past[] = {0, 1, SLOT - 1, SLOT, PAST, INT64_MAX};
  tt_probe probe[TT_PROBES_MOST];
  for (size_t n = 0; n < TT_COUNT(past); n++) {
    int count = tt_fit_probes(SLOT, CELL, READ, MEMORY, past[n], false, probe);
    assert_true(count > 0);
    for (int k = 0; k < count; k++)
      assert_true(probe[k].pieces > 0 && tt_probe_trip(&probe[k]) > 0 && tt_probe_trip(&probe[k]) <= MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_known_machine_is_found),
      cmocka_unit_test(test_ways_between_machines_are_found),
      cmocka_unit_test(test_what_ranks_share_is_found),
      cmocka_unit_test(test_cells_combine_as_much_slower_as_slots_do),
      cmocka_unit_test(test_probes_have_pieces_wherever_stores_go_past_the_cache),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

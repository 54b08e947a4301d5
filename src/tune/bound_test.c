/* Between nodes, what the shipped profile chooses is at the bound: what the busiest node sends and receives, how evenly
 * it is spread over time, how many messages stand one behind the other. All ranks' plans are made, and run on a machine
 * on which only the wires between nodes cost something. Counts are exact, so limits are too.
 *
 *     tune_bound table    prints what is counted, for people */
#include "sim/sim.h"
#include "support/plans.h"
#include "tune/tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NODES_MOST 16
#define ROUNDS_MOST 256

static bool prints;

/* ---- maps ---- */

typedef struct map {
  char text[32];
  int64_t ranks, nodes, fewest, most; /* ranks of the smallest node, and of the largest */
  int64_t of[NODES_MOST];             /* ranks of each node */
  bool interleaved;
} map;

static void finish_map(map *in) {
  in->fewest = in->most = in->of[0];
  in->ranks = 0;
  for (int64_t n = 0; n < in->nodes; n++) {
    in->ranks += in->of[n];
    in->fewest = in->of[n] < in->fewest ? in->of[n] : in->fewest;
    in->most = in->of[n] > in->most ? in->of[n] : in->most;
  }
}

static map even_map(int64_t nodes, int64_t each, bool interleaved) {
  map made = {.nodes = nodes, .interleaved = interleaved && each > 1};
  for (int64_t n = 0; n < nodes; n++)
    made.of[n] = each;
  if (made.interleaved)
    snprintf(made.text, sizeof made.text, "cyclic:%" PRId64, nodes);
  else
    snprintf(made.text, sizeof made.text, "%" PRId64 "x%" PRId64, nodes, each);
  finish_map(&made);
  return made;
}

static map uneven_map(const char *sizes) {
  map made = {.nodes = 0};
  snprintf(made.text, sizeof made.text, "%s", sizes);
  for (const char *at = sizes; *at; at += *at == ',') {
    char *rest;
    made.of[made.nodes++] = strtoll(at, &rest, 10);
    at = rest;
  }
  finish_map(&made);
  return made;
}

/* ---- what plans send between nodes ---- */

typedef struct traffic {
  double busiest;        /* bytes that a node sends or receives, the most of any */
  double time;           /* until the last rank is through, where a byte takes 1 */
  int64_t depth;         /* messages one behind the other */
  int64_t messages;      /* that a node sends */
  int64_t messages_most; /* from one node to one other in one round */
  uint32_t rounds;
} traffic;

typedef struct call {
  tt_collective collective;
  int64_t bytes, nics, root;
  const map *map;
} call;

static tt_region region_of(const call *of) {
  return (tt_region){.collective = of->collective,
                     .bytes = of->bytes,
                     .rank_count = of->map->ranks,
                     .node_count = of->map->nodes,
                     .ranks_per_node = of->map->most,
                     .nic_count = of->nics};
}

static int64_t node_of(const plans *all, int32_t rank) { return all->topo->level[0].group_of[rank]; }

static void run(const call *of, const plans *all, const char *rates, bool spans, tt_sim_result *result) {
  tt_sim_model model;
  bool square = all->composition.layout[TT_IN] == TT_LAYOUT_ROW;
  const tt_sim_lengths lengths = {.total_bytes = of->bytes * (square ? of->map->ranks : 1)};
  tt_sim_model_init(&model, all->topo);
  assert_int_equal(tt_sim_model_parse(rates, &model), TUTTI_OK);
  if (tt_sim_run(&model, (const tt_plan *const *)all->plan, &lengths, spans, result) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
}

static void count_bytes(const plans *all, const tt_sim_result *result, traffic *out) {
  double sent[NODES_MOST] = {0}, received[NODES_MOST] = {0};
  for (int64_t n = 0; n < result->span_count; n++) {
    const tt_sim_span *span = &result->span[n];
    if (span->peer < 0 || span->level != 0)
      continue;
    sent[node_of(all, span->rank)] += (double)span->bytes;
    received[node_of(all, span->peer)] += (double)span->bytes;
  }
  for (int64_t n = 0; n < NODES_MOST; n++)
    out->busiest = fmax(out->busiest, fmax(sent[n], received[n]));
}

static void count_messages(const plans *all, const tt_sim_result *result, traffic *out) {
  static int64_t pair[ROUNDS_MOST][NODES_MOST][NODES_MOST];
  int64_t sent[NODES_MOST] = {0};
  memset(pair, 0, sizeof pair);
  for (int64_t n = 0; n < result->span_count; n++) {
    const tt_sim_span *span = &result->span[n];
    if (span->peer < 0 || span->level != 0)
      continue;
    int64_t *count = &pair[span->round % ROUNDS_MOST][node_of(all, span->rank)][node_of(all, span->peer)];
    ++*count;
    out->messages_most = *count > out->messages_most ? *count : out->messages_most;
    if (++sent[node_of(all, span->rank)] > out->messages)
      out->messages = sent[node_of(all, span->rank)];
  }
}

/* Wires of as many NICs as there are, each at the rate of 1; ranks could send on all of them. */
static void run_wires(const call *of, const plans *all, traffic *out) {
  char rates[160];
  tt_sim_result result;
  snprintf(rates, sizeof rates,
           "core:alpha=0,beta=0,ports=64;node:alpha=0,beta=1,ports=64,links=%" PRId64 ";gamma=0;slot=65536;slots=4",
           of->nics);
  run(of, all, rates, true, &result);
  count_bytes(all, &result, out);
  out->time = result.time_ps / 1000;
  tt_sim_finish(&result);
}

/* Only that a message has to be there before another one can go costs something. */
static void run_depth(const call *of, const plans *all, traffic *out) {
  tt_sim_result result;
  run(of, all, "core:alpha=0,beta=0,ports=64;node:alpha=1us,beta=0,ports=64,links=0;gamma=0", true, &result);
  count_messages(all, &result, out);
  out->depth = (int64_t)(result.time_ps / 1e6 + 0.5);
  out->rounds = result.rounds;
  tt_sim_finish(&result);
}

/* ---- bounds ---- */

static int64_t log2_of(int64_t n) {
  int64_t log = 0;
  while (((int64_t)1 << log) < n)
    log++;
  return log;
}

/* What some node cannot but send or receive. */
static double least_bytes(const call *of) {
  const map *in = of->map;
  double v = (double)of->bytes, n = (double)in->nodes, p = (double)in->ranks, most = 0;
  switch (of->collective) {
  case TT_ALLREDUCE:
    return 2 * (n - 1) / n * v;
  case TT_ALLGATHER:
  case TT_ALLGATHERV:
  case TT_REDUCE_SCATTER:
  case TT_REDUCE_SCATTERV:
    return (p - (double)in->fewest) / p * v;
  case TT_GATHER:
  case TT_SCATTER:
    return (p - (double)in->of[of->root == 0 ? 0 : in->nodes - 1]) / p * v;
  case TT_ALL_TO_ALL:
    for (int64_t k = 0; k < in->nodes; k++)
      most = fmax(most, (double)in->of[k] * (p - (double)in->of[k]) / p * v);
    return most;
  default:
    return v;
  }
}

static tt_rule const *rule_for(const tt_profile *profile, const call *of) {
  const tt_region region = region_of(of);
  const tt_rule *rule = tt_profile_find(profile, &region);
  assert_non_null(rule);
  return rule;
}

static void describe(const call *of, const char *params, char text[static 256]) {
  snprintf(text, 256, "%s of %" PRId64 " bytes, map %s, %" PRId64 " NICs, root %" PRId64 ", %s",
           tt_compose_info(of->collective).name, of->bytes, of->map->text, of->nics, of->root, params);
}

static traffic look(const tt_profile *profile, const call *of, bool wires, char text[static 256]) {
  const tt_rule *rule = rule_for(profile, of);
  plans all;
  traffic found = {0};
  plans_case made = {.problem = {.collective = of->collective, .rank_count = of->map->ranks, .root = of->root},
                     .params = rule->text,
                     .map = of->map->text,
                     .publish = true};
  describe(of, rule->text, text);
  if (plans_open(&made, &all) != TUTTI_OK)
    fail_msg("%s: %s", text, tutti_last_error());
  if (of->map->ranks <= 12 && plans_verify(&made, &all) != TUTTI_OK)
    fail_msg("%s: %s", text, tutti_last_error());
  if (wires)
    run_wires(of, &all, &found);
  else
    run_depth(of, &all, &found);
  plans_close(&all);
  return found;
}

/* ---- tests ---- */

static const int64_t node_counts[] = {2, 3, 4, 5, 6, 7, 8, 12, 16};
static const int64_t each_counts[] = {1, 2, 3, 4, 8};
static const char *const uneven[] = {"7,8,3,1", "1,3", "2,1,4", "1,3,8,7", "4,4,4,3,4"};

#define MAPS_MOST 96

static int64_t make_maps(map *maps) {
  int64_t count = 0;
  for (size_t n = 0; n < TT_COUNT(node_counts); n++)
    for (size_t r = 0; r < TT_COUNT(each_counts); r++)
      for (int interleaved = 0; interleaved < (each_counts[r] > 1 ? 2 : 1); interleaved++)
        maps[count++] = even_map(node_counts[n], each_counts[r], interleaved);
  for (size_t n = 0; n < TT_COUNT(uneven); n++)
    maps[count++] = uneven_map(uneven[n]);
  assert_true(count <= MAPS_MOST);
  return count;
}

static const tt_collective measured[] = {TT_ALLREDUCE,      TT_BROADCAST, TT_REDUCE,  TT_ALLGATHER,
                                         TT_REDUCE_SCATTER, TT_GATHER,    TT_SCATTER, TT_ALL_TO_ALL};

static void print_wires(const call *of, const traffic *found, const char *text) {
  double least = least_bytes(of);
  if (prints)
    printf("%5.3f bytes %5.3f time   %s\n", found->busiest / least, found->time * (double)of->nics / least, text);
}

static void print_depth(const traffic *found, const char *text) {
  if (prints)
    printf("%2" PRId64 " deep %3" PRId64 " messages, %" PRId64 " at once   %s\n", found->depth, found->messages,
           found->messages_most, text);
}

/* Of the least time. A chain's last node gets its first slice n - 2 slices after the second node. Packets of the model
 * hold a wire while they wait for another one, so that it says nothing of an all-to-all, and of several NICs to one
 * root. */
static double time_limit(const tt_profile *profile, const call *of) {
  double slice = (double)rule_for(profile, of)->params.slice_bytes;
  if (of->collective == TT_ALL_TO_ALL ||
      (of->nics > 1 && (of->collective == TT_GATHER || of->collective == TT_SCATTER)))
    return INFINITY;
  if (of->collective != TT_BROADCAST && of->collective != TT_REDUCE)
    return of->nics > 1 ? 1.05 : 1.03; /* a block's last slots do not fill all NICs */
  return 1.03 + (double)(of->map->nodes - 2) * slice * (double)of->nics / (double)of->bytes;
}

static void check_wires(const tt_profile *profile, const call *of) {
  char text[256];
  traffic found = look(profile, of, true, text);
  double least = least_bytes(of);
  print_wires(of, &found, text);
  double time = found.time * (double)of->nics / least, limit = time_limit(profile, of);
  if (found.busiest > 1.03 * least && !prints)
    fail_msg("%s: %.3f of the least bytes", text, found.busiest / least);
  if (time > limit && !prints)
    fail_msg("%s: %.3f of the least time", text, time);
  if (of->bytes >= 16 << 20 && of->map->nodes <= 4 && limit < INFINITY)
    assert_true(limit <= 1.10);
}

static void each_call(void (*check)(const tt_profile *, const call *), const tt_collective *collective, size_t count,
                      int64_t bytes, int64_t nics) {
  map maps[MAPS_MOST];
  int64_t map_count = make_maps(maps);
  tt_profile *profile;
  assert_int_equal(tt_profile_open(NULL, &profile), TUTTI_OK);
  for (size_t c = 0; c < count; c++)
    for (int64_t m = 0; m < map_count; m++) {
      call of = {collective[c], bytes, nics, 0, &maps[m]};
      check(profile, &of);
      of.root = maps[m].ranks - 1;
      if (tt_compose_info(of.collective).has_root)
        check(profile, &of);
    }
  tt_profile_close(profile);
}

static void test_long_vectors_cross_each_wire_as_seldom_as_can_be(void **state) {
  (void)state;
  each_call(check_wires, measured, TT_COUNT(measured), 16 << 20, 1);
  each_call(check_wires, measured, TT_COUNT(measured), 1 << 20, 1);
  each_call(check_wires, measured, TT_COUNT(measured), 256 << 10, 1);
}

static void test_several_nics_are_all_busy(void **state) {
  (void)state;
  each_call(check_wires, measured, TT_COUNT(measured), 16 << 20, 4);
}

static void check_depth(const tt_profile *profile, const call *of) {
  char text[256];
  traffic found = look(profile, of, false, text);
  int64_t log = log2_of(of->map->nodes);
  print_depth(&found, text);
  if (found.depth > log && !prints)
    fail_msg("%s: %" PRId64 " messages one behind the other", text, found.depth);
  if (found.messages_most > 1 && !prints)
    fail_msg("%s: %" PRId64 " messages between two nodes in one round", text, found.messages_most);
}

static const tt_collective quick[] = {TT_ALLREDUCE, TT_BARRIER, TT_BROADCAST, TT_REDUCE};

static void test_short_vectors_take_as_few_messages_as_can_be(void **state) {
  (void)state;
  each_call(check_depth, quick, TT_COUNT(quick), 1 << 10, 1);
}

int main(int argc, char **argv) {
  prints = argc > 1 && strcmp(argv[1], "table") == 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_short_vectors_take_as_few_messages_as_can_be),
      cmocka_unit_test(test_long_vectors_cross_each_wire_as_seldom_as_can_be),
      cmocka_unit_test(test_several_nics_are_all_busy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

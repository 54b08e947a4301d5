/* Modelled times against closed forms of the literature, and the machine's parts one by one.
 *
 *   Thakur     Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005
 *   Chan       Chan, Heimlich, Purkayastha, van de Geijn: Collective communication: theory, practice, experience, 2007
 *   Chen       Chen, Zhang, Zhang, Yuan: Performance evaluation of allgather algorithms on terascale Linux cluster,
 * 2005 Bruck      Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications, 1997
 *
 * Rates are such that every time is a whole number of picoseconds, so that equal means equal. n is the whole vector, or
 * what one rank sends to all others. */
#include "support/simulate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static double time_ns(const sim_case *of) {
  tt_sim_result result;
  simulate(of, &result);
  double time = result.time_ps / 1000;
  tt_sim_finish(&result);
  return time;
}

/* ---- closed forms ---- */

/* n: bytes; of a block in all-to-all n / p. */
typedef double (*formula)(double p, double n);

static double log2_up(double p) { return ceil(log2(p)); }

static double linear_root(double p, double n) { return (p - 1) * (A + n * B); }
static double linear_block(double p, double n) { return (p - 1) * (A + n / p * B); }
static double linear_reduce(double p, double n) { return (p - 1) * (A + n * B) + n * C; }
static double ring_allgather(double p, double n) { return (p - 1) * (A + n / p * B); }
static double ring_reduce_scatter(double p, double n) { return (p - 1) * (A + n / p * (B + C)); }
static double ring_allreduce(double p, double n) { return ring_reduce_scatter(p, n) + ring_allgather(p, n); }
static double binomial(double p, double n) { return log2_up(p) * (A + n * B); }
static double binomial_reduce(double p, double n) { return log2_up(p) * (A + n * (B + C)); }
static double halves(double p, double n) { return log2_up(p) * A + (p - 1) / p * n * B; }
static double halving(double p, double n) { return log2_up(p) * A + (p - 1) / p * n * (B + C); }
static double rabenseifner(double p, double n) { return halving(p, n) + halves(p, n); }
static double doubling(double p, double n) { return log2_up(p) * (A + n * (B + C)); }
static double van_de_geijn(double p, double n) { return halves(p, n) + ring_allgather(p, n); }

static double exchange(double p, double n) { return p / 2 * A + (p - 1) / p * n * B; }
/* n: of all ranks; each has n / p. */
static double pairwise(double p, double n) { return (p - 1) * (A + n / p / p * B); }
static double bruck(double p, double n) { return log2_up(p) * (A + n / p / 2 * B); }

static bool is_power(int64_t p) { return (p & (p - 1)) == 0; }

typedef struct closed {
  const char *name;
  tt_collective collective;
  const char *params;
  enum { ALWAYS, POWERS, EVEN, ROOT_0 } where; /* it holds: for such p; where the root combines first */
  formula time;
} closed;

static const closed forms[] = {
    {"linear broadcast (Chan)", TT_BROADCAST, "[core:star]", ALWAYS, linear_root},
    {"linear reduce", TT_REDUCE, "[core:star]", ROOT_0, linear_reduce},
    {"linear gather", TT_GATHER, "[core:star]", ALWAYS, linear_block},
    {"linear scatter", TT_SCATTER, "[core:star]", ALWAYS, linear_block},
    {"direct allgather", TT_ALLGATHER, "[core:star]", ALWAYS, linear_block},
    {"chain broadcast", TT_BROADCAST, "[core:chain]", ALWAYS, linear_root},
    {"binomial broadcast (Thakur)", TT_BROADCAST, "[core:2-nomial,far]", ALWAYS, binomial},
    {"binomial reduce (Thakur)", TT_REDUCE, "[core:2-nomial,far]", POWERS, binomial_reduce},
    {"binomial scatter (Chan)", TT_SCATTER, "[core:2-nomial,far]", POWERS, halves},
    {"binomial gather (Chan)", TT_GATHER, "[core:2-nomial,far]", POWERS, halves},
    {"ring allgather (Thakur)", TT_ALLGATHER, "[core:chain]", ALWAYS, ring_allgather},
    {"ring reduce-scatter (Thakur)", TT_REDUCE_SCATTER, "[core:chain]", ALWAYS, ring_reduce_scatter},
    {"ring allreduce (Thakur)", TT_ALLREDUCE, "form=allgather.reduce-scatter [core:chain]", ALWAYS, ring_allreduce},
    {"Bruck allgather (Thakur)", TT_ALLGATHER, "[core:2-nomial,near]", ALWAYS, halves},
    {"recursive doubling allgather (Thakur)", TT_ALLGATHER, "[core:2-nomial,xor]", POWERS, halves},
    {"recursive halving reduce-scatter (Thakur)", TT_REDUCE_SCATTER, "[core:2-nomial,xor]", POWERS, halving},
    {"recursive doubling allreduce (Thakur)", TT_ALLREDUCE, "[core:2-nomial,xor]", POWERS, doubling},
    {"Rabenseifner allreduce (Thakur)", TT_ALLREDUCE, "form=allgather.reduce-scatter [core:2-nomial,xor]", POWERS,
     rabenseifner},
    {"scan", TT_SCAN, "[core:2-nomial,reflect,far]", POWERS, doubling},
    {"neighbor exchange allgather (Chen)", TT_ALLGATHER, "[core:exchange]", EVEN, exchange},
    {"pairwise all-to-all (Thakur)", TT_ALL_TO_ALL, "[core:star]", ALWAYS, pairwise},
    {"Bruck all-to-all (Thakur)", TT_ALL_TO_ALL, "[core:2-nomial,near]", POWERS, bruck},
    {"scatter-allgather broadcast (Thakur)", TT_BROADCAST,
     "form=allgather.scatter scatter[core:2-nomial,far] allgather[core:chain]", POWERS, van_de_geijn},
};

static void expect_time(const char *name, const sim_case *of, double expected) {
  double found = time_ns(of);
  if (fabs(found - expected) > 1e-3)
    fail_msg("%s of %d ranks, root %d, %d bytes: %.3f ns; the closed form says %.3f", name, (int)of->p, (int)of->root,
             (int)of->bytes, found, expected);
}

static void check_form(const closed *form, int64_t p, int64_t block_bytes) {
  bool has_root = tt_compose_info(form->collective).has_root && form->where != ROOT_0;
  int64_t blocks = form->collective == TT_ALL_TO_ALL ? p * p : p;
  for (int64_t root = 0; root < (has_root ? p : 1); root += p - 1) {
    sim_case of = {
        .collective = form->collective, .p = p, .root = root, .params = form->params, .bytes = block_bytes * blocks};
    expect_time(form->name, &of, form->time((double)p, (double)of.bytes));
  }
}

static void test_times_are_the_literatures(void **state) {
  (void)state;
  static const int64_t blocks[] = {8, 1000, 65536};
  for (size_t f = 0; f < TT_COUNT(forms); f++)
    for (int64_t p = 2; p <= 64; p = p >= 17 ? 2 * (p + 1) & ~INT64_C(3) : p + 1)
      for (size_t b = 0; b < TT_COUNT(blocks); b++)
        if (!(forms[f].where == POWERS && !is_power(p)) && !(forms[f].where == EVEN && p % 2))
          check_form(&forms[f], p, blocks[b]);
}

/* ---- slices, ports, links, slots ---- */

static void test_a_pipelined_chain_takes_p_minus_2_plus_m_slices(void **state) {
  (void)state;
  for (int64_t p = 2; p <= 33; p++)
    for (int64_t m = 1; m <= 40; m += 13) {
      sim_case of = {.collective = TT_BROADCAST, .p = p, .params = "[core:chain] slice=4K", .bytes = m * 4096};
      expect_time("pipelined chain", &of, (double)(p - 2 + m) * (A + 4096 * B));
      of.params = "[core:chain]";
      of.model = "slot=4K";
      expect_time("chain of slots", &of, (double)(p - 2 + m) * (A + 4096 * B));
    }
}

/* Every inner rank of a binary tree sends each slice twice: 2 (m - 1) slices more than the first one's way down. */
static void test_a_pipelined_binary_tree_sends_every_slice_twice(void **state) {
  (void)state;
  for (int64_t p = 3; p <= 63; p = 2 * p + 1)
    for (int64_t m = 1; m <= 40; m += 13) {
      sim_case of = {.collective = TT_BROADCAST, .p = p, .params = "[core:2-ary] slice=4K", .bytes = m * 4096};
      double depth = log2((double)p + 1) - 1;
      expect_time("pipelined binary tree", &of, (2 * depth + 2 * (double)(m - 1)) * (A + 4096 * B));
    }
}

/* Each rank combines a slice while the next one comes. */
static void test_a_pipelined_scan_hides_all_combining_but_one_slice_a_rank(void **state) {
  (void)state;
  for (int64_t p = 2; p <= 33; p++)
    for (int64_t m = 1; m <= 40; m += 13) {
      sim_case of = {.collective = TT_SCAN, .p = p, .params = "[core:chain,reflect] slice=4K", .bytes = m * 4096};
      expect_time("pipelined scan", &of, (double)(p - 2 + m) * (A + 4096 * B) + (double)(p - 1) * 4096 * C);
    }
}

/* Sanders, Speck, Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009. Every rank sends
 * and receives each byte once, where a binary tree's inner ranks send it twice. Their ports take what is ready first,
 * not what the paper's colouring says: hence not quite twice. */
static void test_two_trees_have_nearly_twice_the_bandwidth_of_one(void **state) {
  (void)state;
  for (int64_t p = 7; p <= 63; p += 8) {
    sim_case one = {.collective = TT_BROADCAST, .p = p, .params = "[core:2-ary] slice=64K", .bytes = 32 << 20};
    sim_case two = {
        .collective = TT_BROADCAST, .p = p, .params = "[core:2-planted] channels=2 slice=64K", .bytes = 32 << 20};
    double bytes_once = (double)one.bytes / 65536 * (A + 65536 * B);
    assert_true(time_ns(&two) >= bytes_once);
    assert_true(time_ns(&one) / time_ns(&two) > 1.5);
  }
}

static void test_k_ports_send_k_messages_at_a_time(void **state) {
  (void)state;
  for (int64_t ports = 1; ports <= 4; ports++)
    for (int64_t p = 2; p <= 30; p += 7) {
      char model[16];
      snprintf(model, sizeof model, "ports=%d", (int)ports);
      sim_case of = {.collective = TT_BROADCAST, .p = p, .params = "[core:star]", .model = model, .bytes = 4000};
      expect_time("linear with k ports", &of, ceil((double)(p - 1) / (double)ports) * (A + 4000 * B));
      of = (sim_case){.collective = TT_ALLGATHER, .p = p, .params = "[core:star]", .model = model, .bytes = p * 4000};
      expect_time("direct with k ports", &of, ceil((double)(p - 1) / (double)ports) * (A + 4000 * B));
    }
  /* log_k p rounds where k - 1 messages go at once (Bruck) */
  sim_case of = {.collective = TT_ALLGATHER, .p = 27, .params = "[core:3-nomial]", .model = "ports=2", .bytes = 27000};
  expect_time("3-nomial with 2 ports", &of, 3 * A + 13 * 1000 * B);
}

/* All ranks of a node send to the other node at once. */
static void test_links_are_shared_by_the_ranks_of_a_node(void **state) {
  (void)state;
  static const int64_t links[] = {0, 1, 2, 4};
  static const double turns[] = {1, 4, 2, 1};
  for (size_t n = 0; n < TT_COUNT(links); n++) {
    char model[64];
    snprintf(model, sizeof model, "node:links=%d;core:alpha=0,beta=0;gamma=0", (int)links[n]);
    sim_case of = {.collective = TT_ALLREDUCE,
                   .p = 8,
                   .params = "[node:star/core:star] stripe=4",
                   .map = "2x4",
                   .model = model,
                   .bytes = 4 * 4096};
    expect_time("an exchange of nodes", &of, A + turns[n] * 4096 * B);
  }
}

/* All four ranks of a switch send to the other switch at once. */
static double exchange_of_switches_ns(const char *nodes, const char *text) {
  plans all;
  int64_t group_of[8];
  tt_sim_model model;
  tt_sim_lengths lengths = {.total_bytes = 4 * 4096};
  tt_sim_result result;
  tt_problem problem = {.collective = TT_ALLREDUCE, .rank_count = 8};
  assert_int_equal(plans_begin(&all, 8, NULL, false), TUTTI_OK);
  assert_int_equal(tt_topo_parse_map("2x4", 8, group_of), TUTTI_OK);
  assert_int_equal(tt_topo_add(all.topo, &all.arena, "switch", group_of), TUTTI_OK);
  assert_int_equal(tt_topo_parse_map(nodes, 8, group_of), TUTTI_OK);
  assert_int_equal(tt_topo_add(all.topo, &all.arena, "node", group_of), TUTTI_OK);
  assert_int_equal(tt_params_parse("[switch:star/core:star] stripe=4", &all.params), TUTTI_OK);
  assert_int_equal(plans_compose(&problem, NULL, &all), TUTTI_OK);
  assert_int_equal(plans_lower(&all), TUTTI_OK);
  tt_sim_model_init(&model, all.topo);
  assert_int_equal(tt_sim_model_parse("alpha=1us;core:alpha=0,beta=0;gamma=0", &model), TUTTI_OK);
  assert_int_equal(tt_sim_model_parse(text, &model), TUTTI_OK);
  assert_int_equal(tt_sim_run(&model, (const tt_plan *const *)all.plan, &lengths, false, &result), TUTTI_OK);
  double time = result.time_ps / 1000;
  tt_sim_finish(&result);
  plans_close(&all);
  return time;
}

static void test_a_packet_uses_links_of_every_level_that_it_crosses(void **state) {
  (void)state;
  static const struct {
    const char *model;
    double turns; /* of 4096 * B */
  } cases[] = {
      {"switch:links=0,beta=0.25;node:links=0,beta=1", 1}, /* no link, no rate */
      {"switch:links=0,beta=0.25;node:links=4,beta=1", 4}, /* as slow as the NICs */
      {"switch:links=0,beta=0.25;node:links=1,beta=0.25", 4},    {"switch:links=1,beta=0.25;node:links=4,beta=0.25", 4},
      {"switch:links=1,beta=0.5;node:links=1,beta=0.25", 8},     {"switch:links=1,beta=0.25;node:links=1,beta=0.5", 8},
      {"switch:links=4,beta=0.5;node:links=1,beta=0.25", 3 + 2}, /* the NIC goes on to the next at its own rate */
  };
  for (size_t n = 0; n < TT_COUNT(cases); n++)
    if (fabs(exchange_of_switches_ns("2x4", cases[n].model) - (A + cases[n].turns * 4096 * B)) > 1e-3)
      fail_msg("%s: %.3f ns, not %.3f", cases[n].model, exchange_of_switches_ns("2x4", cases[n].model),
               A + cases[n].turns * 4096 * B);
}

/* A switch of two nodes has two uplinks. The second rank of each node waits for the NIC, and holds no uplink so. */
static void test_a_packet_that_waits_for_a_link_leaves_others_to_those_that_can_go(void **state) {
  (void)state;
  double two = exchange_of_switches_ns("4x2", "switch:links=2,beta=0.25;node:links=1,beta=0.25");
  double any = exchange_of_switches_ns("4x2", "switch:links=0,beta=0.25;node:links=1,beta=0.25");
  double one = exchange_of_switches_ns("4x2", "switch:links=1,beta=0.25;node:links=1,beta=0.25");
  assert_true(two == any && one > any);
}

/* Short messages: ports are busy all the time, NICs hardly ever. */
static void test_a_packet_that_waits_for_its_receiver_holds_no_link(void **state) {
  (void)state;
  sim_case of = {.collective = TT_ALL_TO_ALL,
                 .p = 64,
                 .params = "[core:star]",
                 .map = "16x4",
                 .model = "node:links=1",
                 .bytes = 64 * 64 * 8};
  assert_true(time_ns(&of) <= 1.1 * 63 * (A + 8 * B));
}

static void test_messages_cost_what_their_ends_are_apart(void **state) {
  (void)state;
  sim_case of = {.collective = TT_BROADCAST,
                 .p = 4,
                 .params = "[core:chain]",
                 .map = "0,1,1,0:",
                 .model = "core:alpha=1us,beta=1;node:alpha=5us,beta=2",
                 .bytes = 1000};
  expect_time("a chain over nodes", &of, (5000 + 2000) + (1000 + 1000) + (5000 + 2000));
}

/* The reader combines for longer than the next message takes: with one slot that one waits. */
static void test_a_stream_has_so_many_slots(void **state) {
  (void)state;
  double fly = A + 1000 * B;
  sim_case of = {.collective = TT_REDUCE, .p = 2, .params = "[core:star] slice=1000", .bytes = 3000};
  of.model = "gamma=2";
  expect_time("any number of slots", &of, fly + 3 * 2000);
  of.model = "gamma=2,slots=1";
  expect_time("one slot", &of, 3 * (fly + 2000));
  of.model = "gamma=2,slots=2";
  expect_time("two slots", &of, fly + 3 * 2000);
}

static void test_published_messages_are_sent_once_and_read_one_by_one(void **state) {
  (void)state;
  sim_case of = {.collective = TT_BROADCAST, .p = 9, .params = "[core:star]", .publish = true, .bytes = 4000};
  expect_time("published broadcast", &of, A + 4000 * B);
  of = (sim_case){.collective = TT_ALLGATHER, .p = 9, .params = "[core:star]", .publish = true, .bytes = 9 * 4000};
  expect_time("published allgather", &of, 8 * (A + 4000 * B));
}

static void test_two_channels_take_turns_on_one_port(void **state) {
  (void)state;
  sim_case of = {.collective = TT_BROADCAST, .p = 8, .params = "[core:2-nomial,far] channels=2", .bytes = 8000};
  expect_time("two channels", &of, 3 * 2 * (A + 4000 * B));
}

static void test_blocks_without_bytes_cost_nothing(void **state) {
  (void)state;
  int64_t bytes[8] = {0, 0, 5000, 0, 0, 0, 0, 0};
  sim_case of = {.collective = TT_GATHER, .p = 8, .params = "[core:star]", .block_bytes = bytes};
  expect_time("one block of eight", &of, A + 5000 * B);
  bytes[2] = 0;
  expect_time("none", &of, 0);
}

/* ---- every preset and collective: what a rank and a group do at a time, and what is sent in all ---- */

/* Who is busy during a span: a rank's way out or in, a group's links out or in, a rank's own work. */
enum { WAYS = 5 };

static bool is_link(int way) { return way == 2 || way == 3; }

static int64_t owner_of(const tt_topo *topo, const tt_sim_span *span, int level, int way) {
  const int32_t *group = topo->level[level].group_of;
  bool packet = span->peer >= 0;
  int64_t rank = way % 2 == 0 ? span->rank : span->peer;
  if ((way == 4) == packet || (is_link(way) && !group))
    return -1;
  return is_link(way) ? group[rank] : rank;
}

/* Links are used for the bytes only, which come after alpha. */
static double begin_of(const tt_sim_model *model, const tt_sim_span *span, int way) {
  return span->begin_ps + (is_link(way) ? 1000 * model->level[span->level].alpha_ns : 0);
}

static double end_of(const tt_sim_model *model, const tt_sim_span *span, int level, int way) {
  double bytes_ps = 1000 * (double)span->bytes * model->level[level].beta_ns;
  return is_link(way) ? begin_of(model, span, way) + bytes_ps : span->end_ps;
}

/* Whether the span uses what the level has: its own level's ports, and links of that and of all within it. */
static bool uses(const tt_sim_span *span, int level, int way) {
  return is_link(way) ? span->level <= level : span->level == level;
}

/* Spans of one owner that go on when `span` begins there. */
static int64_t at_a_time(const tt_sim_model *model, const tt_sim_result *result, const tt_sim_span *span, int level,
                         int way) {
  int64_t owner = owner_of(model->topo, span, level, way), count = 0;
  double begin = begin_of(model, span, way);
  for (int64_t n = 0; n < result->span_count; n++) {
    const tt_sim_span *other = &result->span[n];
    count += uses(other, level, way) && owner_of(model->topo, other, level, way) == owner &&
             begin_of(model, other, way) <= begin && end_of(model, other, level, way) > begin + 1;
  }
  return count;
}

static void check_level(const tt_sim_model *model, const tt_sim_result *result, const tt_sim_span *span, int n,
                        bool publish) {
  const tt_sim_level *level = &model->level[n];
  const int64_t most[WAYS] = {level->ports, level->ports, level->links, level->links, 1};
  for (int way = 0; way < WAYS; way++)
    if (most[way] > 0 && uses(span, n, way) && owner_of(model->topo, span, n, way) >= 0 && !(publish && way == 0))
      assert_true(at_a_time(model, result, span, n, way) <= most[way]);
}

static void check_limits(const tt_sim_model *model, const tt_sim_result *result, bool publish) {
  for (int64_t n = 0; n < result->span_count; n++) {
    assert_true(result->span[n].end_ps <= result->time_ps);
    for (int level = 0; level < model->topo->level_count; level++)
      check_level(model, result, &result->span[n], level, publish);
  }
}

static void check_sums(const plans *all, const tt_sim_result *result, int64_t block_bytes) {
  tt_plan_counts sent = {0, 0};
  tt_sim_counts simulated = {0, 0, 0};
  for (int64_t r = 0; r < all->count; r++) {
    tt_plan_counts of = tt_plan_sent(all->plan[r], -1);
    sent = (tt_plan_counts){sent.messages + of.messages, sent.blocks + of.blocks};
  }
  for (int n = 0; n < all->topo->level_count; n++) {
    simulated.messages += result->level[n].messages;
    simulated.bytes += result->level[n].bytes;
  }
  assert_int_equal(simulated.messages, sent.messages);
  assert_int_equal(simulated.bytes, sent.blocks * block_bytes);
}

enum { PLAN_BLOCK = 96 };

static void check_plans(const plans_case *of, const plans *all, const char *text) {
  tt_sim_model model;
  tt_sim_lengths lengths = {.total_bytes = (int64_t)all->plan[0]->block_count * PLAN_BLOCK};
  tt_sim_result result, again;
  tt_sim_model_init(&model, all->topo);
  assert_int_equal(tt_sim_model_parse(text, &model), TUTTI_OK);
  if (tt_sim_run(&model, (const tt_plan *const *)all->plan, &lengths, true, &result) != TUTTI_OK)
    fail_msg("%s, %s: %s", tt_compose_info(of->problem.collective).name, of->params, tutti_last_error());
  check_limits(&model, &result, of->publish);
  check_sums(all, &result, PLAN_BLOCK);
  assert_int_equal(tt_sim_run(&model, (const tt_plan *const *)all->plan, &lengths, false, &again), TUTTI_OK);
  assert_true(again.time_ps == result.time_ps);
  tt_sim_finish(&result);
  tt_sim_finish(&again);
}

static void test_no_port_and_no_link_is_used_twice_at_a_time(void **state) {
  (void)state;
  static const char *const models[] = {"", "gamma=3,copy=1", "ports=2;node:links=2", "slot=40,slots=1"};
  static const char *const maps[] = {NULL, "2x4", "3,1,4"};
  size_t presets;
  const tt_preset *preset = tt_preset_table(&presets);
  for (size_t n = 0; n < presets * TT_COLLECTIVE_COUNT * TT_COUNT(maps); n++) {
    tt_collective collective = (tt_collective)(n / presets % TT_COLLECTIVE_COUNT);
    plans_case of = {.problem = {.collective = collective, .rank_count = 8},
                     .params = preset[n % presets].text,
                     .map = maps[n / presets / TT_COLLECTIVE_COUNT],
                     .publish = n % 2 == 1};
    plans all;
    tutti_status status = tt_compose_info(collective).has_graph ? TUTTI_ERR_PLAN : plans_open(&of, &all);
    for (size_t m = 0; m < TT_COUNT(models) && status == TUTTI_OK; m++)
      if (of.map || !strstr(models[m], "node:"))
        check_plans(&of, &all, models[m]);
    if (!tt_compose_info(collective).has_graph)
      plans_close(&all);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_times_are_the_literatures),
      cmocka_unit_test(test_a_pipelined_chain_takes_p_minus_2_plus_m_slices),
      cmocka_unit_test(test_a_pipelined_binary_tree_sends_every_slice_twice),
      cmocka_unit_test(test_a_pipelined_scan_hides_all_combining_but_one_slice_a_rank),
      cmocka_unit_test(test_two_trees_have_nearly_twice_the_bandwidth_of_one),
      cmocka_unit_test(test_k_ports_send_k_messages_at_a_time),
      cmocka_unit_test(test_links_are_shared_by_the_ranks_of_a_node),
      cmocka_unit_test(test_a_packet_uses_links_of_every_level_that_it_crosses),
      cmocka_unit_test(test_a_packet_that_waits_for_a_link_leaves_others_to_those_that_can_go),
      cmocka_unit_test(test_a_packet_that_waits_for_its_receiver_holds_no_link),
      cmocka_unit_test(test_messages_cost_what_their_ends_are_apart),
      cmocka_unit_test(test_a_stream_has_so_many_slots),
      cmocka_unit_test(test_published_messages_are_sent_once_and_read_one_by_one),
      cmocka_unit_test(test_two_channels_take_turns_on_one_port),
      cmocka_unit_test(test_blocks_without_bytes_cost_nothing),
      cmocka_unit_test(test_no_port_and_no_link_is_used_twice_at_a_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

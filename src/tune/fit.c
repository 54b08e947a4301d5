/* tune/fit.c - from the times of probes to rates (sim/sim.h).
 *
 * A probe of one piece tells what each end does with it: its time by length, where the piece is in the cache, and what
 * it takes more where the rank has used other memory meanwhile. A message of many pieces tells what each takes more
 * while the other end works on the same stream. What is left of the way of the shortest message is the way's alpha. */
#include "tune/tune.h"

#include <math.h>
#include <stdlib.h>

#define SHORT_PIECE (256 << 10) /* in the cache, whatever is done with it */
#define TURNS 100
#define SHARED 1.1 /* times as long while others copy: they share something */

/* ---- samples ---- */

typedef struct samples {
  const tt_probe *probe;
  const tt_probe_time *time;
  int count;
  tt_medium medium;
  tt_sim_act act;
} samples;

typedef enum kind { PIECE, REUSE, FLOW, PAST } kind;

static tt_sim_act act_of(const tt_probe *probe) {
  return probe->combines ? (probe->is_new ? TT_SIM_COMBINE_NEW : TT_SIM_COMBINE)
                         : (probe->is_new ? TT_SIM_STORE_NEW : TT_SIM_STORE);
}

static kind kind_of(const tt_probe *probe) {
  if (probe->past)
    return PAST;
  return probe->reuse_bytes > tt_probe_trip(probe) ? REUSE : probe->pieces > 1 ? FLOW : PIECE;
}

/* Whether the probe says something of that kind about the knot: a piece's length, or a reuse. */
static bool is_of(const samples *of, int n, kind wanted, int knot) {
  const tt_probe *probe = &of->probe[n];
  double ratio = (double)probe->reuse_bytes / (double)tt_sim_reuse[wanted == REUSE ? knot : 0];
  bool acts = of->act == TT_SIM_SEND || act_of(probe) == of->act;
  bool there = wanted == PAST    ? true
               : wanted == REUSE ? ratio > 0.7 && ratio < 1.4
                                 : probe->piece_bytes == tt_sim_piece[knot];
  return probe->medium == of->medium && acts && kind_of(probe) == wanted && there;
}

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double median(double *value, int count) {
  qsort(value, (size_t)count, sizeof *value, by_value);
  return (value[count / 2] + value[(count - 1) / 2]) / 2;
}

/* Of a piece. */
static double time_of(const samples *of, int n) {
  double ns = of->act == TT_SIM_SEND ? of->time[n].send_ns : of->time[n].take_ns;
  return ns / (double)of->probe[n].pieces;
}

/* What pieces of those probes take more than `end` says, in ns; the median. false: there are none. */
static bool excess(const samples *of, const tt_sim_end *end, kind wanted, int knot, double *ns) {
  double value[2 * TT_PROBES_MOST];
  int count = 0;
  for (int n = 0; n < of->count; n++)
    if (is_of(of, n, wanted, knot)) {
      const tt_probe *probe = &of->probe[n];
      double beside_ns = probe->pieces > 1 ? tt_sim_beside_ns(end->both_ns, probe->piece_bytes) : 0;
      double known_ns = tt_sim_end_ns(end, probe->piece_bytes, (double)probe->reuse_bytes) + beside_ns;
      value[count++] = (time_of(of, n) - known_ns) / (double)(wanted == REUSE ? probe->piece_bytes : 1);
    }
  *ns = count > 0 ? median(value, count) : 0;
  return count > 0;
}

/* ---- one end ---- */

/* Those that were not measured lie on a line with their neighbors. */
static void fill_pieces(double *ns, const bool *known) {
  int at[TT_SIM_PIECES], count = 0;
  for (int k = 0; k < TT_SIM_PIECES; k++)
    if (known[k])
      at[count++] = k;
  for (int k = 0; k < TT_SIM_PIECES && count > 0; k++) {
    int n = 1;
    if (known[k])
      continue;
    while (n + 1 < count && at[n] < k)
      n++;
    int low = at[n - 1], high = at[count > 1 ? n : 0];
    double run = (double)(tt_sim_piece[high] - tt_sim_piece[low]), rise = ns[high] - ns[low];
    ns[k] = ns[low] + (high == low ? 0 : rise / run * (double)(tt_sim_piece[k] - tt_sim_piece[low]));
  }
}

/* A longer one takes no less. */
static void fit_pieces(const samples *of, int64_t most_bytes, tt_sim_end *end) {
  tt_sim_end lost = *end; /* what it has not in the cache */
  bool known[TT_SIM_PIECES];
  for (int k = 0; k < TT_SIM_PIECES; k++)
    lost.piece_ns[k] = lost.both_ns[k] = 0;
  for (int k = 0; k < TT_SIM_PIECES; k++)
    known[k] = tt_sim_piece[k] <= most_bytes && excess(of, &lost, PIECE, k, &end->piece_ns[k]);
  fill_pieces(end->piece_ns, known);
  for (int k = 0; k < TT_SIM_PIECES; k++)
    end->piece_ns[k] = fmax(k > 0 ? end->piece_ns[k - 1] : 0, end->piece_ns[k]);
}

/* Shorter and longer pieces than those that were measured: in proportion to their length. */
static void fill_beside(double *ns, const bool *known) {
  int first = 0, last = TT_SIM_PIECES - 1;
  while (first < TT_SIM_PIECES && !known[first])
    first++;
  while (last > first && !known[last])
    last--;
  if (first == TT_SIM_PIECES)
    return;
  fill_pieces(ns, known);
  for (int k = 0; k < TT_SIM_PIECES; k++)
    if (k < first || k > last)
      ns[k] = ns[k < first ? first : last] * (double)tt_sim_piece[k] / (double)tt_sim_piece[k < first ? first : last];
}

static void fit_both(const samples *of, tt_sim_end *end) {
  bool known[TT_SIM_PIECES];
  double ns[TT_SIM_PIECES];
  for (int k = 0; k < TT_SIM_PIECES; k++)
    known[k] = excess(of, end, FLOW, k, &ns[k]);
  fill_beside(ns, known);
  for (int k = 0; k < TT_SIM_PIECES; k++)
    end->both_ns[k] = ns[k];
}

/* A probe's reuse lies near a knot, not on it: each knot takes what its probes lack until none lacks anything. It is
 * not less than where less was used meanwhile; where nothing was measured, it is the same. */
static void fit_reuse(const samples *of, tt_sim_end *end) {
  for (int turn = 0; turn < TURNS; turn++)
    for (int knot = 1; knot < TT_SIM_REUSES; knot++) {
      double more;
      bool known = excess(of, end, REUSE, knot, &more);
      end->reuse_ns[knot] = fmax(known ? end->reuse_ns[knot] + more : 0, end->reuse_ns[knot - 1]);
    }
}

static void fit_past(const samples *of, tt_sim_end *end) {
  for (int n = 0; n < of->count; n++)
    if (is_of(of, n, PAST, 0)) {
      const tt_probe *probe = &of->probe[n];
      double beside_ns = probe->pieces > 1 ? tt_sim_beside_ns(end->both_ns, probe->piece_bytes) : 0;
      double known_ns = tt_sim_end_ns(end, probe->piece_bytes, 0) + beside_ns;
      end->past_ns = fmax(0, (time_of(of, n) - known_ns) / (double)probe->piece_bytes);
    }
}

/* Short pieces first: what they are is in the cache. */
static void fit_end(samples of, tt_sim_act act, tt_sim_end *end) {
  of.act = act;
  *end = (tt_sim_end){.reuse_ns = {0}};
  fit_pieces(&of, SHORT_PIECE, end);
  fit_both(&of, end);
  fit_reuse(&of, end);
  fit_pieces(&of, INT64_MAX, end);
  end->past_ns = end->reuse_ns[TT_SIM_REUSES - 1];
  fit_past(&of, end);
}

/* ---- ways ---- */

/* The probe with the shortest piece of a medium that streams carry; -1: there is none. */
static int shortest(const samples *of, tt_medium medium) {
  int best = -1;
  for (int n = 0; n < of->count; n++)
    if (of->probe[n].medium == medium && kind_of(&of->probe[n]) == PIECE &&
        (best < 0 || of->probe[n].piece_bytes < of->probe[best].piece_bytes))
      best = n;
  return best;
}

static double alpha_ns(const samples *of, int n, double request_ns) {
  const tt_probe_time *time = &of->time[n];
  return fmax(0, time->way_ns - time->send_ns - time->take_ns - request_ns);
}

/* Of long messages: what a byte takes that neither of the ends explains. */
static double beta_ns(const samples *of, tt_medium medium) {
  double value[2 * TT_PROBES_MOST];
  int count = 0;
  for (int n = 0; n < of->count; n++)
    if (of->probe[n].medium == medium && kind_of(&of->probe[n]) == FLOW)
      value[count++] = of->time[n].way_ns / (double)(of->probe[n].pieces * of->probe[n].piece_bytes);
  return count > 0 ? fmax(0, median(value, count)) : 0;
}

static void fit_ways(const samples *of, const tt_fit_facts *facts, tt_sim_rates *rates) {
  int near = shortest(of, TT_MEDIUM_SLOT), far = shortest(of, TT_MEDIUM_MESSAGE);
  rates->within = rates->between = (tt_sim_level){.ports = TT_SIM_PORTS};
  if (near >= 0)
    rates->within.alpha_ns = alpha_ns(of, near, facts->request_ns);
  if (far < 0)
    return;
  rates->between.alpha_ns = alpha_ns(of, far, facts->request_ns);
  rates->between.beta_ns = beta_ns(of, TT_MEDIUM_MESSAGE);
  rates->between.links = 1;
}

/* ---- what no probe measures ---- */

/* To combine is that much more work than to store, wherever the bytes come from. */
static void add_combining(const tt_sim_end slot[static TT_SIM_ACTS], tt_sim_end to[static TT_SIM_ACTS]) {
  to[TT_SIM_COMBINE] = to[TT_SIM_STORE];
  for (int k = 0; k < TT_SIM_PIECES; k++)
    to[TT_SIM_COMBINE].piece_ns[k] += fmax(0, slot[TT_SIM_COMBINE].piece_ns[k] - slot[TT_SIM_STORE].piece_ns[k]);
}

/* A slot that several ranks read is filled and read as one of one rank; what is lent is read as if it were a slot.
 * What is in slots and cells is always new. */
static void derive(tt_sim_rates *rates) {
  add_combining(rates->end[TT_MEDIUM_SLOT], rates->end[TT_MEDIUM_CELL]);
  for (int medium = 0; medium < TT_MEDIUM_COUNT; medium++)
    for (int act = TT_SIM_STORE_NEW; act < TT_SIM_ACTS && medium != TT_MEDIUM_READ; act++)
      rates->end[medium][act] = rates->end[medium][act - TT_SIM_STORE_NEW + TT_SIM_STORE];
  for (int act = 0; act < TT_SIM_ACTS; act++) {
    rates->end[TT_MEDIUM_PUBLISHED][act] = rates->end[TT_MEDIUM_SLOT][act];
    rates->end[TT_MEDIUM_LENT][act] = rates->end[act == TT_SIM_SEND ? TT_MEDIUM_READ : TT_MEDIUM_SLOT][act];
  }
}

/* ---- shared things ---- */

static void fit_memory(const tt_fit_facts *facts, tt_sim_rates *rates) {
  for (int k = TT_SIM_REUSES - 1; k >= 0 && facts->all_ns[k] > SHARED * facts->alone_ns[k]; k--) {
    rates->cache_bytes = tt_sim_reuse[k];
    rates->memory_ns = fmax(rates->memory_ns, facts->all_ns[k] / (double)facts->copiers);
  }
}

void tt_fit_rates(const tt_probe *probe, const tt_probe_time *time, int count, const tt_fit_facts *facts,
                  tt_sim_rates *rates) {
  *rates = (tt_sim_rates){.call_ns = facts->call_ns, .cores = facts->cores};
  for (int medium = 0; medium < TT_MEDIUM_COUNT; medium++) {
    samples of = {probe, time, count, (tt_medium)medium, TT_SIM_SEND};
    for (int act = 0; act < TT_SIM_ACTS; act++)
      fit_end(of, (tt_sim_act)act, &rates->end[medium][act]);
  }
  derive(rates);
  samples all = {probe, time, count, 0, 0};
  fit_ways(&all, facts, rates);
  for (int act = 0; act < TT_SIM_ACTS; act++)
    rates->own[act] = facts->own[act];
  fit_memory(facts, rates);
  int near = shortest(&all, TT_MEDIUM_SLOT);
  if (facts->cores > 0 && facts->hop_ns > 0 && near >= 0)
    rates->switch_ns = fmax(0, facts->hop_ns - time[near].way_ns);
}

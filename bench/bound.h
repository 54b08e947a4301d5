/* bench/bound.h - the link bound: how long the bytes that have to leave or enter the busiest machine keep its NICs
 * busy.
 *
 * Of a vector V on n machines, S of it in the blocks of one machine's ranks (of all blocks from, or for, its ranks):
 *
 *                      leaves a machine      enters a machine     over all links
 *     broadcast        V (the root's)        V (the others)       (n - 1) V
 *     reduce           V (the others)        V (the root's)       (n - 1) V
 *     allreduce        V                     V                    2 (n - 1) V     of which each carries 2 (n - 1) / n
 *     allgather        S                     V - S                (n - 1) V
 *     reduce-scatter   V - S                 S                    (n - 1) V
 *     scan, exscan     V for each run of consecutive ranks that has others behind it; enters: before it
 *     all other        blocks that have ends on two machines, exactly; to several ranks of one machine once
 *
 * The bound is the longest of: what leaves or enters a machine over its NICs' rates together; all that crosses over the
 * rates of all machines. The idea is that of HiCCL's Table III (arXiv 2408.05962), with machines for nodes and any
 * number of ranks on each.
 *
 * Roots rotate. Calls that follow each other at once overlap: while one root's links are busy, so are another's in the
 * next call. Their bound is that of a whole turn of roots, over the calls in it. Calls that are apart do not: theirs is
 * the median of the roots' bounds, since what is compared with it is the median of the calls. */
#ifndef BENCH_BOUND_H
#define BENCH_BOUND_H

#include "layout.h"
#include "map.h"
#include "stats.h"

/* In elements; of each machine, and of all. */
typedef struct bench_need {
  double *out, *in;
  double all;
} bench_need;

static inline void bench_need_finish(bench_need *need) { free(need->out); }

static inline bool bench_need_alloc(const bench_map *map, bench_need *need) {
  need->out = calloc(2 * (size_t)map->machines, sizeof *need->out);
  need->in = need->out + (need->out ? map->machines : 0);
  need->all = 0;
  return need->out != NULL;
}

static inline void bench_need_move(bench_need *need, int32_t from, int32_t to, double elements) {
  if (from == to)
    return;
  need->out[from] += elements;
  need->in[to] += elements;
  need->all += elements;
}

/* Blocks with one source and one target each. */
static inline void bench_need_pairs(const bench_problem *of, const bench_map *map, int32_t from, bench_need *need) {
  for (int32_t n = 0; n < bench_peer_count(of); n++) {
    int32_t to = bench_peer(of, from, n);
    bench_need_move(need, map->machine_of[from], map->machine_of[to], (double)bench_block(of, from, to));
  }
}

/* neighbor-allgather: the same block for all, to each machine once. */
static inline void bench_need_shared(const bench_problem *of, const bench_map *map, int32_t from, bench_need *need) {
  const int32_t *machine = map->machine_of;
  bool left = false;
  for (int32_t n = 0; n < bench_peer_count(of); n++) {
    int32_t to = machine[bench_peer(of, from, n)];
    bool again = to == machine[from];
    for (int32_t k = 0; k < n; k++)
      again = again || machine[bench_peer(of, from, k)] == to;
    if (again)
      continue;
    double elements = (double)bench_block(of, from, from);
    need->in[to] += elements;
    need->all += elements;
    need->out[machine[from]] += left ? 0 : elements; /* who has it may pass it on */
    left = true;
  }
}

/* allgather: S leaves, the rest enters. reduce-scatter: the other way round. */
static inline void bench_need_owned(const bench_problem *of, const bench_map *map, bool sums, bench_need *need) {
  double *own = sums ? need->in : need->out, *others = sums ? need->out : need->in;
  for (int32_t rank = 0; rank < of->ranks; rank++)
    own[map->machine_of[rank]] += (double)bench_block(of, rank, rank);
  for (int32_t m = 0; m < map->machines; m++)
    others[m] = (double)of->elements - own[m];
  need->all = (map->machines - 1) * (double)of->elements;
}

static inline void bench_need_whole(const bench_problem *of, const bench_map *map, int32_t root, bench_need *need) {
  const bench_form form = bench_form_of(of->collective);
  bool rooted = form.from_root || form.to_root;
  double elements = (double)of->elements;
  for (int32_t m = 0; m < map->machines; m++) {
    bool is_root = m == map->machine_of[root];
    need->out[m] = !rooted || is_root == form.from_root ? elements : 0;
    need->in[m] = !rooted || is_root == form.to_root ? elements : 0;
  }
  need->all = (rooted ? 1 : 2) * (map->machines - 1) * elements;
}

/* Prefixes at the ends of runs are independent sums: none follows from another. */
static inline void bench_need_runs(const bench_problem *of, const bench_map *map, bench_need *need) {
  for (int32_t rank = 1; rank < of->ranks; rank++)
    bench_need_move(need, map->machine_of[rank - 1], map->machine_of[rank], (double)of->elements);
}

/* gather and scatter. */
static inline void bench_need_rooted(const bench_problem *of, const bench_map *map, int32_t root, bench_need *need) {
  bool gathers = bench_form_of(of->collective).to_root;
  for (int32_t rank = 0; rank < of->ranks; rank++) {
    int32_t from = gathers ? rank : root, to = gathers ? root : rank;
    bench_need_move(need, map->machine_of[from], map->machine_of[to], (double)bench_block(of, from, to));
  }
}

static inline void bench_need_of(const bench_problem *of, const bench_map *map, int32_t root, bench_need *need) {
  const bench_form form = bench_form_of(of->collective);
  if (map->machines == 1)
    return;
  if (form.sum == TT_OPERANDS_UP_TO || form.sum == TT_OPERANDS_BELOW)
    bench_need_runs(of, map, need);
  else if (form.cut == BENCH_WHOLE)
    bench_need_whole(of, map, root, need);
  else if (form.from_root || form.to_root)
    bench_need_rooted(of, map, root, need);
  else if (form.cut != BENCH_BY_PAIR && !form.neighbor)
    bench_need_owned(of, map, form.sum == TT_OPERANDS_ALL, need);
  else
    for (int32_t from = 0; from < of->ranks; from++)
      (form.cut == BENCH_BY_PAIR ? bench_need_pairs : bench_need_shared)(of, map, from, need);
}

/* Elements over the rates, which are in elements a unit of time; 0 where a rate is. */
static inline double bench_need_time(const bench_need *need, const double *rate, int32_t machines) {
  double time = 0, rates = 0;
  for (int32_t m = 0; m < machines; m++) {
    double most = need->out[m] > need->in[m] ? need->out[m] : need->in[m];
    if (rate[m] <= 0)
      return 0;
    time = most / rate[m] > time ? most / rate[m] : time;
    rates += rate[m];
  }
  return need->all / rates > time ? need->all / rates : time;
}

static inline bool bench_is_rooted(tt_collective collective) {
  return bench_form_of(collective).from_root || bench_form_of(collective).to_root;
}

/* Of calls that overlap: the needs of all roots together. All roots of a machine are alike. -1: no memory. */
static inline double bench_turn_time(const bench_problem *of, const bench_map *map, const double *rate) {
  bench_need sum, one;
  if (!bench_need_alloc(map, &sum))
    return -1;
  for (int32_t root = 0; root < map->machines; root++) {
    double share = (double)map->machine[root].ranks / map->ranks;
    if (!bench_need_alloc(map, &one))
      return bench_need_finish(&sum), -1;
    bench_need_of(of, map, map->machine[root].first, &one);
    for (int32_t m = 0; m < map->machines; m++) {
      sum.out[m] += share * one.out[m];
      sum.in[m] += share * one.in[m];
    }
    sum.all += share * one.all;
    bench_need_finish(&one);
  }
  double time = bench_need_time(&sum, rate, map->machines);
  bench_need_finish(&sum);
  return time;
}

static inline double bench_root_time(const bench_problem *of, const bench_map *map, const double *rate, int32_t root) {
  bench_need need;
  if (!bench_need_alloc(map, &need))
    return -1;
  bench_need_of(of, map, root, &need);
  double time = bench_need_time(&need, rate, map->machines);
  bench_need_finish(&need);
  return time;
}

/* Of calls that are apart: the median over the ranks as roots. */
static inline double bench_apart_time(const bench_problem *of, const bench_map *map, const double *rate) {
  double *time = calloc((size_t)map->ranks, sizeof *time), middle = -1;
  for (int32_t rank = 0; time && rank < map->ranks; rank++) {
    int32_t first = map->machine[map->machine_of[rank]].first;
    time[rank] = first < rank ? time[first] : bench_root_time(of, map, rate, rank);
  }
  if (time)
    middle = bench_median(time, map->ranks);
  free(time);
  return middle;
}

/* Of a call. rate: elements a unit of time, of each machine. -1: no memory. */
static inline double bench_bound_time(const bench_problem *of, const bench_map *map, const double *rate, bool apart) {
  if (!bench_is_rooted(of->collective))
    return bench_root_time(of, map, rate, 0);
  return (apart ? bench_apart_time : bench_turn_time)(of, map, rate);
}

/* Bits a second of a machine's NICs together; `given`: of each NIC, 0: what the system says. Machines of one host share
 * its NICs. 0: unknown. */
static inline double bench_machine_rate(const bench_map *map, int32_t machine, int64_t given) {
  const bench_machine *at = &map->machine[machine];
  double rate = 0;
  for (int32_t n = 0; n < at->nic_count; n++) {
    int64_t one = given > 0 ? given : at->nic[n].bits_per_second;
    if (one == 0)
      return 0;
    rate += (double)one;
  }
  return rate / bench_map_machines_on(map, at->host);
}

/* 0: nothing has to cross, or a rate is unknown. */
static inline double bench_bound_ns(const bench_problem *of, const bench_map *map, int64_t element_bytes, int64_t given,
                                    bool apart) {
  double *rate = calloc((size_t)map->machines, sizeof *rate), time;
  if (!rate)
    return 0;
  for (int32_t m = 0; m < map->machines; m++)
    rate[m] = bench_machine_rate(map, m, given) / 8e9 / (double)element_bytes; /* elements a nanosecond */
  time = bench_bound_time(of, map, rate, apart);
  free(rate);
  return time > 0 ? time : 0;
}

/* Bytes that leave or enter the busiest machine if all have links of the same rate. */
static inline double bench_bound_bytes(const bench_problem *of, const bench_map *map, int64_t element_bytes,
                                       bool apart) {
  double *rate = calloc((size_t)map->machines, sizeof *rate), time;
  if (!rate)
    return 0;
  for (int32_t m = 0; m < map->machines; m++)
    rate[m] = 1.0 / (double)element_bytes;
  time = bench_bound_time(of, map, rate, apart);
  free(rate);
  return time > 0 ? time : 0;
}

#endif

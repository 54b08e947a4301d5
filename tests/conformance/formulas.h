/* tests/conformance/formulas.h - what each rank sends in a stage, by the way that its trees are laid, from the
 * literature:
 *
 *   Thakur     Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005
 *   Bruck      Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications, 1997
 *   Chan       Chan, Heimlich, Purkayastha, van de Geijn: Collective communication: theory, practice, experience, 2007
 *   Patarasuk  Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009
 *   PCCL       Singh, Singh, Bhatele: The big send-off: high performance collectives on GPU-based supercomputers, 2025
 *   Chen       Chen et al.: Performance evaluation of allgather algorithms on terascale Linux cluster, 2005 (exchange)
 *   Sanders    Sanders, Speck, Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009
 *   Bar-Noy    Bar-Noy, Kipnis: Designing broadcasting algorithms in the postal model for message-passing systems, 1992
 *   Hillis     Hillis, Steele: Data parallel algorithms, 1986 (scan)
 *   Grama      Grama, Gupta, Karypis, Kumar: Introduction to parallel computing, 2003 (hypercube scan, ring all-to-all)
 *
 * Written from the algorithms, not from the code that is tested. Where tutti differs from the book, a comment says why.
 */
#ifndef TEST_CONFORMANCE_FORMULAS_H
#define TEST_CONFORMANCE_FORMULAS_H

#include "plan/plan.h"

/* One rank's place in a stage. */
typedef struct place {
  int64_t p, rank, root;
  int64_t nodes, per_node; /* two-level ways: equal nodes in rank order */
  int64_t blocks;          /* of the vector */
  int64_t k;               /* of the shape */
  bool publish;
} place;

typedef tt_plan_counts counts;
typedef counts (*formula)(const place *at);

/* ---- small numbers ---- */

static int64_t log2_up(int64_t p) {
  int64_t result = 0;
  while ((int64_t)1 << result < p)
    result++;
  return result;
}

static int64_t power_below(int64_t p) {
  int64_t power = 1;
  while (2 * power <= p)
    power *= 2;
  return power;
}

static int64_t low_bit(int64_t v) { return v & -v; }
static bool is_power(int64_t p) { return power_below(p) == p; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Distance from the root, around; and to it. */
static int64_t from_root(const place *at) { return (at->rank - at->root + at->p) % at->p; }
static int64_t to_root(const place *at) { return (at->root - at->rank + at->p) % at->p; }

/* ---- star: everyone with everyone, or with the root, in one round (Thakur: the linear and pairwise algorithms) ----
 */

/* One message to each of `others`, or one that all of them read. */
static counts to_others(int64_t others, int64_t blocks, bool publish) {
  int64_t messages = publish && others > 1 ? 1 : others;
  return (counts){messages, messages * blocks};
}

static counts star_all(const place *at) { return to_others(at->p - 1, 1, at->publish); }
static counts star_reduce_scatter(const place *at) { return to_others(at->p - 1, 1, false); }
static counts star_broadcast(const place *at) {
  return at->rank == at->root ? to_others(at->p - 1, at->blocks, at->publish) : (counts){0, 0};
}
static counts star_scatter(const place *at) { return to_others(at->rank == at->root ? at->p - 1 : 0, 1, false); }
static counts star_reduce(const place *at) { return to_others(at->rank != at->root, at->blocks, false); }
static counts star_gather(const place *at) { return to_others(at->rank != at->root, 1, false); }

/* ---- chain ---- */

/* Ring: p - 1 messages of a block. As a one-step allreduce they are whole vectors, p - 1 times the literature's bytes:
 * each result goes around a ring of its own. That is why the preset `ring` is reduce-scatter and allgather. */
static counts chain_all(const place *at) { return (counts){at->p - 1, at->p - 1}; }
static counts chain_broadcast(const place *at) { return to_others(from_root(at) < at->p - 1, at->blocks, false); }
static counts chain_reduce(const place *at) { return to_others(at->rank != at->root, at->blocks, false); }
/* Everything for those behind goes on in one message. */
static counts chain_scatter(const place *at) {
  int64_t behind = at->p - 1 - from_root(at);
  return (counts){behind > 0, behind};
}
/* A block a round comes by: the trees begin at its owners. */
static counts chain_gather(const place *at) {
  int64_t passing = at->rank == at->root ? 0 : at->p - to_root(at);
  return (counts){passing, passing};
}

/* ---- 2-nomial, rotate ---- */

/* Bruck's, and its mirror with distances that shrink: ceil(log2 p) messages, p - 1 blocks, for any p. */
static counts nomial_all(const place *at) { return (counts){log2_up(at->p), at->p - 1}; }
/* One step. Near first and p a power of two: common payloads make it recursive doubling, log2 p times n (Thakur).
 * Otherwise the results' partial sums differ from rank to rank, and all p - 1 of them are sent. */
static counts near_allreduce(const place *at) {
  return (counts){log2_up(at->p), is_power(at->p) ? log2_up(at->p) : at->p - 1};
}
static counts far_allreduce(const place *at) { return (counts){log2_up(at->p), at->p - 1}; }

static int64_t far_children(int64_t v, int64_t p) {
  int64_t children = 0;
  for (int64_t bit = 1; bit < p && (v == 0 || bit < low_bit(v)); bit *= 2)
    children += v + bit < p;
  return children;
}
static int64_t near_children(int64_t v, int64_t p) {
  int64_t children = 0;
  for (int64_t bit = v ? 2 * power_below(v) : 1; v + bit < p; bit *= 2)
    children++;
  return children;
}
/* v and those below: v, v + 1, ... and v, v + stride, ... */
static int64_t far_below(int64_t v, int64_t p) { return v == 0 ? p : least(low_bit(v), p - v); }
static int64_t near_below(int64_t v, int64_t p) {
  int64_t stride = v ? 2 * power_below(v) : 1;
  return (p - v + stride - 1) / stride;
}

/* Binomial trees (Thakur): the root sends ceil(log2 p), all together p - 1. */
static counts far_broadcast(const place *at) {
  return to_others(far_children(from_root(at), at->p), at->blocks, false);
}
static counts near_broadcast(const place *at) {
  return to_others(near_children(from_root(at), at->p), at->blocks, false);
}
static counts nomial_reduce(const place *at) { return to_others(at->rank != at->root, at->blocks, false); }
static counts far_scatter(const place *at) {
  return (counts){far_children(from_root(at), at->p), far_below(from_root(at), at->p) - 1};
}
static counts near_scatter(const place *at) {
  return (counts){near_children(from_root(at), at->p), near_below(from_root(at), at->p) - 1};
}
/* One message with all that has come. A tree that begins at each block's owner and goes far first ends at the root near
 * first, and the other way around. */
static counts far_gather(const place *at) {
  int64_t v = to_root(at);
  return v == 0 ? (counts){0, 0} : (counts){1, near_below(v, at->p)};
}
static counts near_gather(const place *at) {
  int64_t v = to_root(at);
  return v == 0 ? (counts){0, 0} : (counts){1, far_below(v, at->p)};
}

/* ---- 2-nomial, xor, with folding ----
 *
 * Thakur's step before and after: of the first 2 (p - P) ranks, P the power of two below p, odd ones give what they
 * have to their even neighbours and get the result from them. The others go on as P groups. */

static bool in_pair(const place *at, int64_t rank) { return rank < 2 * (at->p - power_below(at->p)); }
static bool is_odd_one(const place *at, int64_t rank) { return in_pair(at, rank) && rank % 2 == 1; }
static int64_t group_of(const place *at, int64_t rank) {
  int64_t pairs = at->p - power_below(at->p);
  return in_pair(at, rank) ? rank / 2 : rank - pairs;
}
/* Ranks in the groups first .. first + count - 1. */
static int64_t ranks_in(const place *at, int64_t first, int64_t count) {
  int64_t pairs = at->p - power_below(at->p), end = least(first + count, pairs);
  return count + (end > first ? end - first : 0);
}
/* Ranks of the groups that differ from the rank's in the lowest `bits` bits only. */
static int64_t ranks_near(const place *at, int64_t bits) {
  int64_t size = (int64_t)1 << bits;
  return ranks_in(at, group_of(at, at->rank) / size * size, size);
}

static counts plus(counts a, int64_t messages, int64_t blocks) {
  return (counts){a.messages + messages, a.blocks + blocks};
}

/* Recursive doubling: log2 P messages; all of the own half so far each time: p - 1 blocks where p is P. An even one of
 * a pair gives its neighbour all but that one's own. */
static counts xor_allgather(const place *at) {
  if (is_odd_one(at, at->rank))
    return (counts){1, 1};
  int64_t rounds = log2_up(power_below(at->p)), blocks = 0;
  for (int64_t bits = 0; bits < rounds; bits++)
    blocks += ranks_near(at, bits);
  return plus((counts){rounds, blocks}, in_pair(at, at->rank), in_pair(at, at->rank) ? at->p - 1 : 0);
}
/* Recursive halving: the other half's blocks each time. An odd one gives all p blocks, its own too, and gets its
 * result. */
static counts xor_reduce_scatter(const place *at) {
  if (is_odd_one(at, at->rank))
    return (counts){1, at->p};
  bool pair = in_pair(at, at->rank);
  return (counts){log2_up(power_below(at->p)) + pair, at->p - ranks_near(at, 0) + pair};
}
/* Recursive doubling of whole vectors out of one step, by common payloads: log2 P messages of n. */
static counts xor_allreduce(const place *at) {
  int64_t messages = is_odd_one(at, at->rank) ? 1 : log2_up(power_below(at->p)) + in_pair(at, at->rank);
  return (counts){messages, messages};
}

/* The group's label: its way from the root's. */
static int64_t xor_label(const place *at) { return group_of(at, at->rank) ^ group_of(at, at->root); }
static bool with_root(const place *at) { return xor_label(at) == 0; }

static counts xor_broadcast(const place *at) {
  if (is_odd_one(at, at->rank))
    return to_others(at->rank == at->root, at->blocks, false);
  int64_t down = in_pair(at, at->rank) && at->root != at->rank + 1;
  return to_others(near_children(xor_label(at), power_below(at->p)) + down, at->blocks, false);
}
static counts xor_reduce(const place *at) {
  bool last = with_root(at) && !is_odd_one(at, at->rank);
  return to_others(last ? at->rank != at->root : 1, at->blocks, false);
}
/* Ranks below the rank's group, it included: groups whose label ends as its label does. */
static int64_t xor_ranks_below(const place *at) {
  int64_t v = xor_label(at), stride = v ? 2 * power_below(v) : 1, ranks = 0;
  for (int64_t u = v; u < power_below(at->p); u += stride)
    ranks += ranks_in(at, u ^ group_of(at, at->root), 1);
  return ranks;
}
static counts xor_scatter(const place *at) {
  if (is_odd_one(at, at->rank)) /* the root gives all to its neighbour but what is its own */
    return at->rank == at->root ? (counts){1, at->p - 1} : (counts){0, 0};
  int64_t own = ranks_near(at, 0), down = in_pair(at, at->rank) && at->root != at->rank + 1;
  return (counts){near_children(xor_label(at), power_below(at->p)) + down, xor_ranks_below(at) - own + down};
}
static counts xor_gather(const place *at) {
  bool odd_root = is_odd_one(at, at->root);
  if (is_odd_one(at, at->rank))
    return (counts){at->rank != at->root, at->rank != at->root};
  if (with_root(at)) /* to its odd neighbour, if that is the root */
    return odd_root ? (counts){1, at->p - 1} : (counts){0, 0};
  int64_t bits = log2_up(low_bit(xor_label(at)));
  return (counts){1, ranks_near(at, bits)};
}

/* ---- two levels: a way over nodes for each place in the node, star inside (PCCL) ---- */

static int64_t node_of(const place *at, int64_t rank) { return rank / at->per_node; }
static bool same_place(const place *at) { return at->rank % at->per_node == at->root % at->per_node; }

/* The way over nodes as a rank of one of them sees it. */
static place over_nodes(const place *at) {
  return (place){.p = at->nodes,
                 .rank = node_of(at, at->rank),
                 .root = node_of(at, at->root),
                 .nodes = 1,
                 .per_node = 1,
                 .blocks = at->blocks};
}

static counts add(counts a, counts b) { return (counts){a.messages + b.messages, a.blocks + b.blocks}; }

/* (nodes - 1) + (nodes - 1) (m - 1) blocks; `inside` messages to each other member of the node. */
static counts level_all(const place *at, formula over, bool publish, int64_t inside) {
  place outer = over_nodes(at);
  counts in = to_others(at->per_node - 1, at->nodes, publish);
  return add(over(&outer), (counts){in.messages * inside, in.blocks});
}
/* What the ring brings goes on inside as it comes, beside the ring: a message for each node; on the way to the ring,
 * the first two are one. */
static counts ring_allgather(const place *at) { return level_all(at, chain_all, at->publish, at->nodes); }
static counts ring_reduce_scatter(const place *at) {
  return level_all(at, chain_all, false, at->nodes > 1 ? at->nodes - 1 : 1);
}
static counts halving_allgather(const place *at) { return level_all(at, xor_allgather, at->publish, 1); }
static counts halving_reduce_scatter(const place *at) { return level_all(at, xor_reduce_scatter, false, 1); }

/* One step: whole vectors; the own one to each member of the node once, whatever root it is for. Where nodes fold, only
 * some members' places have trees, so that not all send alike and nothing is published. */
static counts level_allreduce(const place *at, formula over, bool publish) {
  place outer = over_nodes(at);
  return add(over(&outer), to_others(at->per_node - 1, 1, publish));
}
static counts ring_allreduce(const place *at) { return level_allreduce(at, chain_all, at->publish); }
static counts halving_allreduce(const place *at) {
  return level_allreduce(at, xor_allreduce, at->publish && is_power(at->nodes));
}

static counts level_broadcast(const place *at, formula over) {
  place outer = over_nodes(at);
  return same_place(at) ? add(over(&outer), to_others(at->per_node - 1, at->blocks, at->publish)) : (counts){0, 0};
}
static counts ring_broadcast(const place *at) { return level_broadcast(at, chain_broadcast); }
static counts halving_broadcast(const place *at) { return level_broadcast(at, xor_broadcast); }

static counts level_reduce(const place *at, formula over) {
  place outer = over_nodes(at);
  return same_place(at) ? over(&outer) : to_others(1, at->blocks, false);
}
static counts ring_reduce(const place *at) { return level_reduce(at, chain_reduce); }
static counts halving_reduce(const place *at) { return level_reduce(at, xor_reduce); }

static counts level_scatter(const place *at, formula over) {
  place outer = over_nodes(at);
  if (!same_place(at))
    return (counts){0, 0};
  counts nodes = over(&outer);
  return add((counts){nodes.messages, nodes.blocks * at->per_node}, to_others(at->per_node - 1, 1, false));
}
static counts ring_scatter(const place *at) { return level_scatter(at, chain_scatter); }
static counts halving_scatter(const place *at) { return level_scatter(at, xor_scatter); }

/* At the root's node, a place's blocks of all nodes go to the root in `inside` messages. */
static counts level_gather(const place *at, formula over, int64_t inside) {
  place outer = over_nodes(at);
  bool here = outer.rank == outer.root;
  return here ? (counts){same_place(at) ? 0 : inside, same_place(at) ? 0 : at->nodes} : over(&outer);
}
static counts ring_gather(const place *at) { return level_gather(at, chain_gather, at->nodes); }
static counts halving_gather(const place *at) { return level_gather(at, xor_gather, 1); }

/* ---- all-to-all: a block goes from each rank to each ---- */

static counts star_all_to_all(const place *at) { return to_others(at->p - 1, 1, false); }
/* A ring: in round t each rank passes on what has t hops behind it and some to go (Grama). */
static counts chain_all_to_all(const place *at) { return (counts){at->p - 1, at->p * (at->p - 1) / 2}; }
/* Bruck, k ports: a block at distance d takes one hop for each digit of d in base k that is not 0; a message for each
 * digit at each place. */
static counts nomial_all_to_all(const place *at) {
  counts sum = {0, 0};
  for (int64_t power = 1; power < at->p; power *= at->k)
    for (int64_t digit = 1; digit < at->k; digit++)
      sum.messages += digit * power < at->p;
  for (int64_t distance = 1; distance < at->p; distance++)
    for (int64_t left = distance; left > 0; left /= at->k)
      sum.blocks += left % at->k != 0;
  return sum;
}
/* The same over partners, for powers of two: half of the blocks in each of log2 p messages. */
static counts xor_all_to_all(const place *at) {
  return is_power(at->p) ? (counts){log2_up(at->p), at->p / 2 * log2_up(at->p)} : (counts){-1, -1};
}
/* Node-aware, counted from what it does. Leaders: to each other node all that goes from node to node, to each member of
 * their own what has come and their own block. Others: all for other nodes to the leader, and a block to each member.
 */
static counts node_aware_all_to_all(const place *at) {
  int64_t m = at->per_node, abroad = (at->nodes - 1) * m;
  if (at->rank % m == 0)
    return (counts){at->nodes - 1 + m - 1, abroad * m + (m - 1) * (abroad + 1)};
  return (counts){m - 1, abroad + m - 1};
}

/* ---- allgather and reduce-scatter with k ports (Bruck) ---- */

static counts k_nomial_all(const place *at) { return (counts){nomial_all_to_all(at).messages, at->p - 1}; }

/* ---- neighbor exchange (Chen) ---- */

/* The own block, then two a round. Even numbers of ranks only. */
static counts exchange_all(const place *at) { return (counts){at->p / 2, at->p - 1}; }

/* ---- binary trees ---- */

static counts ary_broadcast(const place *at) {
  int64_t first = 2 * from_root(at) + 1;
  return to_others(first + 1 < at->p ? 2 : first < at->p, at->blocks, false);
}

/* Children of a label that is `distance` from the root, in a binary tree below the root's only child. */
static int64_t planted_children(int64_t distance, int64_t p) {
  if (distance == 0)
    return p > 1;
  int64_t first = 2 * (distance - 1) + 2;
  return first + 1 < p ? 2 : first < p;
}
/* Two trees, one the other's mirror image, a half each: no rank sends more than n, none gets more (Sanders). */
static counts two_tree_broadcast(const place *at) {
  int64_t children = planted_children(from_root(at), at->p) + planted_children(to_root(at), at->p);
  return (counts){children, children * at->blocks};
}
static counts two_tree_reduce(const place *at) {
  int64_t parents = at->rank == at->root ? 0 : 2;
  return (counts){parents, parents * at->blocks};
}

/* ---- postal trees (Bar-Noy) ----
 *
 * A message takes k rounds, and whoever has it sends it in every round. So F(t) = F(t-1) + F(t-k) have it after t
 * rounds, with F(t) = 1 for t < k: generalised Fibonacci numbers. n ranks need f(n) rounds, the least t where
 * F(t) >= n, and no algorithm needs fewer. BCAST: who has it for a range of n keeps the first F(f(n) - 1) and sends it
 * to the one behind these, for the rest. The last of the root's sends is there after f(n) rounds, so it sends
 * f(n) - k + 1 times. */

static int64_t postal_reached(int64_t t, int64_t k) {
  return t < k ? 1 : postal_reached(t - 1, k) + postal_reached(t - k, k);
}
static int64_t postal_time(int64_t n, int64_t k) {
  int64_t t = 0;
  while (postal_reached(t, k) < n)
    t++;
  return t;
}
static int64_t postal_sends(int64_t n, int64_t k) { return n > 1 ? postal_time(n, k) - k + 1 : 0; }
static int64_t postal_kept(int64_t n, int64_t k) { return postal_reached(postal_time(n, k) - 1, k); }

/* The range of whom is at `distance` from the root of p. */
static int64_t postal_range(int64_t distance, int64_t p, int64_t k) {
  while (distance > 0) {
    int64_t kept = postal_kept(p, k);
    p = distance < kept ? kept : p - kept;
    distance -= distance < kept ? 0 : kept;
  }
  return p;
}
static int64_t own_range(const place *at) { return postal_range(from_root(at), at->p, at->k); }

static counts postal_broadcast(const place *at) {
  return to_others(postal_sends(own_range(at), at->k), at->blocks, false);
}
static counts postal_scatter(const place *at) {
  return (counts){postal_sends(own_range(at), at->k), own_range(at) - 1};
}

/* On the way over `distance`, ranks from which `left` is still to go, or all from which some is, where left is 0. */
static int64_t postal_hops(int64_t distance, int64_t left, const place *at) {
  int64_t hops = 0;
  for (int64_t range = at->p; distance > 0;) {
    int64_t kept = postal_kept(range, at->k);
    if (distance >= kept) {
      hops += left == 0 || distance == left;
      distance -= kept;
      range -= kept;
    } else {
      range = kept;
    }
  }
  return hops;
}
static int64_t sum_of_hops(int64_t left, const place *at) {
  int64_t sum = 0;
  for (int64_t distance = 1; distance < at->p; distance++)
    sum += postal_hops(distance, left, at);
  return sum;
}

/* A tree for each rank: messages of equal distances go in one round, which makes them one. */
static counts postal_all(const place *at) { return (counts){postal_sends(at->p, at->k), at->p - 1}; }
static counts postal_all_to_all(const place *at) { return (counts){postal_sends(at->p, at->k), sum_of_hops(0, at)}; }
static counts postal_gather(const place *at) {
  int64_t left = to_root(at);
  return left == 0 ? (counts){0, 0} : (counts){1, sum_of_hops(left, at)};
}

/* ---- scans: to ranks with higher numbers only ---- */

static counts star_scan(const place *at) { return to_others(at->p - 1 - at->rank, 1, false); }
static counts line_scan(const place *at) { return to_others(at->rank < at->p - 1, 1, false); }
/* A sum to the rank at distance 1, 2, 4, ..., if there is one (Hillis). */
static counts reflect_scan(const place *at) {
  int64_t higher = 0;
  for (int64_t distance = 1; at->rank + distance < at->p; distance *= 2)
    higher++;
  return to_others(higher, 1, false);
}
/* A hypercube's partners exchange sums of their subcubes (Grama); one with a higher number gets none for its partner's
 * sake, but for ranks in subcubes behind both. */
static counts xor_scan(const place *at) {
  int64_t partners = 0;
  if (!is_power(at->p))
    return (counts){-1, -1};
  for (int64_t bit = 1; bit < at->p; bit *= 2)
    partners += !(at->rank & bit) || at->rank / (2 * bit) < (at->p - 1) / (2 * bit);
  return to_others(partners, 1, false);
}

/* ---- the table ---- */

typedef enum way {
  STAR,
  CHAIN,
  NEAR,
  FAR,
  XOR,
  XOR_FAR,
  REFLECT_CHAIN,
  REFLECT_FAR,
  K_NOMIAL,
  EXCHANGE,
  ARY,
  TWO_TREE,
  POSTAL,
  TWO_LEVEL_RING,
  TWO_LEVEL_HALVING,
  NODE_AWARE,
  WAYS
} way;

/* Ways without a formula are not in the literature, or do not keep the rank order that a scan needs. Reflect lays trees
 * as rotate does, with ranks in the other direction. */
static const struct {
  const char *stage, *source;
  formula of[WAYS];
} formulas[] = {
    {"allgather",
     "Thakur, Bruck, PCCL, Chen, Bar-Noy",
     {[STAR] = star_all,
      [CHAIN] = chain_all,
      [NEAR] = nomial_all,
      [FAR] = nomial_all,
      [XOR] = xor_allgather,
      [REFLECT_CHAIN] = chain_all,
      [REFLECT_FAR] = nomial_all,
      [K_NOMIAL] = k_nomial_all,
      [EXCHANGE] = exchange_all,
      [POSTAL] = postal_all,
      [TWO_LEVEL_RING] = ring_allgather,
      [TWO_LEVEL_HALVING] = halving_allgather}},
    {"reduce-scatter",
     "Thakur, Patarasuk, PCCL, Chen backwards, Bar-Noy",
     {[STAR] = star_reduce_scatter,
      [CHAIN] = chain_all,
      [NEAR] = nomial_all,
      [FAR] = nomial_all,
      [XOR] = xor_reduce_scatter,
      [REFLECT_CHAIN] = chain_all,
      [REFLECT_FAR] = nomial_all,
      [K_NOMIAL] = k_nomial_all,
      [EXCHANGE] = exchange_all,
      [POSTAL] = postal_all,
      [TWO_LEVEL_RING] = ring_reduce_scatter,
      [TWO_LEVEL_HALVING] = halving_reduce_scatter}},
    {"allreduce",
     "Thakur, PCCL, Bar-Noy",
     {[STAR] = star_all,
      [CHAIN] = chain_all,
      [NEAR] = near_allreduce,
      [FAR] = far_allreduce,
      [XOR] = xor_allreduce,
      [XOR_FAR] = xor_allreduce,
      [REFLECT_CHAIN] = chain_all,
      [REFLECT_FAR] = far_allreduce,
      [POSTAL] = postal_all,
      [TWO_LEVEL_RING] = ring_allreduce,
      [TWO_LEVEL_HALVING] = halving_allreduce}},
    {"broadcast",
     "Thakur, Chan, Sanders, Bar-Noy",
     {[STAR] = star_broadcast,
      [CHAIN] = chain_broadcast,
      [NEAR] = near_broadcast,
      [FAR] = far_broadcast,
      [XOR] = xor_broadcast,
      [REFLECT_CHAIN] = chain_broadcast,
      [REFLECT_FAR] = far_broadcast,
      [ARY] = ary_broadcast,
      [TWO_TREE] = two_tree_broadcast,
      [POSTAL] = postal_broadcast,
      [TWO_LEVEL_RING] = ring_broadcast,
      [TWO_LEVEL_HALVING] = halving_broadcast}},
    {"reduce",
     "Thakur, Chan, Sanders, Bar-Noy",
     {[STAR] = star_reduce,
      [CHAIN] = chain_reduce,
      [NEAR] = nomial_reduce,
      [FAR] = nomial_reduce,
      [XOR] = xor_reduce,
      [XOR_FAR] = xor_reduce,
      [REFLECT_CHAIN] = chain_reduce,
      [REFLECT_FAR] = nomial_reduce,
      [K_NOMIAL] = nomial_reduce,
      [ARY] = nomial_reduce,
      [TWO_TREE] = two_tree_reduce,
      [POSTAL] = nomial_reduce,
      [TWO_LEVEL_RING] = ring_reduce,
      [TWO_LEVEL_HALVING] = halving_reduce}},
    {"scatter",
     "Thakur, Chan, Bar-Noy",
     {[STAR] = star_scatter,
      [CHAIN] = chain_scatter,
      [NEAR] = near_scatter,
      [FAR] = far_scatter,
      [XOR] = xor_scatter,
      [REFLECT_CHAIN] = chain_scatter,
      [REFLECT_FAR] = far_scatter,
      [POSTAL] = postal_scatter,
      [TWO_LEVEL_RING] = ring_scatter,
      [TWO_LEVEL_HALVING] = halving_scatter}},
    {"gather",
     "Thakur, Chan, Bar-Noy",
     {[STAR] = star_gather,
      [CHAIN] = chain_gather,
      [NEAR] = near_gather,
      [FAR] = far_gather,
      [XOR] = xor_gather,
      [REFLECT_CHAIN] = chain_gather,
      [REFLECT_FAR] = far_gather,
      [POSTAL] = postal_gather,
      [TWO_LEVEL_RING] = ring_gather,
      [TWO_LEVEL_HALVING] = halving_gather}},
    {"all-to-all",
     "Thakur, Bruck, Grama, Bar-Noy; node-aware is counted here",
     {[STAR] = star_all_to_all,
      [CHAIN] = chain_all_to_all,
      [NEAR] = nomial_all_to_all,
      [FAR] = nomial_all_to_all,
      [XOR] = xor_all_to_all,
      [XOR_FAR] = xor_all_to_all,
      [REFLECT_CHAIN] = chain_all_to_all,
      [REFLECT_FAR] = nomial_all_to_all,
      [K_NOMIAL] = nomial_all_to_all,
      [POSTAL] = postal_all_to_all,
      [NODE_AWARE] = node_aware_all_to_all}},
    {"scan",
     "Hillis, Grama",
     {[STAR] = star_scan, [XOR_FAR] = xor_scan, [REFLECT_CHAIN] = line_scan, [REFLECT_FAR] = reflect_scan}},
    {"exscan", "Hillis, Grama", {[STAR] = star_scan, [REFLECT_CHAIN] = line_scan, [REFLECT_FAR] = reflect_scan}},
};

#endif

/* lower/shape_postal.c - postal: best where a message takes as long as K sends (A. Bar-Noy, S. Kipnis: Designing
 * broadcasting algorithms in the postal model for message-passing systems, 1992).
 *
 * A rank sends one message a round, as letters are posted, and a message of round t is there at the end of round
 * t + K - 1. Whoever has it sends it on, in every round. So F(t) = F(t-1) + F(t-K) ranks have it after t rounds, and
 * F(t) = 1 for t < K: powers of two for K = 1, Fibonacci numbers for K = 2. No tree reaches more.
 *
 *   3-postal of 9 labels      in rounds           after t rounds  0 1 2 3 4 5 6 7
 *   0 -> 6 4 3 2 1            0 1 2 3 4           F(t) labels     1 1 1 2 3 4 6 9
 *        6 -> 8 7                   3 4
 *          4 -> 5                     4
 *
 * The children of a label stand S(0), S(1), ... behind it, S(n) = F(n+K-1), the farthest served first; the subtree
 * behind S(n) has F(n) = S(n+1) - S(n) labels. So a label is a sum of S(n) that lie K or more apart, found from the
 * largest on, and its parent drops the smallest: far first, in a number system whose digits are sparse. For K = 1 it is
 * the 2-nomial tree, far first. Each answer costs as many additions as there are rounds. */
#include "lower/shape.h"

#include <assert.h>

enum { K_MOST = 64, STEPS_MOST = 448 }; /* below 2^31 labels, the largest k has 415 steps */

/* S(0) .. S(count-1), those below f. */
typedef struct steps {
  int64_t at[STEPS_MOST];
  int64_t count;
} steps;

/* F(n) */
static int64_t width_of(const steps *to, int64_t n, int64_t k) { return n < k ? 1 : to->at[n - k + 1]; }

static void find_steps(const tt_tree *tree, steps *to) {
  int64_t k = tree->level->k, next = 1;
  for (to->count = 0; next < tree->f; next += width_of(to, to->count - 1, k)) {
    assert(to->count < STEPS_MOST);
    to->at[to->count++] = next;
  }
}

/* The number of the largest step that is not longer than `length`. length >= 1. */
static int64_t longest(const steps *of, int64_t length) {
  assert(length >= 1 && of->count > 0);
  int64_t n = of->count - 1;
  while (of->at[n] > length)
    n--;
  return n;
}

/* The number of the step from v's parent to v. v > 0. */
static int64_t last_step(const steps *of, int64_t v) {
  int64_t n = longest(of, v);
  for (v -= of->at[n]; v > 0; v -= of->at[n])
    n = longest(of, v);
  return n;
}

/* Labels v .. v + width - 1 are v and those below it, as far as there are labels. */
static int64_t width(const tt_tree *tree, const steps *of, int64_t v) {
  return v == 0 ? tree->f : width_of(of, last_step(of, v), tree->level->k);
}

static int64_t parent(const tt_tree *tree, int64_t v) {
  steps of;
  find_steps(tree, &of);
  return v - of.at[last_step(&of, v)];
}

static int64_t round_of(const tt_tree *tree, int64_t v) {
  steps of;
  find_steps(tree, &of);
  return of.count - 1 - last_step(&of, v);
}

/* In which somebody sends; the last message is there K - 1 rounds later. */
static int64_t rounds(const tt_tree *tree) {
  steps of;
  find_steps(tree, &of);
  return of.count;
}

static bool next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  steps of;
  find_steps(tree, &of);
  int64_t n = *child < 0 ? 0 : longest(&of, *child - v) + 1;
  if (n == of.count)
    return false;
  *child = v + of.at[n];
  return of.at[n] < width(tree, &of, v) && *child < tree->f;
}

static bool is_under(const tt_tree *tree, int64_t v, int64_t u) {
  steps of;
  find_steps(tree, &of);
  return u >= v && u < v + width(tree, &of, v);
}

static int64_t toward(const tt_tree *tree, int64_t v, int64_t u) {
  steps of;
  find_steps(tree, &of);
  return v + of.at[longest(&of, u - v)];
}

static tt_subset below(const tt_tree *tree, int64_t v) {
  steps of;
  find_steps(tree, &of);
  int64_t count = width(tree, &of, v);
  return (tt_subset){v, 1, v + count < tree->f ? count : tree->f - v};
}

static tt_order_kept keeps_order(const tt_tree *tree) {
  (void)tree;
  return TT_KEPT_FROM_END;
}

const tt_shape tt_shape_postal = {
    .info = {.name = "postal",
             .tree = "whoever has it sends it on in every round, and a message takes K rounds: 2-nomial for K = 1",
             .rounds = "the first t where F(t + K - 1) >= f, with F(t) = F(t-1) + F(t-K)",
             .k_least = 1,
             .k_most = K_MOST,
             .labellings = TT_ANY_LABELLING},
    .parent = parent,
    .round = round_of,
    .rounds = rounds,
    .next_child = next_child,
    .is_under = is_under,
    .toward = toward,
    .below = below,
    .keeps_order = keeps_order,
};

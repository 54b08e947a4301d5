/* tune/classify.c - what a support vector machine says, by the numbers that libsvm has trained: for each pair of
 * classes the sign of
 *
 *     sum of weight * exp(-gamma |vector - x|^2) over the vectors of both  -  rho
 *
 * is a vote, and the first class with the most votes is chosen. Chang and Lin, LIBSVM: a library for support vector
 * machines, 2011. exp differs between processors in the last bit: so one rank asks, for all. */
#include "tune/lessons.h"

#include <math.h>

static double kernel(const tt_classifier *of, int64_t vector, const double at[static TT_FEATURES]) {
  double square = 0;
  for (int k = 0; k < TT_FEATURES; k++) {
    double apart = at[k] - of->vector[vector * TT_FEATURES + k];
    square += apart * apart;
  }
  return exp(-of->gamma * square);
}

static int pair_of(const tt_classifier *of, int64_t i, int64_t j) { /* i < j */
  return (int)(i * of->class_count - i * (i + 1) / 2 + j - i - 1);
}

/* A vector of class i has a weight against each other class: those before i, and those behind it. */
static void add(const tt_classifier *of, int64_t class, int64_t vector, double value, double sum[static TT_PAIRS]) {
  const double *weight = &of->weight[vector * (of->class_count - 1)];
  for (int64_t other = 0; other < of->class_count; other++) {
    if (other < class)
      sum[pair_of(of, other, class)] += weight[other] * value;
    if (other > class)
      sum[pair_of(of, class, other)] += weight[other - 1] * value;
  }
}

int tt_classify(const tt_classifier *of, const double at[static TT_FEATURES]) {
  double sum[TT_PAIRS] = {0};
  int votes[TT_CLASSES] = {0}, best = 0;
  for (int64_t c = 0, v = 0; c < of->class_count; c++)
    for (int64_t end = v + of->vectors_of[c]; v < end; v++)
      add(of, c, v, kernel(of, v, at), sum);
  for (int64_t i = 0; i < of->class_count; i++)
    for (int64_t j = i + 1; j < of->class_count; j++)
      votes[sum[pair_of(of, i, j)] > of->rho[pair_of(of, i, j)] ? i : j]++;
  for (int c = 1; c < of->class_count; c++)
    best = votes[c] > votes[best] ? c : best;
  return best;
}

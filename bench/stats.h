/* bench/stats.h - medians, and how sure a ratio is.
 *
 * Times of the same round are a pair: what disturbs the machine for longer than a round disturbs both. The logarithms
 * of their ratios are taken as normal: their mean is that of the ratio (geometric), with the 95 % interval of Student.
 */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static inline int bench_by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* Of sorted values: the one below or at which a share of all lies. */
static inline double bench_quantile(const double *sorted, int64_t count, double share) {
  int64_t at = (int64_t)(share * (double)count);
  return sorted[at < count ? at : count - 1];
}

/* Sorts. */
static inline double bench_median(double *value, int64_t count) {
  qsort(value, (size_t)count, sizeof *value, bench_by_value);
  double upper = bench_quantile(value, count, 0.5);
  return count % 2 != 0 ? upper : (upper + value[count / 2 - 1]) / 2;
}

/* Student's t: 2.5 % of its distribution with so many degrees of freedom, at least 1, lie above. From 30 on by the
 * first terms of the expansion in 1 / freedom around the normal distribution. */
static inline double bench_student(int64_t freedom) {
  static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                 2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                 2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045};
  const double z = 1.959964, n = (double)freedom;
  if (freedom <= (int64_t)(sizeof table / sizeof *table))
    return table[freedom - 1];
  return z + (z * z * z + z) / (4 * n) + (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * n * n);
}

typedef struct bench_interval {
  double middle, low, high; /* low and high are 0 for a single pair: nothing is known */
} bench_interval;

/* Of the ratios other / own, pair by pair. */
static inline bench_interval bench_interval_of(const double *other, const double *own, int64_t count) {
  double sum = 0, squares = 0, mean;
  for (int64_t i = 0; i < count; i++)
    sum += log(other[i] / own[i]);
  mean = sum / (double)count;
  for (int64_t i = 0; i < count; i++)
    squares += pow(log(other[i] / own[i]) - mean, 2);
  if (count < 2)
    return (bench_interval){exp(mean), 0, 0};
  double width = bench_student(count - 1) * sqrt(squares / (double)(count - 1) / (double)count);
  return (bench_interval){exp(mean), exp(mean - width), exp(mean + width)};
}

#endif

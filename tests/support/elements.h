/* tests/support/elements.h - small numbers as elements of every type, and what they combine to.
 *
 * All inputs are whole numbers small enough that sums and products of up to 64 ranks are exact in every type; only an
 * average may have to be rounded, once. So a result has one right value, to the bit. */
#ifndef TEST_SUPPORT_ELEMENTS_H
#define TEST_SUPPORT_ELEMENTS_H

#include <tutti/types.h>

#include <stdint.h>
#include <string.h>

/* The nearest binary16 of a number that is zero or normal there. */
static inline uint16_t element_half(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  uint32_t rounded = (size + 0xfff + (size >> 13 & 1)) >> 13;
  return (uint16_t)(size == 0 ? sign : sign | (rounded - (112u << 10))); /* its exponent's bias is 112 less */
}

/* The nearest bfloat16. */
static inline uint16_t element_brief(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline void element_put(tutti_type type, void *to, double value) {
  float narrow = (float)value;
  int32_t whole = (int32_t)(type == TUTTI_INT32 ? value : 0);
  int64_t wide = (int64_t)value;
  uint16_t half = type == TUTTI_FLOAT16 ? element_half(narrow) : element_brief(narrow);
  const void *const from[TUTTI_TYPE_COUNT] = {&narrow, &value, &whole, &wide, &half, &half};
  memcpy(to, from[type], tutti_type_size(type));
}

static inline int element_is_whole(tutti_type type) { return type == TUTTI_INT32 || type == TUTTI_INT64; }

/* Element `index` of rank's input; `round` makes another input. */
static inline double element_value(tutti_type type, tutti_op op, int64_t rank, int64_t index, int64_t round) {
  uint32_t mixed = (uint32_t)(rank * 7919 + index * 104729 + round * 1299709 + 1) * 2654435761u;
  mixed ^= mixed >> 15;
  if (op == TUTTI_PRODUCT)
    return (mixed & 1 ? -1 : 1) * (rank < 8 && mixed & 2 ? 2 : 1);
  if (op == TUTTI_MIN || op == TUTTI_MAX)
    return (double)(mixed % 201) - 100;
  return ((double)(mixed % 7) - 3) * (type == TUTTI_INT64 ? 8589934592.0 : 1); /* beyond 32 bits where there are more */
}

/* A sum of `rank_count` elements, divided as an average of that type is. */
static inline double element_average(tutti_type type, double sum, int64_t rank_count) {
  if (element_is_whole(type))
    return (double)((int64_t)sum / rank_count);
  return type == TUTTI_FLOAT64 ? sum / (double)rank_count : (double)((float)sum / (float)rank_count);
}

/* What all ranks' elements of that index combine to. */
static inline double element_combined(tutti_type type, tutti_op op, int64_t rank_count, int64_t index, int64_t round) {
  double all = element_value(type, op, 0, index, round);
  for (int64_t rank = 1; rank < rank_count; rank++) {
    double value = element_value(type, op, rank, index, round);
    if (op == TUTTI_PRODUCT)
      all *= value;
    else if (op == TUTTI_MIN)
      all = value < all ? value : all;
    else if (op == TUTTI_MAX)
      all = value > all ? value : all;
    else
      all += value;
  }
  return op == TUTTI_AVERAGE ? element_average(type, all, rank_count) : all;
}

#endif

/* bench/values.h - what ranks put into their vectors, and what has to come out: of every type and operator.
 *
 * Element i of rank r comes from ((i mod P) * (2r + 3)) mod P with P = 1021 prime: values depend on rank and index, and
 * shift by every power of two. They are whole numbers, so few or so small that results are exact in every type; only an
 * average may be rounded, once. So every result has one right value, to the bit.
 *
 * A vector repeats after P elements: one period of it, as bytes, is all that is made. */
#ifndef BENCH_VALUES_H
#define BENCH_VALUES_H

#include "dtype/dtype.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BENCH_PERIOD 1021
#define BENCH_ELEMENT_MOST 32 /* bytes of the largest type */

typedef struct bench_range {
  size_t at, bytes;
} bench_range;

/* A row of dtype/types.inc. */
typedef struct bench_type {
  size_t size;
  tt_kind kind;
  tutti_type part;
  int digits;
} bench_type;

#define TT_TYPE(id, name, kind, element, part, digits, mpi, about)                                                     \
  [TUTTI_##id] = {sizeof(element), TT_KIND_##kind, TUTTI_##part, digits},
static const bench_type bench_types[TUTTI_TYPE_COUNT] = {
#include "dtype/types.inc"
};

#define BENCH_LARGE 1000000
#define BENCH_LARGE_OF_PAIRS 30000
#define BENCH_LONG_DOUBLE (LDBL_MANT_DIG == 64 ? 10 : sizeof(long double)) /* x87's has padding */

static inline const bench_type *bench_part_of(tutti_type type) { return &bench_types[bench_types[type].part]; }

static inline bool bench_is_pair(tutti_type type) { return bench_types[type].kind == TT_KIND_PAIR; }

static inline bool bench_is_complex(tutti_type type) { return bench_types[type].kind == TT_KIND_COMPLEX; }

/* How large whole numbers may become. */
static inline int64_t bench_most(tutti_type type) {
  const bench_type *part = bench_part_of(type);
  int64_t large = bench_is_pair(type) ? BENCH_LARGE_OF_PAIRS : BENCH_LARGE;
  int64_t most = ((int64_t)1 << (part->digits < 40 ? part->digits : 40)) - (part->kind != TT_KIND_FLOAT);
  return most < large ? most : large;
}

/* Bytes that have a meaning: all but padding. */
static inline bench_range bench_value_range(tutti_type type) {
  const bench_type *part = bench_part_of(type);
  bool is_long = part->kind == TT_KIND_FLOAT && part->digits == LDBL_MANT_DIG;
  return (bench_range){0, is_long ? BENCH_LONG_DOUBLE : part->size};
}

/* Of the imaginary part or the index; of no bytes where there is none. */
static inline bench_range bench_second_range(tutti_type type) {
  size_t at = bench_part_of(type)->size;
  if (bench_is_complex(type))
    return (bench_range){at, bench_value_range(type).bytes};
  at = at < sizeof(int32_t) ? sizeof(int32_t) : at;
  return bench_is_pair(type) ? (bench_range){at, sizeof(int32_t)} : (bench_range){0, 0};
}

/* ---- numbers ---- */

/* `second` is the imaginary part or the index where the type has one, else 0. */
typedef struct bench_number {
  long double value;
  int32_t second;
} bench_number;

/* What is done with elements: combined (op), or moved (op = BENCH_MOVED). */
#define BENCH_MOVED (-1)
typedef struct bench_arithmetic {
  tutti_type type;
  int32_t op;
  int32_t ranks;
} bench_arithmetic;

/* 1 or 0; true for about one rank at half of the indices. */
static inline int32_t bench_seldom(int64_t raw, int32_t ranks) { return raw % (2 * ranks) == 0; }

static inline int32_t bench_value(const bench_arithmetic *with, int64_t rank, int64_t raw) {
  int64_t most = bench_most(with->type), bits = most < 127 ? most : 127;
  switch (with->op) {
  case TUTTI_SUM:
  case TUTTI_AVERAGE:
    return (int32_t)(raw % (most / with->ranks + 1));
  case TUTTI_PRODUCT:
    return raw % 2 && rank < 6 ? 2 : 1;
  case TUTTI_MIN_LOC:
  case TUTTI_MAX_LOC:
    return (int32_t)(raw % 5); /* equal ones, too */
  case TUTTI_LOGICAL_AND:
    return !bench_seldom(raw, with->ranks);
  case TUTTI_LOGICAL_OR:
    return bench_seldom(raw, with->ranks);
  case TUTTI_LOGICAL_XOR:
    return (int32_t)(raw % 2);
  case TUTTI_BIT_AND:
    return (int32_t)(bits & ~(bench_seldom(raw, with->ranks) << raw / 7 % 7));
  case TUTTI_BIT_OR:
    return (int32_t)(bits & bench_seldom(raw, with->ranks) << raw / 7 % 7);
  case TUTTI_BIT_XOR:
    return (int32_t)(bits & raw);
  default:
    return (int32_t)(raw % (most + 1));
  }
}

static inline int64_t bench_raw(int64_t rank, int64_t index) {
  return index % BENCH_PERIOD * ((2 * rank + 3) % BENCH_PERIOD) % BENCH_PERIOD;
}

/* Element `index` of a rank's vector. */
static inline bench_number bench_element(const bench_arithmetic *with, int64_t rank, int64_t index) {
  bench_number number = {bench_value(with, rank, bench_raw(rank, index)), 0};
  if (bench_is_pair(with->type))
    number.second = (int32_t)rank;
  else if (bench_is_complex(with->type) && with->op != TUTTI_PRODUCT)
    number.second = bench_value(with, rank, bench_raw(rank + 7, index));
  return number;
}

static inline long double bench_combined(int32_t op, long double a, long double b) {
  int64_t left = (int64_t)a, right = (int64_t)b;
  switch (op) {
  case TUTTI_PRODUCT:
    return a * b;
  case TUTTI_MIN:
  case TUTTI_MIN_LOC:
    return a < b ? a : b;
  case TUTTI_MAX:
  case TUTTI_MAX_LOC:
    return a > b ? a : b;
  case TUTTI_LOGICAL_AND:
  case TUTTI_BIT_AND:
    return (long double)(left & right);
  case TUTTI_LOGICAL_OR:
  case TUTTI_BIT_OR:
    return (long double)(left | right);
  case TUTTI_LOGICAL_XOR:
  case TUTTI_BIT_XOR:
    return (long double)(left ^ right);
  default:
    return a + b;
  }
}

/* `next` is of a later rank than all that are in `sum`. */
static inline bench_number bench_combine(const bench_arithmetic *with, bench_number sum, bench_number next) {
  bench_number result = {bench_combined(with->op, sum.value, next.value), sum.second + next.second};
  if (bench_is_pair(with->type))
    result.second = result.value == sum.value ? sum.second : next.second;
  return result;
}

/* A sum divided as an average of that type is. */
static inline long double bench_quotient(tutti_type type, long double sum, int32_t by) {
  const bench_type *is = &bench_types[type];
  if (is->kind != TT_KIND_FLOAT)
    return (long double)((int64_t)sum / by);
  if (is->digits <= FLT_MANT_DIG)
    return (float)sum / (float)by;
  return is->digits == DBL_MANT_DIG ? (double)sum / (double)by : sum / (long double)by;
}

/* What the elements of ranks first..last at `index` come to. */
static inline bench_number bench_result_of(const bench_arithmetic *with, int32_t first, int32_t last, int64_t index) {
  bench_number sum = bench_element(with, first, index);
  for (int32_t rank = first + 1; rank <= last; rank++)
    sum = bench_combine(with, sum, bench_element(with, rank, index));
  if (with->op == TUTTI_AVERAGE)
    sum.value = bench_quotient(with->type, sum.value, last - first + 1);
  return sum;
}

/* ---- as bytes ---- */

/* The nearest float with `bits` bits less in its fraction: 16 for bfloat16, 13 for float16, whose exponent is shorter,
 * too. Zero, or normal in both. */
static inline uint16_t bench_half(float value, int bits) {
  uint32_t all;
  memcpy(&all, &value, sizeof all);
  uint32_t rounded = (all + (1u << (bits - 1)) - 1 + (all >> bits & 1)) >> bits;
  return (uint16_t)(bits == 16 || value == 0 ? rounded : rounded - (112u << 10)); /* 127 - 15 */
}

#define BENCH_PUT(type, number)                                                                                        \
  {                                                                                                                    \
    type put = (type)(number);                                                                                         \
    memcpy(to, &put, sizeof put);                                                                                      \
  }

static inline void bench_put_float(int digits, long double value, void *to) {
  if (digits < FLT_MANT_DIG)
    BENCH_PUT(uint16_t, bench_half((float)value, FLT_MANT_DIG - digits))
  else if (digits == FLT_MANT_DIG)
    BENCH_PUT(float, value)
  else if (digits == DBL_MANT_DIG)
    BENCH_PUT(double, value)
  else
    BENCH_PUT(long double, value)
}

static inline void bench_put_whole(size_t size, long double value, void *to) {
  if (size == sizeof(int64_t))
    BENCH_PUT(int64_t, value)
  else if (size == sizeof(int32_t))
    BENCH_PUT(int32_t, value)
  else if (size == sizeof(int16_t))
    BENCH_PUT(uint16_t, value)
  else
    BENCH_PUT(uint8_t, value)
}

static inline void bench_put_part(const bench_type *part, long double value, void *to) {
  if (part->kind == TT_KIND_FLOAT)
    bench_put_float(part->digits, value, to);
  else
    bench_put_whole(part->size, value, to);
}

static inline void bench_put(tutti_type type, bench_number number, unsigned char *to) {
  unsigned char *second = to + bench_second_range(type).at;
  memset(to, 0, bench_types[type].size);
  bench_put_part(bench_part_of(type), number.value, to);
  if (bench_is_pair(type))
    memcpy(second, &number.second, sizeof number.second);
  if (bench_is_complex(type))
    bench_put_part(bench_part_of(type), number.second, second);
}

/* ---- vectors ---- */

typedef struct bench_period {
  tutti_type type;
  size_t bytes;
  unsigned char data[BENCH_PERIOD * BENCH_ELEMENT_MOST];
} bench_period;

/* Of rank first's elements, or of what those of ranks first..last come to. */
static inline void bench_period_make(const bench_arithmetic *with, int32_t first, int32_t last, bench_period *period) {
  size_t size = bench_types[with->type].size;
  period->type = with->type;
  period->bytes = size * BENCH_PERIOD;
  for (int64_t i = 0; i < BENCH_PERIOD; i++)
    bench_put(with->type, bench_result_of(with, first, last, i), period->data + (size_t)i * size);
}

static inline void bench_fill(void *data, int64_t count, const bench_period *period) {
  size_t left = (size_t)count * bench_types[period->type].size;
  for (unsigned char *to = data; left > 0;) {
    size_t bytes = left < period->bytes ? left : period->bytes;
    memcpy(to, period->data, bytes);
    to += bytes;
    left -= bytes;
  }
}

static inline bool bench_equal(const bench_range *range, const unsigned char *a, const unsigned char *b) {
  return memcmp(a + range->at, b + range->at, range->bytes) == 0;
}

/* The first of `count` elements that differs from element `first`.. of the vector, or -1. */
static inline int64_t bench_compare(const void *data, int64_t first, int64_t count, const bench_period *period) {
  size_t size = bench_types[period->type].size;
  const bench_range value = bench_value_range(period->type), second = bench_second_range(period->type);
  const unsigned char *at = data, *expected = period->data + (size_t)(first % BENCH_PERIOD) * size;
  for (int64_t i = 0; i < count; i++, at += size, expected += size) {
    if (expected == period->data + period->bytes)
      expected = period->data;
    if (!bench_equal(&value, at, expected) || !bench_equal(&second, at, expected))
      return i;
  }
  return -1;
}

#endif

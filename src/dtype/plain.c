/* dtype/plain.c - the kernels that all sets share, an element at a time: long double, products of complex numbers,
 * pairs of a value and an index, and division of integers.
 *
 * An element is copied to a variable and back, whatever its alignment. Padding, in long double and in pairs, is zero in
 * results: as everything else, it must not depend on the processor or on the order of the operands. */
#include "dtype/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* operator_type_all, of a function operator_type of two elements, which put_type writes. */
#define KERNEL(operator, type)                                                                                         \
  static void operator##_##type##_all(const void *left, const void *right, void *out, size_t count,                    \
                                      bool nontemporal) {                                                              \
    (void)nontemporal;                                                                                                 \
    for (size_t at = 0; at < count * sizeof(type); at += sizeof(type)) {                                               \
      type a, b;                                                                                                       \
      memcpy(&a, (const char *)left + at, sizeof a);                                                                   \
      memcpy(&b, (const char *)right + at, sizeof b);                                                                  \
      put_##type((char *)out + at, operator##_##type(a, b));                                                           \
    }                                                                                                                  \
  }

/* Of `bytes`, so many are not padding. */
#define PUT(type, bytes)                                                                                               \
  static inline void put_##type(char *to, type value) {                                                                \
    memset(to, 0, sizeof value);                                                                                       \
    memcpy(to, &value, bytes);                                                                                         \
  }

typedef long double long_double;
enum { LONG_DOUBLE_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) }; /* x87: ten in twelve or sixteen */

PUT(float, sizeof(float))
PUT(double, sizeof(double))
PUT(long_double, LONG_DOUBLE_BYTES)
PUT(int16_t, sizeof(int16_t))
PUT(int32_t, sizeof(int32_t))
PUT(int64_t, sizeof(int64_t))

/* ---- order ----
 *
 * first_type: > 0 if `a` goes before `b`, < 0 if after it, 0 if they are equal. A NaN goes before all numbers and -0 is
 * less than +0, as for minimum and maximum of vectors. */

enum { LEAST = 1, GREATEST = -1 }; /* which goes first */

#define INTEGER(type)                                                                                                  \
  static inline type settled_##type(type value) { return value; }                                                      \
  static inline int first_##type(type a, type b, int way) { return way * 2 * ((a < b) - (b < a)); }
INTEGER(int16_t)
INTEGER(int32_t)
INTEGER(int64_t)

#define FLOATING(type)                                                                                                 \
  static inline type settled_##type(type value) { return isnan(value) ? (type)NAN : value; }                           \
  static inline int negative_##type(type value) { return !isnan(value) && signbit(value); }                            \
  static inline int first_##type(type a, type b, int way) {                                                            \
    int order = (a < b) - (b < a);                                                                                     \
    if (order != 0)                                                                                                    \
      return way * 2 * order;                                                                                          \
    return 4 * (!!isnan(a) - !!isnan(b)) + way * 2 * (negative_##type(a) - negative_##type(b));                        \
  }
FLOATING(float)
FLOATING(double)
FLOATING(long_double)

/* ---- long double ---- */

static inline long_double sum_long_double(long_double a, long_double b) { return settled_long_double(a + b); }
static inline long_double product_long_double(long_double a, long_double b) { return settled_long_double(a * b); }
static inline long_double min_long_double(long_double a, long_double b) {
  return settled_long_double(first_long_double(a, b, LEAST) > 0 ? a : b);
}
static inline long_double max_long_double(long_double a, long_double b) {
  return settled_long_double(first_long_double(a, b, GREATEST) > 0 ? a : b);
}
KERNEL(sum, long_double)
KERNEL(product, long_double)
KERNEL(min, long_double)
KERNEL(max, long_double)

static void divide_long_double(void *data, size_t count, int64_t divisor) {
  char *at = data;
  for (size_t n = 0; n < count; n++, at += sizeof(long_double)) {
    long_double value;
    memcpy(&value, at, sizeof value);
    put_long_double(at, settled_long_double(value / (long_double)divisor));
  }
}

/* ---- complex numbers: the schoolbook product; no infinity is saved from being NaN ---- */

#define COMPLEX(name, type)                                                                                            \
  typedef struct name {                                                                                                \
    type re, im;                                                                                                       \
  } name;                                                                                                              \
  static inline void put_##name(char *to, name value) {                                                                \
    put_##type(to, settled_##type(value.re));                                                                          \
    put_##type(to + sizeof(type), settled_##type(value.im));                                                           \
  }                                                                                                                    \
  static inline name product_##name(name a, name b) {                                                                  \
    return (name){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};                                               \
  }                                                                                                                    \
  KERNEL(product, name)
COMPLEX(complex64, float)
COMPLEX(complex128, double)
COMPLEX(complex_long, long_double)

static inline complex_long sum_complex_long(complex_long a, complex_long b) {
  return (complex_long){a.re + b.re, a.im + b.im};
}
KERNEL(sum, complex_long)

/* ---- pairs ---- */

#define PAIR(name, type)                                                                                               \
  typedef TT_DTYPE_PAIR(type) name;                                                                                    \
  static inline void put_##name(char *to, name pair) {                                                                 \
    memset(to, 0, sizeof pair);                                                                                        \
    put_##type(to + offsetof(name, value), settled_##type(pair.value));                                                \
    memcpy(to + offsetof(name, index), &pair.index, sizeof pair.index);                                                \
  }                                                                                                                    \
  static inline name first_##name(name a, name b, int way) {                                                           \
    return first_##type(a.value, b.value, way) + (a.index < b.index) - (b.index < a.index) > 0 ? a : b;                \
  }                                                                                                                    \
  static inline name min_loc_##name(name a, name b) { return first_##name(a, b, LEAST); }                              \
  static inline name max_loc_##name(name a, name b) { return first_##name(a, b, GREATEST); }                           \
  KERNEL(min_loc, name)                                                                                                \
  KERNEL(max_loc, name)
PAIR(float32_int32, float)
PAIR(float64_int32, double)
PAIR(int16_int32, int16_t)
PAIR(int32_int32, int32_t)
PAIR(int64_int32, int64_t)
PAIR(long_double_int32, long_double)

/* ---- integers ---- */

#define DIVIDE(type, wide)                                                                                             \
  static void divide_##type(void *data, size_t count, int64_t divisor) {                                               \
    char *at = data;                                                                                                   \
    for (size_t n = 0; n < count; n++, at += sizeof(type)) {                                                           \
      type value;                                                                                                      \
      memcpy(&value, at, sizeof value);                                                                                \
      value = (type)((wide)value / (wide)divisor);                                                                     \
      memcpy(at, &value, sizeof value);                                                                                \
    }                                                                                                                  \
  }
DIVIDE(int8_t, int64_t)
DIVIDE(int16_t, int64_t)
DIVIDE(int32_t, int64_t)
DIVIDE(int64_t, int64_t)
DIVIDE(uint8_t, uint64_t)
DIVIDE(uint16_t, uint64_t)
DIVIDE(uint32_t, uint64_t)
DIVIDE(uint64_t, uint64_t)

#define ROW_PAIR(name) {[TUTTI_MIN_LOC] = min_loc_##name##_all, [TUTTI_MAX_LOC] = max_loc_##name##_all}

const tt_dtype_set tt_dtype_plain = {
    .name = "plain",
    .combine =
        {
            [TUTTI_LONG_DOUBLE] = {sum_long_double_all, product_long_double_all, min_long_double_all,
                                   max_long_double_all},
            [TUTTI_COMPLEX64] = {[TUTTI_PRODUCT] = product_complex64_all},
            [TUTTI_COMPLEX128] = {[TUTTI_PRODUCT] = product_complex128_all},
            [TUTTI_LONG_DOUBLE_COMPLEX] = {sum_complex_long_all, product_complex_long_all},
            [TUTTI_FLOAT32_INT32] = ROW_PAIR(float32_int32),
            [TUTTI_FLOAT64_INT32] = ROW_PAIR(float64_int32),
            [TUTTI_INT16_INT32] = ROW_PAIR(int16_int32),
            [TUTTI_INT32_INT32] = ROW_PAIR(int32_int32),
            [TUTTI_INT64_INT32] = ROW_PAIR(int64_int32),
            [TUTTI_LONG_DOUBLE_INT32] = ROW_PAIR(long_double_int32),
        },
    .divide =
        {
            [TUTTI_INT8] = divide_int8_t,
            [TUTTI_INT16] = divide_int16_t,
            [TUTTI_INT32] = divide_int32_t,
            [TUTTI_INT64] = divide_int64_t,
            [TUTTI_UINT8] = divide_uint8_t,
            [TUTTI_UINT16] = divide_uint16_t,
            [TUTTI_UINT32] = divide_uint32_t,
            [TUTTI_UINT64] = divide_uint64_t,
            [TUTTI_LONG_DOUBLE] = divide_long_double,
        },
};

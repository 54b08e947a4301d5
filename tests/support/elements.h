/* tests/support/elements.h - small numbers as elements of every type, and what they combine to.
 *
 * All inputs are whole numbers small enough that sums and products of up to 64 ranks are exact in every float type; in
 * short integers they wrap, as they do in tutti. Only an average may have to be rounded, once. So a result has one
 * right value, to the bit. Complex numbers have no imaginary part, pairs an index beside the value. */
#ifndef TEST_SUPPORT_ELEMENTS_H
#define TEST_SUPPORT_ELEMENTS_H

#include "dtype/dtype.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct element {
  long double value;
  int32_t index; /* of pairs */
} element;

typedef enum element_kind {
  ELEMENT_FLOAT,
  ELEMENT_SIGNED,
  ELEMENT_UNSIGNED,
  ELEMENT_TRUTH,
  ELEMENT_HALF,
  ELEMENT_BRIEF
} element_kind;

/* Where an element has its value, and what else. */
typedef struct element_layout {
  element_kind kind;
  size_t value_bytes; /* without padding */
  size_t index_at;    /* 0: there is none */
  size_t second_at;   /* of complex numbers: the imaginary part; 0: there is none */
} element_layout;

enum { ELEMENT_LONG_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

static inline element_kind element_kind_of(tt_kind kind, int digits) {
  switch (kind) {
  case TT_KIND_FLOAT:
    return digits == 11 ? ELEMENT_HALF : digits == 8 ? ELEMENT_BRIEF : ELEMENT_FLOAT;
  case TT_KIND_SIGNED:
    return ELEMENT_SIGNED;
  case TT_KIND_BOOL:
    return ELEMENT_TRUTH;
  default:
    return ELEMENT_UNSIGNED;
  }
}

static inline element_layout element_layout_of(tutti_type type) {
#define TT_TYPE(id, name, kind, element, part, digits, mpi, about)                                                     \
  [TUTTI_##id] = {TT_KIND_##kind, TUTTI_##part, digits, sizeof(element)},
  static const struct {
    tt_kind kind;
    tutti_type part;
    int digits;
    size_t bytes;
  } types[TUTTI_TYPE_COUNT] = {
#include "dtype/types.inc"
  };
  tutti_type part = types[type].part;
  size_t bytes = types[part].bytes;
  bool is_long = types[part].kind == TT_KIND_FLOAT && types[part].digits == LDBL_MANT_DIG;
  return (element_layout){.kind = element_kind_of(types[part].kind, types[part].digits),
                          .value_bytes = is_long ? ELEMENT_LONG_BYTES : bytes,
                          .index_at = types[type].kind != TT_KIND_PAIR ? 0
                                      : bytes < sizeof(int32_t)        ? sizeof(int32_t)
                                                                       : bytes,
                          .second_at = types[type].kind == TT_KIND_COMPLEX ? bytes : 0};
}

/* Whether that byte of an element says nothing. */
static inline bool element_is_padding(tutti_type type, size_t byte) {
  element_layout layout = element_layout_of(type);
  bool in_value = byte < layout.value_bytes, in_index = byte - layout.index_at < sizeof(int32_t) && layout.index_at;
  bool in_second = byte - layout.second_at < layout.value_bytes && layout.second_at;
  return !in_value && !(byte >= layout.index_at && in_index) && !(byte >= layout.second_at && in_second);
}

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

/* What is not said, such as padding, is 0. */
static inline void element_write(tutti_type type, void *to, element of) {
  element_layout layout = element_layout_of(type);
  float narrow = (float)of.value;
  double middle = (double)of.value;
  int64_t whole = layout.kind == ELEMENT_TRUTH ? of.value != 0 : (int64_t)of.value;
  uint16_t half = layout.kind == ELEMENT_HALF ? element_half(narrow) : element_brief(narrow);
  const void *from = layout.kind >= ELEMENT_HALF    ? (const void *)&half
                     : layout.kind != ELEMENT_FLOAT ? (const void *)&whole /* little endian: its lower bytes */
                     : layout.value_bytes == 4      ? (const void *)&narrow
                     : layout.value_bytes == 8      ? (const void *)&middle
                                                    : (const void *)&of.value;
  memset(to, 0, tutti_type_size(type));
  memcpy(to, from, layout.value_bytes);
  if (layout.index_at)
    memcpy((char *)to + layout.index_at, &of.index, sizeof of.index);
}

static inline void element_put(tutti_type type, void *to, double value) {
  element_write(type, to, (element){.value = value});
}

/* ---- inputs ---- */

static inline bool element_has_sign(tutti_type type) {
  return element_layout_of(type).kind != ELEMENT_UNSIGNED && element_layout_of(type).kind != ELEMENT_TRUTH;
}

static inline bool element_is_whole(tutti_type type) {
  element_kind kind = element_layout_of(type).kind;
  return kind == ELEMENT_SIGNED || kind == ELEMENT_UNSIGNED || kind == ELEMENT_TRUTH;
}

/* Element `index` of rank's input; `round` makes another input. */
static inline element element_value(tutti_type type, tutti_op op, int64_t rank, int64_t index, int64_t round) {
  uint32_t mixed = (uint32_t)(rank * 7919 + index * 104729 + round * 1299709 + 1) * 2654435761u;
  bool sign = element_has_sign(type) && !element_layout_of(type).second_at; /* no imaginary part of -0 */
  mixed ^= mixed >> 15;
  element made = {0, (int32_t)(mixed >> 8 & 7)};
  if (element_layout_of(type).kind == ELEMENT_TRUTH || (op >= TUTTI_LOGICAL_AND && op <= TUTTI_LOGICAL_XOR))
    made.value = mixed % 3 != 0;
  else if (op == TUTTI_PRODUCT)
    made.value = (sign && mixed & 1 ? -1 : 1) * (rank < 8 && mixed & 2 ? 2 : 1);
  else if (op == TUTTI_MIN_LOC || op == TUTTI_MAX_LOC)
    made.value = mixed % 3; /* some are equal, and the index decides */
  else if (op == TUTTI_MIN || op == TUTTI_MAX || op >= TUTTI_BIT_AND)
    made.value = (int)(mixed % 101) - (sign && op < TUTTI_BIT_AND ? 50 : 0);
  else if (op == TUTTI_AVERAGE)
    made.value = (int)(mixed % 3) - sign; /* the sum must not wrap */
  else
    made.value = ((int)(mixed % 7) - (sign ? 3 : 0)) *
                 (tutti_type_size(type) == 8 && element_is_whole(type) ? 8589934592.0 : 1); /* beyond 32 bits */
  return made;
}

/* ---- results ---- */

static inline element element_pick(element a, element b, bool first) {
  bool b_wins = b.value != a.value ? (b.value < a.value) == first : b.index < a.index;
  return b_wins ? b : a;
}

static inline long double element_joined(tutti_op op, long double a, long double b) {
  switch (op) {
  case TUTTI_PRODUCT:
    return a * b;
  case TUTTI_MIN:
    return b < a ? b : a;
  case TUTTI_MAX:
    return b > a ? b : a;
  case TUTTI_LOGICAL_AND:
    return a != 0 && b != 0;
  case TUTTI_LOGICAL_OR:
    return a != 0 || b != 0;
  case TUTTI_LOGICAL_XOR:
    return (a != 0) != (b != 0);
  case TUTTI_BIT_AND:
    return (long double)((int64_t)a & (int64_t)b);
  case TUTTI_BIT_OR:
    return (long double)((int64_t)a | (int64_t)b);
  case TUTTI_BIT_XOR:
    return (long double)((int64_t)a ^ (int64_t)b);
  default:
    return a + b;
  }
}

/* A sum of `rank_count` elements, divided as an average of that type is. */
static inline long double element_average(tutti_type type, long double sum, int64_t rank_count) {
  if (element_is_whole(type))
    return (long double)((int64_t)sum / rank_count);
  if (type == TUTTI_LONG_DOUBLE)
    return sum / (long double)rank_count;
  return type == TUTTI_FLOAT64 ? (double)sum / (double)rank_count : (float)sum / (float)rank_count;
}

/* What elements of that index of ranks 0 .. rank_count - 1 combine to, in any order. */
static inline element element_combined(tutti_type type, tutti_op op, int64_t rank_count, int64_t index, int64_t round) {
  element all = element_value(type, op, 0, index, round);
  for (int64_t rank = 1; rank < rank_count; rank++) {
    element next = element_value(type, op, rank, index, round);
    if (op == TUTTI_MIN_LOC || op == TUTTI_MAX_LOC)
      all = element_pick(all, next, op == TUTTI_MIN_LOC);
    else
      all.value = element_joined(op, all.value, next.value);
  }
  if (op == TUTTI_AVERAGE)
    all.value = element_average(type, all.value, rank_count);
  return all;
}

#endif

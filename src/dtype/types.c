/* dtype/types.c - what the types and operators are: one row for each, which tests, benchmarks and docs/types.md go
 * through. Kernels for a new row: kernels_set.inc or plain.c. */
#include "dtype/dtype.h"

#include <complex.h>
#include <string.h>

#define ROW(name, type, kind, about) {name, sizeof(type), _Alignof(type), TT_KIND_##kind, about}
#define PAIR(name, value, about) ROW(name, TT_DTYPE_PAIR(value), PAIR, about)

static const tt_type_row types[] = {
    [TUTTI_FLOAT32] = ROW("float32", float, FLOAT, "IEEE 754 binary32"),
    [TUTTI_FLOAT64] = ROW("float64", double, FLOAT, "IEEE 754 binary64"),
    [TUTTI_INT32] = ROW("int32", int32_t, SIGNED, "`int32_t`"),
    [TUTTI_INT64] = ROW("int64", int64_t, SIGNED, "`int64_t`"),
    [TUTTI_FLOAT16] = ROW("float16", uint16_t, FLOAT, "IEEE 754 binary16; combined in float32"),
    [TUTTI_BFLOAT16] = ROW("bfloat16", uint16_t, FLOAT, "upper half of float32; combined in float32"),
    [TUTTI_INT8] = ROW("int8", int8_t, SIGNED, "`int8_t`"),
    [TUTTI_UINT8] = ROW("uint8", uint8_t, UNSIGNED, "`uint8_t`"),
    [TUTTI_INT16] = ROW("int16", int16_t, SIGNED, "`int16_t`"),
    [TUTTI_UINT16] = ROW("uint16", uint16_t, UNSIGNED, "`uint16_t`"),
    [TUTTI_UINT32] = ROW("uint32", uint32_t, UNSIGNED, "`uint32_t`"),
    [TUTTI_UINT64] = ROW("uint64", uint64_t, UNSIGNED, "`uint64_t`"),
    [TUTTI_LONG_DOUBLE] = ROW("long-double", long double, FLOAT, "`long double` of this machine"),
    [TUTTI_COMPLEX64] = ROW("complex64", float complex, COMPLEX, "two float32: real, imaginary"),
    [TUTTI_COMPLEX128] = ROW("complex128", double complex, COMPLEX, "two float64"),
    [TUTTI_LONG_DOUBLE_COMPLEX] = ROW("long-double-complex", long double complex, COMPLEX, "two long double"),
    [TUTTI_BOOL] = ROW("bool", uint8_t, BOOL, "0 is false, all else true; results are 0 or 1"),
    [TUTTI_BYTE] = ROW("byte", uint8_t, BYTE, "bits without a value"),
    [TUTTI_FLOAT32_INT32] = PAIR("float32-int32", float, "`struct { float value; int32_t index; }`"),
    [TUTTI_FLOAT64_INT32] = PAIR("float64-int32", double, "`struct { double value; int32_t index; }`"),
    [TUTTI_INT16_INT32] = PAIR("int16-int32", int16_t, "`struct { int16_t value; int32_t index; }`"),
    [TUTTI_INT32_INT32] = PAIR("int32-int32", int32_t, "`struct { int32_t value; int32_t index; }`"),
    [TUTTI_INT64_INT32] = PAIR("int64-int32", int64_t, "`struct { int64_t value; int32_t index; }`"),
    [TUTTI_LONG_DOUBLE_INT32] =
        PAIR("long-double-int32", long double, "`struct { long double value; int32_t index; }`"),
};
_Static_assert(TT_COUNT(types) == TUTTI_TYPE_COUNT, "a row for each type");

#define KIND(kind) (1u << TT_KIND_##kind)

enum {
  INTEGER = KIND(SIGNED) | KIND(UNSIGNED),
  REAL = INTEGER | KIND(FLOAT),
  NUMBER = REAL | KIND(COMPLEX),
  TRUTH = INTEGER | KIND(BOOL),
  BITS = TRUTH | KIND(BYTE),
  PAIR_ONLY = KIND(PAIR)
};

static const tt_op_row ops[] = {
    [TUTTI_SUM] = {"sum", NUMBER, "a + b; integers wrap"},
    [TUTTI_PRODUCT] = {"product", NUMBER, "a * b; integers wrap; (a+bi)(c+di) = (ac - bd) + (ad + bc)i"},
    [TUTTI_MIN] = {"min", REAL, "the lesser; NaN if either is NaN; -0 is less than +0"},
    [TUTTI_MAX] = {"max", REAL, "the greater; NaN if either is NaN; -0 is less than +0"},
    [TUTTI_AVERAGE] =
        {"average", REAL,
         "the sum, divided at the end; a sum of integers wraps before the division, which drops the rest"},
    [TUTTI_MIN_LOC] = {"min-loc", PAIR_ONLY,
                       "the pair with the least value; among equal values the least index; NaN first"},
    [TUTTI_MAX_LOC] = {"max-loc", PAIR_ONLY,
                       "the pair with the greatest value; among equal values the least index; NaN first"},
    [TUTTI_LOGICAL_AND] = {"logical-and", TRUTH, "1 if neither is 0, else 0"},
    [TUTTI_LOGICAL_OR] = {"logical-or", TRUTH, "0 if both are 0, else 1"},
    [TUTTI_LOGICAL_XOR] = {"logical-xor", TRUTH, "1 if exactly one of them is 0, else 0"},
    [TUTTI_BIT_AND] = {"bit-and", BITS, "for each bit; for bool as logical-and"},
    [TUTTI_BIT_OR] = {"bit-or", BITS, "for each bit; for bool as logical-or"},
    [TUTTI_BIT_XOR] = {"bit-xor", BITS, "for each bit; for bool as logical-xor"},
};
_Static_assert(TT_COUNT(ops) == TUTTI_OP_COUNT, "a row for each operator");

const tt_type_row *tt_dtype_type(tutti_type type) { return (size_t)type < TT_COUNT(types) ? &types[type] : NULL; }

const tt_op_row *tt_dtype_op(tutti_op op) { return (size_t)op < TT_COUNT(ops) ? &ops[op] : NULL; }

size_t tutti_type_size(tutti_type type) { return (size_t)type < TT_COUNT(types) ? types[type].size : 0; }

int tutti_op_fits(tutti_op op, tutti_type type) {
  if ((size_t)op >= TT_COUNT(ops) || (size_t)type >= TT_COUNT(types))
    return 0;
  return (ops[op].kinds >> types[type].kind & 1) != 0;
}

const char *tutti_type_name(tutti_type type) { return (size_t)type < TT_COUNT(types) ? types[type].name : "?"; }

const char *tutti_op_name(tutti_op op) { return (size_t)op < TT_COUNT(ops) ? ops[op].name : "?"; }

tutti_type tt_dtype_find(const char *name) {
  size_t type = 0;
  while (type < TT_COUNT(types) && strcmp(types[type].name, name) != 0)
    type++;
  return (tutti_type)type;
}

tutti_op tt_dtype_find_op(const char *name) {
  size_t op = 0;
  while (op < TT_COUNT(ops) && strcmp(ops[op].name, name) != 0)
    op++;
  return (tutti_op)op;
}

/* dtype/types.c - what the types (types.inc) and operators are: one row for each, which tests, benchmarks and
 * docs/types.md go through. */
#include "dtype/dtype.h"

#include <string.h>

#define TT_TYPE(id, name, kind, element, part, digits, mpi, about)                                                     \
  [TUTTI_##id] = {name, sizeof(element), _Alignof(element), TT_KIND_##kind, about},
static const tt_type_row types[] = {
#include "dtype/types.inc"
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

/* dtype/types.c - what the types and operators are called and how long an element is: one row for each. */
#include "dtype/dtype.h"

#include <string.h>

static const struct {
  const char *name;
  size_t size;
} types[] = {
    [TUTTI_FLOAT32] = {"float32", 4}, [TUTTI_FLOAT64] = {"float64", 8}, [TUTTI_INT32] = {"int32", 4},
    [TUTTI_INT64] = {"int64", 8},     [TUTTI_FLOAT16] = {"float16", 2}, [TUTTI_BFLOAT16] = {"bfloat16", 2},
};
_Static_assert(TT_COUNT(types) == TUTTI_TYPE_COUNT, "a row for each type");

static const char *const ops[] = {
    [TUTTI_SUM] = "sum", [TUTTI_PRODUCT] = "product", [TUTTI_MIN] = "min",
    [TUTTI_MAX] = "max", [TUTTI_AVERAGE] = "average",
};
_Static_assert(TT_COUNT(ops) == TUTTI_OP_COUNT, "a name for each operator");

size_t tutti_type_size(tutti_type type) { return (size_t)type < TT_COUNT(types) ? types[type].size : 0; }

const char *tutti_type_name(tutti_type type) { return (size_t)type < TT_COUNT(types) ? types[type].name : "?"; }

const char *tutti_op_name(tutti_op op) { return (size_t)op < TT_COUNT(ops) ? ops[op] : "?"; }

tutti_type tt_dtype_find(const char *name) {
  size_t type = 0;
  while (type < TT_COUNT(types) && strcmp(types[type].name, name) != 0)
    type++;
  return (tutti_type)type;
}

tutti_op tt_dtype_find_op(const char *name) {
  size_t op = 0;
  while (op < TT_COUNT(ops) && strcmp(ops[op], name) != 0)
    op++;
  return (tutti_op)op;
}

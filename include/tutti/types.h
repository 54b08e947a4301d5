/* tutti/types.h - element types and reduction operators. */
#ifndef TUTTI_TYPES_H
#define TUTTI_TYPES_H

#include <tutti/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tutti_type {
  TUTTI_FLOAT32 = 0,
  TUTTI_FLOAT64 = 1,
  TUTTI_INT32 = 2,
  TUTTI_INT64 = 3,
  TUTTI_FLOAT16 = 4,  /* IEEE 754 binary16; combined in float32 */
  TUTTI_BFLOAT16 = 5, /* upper half of float32; combined in float32 */
  TUTTI_TYPE_COUNT
} tutti_type;

typedef enum tutti_op {
  TUTTI_SUM = 0,
  TUTTI_PRODUCT = 1,
  TUTTI_MIN = 2,
  TUTTI_MAX = 3,
  TUTTI_AVERAGE = 4, /* sum, then divided by the number of ranks; integers truncate toward zero */
  TUTTI_OP_COUNT
} tutti_op;

/* Bytes of one element; 0 for a value that is no type. */
TUTTI_API size_t tutti_type_size(tutti_type type);

/* "float32", "sum"; "?" for a value that is none. */
TUTTI_API const char *tutti_type_name(tutti_type type);
TUTTI_API const char *tutti_op_name(tutti_op op);

#ifdef __cplusplus
}
#endif
#endif

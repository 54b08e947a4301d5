/* tutti/types.h - element types and reduction operators. */
#ifndef TUTTI_TYPES_H
#define TUTTI_TYPES_H

#include <tutti/status.h>

#include <stddef.h>
#include <stdint.h>

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
  TUTTI_INT8 = 6,
  TUTTI_UINT8 = 7,
  TUTTI_INT16 = 8,
  TUTTI_UINT16 = 9,
  TUTTI_UINT32 = 10,
  TUTTI_UINT64 = 11,
  TUTTI_LONG_DOUBLE = 12,
  TUTTI_COMPLEX64 = 13,           /* two float32: real, imaginary */
  TUTTI_COMPLEX128 = 14,          /* two float64 */
  TUTTI_LONG_DOUBLE_COMPLEX = 15, /* two long double */
  TUTTI_BOOL = 16,                /* one byte: 0 is false, all else true; results are 0 or 1 */
  TUTTI_BYTE = 17,                /* bits without a value */
  /* A value and an index, as C lays out struct { value; int32_t index; }. */
  TUTTI_FLOAT32_INT32 = 18,
  TUTTI_FLOAT64_INT32 = 19,
  TUTTI_INT16_INT32 = 20,
  TUTTI_INT32_INT32 = 21,
  TUTTI_INT64_INT32 = 22,
  TUTTI_LONG_DOUBLE_INT32 = 23,
  TUTTI_TYPE_COUNT /* tutti_type_create adds more */
} tutti_type;

typedef enum tutti_op {
  TUTTI_SUM = 0,
  TUTTI_PRODUCT = 1,
  TUTTI_MIN = 2,
  TUTTI_MAX = 3,
  TUTTI_AVERAGE = 4, /* the sum, divided by the number of contributions. A sum of integers has their type, so it wraps
                      * before the division (the average of 100 and 100 in int8 is -28), which truncates toward zero */
  TUTTI_MIN_LOC = 5, /* for pairs: the least value with its index; among equal values the least index */
  TUTTI_MAX_LOC = 6, /* for pairs: the greatest value with its index; among equal values the least index */
  TUTTI_LOGICAL_AND = 7, /* for integers and bool: 0 is false, all else true; results of two or more are 0 or 1 */
  TUTTI_LOGICAL_OR = 8,
  TUTTI_LOGICAL_XOR = 9,
  TUTTI_BIT_AND = 10, /* for integers, byte and bool */
  TUTTI_BIT_OR = 11,
  TUTTI_BIT_XOR = 12,
  TUTTI_OP_COUNT /* tutti_op_create adds more */
} tutti_op;

/* A user's operator: computes out[i] = left[i] (op) right[i] for count elements. out may equal left or right. The
 * pointers are aligned as elements are: to the largest power of two, at most 64, that divides the size of an element,
 * where the user's buffers are on all ranks. Any thread that calls tutti may call it, and tutti's own
 * (tutti_context_progress). It must not call tutti. */
typedef void (*tutti_reduce_function)(const void *left, const void *right, void *out, int64_t count, void *user);

/* Bytes of one element; 0 for an invalid type. */
TUTTI_API size_t tutti_type_size(tutti_type type);

/* 1 if op combines elements of type, else 0. Sum and product take numbers, min and max ordered numbers, average real
 * numbers, min-loc and max-loc pairs, logical and bitwise operators the types listed above. */
TUTTI_API int tutti_op_fits(tutti_op op, tutti_type type);

/* "float32", "sum"; "?" for an invalid value. */
TUTTI_API const char *tutti_type_name(tutti_type type);
TUTTI_API const char *tutti_op_name(tutti_op op);

#ifdef __cplusplus
}
#endif
#endif

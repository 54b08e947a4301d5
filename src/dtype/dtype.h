/* dtype/dtype.h - datatypes, operators and the kernels that combine and copy. */
#ifndef TT_DTYPE_DTYPE_H
#define TT_DTYPE_DTYPE_H

#include "base/base.h"

#include <tutti/types.h>

/* out[i] = left[i] (op) right[i] for count elements. out may equal left or right exactly; no other overlap.
 * Alignment: any multiple of the type's. `nontemporal`: out is large and not read soon (streaming stores where they
 * exist; they pay from about 64 KiB a call).
 *
 * The same bits on every processor and for either order of the operands (long double: every processor of its kind):
 *   integers   wrap; an average wraps as its sum does
 *   floats     a NaN result is the positive quiet NaN without payload; min and max are minimum and maximum of IEEE
 *              754-2019 (NaN if either operand is, -0 < +0); float16 and bfloat16 combine in float32 and round to
 *              nearest, ties to even
 *   complex    (a+bi)(c+di) = (ac - bd) + (ad + bc)i, each operation rounded; no infinity is recovered from a NaN
 *   pairs      the value that min or max chooses, a NaN before all numbers and -0 < +0; of equal values, or NaNs, the
 *              least index
 *   padding    in long double and in pairs is not read, and zero in results */
typedef void (*tt_combine)(const void *left, const void *right, void *out, size_t count, bool nontemporal);

/* A user's operator. */
typedef struct tt_user_op {
  tutti_reduce_function reduce;
  void *user;
  size_t element_bytes; /* of the types that it fits */
  bool commutes;
} tt_user_op;

/* The best kernel that this processor runs (AVX-512, AVX2, NEON or portable), chosen once. TUTTI_AVERAGE gives the sum.
 * NULL where type or op is none, or they do not fit (tutti_op_fits). */
tt_combine tt_dtype_combine(tutti_type type, tutti_op op);

/* Finishing step of TUTTI_AVERAGE: data[i] = data[i] / divisor, divisor > 0. */
void tt_dtype_divide(tutti_type type, void *data, size_t count, int64_t divisor);

/* float16 and bfloat16 have float32 images, which hold them exactly. Narrowing rounds to nearest, ties to even; a NaN
 * becomes the one of results. No overlap. */
bool tt_dtype_has_image(tutti_type type);
void tt_dtype_widen(tutti_type type, float *to, const void *from, size_t count);
void tt_dtype_narrow(tutti_type type, void *to, const float *from, size_t count);

/* memcpy, with streaming stores where `nontemporal`. No overlap. */
void tt_dtype_copy(void *to, const void *from, size_t bytes, bool nontemporal);

/* "avx512", "avx2", "neon", "portable": what tt_dtype_combine chose from; for `tutti info`. */
const char *tt_dtype_kernels(void);

/* The same for every kernel set that this processor can run, for tests and benchmarks: set 0 is portable. */
size_t tt_dtype_set_count(void);
const char *tt_dtype_set_name(size_t set);
tt_combine tt_dtype_set_combine(size_t set, tutti_type type, tutti_op op);

/* What a type is. */
typedef enum tt_kind {
  TT_KIND_FLOAT,
  TT_KIND_SIGNED,
  TT_KIND_UNSIGNED,
  TT_KIND_COMPLEX,
  TT_KIND_BOOL,
  TT_KIND_BYTE,
  TT_KIND_PAIR
} tt_kind;

/* How C lays out a pair of a value and an index. */
#define TT_DTYPE_PAIR(value_type)                                                                                      \
  struct {                                                                                                             \
    value_type value;                                                                                                  \
    int32_t index;                                                                                                     \
  }

typedef struct tt_type_row {
  const char *name;
  size_t size, alignment; /* bytes */
  tt_kind kind;
  const char *about;
} tt_type_row;

typedef struct tt_op_row {
  const char *name;
  unsigned kinds; /* 1 << kind of the types that it fits */
  const char *about;
} tt_op_row;

/* NULL where type or op is none of types.h. */
const tt_type_row *tt_dtype_type(tutti_type type);
const tt_op_row *tt_dtype_op(tutti_op op);

/* By name; TUTTI_TYPE_COUNT / TUTTI_OP_COUNT where there is none. */
tutti_type tt_dtype_find(const char *name);
tutti_op tt_dtype_find_op(const char *name);

#endif

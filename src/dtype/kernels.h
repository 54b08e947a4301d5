/* dtype/kernels.h - what a kernel set is: type x operator, divided and copied, for one instruction set.
 *
 * Each kernels_X.c defines one set by including the .inc files once; dtype.c picks the best that the processor runs.
 * What is not worth vectors, or has no use for them, is in one more set that all processors share: plain.c. All sets
 * give the same bits, those that dtype.h promises, in the default floating-point environment. */
#ifndef TT_DTYPE_KERNELS_H
#define TT_DTYPE_KERNELS_H

#include "dtype/dtype.h"

/* data[i] = data[i] / divisor for count elements. */
typedef void (*tt_divide)(void *data, size_t count, int64_t divisor);

/* NULL: as in tt_dtype_plain. */
typedef struct tt_dtype_set {
  const char *name;
  tt_combine combine[TUTTI_TYPE_COUNT][TUTTI_OP_COUNT];
  tt_divide divide[TUTTI_TYPE_COUNT];
  void (*widen[TUTTI_TYPE_COUNT])(float *to, const void *from, size_t count);  /* of 16-bit floats */
  void (*narrow[TUTTI_TYPE_COUNT])(void *to, const float *from, size_t count); /* the same */
  void (*copy)(void *to, const void *from, size_t bytes); /* with streaming stores; bytes >= TT_DTYPE_COPY_MINIMUM */
} tt_dtype_set;

#define TT_DTYPE_COPY_MINIMUM 64 /* bytes of the longest vector */

/* Set 0 .. tt_dtype_set_count() - 1. */
const tt_dtype_set *tt_dtype_set_at(size_t set);
tt_divide tt_dtype_set_divide(size_t set, tutti_type type);

extern const tt_dtype_set tt_dtype_plain; /* no copy */
extern const tt_dtype_set tt_dtype_portable;
#if defined(__x86_64__)
extern const tt_dtype_set tt_dtype_avx2, tt_dtype_avx512;
#elif defined(__aarch64__)
extern const tt_dtype_set tt_dtype_neon;
#endif

#endif

/* dtype/kernels.h - what a kernel set is: every type x operator, divided and copied, for one instruction set.
 *
 * Each kernels_X.c defines one set by including the .inc files once; dtype.c picks the best that the processor runs.
 * All sets give the same bits, those that dtype.h promises, in the default floating-point environment. */
#ifndef TT_DTYPE_KERNELS_H
#define TT_DTYPE_KERNELS_H

#include "dtype/dtype.h"

#define TT_DTYPE_COMBINE_COUNT TUTTI_AVERAGE /* operators with a kernel of their own: those before average */

/* data[i] = data[i] / divisor for count elements. */
typedef void (*tt_divide)(void *data, size_t count, int64_t divisor);

typedef struct tt_dtype_set {
  const char *name;
  tt_combine combine[TUTTI_TYPE_COUNT][TT_DTYPE_COMBINE_COUNT];
  tt_divide divide[TUTTI_TYPE_COUNT];
  void (*copy)(void *to, const void *from, size_t bytes); /* with streaming stores; bytes >= TT_DTYPE_COPY_MINIMUM */
} tt_dtype_set;

#define TT_DTYPE_COPY_MINIMUM 64 /* bytes of the longest vector */

/* Set 0 .. tt_dtype_set_count() - 1. */
const tt_dtype_set *tt_dtype_set_at(size_t set);

extern const tt_dtype_set tt_dtype_portable;
#if defined(__x86_64__)
extern const tt_dtype_set tt_dtype_avx2, tt_dtype_avx512;
#elif defined(__aarch64__)
extern const tt_dtype_set tt_dtype_neon;
#endif

#endif

/* dtype/dtype.h - datatypes, operators and the kernels that combine and copy. */
#ifndef TT_DTYPE_DTYPE_H
#define TT_DTYPE_DTYPE_H

#include "base/base.h"

#include <tutti/types.h>

/* out[i] = left[i] (op) right[i] for count elements. out may equal left or right exactly; no other overlap.
 * Alignment: any multiple of the element size. `nontemporal`: out is large and not read soon (streaming stores where
 * they exist; they pay from about 64 KiB a call).
 *
 * The same bits on every processor and for either order of the operands: a NaN result is the positive quiet NaN without
 * payload; min and max are minimum and maximum of IEEE 754-2019 (NaN if either operand is, -0 < +0); integers wrap;
 * float16 and bfloat16 combine in float32 and round to nearest, ties to even. */
typedef void (*tt_combine)(const void *left, const void *right, void *out, size_t count, bool nontemporal);

/* The best kernel that this processor runs (AVX-512, AVX2, NEON or portable), chosen once. TUTTI_AVERAGE gives the sum.
 * NULL where type or op is none. */
tt_combine tt_dtype_combine(tutti_type type, tutti_op op);

/* Finishing step of TUTTI_AVERAGE: data[i] = data[i] / divisor, divisor > 0. */
void tt_dtype_divide(tutti_type type, void *data, size_t count, int64_t divisor);

/* memcpy, with streaming stores where `nontemporal`. No overlap. */
void tt_dtype_copy(void *to, const void *from, size_t bytes, bool nontemporal);

/* "avx512", "avx2", "neon", "portable": what tt_dtype_combine chose from; for `tutti info`. */
const char *tt_dtype_kernels(void);

/* The same for every kernel set that this processor can run, for tests and benchmarks: set 0 is portable. */
size_t tt_dtype_set_count(void);
const char *tt_dtype_set_name(size_t set);
tt_combine tt_dtype_set_combine(size_t set, tutti_type type, tutti_op op);

/* By name; TUTTI_TYPE_COUNT / TUTTI_OP_COUNT where there is none. */
tutti_type tt_dtype_find(const char *name);
tutti_op tt_dtype_find_op(const char *name);

#endif

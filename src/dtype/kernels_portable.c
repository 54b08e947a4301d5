/* dtype/kernels_portable.c - the kernel set for any processor: what the compiler makes of 16-byte vectors. */
#define KERNELS_BYTES 16
#define KERNELS_SET tt_dtype_portable
#define KERNELS_NAME "portable"

#include "dtype/kernels_vector.inc"

#include "dtype/kernels_set.inc"

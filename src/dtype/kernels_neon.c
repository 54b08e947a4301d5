/* dtype/kernels_neon.c - the kernel set for 64-bit Arm. */
#define KERNELS_BYTES 16
#define KERNELS_SET tt_dtype_neon
#define KERNELS_NAME "neon"

#include "dtype/kernels.h"

#if defined(__aarch64__)
#include "dtype/kernels_vector.inc"

#include <arm_neon.h>

#define KERNELS_FLOAT16
INLINE pair widen_float16(vec value) {
  float16x8_t half = (float16x8_t)value;
  return (pair){(vec)vcvt_f32_f16(vget_low_f16(half)), (vec)vcvt_high_f32_f16(half)};
}
INLINE vec narrow_float16(pair value) {
  return (vec)vcvt_high_f16_f32(vcvt_f16_f32((float32x4_t)value.first), (float32x4_t)value.second);
}
INLINE vec extend_float16(half_vec value) { return (vec)vcvt_f32_f16((float16x4_t)value); }
INLINE half_vec round_off_float16(vec value) { return (half_vec)vcvt_f16_f32((float32x4_t)value); }

#include "dtype/kernels_set.inc"
#endif

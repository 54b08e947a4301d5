/* dtype/kernels_avx2.c - the kernel set for x86 with AVX2 and F16C (2013 and later). Built with -mavx2 -mfma -mf16c. */
#define KERNELS_BYTES 32
#define KERNELS_SET tt_dtype_avx2
#define KERNELS_NAME "avx2"

#include "dtype/kernels.h"

#if defined(__x86_64__)
#include "dtype/kernels_vector.inc"

#include <immintrin.h>

INLINE vec load_sixteen(const uint8_t *from) {
  return (vec)_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i_u *)from));
}

#define KERNELS_STREAM
INLINE void stream(uint8_t *to, vec value) { _mm256_stream_si256((__m256i *)(void *)to, (__m256i)value); }
INLINE void stream_end(void) { _mm_sfence(); }

#define KERNELS_PICK
PICK_BY(float32, __m256, _mm256_min_ps, _mm256_max_ps)
PICK_BY(float64, __m256d, _mm256_min_pd, _mm256_max_pd)
PICK_BY(int8, __m256i, _mm256_min_epi8, _mm256_max_epi8)
PICK_BY(int16, __m256i, _mm256_min_epi16, _mm256_max_epi16)
PICK_BY(int32, __m256i, _mm256_min_epi32, _mm256_max_epi32)
PICK_BY_BLEND(int64, i64v)
PICK_BY(uint8, __m256i, _mm256_min_epu8, _mm256_max_epu8)
PICK_BY(uint16, __m256i, _mm256_min_epu16, _mm256_max_epu16)
PICK_BY(uint32, __m256i, _mm256_min_epu32, _mm256_max_epu32)
PICK_BY_BLEND(uint64, u64v)

INLINE vec settle_float32(vec left, vec right, vec value) {
  __m256 unordered = _mm256_cmp_ps((__m256)left, (__m256)right, _CMP_UNORD_Q);
  return (vec)_mm256_blendv_ps((__m256)value, (__m256)quiet_float32(), unordered);
}
INLINE vec settle_float64(vec left, vec right, vec value) {
  __m256d unordered = _mm256_cmp_pd((__m256d)left, (__m256d)right, _CMP_UNORD_Q);
  return (vec)_mm256_blendv_pd((__m256d)value, (__m256d)quiet_float64(), unordered);
}

#define KERNELS_FLOAT16
INLINE pair widen_float16(vec value) {
  __m256i half = (__m256i)value;
  return (pair){(vec)_mm256_cvtph_ps(_mm256_castsi256_si128(half)),
                (vec)_mm256_cvtph_ps(_mm256_extracti128_si256(half, 1))};
}
INLINE vec narrow_float16(pair value) {
  return (vec)_mm256_set_m128i(_mm256_cvtps_ph((__m256)value.second, _MM_FROUND_TO_NEAREST_INT),
                               _mm256_cvtps_ph((__m256)value.first, _MM_FROUND_TO_NEAREST_INT));
}
INLINE vec extend_float16(half_vec value) { return (vec)_mm256_cvtph_ps((__m128i)value); }
INLINE half_vec round_off_float16(vec value) {
  return (half_vec)_mm256_cvtps_ph((__m256)value, _MM_FROUND_TO_NEAREST_INT);
}

#include "dtype/kernels_set.inc"
#endif

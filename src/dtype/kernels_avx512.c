/* dtype/kernels_avx512.c - the kernel set for x86 with AVX-512 (F, BW, DQ, VL). Built with -mavx512f -mavx512bw
 * -mavx512dq -mavx512vl. Does not use AVX512-BF16: its conversion flushes small numbers to zero. */
#define KERNELS_BYTES 64
#define KERNELS_SET tt_dtype_avx512
#define KERNELS_NAME "avx512"

#include "dtype/kernels.h"

#if defined(__x86_64__)
#include "dtype/kernels_vector.inc"

#include <immintrin.h>

#define KERNELS_PARTS
INLINE __mmask64 first_bytes(size_t bytes) { return (__mmask64)(((uint64_t)1 << bytes) - 1); }
INLINE vec load_part(const uint8_t *from, size_t bytes) {
  return (vec)_mm512_maskz_loadu_epi8(first_bytes(bytes), from);
}
INLINE void store_part(uint8_t *to, vec value, size_t bytes) {
  _mm512_mask_storeu_epi8(to, first_bytes(bytes), (__m512i)value);
}

#define KERNELS_STREAM
INLINE void stream(uint8_t *to, vec value) { _mm512_stream_si512((__m512i *)(void *)to, (__m512i)value); }
INLINE void stream_end(void) { _mm_sfence(); }

#define KERNELS_PICK
PICK_BY(float32, __m512, _mm512_min_ps, _mm512_max_ps)
PICK_BY(float64, __m512d, _mm512_min_pd, _mm512_max_pd)
PICK_BY(int8, __m512i, _mm512_min_epi8, _mm512_max_epi8)
PICK_BY(int16, __m512i, _mm512_min_epi16, _mm512_max_epi16)
PICK_BY(int32, __m512i, _mm512_min_epi32, _mm512_max_epi32)
PICK_BY(int64, __m512i, _mm512_min_epi64, _mm512_max_epi64)
PICK_BY(uint8, __m512i, _mm512_min_epu8, _mm512_max_epu8)
PICK_BY(uint16, __m512i, _mm512_min_epu16, _mm512_max_epu16)
PICK_BY(uint32, __m512i, _mm512_min_epu32, _mm512_max_epu32)
PICK_BY(uint64, __m512i, _mm512_min_epu64, _mm512_max_epu64)

INLINE vec settle_float32(vec left, vec right, vec value) {
  __mmask16 unordered = _mm512_cmp_ps_mask((__m512)left, (__m512)right, _CMP_UNORD_Q);
  return (vec)_mm512_mask_mov_ps((__m512)value, unordered, (__m512)quiet_float32());
}
INLINE vec settle_float64(vec left, vec right, vec value) {
  __mmask8 unordered = _mm512_cmp_pd_mask((__m512d)left, (__m512d)right, _CMP_UNORD_Q);
  return (vec)_mm512_mask_mov_pd((__m512d)value, unordered, (__m512d)quiet_float64());
}

#define KERNELS_FLOAT16
INLINE pair widen_float16(vec value) {
  __m512i half = (__m512i)value;
  return (pair){(vec)_mm512_cvtph_ps(_mm512_castsi512_si256(half)),
                (vec)_mm512_cvtph_ps(_mm512_extracti64x4_epi64(half, 1))};
}
INLINE __m256i narrow_lanes(vec value) {
  return _mm512_maskz_cvtps_ph((__mmask16)0xffff, (__m512)value, _MM_FROUND_TO_NEAREST_INT);
}
INLINE vec narrow_float16(pair value) {
  __m512i first = _mm512_castsi256_si512(narrow_lanes(value.first));
  return (vec)_mm512_inserti64x4(first, narrow_lanes(value.second), 1);
}
INLINE vec extend_float16(half_vec value) { return (vec)_mm512_cvtph_ps((__m256i)value); }
INLINE half_vec round_off_float16(vec value) { return (half_vec)narrow_lanes(value); }

#include "dtype/kernels_set.inc"
#endif

/* dtype/kernels_test.c - every kernel set gives, bit for bit, what the scalar definitions give: for all types and
 * operators, alignments, tails, in place and streamed. */
#include "dtype/reference.inc"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { ELEMENTS = 4096, TAILS = 130, GUARD = 64, GUARD_BYTE = 0xa5, BYTES = ELEMENTS * sizeof(element) };

typedef struct sample {
  tutti_type type;
  tutti_op op;
  size_t size, alignment; /* of an element */
  uint8_t left[BYTES], right[BYTES], result[BYTES];
} sample;

static void sample_make(sample *data, tutti_type type, tutti_op op, tt_random *random) {
  data->type = type;
  data->op = op;
  data->size = tt_dtype_type(type)->size;
  data->alignment = tt_dtype_type(type)->alignment;
  for (size_t n = 0; n < ELEMENTS; n++) {
    element a = random_element(type, random), b = random_element(type, random), result = expected(type, op, a, b);
    memcpy(data->left + n * data->size, &a, data->size);
    memcpy(data->right + n * data->size, &b, data->size);
    memcpy(data->result + n * data->size, &result, data->size);
  }
}

/* ---- one call: buffers at chosen alignments, between bytes that must stay ---- */

typedef enum { APART, ON_LEFT, ON_RIGHT, PLACES } place;
typedef struct call {
  size_t set, count, left_offset, right_offset, out_offset;
  place place;
  bool nontemporal;
} call;

enum { ROOM = BYTES + 4 * GUARD };

static bool is_guard(const uint8_t *at) {
  size_t same = 0;
  while (same < GUARD && at[same] == GUARD_BYTE)
    same++;
  return same == GUARD;
}

static void check_call(const sample *data, const call *how) {
  static _Alignas(64) uint8_t left[ROOM], right[ROOM], apart[ROOM];
  size_t bytes = how->count * data->size;
  uint8_t *a = left + GUARD + how->left_offset, *b = right + GUARD + how->right_offset;
  uint8_t *out = how->place == ON_LEFT ? a : how->place == ON_RIGHT ? b : apart + GUARD + how->out_offset;
  memcpy(a, data->left, bytes);
  memcpy(b, data->right, bytes);
  memset(out - GUARD, GUARD_BYTE, GUARD);
  memset(out + bytes, GUARD_BYTE, GUARD);
  tt_dtype_set_combine(how->set, data->type, data->op)(a, b, out, how->count, how->nontemporal);
  bool same = memcmp(out, data->result, bytes) == 0;
  bool kept = is_guard(out - GUARD) && is_guard(out + bytes);
  if (!same || !kept)
    fail_msg("%s %s %s: count %zu, offsets %zu %zu %zu, place %d, streamed %d: %s", tt_dtype_set_name(how->set),
             tutti_type_name(data->type), tutti_op_name(data->op), how->count, how->left_offset, how->right_offset,
             how->out_offset, (int)how->place, how->nontemporal, same ? "wrote outside out" : "wrong bits");
}

/* Of whole elements, or of any bytes: what users give need not be aligned. */
static size_t random_offset(const sample *data, bool aligned, tt_random *random) {
  size_t step = aligned ? data->alignment : 1;
  return step * tt_random_below(random, 64 / step);
}

static void check_tails(const sample *data, size_t set, tt_random *random) {
  for (size_t count = 0; count <= TAILS; count++)
    for (int draw = 0; draw < 4; draw++)
      for (int way = 0; way < 2 * PLACES; way++) {
        bool aligned = draw % 2 == 0;
        size_t left = random_offset(data, aligned, random), right = random_offset(data, aligned, random);
        size_t out = random_offset(data, aligned, random);
        check_call(data, &(call){set, count, left, right, out, (place)(way / 2), way % 2});
      }
}

typedef void (*check)(const sample *data, size_t set, tt_random *random);

static void for_each_kernel(check function) {
  static sample data;
  tt_random random;
  tt_random_init(&random, 1);
  for (tutti_type type = 0; type < TUTTI_TYPE_COUNT; type++)
    for (tutti_op op = 0; op < TUTTI_OP_COUNT; op++) {
      if (op == TUTTI_AVERAGE || !tutti_op_fits(op, type))
        continue;
      sample_make(&data, type, op, &random);
      for (size_t set = 0; set < tt_dtype_set_count(); set++)
        function(&data, set, &random);
    }
}

static void check_long(const sample *data, size_t set, tt_random *random) {
  (void)random;
  for (int way = 0; way < 4 * PLACES; way++) {
    size_t step = way % 2 ? data->alignment : 1;
    check_call(data, &(call){set, ELEMENTS - 3, 0, step, 3 * step, (place)(way / 4), way / 2 % 2});
  }
}

/* The same operands the other way round give the same bits. */
static void check_swapped(const sample *data, size_t set, tt_random *random) {
  (void)random;
  static _Alignas(64) uint8_t out[BYTES];
  tt_dtype_set_combine(set, data->type, data->op)(data->right, data->left, out, ELEMENTS, false);
  assert_memory_equal(out, data->result, ELEMENTS * data->size);
}

/* All 65,536 operands of the 16-bit types with one right operand: plus -0 gives back every number; the others round. */
static void check_short(tutti_type type, size_t set, tutti_op op, uint16_t right) {
  static uint16_t left[0x10000], out[0x10000], same[0x10000];
  for (size_t n = 0; n < TT_COUNT(left); n++) {
    left[n] = (uint16_t)n;
    same[n] = right;
  }
  tt_dtype_set_combine(set, type, op)(left, same, out, TT_COUNT(left), false);
  for (size_t n = 0; n < TT_COUNT(left); n++)
    assert_int_equal(out[n], expected(type, op, (element){.half = left[n]}, (element){.half = right}).half);
}

static void test_short_floats_round_every_number(void **state) {
  (void)state;
  for (size_t set = 0; set < tt_dtype_set_count(); set++)
    for (tutti_type type = TUTTI_FLOAT16; type <= TUTTI_BFLOAT16; type++) {
      check_short(type, set, TUTTI_SUM, 0x8000);
      check_short(type, set, TUTTI_SUM, 0x0001);
      check_short(type, set, TUTTI_SUM, 0x3c01);
      check_short(type, set, TUTTI_PRODUCT, 0x3555);
      check_short(type, set, TUTTI_PRODUCT, 0x4d55);
    }
}

/* ---- float32 images ---- */

static float number_of(tutti_type type, uint16_t bits) {
  return (float)(type == TUTTI_FLOAT16 ? decode(bits, 10, 15) : decode(bits, 7, 127));
}

static uint16_t bits_of(tutti_type type, float number) {
  return type == TUTTI_FLOAT16 ? encode(number, 10, 15) : encode(number, 7, 127);
}

static void test_images_hold_every_number(void **state) {
  (void)state;
  static uint16_t from[0x10000], back[0x10000];
  static float image[0x10000];
  for (size_t n = 0; n < TT_COUNT(from); n++)
    from[n] = (uint16_t)n;
  for (size_t set = 0; set < tt_dtype_set_count(); set++)
    for (tutti_type type = TUTTI_FLOAT16; type <= TUTTI_BFLOAT16; type++) {
      tt_dtype_set_at(set)->widen[type](image, from, TT_COUNT(from));
      tt_dtype_set_at(set)->narrow[type](back, image, TT_COUNT(image));
      for (size_t n = 0; n < TT_COUNT(from); n++) {
        float number = number_of(type, from[n]);
        assert_true(isnan(number) ? isnan(image[n]) : memcmp(&image[n], &number, sizeof number) == 0);
        assert_int_equal(back[n], isnan(number) ? bits_of(type, NAN) : from[n]);
      }
    }
}

static void check_narrow(size_t set, tutti_type type, const float *image, size_t count) {
  uint16_t out[TAILS + 2];
  memset(out, GUARD_BYTE, sizeof out);
  tt_dtype_set_at(set)->narrow[type](out + 1, image, count);
  for (size_t n = 0; n < count; n++)
    assert_int_equal(out[n + 1], bits_of(type, image[n]));
  assert_true(out[0] == 0xa5a5 && out[count + 1] == 0xa5a5);
}

static void check_widen(size_t set, tutti_type type, const uint16_t *from, size_t count) {
  float image[TAILS + 2];
  memset(image, GUARD_BYTE, sizeof image);
  tt_dtype_set_at(set)->widen[type](image + 1, from, count);
  for (size_t n = 0; n < count; n++)
    assert_true(image[n + 1] == number_of(type, from[n]) || isnan(image[n + 1]));
  assert_memory_equal(&image[0], &image[TAILS + 1], sizeof *image);
  assert_true(count == TAILS || memcmp(&image[count + 1], &image[0], sizeof *image) == 0);
}

static void test_images_round_and_write_exactly_what_they_should(void **state) {
  (void)state;
  float image[TAILS];
  uint16_t from[TAILS];
  tt_random random;
  tt_random_init(&random, 3);
  for (size_t set = 0; set < tt_dtype_set_count(); set++)
    for (tutti_type type = TUTTI_FLOAT16; type <= TUTTI_BFLOAT16; type++)
      for (size_t count = 0; count <= TAILS; count++) {
        for (size_t n = 0; n < count; n++) {
          image[n] = number_of(type, from[n] = random_element(type, &random).half);
          image[n] *= tt_random_below(&random, 2) ? 1 : 1 + (float)tt_random_below(&random, 4096) / 0x1p22f;
        }
        check_narrow(set, type, image, count);
        check_widen(set, type, from, count);
      }
}

/* ---- pairs, in numbers that can be read ---- */

typedef TT_DTYPE_PAIR(float) located_float;

static void check_pair(tutti_op op, located_float left, located_float right, located_float best) {
  located_float out[2];
  tt_combine combine = tt_dtype_combine(TUTTI_FLOAT32_INT32, op);
  combine(&left, &right, &out[0], 1, false);
  combine(&right, &left, &out[1], 1, false);
  assert_memory_equal(&out[0], &best, sizeof best);
  assert_memory_equal(&out[1], &best, sizeof best);
}

static void test_pairs_choose_the_value_then_the_least_index(void **state) {
  (void)state;
  check_pair(TUTTI_MIN_LOC, (located_float){1, 7}, (located_float){2, 3}, (located_float){1, 7});
  check_pair(TUTTI_MAX_LOC, (located_float){1, 7}, (located_float){2, 9}, (located_float){2, 9});
  check_pair(TUTTI_MIN_LOC, (located_float){1, 7}, (located_float){1, -3}, (located_float){1, -3});
  check_pair(TUTTI_MAX_LOC, (located_float){1, 7}, (located_float){1, -3}, (located_float){1, -3});
  check_pair(TUTTI_MIN_LOC, (located_float){-0.0f, 7}, (located_float){0, 3}, (located_float){-0.0f, 7});
  check_pair(TUTTI_MAX_LOC, (located_float){-0.0f, 3}, (located_float){0, 7}, (located_float){0, 7});
}

static void test_pairs_point_at_the_first_nan(void **state) {
  (void)state;
  for (tutti_op op = TUTTI_MIN_LOC; op <= TUTTI_MAX_LOC; op++) {
    check_pair(op, (located_float){INFINITY, 1}, (located_float){-NAN, 7}, (located_float){NAN, 7});
    check_pair(op, (located_float){-INFINITY, 1}, (located_float){-NAN, 7}, (located_float){NAN, 7});
    check_pair(op, (located_float){NAN, 8}, (located_float){-NAN, 7}, (located_float){NAN, 7});
    check_pair(op, (located_float){NAN, 7}, (located_float){-NAN, 8}, (located_float){NAN, 7});
  }
}

/* ---- nothing outside ---- */

/* Memory of `bytes` that ends, or begins, where none may be touched. */
typedef struct fenced {
  uint8_t *page; /* PROT_NONE, one that may be used, PROT_NONE */
  size_t page_bytes;
} fenced;

static fenced fenced_open(void) {
  fenced fence = {.page_bytes = (size_t)sysconf(_SC_PAGESIZE)};
  fence.page = mmap(NULL, 3 * fence.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(fence.page != MAP_FAILED);
  fence.page += fence.page_bytes;
  assert_int_equal(mprotect(fence.page, fence.page_bytes, PROT_READ | PROT_WRITE), 0);
  return fence;
}

static void fenced_close(const fenced *fence) { munmap(fence->page - fence->page_bytes, 3 * fence->page_bytes); }

static void check_fenced(const sample *data, size_t set, tt_random *random) {
  (void)random;
  fenced left = fenced_open(), right = fenced_open(), out = fenced_open();
  for (size_t count = 0; count <= TAILS && count * data->size <= left.page_bytes; count++)
    for (int way = 0; way < 4; way++) {
      size_t bytes = count * data->size, at = way % 2 ? 0 : left.page_bytes - bytes;
      memcpy(left.page + at, data->left, bytes);
      memcpy(right.page + at, data->right, bytes);
      tt_dtype_set_combine(set, data->type, data->op)(left.page + at, right.page + at, out.page + at, count, way / 2);
      assert_memory_equal(out.page + at, data->result, bytes);
    }
  fenced_close(&left);
  fenced_close(&right);
  fenced_close(&out);
}

static void test_kernels_touch_nothing_outside_their_operands(void **state) {
  (void)state;
  for_each_kernel(check_fenced);
}

static void test_kernels_agree_with_definitions(void **state) {
  (void)state;
  for (int round = 0; round < 8; round++)
    for_each_kernel(check_long);
}

static void test_kernels_handle_all_tails_and_alignments(void **state) {
  (void)state;
  for_each_kernel(check_tails);
}

static void test_kernels_do_not_care_for_operand_order(void **state) {
  (void)state;
  for_each_kernel(check_swapped);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kernels_agree_with_definitions),
      cmocka_unit_test(test_kernels_handle_all_tails_and_alignments),
      cmocka_unit_test(test_kernels_touch_nothing_outside_their_operands),
      cmocka_unit_test(test_short_floats_round_every_number),
      cmocka_unit_test(test_images_hold_every_number),
      cmocka_unit_test(test_images_round_and_write_exactly_what_they_should),
      cmocka_unit_test(test_kernels_do_not_care_for_operand_order),
      cmocka_unit_test(test_pairs_choose_the_value_then_the_least_index),
      cmocka_unit_test(test_pairs_point_at_the_first_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

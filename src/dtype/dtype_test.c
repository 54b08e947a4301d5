/* dtype/dtype_test.c - names and sizes, division and copies in every kernel set, and which set is chosen. */
#include "dtype/reference.inc"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ELEMENTS = 1000, GUARD_BYTE = 0xa5 };

static void test_every_type_and_operator_has_a_name_that_finds_it(void **state) {
  (void)state;
  for (tutti_type type = 0; type < TUTTI_TYPE_COUNT; type++)
    assert_int_equal(tt_dtype_find(tutti_type_name(type)), type);
  for (tutti_op op = 0; op < TUTTI_OP_COUNT; op++)
    assert_int_equal(tt_dtype_find_op(tutti_op_name(op)), op);
  assert_int_equal(tt_dtype_find("float"), TUTTI_TYPE_COUNT);
  assert_int_equal(tt_dtype_find_op(""), TUTTI_OP_COUNT);
}

static void test_values_that_are_no_type_or_operator_are_harmless(void **state) {
  (void)state;
  const int none[] = {-1, TUTTI_TYPE_COUNT, 1000};
  for (size_t n = 0; n < TT_COUNT(none); n++) {
    assert_int_equal(tutti_type_size((tutti_type)none[n]), 0);
    assert_string_equal(tutti_type_name((tutti_type)none[n]), "?");
    assert_string_equal(tutti_op_name((tutti_op)none[n]), "?");
    assert_null(tt_dtype_combine((tutti_type)none[n], TUTTI_SUM));
    assert_null(tt_dtype_combine(TUTTI_FLOAT32, (tutti_op)none[n]));
    assert_false(tutti_op_fits((tutti_op)none[n], TUTTI_FLOAT32) || tutti_op_fits(TUTTI_SUM, (tutti_type)none[n]));
  }
}

static void test_every_type_says_what_it_is(void **state) {
  (void)state;
  assert_null(tt_dtype_type(TUTTI_TYPE_COUNT));
  for (tutti_type type = 0; type < TUTTI_TYPE_COUNT; type++) {
    const tt_type_row *row = tt_dtype_type(type);
    assert_true(row->size == tutti_type_size(type) && row->size > 0 && row->size % row->alignment == 0);
    assert_non_null(row->about);
  }
  assert_int_equal(tutti_type_size(TUTTI_COMPLEX128), 16);
  assert_int_equal(tutti_type_size(TUTTI_FLOAT32_INT32), 8);
  assert_int_equal(tutti_type_size(TUTTI_INT16_INT32), 8);
  assert_int_equal(tt_dtype_type(TUTTI_INT16_INT32)->alignment, 4);
  assert_int_equal(tutti_type_size(TUTTI_LONG_DOUBLE_INT32), 2 * sizeof(long double));
}

static void test_operators_fit_what_types_h_says(void **state) {
  (void)state;
  enum { SUMS = 1 << TUTTI_SUM | 1 << TUTTI_PRODUCT, ORDER = 1 << TUTTI_MIN | 1 << TUTTI_MAX | 1 << TUTTI_AVERAGE };
  enum { LOGIC = 1 << TUTTI_LOGICAL_AND | 1 << TUTTI_LOGICAL_OR | 1 << TUTTI_LOGICAL_XOR };
  enum { BITS = 1 << TUTTI_BIT_AND | 1 << TUTTI_BIT_OR | 1 << TUTTI_BIT_XOR };
  static const int fits[] = {
      [TT_KIND_FLOAT] = SUMS | ORDER,
      [TT_KIND_SIGNED] = SUMS | ORDER | LOGIC | BITS,
      [TT_KIND_UNSIGNED] = SUMS | ORDER | LOGIC | BITS,
      [TT_KIND_COMPLEX] = SUMS,
      [TT_KIND_BOOL] = LOGIC | BITS,
      [TT_KIND_BYTE] = BITS,
      [TT_KIND_PAIR] = 1 << TUTTI_MIN_LOC | 1 << TUTTI_MAX_LOC,
  };
  for (tutti_type type = 0; type < TUTTI_TYPE_COUNT; type++)
    for (tutti_op op = 0; op < TUTTI_OP_COUNT; op++)
      assert_int_equal(tutti_op_fits(op, type), fits[tt_dtype_type(type)->kind] >> op & 1);
}

static void test_there_is_a_kernel_in_every_set_for_what_fits(void **state) {
  (void)state;
  for (size_t set = 0; set < tt_dtype_set_count(); set++)
    for (tutti_type type = 0; type < TUTTI_TYPE_COUNT; type++)
      for (tutti_op op = 0; op < TUTTI_OP_COUNT; op++)
        assert_int_equal(tt_dtype_set_combine(set, type, op) != NULL, tutti_op_fits(op, type));
}

static void test_last_set_is_chosen_and_average_sums(void **state) {
  (void)state;
  size_t last = tt_dtype_set_count() - 1;
  assert_string_equal(tt_dtype_set_name(0), "portable");
  assert_string_equal(tt_dtype_set_name(last), tt_dtype_kernels());
  for (tutti_type type = 0; type < TUTTI_TYPE_COUNT; type++) {
    if (tutti_op_fits(TUTTI_AVERAGE, type))
      assert_ptr_equal(tt_dtype_combine(type, TUTTI_AVERAGE), tt_dtype_combine(type, TUTTI_SUM));
    for (tutti_op op = 0; op < TUTTI_OP_COUNT; op++)
      assert_ptr_equal(tt_dtype_combine(type, op), tt_dtype_set_combine(last, type, op));
  }
}

/* ---- division ---- */

static void check_divide(size_t set, tutti_type type, int64_t divisor, size_t count, tt_random *random) {
  static _Alignas(64) uint8_t room[(ELEMENTS + 3) * sizeof(element)], result[(ELEMENTS + 2) * sizeof(element)];
  uint8_t *data = room + tt_random_below(random, sizeof(element)); /* at any byte */
  size_t size = tutti_type_size(type);
  memset(room, GUARD_BYTE, sizeof room);
  memset(result, GUARD_BYTE, sizeof result);
  for (size_t n = 1; n <= count; n++) {
    element value = random_element(type, random), quotient = expected_quotient(type, value, divisor);
    memcpy(data + n * size, &value, size);
    memcpy(result + n * size, &quotient, size);
  }
  tt_dtype_set_divide(set, type)(data + size, count, divisor);
  assert_memory_equal(data, result, sizeof result);
}

static void test_division_agrees_with_definitions(void **state) {
  (void)state;
  const int64_t divisors[] = {1, 2, 3, 7, 257, 2049, 65537, INT64_C(3) << 31};
  tt_random random;
  tt_random_init(&random, 2);
  for (size_t set = 0; set < tt_dtype_set_count(); set++)
    for (tutti_type type = 0; type < TUTTI_TYPE_COUNT; type++)
      for (size_t n = 0; n < TT_COUNT(divisors) && tutti_op_fits(TUTTI_AVERAGE, type); n++) {
        for (size_t count = 0; count <= 70; count++)
          check_divide(set, type, divisors[n], count, &random);
        check_divide(set, type, divisors[n], ELEMENTS, &random);
      }
}

static void test_average_of_integers_truncates_toward_zero(void **state) {
  (void)state;
  int32_t data[] = {-7, 7, -8, 8, INT32_MIN};
  tt_dtype_divide(TUTTI_INT32, data, TT_COUNT(data), 4);
  const int32_t result[] = {-1, 1, -2, 2, INT32_MIN / 4};
  assert_memory_equal(data, result, sizeof data);
}

/* ---- copies ---- */

typedef void (*copier)(void *to, const void *from, size_t bytes);

static void check_copy(copier copy, size_t bytes, size_t to_offset, size_t from_offset) {
  static _Alignas(64) uint8_t from[5000], to[5000], result[5000];
  assert_true(bytes + 128 <= sizeof from);
  for (size_t n = 0; n < sizeof from; n++)
    from[n] = (uint8_t)(n * 7 + n / 251);
  memset(to, GUARD_BYTE, sizeof to);
  memset(result, GUARD_BYTE, sizeof result);
  memcpy(result + to_offset, from + from_offset, bytes);
  copy(to + to_offset, from + from_offset, bytes);
  assert_memory_equal(to, result, sizeof to);
}

static void copy_plain(void *to, const void *from, size_t bytes) { tt_dtype_copy(to, from, bytes, false); }
static void copy_streamed(void *to, const void *from, size_t bytes) { tt_dtype_copy(to, from, bytes, true); }

static void check_copies(copier copy, size_t least) {
  for (size_t bytes = least; bytes <= 330; bytes++)
    for (size_t offset = 1; offset <= 64; offset += 9)
      check_copy(copy, bytes, offset, bytes % 64);
  for (size_t offset = 0; offset < 64; offset++) {
    check_copy(copy, 4099, offset, 0);
    check_copy(copy, 4096, 0, offset);
  }
}

static void test_copies_write_exactly_what_they_should(void **state) {
  (void)state;
  check_copies(copy_plain, 0);
  check_copies(copy_streamed, 0);
  for (size_t set = 0; set < tt_dtype_set_count(); set++)
    check_copies(tt_dtype_set_at(set)->copy, TT_DTYPE_COPY_MINIMUM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_type_and_operator_has_a_name_that_finds_it),
      cmocka_unit_test(test_values_that_are_no_type_or_operator_are_harmless),
      cmocka_unit_test(test_every_type_says_what_it_is),
      cmocka_unit_test(test_operators_fit_what_types_h_says),
      cmocka_unit_test(test_there_is_a_kernel_in_every_set_for_what_fits),
      cmocka_unit_test(test_last_set_is_chosen_and_average_sums),
      cmocka_unit_test(test_division_agrees_with_definitions),
      cmocka_unit_test(test_average_of_integers_truncates_toward_zero),
      cmocka_unit_test(test_copies_write_exactly_what_they_should),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

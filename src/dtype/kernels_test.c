/* dtype/kernels_test.c - every kernel set gives, bit for bit, what the scalar definitions give: for all types and
 * operators, alignments, tails, in place and streamed. */
#include "dtype/reference.inc"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { ELEMENTS = 4096, TAILS = 130, GUARD = 64, GUARD_BYTE = 0xa5 };

typedef struct sample {
  tutti_type type;
  tutti_op op;
  size_t size; /* of an element */
  uint8_t left[ELEMENTS * 8], right[ELEMENTS * 8], result[ELEMENTS * 8];
} sample;

static void sample_make(sample *data, tutti_type type, tutti_op op, tt_random *random) {
  data->type = type;
  data->op = op;
  data->size = tutti_type_size(type);
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

enum { ROOM = ELEMENTS * 8 + 4 * GUARD };

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

static void check_tails(const sample *data, size_t set, tt_random *random) {
  size_t alignments = 64 / data->size;
  for (size_t count = 0; count <= TAILS; count++)
    for (size_t offset = 0; offset < alignments; offset++)
      for (int way = 0; way < 2 * PLACES; way++) {
        size_t left = data->size * tt_random_below(random, alignments);
        size_t right = data->size * tt_random_below(random, alignments);
        size_t own = data->size * offset;
        place where = (place)(way / 2);
        check_call(data, &(call){set, count, where == ON_LEFT ? own : left, where == ON_RIGHT ? own : right, own, where,
                                 way % 2});
      }
}

typedef void (*check)(const sample *data, size_t set, tt_random *random);

static void for_each_kernel(check function) {
  static sample data;
  tt_random random;
  tt_random_init(&random, 1);
  for (tutti_type type = 0; type < TUTTI_TYPE_COUNT; type++)
    for (tutti_op op = 0; op < TUTTI_OP_COUNT; op++) {
      sample_make(&data, type, op, &random);
      for (size_t set = 0; set < tt_dtype_set_count(); set++)
        function(&data, set, &random);
    }
}

static void check_long(const sample *data, size_t set, tt_random *random) {
  (void)random;
  for (int way = 0; way < 2 * PLACES; way++)
    check_call(data, &(call){set, ELEMENTS - 3, 0, data->size, 3 * data->size, (place)(way / 2), way % 2});
}

/* The same operands the other way round give the same bits. */
static void check_swapped(const sample *data, size_t set, tt_random *random) {
  (void)random;
  static uint8_t out[ELEMENTS * 8];
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
  for (size_t count = 0; count <= TAILS; count++)
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
      cmocka_unit_test(test_kernels_do_not_care_for_operand_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

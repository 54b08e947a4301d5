/* Families of a user's composition: many primitives at once, to all ranks, to ranges of them and in loops; in place,
 * and in rank order with an operator of the user's. */
#include "conformance/threads.h"

#include <tutti/composition.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { RANKS = 7, COUNT = 50 };

/* Elements are maps x -> factor * x + term, 32 bits each: one after the other is associative, and order matters. */
static uint64_t input(int64_t rank, int64_t block) {
  return (uint64_t)(2 * rank + 3) << 32 | (uint64_t)(rank * 100 + block * 7 + 1);
}

static uint64_t follow(uint64_t first, uint64_t then) {
  uint32_t factor = (uint32_t)(then >> 32);
  return (uint64_t)((uint32_t)(first >> 32) * factor) << 32 | ((uint32_t)first * factor + (uint32_t)then);
}

static void follow_all(const void *left, const void *right, void *out, int64_t count, void *user) {
  (void)user;
  for (int64_t n = 0; n < count; n++)
    ((uint64_t *)out)[n] = follow(((const uint64_t *)left)[n], ((const uint64_t *)right)[n]);
}

/* Of ranks 0 .. last. */
static uint64_t expected(int64_t last, int64_t block, bool sums) {
  uint64_t value = input(0, block);
  for (int64_t r = 1; r <= last; r++)
    value = sums ? value + input(r, block) : follow(value, input(r, block));
  return value;
}

/* Of block 0 the prefixes, each to its rank; of block 1 + r all ranks' to rank r, and from there to all. */
static tutti_composition *build(tutti_comm *comm, bool in_place) {
  int64_t ranks = tutti_comm_size(comm);
  const tutti_affine each = {.i = 1}, behind = {.base = 1, .i = 1}, unused = {.base = INT64_MAX, .i = 1};
  const tutti_family family[] = {
      {.reduces = 1,
       .count_i = ranks,
       .count_j = 1,
       .root = each,
       .ends = TUTTI_ENDS_RANGE,
       .one = each,
       .to = TUTTI_OUT},
      {.reduces = 1, .count_i = ranks, .count_j = 1, .root = each, .block = behind, .one = unused, .to = TUTTI_MID},
      {.count_i = ranks, .count_j = 1, .root = each, .block = behind, .from = TUTTI_MID, .to = TUTTI_OUT}};
  tutti_composition *made;
  CHECK(tutti_composition_create(comm, 1 + ranks, &made) == TUTTI_OK);
  CHECK(tutti_composition_set_in_place(made, in_place) == TUTTI_OK);
  CHECK(tutti_composition_stage(made, "sum") == TUTTI_OK);
  CHECK(tutti_composition_add(made, &family[0]) == TUTTI_OK && tutti_composition_add(made, &family[1]) == TUTTI_OK);
  CHECK(tutti_composition_stage(made, "tell") == TUTTI_OK && tutti_composition_add(made, &family[2]) == TUTTI_OK);
  CHECK(tutti_composition_verify(made, TUTTI_SUM) == TUTTI_OK);
  return made;
}

static void run(tutti_comm *comm, int64_t rank, bool in_place, tutti_op op) {
  uint64_t in[(1 + RANKS) * COUNT], apart[(1 + RANKS) * COUNT], *out = in_place ? in : apart;
  int64_t ranks = tutti_comm_size(comm), counts[1 + RANKS];
  tutti_request *request;
  tutti_block_table blocks = {.counts = counts};
  tutti_composition *made = build(comm, in_place);
  for (int64_t b = 0; b <= ranks; b++)
    counts[b] = COUNT;
  for (int64_t n = 0; n < (1 + ranks) * COUNT; n++)
    in[n] = input(rank, n / COUNT);
  CHECK(tutti_composition_init(made, in, out, &blocks, TUTTI_UINT64, op, &request) == TUTTI_OK);
  CHECK(tutti_request_start(request) == TUTTI_OK && tutti_wait(&request) == TUTTI_OK);
  for (int64_t n = 0; n < (1 + ranks) * COUNT; n++)
    CHECK(out[n] == expected(n < COUNT ? rank : ranks - 1, n / COUNT, op == TUTTI_SUM));
  tutti_request_destroy(request);
  tutti_composition_destroy(made);
}

static void run_all(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  tutti_comm *comm;
  tutti_op op;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  CHECK(tutti_op_create(context, follow_all, NULL, sizeof(uint64_t), 0, &op) == TUTTI_OK);
  for (int n = 0; n < 4; n++)
    run(comm, at->rank, n % 2, n < 2 ? TUTTI_SUM : op);
  tutti_op_destroy(context, op);
  tutti_comm_destroy(comm);
}

static void test_families_run_in_place_and_in_rank_order(void **state) {
  (void)state;
  for (int64_t ranks = 1; ranks <= RANKS; ranks++)
    threads_run(&(threads_options){.count = ranks, .slot_bytes = 256, .body = run_all});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_families_run_in_place_and_in_rank_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/fault/composition_test.c - compositions of users that differ between ranks, in what moves or in how long it is:
 * TUTTI_ERR_MISMATCH on all. What does not matter may differ. */
#include "fault/fault.h"

#include <tutti/composition.h>

enum { RANKS = 4, LONGEST = 100000 };

typedef struct trial {
  const char *text; /* NULL: they agree */
  const char *params;
  int64_t ends[RANKS][3]; /* as each rank says that rank 0's block goes */
  int64_t count[RANKS];
  tutti_op op[RANKS];
} trial;

#define SAME {0, 1, 3}, {0, 1, 3}, {0, 1, 3}, {0, 1, 3}
#define ALL(count) {count, count, count, count}

static const trial trials[] = {
    {NULL, NULL, {SAME}, ALL(10), {TUTTI_SUM, TUTTI_MAX, TUTTI_SUM, TUTTI_AVERAGE}},
    {NULL, NULL, {SAME}, {LONGEST, LONGEST, 7, LONGEST}, {TUTTI_SUM}}, /* rank 2 has no part in it */
    {"their primitives or parameters differ", NULL, {{0, 1, 3}, {0, 1, 3}, {0, 2, 3}, {0, 1, 3}}, ALL(10), {TUTTI_SUM}},
    {"their primitives or parameters differ",
     "[core:chain]",
     {{0, 1, 3}, {0, 2, 3}, {0, 2, 3}, {0, 1, 3}},
     ALL(LONGEST),
     {TUTTI_SUM}},
    {"of block 1 rank 0 sends rank 1 1000 elements less than rank 1 expects",
     NULL,
     {SAME},
     {0, 1000, 0, 0},
     {TUTTI_SUM}},
    {"of block 1 rank 0 sends rank 3 100000 elements more than rank 3 expects",
     NULL,
     {SAME},
     {LONGEST, LONGEST, LONGEST, 0},
     {TUTTI_SUM}},
    {"of block 1 rank 1 sends rank 3 2 elements less than rank 3 expects",
     "[core:chain]",
     {SAME},
     {10, 10, 10, 12},
     {TUTTI_SUM}},
    {"lengths of several blocks", "[core:chain]", {SAME}, {10, 11, 10, 10}, {TUTTI_SUM}}, /* in the middle */
    {"block 1 is longer at rank 0, which sends it", "[core:star]", {SAME}, {LONGEST, 1, 1, 1}, {TUTTI_SUM}},
};

/* The last call is one that all agree in: who waits for nobody in the one before may have left it. */
static tutti_status broadcast(const trial *of, const tutti_boot *boot, tutti_comm *comm) {
  static int32_t in[LONGEST], out[LONGEST];
  const int64_t counts[] = {5, of->count[boot->rank]}, offsets[] = {0, 0};
  const tutti_block_table blocks = {counts, offsets, offsets};
  tutti_composition *made;
  tutti_request *request = NULL;
  in[0] = 10 + (int32_t)boot->rank;
  out[0] = 0;
  CHECK(tutti_composition_create(comm, 2, &made) == TUTTI_OK && tutti_composition_stage(made, "go") == TUTTI_OK);
  CHECK(tutti_composition_multicast(made, 0, of->ends[boot->rank], 3, 1, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
  CHECK(tutti_composition_set_params(made, of->params) == TUTTI_OK);
  tutti_status status = tutti_composition_init(made, in, out, &blocks, TUTTI_INT32, of->op[boot->rank], &request);
  if (status == TUTTI_OK) /* others may have found the difference before this rank comes */
    status = tutti_request_start(request);
  if (status == TUTTI_OK)
    status = tutti_wait(&request);
  CHECK(status != TUTTI_OK || of->text || out[0] == (boot->rank == 2 ? 0 : 10));
  for (int n = 0; n < 3 && status == TUTTI_OK; n++)
    status = tutti_barrier(comm);
  tutti_request_destroy(request);
  tutti_composition_destroy(made);
  return status;
}

static void run_trial(const tutti_boot *boot, void *given) {
  const trial *of = given;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  report(boot, broadcast(of, boot, comm));
  leave_all(context, comm);
}

static void test_compositions_that_differ_are_a_mismatch_on_all_ranks(void **state) {
  (void)state;
  for (size_t n = 0; n < sizeof trials / sizeof *trials; n++) {
    trial of = trials[n];
    run_job(RANKS, run_trial, &of);
    for (int r = 0; r < RANKS; r++)
      assert_outcome(r, of.text ? TUTTI_ERR_MISMATCH : TUTTI_OK, of.text ? of.text : "");
  }
}

/* ---- many primitives ---- */

/* What is made of a composition has to stay small where it is long: a text of it did not. */
static void add_many(const tutti_boot *boot, void *unused) {
  (void)unused;
  enum { BLOCKS = 30000 };
  static int64_t counts[BLOCKS];
  static int32_t in[BLOCKS], out[BLOCKS];
  const tutti_block_table blocks = {.counts = counts};
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_composition *made;
  tutti_request *request;
  CHECK(tutti_composition_create(comm, BLOCKS, &made) == TUTTI_OK && tutti_composition_stage(made, "go") == TUTTI_OK);
  for (int64_t b = 0; b < BLOCKS; b++) {
    counts[b] = 1;
    in[b] = (int32_t)(b + boot->rank);
    CHECK(tutti_composition_multicast(made, b % 2, NULL, 0, b, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
  }
  CHECK(tutti_composition_init(made, in, out, &blocks, TUTTI_INT32, TUTTI_SUM, &request) == TUTTI_OK);
  CHECK(tutti_request_start(request) == TUTTI_OK);
  report(boot, tutti_wait(&request));
  for (int64_t b = 0; b < BLOCKS; b++)
    CHECK(out[b] == b + b % 2);
  tutti_request_destroy(request);
  tutti_composition_destroy(made);
  leave_all(context, comm);
}

static void test_a_long_composition_runs(void **state) {
  (void)state;
  run_job(2, add_many, NULL);
  assert_outcome(0, TUTTI_OK, "");
  assert_outcome(1, TUTTI_OK, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_compositions_that_differ_are_a_mismatch_on_all_ranks),
      FAULT_TEST(test_a_long_composition_runs),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

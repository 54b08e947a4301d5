/* tests/fault/hidden_test.c - blocks whose lengths differ between their two ends while nothing else does: padding makes
 * messages as long, or one block has what another one lacks. TUTTI_ERR_MISMATCH on all ranks, with the block and who
 * differs, on every way that bytes take. */
#include "fault/fault.h"

#include <inttypes.h>
#include <tutti/composition.h>

enum { RANKS = 4, BLOCKS = 3, LONGEST = 60000 };

typedef struct way { /* that bytes take */
  const char *name, *params, *nodes, *slot_bytes, *direct_bytes;
  int64_t ends[RANKS], end_count; /* of rank 0's blocks */
  bool shared;                    /* memory of tutti_alloc */
} way;

static const way ways[] = {
    {"cells and streams", NULL, "", "4K", "16K", {1}, 1, false},
    {"little cells", NULL, "", "4K", "256", {1}, 1, false},
    {"slots", "[core:chain]", "", "4K", "0", {1}, 1, false},
    {"small slots", "[core:chain] slice=64", "", "64", "0", {1}, 1, false},
    {"relayed", "[core:chain]", "", "4K", "0", {1, 2, 3}, 3, false},
    {"published", "[core:star]", "", "4K", "0", {1, 2, 3}, 3, false},
    {"channels", "[core:chain] channels=2", "", "4K", "0", {1, 3}, 2, false},
    {"references", "[core:chain]", "", "4K", "0", {1}, 1, true},
    {"single copies", "[core:chain] single-copy", "", "4K", "0", {1}, 1, false},
    {"single copies to several", "[core:star] single-copy", "", "4K", "0", {1, 3}, 2, false},
    {"tcp", "[core:chain]", "cyclic:2", "4K", "0", {1}, 1, false},
    {"machines", "[node:chain/core:chain]", "2x2", "4K", "0", {1, 2, 3}, 3, false},
};

/* In elements of 4 bytes; `odd` is what rank 1 says. */
static const int64_t lengths[][2][BLOCKS] = {
    {{10, 5, 5}, {11, 5, 5}},
    {{5, 10, 5}, {5, 9, 5}},
    {{10, 5, 5}, {16, 5, 5}},
    {{2, 3, 5}, {3, 2, 5}},
    {{0, 10, 5}, {10, 0, 5}},
    {{5, 5, 0}, {5, 0, 5}},
    {{500, 510, 520}, {501, 510, 520}},
    {{16, 32, 16}, {32, 16, 16}},
    {{2048, 4096, 5}, {4096, 2048, 5}},
    {{LONGEST, 1001, 1000}, {LONGEST, 1000, 1001}},
    {{LONGEST, 20000, 7}, {20000, LONGEST, 7}},
};

typedef struct trial {
  const way *way;
  const int64_t (*lengths)[BLOCKS];
} trial;

static int32_t *take_memory(tutti_context *context, bool shared) {
  size_t bytes = (size_t)BLOCKS * LONGEST * sizeof(int32_t);
  void *memory = shared ? NULL : malloc(bytes);
  CHECK(!shared || tutti_alloc(context, bytes, &memory) == TUTTI_OK);
  memset(memory, 0, bytes);
  return memory;
}

static tutti_composition *compose(const way *of, tutti_comm *comm) {
  tutti_composition *made;
  CHECK(tutti_composition_create(comm, BLOCKS, &made) == TUTTI_OK && tutti_composition_stage(made, "go") == TUTTI_OK);
  for (int64_t b = 0; b < BLOCKS; b++)
    CHECK(tutti_composition_multicast(made, 0, of->ends, of->end_count, b, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
  CHECK(tutti_composition_set_params(made, of->params) == TUTTI_OK);
  return made;
}

/* Whoever waits for nobody may have left the call that differs. */
static tutti_status run(const trial *of, int64_t rank, tutti_context *context, tutti_comm *comm) {
  static const int64_t offsets[BLOCKS] = {0, LONGEST, 2 * LONGEST};
  const tutti_block_table blocks = {of->lengths[rank == 1], offsets, offsets};
  int32_t *in = take_memory(context, of->way->shared), *out = take_memory(context, false);
  tutti_composition *made = compose(of->way, comm);
  tutti_request *request = NULL;
  tutti_status status = tutti_composition_init(made, in, out, &blocks, TUTTI_INT32, TUTTI_SUM, &request);
  if (status == TUTTI_OK) /* others may have found the difference before this rank comes */
    status = tutti_request_start(request);
  if (status == TUTTI_OK)
    status = tutti_wait(&request);
  for (int n = 0; n < 3 && status == TUTTI_OK; n++)
    status = tutti_barrier(comm);
  tutti_request_destroy(request);
  tutti_composition_destroy(made);
  free(out);
  if (of->way->shared)
    tutti_free(context, in);
  else
    free(in);
  return status;
}

static void run_trial(const tutti_boot *boot, void *given) {
  const trial *of = given;
  setenv("TUTTI_NODES", of->way->nodes, 1);
  setenv("TUTTI_SLOT_BYTES", of->way->slot_bytes, 1);
  setenv("TUTTI_DIRECT_BYTES", of->way->direct_bytes, 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  report(boot, run(of, boot->rank, context, comm));
  leave_all(context, comm);
}

static void check(const trial *of) {
  for (int r = 0; r < RANKS; r++) {
    if (outcomes[r].status != TUTTI_ERR_MISMATCH)
      fprintf(stderr, "%s, %" PRId64 " %" PRId64 " %" PRId64 ": rank %d\n", of->way->name, of->lengths[0][0],
              of->lengths[0][1], of->lengths[0][2], r);
    assert_outcome(r, TUTTI_ERR_MISMATCH, "composition(): ");
    assert_outcome(r, TUTTI_ERR_MISMATCH, " block");
    if (of->way->end_count == 1)
      assert_outcome(r, TUTTI_ERR_MISMATCH, "rank 0 sends");
    if (of->way->end_count == 1)
      assert_outcome(r, TUTTI_ERR_MISMATCH, "rank 1");
  }
}

static void test_lengths_that_nothing_else_shows_are_a_mismatch(void **state) {
  (void)state;
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
      trial of = {&ways[w], lengths[n]};
      run_job(RANKS, run_trial, &of);
      check(&of);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {FAULT_TEST(test_lengths_that_nothing_else_shows_are_a_mismatch)};
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

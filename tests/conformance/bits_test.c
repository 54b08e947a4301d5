/* tests/conformance/bits_test.c - every rank gets the same bits from an allreduce, and the same again from run to run,
 * for numbers whose sum depends on the order in which they are added. */
#include "support/job.h"

#include "base/base.h"

#include <tutti/tutti.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST = 40000 };

/* Of very different sizes, so that rounding shows any other order. */
static void fill(float *in, int64_t count, int64_t rank) {
  tt_random random;
  tt_random_init(&random, (uint64_t)rank + 1);
  for (int64_t n = 0; n < count; n++) {
    float scale = (float)(1u << tt_random_below(&random, 24));
    in[n] = ((float)tt_random_below(&random, 1000000) - 500000.0f) / scale;
  }
}

static void check_equal_everywhere(const float *out, int64_t count, tutti_comm *comm) {
  int64_t hash = (int64_t)tt_hash(1, out, (size_t)count * sizeof *out), all[JOB_RANKS];
  CHECK(tutti_allgather(&hash, all, 1, TUTTI_INT64, comm) == TUTTI_OK);
  for (int64_t r = 0; r < tutti_comm_size(comm); r++)
    CHECK(all[r] == hash);
}

static void check_params(const char *params, tutti_comm *comm) {
  static const int64_t counts[] = {1, 7, 500, 3000, MOST};
  static float in[MOST], out[MOST], again[MOST];
  CHECK(tutti_comm_set_params(comm, "allreduce", params) == TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(counts); n++) {
    fill(in, counts[n], tutti_comm_rank(comm));
    CHECK(tutti_allreduce(in, out, counts[n], TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK);
    check_equal_everywhere(out, counts[n], comm);
    memcpy(again, in, sizeof again);
    CHECK(tutti_allreduce(again, again, counts[n], TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK);
    CHECK(memcmp(again, out, (size_t)counts[n] * sizeof *out) == 0);
  }
}

static void rank_main(const tutti_boot *boot, void *unused) {
  (void)unused;
  static const char *const params[] = {NULL,
                                       "linear",
                                       "recursive-doubling",
                                       "rabenseifner",
                                       "ring",
                                       "form=one [node:star/core:star]",
                                       "form=one [node:2-nomial,xor/core:star]",
                                       "form=one [core:4-nomial,xor]",
                                       "form=broadcast.reduce [core:2-nomial]"};
  tutti_context_options options;
  tutti_context *context;
  tutti_comm *comm;
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(params); n++)
    check_params(params[n], comm);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void run_ranks(int ranks, const char *groups) {
  if (groups)
    setenv("TUTTI_GROUPS", groups, 1);
  else
    unsetenv("TUTTI_GROUPS");
  assert_int_equal(job_run(ranks, rank_main, NULL), 0);
}

static void test_all_ranks_get_the_same_bits(void **state) {
  (void)state;
  for (int ranks = 1; ranks <= 8; ranks++)
    run_ranks(ranks, NULL);
}

static void test_the_same_over_nodes_of_any_kind(void **state) {
  (void)state;
  run_ranks(6, "3,2,1");
  run_ranks(7, "cyclic:3");
  run_ranks(8, "2x4");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_ranks_get_the_same_bits),
      cmocka_unit_test(test_the_same_over_nodes_of_any_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/conformance/bits_test.c - every rank gets the same bits from an allreduce, and the same again from run to run,
 * for numbers whose sum depends on the order in which they are added. */
#include "support/job.h"

#include "base/base.h"
#include "lower/lower.h"

#include <tutti/tutti.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST = 40000 };

static tutti_comm *join_all(const tutti_boot *boot, tutti_context **context) {
  tutti_context_options options;
  tutti_comm *comm;
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, context) == TUTTI_OK);
  CHECK(tutti_comm_create(*context, &comm) == TUTTI_OK);
  return comm;
}

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
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  for (size_t n = 0; n < TT_COUNT(params); n++)
    check_params(params[n], comm);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

/* ---- reproducible ---- */

enum { FEW = 700 };

/* The sum in rank order, of the first `last` + 1 ranks. */
static void add_up(float *sum, int64_t last) {
  static float in[FEW];
  for (int64_t r = 0; r <= last; r++) {
    fill(in, FEW, r);
    for (int64_t n = 0; n < FEW; n++)
      sum[n] = r ? sum[n] + in[n] : in[n];
  }
}

static bool same_bits(const float *a, const float *b, int64_t count) {
  return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

/* 0 where the parameters do not fit the collective, else 1. */
static int check_sums(const char *collective, const char *params, tutti_comm *comm) {
  static float in[FEW], out[FEW], all[FEW];
  int64_t rank = tutti_comm_rank(comm), size = tutti_comm_size(comm), part = FEW / size;
  tutti_status status;
  if (tutti_comm_set_params(comm, collective, params) != TUTTI_OK)
    return 0;
  fill(in, FEW, rank);
  memset(out, 0, sizeof out);
  bool scans = strcmp(collective, "scan") == 0, scatters = strcmp(collective, "reduce-scatter") == 0;
  if (scans)
    status = tutti_scan(in, out, FEW, TUTTI_FLOAT32, TUTTI_SUM, comm);
  else if (scatters)
    status = tutti_reduce_scatter(in, out, part, TUTTI_FLOAT32, TUTTI_SUM, comm);
  else if (strcmp(collective, "reduce") == 0)
    status = tutti_reduce(in, out, FEW, TUTTI_FLOAT32, TUTTI_SUM, size - 1, comm);
  else
    status = tutti_allreduce(in, out, FEW, TUTTI_FLOAT32, TUTTI_SUM, comm);
  CHECK(status == TUTTI_OK || status == TUTTI_ERR_PLAN);
  bool has_out = strcmp(collective, "reduce") != 0 || rank == size - 1;
  if (status != TUTTI_OK || !has_out)
    return status == TUTTI_OK;
  add_up(all, scans ? rank : size - 1);
  CHECK(scatters ? same_bits(out, all + rank * part, part) : same_bits(out, all, FEW));
  return 1;
}

static void check_presets(tutti_comm *comm) {
  static const char *const collectives[] = {"allreduce", "reduce", "reduce-scatter", "scan"};
  static const char *const more[] = {"", " channels=2", " channels=3 slice=1K", " stripe=1", " stripe=2 channels=2"};
  size_t count;
  const tt_preset *presets = tt_preset_table(&count);
  for (size_t c = 0; c < TT_COUNT(collectives); c++) {
    int fit = 0;
    for (size_t p = 0; p < count; p++)
      for (size_t m = 0; m < TT_COUNT(more); m++) {
        char text[160];
        snprintf(text, sizeof text, "%s%s reproducible", presets[p].name, more[m]);
        fit += check_sums(collectives[c], text, comm);
      }
    CHECK(fit >= 20);
  }
}

static void reproduce(const tutti_boot *boot, void *unused) {
  (void)unused;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  check_presets(comm);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_reproducible_sums_are_those_of_rank_order_whatever_the_parameters(void **state) {
  (void)state;
  static const char *const maps[] = {"cyclic:1", "cyclic:2", "cyclic:3"};
  for (int ranks = 1; ranks <= 8; ranks++)
    for (size_t m = 0; m < TT_COUNT(maps); m++) {
      setenv("TUTTI_GROUPS", maps[m], 1);
      assert_int_equal(job_run(ranks, reproduce, NULL), 0);
    }
  setenv("TUTTI_GROUPS", "5,1,2", 1);
  assert_int_equal(job_run(8, reproduce, NULL), 0);
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
      cmocka_unit_test(test_reproducible_sums_are_those_of_rank_order_whatever_the_parameters),
      cmocka_unit_test(test_the_same_over_nodes_of_any_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

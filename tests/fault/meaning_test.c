/* tests/fault/meaning_test.c - bytes of which ranks say what they mean: ranks that say the same, or nothing, agree;
 * others get TUTTI_ERR_MISMATCH with what they said. */
#include "fault/fault.h"

#include <tutti/tutti.h>

enum { RANKS = 3, SMALL = 16, LARGE = 1 << 20, NOTHING = 0, INTS = 1 + TUTTI_INT32, FLOATS = 1 + TUTTI_FLOAT32 };
enum { THIS = 1000, THAT = 1001 }; /* of no type of tutti's */

typedef struct wording {
  int32_t meaning[RANKS];
  const char *text; /* NULL: they agree */
} wording;

static const wording wordings[] = {
    {{INTS, INTS, INTS}, NULL},
    {{INTS, NOTHING, INTS}, NULL},
    {{NOTHING, FLOATS, NOTHING}, NULL},
    {{THIS, THIS, NOTHING}, NULL},
    {{INTS, FLOATS, INTS}, ", float32"},
    {{INTS, FLOATS, NOTHING}, ", int32"},
    {{INTS, THAT, INTS}, ", bytes of mixed elements"},
    {{THIS, THAT, THAT}, "the types of their elements differ"},
};

typedef struct way {
  const char *params;
  int64_t bytes;
} way;

static const way ways[] = {{"linear", SMALL}, {"linear", LARGE}, {"chain", SMALL}, {"chain", LARGE}};

typedef struct trial {
  const wording *of;
  const way *by;
} trial;

static tutti_comm *open_comm(const tutti_boot *boot, tutti_context **context) {
  tutti_context_options options;
  tutti_comm *comm;
  tutti_context_options_init(&options);
  alarm(60); /* a hang becomes a failure */
  options.boot = boot;
  CHECK(tutti_context_create(&options, context) == TUTTI_OK);
  CHECK(tutti_comm_create(*context, &comm) == TUTTI_OK);
  return comm;
}

/* The call, and one in which everyone agrees: the root may have left the first before the others came. */
static tutti_status broadcast(const trial *by, const tutti_boot *boot, tutti_comm *comm) {
  static unsigned char in[LARGE], out[LARGE];
  int64_t one = 1, sum = 0;
  memset(in, 7, sizeof in);
  memset(out, 0, sizeof out);
  tutti_type type = tutti_type_of_bytes(by->of->meaning[boot->rank]);
  tutti_status status = tutti_broadcast(in, out, by->by->bytes, type, 0, comm);
  CHECK(status != TUTTI_OK || (out[0] == 7 && out[by->by->bytes - 1] == 7));
  if (status == TUTTI_OK)
    status = tutti_allreduce(&one, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm);
  CHECK(status != TUTTI_OK || sum == RANKS);
  return status;
}

static void run_trial(const tutti_boot *boot, void *given) {
  const trial *by = given;
  tutti_context *context;
  tutti_comm *comm = open_comm(boot, &context);
  CHECK(tutti_comm_set_params(comm, "broadcast", by->by->params) == TUTTI_OK);
  if (!by->of->text) {
    CHECK(broadcast(by, boot, comm) == TUTTI_OK);
    CHECK(broadcast(by, boot, comm) == TUTTI_OK);
  } else {
    CHECK(broadcast(by, boot, comm) == TUTTI_ERR_MISMATCH);
    CHECK(strstr(tutti_last_error(), "called broadcast(count ")); /* by two that differ; a third may come later */
    CHECK(strstr(tutti_last_error(), by->of->text));
  }
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_ranks_agree_or_learn_what_others_said(void **state) {
  (void)state;
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
    for (size_t n = 0; n < sizeof wordings / sizeof *wordings; n++)
      assert_int_equal(job_run(RANKS, run_trial, &(trial){&wordings[n], &ways[w]}), 0);
}

/* As lengths, which are still found where meanings agree. */
static void gather_less(const tutti_boot *boot, void *unused) {
  (void)unused;
  static unsigned char in[SMALL], out[RANKS * SMALL];
  const int64_t counts[RANKS] = {8, 8, 8}, offsets[RANKS] = {0, SMALL, 2 * SMALL};
  tutti_context *context;
  tutti_comm *comm = open_comm(boot, &context);
  tutti_type type = tutti_type_of_bytes(boot->rank == 2 ? NOTHING : INTS);
  CHECK(tutti_gatherv(in, 8, out, counts, offsets, type, 0, comm) == TUTTI_OK);
  meet_all(context);
  tutti_status status = tutti_gatherv(in, boot->rank == 1 ? 4 : 8, out, counts, offsets, type, 0, comm);
  if (status == TUTTI_OK)
    status = tutti_barrier(comm);
  CHECK(status == TUTTI_ERR_MISMATCH);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_lengths_are_compared_as_before(void **state) {
  (void)state;
  assert_int_equal(job_run(RANKS, gather_less, NULL), 0);
}

static void refuse(const tutti_boot *boot, void *unused) {
  (void)unused;
  unsigned char in[4] = {0}, out[4] = {0};
  tutti_context *context;
  tutti_comm *comm = open_comm(boot, &context);
  CHECK(tutti_allreduce(in, out, 4, tutti_type_of_bytes(INTS), TUTTI_SUM, comm) == TUTTI_ERR_ARGUMENT);
  CHECK(tutti_type_of_bytes(0) == TUTTI_BYTE && tutti_type_of_bytes(-1) == TUTTI_BYTE);
  CHECK(tutti_type_of_bytes(65536) == TUTTI_BYTE);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_bytes_that_mean_something_are_not_combined(void **state) {
  (void)state;
  assert_int_equal(job_run(1, refuse, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranks_agree_or_learn_what_others_said),
      cmocka_unit_test(test_lengths_are_compared_as_before),
      cmocka_unit_test(test_bytes_that_mean_something_are_not_combined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

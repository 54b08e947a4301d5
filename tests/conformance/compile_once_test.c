/* A program with 10,000 different counts compiles each plan once: plans have no lengths, so that counts, types and
 * operators share them, in blocking, non-blocking and persistent calls. */
#include "api/api.h"
#include "support/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { COUNTS = 10000, RANKS = 2 };

static int entry_count(const tutti_comm *comm) {
  int count = 0;
  for (const tt_entry *n = comm->calls.entries; n; n = n->next)
    count++;
  return count;
}

/* By rules of the profile, one plan for small calls and one for large ones. */
static void call_blocking(tutti_comm *comm, const float *in, float *out) {
  for (int64_t count = 0; count < COUNTS; count++) {
    tutti_type type = count % 2 ? TUTTI_FLOAT32 : TUTTI_INT32;
    CHECK(tutti_allreduce(in, out, count, type, count % 3 ? TUTTI_SUM : TUTTI_MAX, comm) == TUTTI_OK);
  }
}

static void call_otherwise(tutti_comm *comm, const float *in, float *out) {
  for (int64_t count = 1; count < COUNTS; count += 97) {
    tutti_request *request;
    CHECK(tutti_allreduce_start(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, comm, &request) == TUTTI_OK);
    CHECK(tutti_wait(&request) == TUTTI_OK);
    CHECK(tutti_allreduce_init(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, comm, &request) == TUTTI_OK);
    CHECK(tutti_request_start(request) == TUTTI_OK && tutti_wait(&request) == TUTTI_OK);
    tutti_request_destroy(request);
  }
}

static tutti_comm *join(const tutti_boot *boot, tutti_context **context) {
  tutti_context_options options;
  tutti_comm *comm;
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, context) == TUTTI_OK);
  CHECK(tutti_comm_create(*context, &comm) == TUTTI_OK);
  return comm;
}

static void run_rank(const tutti_boot *boot, void *argument) {
  static float in[COUNTS], out[COUNTS];
  tutti_context *context;
  tutti_comm *comm = join(boot, &context);
  (void)argument;
  CHECK(tutti_allreduce(in, out, 1, TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK);
  CHECK(tutti_allreduce(in, out, COUNTS, TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK);
  int compiled = entry_count(comm);
  const tt_entry *newest = comm->calls.entries;
  CHECK(compiled >= 1 && compiled <= 2);
  call_blocking(comm, in, out);
  call_otherwise(comm, in, out);
  CHECK(entry_count(comm) == compiled && comm->calls.entries == newest);
  CHECK(tutti_broadcast(in, out, 3, TUTTI_FLOAT32, 0, comm) == TUTTI_OK);
  CHECK(tutti_broadcast(in, out, 5, TUTTI_INT64, 0, comm) == TUTTI_OK);
  CHECK(entry_count(comm) == compiled + 1);
  CHECK(tutti_broadcast(in, out, 3, TUTTI_FLOAT32, 1, comm) == TUTTI_OK); /* another root is another plan */
  CHECK(entry_count(comm) == compiled + 2);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_ten_thousand_counts_compile_each_plan_once(void **state) {
  (void)state;
  unsetenv("TUTTI_PARAMS");
  unsetenv("TUTTI_PROFILE");
  assert_int_equal(job_run(RANKS, run_rank, NULL), 0);
}

/* ---- all-to-allv ---- */

enum { PEERS = 3, SHORT = 20, LONG = 9000, VECTORS = 10000 };

typedef struct vectors { /* of one call and rank: what it has for others, and what they have for it */
  int64_t in_count[PEERS], in_offset[PEERS], out_count[PEERS], out_offset[PEERS];
} vectors;

/* Elements from one rank to another in that call: mostly few, now and then none or many. */
static int64_t length_of(int call, int64_t from, int64_t to) {
  const int64_t facts[] = {call, from, to};
  uint64_t mixed = tt_hash(5, facts, sizeof facts);
  return mixed % 7 == 0 ? 0 : mixed % 200 == 1 ? (int64_t)(mixed >> 8) % LONG : (int64_t)(mixed >> 8) % SHORT;
}

static vectors vectors_of(int call, int64_t rank) {
  vectors made = {0};
  int64_t in = 0, out = 0;
  for (int64_t peer = 0; peer < PEERS; peer++) {
    made.in_count[peer] = length_of(call, rank, peer);
    made.out_count[peer] = length_of(call, peer, rank);
    made.in_offset[peer] = in;
    made.out_offset[peer] = out;
    in += made.in_count[peer];
    out += made.out_count[peer];
  }
  return made;
}

static int32_t element_of(int call, int64_t from, int64_t to, int64_t index) {
  return (int32_t)(call * 31 + from * 7 + to * 3 + index);
}

static void call_vectors(tutti_comm *comm, int call, int64_t rank) {
  static int32_t in[PEERS * LONG], out[PEERS * LONG];
  vectors of = vectors_of(call, rank);
  for (int64_t to = 0; to < PEERS; to++)
    for (int64_t n = 0; n < of.in_count[to]; n++)
      in[of.in_offset[to] + n] = element_of(call, rank, to, n);
  CHECK(tutti_all_to_allv(in, of.in_count, of.in_offset, out, of.out_count, of.out_offset, TUTTI_INT32, comm) ==
        TUTTI_OK);
  for (int64_t from = 0; from < PEERS; from++)
    for (int64_t n = 0; n < of.out_count[from]; n++)
      CHECK(out[of.out_offset[from] + n] == element_of(call, from, rank, n));
}

static void run_vectors(const tutti_boot *boot, void *argument) {
  tutti_context *context;
  tutti_comm *comm = join(boot, &context);
  (void)argument;
  call_vectors(comm, 0, boot->rank);
  const tt_entry *entry = comm->calls.entries;
  const tt_bound_plan *plan = entry->by_class[TT_CLASS_ENDS];
  const tt_executor *executor = entry->executor[TT_CLASS_ENDS];
  CHECK(plan && executor && !entry->by_class[TT_CLASS_CELLS] && !entry->by_class[TT_CLASS_STREAMS]);
  for (int call = 1; call < VECTORS; call++)
    call_vectors(comm, call, boot->rank);
  CHECK(comm->calls.entries == entry && entry_count(comm) == 1);
  CHECK(entry->by_class[TT_CLASS_ENDS] == plan && entry->executor[TT_CLASS_ENDS] == executor);
  CHECK(!entry->by_class[TT_CLASS_CELLS] && !entry->by_class[TT_CLASS_STREAMS]);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_ten_thousand_vectors_of_counts_are_bound_once(void **state) {
  (void)state;
  unsetenv("TUTTI_PARAMS");
  assert_int_equal(job_run(PEERS, run_vectors, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ten_thousand_counts_compile_each_plan_once),
      cmocka_unit_test(test_ten_thousand_vectors_of_counts_are_bound_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

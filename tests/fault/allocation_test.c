/* The n-th allocation of one rank fails, for each n from the creation of a context to the end of all kinds of calls: an
 * error or none, no crash, no leak (under the address sanitizer), and the other ranks learn of it before any timeout.
 *
 * The test's own malloc is in front of the C library's, or of the sanitizer's. */
#include "fault/fault.h"
#include "job/wisdom.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <tutti/composition.h>

#if SANITIZED
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#define __libc_aligned_alloc __libc_memalign
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *memory, size_t size);
void *REAL(aligned_alloc)(size_t alignment, size_t size);

static int64_t allowed = -1; /* allocations until one fails; -1: none does */
static int64_t counted;

static bool fails(void) {
  counted++;
  return allowed >= 0 && counted == allowed + 1;
}

void *malloc(size_t size) { return fails() ? NULL : REAL(malloc)(size); }

void *calloc(size_t count, size_t size) { return fails() ? NULL : REAL(calloc)(count, size); }

void *realloc(void *memory, size_t size) { return fails() ? NULL : REAL(realloc)(memory, size); }

void *aligned_alloc(size_t alignment, size_t size) { return fails() ? NULL : REAL(aligned_alloc)(alignment, size); }

#define LARGE 40000

typedef struct lack {
  int rank;
  int64_t number; /* of the allocation that fails */
} lack;

static tutti_status complete(tutti_status status, tutti_request **request) {
  return status == TUTTI_OK ? tutti_wait(request) : status;
}

static void add(const void *left, const void *right, void *out, int64_t count, void *user) {
  (void)user;
  for (int64_t n = 0; n < count; n++)
    ((int64_t *)out)[n] = ((const int64_t *)left)[n] + ((const int64_t *)right)[n];
}

/* Operators and types of the user's own, calls with lists, in place, and along a graph. */
static tutti_status use_more(tutti_context *context, tutti_comm *comm) {
  static int64_t in[6], out[600], counts[3] = {1, 0, 2};
  const int64_t all[3] = {0, 1, 2};
  tutti_op op;
  tutti_type type;
  tutti_graph *graph = NULL;
  tutti_request *request = NULL;
  tutti_status status = tutti_op_create(context, add, NULL, sizeof(int64_t), 1, &op);
  if (status == TUTTI_OK)
    status = tutti_type_create(context, sizeof(int64_t), &type);
  if (status == TUTTI_OK)
    status = tutti_scan(in, out, 6, type, op, comm);
  if (status == TUTTI_OK)
    status = tutti_allgatherv(in, out, counts, NULL, type, comm);
  if (status == TUTTI_OK)
    status = tutti_all_to_all(out, out, 200, TUTTI_INT64, comm);
  if (status == TUTTI_OK)
    status = tutti_graph_create(comm, 3, all, 3, all, &graph);
  if (status == TUTTI_OK)
    status = complete(tutti_neighbor_all_to_all_start(in, out, 2, type, graph, &request), &request);
  tutti_graph_destroy(graph);
  return status;
}

static tutti_status use(tutti_context *context, tutti_comm *comm) {
  static int32_t in[LARGE], out[LARGE];
  tutti_request *request = NULL;
  tutti_comm *part = NULL;
  tutti_status status = tutti_allreduce(in, out, 4, TUTTI_INT32, TUTTI_SUM, comm);
  if (status == TUTTI_OK)
    status = tutti_allreduce(in, out, LARGE, TUTTI_INT32, TUTTI_SUM, comm);
  if (status == TUTTI_OK)
    status = complete(tutti_broadcast_start(in, out, LARGE, TUTTI_INT32, 1, comm, &request), &request);
  if (status == TUTTI_OK)
    status = tutti_comm_set_params(comm, "allreduce", "[core:2-nomial,xor]");
  if (status == TUTTI_OK)
    status = tutti_allreduce(in, out, LARGE, TUTTI_INT32, TUTTI_SUM, comm);
  if (status == TUTTI_OK)
    status = tutti_comm_split(comm, 0, 0, &part);
  if (status == TUTTI_OK)
    status = tutti_barrier(part);
  tutti_comm_destroy(part);
  return status == TUTTI_OK ? use_more(context, comm) : status;
}

static void live_with(const tutti_boot *boot, void *argument) {
  const lack *of = argument;
  tutti_context_options options;
  tutti_context *context = NULL;
  tutti_comm *comm = NULL;
  alarm(HANG_S);
  tutti_context_options_init(&options);
  options.boot = boot;
  options.timeout_ns = 20000000000;
  counted = 0;
  allowed = boot->rank == of->rank ? of->number : -1;
  tutti_status status = tutti_context_create(&options, &context);
  if (status == TUTTI_OK)
    status = tutti_comm_create(context, &comm);
  if (status == TUTTI_OK && (status = use(context, comm)) != TUTTI_OK)
    tutti_comm_abort(comm, "this rank has no memory");
  outcomes[boot->rank].calls = counted;
  report(boot, status);
  leave_all(context, comm);
  allowed = -1;
  check_leaks();
}

static void test_any_allocation_may_fail(void **state) {
  (void)state;
  lack of = {.rank = 1, .number = INT64_MAX - 1};
  run_job(3, live_with, &of);
  assert_outcome(1, TUTTI_OK, "");
  int64_t all = outcomes[1].calls, slowest_ns = 0, failed = 0;
  int64_t step = long_mode() ? 1 : all / 60 + 1;
  for (int64_t n = 0; n < 2 * all; n += step) {
    of = (lack){.rank = n < all ? 1 : 0, .number = n % all};
    int64_t began_ns = now_ns();
    run_job(3, live_with, &of);
    slowest_ns = now_ns() - began_ns > slowest_ns ? now_ns() - began_ns : slowest_ns;
    failed += outcomes[of.rank].status != TUTTI_OK;
    for (int r = 0; r < 3; r++)
      assert_int_not_equal(outcomes[r].status, TUTTI_ERR_TIMEOUT);
  }
  print_message("%" PRId64 " allocations, %" PRId64 " jobs failed, the slowest took %.1f ms\n", all, failed,
                (double)slowest_ns * 1e-6);
  assert_true(failed > 0);
}

/* ---- in a call that others wait in ---- */

/* Blocks of `out` between those of `in`. */
static tutti_status exchange_between(tutti_comm *comm, int64_t may) {
  static const int64_t counts[3] = {1, 1, 1}, offsets[3] = {0, 2, 4};
  static int64_t both[6];
  allowed = may;
  tutti_status status = tutti_all_to_allv(both, counts, offsets, both + 1, counts, offsets, TUTTI_INT64, comm);
  allowed = -1;
  return status;
}

static tutti_status init_composition(tutti_comm *comm, int64_t may) {
  static const int64_t counts[1] = {1};
  int64_t in = 7, out = 0;
  tutti_composition *of = NULL;
  tutti_request *request = NULL;
  tutti_status status = tutti_composition_create(comm, 1, &of);
  if (status == TUTTI_OK)
    status = tutti_composition_stage(of, "all");
  if (status == TUTTI_OK)
    status = tutti_composition_multicast(of, 0, NULL, 0, 0, TUTTI_IN, TUTTI_OUT);
  counted = 0;
  allowed = may;
  if (status == TUTTI_OK)
    status =
        tutti_composition_init(of, &in, &out, &(tutti_block_table){.counts = counts}, TUTTI_INT64, TUTTI_SUM, &request);
  allowed = -1;
  if (status == TUTTI_OK)
    status = tutti_request_start(request);
  if (status == TUTTI_OK)
    status = tutti_wait(&request);
  tutti_request_destroy(request);
  tutti_composition_destroy(of);
  return status;
}

/* On rank 1 each allocation of the call fails once: that breaks the communicator, and the others do not wait. */
static void lack_all(const tutti_boot *boot, void *argument) {
  const bool *composed = argument;
  setenv("TUTTI_TIMEOUT", "20s", 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t failed = 0;
  for (int64_t n = 0, reached = 1; reached; n++) {
    tutti_comm *part = NULL;
    CHECK(tutti_comm_split(comm, 0, 0, &part) == TUTTI_OK && tutti_barrier(part) == TUTTI_OK);
    counted = 0;
    tutti_status status = (*composed ? init_composition : exchange_between)(part, boot->rank == 1 ? n : -1);
    const int64_t mine[2] = {boot->rank == 1 && counted > n, boot->rank == 1 && status != TUTTI_OK};
    int64_t all[2];
    CHECK(status == TUTTI_OK || status == TUTTI_ERR_MEMORY);
    CHECK(tutti_allreduce(mine, all, 2, TUTTI_INT64, TUTTI_MAX, comm) == TUTTI_OK);
    CHECK(tutti_barrier(part) == (all[1] ? TUTTI_ERR_MEMORY : TUTTI_OK));
    CHECK(!all[1] || strstr(tutti_last_error(), "rank 1"));
    tutti_comm_destroy(part);
    reached = all[0];
    failed += all[1];
  }
  CHECK(failed > 0);
  leave_all(context, comm);
  check_leaks();
}

static void test_lack_of_memory_in_a_call_is_an_error_of_all(void **state) {
  (void)state;
  for (int n = 0; n < 2; n++) {
    bool composed = n;
    run_job(3, lack_all, &composed);
  }
}

/* ---- in a call that is the first to choose by wisdom ---- */

static const char winner[] = "[core:chain] slice=8K";

static void choose(const tutti_boot *boot, void *argument) {
  const lack *of = argument;
  int64_t in = 1, out = 0;
  setenv("TUTTI_TIMEOUT", "20s", 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  counted = 0;
  allowed = boot->rank == of->rank ? of->number : -1;
  report(boot, tutti_allreduce(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm));
  allowed = -1;
  outcomes[boot->rank].calls = counted;
  CHECK(outcomes[boot->rank].status != TUTTI_OK || strcmp(tutti_comm_last_params(comm), winner) == 0);
  leave_all(context, comm);
  check_leaks();
}

static void write_wisdom(const char *path) {
  char found[TT_WISDOM_PATH], machine[TT_MACHINE_TEXT];
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_int_equal(tt_wisdom_find(path, false, found, machine), TUTTI_OK);
  fprintf(file,
          "{\"tutti-wisdom\": 1, \"machine\": \"%s\", \"winners\": [{\"collective\": \"allreduce\", \"ranks\": 3, "
          "\"nodes\": 1, \"ranks_per_node\": 3, \"nics\": 1, \"bytes\": 8, \"params\": \"%s\", \"ns\": 1, "
          "\"rules_ns\": 2}]}",
          machine, winner);
  fclose(file);
}

static void test_lack_of_memory_for_wisdom_is_no_other_choice(void **state) {
  (void)state;
  static const char path[] = "/tmp/tutti-allocation-wisdom.json";
  lack of = {.rank = 1};
  int of_wisdom = 0;
  setenv("XDG_CACHE_HOME", "/dev/null", 1); /* there is none */
  setenv("TUTTI_WISDOM", path, 1);
  write_wisdom(path);
  for (int64_t reached = 1; reached; of.number++) {
    run_job(3, choose, &of);
    reached = outcomes[1].calls > of.number;
    of_wisdom += strstr(outcomes[1].text, "rank 1: no memory for wisdom") != NULL;
    for (int r = 0; r < 3; r++)
      if (outcomes[r].status != TUTTI_OK)
        assert_outcome(r, TUTTI_ERR_MEMORY, "rank 1");
  }
  assert_int_equal(of_wisdom, 1);
  unlink(path);
  setenv("TUTTI_WISDOM", "off", 1);
  unsetenv("XDG_CACHE_HOME");
}

void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* A thread that ends early loads it. What the loader allocates comes by the malloc above, and so looks like a leak. */
static void load_unwinder(void) {
  if (__lsan_disable)
    __lsan_disable();
  dlopen("libgcc_s.so.1", RTLD_NOW);
  if (__lsan_enable)
    __lsan_enable();
}

int main(void) {
  load_unwinder();
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_any_allocation_may_fail),
      FAULT_TEST(test_lack_of_memory_in_a_call_is_an_error_of_all),
      FAULT_TEST(test_lack_of_memory_for_wisdom_is_no_other_choice),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

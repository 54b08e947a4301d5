/* The n-th allocation of one rank fails, for each n from the creation of a context to the end of all kinds of calls: an
 * error or none, no crash, no leak (under the address sanitizer), and the other ranks learn of it before any timeout.
 *
 * The test's own malloc is in front of the C library's, or of the sanitizer's. */
#include "fault/fault.h"

#include <inttypes.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {FAULT_TEST(test_any_allocation_may_fail)};
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

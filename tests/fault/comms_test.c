/* Communicators in numbers: parts of every kind, hundreds alive, thousands made and destroyed without a trace; requests
 * in any number and order on several of them. */
#include "fault/fault.h"

#include "api/api.h"
#include "transport/shm/self.h"

#define COMMS 400

static int64_t sum_of(tutti_comm *comm, int64_t value) {
  int64_t sum = -1;
  CHECK(tutti_allreduce(&value, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_OK);
  return sum;
}

/* ---- parts ---- */

static void check_part(tutti_comm *part, int64_t rank, int64_t size, int64_t job_rank, int64_t sum) {
  CHECK(tutti_comm_rank(part) == rank);
  CHECK(tutti_comm_size(part) == size);
  CHECK(sum_of(part, job_rank) == sum);
  tutti_comm_destroy(part);
}

static void split_in_all_ways(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context), *part = NULL, *inner = NULL;
  int64_t rank = boot->rank; /* of 6 */
  CHECK(tutti_comm_split(comm, rank % 2, 0, &part) == TUTTI_OK);
  check_part(part, rank / 2, 3, rank, rank % 2 ? 9 : 6);
  CHECK(tutti_comm_split(comm, 7, -rank, &part) == TUTTI_OK);
  check_part(part, 5 - rank, 6, rank, 15);
  CHECK(tutti_comm_split(comm, rank, 0, &part) == TUTTI_OK);
  check_part(part, 0, 1, rank, rank);
  part = comm;
  CHECK(tutti_comm_split(comm, rank < 2 ? -1 : 0, 0, &part) == TUTTI_OK);
  CHECK((part == NULL) == (rank < 2));
  if (part)
    check_part(part, rank - 2, 4, rank, 14);
  CHECK(tutti_comm_split(comm, rank / 3, -rank, &part) == TUTTI_OK);
  CHECK(tutti_comm_split(part, tutti_comm_rank(part) == 1, 0, &inner) == TUTTI_OK);
  tutti_comm_destroy(part); /* the inner one needs it no more */
  bool middle = rank % 3 == 1;
  check_part(inner, middle ? 0 : rank % 3 == 2 ? 0 : 1, middle ? 1 : 2, rank, middle ? rank : rank < 3 ? 2 : 8);
  leave_all(context, comm);
}

static void test_parts_of_every_kind(void **state) {
  (void)state;
  run_job(6, split_in_all_ways, NULL);
}

/* ---- a rank that cannot make its part ---- */

static void lack_memory(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context), *part = NULL;
  CHECK(tutti_comm_split(comm, 0, 0, &part) == TUTTI_OK);
  if (boot->rank == 1)
    tt_agree_lack(context, part->id, TUTTI_ERR_MEMORY); /* as if it had had no memory */
  else
    report(boot, tutti_barrier(part));
  tutti_comm_destroy(part);
  CHECK(sum_of(comm, 1) == 3); /* the parent is as it was */
  leave_all(context, comm);
}

#define WITHOUT_PART "rank 1 (rank 1 of the job) could not make its part of this communicator: TUTTI_ERR_MEMORY"

static void test_rank_without_memory_for_its_part_is_named_at_the_first_call(void **state) {
  (void)state;
  run_job(3, lack_memory, NULL);
  assert_outcome(0, TUTTI_ERR_MEMORY, WITHOUT_PART);
  assert_outcome(2, TUTTI_ERR_MEMORY, WITHOUT_PART);
}

/* ---- many ---- */

static void keep_many(const tutti_boot *boot, void *argument) {
  (void)argument;
  static tutti_comm *comm[COMMS];
  static int32_t in[9000], out[9000];
  tutti_context *context = join_job(boot);
  int before = entries_of("/proc/self/fd");
  for (int n = 0; n < COMMS; n++)
    CHECK(tutti_comm_create(context, &comm[n]) == TUTTI_OK);
  for (int n = COMMS - 1; n >= 0; n--)
    CHECK(sum_of(comm[n], n) == 3 * n);
  for (int n = 0; n < COMMS; n += 8)
    CHECK(tutti_allreduce(in, out, 9000, TUTTI_INT32, TUTTI_MAX, comm[n]) == TUTTI_OK);
  CHECK(entries_of("/proc/self/fd") == before);
  for (int n = 0; n < COMMS; n++)
    tutti_comm_destroy(comm[n * 7 % COMMS]);
  tutti_context_destroy(context);
}

static void test_hundreds_of_communicators_live_at_once(void **state) {
  (void)state;
  run_job(3, keep_many, NULL);
}

static int64_t resident_pages(void) {
  long size, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
  fclose(file);
  return resident;
}

/* Bytes of the shared segment that were ever taken from it. */
static uint64_t segment_bytes(const tutti_context *context) {
  return ((const tt_shm *)context->transport)->segment->head->bump;
}

static void make_and_destroy(tutti_context *context, int count) {
  static int32_t in[9000], out[9000];
  tutti_comm *comm = NULL;
  for (int n = 0; n < count; n++) {
    CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
    CHECK(sum_of(comm, 1) == 2);
    if (n % 16 == 0)
      CHECK(tutti_allreduce(in, out, 9000, TUTTI_INT32, TUTTI_SUM, comm) == TUTTI_OK);
    tutti_comm_destroy(comm);
  }
}

static void make_and_destroy_many(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context = join_job(boot);
  int count = long_mode() ? 10000 : 1000;
  alarm(10 * HANG_S);
  make_and_destroy(context, 100);
  uint64_t segment = segment_bytes(context);
  int64_t pages = resident_pages();
  make_and_destroy(context, count);
  outcomes[boot->rank].calls = resident_pages() - pages;
  outcomes[boot->rank].at_ns = (int64_t)(segment_bytes(context) - segment);
  tutti_context_destroy(context);
  check_leaks();
}

static void test_communicators_leave_nothing(void **state) {
  (void)state;
  run_job(2, make_and_destroy_many, NULL);
  print_message("more pages resident: %lld, more bytes of the segment: %lld\n", (long long)outcomes[0].calls,
                (long long)outcomes[0].at_ns);
  if (!SANITIZED)                         /* which keeps freed memory for a while, and looks for leaks itself */
    assert_true(outcomes[0].calls < 512); /* 2 MiB: 10,000 leaks of a few hundred bytes are more */
  assert_true(outcomes[0].at_ns < 1 << 20);
}

/* What a rank opens depends on what it has to send; what the others open for it goes all the same. */
static void gather_mixed(tutti_comm *comm) {
  static const int64_t counts[] = {1, 1000, 0, 60000}, offsets[] = {0, 1, 1001, 1001};
  static unsigned char in[60000], out[61001];
  int64_t count = counts[tutti_comm_rank(comm)];
  CHECK(tutti_gatherv(in, count, out, counts, offsets, TUTTI_BYTE, 2, comm) == TUTTI_OK);
}

static void gather_mixed_often(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context = join_job(boot);
  uint64_t segment = 0;
  for (int n = 0; n < 80; n++) {
    tutti_comm *comm = NULL;
    CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
    gather_mixed(comm);
    tutti_comm_destroy(comm);
    segment = n == 20 ? segment_bytes(context) : segment;
  }
  outcomes[boot->rank].at_ns = (int64_t)(segment_bytes(context) - segment);
  tutti_context_destroy(context);
}

static void test_ends_that_nobody_opens_leave_nothing(void **state) {
  (void)state;
  run_job(4, gather_mixed_often, NULL);
  print_message("more bytes of the segment: %lld\n", (long long)outcomes[0].at_ns);
  assert_true(outcomes[0].at_ns < 2 << 20);
}

/* ---- numbers of the user's ---- */

static void number_groups(const tutti_boot *boot, void *argument) {
  (void)argument;
  static const int64_t all[] = {0, 1, 2};
  tutti_context *context = join_job(boot);
  tutti_comm *comm = NULL, *other = NULL;
  CHECK(tutti_comm_create_group(context, 5, 3, all, &comm) == TUTTI_OK);
  CHECK(tutti_comm_create_group(context, 5, 3, all, &other) == TUTTI_ERR_ARGUMENT && !other);
  CHECK(strstr(tutti_last_error(), "number is 5, as that of another communicator of this rank"));
  tutti_comm_destroy(comm);
  tt_agree_lack(context, 7, TUTTI_ERR_MEMORY); /* at first; then there is some */
  CHECK(tutti_comm_create_group(context, 7, 3, all, &comm) == TUTTI_OK);
  CHECK(tt_comm_prepare(comm) == TUTTI_OK);
  CHECK(tt_agree_check(comm, 0) == TUTTI_OK);
  leave_all(context, comm);
}

static void test_number_is_used_once_and_may_be_tried_again(void **state) {
  (void)state;
  run_job(3, number_groups, NULL);
}

/* ---- forks ---- */

/* A child that tidies up as its parent would. */
static void tidy_up_in_child(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  void *memory = NULL;
  int status = -1;
  CHECK(tutti_alloc(context, 100000, &memory) == TUTTI_OK);
  memset(memory, 77, 100000);
  CHECK(sum_of(comm, 1) == 3);
  pid_t child = fork();
  if (child == 0) {
    tutti_free(context, memory);
    leave_all(context, comm);
    _exit(0);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  for (int n = 0; n < 100; n++)
    CHECK(sum_of(comm, n) == 3 * n);
  CHECK(((const unsigned char *)memory)[99999] == 77);
  tutti_free(context, memory);
  leave_all(context, comm);
}

static void test_fork_that_tidies_up_disturbs_nothing(void **state) {
  (void)state;
  run_job(3, tidy_up_in_child, NULL);
}

/* ---- requests ---- */

enum { QUEUES = 3, EACH = 12 };

typedef struct posted {
  tutti_request *request;
  int32_t in[700], out[700];
  int64_t count;
} posted;

static void post(posted *of, tutti_comm *comm, uint64_t *random, int64_t value) {
  static const int64_t counts[] = {0, 1, 30, 700};
  of->count = counts[random_below(random, 4)];
  for (int64_t n = 0; n < of->count; n++)
    of->in[n] = (int32_t)(value + n);
  CHECK(tutti_allreduce_start(of->in, of->out, of->count, TUTTI_INT32, TUTTI_SUM, comm, &of->request) == TUTTI_OK);
}

static void check_sums(const posted *of, int64_t first, int64_t ranks) {
  for (int64_t n = 0; n < of->count; n++)
    CHECK(of->out[n] == (int32_t)(ranks * (first + n) + ranks * (ranks - 1) / 2));
}

/* All ranks post the same, each completes in an order of its own. */
static void complete_in_any_order(const tutti_boot *boot, void *argument) {
  const uint64_t *seed = argument;
  static posted all[QUEUES * EACH];
  tutti_comm *comm[QUEUES];
  tutti_context *context;
  uint64_t same = *seed, own = *seed + 1 + (uint64_t)boot->rank;
  comm[0] = join_all(boot, &context);
  for (int q = 1; q < QUEUES; q++)
    CHECK(tutti_comm_split(comm[0], 0, 0, &comm[q]) == TUTTI_OK);
  for (int n = 0; n < QUEUES * EACH; n++)
    post(&all[n], comm[random_below(&same, QUEUES)], &same, n + boot->rank);
  for (int left = QUEUES * EACH; left > 0;) {
    posted *of = &all[random_below(&own, QUEUES * EACH)];
    int done = 1;
    if (!of->request)
      continue;
    if (random_below(&own, 4) == 0)
      CHECK(tutti_wait(&of->request) == TUTTI_OK);
    else
      CHECK(tutti_test(&of->request, &done) == TUTTI_OK);
    CHECK((of->request == NULL) == (done != 0));
    left -= done != 0;
  }
  for (int n = 0; n < QUEUES * EACH; n++)
    check_sums(&all[n], n, boot->rank_count);
  for (int q = QUEUES - 1; q > 0; q--)
    tutti_comm_destroy(comm[q]);
  leave_all(context, comm[0]);
}

static void test_requests_complete_in_any_order(void **state) {
  (void)state;
  uint64_t seed = (uint64_t)now_ns();
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int n = 0; n < (long_mode() ? 100 : 10); n++, seed += 1000)
    run_job(2 + n % 3, complete_in_any_order, &seed);
}

/* Rank 0 blocks on one communicator while the others wait for what it has started on another. */
static void block_elsewhere(const tutti_boot *boot, void *argument) {
  (void)argument;
  enum { COUNT = 300000 };
  tutti_context *context;
  tutti_comm *a = join_all(boot, &context), *b = NULL;
  int32_t *in = calloc(COUNT, sizeof *in), *out = calloc(COUNT, sizeof *out);
  tutti_request *request = NULL;
  CHECK(tutti_comm_split(a, 0, 0, &b) == TUTTI_OK);
  CHECK(tutti_comm_set_params(a, "allreduce", "ring") == TUTTI_OK);
  CHECK(tutti_allreduce_start(in, out, COUNT, TUTTI_INT32, TUTTI_SUM, a, &request) == TUTTI_OK);
  if (boot->rank != 0)
    CHECK(tutti_wait(&request) == TUTTI_OK);
  CHECK(tutti_barrier(b) == TUTTI_OK);
  CHECK(tutti_wait(&request) == TUTTI_OK);
  free(in);
  free(out);
  tutti_comm_destroy(b);
  leave_all(context, a);
}

static void test_blocking_call_moves_requests_of_other_communicators(void **state) {
  (void)state;
  run_job(3, block_elsewhere, NULL);
}

static void restart(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_request *small = NULL, *large = NULL;
  static int64_t in[9000], out[9000], one_in, one_out;
  CHECK(tutti_allreduce_init(&one_in, &one_out, 1, TUTTI_INT64, TUTTI_SUM, comm, &small) == TUTTI_OK);
  CHECK(tutti_allgather_init(in, out, 9000 / boot->rank_count, TUTTI_INT64, comm, &large) == TUTTI_OK);
  for (int n = 0; n < 200; n++) {
    int done = 0;
    one_in = in[0] = n + boot->rank;
    CHECK(tutti_request_start(large) == TUTTI_OK && tutti_request_start(small) == TUTTI_OK);
    while (!done)
      CHECK(tutti_test(n % 2 ? &small : &large, &done) == TUTTI_OK);
    CHECK(tutti_wait(&small) == TUTTI_OK && tutti_wait(&large) == TUTTI_OK);
    CHECK(one_out == boot->rank_count * n + boot->rank_count * (boot->rank_count - 1) / 2);
    for (int64_t r = 0; r < boot->rank_count; r++)
      CHECK(out[r * (9000 / boot->rank_count)] == n + r);
  }
  tutti_request_destroy(small);
  tutti_request_destroy(large);
  leave_all(context, comm);
}

static void test_persistent_requests_start_again(void **state) {
  (void)state;
  run_job(3, restart, NULL);
}

/* Rank 0 tests the second of two calls, of which the others come to the first only. */
static void test_later_one(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int32_t in = 1, out[2];
  tutti_request *request[2] = {NULL, NULL};
  int done = 1;
  if (boot->rank == 0)
    for (int n = 0; n < 2; n++)
      CHECK(tutti_allreduce_start(&in, &out[n], 1, TUTTI_INT32, TUTTI_SUM, comm, &request[n]) == TUTTI_OK);
  if (boot->rank == 0)
    CHECK(tutti_test(&request[1], &done) == TUTTI_OK && !done && request[1]->waiter.began_ns > 0);
  outcomes[boot->rank].calls = 1;
  while (outcomes[0].calls == 0)
    sched_yield();
  if (boot->rank != 0)
    CHECK(tutti_allreduce(&in, &out[0], 1, TUTTI_INT32, TUTTI_SUM, comm) == TUTTI_OK);
  else
    CHECK(tutti_wait(&request[0]) == TUTTI_OK);
  int64_t moved_ns = now_ns();
  if (boot->rank == 0) /* it has waited since the first was complete, not longer */
  {
    CHECK(tutti_test(&request[1], &done) == TUTTI_OK && !done);
    CHECK(tutti_test(&request[1], &done) == TUTTI_OK && !done && request[1]->waiter.began_ns >= moved_ns);
  }
  outcomes[boot->rank].calls = 2;
  while (outcomes[0].calls < 2)
    sched_yield();
  if (boot->rank != 0)
    CHECK(tutti_allreduce(&in, &out[1], 1, TUTTI_INT32, TUTTI_SUM, comm) == TUTTI_OK);
  else
    CHECK(tutti_wait(&request[1]) == TUTTI_OK);
  leave_all(context, comm);
}

static void test_time_of_a_test_is_that_without_progress(void **state) {
  (void)state;
  run_job(2, test_later_one, NULL);
}

static void destroy_too_early(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_request *request = NULL;
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  if (boot->rank == 1) {
    CHECK(tutti_barrier_start(comm, &request) == TUTTI_OK);
    CHECK(context->outstanding == 1);
    tutti_comm_destroy(comm);
    CHECK(context->outstanding == 0);
    report(boot, tutti_wait(&request));
    tutti_context_destroy(context);
    return;
  }
  while (!tt_agree_poisoned(comm))
    sched_yield();
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void test_communicator_destroyed_in_a_call_is_everyones_error(void **state) {
  (void)state;
  run_job(3, destroy_too_early, NULL);
  assert_outcome(1, TUTTI_ERR_ABORTED, "");
  for (int r = 0; r < 3; r += 2)
    assert_outcome(r, TUTTI_ERR_ABORTED, "rank 1 destroyed the communicator in the middle of call 2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_parts_of_every_kind),
      FAULT_TEST(test_rank_without_memory_for_its_part_is_named_at_the_first_call),
      FAULT_TEST(test_hundreds_of_communicators_live_at_once),
      FAULT_TEST(test_communicators_leave_nothing),
      FAULT_TEST(test_ends_that_nobody_opens_leave_nothing),
      FAULT_TEST(test_number_is_used_once_and_may_be_tried_again),
      FAULT_TEST(test_fork_that_tidies_up_disturbs_nothing),
      FAULT_TEST(test_requests_complete_in_any_order),
      FAULT_TEST(test_blocking_call_moves_requests_of_other_communicators),
      FAULT_TEST(test_persistent_requests_start_again),
      FAULT_TEST(test_time_of_a_test_is_that_without_progress),
      FAULT_TEST(test_communicator_destroyed_in_a_call_is_everyones_error),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

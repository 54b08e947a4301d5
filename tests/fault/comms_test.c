/* Communicators in numbers: parts of every kind, hundreds alive, thousands made and destroyed without a trace. */
#include "fault/fault.h"

#include "api/api.h"
#include "transport/shm/self.h"

#include <inttypes.h>

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
  print_message("more pages resident: %" PRId64 ", more bytes of the segment: %" PRId64 "\n", outcomes[0].calls,
                outcomes[0].at_ns);
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
  print_message("more bytes of the segment: %" PRId64 "\n", outcomes[0].at_ns);
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
  CHECK(strstr(tutti_last_error(), "number is 5, which another communicator of this rank has"));
  tutti_comm_destroy(comm);
  tt_agree_lack(context, 7, TUTTI_ERR_MEMORY); /* at first; then there is some */
  CHECK(tutti_comm_create_group(context, 7, 3, all, &comm) == TUTTI_OK);
  CHECK(tt_agree_prepare(comm) == TUTTI_OK);
  meet_before_death(boot); /* no rank lacks it any more */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_parts_of_every_kind),
      FAULT_TEST(test_rank_without_memory_for_its_part_is_named_at_the_first_call),
      FAULT_TEST(test_hundreds_of_communicators_live_at_once),
      FAULT_TEST(test_communicators_leave_nothing),
      FAULT_TEST(test_ends_that_nobody_opens_leave_nothing),
      FAULT_TEST(test_number_is_used_once_and_may_be_tried_again),
      FAULT_TEST(test_fork_that_tidies_up_disturbs_nothing),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

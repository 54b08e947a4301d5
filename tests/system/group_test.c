/* What a library beside tutti builds on: communicators of given ranks without communication, the function that is
 * called while tutti waits, operators and types that ranks have made in different numbers, the parameters that ran. */
#include "fault/fault.h"

#include "api/api.h"

/* ---- communicators of given ranks ---- */

static int64_t sum_of(tutti_comm *comm, int64_t value) {
  int64_t sum = -1;
  CHECK(tutti_allreduce(&value, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_OK);
  return sum;
}

static void make_groups(const tutti_boot *boot, void *argument) {
  static const int64_t all[] = {3, 1, 0, 2}, odd[] = {1, 3}, even[] = {2, 0};
  (void)argument;
  tutti_context *context = join_job(boot);
  tutti_comm *whole, *half, *split, *last;
  CHECK(tutti_comm_next_number(context) == 1);
  CHECK(tutti_comm_create_group(context, 17, 4, all, &whole) == TUTTI_OK);
  CHECK(tutti_comm_next_number(context) == 18);
  CHECK(tutti_comm_create_group(context, 20, 2, boot->rank % 2 ? odd : even, &half) == TUTTI_OK);
  CHECK(tutti_comm_rank(whole) == (boot->rank == 3 ? 0 : boot->rank == 0 ? 2 : boot->rank == 2 ? 3 : 1));
  CHECK(tutti_comm_rank(half) == (boot->rank == 1 || boot->rank == 2 ? 0 : 1) && tutti_comm_size(half) == 2);
  CHECK(sum_of(half, boot->rank) == (boot->rank % 2 ? 4 : 2));
  CHECK(sum_of(whole, boot->rank) == 6);
  CHECK(tutti_comm_split(whole, boot->rank % 2, 0, &split) == TUTTI_OK);
  CHECK(tutti_comm_next_number(context) == 22); /* the split took one that none of them had */
  CHECK(tutti_comm_create_group(context, UINT32_MAX, 4, all, &last) == TUTTI_OK && sum_of(last, boot->rank) == 6);
  tutti_comm_destroy(last);
  CHECK(tutti_comm_next_number(context) == 22); /* it is the program's own */
  CHECK(sum_of(split, boot->rank) == sum_of(half, boot->rank));
  tutti_comm_destroy(split);
  tutti_comm_destroy(whole);
  leave_all(context, half);
}

static void test_groups_need_no_communication(void **state) {
  (void)state;
  run_job(4, make_groups, NULL);
}

/* A rank may come to the first call long before the others have made theirs. */
static void make_late(const tutti_boot *boot, void *argument) {
  static const int64_t pair[] = {0, 1};
  (void)argument;
  tutti_context *context = join_job(boot);
  tutti_comm *comm;
  tutti_request *request;
  int64_t value = 1, sum = 0;
  char message = 0;
  if (boot->rank == 1)
    CHECK(job_move(((job_boot *)boot->user)->fd[0], &message, 1, 1000 * HANG_S, 0) == TUTTI_OK);
  CHECK(tutti_comm_create_group(context, 1, 2, pair, &comm) == TUTTI_OK);
  CHECK(tutti_allreduce_start(&value, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
  if (boot->rank == 0)
    CHECK(job_move(((job_boot *)boot->user)->fd[1], &message, 1, 1000, 1) == TUTTI_OK);
  CHECK(tutti_wait(&request) == TUTTI_OK && sum == 2);
  leave_all(context, comm);
}

static void test_ranks_make_a_group_when_they_like(void **state) {
  (void)state;
  run_job(2, make_late, NULL);
}

#define REFUSED(call, text) CHECK((call) == TUTTI_ERR_ARGUMENT && strstr(tutti_last_error(), text))

static void refuse_groups(const tutti_boot *boot, void *argument) {
  static const int64_t out_of_range[] = {0, 1, 3}, negative[] = {0, -1}, twice[] = {0, 2, 1, 2}, others[] = {0, 1};
  (void)argument;
  tutti_context *context = join_job(boot);
  tutti_comm *comm = NULL;
  REFUSED(tutti_comm_create_group(NULL, 1, 2, others, &comm), "context is NULL");
  REFUSED(tutti_comm_create_group(context, 1, 2, NULL, &comm), "ranks is NULL");
  REFUSED(tutti_comm_create_group(context, 1, 2, others, NULL), "comm is NULL");
  REFUSED(tutti_comm_create_group(context, 0, 2, others, &comm), "number is 0");
  REFUSED(tutti_comm_create_group(context, (int64_t)1 << 32, 2, others, &comm), "number is 4294967296");
  REFUSED(tutti_comm_create_group(context, 1, 0, others, &comm), "count is 0");
  REFUSED(tutti_comm_create_group(context, 1, 4, twice, &comm), "count is 4");
  REFUSED(tutti_comm_create_group(context, 1, 3, out_of_range, &comm), "ranks[2] is 3 in a job of 3");
  REFUSED(tutti_comm_create_group(context, 1, 2, negative, &comm), "ranks[1] is -1 in a job of 3");
  REFUSED(tutti_comm_create_group(context, 1, 3, (int64_t[]){1, 2, 1}, &comm), "ranks[2] is 1, which is given twice");
  if (boot->rank == 2)
    REFUSED(tutti_comm_create_group(context, 1, 2, others, &comm), "this rank, 2, is not in ranks");
  CHECK(comm == NULL && tutti_comm_next_number(context) == 1);
  CHECK(tutti_comm_next_number(NULL) == -1);
  tutti_context_destroy(context);
}

static void test_wrong_groups_are_refused(void **state) {
  (void)state;
  run_job(3, refuse_groups, NULL);
}

static void use_up_numbers(const tutti_boot *boot, void *argument) {
  static const int64_t own[] = {0};
  (void)argument;
  tutti_context *context = join_job(boot);
  tutti_comm *comm = NULL, *part = NULL;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  if (boot->rank == 0) {
    tutti_comm *last;
    CHECK(tutti_comm_create_group(context, TUTTI_OWN_NUMBERS - 1, 1, own, &last) == TUTTI_OK);
    tutti_comm_destroy(last);
  }
  CHECK(tutti_comm_split(comm, 0, 0, &part) == TUTTI_ERR_UNSUPPORTED && !part);
  CHECK(sum_of(comm, 1) == 2);
  leave_all(context, comm);
}

static void test_used_up_numbers_are_an_error_for_all(void **state) {
  (void)state;
  run_job(2, use_up_numbers, NULL);
}

/* ---- idle ---- */

/* Rank 1 lets rank 0 into the call only from its `idle`: without that they would wait for ever. */
static void open_door(void *user) {
  const job_boot *own = user;
  static bool opened;
  char message = 0;
  if (!opened)
    CHECK(job_move(own->fd[0], &message, 1, 1000, 1) == TUTTI_OK);
  opened = true;
}

static void wait_idly(const tutti_boot *boot, void *argument) {
  const char *how = argument;
  tutti_context *context;
  tutti_comm *comm;
  tutti_request *request = NULL;
  tutti_context_options options;
  char message = 0;
  int done = 0;
  alarm(HANG_S);
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  context->idle.call = boot->rank == 1 ? open_door : NULL; /* not in what came before */
  context->idle.user = boot->user;
  context->machine.crowded = comm->wait.crowded = *how == 'c';
  if (boot->rank == 0)
    CHECK(job_move(((job_boot *)boot->user)->fd[1], &message, 1, 1000 * HANG_S, 0) == TUTTI_OK);
  if (how[1] == 'b')
    CHECK(tutti_barrier(comm) == TUTTI_OK);
  else
    CHECK(tutti_barrier_start(comm, &request) == TUTTI_OK);
  if (how[1] == 'w')
    CHECK(tutti_wait(&request) == TUTTI_OK);
  while (how[1] == 't' && !done)
    CHECK(tutti_test(&request, &done) == TUTTI_OK);
  leave_all(context, comm);
}

static void test_idle_is_called_while_a_call_waits(void **state) {
  (void)state;
  static const char *const ways[] = {"cb", "cw", "ct", "ob", "ow", "ot"}; /* crowded or on its own core */
  for (size_t n = 0; n < TT_COUNT(ways); n++)
    run_job(2, wait_idly, (void *)(uintptr_t)ways[n]);
}

/* ---- numbers of operators and types ---- */

static void add_first(const void *left, const void *right, void *out, int64_t count, void *user) {
  (void)user;
  for (int64_t n = 0; n < count; n++)
    ((int64_t *)out)[2 * n] = ((const int64_t *)left)[2 * n] + ((const int64_t *)right)[2 * n];
}

static void make_more_here(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_type type;
  tutti_op op;
  int64_t in[2] = {boot->rank + 1, 0}, out[2] = {0, 0};
  for (int64_t n = 0; n <= boot->rank; n++) {
    CHECK(tutti_type_create(context, 16, &type) == TUTTI_OK);
    CHECK(tutti_op_create(context, add_first, NULL, 16, 1, &op) == TUTTI_OK);
  }
  CHECK(tutti_allreduce(in, out, 1, type, op, comm) == TUTTI_OK && out[0] == 6);
  CHECK(tutti_broadcast(in, out, 1, type, 2, comm) == TUTTI_OK && out[0] == 3);
  meet_all(context);
  CHECK(tutti_op_create(context, add_first, NULL, 16, boot->rank != 1, &op) == TUTTI_OK);
  report(boot, tutti_allreduce(in, out, 1, type, op, comm));
  leave_all(context, comm);
}

static void test_numbers_of_operators_need_not_be_equal(void **state) {
  (void)state;
  run_job(3, make_more_here, NULL);
  for (int r = 0; r < 3; r++) {
    assert_outcome(r, TUTTI_ERR_MISMATCH,
                   "rank 1 called allreduce(count 1, elements of 16 bytes, a user's operator that does not commute)");
    assert_outcome(r, TUTTI_ERR_MISMATCH, "that commutes");
  }
}

/* ---- parameters that ran ---- */

static void look_at_params(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  CHECK(strcmp(tutti_comm_last_params(NULL), "") == 0 && strcmp(tutti_comm_last_params(comm), "") == 0);
  CHECK(strcmp(tutti_comm_last_media(NULL), "") == 0 && strcmp(tutti_comm_last_media(comm), "") == 0);
  CHECK(strcmp(tutti_comm_last_authority(NULL), "") == 0 && strcmp(tutti_comm_last_authority(comm), "") == 0);
  CHECK(sum_of(comm, 1) == 3);
  const char *authority = tutti_comm_last_authority(comm);
  CHECK(strncmp(authority, "profile default.json:", 21) == 0 && tutti_comm_last_authority(comm) == authority);
  const char *first = tutti_comm_last_params(comm);
  CHECK(strcmp(first, "linear") == 0);
  CHECK(sum_of(comm, 1) == 3 && tutti_comm_last_params(comm) == first);
  CHECK(strcmp(tutti_comm_last_media(comm), "cell") == 0);
  CHECK(tutti_barrier(comm) == TUTTI_OK && tutti_comm_last_params(comm) == first);
  CHECK(tutti_comm_set_params(comm, "allreduce", "recursive-doubling") == TUTTI_OK);
  CHECK(sum_of(comm, 1) == 3 && strcmp(tutti_comm_last_params(comm), "recursive-doubling") == 0);
  CHECK(strcmp(tutti_comm_last_authority(comm), "tutti_comm_set_params") == 0);
  const char *params = NULL, *decides = NULL;
  CHECK(tutti_comm_explain(NULL, "allreduce", 8, 0, 1, &params, &decides) == TUTTI_ERR_ARGUMENT);
  CHECK(tutti_comm_explain(comm, "allspeak", 8, 0, 1, &params, &decides) == TUTTI_ERR_ARGUMENT);
  CHECK(tutti_comm_explain(comm, "allreduce", -1, 0, 1, &params, &decides) == TUTTI_ERR_ARGUMENT);
  CHECK(tutti_comm_explain(comm, "reduce", 8, 3, 1, &params, &decides) == TUTTI_ERR_ARGUMENT);
  CHECK(tutti_comm_explain(comm, "neighbor-allgather", 8, 0, 1, &params, &decides) == TUTTI_ERR_UNSUPPORTED && !params);
  CHECK(tutti_comm_explain(comm, "allreduce", 8, 0, 1, &params, &decides) == TUTTI_OK);
  CHECK(strcmp(params, "recursive-doubling") == 0 && strcmp(decides, "tutti_comm_set_params") == 0);
  leave_all(context, comm);
}

static void test_the_parameters_that_ran_are_told(void **state) {
  (void)state;
  run_job(3, look_at_params, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_groups_need_no_communication),      FAULT_TEST(test_ranks_make_a_group_when_they_like),
      FAULT_TEST(test_wrong_groups_are_refused),          FAULT_TEST(test_used_up_numbers_are_an_error_for_all),
      FAULT_TEST(test_idle_is_called_while_a_call_waits), FAULT_TEST(test_numbers_of_operators_need_not_be_equal),
      FAULT_TEST(test_the_parameters_that_ran_are_told),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

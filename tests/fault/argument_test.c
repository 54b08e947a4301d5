/* Every argument of every public function is wrong once: the text names argument and value, nothing crashes, and the
 * communicator works afterwards. */
#include "fault/fault.h"

#define ELEMENTS 64

static tutti_context *context;
static tutti_comm *comm;
static int32_t in[4 * ELEMENTS], out[4 * ELEMENTS];

#define REFUSED(call, text)                                                                                            \
  do {                                                                                                                 \
    CHECK((call) == TUTTI_ERR_ARGUMENT);                                                                               \
    if (!strstr(tutti_last_error(), text))                                                                             \
      fprintf(stderr, "'%s' is not in '%s'\n", text, tutti_last_error());                                              \
    CHECK(strstr(tutti_last_error(), text) != NULL);                                                                   \
  } while (0)

/* ---- context ---- */

static tutti_status no_allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns,
                                 char *missing, size_t missing_size) {
  (void)user, (void)timeout_ns, (void)missing, (void)missing_size;
  memcpy(all, mine, bytes);
  return TUTTI_OK;
}

static void refuse_boot(tutti_boot boot, const char *text) {
  tutti_context_options options;
  tutti_context *made = NULL;
  tutti_context_options_init(&options);
  options.boot = &boot;
  REFUSED(tutti_context_create(&options, &made), text);
  CHECK(made == NULL);
}

static void refuse_contexts(void) {
  tutti_context_options options;
  tutti_context *made = NULL;
  tutti_context_options_init(&options);
  REFUSED(tutti_context_create(&options, NULL), "context is NULL");
  options.size = 3;
  REFUSED(tutti_context_create(&options, &made), "options->size is 3");
  tutti_context_options_init(&options);
  options.timeout_ns = -7;
  REFUSED(tutti_context_create(&options, &made), "options->timeout_ns is -7");
  tutti_context_options_init(&options);
  tutti_transport_ops ops = {.size = 5};
  options.transport = &ops;
  REFUSED(tutti_context_create(&options, &made), "options->transport->size is 5");
  tutti_boot boot = {sizeof boot, 0, 1, NULL, no_allgather};
  refuse_boot((tutti_boot){4, 0, 1, NULL, no_allgather}, "boot has size 4");
  refuse_boot((tutti_boot){sizeof boot, 0, 1, NULL, NULL}, "no allgather");
  refuse_boot((tutti_boot){sizeof boot, 2, 2, NULL, no_allgather}, "rank 2 of 2");
  refuse_boot((tutti_boot){sizeof boot, -1, 2, NULL, no_allgather}, "rank -1 of 2");
  refuse_boot((tutti_boot){sizeof boot, 0, 0, NULL, no_allgather}, "rank 0 of 0");
  refuse_boot((tutti_boot){sizeof boot, 0, (int64_t)1 << 40, NULL, no_allgather}, "of 1099511627776");
  CHECK(tutti_context_rank(NULL) == -1 && strstr(tutti_last_error(), "context is NULL"));
  CHECK(tutti_context_size(NULL) == -1 && strstr(tutti_last_error(), "context is NULL"));
  tutti_context_destroy(NULL);
}

static void refuse_memory(void) {
  void *memory = NULL;
  REFUSED(tutti_alloc(NULL, 8, &memory), "context is NULL");
  REFUSED(tutti_alloc(context, 8, NULL), "memory is NULL");
  CHECK(tutti_alloc(context, SIZE_MAX, &memory) == TUTTI_ERR_MEMORY);
  CHECK(strstr(tutti_last_error(), "18446744073709551615") != NULL);
  CHECK(memory == NULL);
  tutti_free(NULL, &memory);
  tutti_free(context, NULL);
}

/* ---- communicator ---- */

static void refuse_comms(void) {
  tutti_comm *part = NULL;
  REFUSED(tutti_comm_create(NULL, &part), "context is NULL");
  REFUSED(tutti_comm_create(context, NULL), "comm is NULL");
  REFUSED(tutti_comm_split(NULL, 0, 0, &part), "comm is NULL");
  REFUSED(tutti_comm_split(comm, 0, 0, NULL), "part is NULL");
  CHECK(tutti_comm_rank(NULL) == -1 && strstr(tutti_last_error(), "comm is NULL"));
  CHECK(tutti_comm_size(NULL) == -1 && strstr(tutti_last_error(), "comm is NULL"));
  tutti_comm_abort(NULL, "no communicator");
  tutti_comm_destroy(NULL);
  REFUSED(tutti_comm_set_params(NULL, "allreduce", "ring"), "comm is NULL");
  REFUSED(tutti_comm_set_params(comm, NULL, "ring"), "collective is NULL");
  REFUSED(tutti_comm_set_params(comm, "all-reduce", "ring"), "'all-reduce'");
  CHECK(tutti_comm_set_params(comm, "allreduce", "[core:spiral]") == TUTTI_ERR_PLAN);
  CHECK(strstr(tutti_last_error(), "spiral") != NULL);
}

/* ---- collectives: each in its three forms ---- */

typedef struct arguments {
  const void *in;
  void *out;
  int64_t count;
  tutti_type type;
  tutti_op op;
  int64_t root;
} arguments;

typedef enum form { BLOCKING, START, INIT, FORMS } form;

typedef tutti_status (*collective)(const arguments *of, form how, tutti_comm *on, tutti_request **request);

static tutti_status allreduce(const arguments *of, form how, tutti_comm *on, tutti_request **request) {
  if (how == BLOCKING)
    return tutti_allreduce(of->in, of->out, of->count, of->type, of->op, on);
  return (how == START ? tutti_allreduce_start : tutti_allreduce_init)(of->in, of->out, of->count, of->type, of->op, on,
                                                                       request);
}

static tutti_status broadcast(const arguments *of, form how, tutti_comm *on, tutti_request **request) {
  if (how == BLOCKING)
    return tutti_broadcast(of->in, of->out, of->count, of->type, of->root, on);
  return (how == START ? tutti_broadcast_start : tutti_broadcast_init)(of->in, of->out, of->count, of->type, of->root,
                                                                       on, request);
}

static tutti_status allgather(const arguments *of, form how, tutti_comm *on, tutti_request **request) {
  if (how == BLOCKING)
    return tutti_allgather(of->in, of->out, of->count, of->type, on);
  return (how == START ? tutti_allgather_start : tutti_allgather_init)(of->in, of->out, of->count, of->type, on,
                                                                       request);
}

static tutti_status reduce_scatter(const arguments *of, form how, tutti_comm *on, tutti_request **request) {
  if (how == BLOCKING)
    return tutti_reduce_scatter(of->in, of->out, of->count, of->type, of->op, on);
  return (how == START ? tutti_reduce_scatter_start : tutti_reduce_scatter_init)(of->in, of->out, of->count, of->type,
                                                                                 of->op, on, request);
}

static tutti_status barrier(const arguments *of, form how, tutti_comm *on, tutti_request **request) {
  (void)of;
  if (how == BLOCKING)
    return tutti_barrier(on);
  return (how == START ? tutti_barrier_start : tutti_barrier_init)(on, request);
}

static const struct function {
  const char *name;
  collective call;
  bool moves, reduces, rooted;
} functions[] = {{"allreduce", allreduce, true, true, false},
                 {"broadcast", broadcast, true, false, true},
                 {"allgather", allgather, true, false, false},
                 {"reduce-scatter", reduce_scatter, true, true, false},
                 {"barrier", barrier, false, false, false}};

static void refuse(const struct function *of, form how, arguments wrong, const char *text) {
  tutti_request *request = NULL;
  REFUSED(of->call(&wrong, how, comm, &request), text);
  CHECK(strstr(tutti_last_error(), of->name) != NULL);
  CHECK(request == NULL);
}

static void refuse_moves(const struct function *of, form how, arguments right) {
  arguments wrong = right;
  wrong.count = -3;
  refuse(of, how, wrong, "count is -3");
  wrong.count = INT64_MAX;
  refuse(of, how, wrong, "count is 9223372036854775807");
  wrong = right, wrong.type = (tutti_type)77;
  refuse(of, how, wrong, "type is 77");
  wrong = right, wrong.out = NULL;
  refuse(of, how, wrong, "out is NULL");
  wrong = right, wrong.out = (char *)(uintptr_t)right.in + 2;
  if (!of->rooted || tutti_comm_rank(comm) == right.root)
    refuse(of, how, wrong, "overlap");
  wrong = right, wrong.in = NULL;
  if (!of->rooted || tutti_comm_rank(comm) == right.root)
    refuse(of, how, wrong, "in is NULL");
}

static void refuse_ops(const struct function *of, form how, arguments right) {
  right.op = (tutti_op)1234;
  refuse(of, how, right, "op is 1234");
  right.op = (tutti_op)-5;
  refuse(of, how, right, "op is -5");
}

static void refuse_roots(const struct function *of, form how, arguments right) {
  right.root = tutti_comm_size(comm);
  refuse(of, how, right, tutti_comm_size(comm) == 1 ? "root is 1" : "root is 3");
  right.root = -2;
  refuse(of, how, right, "root is -2");
  right.root = ((int64_t)1 << 32) + 0;
  refuse(of, how, right, "root is 4294967296");
}

static void refuse_function(const struct function *of, form how) {
  arguments right = {in, out, ELEMENTS, TUTTI_INT32, TUTTI_SUM, 0};
  tutti_request *request = NULL;
  REFUSED(of->call(&right, how, NULL, &request), "comm is NULL");
  if (how != BLOCKING)
    REFUSED(of->call(&right, how, comm, NULL), "request is NULL");
  if (of->moves)
    refuse_moves(of, how, right);
  if (of->reduces)
    refuse_ops(of, how, right);
  if (of->rooted)
    refuse_roots(of, how, right);
}

static void refuse_requests(void) {
  int done = 0;
  tutti_request *none = NULL, *running = NULL;
  REFUSED(tutti_request_start(NULL), "NULL");
  REFUSED(tutti_test(NULL, &done), "request is NULL");
  REFUSED(tutti_test(&none, NULL), "done is NULL");
  REFUSED(tutti_wait(NULL), "request is NULL");
  CHECK(tutti_test(&none, &done) == TUTTI_OK && done == 1);
  CHECK(tutti_wait(&none) == TUTTI_OK);
  tutti_request_destroy(NULL);
  CHECK(tutti_barrier_start(comm, &running) == TUTTI_OK);
  REFUSED(tutti_request_start(running), "not persistent");
  CHECK(tutti_wait(&running) == TUTTI_OK);
}

static void check_sum(void) {
  int32_t ranks = (int32_t)tutti_comm_size(comm);
  for (int n = 0; n < ELEMENTS; n++)
    in[n] = n + (int32_t)tutti_comm_rank(comm);
  CHECK(tutti_allreduce(in, out, ELEMENTS, TUTTI_INT32, TUTTI_SUM, comm) == TUTTI_OK);
  for (int n = 0; n < ELEMENTS; n++)
    CHECK(out[n] == ranks * n + ranks * (ranks - 1) / 2);
}

static void refuse_everything(const tutti_boot *boot, void *argument) {
  (void)argument;
  comm = join_all(boot, &context);
  refuse_contexts();
  refuse_memory();
  refuse_comms();
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
    for (form how = BLOCKING; how < FORMS; how++) {
      refuse_function(&functions[f], how);
      check_sum();
    }
  refuse_requests();
  check_sum();
  leave_all(context, comm);
}

static void test_wrong_arguments_are_named_alone(void **state) {
  (void)state;
  run_job(1, refuse_everything, NULL);
}

static void test_wrong_arguments_are_named_among_3_ranks(void **state) {
  (void)state;
  run_job(3, refuse_everything, NULL);
}

static void test_names_of_values_that_are_none(void **state) {
  (void)state;
  assert_int_equal(tutti_type_size((tutti_type)99), 0);
  assert_string_equal(tutti_type_name((tutti_type)99), "?");
  assert_string_equal(tutti_op_name((tutti_op)-1), "?");
  assert_non_null(tutti_status_name((tutti_status)1000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_wrong_arguments_are_named_alone),
      FAULT_TEST(test_wrong_arguments_are_named_among_3_ranks),
      FAULT_TEST(test_names_of_values_that_are_none),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

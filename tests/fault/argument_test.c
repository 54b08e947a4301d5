/* Every argument of every public function is wrong once: the text names argument and value, nothing crashes, and the
 * communicator works afterwards. */
#include "conformance/invoke.h"
#include "fault/fault.h"
#include "transport/shm/shm.h"

#include <inttypes.h>

enum { ELEMENTS = 64, RANKS_MOST = 3 };

static tutti_context *context;
static tutti_comm *comm;
static tutti_graph *graph; /* every rank is its own neighbor */
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
  ops = *tt_shm_ops();
  ops.free = NULL;
  REFUSED(tutti_context_create(&options, &made), "options->transport->free is NULL");
  ops.commit = NULL;
  REFUSED(tutti_context_create(&options, &made), "options->transport->commit is NULL");
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

/* ---- operators, types, graphs ---- */

static void refuse_operators(void) {
  tutti_op op;
  tutti_type type;
  REFUSED(tutti_op_create(NULL, call_multiply, NULL, 4, 1, &op), "context is NULL");
  REFUSED(tutti_op_create(context, NULL, NULL, 4, 1, &op), "reduce is NULL");
  REFUSED(tutti_op_create(context, call_multiply, NULL, 4, 1, NULL), "op is NULL");
  REFUSED(tutti_op_create(context, call_multiply, NULL, 0, 1, &op), "element_bytes is 0");
  REFUSED(tutti_type_create(NULL, 4, &type), "context is NULL");
  REFUSED(tutti_type_create(context, 4, NULL), "type is NULL");
  REFUSED(tutti_type_create(context, 0, &type), "bytes is 0");
  tutti_op_destroy(NULL, CALL_PRODUCT);
  tutti_op_destroy(context, TUTTI_SUM);
  tutti_op_destroy(context, (tutti_op)1000);
  CHECK(tutti_op_create(context, call_maximize, NULL, 4, 1, &op) == TUTTI_OK && op == CALL_LARGEST + 1);
  CHECK(tutti_allreduce(in, out, 1, TUTTI_INT32, op, comm) == TUTTI_OK);
  tutti_op_destroy(context, op);
  REFUSED(tutti_allreduce(in, out, 1, TUTTI_INT32, op, comm), "op is 15"); /* and not what was bound before */
}

enum { LONG_BYTES = 5000 };

static void add_bytes(const void *left, const void *right, void *to, int64_t count, void *user) {
  const unsigned char *a = left, *b = right;
  for (int64_t n = 0; n < count * LONG_BYTES; n++)
    ((unsigned char *)to)[n] = (unsigned char)(a[n] + b[n]);
  (void)user;
}

/* A slice is no shorter than an element; one that no slot holds is refused before anybody waits for it. */
static void refuse_long_elements(void) {
  static unsigned char from[2 * LONG_BYTES], to[2 * LONG_BYTES];
  tutti_op op, longer_op;
  tutti_type type, longer;
  CHECK(tutti_type_create(context, LONG_BYTES, &type) == TUTTI_OK);
  CHECK(tutti_op_create(context, add_bytes, NULL, LONG_BYTES, 1, &op) == TUTTI_OK);
  CHECK(tutti_comm_set_params(comm, "allreduce", "linear slice=1K") == TUTTI_OK);
  memset(from, 1, sizeof from);
  CHECK(tutti_allreduce(from, to, 2, type, op, comm) == TUTTI_OK);
  for (int n = 0; n < 2 * LONG_BYTES; n++)
    CHECK(to[n] == tutti_comm_size(comm));
  CHECK(tutti_comm_set_params(comm, "allreduce", NULL) == TUTTI_OK);
  CHECK(tutti_type_create(context, 1 << 20, &longer) == TUTTI_OK);
  CHECK(tutti_op_create(context, add_bytes, NULL, 1 << 20, 1, &longer_op) == TUTTI_OK);
  if (tutti_comm_size(comm) > 1)
    REFUSED(tutti_allreduce(in, out, 1, longer, longer_op, comm), "elements of 1048576 bytes are too long");
  tutti_op_destroy(context, op);
  tutti_op_destroy(context, longer_op);
}

/* Wrong on rank 0 alone: all ranks are told. */
static void refuse_edges(int64_t in_count, const int64_t *sources, int64_t out_count, const int64_t *destinations,
                         const char *text) {
  bool own = tutti_comm_rank(comm) == 0;
  tutti_graph *made = NULL;
  REFUSED(tutti_graph_create(comm, own ? in_count : 0, own ? sources : NULL, own ? out_count : 0,
                             own ? destinations : NULL, &made),
          text);
  CHECK(made == NULL);
}

static void refuse_graphs(void) {
  const int64_t self[] = {0, 0}, beyond[] = {0, tutti_comm_size(comm)}, below[] = {-7};
  tutti_graph *made = NULL;
  REFUSED(tutti_graph_create(NULL, 0, NULL, 0, NULL, &made), "comm is NULL");
  REFUSED(tutti_graph_create(comm, 0, NULL, 0, NULL, NULL), "graph is NULL");
  refuse_edges(-2, NULL, 0, NULL, "rank 0: in_count is -2");
  refuse_edges(0, NULL, INT64_MAX, self, "rank 0: out_count is 9223372036854775807");
  refuse_edges(INT64_MAX, self, 1, self, "rank 0: in_count is 9223372036854775807");
  refuse_edges(1, NULL, 0, NULL, "rank 0: sources is NULL");
  refuse_edges(0, NULL, 1, NULL, "rank 0: destinations is NULL");
  refuse_edges(2, beyond, 2, self, "rank 0: sources[1] is ");
  refuse_edges(0, NULL, 1, below, "rank 0: destinations[0] is -7");
  refuse_edges(2, self, 1, self,
               "rank 0 has rank 0 among its destinations 1 times, but is among the sources of that rank 2");
  refuse_edges(0, NULL, 2, self,
               "rank 0 has rank 0 among its destinations 2 times, but is among the sources of that rank 0");
  tutti_graph_destroy(NULL);
}

/* ---- collectives: each in its three forms ---- */

enum { EACH = 5 }; /* elements of a block */

typedef struct lists {
  int64_t counts[RANKS_MOST], offsets[RANKS_MOST];
  tutti_type types[RANKS_MOST];
} lists;

/* Arguments that are right, with lists that a case may spoil. */
static call_arguments right_arguments(lists *from, lists *to) {
  for (int64_t r = 0; r < RANKS_MOST; r++) {
    from->counts[r] = to->counts[r] = EACH;
    from->offsets[r] = to->offsets[r] = EACH * r * 4;
    from->types[r] = to->types[r] = TUTTI_INT32;
  }
  return (call_arguments){.in = in,
                          .out = out,
                          .count = EACH,
                          .in_count = EACH,
                          .out_count = EACH,
                          .in_counts = from->counts,
                          .in_offsets = from->offsets,
                          .out_counts = to->counts,
                          .out_offsets = to->offsets,
                          .in_types = from->types,
                          .out_types = to->types,
                          .type = TUTTI_INT32,
                          .op = TUTTI_SUM,
                          .comm = comm,
                          .graph = graph};
}

/* Errors begin with the function, as headers name it: tutti_all_to_allv. */
static void check_function(tt_collective of) {
  char function[64];
  int length = snprintf(function, sizeof function, "tutti_%s: ", tt_compose_info(of).name);
  for (char *at = function; *at; at++)
    *at = *at == '-' ? '_' : *at;
  CHECK(strncmp(tutti_last_error(), function, (size_t)length) == 0);
}

static void refuse(tt_collective of, call_mode how, const call_arguments *wrong, const char *text) {
  tutti_request *request = NULL;
  REFUSED(call_invoke(of, how, wrong, &request), text);
  check_function(of);
  CHECK(request == NULL);
}

static void refuse_counts(tt_collective of, call_mode how, call_arguments wrong) {
  if (call_row_of(of).lists)
    return;
  wrong.count = -3;
  refuse(of, how, &wrong, "count is -3");
  wrong.count = INT64_MAX;
  refuse(of, how, &wrong, "count is 9223372036854775807");
  wrong.count = (int64_t)1 << 59;
  if (tutti_comm_size(comm) > 2 && (of == TT_GATHER || of == TT_SCATTER)) /* one block could be, all cannot */
    refuse(of, how, &wrong, "count is 576460752303423488");
}

static void refuse_buffers(tt_collective of, call_mode how, call_arguments right) {
  bool root = tutti_comm_rank(comm) == right.root;
  call_arguments wrong = right;
  if (root || !call_row_of(of).out_root) {
    wrong.out = NULL;
    refuse(of, how, &wrong, "out is NULL");
  }
  wrong = right;
  if (root || !call_row_of(of).in_root) {
    wrong.in = NULL;
    refuse(of, how, &wrong, "in is NULL");
  }
  wrong = right;
  wrong.out = (char *)in + 2;
  if (root || !(call_row_of(of).in_root || call_row_of(of).out_root))
    refuse(of, how, &wrong, "overlap");
}

static void refuse_kinds(tt_collective of, call_mode how, call_arguments right) {
  call_arguments wrong = right;
  wrong.type = (tutti_type)77;
  if (!call_row_of(of).types)
    refuse(of, how, &wrong, "type is 77");
  if (!call_reduces(of))
    return;
  wrong = right, wrong.op = (tutti_op)1234;
  refuse(of, how, &wrong, "op is 1234");
  wrong.op = (tutti_op)-5;
  refuse(of, how, &wrong, "op is -5");
  wrong.op = CALL_PRODUCT;
  refuse(of, how, &wrong, "op 13 takes elements of 16 bytes, but those of type 2 (int32) have 4");
  wrong = right, wrong.type = TUTTI_BYTE;
  refuse(of, how, &wrong, "op sum does not combine elements of type 17 (byte)");
  wrong.type = CALL_MATRIX;
  refuse(of, how, &wrong, "op sum does not combine elements of type 24");
  wrong = right, wrong.op = TUTTI_MIN_LOC;
  refuse(of, how, &wrong, "op min-loc does not combine");
}

static void refuse_roots(tt_collective of, call_mode how, call_arguments right) {
  if (!tt_compose_info(of).has_root)
    return;
  right.root = tutti_comm_size(comm);
  refuse(of, how, &right, tutti_comm_size(comm) == 1 ? "root is 1" : "root is 3");
  right.root = -2;
  refuse(of, how, &right, "root is -2");
  right.root = ((int64_t)1 << 32) + 0;
  refuse(of, how, &right, "root is 4294967296");
}

/* One side's lists: `spoilt` are what the arguments point to. */
static void refuse_list(tt_collective of, call_mode how, call_arguments *arguments, bool is_in, lists *spoilt) {
  char text[64];
  call_row row = call_row_of(of);
  const char *prefix = row.in == CALL_ONE || row.out == CALL_ONE ? "" : is_in ? "in_" : "out_";
  const int64_t **counts = is_in ? &arguments->in_counts : &arguments->out_counts;
  *counts = NULL;
  snprintf(text, sizeof text, "%scounts is NULL", prefix);
  refuse(of, how, arguments, text);
  *counts = spoilt->counts;
  spoilt->counts[0] = -3;
  snprintf(text, sizeof text, "%scounts[0] is -3", prefix);
  refuse(of, how, arguments, text);
  spoilt->counts[0] = INT64_MAX / 2;
  snprintf(text, sizeof text, "%scounts[0] is %" PRId64, prefix, spoilt->counts[0]);
  refuse(of, how, arguments, text);
  spoilt->counts[0] = EACH;
  if (of == TT_REDUCE_SCATTERV)
    return;
  spoilt->offsets[0] = INT64_MIN;
  snprintf(text, sizeof text, "%s%soffsets[0] is %" PRId64, prefix, row.types ? "bytes_" : "", INT64_MIN);
  refuse(of, how, arguments, text);
  spoilt->offsets[0] = 0;
}

static void refuse_types(tt_collective of, call_mode how, call_arguments *arguments, lists *from, lists *to) {
  if (!call_row_of(of).types)
    return;
  from->types[0] = (tutti_type)99;
  refuse(of, how, arguments, "in_types[0] is 99");
  from->types[0] = TUTTI_INT32;
  to->types[0] = (tutti_type)-1;
  refuse(of, how, arguments, "out_types[0] is -1");
  to->types[0] = TUTTI_INT32;
  arguments->out_types = NULL;
  refuse(of, how, arguments, "out_types is NULL");
  arguments->out_types = to->types;
}

/* What this rank sends itself it must also expect. */
static void refuse_selves(tt_collective of, call_mode how, call_arguments *arguments, lists *to) {
  int64_t rank = tutti_comm_rank(comm), self = tt_compose_info(of).has_graph ? 0 : rank;
  bool both = rank == arguments->root || !tt_compose_info(of).has_root;
  if (tt_compose_info(of).lengths == TT_LENGTHS_ALL || !both)
    return;
  to->counts[self] = arguments->out_count = EACH + 1;
  refuse(of, how, arguments, "sends itself 20 bytes and receives 24");
  to->counts[self] = arguments->out_count = EACH;
}

static void refuse_lists(tt_collective of, call_mode how) {
  lists from, to;
  call_arguments arguments = right_arguments(&from, &to);
  call_row row = call_row_of(of);
  bool root = tutti_comm_rank(comm) == arguments.root;
  if (!row.lists)
    return;
  if (row.in != CALL_ONE && (root || !row.in_root))
    refuse_list(of, how, &arguments, true, &from);
  if (row.out != CALL_ONE && (root || !row.out_root))
    refuse_list(of, how, &arguments, false, &to);
  refuse_types(of, how, &arguments, &from, &to);
  refuse_selves(of, how, &arguments, &to);
  if (row.in == CALL_ONE && of != TT_ALLGATHERV) {
    arguments.in_count = -3;
    refuse(of, how, &arguments, "in_count is -3");
  }
  arguments.in_count = EACH;
  arguments.out_count = -4;
  if (of == TT_SCATTERV)
    refuse(of, how, &arguments, "out_count is -4");
}

static void refuse_function(tt_collective of, call_mode how) {
  lists from, to;
  call_arguments right = right_arguments(&from, &to), wrong = right;
  wrong.comm = NULL;
  wrong.graph = NULL;
  refuse(of, how, &wrong, tt_compose_info(of).has_graph ? "graph is NULL" : "comm is NULL");
  if (how != CALL_BLOCK) {
    REFUSED(call_invoke(of, how, &right, NULL), "request is NULL");
    check_function(of);
  }
  if (of == TT_BARRIER)
    return;
  refuse_counts(of, how, right);
  refuse_buffers(of, how, right);
  refuse_kinds(of, how, right);
  refuse_roots(of, how, right);
  refuse_lists(of, how);
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
  CHECK(call_create_types(context) == TUTTI_OK);
  CHECK(tutti_graph_create(comm, 1, &boot->rank, 1, &boot->rank, &graph) == TUTTI_OK);
  refuse_contexts();
  refuse_memory();
  refuse_comms();
  refuse_graphs();
  refuse_operators();
  refuse_long_elements();
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (call_mode how = CALL_BLOCK; how < CALL_MODE_COUNT; how++) {
      refuse_function((tt_collective)c, how);
      check_sum();
    }
  refuse_requests();
  check_sum();
  tutti_graph_destroy(graph);
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

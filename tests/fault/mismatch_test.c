/* One rank calls something else than the others: all get TUTTI_ERR_MISMATCH with text that says who called what, those
 * that had already returned at their next call or wait, and nobody writes outside its buffers. */
#include "conformance/invoke.h"
#include "fault/fault.h"

#include <inttypes.h>

#define GUARD 256
#define SMALL 20    /* elements: one round over shared cells */
#define LARGE 20000 /* streams */

enum { NO_ELEMENTS = -1000000, RANKS_MOST = 5, GRAPHS = 2 };

typedef struct difference_call {
  tt_collective collective;
  int more;  /* elements, beside those of the size; NO_ELEMENTS: none at all */
  int shift; /* of lists: so many elements of block 0 are block 1's instead */
  tutti_type type;
  tutti_op op;
  int64_t root;
  int graph;
  const char *params;
} difference_call;

static const struct difference {
  difference_call odd, others;
  const char *text;
} differences[] = {
    {{.collective = TT_ALLREDUCE}, {.collective = TT_BARRIER}, ""},
    {{.collective = TT_BROADCAST}, {.collective = TT_ALLREDUCE}, "root 0"},
    {{.collective = TT_BARRIER}, {.collective = TT_BROADCAST}, ""},
    {{.collective = TT_ALLGATHER}, {.collective = TT_BROADCAST}, ""},
    {{.collective = TT_ALLGATHER}, {.collective = TT_REDUCE_SCATTER}, ""},
    {{.collective = TT_GATHER}, {.collective = TT_SCATTER}, ""},
    {{.collective = TT_REDUCE}, {.collective = TT_GATHERV}, ""},
    {{.collective = TT_SCAN}, {.collective = TT_EXSCAN}, ""},
    {{.collective = TT_ALL_TO_ALL}, {.collective = TT_ALL_TO_ALLV}, ""},
    {{.collective = TT_ALL_TO_ALLV}, {.collective = TT_ALL_TO_ALLW}, ""},
    {{.collective = TT_ALLGATHERV}, {.collective = TT_ALLGATHER}, ""},
    {{.collective = TT_SCATTERV}, {.collective = TT_REDUCE_SCATTERV}, ""},
    {{.collective = TT_NEIGHBOR_ALLGATHER}, {.collective = TT_NEIGHBOR_ALL_TO_ALL}, "graph 1"},
    {{.collective = TT_NEIGHBOR_ALL_TO_ALLV}, {.collective = TT_ALL_TO_ALLV}, "graph 1"},
    {{.collective = TT_NEIGHBOR_ALLGATHER, .graph = 1}, {.collective = TT_NEIGHBOR_ALLGATHER}, "graph 2"},
    {{.collective = TT_NEIGHBOR_ALL_TO_ALLV, .graph = 1}, {.collective = TT_NEIGHBOR_ALL_TO_ALLV}, "graph 2"},
    {{.collective = TT_ALLREDUCE, .more = -1}, {.collective = TT_ALLREDUCE}, "count"},
    {{.collective = TT_BROADCAST, .more = 1}, {.collective = TT_BROADCAST}, "count"},
    {{.collective = TT_BROADCAST, .more = NO_ELEMENTS}, {.collective = TT_BROADCAST}, "count 0"},
    {{.collective = TT_ALLGATHER, .more = NO_ELEMENTS}, {.collective = TT_ALLGATHER}, "count 0"},
    {{.collective = TT_ALLGATHER, .more = 7}, {.collective = TT_ALLGATHER}, "count"},
    {{.collective = TT_REDUCE_SCATTER, .more = -3}, {.collective = TT_REDUCE_SCATTER}, "count"},
    {{.collective = TT_GATHER, .more = 2}, {.collective = TT_GATHER}, "count"},
    {{.collective = TT_SCATTER, .more = NO_ELEMENTS}, {.collective = TT_SCATTER}, "count 0"},
    {{.collective = TT_ALL_TO_ALL, .more = 1}, {.collective = TT_ALL_TO_ALL}, "count"},
    {{.collective = TT_NEIGHBOR_ALL_TO_ALL, .more = -2}, {.collective = TT_NEIGHBOR_ALL_TO_ALL}, "count"},
    {{.collective = TT_ALLGATHERV, .more = 1}, {.collective = TT_ALLGATHERV}, "counts with a sum of"},
    {{.collective = TT_ALLGATHERV, .shift = 2}, {.collective = TT_ALLGATHERV}, "their counts differ"},
    {{.collective = TT_REDUCE_SCATTERV, .shift = 1}, {.collective = TT_REDUCE_SCATTERV}, "their counts differ"},
    {{.collective = TT_ALLREDUCE, .type = TUTTI_INT32}, {.collective = TT_ALLREDUCE}, "int32"},
    {{.collective = TT_BROADCAST, .type = TUTTI_FLOAT64}, {.collective = TT_BROADCAST}, "float64"},
    {{.collective = TT_GATHERV, .type = TUTTI_INT32}, {.collective = TT_GATHERV}, "int32"},
    {{.collective = TT_ALL_TO_ALLV, .type = CALL_MATRIX},
     {.collective = TT_ALL_TO_ALLV, .type = CALL_TRIPLE},
     "elements of 3 bytes"},
    {{.collective = TT_SCAN, .type = CALL_MATRIX, .op = CALL_PRODUCT},
     {.collective = TT_SCAN},
     "a user's operator that does not commute"},
    {{.collective = TT_ALLREDUCE, .op = TUTTI_MAX}, {.collective = TT_ALLREDUCE}, "max"},
    {{.collective = TT_REDUCE_SCATTER, .op = TUTTI_MIN}, {.collective = TT_REDUCE_SCATTER}, "min"},
    {{.collective = TT_REDUCE, .op = TUTTI_PRODUCT}, {.collective = TT_REDUCE}, "product"},
    {{.collective = TT_BROADCAST, .root = 1}, {.collective = TT_BROADCAST}, "root 1"},
    {{.collective = TT_BROADCAST}, {.collective = TT_BROADCAST, .root = 1}, "root 1"},
    {{.collective = TT_GATHER, .root = 1}, {.collective = TT_GATHER}, "root 1"},
    {{.collective = TT_SCATTERV, .root = 1}, {.collective = TT_SCATTERV}, "root 1"},
    {{.collective = TT_ALLREDUCE, .params = "ring"}, {.collective = TT_ALLREDUCE}, "parameters differ"},
    {{.collective = TT_BROADCAST, .params = "chain"}, {.collective = TT_BROADCAST}, "parameters differ"},
    {{.collective = TT_ALLGATHER, .params = "bruck"},
     {.collective = TT_ALLGATHER, .params = "recursive-doubling"},
     "parameters differ"},
};

typedef enum mode { BLOCKING, WAITED, POSTED_BOTH, MODES } mode;

typedef struct buffers {
  unsigned char *in, *out, *after; /* after: of the next call */
  size_t out_bytes, bytes;
  int64_t counts[RANKS_MOST];
  tutti_type types[RANKS_MOST];
  tutti_graph *graph[GRAPHS];
} buffers;

static int64_t count_of(const difference_call *of, int64_t size) {
  return of->more == NO_ELEMENTS ? 0 : size + of->more;
}

static void fill(buffers *of, const difference_call *made, int64_t count, int64_t ranks) {
  call_row row = call_row_of(made->collective);
  of->out_bytes = (size_t)count * call_type_bytes(made->type) * (size_t)(row.out == CALL_ONE ? 1 : ranks);
  for (int64_t r = 0; r < ranks; r++) {
    of->counts[r] = count + (r == 1 ? made->shift : r == 0 ? -made->shift : 0);
    of->types[r] = made->type;
  }
  if (made->collective == TT_BARRIER)
    of->out_bytes = 0;
  memset(of->in, 0, of->bytes);
  memset(of->out, 0xA5, of->bytes);
}

static bool is_filled(const unsigned char *bytes, size_t count, unsigned char with) {
  return count == 0 || (bytes[0] == with && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* Nothing is written before and after what the call may write; a block of lists may be longer by `shift`. */
static void check_guards(const buffers *of, const difference_call *made) {
  size_t end = GUARD + of->out_bytes + (size_t)made->shift * call_type_bytes(made->type);
  CHECK(is_filled(of->in, of->bytes, 0));
  CHECK(is_filled(of->out, GUARD, 0xA5));
  CHECK(is_filled(of->out + end, of->bytes - end, 0xA5));
}

static tutti_status start(const difference_call *of, const buffers *with, int64_t count, tutti_comm *comm,
                          tutti_request **request) {
  int64_t own = with->counts[tutti_comm_rank(comm)];
  const call_arguments arguments = {.in = with->in + GUARD,
                                    .out = with->out + GUARD,
                                    .count = count,
                                    .in_count = own,
                                    .out_count = own,
                                    .in_counts = with->counts,
                                    .out_counts = with->counts,
                                    .in_types = with->types,
                                    .out_types = with->types,
                                    .type = of->type,
                                    .op = of->op,
                                    .root = of->root,
                                    .comm = comm,
                                    .graph = with->graph[of->graph]};
  return call_invoke(of->collective, request ? CALL_START : CALL_BLOCK, &arguments, request);
}

/* A call in which everyone agrees, after the one in which they did not. */
static tutti_status next_start(const buffers *with, tutti_comm *comm, tutti_request **request) {
  return tutti_allreduce_start(with->in, with->after, 4, TUTTI_INT64, TUTTI_SUM, comm, request);
}

static tutti_status call_both(const difference_call *of, const buffers *with, int64_t count, mode how,
                              tutti_comm *comm) {
  tutti_request *first = NULL, *second = NULL;
  tutti_status status = start(of, with, count, comm, how == BLOCKING ? NULL : &first);
  if (status == TUTTI_OK && how == POSTED_BOTH)
    status = next_start(with, comm, &second);
  tutti_status waited = tutti_wait(&first);
  status = status == TUTTI_OK ? waited : status;
  if (status == TUTTI_OK && how != POSTED_BOTH)
    status = next_start(with, comm, &second);
  waited = tutti_wait(&second);
  return status == TUTTI_OK ? waited : status;
}

static void check_text(const struct difference *of, int64_t odd) {
  char wanted[64];
  const char *text = tutti_last_error();
  snprintf(wanted, sizeof wanted, "rank %" PRId64 " called %s(", odd, tt_compose_info(of->odd.collective).name);
  CHECK(strstr(text, wanted) != NULL);
  snprintf(wanted, sizeof wanted, "called %s(", tt_compose_info(of->others.collective).name);
  CHECK(strstr(text, wanted) != NULL);
  CHECK(strstr(text, of->text) != NULL);
}

/* Every rank is every rank's neighbor. An error where the others have come further already, and differ. */
static tutti_status join_graphs(tutti_comm *comm, const struct difference *of, buffers *with) {
  const int64_t all[RANKS_MOST] = {0, 1, 2, 3, 4}, ranks = tutti_comm_size(comm);
  bool needed = tt_compose_info(of->odd.collective).has_graph;
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < GRAPHS; n++) {
    with->graph[n] = NULL;
    if (needed && status == TUTTI_OK)
      status = tutti_graph_create(comm, ranks, all, ranks, all, &with->graph[n]);
  }
  return status;
}

static void differ(const tutti_boot *boot, tutti_context *context, const struct difference *of, int64_t odd, mode how,
                   int64_t size, buffers *with) {
  const difference_call *own = boot->rank == odd ? &of->odd : &of->others;
  tutti_comm *comm = NULL;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  if (own->params)
    CHECK(tutti_comm_set_params(comm, tt_compose_info(own->collective).name, own->params) == TUTTI_OK);
  tutti_status status = join_graphs(comm, of, with);
  fill(with, own, count_of(own, size), boot->rank_count);
  if (status == TUTTI_OK)
    status = call_both(own, with, count_of(own, size), how, comm);
  CHECK(status == TUTTI_ERR_MISMATCH);
  check_text(of, odd);
  CHECK(tutti_barrier(comm) == TUTTI_ERR_MISMATCH);
  check_guards(with, own);
  for (int n = 0; n < GRAPHS; n++)
    tutti_graph_destroy(with->graph[n]);
  tutti_comm_destroy(comm);
}

static void differ_in_all_ways(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context = join_job(boot);
  buffers with = {.bytes = 2 * GUARD + (size_t)boot->rank_count * (LARGE + 100) * 16};
  with.in = malloc(with.bytes);
  with.out = malloc(with.bytes);
  with.after = malloc(with.bytes);
  CHECK(call_create_types(context) == TUTTI_OK);
  for (size_t d = 0; d < sizeof differences / sizeof *differences; d++)
    for (int n = 0; n < 2 * MODES * 2; n++)
      differ(boot, context, &differences[d], n % 2 ? boot->rank_count - 1 : 0, (mode)(n / 2 % MODES),
             n / 6 ? LARGE : SMALL, &with);
  free(with.in);
  free(with.out);
  free(with.after);
  tutti_context_destroy(context);
}

static void test_mismatch_is_named_among_2_ranks(void **state) {
  (void)state;
  run_job(2, differ_in_all_ways, NULL);
}

static void test_mismatch_is_named_among_3_ranks(void **state) {
  (void)state;
  run_job(3, differ_in_all_ways, NULL);
}

static void test_mismatch_is_named_among_5_ranks(void **state) {
  (void)state;
  run_job(5, differ_in_all_ways, NULL);
}

/* ---- one call more ---- */

static void call_once_more(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t in = 1, out = 0;
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  meet_all(context);
  if (boot->rank == 1)
    CHECK(tutti_barrier(comm) == TUTTI_ERR_MISMATCH);
  else
    CHECK(tutti_allreduce(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_ERR_MISMATCH);
  CHECK(strstr(tutti_last_error(), "rank 1 called barrier(") != NULL);
  leave_all(context, comm);
}

static void test_one_call_more_on_one_rank_is_a_mismatch_at_the_next(void **state) {
  (void)state;
  run_job(3, call_once_more, NULL);
}

static void wait_for_leavers(const tutti_boot *boot, void *argument) {
  const int64_t *count = argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  char *in = calloc((size_t)*count, 1), *out = calloc((size_t)*count, 1);
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  meet_all(context); /* who is still in the barrier gets the error of the next call */
  if (boot->rank == 1)
    report(boot, tutti_allreduce(in, out, *count / 4, TUTTI_INT32, TUTTI_SUM, comm));
  free(in);
  free(out);
  leave_all(context, comm);
}

static void test_one_call_more_ends_when_the_others_have_left(void **state) {
  (void)state;
  for (int64_t bytes = 64; bytes <= 1 << 20; bytes <<= 14) {
    run_job(3, wait_for_leavers, &bytes);
    assert_outcome(1, TUTTI_ERR_PEER, "left the job");
  }
}

/* ---- parameters that make no plan ---- */

static void set_impossible(const tutti_boot *boot, void *argument) {
  const int *rank = argument; /* -1: all */
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t in = 1, out = 0;
  bool odd = *rank < 0 || *rank == boot->rank;
  if (odd)
    CHECK(tutti_comm_set_params(comm, "allreduce", "form=allgather.scatter [core:star]") == TUTTI_OK);
  tutti_status status = tutti_allreduce(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm);
  CHECK(status == (odd ? TUTTI_ERR_PLAN : TUTTI_ERR_MISMATCH));
  CHECK(odd || strstr(tutti_last_error(), "parameters differ"));
  CHECK(tutti_comm_set_params(comm, "allreduce", NULL) == TUTTI_OK);
  status = tutti_allreduce(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm);
  CHECK(status == (*rank < 0 ? TUTTI_OK : TUTTI_ERR_MISMATCH));
  leave_all(context, comm);
}

static void test_parameters_without_a_plan_are_an_error_for_all(void **state) {
  (void)state;
  for (int rank = -1; rank < 3; rank++)
    run_job(3, set_impossible, &rank);
}

/* To make a request is no call: where ranks make it is their own affair, also where it fails. */
static void init_impossible(const tutti_boot *boot, void *unused) {
  (void)unused;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_request *request = NULL;
  int64_t in = 1, out = 0;
  CHECK(tutti_comm_set_params(comm, "allreduce", "form=allgather.scatter [core:star]") == TUTTI_OK);
  for (int turn = 0; turn < 2; turn++)
    if (turn == boot->rank % 2)
      CHECK(tutti_allreduce_init(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_ERR_PLAN);
    else
      CHECK(tutti_barrier(comm) == TUTTI_OK);
  CHECK(request == NULL && tutti_barrier(comm) == TUTTI_OK);
  leave_all(context, comm);
}

static void test_a_request_that_has_no_plan_is_no_call(void **state) {
  (void)state;
  run_job(3, init_impossible, NULL);
}

static void create_with(const tutti_boot *boot, void *argument) {
  (void)argument;
  setenv("TUTTI_PARAMS", "rabenseifner", 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context), *part = NULL;
  int64_t in = 1, out[4];
  CHECK(tutti_comm_split(comm, 0, 0, &part) == TUTTI_OK);
  CHECK(tutti_allreduce(&in, out, 1, TUTTI_INT64, TUTTI_SUM, part) == TUTTI_OK && out[0] == 3);
  CHECK(tutti_allgather(&in, out, 1, TUTTI_INT64, part) == TUTTI_ERR_PLAN); /* has no such form */
  tutti_comm_destroy(part);
  leave_all(context, comm);
}

static void test_communicators_do_not_depend_on_the_users_parameters(void **state) {
  (void)state;
  run_job(3, create_with, NULL);
}

/* ---- no call after it ---- */

static void differ_and_destroy(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int32_t in[2] = {0}, out[2];
  fclose(stderr); /* where destroy says what it found */
  if (tutti_broadcast(in, out, 2, TUTTI_INT32, boot->rank, comm) == TUTTI_OK)
    tutti_comm_destroy(comm);
  report(boot, TUTTI_ERR_MISMATCH);
  tutti_context_destroy(context);
}

static void test_mismatch_without_a_later_call_is_told_at_destroy(void **state) {
  (void)state;
  run_job(2, differ_and_destroy, NULL);
  int later = strstr(outcomes[0].text, "root 1") != NULL ? 0 : 1;
  assert_outcome(later, TUTTI_ERR_MISMATCH, "rank 0 called broadcast(count 2, int32, root 0); rank 1 called");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_mismatch_is_named_among_2_ranks),
      FAULT_TEST(test_mismatch_is_named_among_3_ranks),
      FAULT_TEST(test_mismatch_is_named_among_5_ranks),
      FAULT_TEST(test_one_call_more_on_one_rank_is_a_mismatch_at_the_next),
      FAULT_TEST(test_one_call_more_ends_when_the_others_have_left),
      FAULT_TEST(test_parameters_without_a_plan_are_an_error_for_all),
      FAULT_TEST(test_a_request_that_has_no_plan_is_no_call),
      FAULT_TEST(test_communicators_do_not_depend_on_the_users_parameters),
      FAULT_TEST(test_mismatch_without_a_later_call_is_told_at_destroy),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

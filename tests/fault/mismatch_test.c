/* One rank calls something else than the others: all get TUTTI_ERR_MISMATCH with text that says who called what, those
 * that had already returned at their next call or wait, and nobody writes outside its buffers. */
#include "fault/fault.h"

#define GUARD 256
#define SMALL 20    /* elements: one round over shared cells */
#define LARGE 20000 /* streams */

typedef enum kind { ALLREDUCE, BROADCAST, ALLGATHER, REDUCE_SCATTER, BARRIER } kind;

typedef struct call {
  kind kind;
  int more; /* elements, beside those of the size; -1000000: none at all */
  tutti_type type;
  tutti_op op;
  int64_t root;
  const char *params;
} call;

static const char *const names[] = {"allreduce(", "broadcast(", "allgather(", "reduce-scatter(", "barrier("};

static const struct difference {
  call odd, others;
  const char *text;
} differences[] = {
    {{.kind = ALLREDUCE}, {.kind = BARRIER}, ""},
    {{.kind = BROADCAST}, {.kind = ALLREDUCE}, "root 0"},
    {{.kind = BARRIER}, {.kind = BROADCAST}, ""},
    {{.kind = ALLGATHER}, {.kind = BROADCAST}, ""},
    {{.kind = ALLGATHER}, {.kind = REDUCE_SCATTER}, ""},
    {{.kind = ALLREDUCE, .more = -1}, {.kind = ALLREDUCE}, "count"},
    {{.kind = BROADCAST, .more = 1}, {.kind = BROADCAST}, "count"},
    {{.kind = BROADCAST, .more = -1000000}, {.kind = BROADCAST}, "count 0"},
    {{.kind = ALLGATHER, .more = -1000000}, {.kind = ALLGATHER}, "count 0"},
    {{.kind = ALLGATHER, .more = 7}, {.kind = ALLGATHER}, "count"},
    {{.kind = REDUCE_SCATTER, .more = -3}, {.kind = REDUCE_SCATTER}, "count"},
    {{.kind = ALLREDUCE, .type = TUTTI_INT32}, {.kind = ALLREDUCE}, "int32"},
    {{.kind = BROADCAST, .type = TUTTI_FLOAT64}, {.kind = BROADCAST}, "float64"},
    {{.kind = ALLREDUCE, .op = TUTTI_MAX}, {.kind = ALLREDUCE}, "max"},
    {{.kind = REDUCE_SCATTER, .op = TUTTI_MIN}, {.kind = REDUCE_SCATTER}, "min"},
    {{.kind = BROADCAST, .root = 1}, {.kind = BROADCAST}, "root 1"},
    {{.kind = BROADCAST}, {.kind = BROADCAST, .root = 1}, "root 1"},
    {{.kind = ALLREDUCE, .params = "ring"}, {.kind = ALLREDUCE}, "parameters differ"},
    {{.kind = BROADCAST, .params = "chain"}, {.kind = BROADCAST}, "parameters differ"},
    {{.kind = ALLGATHER, .params = "bruck"}, {.kind = ALLGATHER, .params = "recursive-doubling"}, "parameters differ"},
};

typedef enum mode { BLOCKING, WAITED, POSTED_BOTH, MODES } mode;

typedef struct buffers {
  unsigned char *in, *out, *after; /* after: of the next call */
  size_t out_bytes, bytes;
} buffers;

static int64_t count_of(const call *of, int64_t size) { return of->more == -1000000 ? 0 : size + of->more; }

static void fill(buffers *of, const call *made, int64_t count, int64_t ranks) {
  size_t element = tutti_type_size(made->type);
  of->out_bytes = (size_t)count * element * (size_t)(made->kind == ALLGATHER ? ranks : 1);
  if (made->kind == BARRIER)
    of->out_bytes = 0;
  memset(of->in, 0, of->bytes);
  memset(of->out, 0xA5, of->bytes);
}

static bool is_filled(const unsigned char *bytes, size_t count, unsigned char with) {
  return count == 0 || (bytes[0] == with && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* Nothing is written before and after what the call may write. */
static void check_guards(const buffers *of) {
  size_t end = GUARD + of->out_bytes;
  CHECK(is_filled(of->in, of->bytes, 0));
  CHECK(is_filled(of->out, GUARD, 0xA5));
  CHECK(is_filled(of->out + end, of->bytes - end, 0xA5));
}

static tutti_status start(const call *of, const buffers *with, int64_t count, tutti_comm *comm,
                          tutti_request **request) {
  const void *in = with->in + GUARD;
  void *out = with->out + GUARD;
  switch (of->kind) {
  case ALLREDUCE:
    return request ? tutti_allreduce_start(in, out, count, of->type, of->op, comm, request)
                   : tutti_allreduce(in, out, count, of->type, of->op, comm);
  case BROADCAST:
    return request ? tutti_broadcast_start(in, out, count, of->type, of->root, comm, request)
                   : tutti_broadcast(in, out, count, of->type, of->root, comm);
  case ALLGATHER:
    return request ? tutti_allgather_start(in, out, count, of->type, comm, request)
                   : tutti_allgather(in, out, count, of->type, comm);
  case REDUCE_SCATTER:
    return request ? tutti_reduce_scatter_start(in, out, count, of->type, of->op, comm, request)
                   : tutti_reduce_scatter(in, out, count, of->type, of->op, comm);
  default:
    return request ? tutti_barrier_start(comm, request) : tutti_barrier(comm);
  }
}

/* A call in which everyone agrees, after the one in which they did not. */
static tutti_status next_start(const buffers *with, tutti_comm *comm, tutti_request **request) {
  return tutti_allreduce_start(with->in, with->after, 4, TUTTI_INT64, TUTTI_SUM, comm, request);
}

static tutti_status call_both(const call *of, const buffers *with, int64_t count, mode how, tutti_comm *comm) {
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
  snprintf(wanted, sizeof wanted, "rank %lld called %s", (long long)odd, names[of->odd.kind]);
  CHECK(strstr(text, wanted) != NULL);
  snprintf(wanted, sizeof wanted, "called %s", names[of->others.kind]);
  CHECK(strstr(text, wanted) != NULL);
  CHECK(strstr(text, of->text) != NULL);
}

static void differ(const tutti_boot *boot, tutti_context *context, const struct difference *of, int64_t odd, mode how,
                   int64_t size, buffers *with) {
  const call *own = boot->rank == odd ? &of->odd : &of->others;
  tutti_comm *comm = NULL;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  for (kind k = ALLREDUCE; own->params && k <= BROADCAST + 1; k++)
    CHECK(tutti_comm_set_params(comm,
                                k == ALLREDUCE   ? "allreduce"
                                : k == BROADCAST ? "broadcast"
                                                 : "allgather",
                                own->params) == TUTTI_OK);
  fill(with, own, count_of(own, size), boot->rank_count);
  CHECK(call_both(own, with, count_of(own, size), how, comm) == TUTTI_ERR_MISMATCH);
  check_text(of, odd);
  CHECK(tutti_barrier(comm) == TUTTI_ERR_MISMATCH);
  check_guards(with);
  tutti_comm_destroy(comm);
}

static void differ_in_all_ways(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context = join_job(boot);
  buffers with = {.bytes = 2 * GUARD + (size_t)boot->rank_count * (LARGE + 100) * 8};
  with.in = malloc(with.bytes);
  with.out = malloc(with.bytes);
  with.after = malloc(with.bytes);
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
    assert_outcome(1, TUTTI_ERR_PEER, "has left the job");
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
      FAULT_TEST(test_communicators_do_not_depend_on_the_users_parameters),
      FAULT_TEST(test_mismatch_without_a_later_call_is_told_at_destroy),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

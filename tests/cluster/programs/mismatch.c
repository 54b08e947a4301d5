/* tests/cluster/programs/mismatch.c - ranks of different nodes call different things: all of them get an error that
 * names ranks and their calls, from the call or from one of the next, and other communicators go on.
 *
 * The last rank is the odd one. In some cases it gets data from the others or they from it; in others nobody gets
 * anything that he waits for, so that ranks have to ask. (misuse.c does the same to MPI programs.) */
#include "join.h"

enum { FLOATS = 20000, CALLS = 3 };

static float in[FLOATS], out[FLOATS];
static int64_t rank, size;

static tutti_status call_counts(tutti_comm *comm, bool odd) {
  return tutti_allreduce(in, out, odd ? 11 : 10, TUTTI_FLOAT32, TUTTI_SUM, comm);
}

static tutti_status call_long(tutti_comm *comm, bool odd) {
  return tutti_allreduce(in, out, odd ? FLOATS : FLOATS - 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
}

static tutti_status call_roots(tutti_comm *comm, bool odd) {
  return tutti_broadcast(in, out, 5, TUTTI_INT32, odd ? size - 1 : 0, comm);
}

static tutti_status call_types(tutti_comm *comm, bool odd) {
  return tutti_allreduce(in, out, 7, odd ? TUTTI_INT32 : TUTTI_FLOAT32, TUTTI_MAX, comm);
}

static tutti_status call_others(tutti_comm *comm, bool odd) {
  return odd ? tutti_scan(in, out, 5, TUTTI_INT32, TUTTI_MAX, comm)
             : tutti_reduce(in, out, 4, TUTTI_INT32, TUTTI_SUM, size - 1, comm);
}

static tutti_status call_later(tutti_comm *comm, bool odd) {
  tutti_request *request = NULL;
  tutti_status status = odd ? tutti_broadcast_start(in, out, 3, TUTTI_INT32, 1, comm, &request)
                            : tutti_allreduce_start(in, out, 3, TUTTI_INT32, TUTTI_SUM, comm, &request);
  return status == TUTTI_OK ? tutti_wait(&request) : status;
}

static const struct mismatch {
  tutti_status (*call)(tutti_comm *comm, bool odd);
  const char *odd, *other; /* of the calls, as the error names them */
} cases[] = {
    {call_counts, "allreduce(count 11", "allreduce(count 10"},
    {call_long, "allreduce(count 20000", "allreduce(count 19999"},
    {call_types, "int32, max", "float32, max"},
    {call_others, "scan(count 5", "reduce(count 4"},
    {call_later, "broadcast(count 3", "allreduce(count 3"},
};

static bool is_right(const struct mismatch *of, tutti_comm *comm) {
  char name[64];
  tutti_status status = of->call(comm, rank == size - 1);
  for (int n = 0; status == TUTTI_OK && n < CALLS; n++) /* who waited for nobody learns it later */
    status = tutti_barrier(comm);
  const char *text = status == TUTTI_OK ? "no error" : tutti_last_error();
  snprintf(name, sizeof name, "rank %" PRId64 " called", size - 1);
  bool right = status == TUTTI_ERR_MISMATCH && strstr(text, name) && strstr(text, of->odd) && strstr(text, of->other);
  if (!right)
    fprintf(stderr, "rank %" PRId64 ", expected '%s', '%s' and '%s': %s\n", rank, name, of->odd, of->other, text);
  return right;
}

static bool roots_are_named(tutti_comm *comm) {
  char odd[32];
  snprintf(odd, sizeof odd, "root %" PRId64, size - 1);
  return is_right(&(struct mismatch){call_roots, odd, "root 0"}, comm);
}

int main(void) {
  bool right = true;
  tutti_comm *all, *comm;
  tutti_context *context = join_job();
  CHECK(tutti_comm_create(context, &all) == TUTTI_OK);
  rank = tutti_comm_rank(all);
  size = tutti_comm_size(all);
  for (size_t n = 0; n <= sizeof cases / sizeof *cases; n++) {
    CHECK(tutti_comm_split(all, 0, rank, &comm) == TUTTI_OK);
    right = (n == 0 ? roots_are_named(comm) : is_right(&cases[n - 1], comm)) && right;
    CHECK(tutti_barrier(all) == TUTTI_OK);
    tutti_comm_destroy(comm);
  }
  tutti_comm_destroy(all);
  tutti_context_destroy(context);
  return !right;
}

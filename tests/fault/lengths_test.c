/* Two ranks differ in the length of a block that only they know: every rank gets TUTTI_ERR_MISMATCH with text that
 * names the two and the difference, nobody hangs, and nobody writes outside its blocks. */
#include "fault/fault.h"

#include <fcntl.h>
#include <inttypes.h>

enum { RANKS_MOST = 5, SMALL = 3, LARGE = 30000, GAP = 7 /* elements between blocks */ };

typedef enum kind {
  GATHERV,
  SCATTERV,
  ALL_TO_ALLV,
  ALL_TO_ALLW,
  NEIGHBOR_ALLGATHERV,
  NEIGHBOR_ALL_TO_ALLV,
  NEIGHBOR_ALL_TO_ALLW,
  KINDS
} kind;

static const char *const names[] = {"gatherv(",
                                    "scatterv(",
                                    "all-to-allv(",
                                    "all-to-allw(",
                                    "neighbor-allgatherv(",
                                    "neighbor-all-to-allv(",
                                    "neighbor-all-to-allw("};

/* Rank `from` sends rank `to` other than that one expects; everything else has `length`. In elements. */
typedef struct trial {
  kind kind;
  int64_t length, sent, expected, from, to;
  bool waits; /* non-blocking */
} trial;

typedef struct lists { /* of one rank: every rank is a neighbor, so that all are by rank */
  int64_t in_count[RANKS_MOST], in_offset[RANKS_MOST], out_count[RANKS_MOST], out_offset[RANKS_MOST];
  int64_t in_bytes[RANKS_MOST], out_bytes[RANKS_MOST]; /* offsets */
  tutti_type type[RANKS_MOST];
  int32_t *in, *out;
  int64_t out_end; /* elements of memory */
} lists;

static bool has_graph(kind of) { return of >= NEIGHBOR_ALLGATHERV; }

static int64_t root_of(const trial *of) { return of->kind == GATHERV ? of->to : of->from; }

static int64_t sends(const trial *of, int64_t from, int64_t to) {
  bool odd = from == of->from && (to == of->to || of->kind == NEIGHBOR_ALLGATHERV); /* that has one block for all */
  return odd ? of->sent : of->length;
}

static int64_t expects(const trial *of, int64_t from, int64_t to) {
  return from == of->from && to == of->to ? of->expected : sends(of, from, to);
}

static void fill(const trial *of, int64_t rank, int64_t ranks, lists *with) {
  int64_t in = 0, out = GAP;
  for (int64_t r = 0; r < ranks; r++) {
    with->in_count[r] = sends(of, rank, r);
    with->out_count[r] = expects(of, r, rank);
    with->in_offset[r] = in;
    with->out_offset[r] = out;
    with->in_bytes[r] = in * 4;
    with->out_bytes[r] = out * 4;
    with->type[r] = TUTTI_INT32;
    in += with->in_count[r];
    out += with->out_count[r] + GAP;
  }
  with->in = calloc((size_t)in + 1, sizeof *with->in);
  with->out = malloc((size_t)out * sizeof *with->out);
  CHECK(with->in && with->out);
  memset(with->out, 0x5a, (size_t)out * sizeof *with->out);
  with->out_end = out;
}

static void check_range(const lists *with, int64_t begin, int64_t end) {
  for (int64_t n = begin; n < end; n++)
    CHECK(with->out[n] == 0x5a5a5a5a);
}

static void check_gaps(const trial *of, int64_t ranks, const lists *with) {
  int64_t behind = 0;
  for (int64_t r = 0; r < ranks; r++) {
    if (of->kind == SCATTERV && r != of->from) /* whose out is the root's block */
      continue;
    check_range(with, behind, with->out_offset[r]);
    behind = with->out_offset[r] + with->out_count[r];
  }
  check_range(with, behind, with->out_end);
}

static tutti_status begin(const trial *of, lists *with, tutti_comm *comm, tutti_graph *graph, tutti_request **request) {
  int64_t root = root_of(of);
  int32_t *in = with->in, *out = with->out, *own = with->out + with->out_offset[root];
  switch (of->kind) {
  case GATHERV:
    return tutti_gatherv_start(in, with->in_count[root], out, with->out_count, with->out_offset, TUTTI_INT32, root,
                               comm, request);
  case SCATTERV:
    return tutti_scatterv_start(in, with->in_count, with->in_offset, own, with->out_count[root], TUTTI_INT32, root,
                                comm, request);
  case ALL_TO_ALLV:
    return tutti_all_to_allv_start(in, with->in_count, with->in_offset, out, with->out_count, with->out_offset,
                                   TUTTI_INT32, comm, request);
  case ALL_TO_ALLW:
    return tutti_all_to_allw_start(in, with->in_count, with->in_bytes, with->type, out, with->out_count,
                                   with->out_bytes, with->type, comm, request);
  case NEIGHBOR_ALLGATHERV:
    return tutti_neighbor_allgatherv_start(in, with->in_count[0], out, with->out_count, with->out_offset, TUTTI_INT32,
                                           graph, request);
  case NEIGHBOR_ALL_TO_ALLV:
    return tutti_neighbor_all_to_allv_start(in, with->in_count, with->in_offset, out, with->out_count, with->out_offset,
                                            TUTTI_INT32, graph, request);
  default:
    return tutti_neighbor_all_to_allw_start(in, with->in_count, with->in_bytes, with->type, out, with->out_count,
                                            with->out_bytes, with->type, graph, request);
  }
}

static void check_text(const trial *of) {
  char wanted[120];
  const char *text = tutti_last_error();
  int64_t more = of->sent - of->expected, by = more < 0 ? -more : more;
  bool bytes = of->kind == ALL_TO_ALLW || of->kind == NEIGHBOR_ALL_TO_ALLW;
  snprintf(wanted, sizeof wanted,
           "rank %" PRId64 " sends rank %" PRId64 " %" PRId64 " %s %s than rank %" PRId64 " expects", of->from, of->to,
           bytes ? by * 4 : by, bytes ? "bytes" : "elements", more > 0 ? "more" : "less", of->to);
  if (!strstr(text, wanted) || !strstr(text, names[of->kind]))
    fprintf(stderr, "'%s' is not in '%s'\n", wanted, text);
  CHECK(strstr(text, wanted) && strstr(text, names[of->kind]));
}

/* An error where the others have come further already, and differ. */
static tutti_status join_graph(tutti_comm *comm, tutti_graph **graph) {
  int64_t all[RANKS_MOST] = {0, 1, 2, 3, 4}, ranks = tutti_comm_size(comm);
  return tutti_graph_create(comm, ranks, all, ranks, all, graph);
}

/* It says on stderr what no call has said. */
static void destroy_quietly(tutti_comm *comm) {
  int said = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
  CHECK(said >= 0 && nowhere >= 0);
  dup2(nowhere, STDERR_FILENO);
  tutti_comm_destroy(comm);
  dup2(said, STDERR_FILENO);
  close(said);
  close(nowhere);
}

/* Whoever expects something cannot miss it; that nothing is expected may come out at the end only. */
static void differ(tutti_context *context, const trial *of) {
  tutti_comm *comm = NULL;
  tutti_request *request = NULL;
  lists with;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  int64_t rank = tutti_comm_rank(comm), ranks = tutti_comm_size(comm);
  tutti_graph *graph = NULL;
  tutti_status status = has_graph(of->kind) ? join_graph(comm, &graph) : TUTTI_OK;
  fill(of, rank, ranks, &with);
  if (status == TUTTI_OK)
    status = begin(of, &with, comm, graph, &request);
  tutti_status waited = of->waits && status == TUTTI_OK ? tutti_barrier(comm) : TUTTI_OK;
  if (status == TUTTI_OK)
    status = tutti_wait(&request);
  CHECK(status == TUTTI_ERR_MISMATCH || rank != of->to || of->expected == 0);
  status = status == TUTTI_OK ? waited : status;
  if (status == TUTTI_OK)
    status = tutti_barrier(comm);
  CHECK(status == TUTTI_ERR_MISMATCH || of->expected == 0);
  if (status != TUTTI_OK)
    check_text(of);
  check_gaps(of, ranks, &with);
  tutti_graph_destroy(graph);
  destroy_quietly(comm);
  free(with.in);
  free(with.out);
}

static void differ_in_all_ways(const tutti_boot *boot, void *argument) {
  static const int64_t pairs[][2] = {{SMALL + 1, SMALL}, {SMALL - 1, SMALL}, {0, SMALL}, {LARGE, SMALL}, {SMALL, LARGE},
                                     {LARGE - 1, LARGE}, {LARGE, LARGE + 1}, {0, LARGE}, {1, 2},         {SMALL, 0},
                                     {20 * LARGE, 0}};
  (void)argument;
  tutti_context *context = join_job(boot);
  for (kind k = 0; k < KINDS; k++)
    for (size_t n = 0; n < 2 * sizeof pairs / sizeof pairs[0]; n++) {
      int64_t from = (int64_t)n % boot->rank_count,
              to = (from + 1 + (int64_t)n % (boot->rank_count - 1)) % boot->rank_count;
      differ(context, &(trial){.kind = k,
                               .length = n % 3 ? SMALL : 0,
                               .sent = pairs[n / 2][0],
                               .expected = pairs[n / 2][1],
                               .from = from,
                               .to = to,
                               .waits = n % 2});
    }
  tutti_context_destroy(context);
}

static void test_lengths_that_differ_are_named_among_2_ranks(void **state) {
  (void)state;
  run_job(2, differ_in_all_ways, NULL);
}

static void test_lengths_that_differ_are_named_among_3_ranks(void **state) {
  (void)state;
  run_job(3, differ_in_all_ways, NULL);
}

static void test_lengths_that_differ_are_named_among_5_ranks(void **state) {
  (void)state;
  run_job(5, differ_in_all_ways, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_lengths_that_differ_are_named_among_2_ranks),
      FAULT_TEST(test_lengths_that_differ_are_named_among_3_ranks),
      FAULT_TEST(test_lengths_that_differ_are_named_among_5_ranks),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

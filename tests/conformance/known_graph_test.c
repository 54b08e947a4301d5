/* tutti_graph_create_known makes the graph that tutti_graph_create makes, without communication, and refuses the same.
 */
#include "support/job.h"

#include <tutti/tutti.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 4, STEPS = 5, BLOCK = 3 };

/* Rank r's n-th destination is r + 1, r + 2, r, r + 1, r + 3 (modulo the size), so that some repeat; rank 1 has none.
 */
static const int64_t step[STEPS] = {1, 2, 0, 1, 3};

typedef struct edges {
  int64_t in_counts[MOST], out_counts[MOST], sources[MOST][MOST * STEPS], destinations[MOST][STEPS];
  int64_t list[2 * MOST * STEPS];
} edges;

static edges make_edges(int64_t size) {
  edges made = {.in_counts = {0}};
  for (int64_t r = 0; r < size; r++)
    for (int n = 0; n < STEPS && r != 1; n++) {
      int64_t to = (r + step[n]) % size;
      made.destinations[r][made.out_counts[r]++] = to;
      made.sources[to][made.in_counts[to]++] = r;
    }
  int64_t *at = made.list;
  for (int64_t r = 0; r < size; r++) {
    for (int64_t n = 0; n < made.in_counts[r]; n++)
      *at++ = made.sources[r][n];
    for (int64_t n = 0; n < made.out_counts[r]; n++)
      *at++ = made.destinations[r][n];
  }
  return made;
}

static void compare(const edges *all, int64_t rank, tutti_graph *known, tutti_graph *told) {
  int32_t in[STEPS * BLOCK], out[2][MOST * STEPS * BLOCK];
  for (int n = 0; n < STEPS * BLOCK; n++)
    in[n] = (int32_t)rank * 1000 + n;
  memset(out, 0, sizeof out);
  CHECK(tutti_neighbor_all_to_all(in, out[0], BLOCK, TUTTI_INT32, known) == TUTTI_OK);
  CHECK(tutti_neighbor_all_to_all(in, out[1], BLOCK, TUTTI_INT32, told) == TUTTI_OK);
  CHECK(memcmp(out[0], out[1], sizeof out[0]) == 0);
  CHECK(all->in_counts[rank] == 0 || out[0][0] == (int32_t)all->sources[rank][0] * 1000 + out[0][0] % 1000);
}

static void refuse(edges all, tutti_comm *comm) {
  tutti_graph *graph = NULL;
  CHECK(tutti_graph_create_known(comm, all.in_counts, all.out_counts, NULL, &graph) == TUTTI_ERR_ARGUMENT);
  CHECK(strstr(tutti_last_error(), "edges is NULL"));
  CHECK(tutti_graph_create_known(comm, NULL, all.out_counts, all.list, &graph) == TUTTI_ERR_ARGUMENT);
  all.list[0] = 77;
  CHECK(tutti_graph_create_known(comm, all.in_counts, all.out_counts, all.list, &graph) == TUTTI_ERR_ARGUMENT);
  CHECK(strstr(tutti_last_error(), "rank 0: sources[0] is 77"));
  all.in_counts[0] = -1;
  CHECK(tutti_graph_create_known(comm, all.in_counts, all.out_counts, all.list, &graph) == TUTTI_ERR_ARGUMENT);
  CHECK(strstr(tutti_last_error(), "rank 0: in_count is -1") && !graph);
}

static void refuse_one_end(tutti_comm *comm, int64_t size) {
  const int64_t none[MOST] = {0}, one[MOST] = {1}, list[1] = {size - 1};
  tutti_graph *graph;
  CHECK(tutti_graph_create_known(comm, none, one, list, &graph) == TUTTI_ERR_ARGUMENT);
  CHECK(strstr(tutti_last_error(), "among its destinations 1 times"));
}

static void run_rank(const tutti_boot *boot, void *argument) {
  tutti_context_options options;
  tutti_context *context;
  tutti_comm *comm;
  tutti_graph *known, *told;
  (void)argument;
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  const edges all = make_edges(boot->rank_count);
  int64_t rank = boot->rank;
  CHECK(tutti_graph_create_known(comm, all.in_counts, all.out_counts, all.list, &known) == TUTTI_OK);
  CHECK(tutti_graph_create(comm, all.in_counts[rank], all.sources[rank], all.out_counts[rank], all.destinations[rank],
                           &told) == TUTTI_OK);
  compare(&all, rank, known, told);
  refuse(all, comm);
  refuse_one_end(comm, boot->rank_count);
  compare(&all, rank, told, known);
  tutti_graph_destroy(known);
  tutti_graph_destroy(told);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_known_graph_is_the_same(void **state) {
  (void)state;
  for (int ranks = 1; ranks <= MOST; ranks++)
    assert_int_equal(job_run(ranks, run_rank, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_graph_is_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Blocks of one buffer that lie between those of the other: no block meets another, though the buffers' ends do.
 *
 * One memory has 2 * p cells of COUNT elements. Inputs are even cells, outputs odd ones, in an order that differs from
 * rank to rank; each rank looks whether all cells are what they must be, and that input and output in one cell are
 * refused. Some calls are made more than once, so that a call that is remembered is looked at, too. */
#include "support/job.h"

#include <tutti/tutti.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <sys/mman.h>

enum { COUNT = 300, MOST = 5, TIMES = 3, FAR = 1 << 28 };

typedef struct cells { /* of one rank */
  tutti_comm *comm;
  int64_t rank, ranks;
  int32_t *memory;
  int64_t counts[MOST], in[MOST], out[MOST]; /* offsets of cells */
} cells;

static int32_t value_of(int64_t from, int64_t to, int64_t n) { return (int32_t)(1000000 * from + 10000 * to + n); }

static void fill(const cells *at, int64_t offset, int64_t from, int64_t to) {
  for (int64_t n = 0; n < COUNT; n++)
    at->memory[offset + n] = value_of(from, to, n);
}

static void check(const cells *at, int64_t offset, int64_t from, int64_t to) {
  for (int64_t n = 0; n < COUNT; n++)
    CHECK(at->memory[offset + n] == value_of(from, to, n));
}

static void prepare(cells *at) {
  memset(at->memory, 0xFF, (size_t)(2 * MOST * COUNT) * sizeof *at->memory);
  for (int64_t r = 0; r < at->ranks; r++) {
    at->counts[r] = COUNT;
    at->in[r] = 2 * ((r + at->rank) % at->ranks) * COUNT;
    at->out[r] = (2 * ((2 * at->ranks - 1 - r + at->rank) % at->ranks) + 1) * COUNT;
    fill(at, at->in[r], at->rank, r);
  }
}

static void exchange(cells *at) {
  int64_t out[MOST];
  for (int64_t r = 0; r < at->ranks; r++)
    out[r] = at->out[r] - COUNT; /* another beginning: else it were in place, and copied first */
  CHECK(tutti_all_to_allv(at->memory, at->counts, at->in, at->memory + COUNT, at->counts, out, TUTTI_INT32, at->comm) ==
        TUTTI_OK);
  for (int64_t r = 0; r < at->ranks; r++)
    check(at, at->out[r], r, at->rank);
}

/* In place, a gigabyte from each block to the next: nobody reads, copies or keeps what lies between. */
static void exchange_far(cells *at) {
  size_t bytes = (size_t)at->ranks * FAR * sizeof *at->memory;
  cells far = *at;
  far.memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(far.memory != MAP_FAILED);
  for (int64_t r = 0; r < at->ranks; r++) {
    far.in[r] = r * FAR;
    CHECK(mprotect(far.memory + far.in[r], COUNT * sizeof *far.memory, PROT_READ | PROT_WRITE) == 0);
  }
  for (int n = 0; n < TIMES; n++) {
    for (int64_t r = 0; r < at->ranks; r++)
      fill(&far, far.in[r], at->rank, r);
    tutti_request *request = NULL;
    if (n % 2)
      CHECK(tutti_all_to_allv_start(far.memory, far.counts, far.in, far.memory, far.counts, far.in, TUTTI_INT32,
                                    at->comm, &request) == TUTTI_OK &&
            tutti_wait(&request) == TUTTI_OK);
    else
      CHECK(tutti_all_to_allv(far.memory, far.counts, far.in, far.memory, far.counts, far.in, TUTTI_INT32, at->comm) ==
            TUTTI_OK);
    for (int64_t r = 0; r < at->ranks; r++)
      check(&far, far.in[r], r, at->rank);
  }
  munmap(far.memory, bytes);
}

static void gather_all(cells *at) {
  int32_t *in = at->memory + at->in[1 % at->ranks];
  CHECK(tutti_allgatherv(in, at->memory, at->counts, at->out, TUTTI_INT32, at->comm) == TUTTI_OK);
  for (int64_t r = 0; r < at->ranks; r++)
    check(at, at->out[r], r, 1 % at->ranks);
}

static void gather(cells *at, int64_t root) {
  int32_t *in = at->memory + at->in[0];
  CHECK(tutti_gatherv(in, COUNT, at->memory, at->counts, at->out, TUTTI_INT32, root, at->comm) == TUTTI_OK);
  for (int64_t r = 0; r < at->ranks && at->rank == root; r++)
    check(at, at->out[r], r, 0);
}

static void scatter(cells *at, int64_t root) {
  int32_t *out = at->memory + at->out[at->ranks / 2];
  CHECK(tutti_scatterv(at->memory, at->counts, at->in, out, COUNT, TUTTI_INT32, root, at->comm) == TUTTI_OK);
  check(at, at->out[at->ranks / 2], root, at->rank);
}

static void refuse(cells *at) {
  at->out[at->ranks - 1] = at->in[0] + 1;
  CHECK(tutti_all_to_allv(at->memory, at->counts, at->in, at->memory + 2, at->counts, at->out, TUTTI_INT32, at->comm) ==
        TUTTI_ERR_ARGUMENT);
  CHECK(strstr(tutti_last_error(), "overlap") != NULL);
}

static void run(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  cells at = {.rank = boot->rank, .ranks = boot->rank_count};
  tutti_context_options options;
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK && tutti_comm_create(context, &at.comm) == TUTTI_OK);
  at.memory = malloc((size_t)(2 * MOST * COUNT) * sizeof *at.memory);
  CHECK(at.memory != NULL);
  for (int n = 0; n < TIMES; n++) {
    prepare(&at), exchange(&at);
    prepare(&at), gather_all(&at);
    prepare(&at), gather(&at, n % at.ranks);
    prepare(&at), scatter(&at, n % at.ranks);
  }
  exchange_far(&at);
  refuse(&at);
  free(at.memory);
  tutti_comm_destroy(at.comm);
  tutti_context_destroy(context);
}

static void test_blocks_may_lie_between_those_of_the_other_side(void **state) {
  (void)state;
  for (int ranks = 1; ranks <= MOST; ranks++)
    assert_int_equal(job_run(ranks, run, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks_may_lie_between_those_of_the_other_side)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

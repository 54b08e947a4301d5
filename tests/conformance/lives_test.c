/* Communicators of the same ranks, of which the next one gets what ran the plans of one that is gone: calls of every
 * length, type and operator, blocking and not, on some that live one after the other and some that live together, give
 * what they must. */
#include "support/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tutti/tutti.h>

enum { SLOTS = 3, MOST = 5000, STEPS = 1500, RANKS_MOST = 5 };

static tutti_comm *slots[SLOTS];
static uint64_t seed;

/* The same on all ranks, which take as many steps. */
static int64_t below(int64_t limit) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((seed >> 33) % (uint64_t)limit);
}

/* Around the limits of what lies in a line, in each area, and in streams. */
static int64_t choose_count(void) {
  static const int64_t counts[] = {0, 1, 2, 14, 15, 31, 33, 129, 600, MOST};
  return counts[below(sizeof counts / sizeof counts[0])];
}

static void sum_int64(tutti_comm *comm, int64_t rank, int64_t size) {
  static int64_t in[MOST], out[MOST];
  int64_t count = choose_count();
  bool in_place = below(2) == 0, starts = below(4) == 0;
  for (int64_t n = 0; n < count; n++)
    in[n] = out[n] = rank * n + 1;
  if (starts) {
    tutti_request *request;
    CHECK(tutti_allreduce_start(in_place ? out : in, out, count, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
    CHECK(tutti_wait(&request) == TUTTI_OK);
  } else {
    CHECK(tutti_allreduce(in_place ? out : in, out, count, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_OK);
  }
  for (int64_t n = 0; n < count; n++)
    CHECK(out[n] == size * (size - 1) / 2 * n + size);
}

static void most_of_int32(tutti_comm *comm, int64_t rank, int64_t size) {
  static int32_t in[MOST], out[MOST];
  int64_t count = choose_count();
  for (int64_t n = 0; n < count; n++)
    in[n] = (int32_t)((rank + n) % size);
  CHECK(tutti_allreduce(in, out, count, TUTTI_INT32, TUTTI_MAX, comm) == TUTTI_OK);
  for (int64_t n = 0; n < count; n++)
    CHECK(out[n] == size - 1);
}

static void tell(tutti_comm *comm, int64_t rank, int64_t size) {
  static int16_t told[MOST];
  int64_t count = choose_count(), root = below(size);
  for (int64_t n = 0; n < count; n++)
    told[n] = (int16_t)(rank == root ? n + root : -1);
  CHECK(tutti_broadcast(told, told, count, TUTTI_INT16, root, comm) == TUTTI_OK);
  for (int64_t n = 0; n < count; n++)
    CHECK(told[n] == (int16_t)(n + root));
}

static void collect(tutti_comm *comm, int64_t rank, int64_t size) {
  static int64_t in[MOST], out[RANKS_MOST * MOST];
  int64_t count = choose_count();
  for (int64_t n = 0; n < count; n++)
    in[n] = 10 * n + rank;
  CHECK(tutti_allgather(in, out, count, TUTTI_INT64, comm) == TUTTI_OK);
  for (int64_t n = 0; n < count * size; n++)
    CHECK(out[n] == 10 * (n % count) + n / count);
}

/* Blocks of lengths that only their ends know: some in cells, others in streams. */
static void exchange(tutti_comm *comm, int64_t rank, int64_t size) {
  static int64_t in[RANKS_MOST * MOST], out[RANKS_MOST * MOST];
  int64_t in_counts[RANKS_MOST] = {0}, out_counts[RANKS_MOST] = {0}, offsets[RANKS_MOST] = {0};
  int64_t lengths[RANKS_MOST][RANKS_MOST];
  for (int64_t from = 0; from < size; from++)
    for (int64_t to = 0; to < size; to++)
      lengths[from][to] = choose_count();
  for (int64_t r = 0; r < size; r++) {
    in_counts[r] = lengths[rank][r];
    out_counts[r] = lengths[r][rank];
    offsets[r] = r * MOST;
    for (int64_t n = 0; n < in_counts[r]; n++)
      in[offsets[r] + n] = 100 * n + 10 * rank + r;
  }
  CHECK(tutti_all_to_allv(in, in_counts, offsets, out, out_counts, offsets, TUTTI_INT64, comm) == TUTTI_OK);
  for (int64_t r = 0; r < size; r++)
    for (int64_t n = 0; n < out_counts[r]; n++)
      CHECK(out[offsets[r] + n] == 100 * n + 10 * r + rank);
}

static void (*const calls[])(tutti_comm *, int64_t, int64_t) = {sum_int64, sum_int64, most_of_int32,
                                                                tell,      collect,   exchange};

static void step(tutti_comm *parent) {
  int64_t slot = below(SLOTS), call = below((int64_t)(sizeof calls / sizeof calls[0]));
  if (below(3) > 0 && slots[slot]) {
    calls[call](slots[slot], tutti_comm_rank(slots[slot]), tutti_comm_size(slots[slot]));
    return;
  }
  tutti_comm_destroy(slots[slot]);
  CHECK(tutti_comm_split(parent, 0, below(4) ? 0 : -tutti_comm_rank(parent), &slots[slot]) == TUTTI_OK);
}

static void run_rank(const tutti_boot *boot, void *argument) {
  tutti_context_options options;
  tutti_context *context;
  tutti_comm *parent;
  seed = *(const uint64_t *)argument;
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  CHECK(tutti_comm_create(context, &parent) == TUTTI_OK);
  for (int n = 0; n < STEPS; n++)
    step(parent);
  for (int n = 0; n < SLOTS; n++)
    tutti_comm_destroy(slots[n]);
  tutti_comm_destroy(parent);
  tutti_context_destroy(context);
}

static void test_lives_leave_nothing_wrong_to_the_next(void **state) {
  (void)state;
  for (int ranks = 1; ranks <= RANKS_MOST; ranks += 2)
    for (uint64_t number = 1; number <= 2; number++) {
      printf("%d ranks, seed %d\n", ranks, (int)number);
      assert_int_equal(job_run(ranks, run_rank, &number), 0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lives_leave_nothing_wrong_to_the_next),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* exec/cells_test.c - who is woken where ranks are many: those that await this rank, and those that say nothing. */
#include "exec/cells.h"
#include "transport/shm/shm.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { RANKS = 24 };

static int woken[RANKS];
static void count_wake(void *self, int64_t peer) {
  (void)self;
  woken[peer]++;
}

typedef struct world {
  void *transport[RANKS];
  tutti_transport_ops ops;
  tt_stream_table_spec spec[RANKS];
  tt_cells *cells[RANKS];
  int64_t job_rank[RANKS];
} world;

static void open_world(world *of, int64_t ranks) {
  const tt_shm_config config = {.bytes = 64 << 20};
  of->ops = *tt_shm_ops();
  of->ops.wake = count_wake;
  assert_int_equal(tt_shm_open_threads(&config, ranks, of->transport), TUTTI_OK);
  for (int64_t r = 0; r < ranks; r++)
    of->job_rank[r] = r;
  for (int64_t r = 0; r < ranks; r++) {
    of->spec[r] = (tt_stream_table_spec){.ops = &of->ops,
                                         .transport = of->transport[r],
                                         .job_rank = of->job_rank,
                                         .rank = r,
                                         .ids = TT_STREAM_TABLE_IDS,
                                         .rank_count = ranks};
    assert_int_equal(tt_cells_open(&of->spec[r], &of->cells[r]), TUTTI_OK);
  }
}

static void close_world(world *of, int64_t ranks) {
  for (int64_t r = 0; r < ranks; r++) {
    tt_cells_close(of->cells[r]);
    of->ops.close(of->transport[r]);
  }
}

/* How often rank 0 is woken when each other one wakes all. */
static int wake_all(world *of, int64_t ranks) {
  const uint64_t all = ((uint64_t)1 << ranks) - 1;
  woken[0] = 0;
  for (int64_t r = 1; r < ranks; r++)
    tt_cells_wake(of->cells[r], &all);
  return woken[0];
}

static void test_rank_is_woken_by_whom_it_awaits(void **state) {
  (void)state;
  world of;
  open_world(&of, RANKS);
  assert_int_equal(wake_all(&of, RANKS), RANKS - 1);
  tt_cells_prepare_sleep(of.cells[0], 5);
  assert_int_equal(wake_all(&of, RANKS), 1);
  const uint64_t zero = 1;
  woken[0] = 0;
  tt_cells_wake(of.cells[4], &zero);
  assert_int_equal(woken[0], 0);
  tt_cells_wake(of.cells[5], &zero);
  assert_int_equal(woken[0], 1);
  tt_cells_prepare_sleep(of.cells[0], -1);
  assert_int_equal(wake_all(&of, RANKS), RANKS - 1);
  close_world(&of, RANKS);
}

/* A rank that saw the announcement together with whom it awaited before would not ring. */
static void test_other_choice_takes_the_announcement_back(void **state) {
  (void)state;
  world of;
  open_world(&of, RANKS);
  woken[0] = 0;
  tt_cells_prepare_sleep(of.cells[0], 5);
  assert_int_equal(woken[0], 1);
  tt_cells_prepare_sleep(of.cells[0], 5);
  assert_int_equal(woken[0], 1);
  tt_cells_prepare_sleep(of.cells[0], 6);
  assert_int_equal(woken[0], 2);
  close_world(&of, RANKS);
}

static void test_few_ranks_wake_each_other(void **state) {
  (void)state;
  world of;
  open_world(&of, 4);
  tt_cells_prepare_sleep(of.cells[0], 2);
  assert_int_equal(wake_all(&of, 4), 3);
  close_world(&of, 4);
}

static void test_last_rank_that_is_not_through_is_awaited(void **state) {
  (void)state;
  world of;
  open_world(&of, RANKS);
  tt_cells *own = of.cells[0];
  const uint64_t readers = 1 << 3 | 1 << 7 | 1 << 9;
  own->sequence = 1;
  tt_cells_used(own, &own->line_use[1], &readers);
  assert_int_equal(tt_cells_awaited(own, &own->line_use[1]), 9);
  tt_cells_complete(of.cells[9], 1);
  assert_int_equal(tt_cells_awaited(own, &own->line_use[1]), 7);
  tt_cells_complete(of.cells[7], 1);
  tt_cells_complete(of.cells[3], 1);
  assert_int_equal(tt_cells_awaited(own, &own->line_use[1]), -1);
  assert_true(tt_cells_writable(own, &own->line_use[1]));
  close_world(&of, RANKS);
}

static void test_cells_that_no_memory_holds_are_an_error(void **state) {
  (void)state;
  world of;
  open_world(&of, 2);
  tt_area *last = &of.cells[0]->area[TT_CELL_AREAS - 1];
  last->stride = (size_t)1 << 63; /* as of TUTTI_DIRECT_BYTES=9223372036854775807 */
  assert_int_equal(tt_cells_open_area(of.cells[0], last), TUTTI_ERR_MEMORY);
  assert_null(last->base[0]);
  close_world(&of, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rank_is_woken_by_whom_it_awaits),
      cmocka_unit_test(test_other_choice_takes_the_announcement_back),
      cmocka_unit_test(test_few_ranks_wake_each_other),
      cmocka_unit_test(test_last_rank_that_is_not_through_is_awaited),
      cmocka_unit_test(test_cells_that_no_memory_holds_are_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tune/outside_test.c - where another library is faster than tutti: rows that come back from files and numbers as they
 * were, rows that are refused, what makes them void, and the table in which lengths are looked up. */
#include "tune/testing.h"
#include "tune/wisdom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/tutti-outside-XXXXXX";

static int make_file(void **state) {
  (void)state;
  int fd = mkstemp(path);
  return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
  (void)state;
  char lock[64];
  snprintf(lock, sizeof lock, "%s.lock", path);
  unlink(lock);
  return unlink(path);
}

static void put(tt_wisdom *wisdom, const char *library, tt_collective collective, int64_t bytes, bool wins) {
  const tt_outside row = {
      .region = region_of(collective, 4, bytes), .library = library, .time_ns = 700, .tutti_ns = 900, .wins = wins};
  assert_int_equal(tt_wisdom_put_outside(wisdom, &row), TUTTI_OK);
}

static void put_winner(tt_wisdom *wisdom, int64_t bytes, const char *text) {
  const tt_winner row = {.region = region_of(TT_ALLREDUCE, 4, bytes), .text = text};
  assert_int_equal(tt_wisdom_put(wisdom, &row), TUTTI_OK);
}

static tt_wisdom *empty(void) {
  tt_wisdom *made;
  assert_int_equal(tt_wisdom_create(MACHINE, "a test", &made), TUTTI_OK);
  return made;
}

static tt_wisdom *some(void) {
  tt_wisdom *made = empty();
  put_winner(made, 512, "linear");
  put(made, "openmpi-4.1", TT_ALLREDUCE, 512, true);
  put(made, "openmpi-4.1", TT_ALLREDUCE, 8192, false);
  put(made, "mpich-4.0", TT_ALLREDUCE, 512, false);
  put(made, "openmpi-4.1", TT_BARRIER, 8, true);
  return made;
}

static void test_rows_come_back_from_a_file(void **state) {
  (void)state;
  tt_wisdom *wisdom = some(), *more = empty(), *back;
  unlink(path);
  assert_int_equal(tt_wisdom_write(path, wisdom), TUTTI_OK);
  assert_int_equal(tt_wisdom_read(path, &back), TUTTI_OK);
  tt_wisdom_sort(wisdom);
  expect_equal(wisdom, back);
  tt_wisdom_destroy(back);
  put(more, "openmpi-4.1", TT_BARRIER, 8, false);
  put(wisdom, "openmpi-4.1", TT_BARRIER, 8, false);
  assert_int_equal(tt_wisdom_write(path, more), TUTTI_OK);
  assert_int_equal(tt_wisdom_read(path, &back), TUTTI_OK);
  expect_equal(wisdom, back);
  tt_wisdom_destroy(back);
  tt_wisdom_destroy(more);
  tt_wisdom_destroy(wisdom);
}

static void test_rows_come_back_from_numbers(void **state) {
  (void)state;
  tt_wisdom *wisdom = some();
  expect_back_from_numbers(wisdom);
  tt_wisdom_destroy(wisdom);
}

/* What was compared with one winner says nothing of the next one. */
static int64_t numbers_of(const char *first, const char *second) {
  tt_wisdom *wisdom = empty();
  int64_t *numbers, count;
  put_winner(wisdom, 512, first);
  put_winner(wisdom, 8192, second);
  assert_int_equal(tt_wisdom_pack(wisdom, &numbers, &count), TUTTI_OK);
  expect_back_from_numbers(wisdom);
  free(numbers);
  tt_wisdom_destroy(wisdom);
  return count;
}

static void test_a_text_is_sent_once_for_rows_that_follow_each_other(void **state) {
  (void)state;
  assert_true(numbers_of("linear", "linear") < numbers_of("linear", "ring"));
}

static void test_another_winner_makes_rows_of_its_region_void(void **state) {
  (void)state;
  tt_wisdom *wisdom = some();
  put_winner(wisdom, 512, "linear");
  assert_int_equal(wisdom->outside_count, 4);
  put_winner(wisdom, 512, "ring");
  assert_int_equal(wisdom->outside_count, 2);
  assert_int_equal(wisdom->outside[0].region.bytes, 8192);
  assert_int_equal(wisdom->outside[1].region.collective, TT_BARRIER);
  put_winner(wisdom, 4096, "linear"); /* near it */
  assert_int_equal(wisdom->outside_count, 1);
  const tt_winner barrier = {.region = region_of(TT_BARRIER, wisdom->outside[0].region.rank_count, 4),
                             .text = "linear"};
  assert_int_equal(tt_wisdom_put(wisdom, &barrier), TUTTI_OK);
  assert_int_equal(wisdom->outside_count, 0);
  tt_wisdom_destroy(wisdom);
}

/* ---- files of others ---- */

#define FILE_OF(list) "{\"tutti-wisdom\": 1, \"machine\": \"" MACHINE "\", \"winners\": [], \"outside\": " list "}"
#define ONE(more)                                                                                                      \
  FILE_OF("[{\"collective\": \"scan\", \"ranks\": 4, \"nodes\": 1, \"ranks_per_node\": 4, \"nics\": 1, " more "}]")

static void put_text(const char *text) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void test_wrong_rows_are_refused_with_the_reason(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {FILE_OF("7"), "\"outside\" is not a list"},
      {FILE_OF("[7]"), "outside 1 is not an object"},
      {ONE("\"bytes\": 8"), "outside 1, \"ns\": is not a whole number"},
      {ONE("\"bytes\": 8, \"ns\": 1"), "outside 1, \"tutti_ns\": is not a whole number"},
      {ONE("\"bytes\": 8, \"ns\": 1, \"tutti_ns\": 2"), "outside 1, \"library\": is not a text"},
      {ONE("\"bytes\": 8, \"ns\": 1, \"tutti_ns\": 2, \"library\": \"mpich-4.0\""),
       "outside 1, \"wins\": is neither true nor false"},
      {ONE("\"bytes\": 8, \"ns\": 1, \"tutti_ns\": 2, \"library\": \"mpich-4.0\", \"wins\": 1"),
       "outside 1, \"wins\": is neither true nor false"},
      {ONE("\"bytes\": 8, \"ns\": 1, \"tutti_ns\": 2, \"library\": \"\", \"wins\": true"),
       "outside 1, \"library\": '' is not a library"},
      {ONE("\"bytes\": 8, \"ns\": 1, \"tutti_ns\": 2, \"library\": \"Open MPI\", \"wins\": true"),
       "outside 1, \"library\": 'Open MPI' is not a library"},
      {ONE("\"bytes\": -8, \"ns\": 1, \"tutti_ns\": 2, \"library\": \"mpich-4.0\", \"wins\": true"),
       "outside 1, \"bytes\": is not a whole number from 0"},
      {ONE("\"bytes\": 8, \"ns\": 1, \"tutti_ns\": 2, \"library\": \"mpich-4.0\", \"wins\": true, \"params\": \"x\""),
       "outside 1, \"params\": is unknown"},
  };
  for (size_t n = 0; n < TT_COUNT(files); n++) {
    tt_wisdom *wisdom = NULL;
    put_text(files[n][0]);
    assert_int_equal(tt_wisdom_read(path, &wisdom), TUTTI_ERR_ARGUMENT);
    assert_null(wisdom);
    if (!strstr(tutti_last_error(), files[n][1]) || strncmp(tutti_last_error(), path, strlen(path)) != 0)
      fail_msg("'%s': expected \"%s\" in \"%s\"", files[n][0], files[n][1], tutti_last_error());
  }
}

static void test_a_file_without_rows_is_read(void **state) {
  (void)state;
  tt_wisdom *wisdom;
  put_text("{\"tutti-wisdom\": 1, \"machine\": \"" MACHINE "\", \"winners\": []}");
  assert_int_equal(tt_wisdom_read(path, &wisdom), TUTTI_OK);
  assert_int_equal(wisdom->outside_count, 0);
  tt_wisdom_destroy(wisdom);
}

/* ---- looking up ---- */

static bool wins(const tt_wisdom *wisdom, const char *library, const tt_region *shape, tt_collective collective,
                 int64_t bytes) {
  static tt_outside_table table;
  tt_outside_table_make(wisdom, library, shape, &table);
  int bucket = tt_dispatch_bucket(bytes);
  return table.wins[collective][bucket / 64] >> bucket % 64 & 1;
}

static void test_a_length_goes_by_the_nearest_row_of_its_library_and_shape(void **state) {
  (void)state;
  static const char ompi[] = "openmpi-4.1";
  const tt_region shape = region_of(TT_ALLREDUCE, 4, 0), larger = region_of(TT_ALLREDUCE, 5, 0);
  tt_wisdom *wisdom = some();
  assert_true(wins(wisdom, ompi, &shape, TT_ALLREDUCE, 512));
  assert_true(wins(wisdom, ompi, &shape, TT_ALLREDUCE, 128));
  assert_false(wins(wisdom, ompi, &shape, TT_ALLREDUCE, 64));
  assert_true(wins(wisdom, ompi, &shape, TT_ALLREDUCE, 1536));
  assert_false(wins(wisdom, ompi, &shape, TT_ALLREDUCE, 2048)); /* as near to 8192, which lost and is longer */
  assert_false(wins(wisdom, ompi, &shape, TT_ALLREDUCE, 8192));
  assert_true(wins(wisdom, ompi, &shape, TT_BARRIER, 8));
  assert_false(wins(wisdom, ompi, &shape, TT_SCAN, 512));
  assert_false(wins(wisdom, ompi, &larger, TT_ALLREDUCE, 512));
  assert_false(wins(wisdom, "openmpi-5.0", &shape, TT_ALLREDUCE, 512));
  assert_false(wins(wisdom, "mpich-4.0", &shape, TT_ALLREDUCE, 512));
  tt_wisdom_destroy(wisdom);
}

static void test_lengths_at_both_ends_have_their_place(void **state) {
  (void)state;
  const tt_region shape = region_of(TT_ALLREDUCE, 4, 0);
  tt_wisdom *wisdom = empty();
  put(wisdom, "mpich-4.0", TT_ALLREDUCE, 0, true);
  put(wisdom, "mpich-4.0", TT_ALLREDUCE, INT64_MAX - 1, true);
  assert_true(wins(wisdom, "mpich-4.0", &shape, TT_ALLREDUCE, 0));
  assert_true(wins(wisdom, "mpich-4.0", &shape, TT_ALLREDUCE, 4));
  assert_false(wins(wisdom, "mpich-4.0", &shape, TT_ALLREDUCE, 1 << 20));
  assert_true(wins(wisdom, "mpich-4.0", &shape, TT_ALLREDUCE, INT64_MAX));
  tt_wisdom_destroy(wisdom);
}

/* Of random rows, and of those of them that a job keeps. */
static void test_a_job_keeps_the_rows_by_which_calls_go(void **state) {
  (void)state;
  static const char *const names[] = {"mpich-4.0", "openmpi-4.1"};
  tt_random random;
  tt_random_init(&random, 7);
  for (int round = 0; round < 200; round++) {
    tt_wisdom *all = empty(), *kept = empty();
    for (int n = 0; n < 12; n++) {
      const char *name = names[tt_random_below(&random, 2)];
      int64_t bytes = (INT64_C(8) << tt_random_below(&random, 30)) + n; /* two may share a bucket */
      bool won = tt_random_below(&random, 4) == 0;
      put(all, name, TT_ALLREDUCE, bytes, won);
      put(kept, name, TT_ALLREDUCE, bytes, won);
    }
    tt_wisdom_keep_wins(kept);
    const tt_region shape = region_of(TT_ALLREDUCE, 4, 0);
    for (int n = 0; n < 2; n++) {
      tt_outside_table a, b;
      tt_outside_table_make(all, names[n], &shape, &a);
      tt_outside_table_make(kept, names[n], &shape, &b);
      assert_memory_equal(&a, &b, sizeof a);
    }
    tt_wisdom_destroy(all);
    tt_wisdom_destroy(kept);
  }
}

static void test_a_job_forgets_rows_that_lost_far_from_those_that_won(void **state) {
  (void)state;
  tt_wisdom *wisdom = empty();
  for (int power = 0; power < 20; power++)
    put(wisdom, "mpich-4.0", TT_ALLREDUCE, INT64_C(1) << power, power == 10);
  put(wisdom, "mpich-4.0", TT_SCAN, 1024, false);
  tt_wisdom_keep_wins(wisdom);
  assert_int_equal(wisdom->outside_count, 9); /* itself, and four powers of two on each side */
  tt_wisdom_destroy(wisdom);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_come_back_from_a_file),
      cmocka_unit_test(test_rows_come_back_from_numbers),
      cmocka_unit_test(test_a_text_is_sent_once_for_rows_that_follow_each_other),
      cmocka_unit_test(test_another_winner_makes_rows_of_its_region_void),
      cmocka_unit_test(test_wrong_rows_are_refused_with_the_reason),
      cmocka_unit_test(test_a_file_without_rows_is_read),
      cmocka_unit_test(test_a_length_goes_by_the_nearest_row_of_its_library_and_shape),
      cmocka_unit_test(test_lengths_at_both_ends_have_their_place),
      cmocka_unit_test(test_a_job_keeps_the_rows_by_which_calls_go),
      cmocka_unit_test(test_a_job_forgets_rows_that_lost_far_from_those_that_won),
  };
  return cmocka_run_group_tests(tests, make_file, remove_file);
}

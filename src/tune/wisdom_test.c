/* tune/wisdom_test.c - winners: files that come back as they were, files that are refused, jobs that write at once, and
 * the table in which calls are looked up. */
#include "tune/file.h"
#include "tune/store.h"
#include "tune/testing.h"
#include "tune/wisdom.h"

#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/tutti-wisdom-XXXXXX";
static char path[128];

static int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder))
    return -1;
  snprintf(path, sizeof path, "%s/a/b/wisdom.json", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  char command[160];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static tt_winner winner_of(tt_collective collective, int64_t ranks, int64_t bytes, const char *text) {
  return (tt_winner){.region = region_of(collective, ranks, bytes), .text = text, .time_ns = 1000, .rules_ns = 1500};
}

static tt_wisdom *wisdom_of(const tt_winner *winner, int64_t count) {
  tt_wisdom *made;
  assert_int_equal(tt_wisdom_create(MACHINE, "a \"test\"", &made), TUTTI_OK);
  for (int64_t n = 0; n < count; n++)
    assert_int_equal(tt_wisdom_put(made, &winner[n]), TUTTI_OK);
  return made;
}

/* ---- files ---- */

static void test_what_is_written_comes_back(void **state) {
  (void)state;
  const tt_winner winners[] = {winner_of(TT_ALLREDUCE, 4, 1024, "linear"),
                               winner_of(TT_BROADCAST, 4, INT64_MAX - 1, "[2:chain/core:star] slice=16K"),
                               winner_of(TT_ALLREDUCE, 8, 0, "form=split [core:chain,reflect] channels=2")};
  tt_wisdom *wisdom = wisdom_of(winners, 3), *back;
  unlink(path);
  assert_int_equal(tt_wisdom_write(path, wisdom), TUTTI_OK);
  assert_int_equal(tt_wisdom_read(path, &back), TUTTI_OK);
  tt_wisdom_sort(wisdom);
  assert_string_equal(back->machine, MACHINE);
  assert_string_equal(back->about, "a \"test\"");
  expect_equal(wisdom, back);
  tt_wisdom_destroy(wisdom);
  tt_wisdom_destroy(back);
}

/* Such a file is no error, and of two rows of one region the last one holds. */
static void test_rows_in_disorder_are_read_too(void **state) {
  (void)state;
  static const char *const format =
      "{\"tutti-wisdom\": 1, \"machine\": \"" MACHINE "\", \"about\": \"\", \"winners\": [\n"
      "  {\"collective\": \"scan\", \"ranks\": 4, \"nodes\": 1, \"ranks_per_node\": 4, "
      "\"nics\": 1, \"bytes\": %d, \"params\": \"linear\", \"ns\": 7, \"rules_ns\": 8},\n"
      "  {\"collective\": \"scan\", \"ranks\": 4, \"nodes\": 1, \"ranks_per_node\": 4, "
      "\"nics\": 1, \"bytes\": 64, \"params\": \"linear\", \"ns\": 9, \"rules_ns\": 9}\n]}\n";
  for (int bytes = 63; bytes <= 65; bytes++) {
    char text[1024];
    tt_wisdom *back;
    snprintf(text, sizeof text, format, bytes);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(tt_wisdom_read(path, &back), TUTTI_OK);
    assert_int_equal(back->count, bytes == 64 ? 1 : 2);
    assert_int_equal(back->winner[back->count - 1].time_ns, 9);
    tt_wisdom_destroy(back);
  }
  unlink(path);
}

static void test_writing_again_adds_and_replaces(void **state) {
  (void)state;
  const tt_winner first[] = {winner_of(TT_ALLREDUCE, 4, 1024, "linear"), winner_of(TT_SCAN, 4, 1024, "linear")};
  const tt_winner second[] = {winner_of(TT_ALLREDUCE, 4, 1024, "ring"), winner_of(TT_SCAN, 8, 1024, "scan")};
  const tt_winner both[] = {second[0], first[1], second[1]};
  tt_wisdom *a = wisdom_of(first, 2), *b = wisdom_of(second, 2), *all = wisdom_of(both, 3), *back;
  unlink(path);
  assert_int_equal(tt_wisdom_write(path, a), TUTTI_OK);
  assert_int_equal(tt_wisdom_write(path, b), TUTTI_OK);
  assert_int_equal(tt_wisdom_read(path, &back), TUTTI_OK);
  expect_equal(back, all);
  tt_wisdom_destroy(a);
  tt_wisdom_destroy(b);
  tt_wisdom_destroy(all);
  tt_wisdom_destroy(back);
}

static void test_a_link_to_a_file_stays_one(void **state) {
  (void)state;
  const tt_winner winners[] = {winner_of(TT_ALLREDUCE, 4, 1024, "linear"), winner_of(TT_SCAN, 4, 1024, "linear")};
  tt_wisdom *one = wisdom_of(winners, 1), *both = wisdom_of(winners, 2), *back;
  char link[160];
  struct stat info;
  snprintf(link, sizeof link, "%s/link.json", folder);
  unlink(path);
  assert_int_equal(tt_wisdom_write(path, one), TUTTI_OK);
  assert_int_equal(symlink(path, link), 0);
  assert_int_equal(tt_wisdom_write(link, both), TUTTI_OK);
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(tt_wisdom_read(path, &back), TUTTI_OK);
  expect_equal(back, both);
  tt_wisdom_destroy(one);
  tt_wisdom_destroy(both);
  tt_wisdom_destroy(back);
}

static bool put_and_end(FILE *file, const void *text) { return raise(SIGINT) == 0 && fputs(text, file) >= 0; }

static void test_who_is_ended_while_it_writes_leaves_a_whole_file_alone(void **state) {
  (void)state;
  char pattern[160];
  struct stat info;
  glob_t others;
  int status;
  unlink(path);
  pid_t job = fork();
  if (job == 0) {
    signal(SIGINT, SIG_DFL);
    tt_store_replace(path, put_and_end, "all");
    _exit(0);
  }
  assert_int_equal(waitpid(job, &status, 0), job);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_size, strlen("all"));
  snprintf(pattern, sizeof pattern, "%s.??????", path);
  assert_int_equal(glob(pattern, 0, NULL, &others), GLOB_NOMATCH);
  unlink(path);
}

static void test_jobs_that_write_at_once_lose_nothing(void **state) {
  (void)state;
  enum { JOBS = 8, EACH = 20 };
  unlink(path);
  for (int job = 0; job < JOBS; job++)
    if (fork() == 0) {
      for (int n = 0; n < EACH; n++) {
        tt_winner one = winner_of(TT_ALLREDUCE, 1 + job, n, "linear");
        tt_wisdom *wisdom = wisdom_of(&one, 1);
        if (tt_wisdom_write(path, wisdom) != TUTTI_OK)
          _exit(1);
        tt_wisdom_destroy(wisdom);
      }
      _exit(0);
    }
  for (int job = 0; job < JOBS; job++) {
    int status;
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
  }
  tt_wisdom *back;
  assert_int_equal(tt_wisdom_read(path, &back), TUTTI_OK);
  assert_int_equal(back->count, JOBS * EACH);
  tt_wisdom_destroy(back);
}

static void put_file(const char *text) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void test_files_of_others_are_left_alone(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {"{\"tutti-wisdom\": 1, \"machine\": \"fedcba9876543210\", \"winners\": []}",
       "it is of machine fedcba9876543210, and this is " MACHINE "; it is left alone"},
      {"{\"tutti-wisdom\": 2, \"machine\": \"" MACHINE "\", \"winners\": []}",
       "another version of tutti wrote the file"},
      {"a diary", "line 1: "},
  };
  tt_winner one = winner_of(TT_ALLREDUCE, 4, 1024, "linear");
  tt_wisdom *wisdom = wisdom_of(&one, 1);
  for (size_t n = 0; n < TT_COUNT(files); n++) {
    char text[256] = "";
    put_file(files[n][0]);
    assert_int_not_equal(tt_wisdom_write(path, wisdom), TUTTI_OK);
    assert_non_null(strstr(tutti_last_error(), files[n][1]));
    tt_wisdom *opened = NULL;
    assert_int_not_equal(tt_wisdom_open(path, MACHINE, "", &opened), TUTTI_OK);
    assert_non_null(strstr(tutti_last_error(), files[n][1]));
    tt_wisdom_destroy(opened);
    FILE *file = fopen(path, "re");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, files[n][0]);
  }
  tt_wisdom_destroy(wisdom);
  unlink(path);
}

static void test_a_winner_knows_its_file_and_line(void **state) {
  (void)state;
  const tt_winner winners[] = {winner_of(TT_ALLREDUCE, 4, 1024, "linear"), winner_of(TT_SCAN, 4, 1024, "linear")};
  tt_wisdom *wisdom = wisdom_of(winners, 2), *back, *unpacked;
  char source[400];
  int64_t *numbers, count;
  assert_string_equal(wisdom->winner[1].source, "");
  assert_int_equal(tt_wisdom_write(path, wisdom), TUTTI_OK);
  assert_int_equal(tt_wisdom_read(path, &back), TUTTI_OK);
  snprintf(source, sizeof source, "%s:3", path); /* a line each, behind the head's */
  assert_string_equal(back->winner[1].source, source);
  assert_int_equal(tt_wisdom_pack(back, &numbers, &count), TUTTI_OK);
  assert_int_equal(tt_wisdom_unpack(numbers, count, &unpacked), TUTTI_OK);
  assert_string_equal(unpacked->winner[1].source, source);
  free(numbers);
  tt_wisdom_destroy(wisdom);
  tt_wisdom_destroy(back);
  tt_wisdom_destroy(unpacked);
  unlink(path);
}

static void test_a_place_where_nothing_can_be_written_is_an_error(void **state) {
  (void)state;
  tt_winner one = winner_of(TT_ALLREDUCE, 4, 1024, "linear");
  tt_wisdom *wisdom = wisdom_of(&one, 1);
  assert_int_equal(tt_wisdom_write("/proc/wisdom.json", wisdom), TUTTI_ERR_ARGUMENT);
  assert_non_null(strstr(tutti_last_error(), "/proc/wisdom.json: cannot write a file beside it: "));
  tt_wisdom_destroy(wisdom);
}

#define ONE(more)                                                                                                      \
  "{\"tutti-wisdom\": 1, \"machine\": \"" MACHINE "\", \"winners\": [{\"ranks\": 4, \"nodes\": 1, "                    \
  "\"ranks_per_node\": 4, \"nics\": 1, \"ns\": 1, \"rules_ns\": 1, " more "}]}"

static void test_wrong_files_are_refused_with_the_reason(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {"", "line 1: '[' or '{' expected"},
      {"[]", "\"tutti-wisdom\" is not 1"},
      {"{\"tutti-wisdom\": 1}", "it has no \"machine\""},
      {"{\"tutti-wisdom\": 1, \"machine\": \"" MACHINE "\"}", "it has no \"winners\""},
      {"{\"tutti-wisdom\": 1, \"machine\": \"../../etc/passwd\", \"winners\": []}", "is not a fingerprint"},
      {"{\"tutti-wisdom\": 1, \"machine\": \"" MACHINE "\", \"winners\": [7]}", "line 1: winner 1 is not an object"},
      {ONE("\"collective\": \"sort\", \"bytes\": 8, \"params\": \"linear\""),
       "winner 1, \"collective\": does not name a collective"},
      {ONE("\"collective\": \"scan\", \"bytes\": -1, \"params\": \"linear\""),
       "winner 1, \"bytes\": is not a whole number from 0"},
      {ONE("\"collective\": \"scan\", \"bytes\": 1e3, \"params\": \"linear\""), "winner 1, \"bytes\": "},
      {ONE("\"collective\": \"scan\", \"bytes\": 8, \"params\": \"no-such\""),
       "winner 1, \"params\": parameters: 'no-such' is neither a preset nor a parameter"},
      {ONE("\"collective\": \"scan\", \"bytes\": 8, \"params\": 3"), "winner 1, \"params\": is not a text"},
      {ONE("\"collective\": \"scan\", \"bytes\": 8, \"params\": \"scan\", \"x\": 1"), "winner 1, \"x\": is unknown"},
  };
  for (size_t n = 0; n < TT_COUNT(files); n++) {
    tt_wisdom *wisdom = NULL;
    put_file(files[n][0]);
    assert_int_not_equal(tt_wisdom_read(path, &wisdom), TUTTI_OK);
    assert_null(wisdom);
    if (!strstr(tutti_last_error(), files[n][1]) || strncmp(tutti_last_error(), path, strlen(path)) != 0)
      fail_msg("'%s': expected \"%s\" in \"%s\"", files[n][0], files[n][1], tutti_last_error());
  }
  unlink(path);
}

/* What no reader takes is not written: the file would be lost as a whole. */
static void test_no_list_grows_beyond_what_a_file_may_have(void **state) {
  (void)state;
  tt_wisdom *wisdom = wisdom_of(NULL, 0);
  tt_winner winner = winner_of(TT_ALLREDUCE, 4, 0, "linear");
  tt_outside outside = {.region = winner.region, .library = "mpich-4.0"};
  for (int64_t n = 0; n < TT_WISDOM_ROWS; n++) {
    winner.region.bytes = outside.region.bytes = n;
    assert_int_equal(tt_wisdom_append(wisdom, &winner), TUTTI_OK);
    assert_int_equal(tt_wisdom_append_outside(wisdom, &outside), TUTTI_OK);
  }
  assert_int_equal(tt_wisdom_put(wisdom, &winner), TUTTI_OK); /* it takes a place that there is */
  assert_int_equal(tt_wisdom_put_outside(wisdom, &outside), TUTTI_OK);
  winner.region.bytes = outside.region.bytes = TT_WISDOM_ROWS;
  assert_int_equal(tt_wisdom_put(wisdom, &winner), TUTTI_ERR_ARGUMENT);
  assert_non_null(strstr(tutti_last_error(), "no room for more than 10000 winners"));
  assert_int_equal(tt_wisdom_put_outside(wisdom, &outside), TUTTI_ERR_ARGUMENT);
  assert_int_equal(wisdom->count, TT_WISDOM_ROWS);
  assert_int_equal(wisdom->outside_count, TT_WISDOM_ROWS);
  tt_wisdom_destroy(wisdom);
}

/* ---- as numbers ---- */

static void test_numbers_come_back(void **state) {
  (void)state;
  const tt_winner winners[] = {winner_of(TT_ALLREDUCE, 4, 1024, "linear"), winner_of(TT_SCAN, 4, 8, "pipelined-scan"),
                               winner_of(TT_REDUCE, 3, 99, "[core:4-nomial,far] slice=1M")};
  tt_wisdom *wisdom = wisdom_of(winners, 3);
  expect_back_from_numbers(wisdom);
  tt_wisdom_destroy(wisdom);
}

/* ---- looking up ---- */

static void test_buckets_never_fall_and_have_two_for_a_power_of_two(void **state) {
  (void)state;
  int last = 0;
  for (int64_t bytes = 0; bytes < 5000; bytes++) {
    int bucket = tt_dispatch_bucket(bytes);
    assert_true(bucket == last || bucket == last + 1 || bytes == 2);
    last = bucket;
  }
  assert_int_equal(tt_dispatch_bucket(0), tt_dispatch_bucket(1));
  assert_int_equal(tt_dispatch_bucket(4096), tt_dispatch_bucket(6143));
  assert_int_equal(tt_dispatch_bucket(4096) + 1, tt_dispatch_bucket(6144));
  assert_int_equal(tt_dispatch_bucket(8192), tt_dispatch_bucket(4096) + 2);
  assert_true(tt_dispatch_bucket(INT64_MAX) < TT_BUCKETS);
}

static const char *found(const tt_wisdom *wisdom, const tt_region *shape, tt_collective collective, int64_t bytes) {
  static tt_dispatch dispatch;
  tt_dispatch_make(wisdom, shape, &dispatch);
  const tt_winner *winner = tt_dispatch_find(&dispatch, wisdom, collective, bytes);
  return winner ? winner->text : "";
}

static void test_a_call_takes_the_nearest_winner_of_its_shape(void **state) {
  (void)state;
  const tt_winner winners[] = {winner_of(TT_ALLREDUCE, 4, 64, "linear"), winner_of(TT_ALLREDUCE, 4, 512, "ring"),
                               winner_of(TT_ALLREDUCE, 8, 512, "bruck"), winner_of(TT_SCAN, 4, 512, "scan")};
  const tt_region shape = {.rank_count = 4, .node_count = 1, .ranks_per_node = 4, .nic_count = 3};
  const tt_region nodes = {.rank_count = 4, .node_count = 2, .ranks_per_node = 2, .nic_count = 1};
  tt_wisdom *wisdom = wisdom_of(winners, 4);
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 64), "linear");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 128), "linear");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 256), "ring");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 512), "ring");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 2048), "ring");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 4096), "");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 16), "linear");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 8), "");
  assert_string_equal(found(wisdom, &shape, TT_SCAN, 512), "scan");
  assert_string_equal(found(wisdom, &shape, TT_REDUCE, 512), "");
  assert_string_equal(found(wisdom, &nodes, TT_ALLREDUCE, 512), "");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, INT64_MAX), "");
  tt_wisdom_destroy(wisdom);
}

static void test_no_nic_tells_communicators_of_one_node_apart(void **state) {
  (void)state;
  tt_winner one = winner_of(TT_ALLREDUCE, 4, 64, "linear"), two = winner_of(TT_ALLREDUCE, 4, 64, "ring");
  tt_wisdom *wisdom = wisdom_of(&one, 1);
  two.region.nic_count = one.region.nic_count + 1;
  assert_int_equal(tt_wisdom_put(wisdom, &two), TUTTI_OK);
  assert_int_equal(wisdom->count, 1);
  assert_string_equal(found(wisdom, &one.region, TT_ALLREDUCE, 64), "ring");
  two.region.node_count = 2;
  assert_int_equal(tt_wisdom_put(wisdom, &two), TUTTI_OK);
  two.region.nic_count++;
  assert_int_equal(tt_wisdom_put(wisdom, &two), TUTTI_OK);
  assert_int_equal(wisdom->count, 3);
  tt_wisdom_destroy(wisdom);
}

static void test_where_the_rules_won_they_decide(void **state) {
  (void)state;
  tt_winner winners[] = {winner_of(TT_ALLREDUCE, 4, 64, "linear"), winner_of(TT_ALLREDUCE, 4, 512, "ring")};
  const tt_region shape = {.rank_count = 4, .node_count = 1, .ranks_per_node = 4, .nic_count = 1};
  winners[0].rules_ns = winners[0].time_ns;
  tt_wisdom *wisdom = wisdom_of(winners, 2);
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 64), ""); /* 65 bytes are those of another rule, perhaps */
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 32), "");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 128), "");
  assert_string_equal(found(wisdom, &shape, TT_ALLREDUCE, 256), "ring");
  tt_wisdom_destroy(wisdom);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_written_comes_back),
      cmocka_unit_test(test_rows_in_disorder_are_read_too),
      cmocka_unit_test(test_writing_again_adds_and_replaces),
      cmocka_unit_test(test_a_link_to_a_file_stays_one),
      cmocka_unit_test(test_who_is_ended_while_it_writes_leaves_a_whole_file_alone),
      cmocka_unit_test(test_jobs_that_write_at_once_lose_nothing),
      cmocka_unit_test(test_files_of_others_are_left_alone),
      cmocka_unit_test(test_a_winner_knows_its_file_and_line),
      cmocka_unit_test(test_a_place_where_nothing_can_be_written_is_an_error),
      cmocka_unit_test(test_wrong_files_are_refused_with_the_reason),
      cmocka_unit_test(test_no_list_grows_beyond_what_a_file_may_have),
      cmocka_unit_test(test_numbers_come_back),
      cmocka_unit_test(test_buckets_never_fall_and_have_two_for_a_power_of_two),
      cmocka_unit_test(test_a_call_takes_the_nearest_winner_of_its_shape),
      cmocka_unit_test(test_no_nic_tells_communicators_of_one_node_apart),
      cmocka_unit_test(test_where_the_rules_won_they_decide),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

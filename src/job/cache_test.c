/* What was packed comes back while the files are as they were, and never else. */
#include "job/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOB 7

static char home[] = "/tmp/tutti-job-cache-XXXXXX";
static char wisdom[128], lessons[128];
static int64_t numbers[] = {0, 0, 0, 0, 0, INT64_MAX, -1, 12345};

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static int make_home(void **state) {
  (void)state;
  char folder[128];
  if (!mkdtemp(home) || setenv("XDG_CACHE_HOME", home, 1) != 0)
    return -1;
  snprintf(folder, sizeof folder, "%s/tutti", home);
  snprintf(wisdom, sizeof wisdom, "%s/wisdom.json", home);
  snprintf(lessons, sizeof lessons, "%s/learned.json", home);
  return mkdir(folder, 0777);
}

static int remove_home(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", home);
  return system(command);
}

static void keep(uint64_t job) {
  tt_cache_entry entry;
  tt_cache_find(job, wisdom, lessons, &entry);
  tt_cache_keep(&entry, numbers, TT_COUNT(numbers));
}

static bool comes_back(uint64_t job) {
  tt_cache_entry entry;
  int64_t *found = NULL, count = 0;
  tt_cache_find(job, wisdom, lessons, &entry);
  if (!tt_cache_recall(&entry, &found, &count)) {
    assert_null(found);
    return false;
  }
  assert_int_equal(count, TT_COUNT(numbers));
  assert_memory_equal(found, numbers, sizeof numbers);
  free(found);
  return true;
}

static void test_it_comes_back_while_the_files_are_the_same(void **state) {
  (void)state;
  write_file(wisdom, "one");
  unlink(lessons);
  assert_false(comes_back(JOB));
  keep(JOB);
  assert_true(comes_back(JOB));
  assert_false(comes_back(JOB + 1));
  write_file(wisdom, "two"); /* as long */
  assert_false(comes_back(JOB));
  keep(JOB);
  write_file(lessons, "");
  assert_false(comes_back(JOB));
  keep(JOB);
  assert_true(comes_back(JOB));
  assert_int_equal(unlink(wisdom), 0);
  assert_false(comes_back(JOB));
}

static void test_that_nothing_was_packed_is_kept_too(void **state) {
  (void)state;
  tt_cache_entry entry;
  int64_t *found = NULL, count = -1;
  write_file(wisdom, "one");
  tt_cache_find(JOB, wisdom, lessons, &entry);
  tt_cache_keep(&entry, NULL, 0);
  assert_true(tt_cache_recall(&entry, &found, &count));
  assert_int_equal(count, 0);
  free(found);
}

static void test_a_file_that_was_changed_or_cut_off_is_not_used(void **state) {
  (void)state;
  tt_cache_entry entry;
  char text[1024];
  write_file(wisdom, "one");
  keep(JOB);
  tt_cache_find(JOB, wisdom, lessons, &entry);
  FILE *file = fopen(entry.file, "r+e");
  assert_non_null(file);
  long size = (long)fread(text, 1, sizeof text, file);
  for (long at = 0; at < size; at++) {
    fseek(file, at, SEEK_SET);
    fputc(text[at] ^ 0x10, file);
    fflush(file);
    assert_false(comes_back(JOB));
    fseek(file, at, SEEK_SET);
    fputc(text[at], file);
    fflush(file);
  }
  assert_true(comes_back(JOB));
  for (long left = size - 1; left >= 0; left--) {
    assert_int_equal(ftruncate(fileno(file), left), 0);
    assert_false(comes_back(JOB));
  }
  fclose(file);
}

static void test_a_thousand_kinds_of_jobs_leave_few_files(void **state) {
  (void)state;
  char folder[128];
  snprintf(folder, sizeof folder, "%s/tutti", home);
  for (uint64_t job = 0; job < 1000; job++)
    keep(job);
  DIR *all = opendir(folder);
  int count = 0;
  assert_non_null(all);
  for (struct dirent *one; (one = readdir(all));)
    count += strncmp(one->d_name, "packed-", 7) == 0;
  closedir(all);
  assert_in_range(count, 1, 64);
  assert_true(comes_back(999));
}

static void test_who_has_no_home_or_no_wisdom_keeps_nothing(void **state) {
  (void)state;
  tt_cache_entry entry;
  unlink(lessons);
  unlink(wisdom);
  tt_cache_find(JOB, wisdom, lessons, &entry);
  assert_string_equal(entry.line, "");
  write_file(wisdom, "one");
  setenv("XDG_CACHE_HOME", "", 1);
  setenv("HOME", "", 1);
  tt_cache_find(JOB, wisdom, lessons, &entry);
  assert_string_equal(entry.line, "");
  keep(JOB); /* does nothing */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_comes_back_while_the_files_are_the_same),
                                     cmocka_unit_test(test_that_nothing_was_packed_is_kept_too),
                                     cmocka_unit_test(test_a_file_that_was_changed_or_cut_off_is_not_used),
                                     cmocka_unit_test(test_a_thousand_kinds_of_jobs_leave_few_files),
                                     cmocka_unit_test(test_who_has_no_home_or_no_wisdom_keeps_nothing)};
  return cmocka_run_group_tests(tests, make_home, remove_home);
}

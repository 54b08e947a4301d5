/* tune/lessons_test.c - lessons come back from their file; each member that is wrong is named; a classifier votes, and
 * nobody speaks of what lies beyond what he was trained with. */
#include "tune/lessons.h"
#include "tune/testing.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/tutti-lessons-XXXXXX";

static int open_folder(void **state) {
  (void)state;
  int file = mkstemp(path);
  return file >= 0 ? close(file) : -1;
}

static int close_folder(void **state) {
  (void)state;
  char lock[64];
  snprintf(lock, sizeof lock, "%s.lock", path);
  unlink(lock);
  return unlink(path);
}

/* Lengths from 64 to 65536 of 2 to 8 ranks. The short ones are left to the rules; vectors stand at both ends. */
static tt_lessons *lessons_of(tt_teacher by) {
  static double vector[] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0}, weight[] = {1, -1};
  static tt_point point[3];
  tt_lessons *lessons;
  assert_int_equal(tt_lessons_create(MACHINE, "a \"test\"", &lessons), TUTTI_OK);
  point[0] = (tt_point){region_of(TT_ALLREDUCE, 2, 64), .simulated = false, .text = ""};
  point[1] = (tt_point){region_of(TT_ALLREDUCE, 8, 65536), .simulated = false, .text = "binomial"};
  point[2] = (tt_point){region_of(TT_ALLREDUCE, 4, 1024), .simulated = true, .text = "linear"};
  lessons->count = 1;
  lessons->lesson[0] = (tt_lesson){
      .collective = TT_ALLREDUCE,
      .by = by,
      .score = {[TT_TEACHER_RULES] = {0.25, 1.5, 2.75, 20}, [TT_TEACHER_NEAREST] = {0.5, 1.25, 2.5, 20}},
      .least = region_of(TT_ALLREDUCE, 2, 64),
      .most = region_of(TT_ALLREDUCE, 8, 65536),
      .class = {"", "ring"},
      .classifier =
          {.class_count = 2, .vector_count = 2, .vectors_of = {1, 1}, .gamma = 0.1, .vector = vector, .weight = weight},
      .point = point,
      .point_count = 3};
  tt_lesson_place_points(&lessons->lesson[0]);
  return lessons;
}

static void expect_same_lesson(const tt_lesson *a, const tt_lesson *b) {
  const tt_classifier *x = &a->classifier, *y = &b->classifier;
  assert_int_equal(a->collective, b->collective);
  assert_int_equal(a->by, b->by);
  assert_memory_equal(a->score, b->score, sizeof a->score);
  assert_memory_equal(&a->least.bytes, &b->least.bytes, 5 * sizeof(int64_t));
  assert_memory_equal(&a->most.bytes, &b->most.bytes, 5 * sizeof(int64_t));
  assert_int_equal(x->class_count, y->class_count);
  for (int64_t c = 0; c < x->class_count; c++)
    assert_string_equal(a->class[c], b->class[c]);
  assert_memory_equal(x->vectors_of, y->vectors_of, sizeof x->vectors_of);
  assert_memory_equal(&x->gamma, &y->gamma, sizeof x->gamma);
  assert_memory_equal(x->rho, y->rho, sizeof x->rho);
  assert_memory_equal(x->vector, y->vector, (size_t)x->vector_count * TT_FEATURES * sizeof(double));
  assert_memory_equal(x->weight, y->weight, (size_t)(x->vector_count * (x->class_count - 1)) * sizeof(double));
  assert_int_equal(a->point_count, b->point_count);
  for (int64_t n = 0; n < a->point_count; n++) {
    expect_same_region(&a->point[n].region, &b->point[n].region);
    assert_int_equal(a->point[n].simulated, b->point[n].simulated);
    assert_string_equal(a->point[n].text, b->point[n].text);
  }
}

static void test_lessons_come_back_from_their_file(void **state) {
  (void)state;
  tt_lessons *lessons = lessons_of(TT_TEACHER_CLASSIFIER), *back;
  unlink(path);
  assert_int_equal(tt_lessons_write(path, lessons), TUTTI_OK);
  assert_int_equal(tt_lessons_read(path, &back), TUTTI_OK);
  assert_string_equal(back->machine, MACHINE);
  assert_string_equal(back->about, "a \"test\"");
  assert_string_equal(back->path, path);
  assert_int_equal(back->count, 1);
  assert_int_equal(back->lesson[0].line, 2);
  expect_same_lesson(&lessons->lesson[0], &back->lesson[0]);
  tt_lessons_destroy(back);
  memcpy(lessons->machine, "fedcba9876543210", TT_MACHINE_TEXT);
  assert_int_equal(tt_lessons_write(path, lessons), TUTTI_ERR_UNSUPPORTED);
  assert_non_null(strstr(tutti_last_error(), "it is left alone"));
  tt_lessons_destroy(lessons);
}

static const char *ask(const tt_lesson *of, tt_teacher who, int64_t ranks, int64_t bytes) {
  tt_region region = region_of(TT_ALLREDUCE, ranks, bytes);
  return tt_lesson_ask(of, who, &region);
}

static void test_each_teacher_says_what_it_knows(void **state) {
  (void)state;
  tt_lessons *lessons = lessons_of(TT_TEACHER_CLASSIFIER);
  const tt_lesson *of = &lessons->lesson[0];
  assert_string_equal(ask(of, TT_TEACHER_RULES, 1000, 1), "");
  assert_string_equal(ask(of, TT_TEACHER_CLASSIFIER, 4, 128), "");
  assert_string_equal(ask(of, TT_TEACHER_CLASSIFIER, 4, 16384), "ring");
  assert_string_equal(ask(of, TT_TEACHER_CLASSIFIER, 5, 4 * 65536), "ring");
  assert_null(ask(of, TT_TEACHER_CLASSIFIER, 4, 8 * 65536)); /* nothing so long was seen, */
  assert_null(ask(of, TT_TEACHER_CLASSIFIER, 16, 1024));     /* and not so many ranks */
  assert_string_equal(ask(of, TT_TEACHER_NEAREST, 2, 256), "");
  assert_string_equal(ask(of, TT_TEACHER_NEAREST, 8, 16384), "binomial");
  assert_string_equal(ask(of, TT_TEACHER_NEAREST, 4, 1024 * 16), "binomial"); /* points of the model are none */
  assert_string_equal(ask(of, TT_TEACHER_MODEL, 4, 4096), "linear");
  assert_null(ask(of, TT_TEACHER_MODEL, 4, 8192));
  assert_null(ask(of, TT_TEACHER_MODEL, 5, 1024));
  tt_lessons_destroy(lessons);
}

static void test_what_is_said_of_a_shape_becomes_rows(void **state) {
  (void)state;
  static const struct {
    tt_teacher by;
    tt_authority authority;
    int64_t first, last;
    const char *text;
  } rows[] = {{TT_TEACHER_CLASSIFIER, TT_BY_LEARNED, 2048, 262144, "ring"},
              {TT_TEACHER_NEAREST, TT_BY_LEARNED, 2048, 262144, "binomial"},
              {TT_TEACHER_MODEL, TT_BY_MODEL, 256, 4096, "linear"}};
  for (size_t n = 0; n < TT_COUNT(rows); n++) {
    tt_lessons *lessons = lessons_of(rows[n].by);
    tt_region shape = region_of(TT_BROADCAST, 4, 0);
    tt_wisdom *wisdom;
    assert_int_equal(tt_wisdom_create(MACHINE, "", &wisdom), TUTTI_OK);
    assert_int_equal(tt_lessons_infer(lessons, &shape, wisdom), TUTTI_OK);
    assert_int_equal(wisdom->inferred_count, 1);
    const tt_inferred *row = wisdom->inferred;
    assert_int_equal(row->region.collective, TT_ALLREDUCE);
    assert_int_equal(row->by, rows[n].authority);
    assert_string_equal(row->text, rows[n].text);
    assert_in_range(row->region.bytes, rows[n].first, 2 * rows[n].first);
    assert_int_equal(tt_dispatch_bucket(row->bytes_last), tt_dispatch_bucket(rows[n].last) + 1);
    expect_back_from_numbers(wisdom);
    tt_wisdom_destroy(wisdom);
    tt_lessons_destroy(lessons);
  }
}

static void test_what_jobs_do_not_need_is_left_out(void **state) {
  (void)state;
  static const int64_t classes[] = {0, 2, 0, 0}, points[] = {0, 0, 2, 1};
  for (tt_teacher by = TT_TEACHER_RULES; by < TT_TEACHER_COUNT; by++) {
    tt_lessons *lessons = lessons_of(by);
    char before[32][64];
    for (int power = 0; power < 32; power++) {
      const char *said = ask(&lessons->lesson[0], by, 4, (int64_t)1 << power);
      snprintf(before[power], sizeof before[power], "%s", said ? said : "nothing");
    }
    tt_lessons_prune(lessons);
    assert_int_equal(lessons->lesson[0].classifier.class_count, classes[by]);
    assert_int_equal(lessons->lesson[0].point_count, points[by]);
    assert_int_equal(lessons->lesson[0].score[TT_TEACHER_RULES].cells, 0);
    for (int power = 0; power < 32; power++) {
      const char *said = ask(&lessons->lesson[0], by, 4, (int64_t)1 << power);
      assert_string_equal(said ? said : "nothing", before[power]);
    }
    tt_lessons_destroy(lessons);
  }
}

static void test_the_rules_infer_nothing(void **state) {
  (void)state;
  tt_lessons *lessons = lessons_of(TT_TEACHER_RULES);
  tt_region shape = region_of(TT_BROADCAST, 4, 0);
  tt_wisdom *wisdom;
  assert_int_equal(tt_wisdom_create(MACHINE, "", &wisdom), TUTTI_OK);
  assert_int_equal(tt_lessons_infer(lessons, &shape, wisdom), TUTTI_OK);
  assert_int_equal(wisdom->inferred_count, 0);
  tt_wisdom_destroy(wisdom);
  tt_lessons_destroy(lessons);
}

/* A job asks all of it about each of its shapes: so there is an end to what a file may have. */
static void test_a_lesson_with_too_many_points_is_refused(void **state) {
  (void)state;
  static tt_point many[TT_POINTS_MOST + 1];
  tt_lessons *lessons = lessons_of(TT_TEACHER_NEAREST), *back;
  for (int64_t n = 0; n <= TT_POINTS_MOST; n++)
    many[n] = lessons->lesson[0].point[0];
  lessons->lesson[0].point = many;
  for (int64_t more = 0; more <= 1; more++) {
    lessons->lesson[0].point_count = TT_POINTS_MOST + more;
    unlink(path);
    assert_int_equal(tt_lessons_write(path, lessons), TUTTI_OK);
    assert_int_equal(tt_lessons_read(path, &back), more ? TUTTI_ERR_ARGUMENT : TUTTI_OK);
    if (!more)
      tt_lessons_destroy(back);
  }
  assert_non_null(strstr(tutti_last_error(), "line 2: collective 1, \"points\": has too many"));
  tt_lessons_destroy(lessons);
}

/* ---- files that are wrong ---- */

static void write_changed(const char *from, const char *to) {
  tt_lessons *lessons = lessons_of(TT_TEACHER_NEAREST);
  static char text[8192], changed[16384];
  unlink(path);
  assert_int_equal(tt_lessons_write(path, lessons), TUTTI_OK);
  FILE *file = fopen(path, "r+");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  const char *at = strstr(text, from);
  assert_non_null(at);
  snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  rewind(file);
  assert_int_equal(ftruncate(fileno(file), 0), 0);
  fputs(changed, file);
  fclose(file);
  tt_lessons_destroy(lessons);
}

static void test_errors_name_the_file_the_line_and_the_member(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *says;
    tutti_status status;
  } rows[] = {
      {"\"tutti-learned\": 2", "\"tutti-learned\": 1", "\"tutti-learned\" is not 2", TUTTI_ERR_UNSUPPORTED},
      {MACHINE, "abc", "\"machine\": 'abc'", TUTTI_ERR_ARGUMENT},
      {"\"allreduce\"", "\"allsome\"", "line 2: collective 1, \"collective\"", TUTTI_ERR_ARGUMENT},
      {"\"nearest\",", "\"me\",", "line 2: collective 1, \"by\"", TUTTI_ERR_ARGUMENT},
      {"\"cells\": 20", "\"cells\": -1", "line 2: collective 1, \"cells\"", TUTTI_ERR_ARGUMENT},
      {"\"ranks\": 2", "\"ranks\": 0", "line 2: collective 1, \"ranks\"", TUTTI_ERR_ARGUMENT},
      {"\"ring\"", "\"[core:what]\"", "line 2: collective 1, \"classes\"", TUTTI_ERR_ARGUMENT},
      {"\"vectors_of\": [1,", "\"vectors_of\": [-1,", "line 2: collective 1, \"vectors_of\"", TUTTI_ERR_ARGUMENT},
      {"\"vectors_of\": [1,", "\"vectors_of\": [2,", "line 2: collective 1, \"vectors\"", TUTTI_ERR_ARGUMENT},
      {"\"vectors_of\": [1, 1]", "\"vectors_of\": [1, 1024]", "\"vectors_of\": has too many", TUTTI_ERR_ARGUMENT},
      {"\"vectors_of\": [1, 1]", "\"vectors_of\": [1, 9223372036854775807]", "\"vectors_of\": has too many",
       TUTTI_ERR_ARGUMENT},
      {"\"rho\": [0]", "\"rho\": [0, 0]", "line 2: collective 1, \"rho\"", TUTTI_ERR_ARGUMENT},
      {"\"gamma\": 0.1", "\"gamma\": -1", "line 2: collective 1, \"gamma\"", TUTTI_ERR_ARGUMENT},
      {"[1, 0, 0, 0, 0, -1]", "[1, 0, 0, 0, -1]", "line 2: collective 1, \"vectors\" 2", TUTTI_ERR_ARGUMENT},
      {"[1, 0, 0, 0, 0, -1]", "[1, 0, 0, 0, 0, 1e300]", "line 2: collective 1, \"vectors\" 2", TUTTI_ERR_ARGUMENT},
      {"\"model 4", "\"her 4", "line 2: collective 1, \"points\" 3: ", TUTTI_ERR_ARGUMENT},
      {"\"model 4 1", "\"model 4 x", "line 2: collective 1, \"points\" 3, nodes: ", TUTTI_ERR_ARGUMENT},
      {"\"model 4 1", "\"model 0 1", "line 2: collective 1, \"points\" 3, ranks: ", TUTTI_ERR_ARGUMENT},
      {"65536: b", "9223372036854775807: b", "\"points\" 2, bytes: ", TUTTI_ERR_ARGUMENT},
      {"65536: b", "9223372036854775808: b", "\"points\" 2, bytes: ", TUTTI_ERR_ARGUMENT},
      {"65536: b", "65536:b", "\"points\" 2: has no ': '", TUTTI_ERR_ARGUMENT},
      {"65536: b", "65536 b", "\"points\" 2: has no ': '", TUTTI_ERR_ARGUMENT},
      {"\"model 4", "7, \"model 4", "\"points\" 3: is no text", TUTTI_ERR_ARGUMENT},
      {": binomial", ": [core:what]", "line 2: collective 1, \"points\" 2, params: ", TUTTI_ERR_ARGUMENT}};
  for (size_t n = 0; n < TT_COUNT(rows); n++) {
    tt_lessons *lessons = NULL;
    write_changed(rows[n].from, rows[n].to);
    assert_int_equal(tt_lessons_read(path, &lessons), rows[n].status);
    assert_null(lessons);
    if (strncmp(tutti_last_error(), path, strlen(path)) != 0 || !strstr(tutti_last_error(), rows[n].says))
      fail_msg("'%s' does not say '%s'", tutti_last_error(), rows[n].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lessons_come_back_from_their_file),
                                     cmocka_unit_test(test_each_teacher_says_what_it_knows),
                                     cmocka_unit_test(test_what_is_said_of_a_shape_becomes_rows),
                                     cmocka_unit_test(test_what_jobs_do_not_need_is_left_out),
                                     cmocka_unit_test(test_the_rules_infer_nothing),
                                     cmocka_unit_test(test_a_lesson_with_too_many_points_is_refused),
                                     cmocka_unit_test(test_errors_name_the_file_the_line_and_the_member)};
  return cmocka_run_group_tests(tests, open_folder, close_folder);
}

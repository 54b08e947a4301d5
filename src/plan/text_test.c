/* plan/text_test.c - the text form: what prints parses back, and broken texts are refused with their line. */
#include "plan/plan.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char two_ranks[] = "plan rank 0 of 2 blocks 2 parts 1 tmp 1 times 3 slice 65536 in-place\n"
                                "level 0 node\n"
                                "level 1 core\n"
                                "lane 0 id 7 send level 1 channel 0\n"
                                "  0 t0 send ->1 b0 in.0 first\n"
                                "  1 t0 send ->1 b1 in.1 last\n"
                                "lane 1 id 7 recv level 1 channel 0\n"
                                "  0 t0 reduce <-1 b0 in.0 => tmp.0 left first wait 0.0\n"
                                "  1 t0 recv <-1 b1 => out.1 last wait 0.1 0.0*\n"
                                "lane 2 id 4294967295 local level 0 channel 3\n"
                                "  0 t2 copy b0 tmp.0 => out.0 finish 2 wait 1.0\n"
                                "lane 3 id 8 send level 0 channel 0 published readers 1\n"
                                "  0 t2 send ->* b0 out.0 first last wait 2.0\n";

static const struct {
  const char *from, *to, *reason; /* two_ranks with `from` replaced, and a part of the error */
} broken[] = {
    {"plan rank 0", "plan rank -1", "line 1"},
    {"blocks 2", "blocks 02", "line 1"},
    {"blocks 2", "blocks 4294967296", "line 1"},
    {"blocks 2 parts 1", "blocks 2 parts 0", "parts"},
    {"slice 65536", "slice 99999999999999999999", "line 1"},
    {"of 2 ", "of 0 ", "rank count"},
    {"rank 0 of", "rank 2 of", "invalid rank"},
    {"level 1 core", "level 2 core", "line 3"},
    {"level 0 node", "level 0 ", "line 2"},
    {"level 0 node", "level 0 a-name-of-16-chr", "line 2"},
    {"lane 0 id", "lane 1 id", "line 4"},
    {"lane 0 id 7 send", "lane 0 id 7 sends", "line 4"},
    {"lane 0 id 7 send level 1", "lane 0 id 7 send level 2", "lane 0: its level is invalid"},
    {"  0 t0 send ->1", "  1 t0 send ->1", "line 5"},
    {"  0 t0 send ->1", " 0 t0 send ->1", "line 5"},
    {"  0 t0 send ->1", "  0 t0 send ->0", "lane 0 step 0: its peer is invalid"},
    {"  0 t0 send ->1", "  0 t0 send ->2", "lane 0 step 0: its peer is invalid"},
    {"  0 t0 send ->1", "  0 t0 send ->*", "lane 0 step 0: its peer is invalid"},
    {"  0 t0 send ->1", "  0 t1 send ->1", "lane 0 step 1: its time is before"},
    {"in.1 last", "in.1 last finish 2", "cannot finish a result"},
    {"in.1 last", "in.0 last", "lane 0 step 1: it refers to another block"},
    {"in.1 last", "in.1 last first", "line 6: expected 'the end of the line' at ' first'"},
    {"b0 in.0 =>", "b0 in.0 ->", "line 8"},
    {"tmp.0 left", "tmp.1 left", "an invalid tmp cell"},
    {"tmp.0 left", "heap.0 left", "line 8"},
    {"wait 0.0\n", "wait\n", "line 8"},
    {"wait 0.0\n", "wait 0.2\n", "waits for an invalid step"},
    {"wait 0.0\n", "wait 0.1\n", "slices of another block"},
    {"wait 0.0\n", "wait 4.0\n", "waits for an invalid step"},
    {"=> out.1 last", "=> out.1 left last", "flags that its kind"},
    {"finish 2", "finish 0", "line 11"},
    {"readers 1", "readers", "line 12"},
    {"readers 1", "readers 0", "lane 3: its readers"},
    {"readers 1", "readers 1 1", "lane 3: its readers"},
    {" published readers 1", " published", "lane 3: only published lanes have readers"},
    {"channel 3", "channel 65536", "line 10"},
    {"wait 2.0\n", "wait 2.0", "line 13"},
};

static char *print_parsed(const char *text) {
  tt_plan *plan = NULL;
  if (tt_plan_parse(text, &plan) != TUTTI_OK)
    return NULL;
  char *printed = tt_plan_print(plan);
  tt_plan_destroy(plan);
  return printed;
}

static void test_printed_plan_parses_back(void **state) {
  (void)state;
  char *printed = print_parsed(two_ranks);
  assert_non_null(printed);
  assert_string_equal(printed, two_ranks);
  free(printed);
}

/* `text` with the first `from` replaced by `to`; the caller frees it. */
static char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  assert_non_null(at);
  char *made = NULL;
  int length = asprintf(&made, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  assert_true(length >= 0);
  return made;
}

static void test_broken_texts_are_refused_with_the_reason(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    char *text = replaced(two_ranks, broken[n].from, broken[n].to);
    tt_plan *plan = NULL;
    if (tt_plan_parse(text, &plan) != TUTTI_ERR_PLAN || strstr(tutti_last_error(), broken[n].reason) == NULL)
      fail_msg("'%s' for '%s': wanted '%s', got '%s'", broken[n].to, broken[n].from, broken[n].reason,
               tutti_last_error());
    assert_null(plan);
    free(text);
  }
}

/* Whatever is accepted prints back to the same text. */
static void expect_refused_or_same(const char *text) {
  char *printed = print_parsed(text);
  if (printed != NULL)
    assert_string_equal(printed, text);
  free(printed);
}

static void test_every_cut_is_refused_or_prints_back(void **state) {
  (void)state;
  for (size_t length = 0; length < sizeof two_ranks; length++) {
    char *text = strndup(two_ranks, length);
    expect_refused_or_same(text);
    free(text);
  }
}

static void test_random_changes_are_refused_or_print_back(void **state) {
  (void)state;
  static const char letters[] = "0123456789 \n\n.*->=<tbacdefilmnoprsuvy\xff";
  tt_random random;
  tt_random_init(&random, 1);
  for (int n = 0; n < 20000; n++) {
    char text[sizeof two_ranks];
    memcpy(text, two_ranks, sizeof text);
    for (uint64_t changes = 1 + tt_random_below(&random, 3); changes > 0; changes--)
      text[tt_random_below(&random, sizeof text - 1)] = letters[tt_random_below(&random, sizeof letters - 1)];
    expect_refused_or_same(text);
  }
}

static char *long_text(int step_count) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  fprintf(out, "plan rank 0 of 2 blocks 4 parts 1 tmp 0 times %d slice 0\nlevel 0 core\n", step_count);
  fprintf(out, "lane 0 id 0 send level 0 channel 0\n");
  for (int n = 0; n < step_count; n++)
    fprintf(out, "  %d t%d send ->1 b%d out.%d first last%s\n", n, n, n % 4, n % 4, n == 0 ? "" : " wait 0.0*");
  fclose(out);
  return text;
}

static void test_long_plan_parses_back(void **state) {
  (void)state;
  char *text = long_text(50000);
  char *printed = print_parsed(text);
  assert_non_null(printed);
  assert_string_equal(printed, text);
  free(printed);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_printed_plan_parses_back),
      cmocka_unit_test(test_broken_texts_are_refused_with_the_reason),
      cmocka_unit_test(test_every_cut_is_refused_or_prints_back),
      cmocka_unit_test(test_random_changes_are_refused_or_print_back),
      cmocka_unit_test(test_long_plan_parses_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every row is a transport of its name, and the page on transports names it. */
#include "transport/table.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_rows_have_the_functions_that_all_have(void **state) {
  (void)state;
  size_t count;
  const tt_transport *row = tt_transport_table(&count);
  for (size_t n = 0; n < count; n++) {
    const tutti_transport_ops *ops = row[n].ops();
    assert_true(tt_transport_find(row[n].reach, row[n].name) == &row[n]);
    assert_true(ops || row[n].needs[0]);
    if (!ops)
      continue;
    assert_string_equal(ops->name, row[n].name);
    assert_true(ops->open && ops->close && ops->stream_open && ops->stream_close && ops->progress);
    assert_true(ops->reserve && ops->commit && ops->peek && ops->release);
  }
}

static void test_the_usual_transport_between_machines_is_there(void **state) {
  (void)state;
  size_t count;
  const tt_option *option = tt_option_table(&count);
  while (strcmp(option->name, "TUTTI_FAR") != 0)
    option++;
  const tt_transport *usual = tt_transport_find(TT_REACH_MACHINES, option->fallback);
  assert_true(usual && usual->ops());
}

static void test_names_are_a_list(void **state) {
  (void)state;
  char text[64], shorter[4];
  size_t count;
  const tt_transport *row = tt_transport_table(&count);
  tt_transport_names(TT_REACH_MACHINES, text, sizeof text);
  tt_transport_names(TT_REACH_MACHINES, shorter, sizeof shorter);
  for (size_t n = 0; n < count; n++)
    assert_true((row[n].reach == TT_REACH_MACHINES) == (strstr(text, row[n].name) != NULL));
  assert_true(strncmp(text, "tcp", 3) == 0 && strstr(text, " or ") && strlen(shorter) == 3);
  assert_null(tt_transport_find(TT_REACH_MACHINES, "shm"));
}

static void test_the_page_on_transports_names_all(void **state) {
  (void)state;
  const char *source = getenv("TUTTI_SOURCE");
  static char page[1 << 16];
  char path[512], folder[64];
  size_t count;
  const tt_transport *row = tt_transport_table(&count);
  if (!source)
    skip();
  snprintf(path, sizeof path, "%s/docs/adding-a-transport.md", source);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  page[fread(page, 1, sizeof page - 1, file)] = '\0';
  fclose(file);
  for (size_t n = 0; n < count; n++) {
    snprintf(folder, sizeof folder, "| `src/transport/%s` |", row[n].name);
    assert_non_null(strstr(page, folder));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_have_the_functions_that_all_have),
      cmocka_unit_test(test_the_usual_transport_between_machines_is_there),
      cmocka_unit_test(test_names_are_a_list),
      cmocka_unit_test(test_the_page_on_transports_names_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

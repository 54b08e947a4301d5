/* tools/shared/options.c - command lines by tables: a row for each option says what becomes of it. */
#include "shared.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

enum { ROWS = 64, FIRST = 256 }; /* options without a letter have numbers that no letter is */

static bool has_value(const tool_option *row) { return row->kind == TOOL_TEXT || row->kind == TOOL_TAKE; }

static int number_of(const tool_option *rows, size_t n) { return rows[n].letter ? rows[n].letter : FIRST + (int)n; }

static void list_letters(const char *order, const tool_option *row, size_t count, char letters[static 2 * ROWS + 8]) {
  char *end = letters + sprintf(letters, "%s", order);
  for (size_t n = 0; n < count; n++)
    if (row[n].letter > 1)
      end += sprintf(end, "%c%s", row[n].letter, has_value(&row[n]) ? ":" : "");
}

static void list_names(const tool_option *row, size_t count, struct option names[static ROWS + 1]) {
  size_t used = 0;
  for (size_t n = 0; n < count; n++)
    if (row[n].name)
      names[used++] = (struct option){row[n].name, has_value(&row[n]), NULL, number_of(row, n)};
  names[used] = (struct option){NULL, 0, NULL, 0};
}

static int apply(const tool_option *row, void *options, const char *value) {
  void *member = (char *)options + row->at;
  bool set = row->kind == TOOL_SET;
  switch (row->kind) {
  case TOOL_SET:
  case TOOL_CLEAR:
    memcpy(member, &set, sizeof set);
    return TOOL_GO_ON;
  case TOOL_TEXT:
    memcpy(member, &value, sizeof value);
    return TOOL_GO_ON;
  default:
    return row->take(options, value);
  }
}

static int apply_number(const tool_option *row, size_t count, int number, void *options, const char *value) {
  for (size_t n = 0; n < count; n++)
    if (number_of(row, n) == number)
      return apply(&row[n], options, value);
  return TOOL_UNKNOWN;
}

int tool_options_read(int argc, char **argv, const char *order, const tool_option *row, size_t count, void *options) {
  struct option names[ROWS + 1];
  char letters[2 * ROWS + 8];
  int result = TOOL_GO_ON;
  assert(count <= ROWS);
  list_letters(order, row, count, letters);
  list_names(row, count, names);
  optind = 0; /* of the subcommand's own arguments */
  for (int number; result == TOOL_GO_ON && (number = getopt_long(argc, argv, letters, names, NULL)) != -1;)
    result = apply_number(row, count, number, options, optarg);
  return result;
}

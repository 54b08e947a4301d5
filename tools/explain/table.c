/* tools/explain/table.c - a line for each candidate, the fastest by prediction first; what runs is marked. */
#include "table.h"

#include "tools/shared/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 20

static void format_row_time(double time_ns, bool known, char text[static 32]) {
  if (known)
    tool_format_time(time_ns, text);
  else
    snprintf(text, 32, "-");
}

static void print_line(int width, const char *number, const char *predicted, const char *measured, const char *why,
                       const char *text) {
  printf("%6s  %9s  %9s  %-*s  %s\n", number, predicted, measured, width, why, text);
}

static void print_row(const explain_rows *rows, const explain_row *row, int width) {
  char number[24], predicted[32], measured[32], why[EXPLAIN_WHY];
  bool runs = row == rows->runs, colour = runs && tool_has_colour();
  snprintf(number, sizeof number, "%s%" PRId64, runs ? "> " : "", row - rows->row + 1);
  format_row_time(row->time_ns, row->time_ns >= 0, predicted);
  format_row_time((double)row->measured_ns, row->measured_ns > 0, measured);
  explain_row_why(rows, row, why);
  fputs(colour ? "\033[1m" : "", stdout);
  print_line(width, number, predicted, measured, why, row->text);
  fputs(colour ? "\033[0m" : "", stdout);
}

static int64_t shown(const explain_rows *rows) {
  return rows->question->options->all || rows->count < SHOWN ? rows->count : SHOWN;
}

/* Of the reasons in the table. What does not compile has long ones, and stands below. */
static int width_of(const explain_rows *rows) {
  char why[EXPLAIN_WHY];
  size_t width = 0;
  for (int64_t n = 0; n < rows->count; n++) {
    if (n >= shown(rows) && &rows->row[n] != rows->runs)
      continue;
    explain_row_why(rows, &rows->row[n], why);
    width = strlen(why) > width ? strlen(why) : width;
  }
  return (int)width;
}

static void print_left_out(const explain_rows *rows, bool compiles) {
  char why[EXPLAIN_WHY];
  for (int64_t n = 0; n < rows->space.left_out_count; n++) {
    const tt_left_out *left = &rows->space.left_out[n];
    if ((left->like >= 0) != compiles)
      continue;
    explain_left_out_why(rows, left, why);
    if (compiles)
      printf("%-16s  %s\n", why, left->text);
    else
      printf("%s\n    %s\n", left->text, why);
  }
}

static void print_rest(const explain_rows *rows) {
  const tt_candidates *space = &rows->space;
  bool all = rows->question->options->all;
  printf("\n%" PRId64 " candidates, %" PRId64 " are shown; %" PRId64 " more texts run like one of them, and %" PRId64
         " make no plan%s\n",
         rows->count, shown(rows), space->left_out_count - space->refused, space->refused,
         all ? "" : " (--all shows everything)");
  if (!all)
    return;
  putchar('\n');
  print_left_out(rows, true);
  putchar('\n');
  print_left_out(rows, false);
}

static void print_remarks(const explain_rows *rows) {
  char size[16];
  printf("\npredicted: by the model %s\n", rows->model);
  if (!rows->winner)
    return;
  tt_format_bytes(rows->winner->region.bytes, size);
  printf("measured: by tutti tune, with %s%s%s; of the winner and of what the profile chooses\n", size,
         *rows->winner->source ? ", " : "", rows->winner->source);
}

void explain_table_print(const explain_rows *rows) {
  int width = width_of(rows);
  print_remarks(rows);
  putchar('\n');
  print_line(width, "#", "predicted", "measured", "why", "parameters");
  for (int64_t n = 0; n < shown(rows); n++)
    print_row(rows, &rows->row[n], width);
  if (rows->runs && rows->runs - rows->row >= shown(rows)) {
    puts("   ...");
    print_row(rows, rows->runs, width);
  }
  print_rest(rows);
}

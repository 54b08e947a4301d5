/* tools/topo/text.c - tables and short texts of `tutti topo`. */
#include "text.h"

#include "tools/shared/shared.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- tables ---- */

topo_table topo_table_make(tt_arena *arena, const char *const *head) {
  topo_table table = {.arena = arena};
  while (head[table.column_count])
    table.column_count++;
  topo_table_add(&table, head);
  return table;
}

void topo_table_add(topo_table *table, const char *const *cell) {
  topo_row *row = tt_arena_alloc(table->arena, 1, sizeof *row);
  if (!row)
    return;
  memcpy(row->cell, cell, (size_t)table->column_count * sizeof *cell);
  if (table->last)
    table->last->next = row;
  else
    table->first = row;
  table->last = row;
}

/* No blanks at the end of a line. */
static void print_row(const topo_row *row, int count, const size_t width[TOPO_COLUMNS]) {
  while (count > 0 && !row->cell[count - 1][0])
    count--;
  for (int n = 0; n < count; n++)
    printf("%s%-*s", n ? "  " : "", n + 1 < count ? (int)width[n] : 0, row->cell[n]);
}

void topo_table_print(const topo_table *table) {
  size_t width[TOPO_COLUMNS] = {0};
  bool colour = tool_has_colour();
  if (!table->first || !table->first->next)
    return;
  for (const topo_row *row = table->first; row; row = row->next)
    for (int n = 0; n < table->column_count; n++)
      width[n] = strlen(row->cell[n]) > width[n] ? strlen(row->cell[n]) : width[n];
  putchar('\n');
  for (const topo_row *row = table->first; row; row = row->next) {
    bool head = row == table->first;
    fputs(head && colour ? "\033[1m" : "", stdout);
    print_row(row, table->column_count, width);
    puts(head && colour ? "\033[0m" : "");
  }
}

/* ---- texts ---- */

static const char *or_empty(const char *text) { return text ? text : ""; }

const char *topo_number_text(tt_arena *arena, int64_t number) {
  return number < 0 ? "-" : or_empty(tt_arena_format(arena, "%" PRId64, number));
}

const char *topo_count_text(tt_arena *arena, int64_t count, const char *one, const char *many) {
  return or_empty(tt_arena_format(arena, "%" PRId64 " %s", count, count == 1 ? one : many));
}

/* How many numbers from here are evenly spaced: at least three, or two neighbours, else one. */
static int64_t find_run(const int32_t *number, int64_t count) {
  int64_t run = 1;
  while (run < count && number[run] - number[run - 1] == number[1] - number[0])
    run++;
  return run > 2 || (run == 2 && number[1] == number[0] + 1) ? run : 1;
}

const char *topo_list_text(tt_arena *arena, const int32_t *number, int64_t count) {
  char *text = tt_arena_alloc(arena, (size_t)count + 1, 24), *end = text;
  if (!text || count == 0)
    return text ? "none" : "";
  for (int64_t n = 0, run; n < count; n += run) {
    run = find_run(number + n, count - n);
    end += sprintf(end, "%s%d", n ? "," : "", (int)number[n]);
    if (run > 1)
      end += sprintf(end, "-%d", (int)number[n + run - 1]);
    if (run > 1 && number[n + 1] - number[n] > 1)
      end += sprintf(end, ":%d", (int)(number[n + 1] - number[n]));
  }
  return text;
}

/* As people know it: to a digit, 1024s. */
const char *topo_bytes_text(tt_arena *arena, int64_t bytes) {
  static const char units[] = " KMGT";
  double amount = (double)bytes;
  int unit = 0;
  if (bytes <= 0)
    return "unknown";
  for (; amount >= 1000 && unit < 4; unit++)
    amount /= 1024;
  return or_empty(tt_arena_format(arena, "%.*f%.*s", amount < 10 && unit && amount != (int)amount ? 1 : 0, amount,
                                  unit ? 1 : 0, &units[unit]));
}

const char *topo_speed_text(tt_arena *arena, int64_t bits_per_second) {
  if (bits_per_second <= 0)
    return "unknown";
  bool giga = bits_per_second >= 1000000000;
  return or_empty(
      tt_arena_format(arena, "%g %s", (double)bits_per_second / (giga ? 1e9 : 1e6), giga ? "Gbit/s" : "Mbit/s"));
}

/* ---- names with numbers ---- */

enum { DIGITS = 9 };

/* The number at the end of a name; `length` is what stands before it. -1: none that can be counted on. */
static int64_t split_name(const char *name, size_t *length) {
  size_t all = strlen(name), at = all;
  while (at > 0 && isdigit((unsigned char)name[at - 1]) && all - at < DIGITS)
    at--;
  *length = at;
  return at < all ? strtoll(name + at, NULL, 10) : -1;
}

static bool follows(const char *before, const char *after) {
  size_t x, y;
  int64_t one = split_name(before, &x), other = split_name(after, &y);
  bool padded = before[x] == '0' || after[y] == '0'; /* then all have as many digits */
  return one >= 0 && other == one + 1 && x == y && strncmp(before, after, x) == 0 &&
         (!padded || strlen(before) == strlen(after));
}

const char *topo_names_text(tt_arena *arena, const char *const *name, int64_t count) {
  size_t room = 1, length;
  for (int64_t n = 0; n < count; n++)
    room += strlen(name[n]) + 4;
  char *text = tt_arena_alloc(arena, room, 1), *end = text;
  if (!text || count == 0)
    return "";
  for (int64_t n = 0, last; n < count; n = last + 1) {
    for (last = n; last + 1 < count && follows(name[last], name[last + 1]);)
      last++;
    end += sprintf(end, "%s", n ? "," : "");
    if (last == n) {
      end += sprintf(end, "%s", name[n]);
      continue;
    }
    split_name(name[n], &length);
    end += sprintf(end, "%.*s[%s-", (int)length, name[n], name[n] + length);
    split_name(name[last], &length);
    end += sprintf(end, "%s]", name[last] + length);
  }
  return text;
}

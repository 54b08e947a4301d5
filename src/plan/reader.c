/* plan/reader.c - words, numbers and ends of lines of a text, one after the other. */
#include "plan/reader.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void tt_plan_expect(tt_plan_reader *in, const char *what) {
  if (in->expected == NULL)
    in->expected = what;
}

bool tt_plan_accept(tt_plan_reader *in, const char *word) {
  size_t length = strlen(word);
  if (in->expected != NULL || strncmp(in->at, word, length) != 0)
    return false;
  in->at += length;
  return true;
}

void tt_plan_need(tt_plan_reader *in, const char *word) {
  if (!tt_plan_accept(in, word))
    tt_plan_expect(in, word);
}

bool tt_plan_more(const tt_plan_reader *in) { return in->expected == NULL && *in->at != '\0'; }

static void expect_number(tt_plan_reader *in, uint64_t least, uint64_t most) {
  if (in->expected != NULL)
    return;
  snprintf(in->range, sizeof in->range, "a number from %" PRIu64 " to %" PRIu64, least, most);
  in->expected = in->range;
}

uint64_t tt_plan_number(tt_plan_reader *in, uint64_t least, uint64_t most) {
  assert(least <= most);
  const char *at = in->at;
  uint64_t value = 0;
  bool fits = in->expected == NULL;
  for (; fits && *at >= '0' && *at <= '9'; at++) {
    uint64_t digit = (uint64_t)(*at - '0');
    fits = digit <= most && value <= (most - digit) / 10;
    value = value * 10 + digit;
  }
  if (!fits || at == in->at || (*in->at == '0' && at - in->at > 1) || value < least) {
    expect_number(in, least, most);
    return least;
  }
  in->at = at;
  return value;
}

uint32_t tt_plan_name(tt_plan_reader *in, const char *const *names, uint32_t count, const char *what) {
  for (uint32_t n = 0; n < count; n++)
    if (tt_plan_accept(in, names[n]))
      return n;
  tt_plan_expect(in, what);
  return 0;
}

void tt_plan_end_line(tt_plan_reader *in) {
  tt_plan_need(in, "\n");
  in->line += in->expected == NULL;
}

/* Up to the end of the line, and so that it can be shown to people. */
static void put_found(const char *at, char text[static 44]) {
  size_t used = 0;
  for (; used < 40 && at[used] != '\n' && at[used] != '\0'; used++)
    text[used] = isprint((unsigned char)at[used]) ? at[used] : '?';
  text[used] = '\0';
}

tutti_status tt_plan_refused(const tt_plan_reader *in) {
  assert(in->expected != NULL);
  char found[44];
  put_found(in->at, found);
  const char *what = strcmp(in->expected, "\n") == 0 ? "the end of the line" : in->expected;
  return tt_fail(TUTTI_ERR_PLAN, "plan text, line %" PRIu64 ": expected '%s' at '%s'", in->line, what, found);
}

enum { FIRST_ROOM = 4 };

void *tt_plan_grown(tt_arena *arena, void *table, size_t count, size_t size) {
  bool is_full = count >= FIRST_ROOM && (count & (count - 1)) == 0;
  if (table != NULL && !is_full)
    return table;
  void *larger = count < UINT32_MAX ? tt_arena_alloc(arena, is_full ? 2 * count : FIRST_ROOM, size) : NULL;
  if (larger != NULL && table != NULL)
    memcpy(larger, table, count * size);
  return larger;
}

/* tune/scan.c - wisdom from a text that stands as tt_wisdom_write puts it, letter for letter.
 *
 * A job reads the whole file when it starts, and a JSON tree of some hundred rows takes longer than all else of its
 * start. Nearly all files are as tutti wrote them: these are read from left to right, with the same limits as in
 * read.c. Any other letter, space or order, a row twice, a value out of range, parameters that do not parse: then the
 * text is left to read.c, which accepts all JSON and says what is wrong. */
#include "tune/wisdom.h"

#include <string.h>

enum { TEXT = 512 }; /* bytes of a text at most, with its end */

typedef struct scan {
  const char *at, *end;
  int64_t line;
} scan;

/* ---- words ---- */

static inline bool take(scan *of, const char *word) {
  size_t length = strlen(word); /* nearly always of a constant */
  if ((size_t)(of->end - of->at) < length || memcmp(of->at, word, length) != 0)
    return false;
  of->at += length;
  return true;
}

static bool take_end_of_line(scan *of) {
  of->line++;
  return take(of, "\n");
}

#define take_member(of, member) take(of, ", \"" member "\": ")

static bool take_number(scan *of, int64_t least, int64_t most, int64_t *number) {
  const char *first = of->at;
  int64_t value = 0;
  for (; of->at < of->end && *of->at >= '0' && *of->at <= '9'; of->at++)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *of->at - '0', &value))
      return false;
  *number = value;
  bool is_plain = of->at > first && (*first != '0' || of->at == first + 1);
  return is_plain && value >= least && value <= most;
}

/* Of ASCII, with nothing that JSON writes in another way. */
static bool take_text(scan *of, char text[static TEXT]) {
  size_t length = 0;
  if (!take(of, "\""))
    return false;
  for (; of->at < of->end && *of->at >= ' ' && *of->at < 127 && *of->at != '"' && *of->at != '\\'; of->at++) {
    if (length == TEXT - 1)
      return false;
    text[length++] = *of->at;
  }
  text[length] = '\0';
  return take(of, "\"");
}

static bool take_bool(scan *of, bool *value) {
  *value = take(of, "true");
  return *value || take(of, "false");
}

/* ---- rows ---- */

static bool take_region(scan *of, tt_region *region) {
  char name[TEXT];
  *region = (tt_region){.bytes = 0};
  if (!take(of, "  {\"collective\": ") || !take_text(of, name))
    return false;
  region->collective = tt_compose_find(name);
  for (size_t n = 0; n < TT_REGION_MEMBERS; n++) {
    const tt_region_member *member = &tt_region_members[n];
    if (!take(of, member->leads) || !take_number(of, member->least, member->most, tt_region_value(region, member)))
      return false;
  }
  return region->collective != TT_COLLECTIVE_COUNT;
}

#define take_time(of, member, time_ns) (take_member(of, member) && take_number(of, 0, INT64_MAX, time_ns))

static bool parses(const char *text) {
  tt_params params;
  return tt_params_parse(text, &params) == TUTTI_OK;
}

/* Rows ascend: so none is there twice, and none has to be searched for. */
static bool add_winner(const tt_winner *winner, tt_wisdom *wisdom) {
  const tt_winner *last = wisdom->count > 0 ? &wisdom->winner[wisdom->count - 1] : NULL;
  return (!last || tt_region_compare(&last->region, &winner->region) < 0) &&
         ((last && strcmp(last->text, winner->text) == 0) || parses(winner->text)) &&
         tt_wisdom_append(wisdom, winner) == TUTTI_OK;
}

static bool add_outside(const tt_outside *outside, tt_wisdom *wisdom) {
  const tt_outside *last = wisdom->outside_count > 0 ? &wisdom->outside[wisdom->outside_count - 1] : NULL;
  return (!last || tt_outside_compare(last, outside) < 0) && tt_library_is(outside->library) &&
         tt_wisdom_append_outside(wisdom, outside) == TUTTI_OK;
}

static bool take_winner(scan *of, tt_wisdom *wisdom) {
  char text[TEXT];
  tt_winner winner = {.text = text, .line = of->line};
  return take_region(of, &winner.region) && take_member(of, "params") && take_text(of, text) &&
         take_time(of, "ns", &winner.time_ns) && take_time(of, "rules_ns", &winner.rules_ns) && take(of, "}") &&
         add_winner(&winner, wisdom);
}

static bool take_outside(scan *of, tt_wisdom *wisdom) {
  char library[TEXT];
  tt_outside outside = {.library = library, .line = of->line};
  return take_region(of, &outside.region) && take_member(of, "library") && take_text(of, library) &&
         take_member(of, "wins") && take_bool(of, &outside.wins) && take_time(of, "ns", &outside.time_ns) &&
         take_time(of, "tutti_ns", &outside.tutti_ns) && take(of, "}") && add_outside(&outside, wisdom);
}

/* A line each, up to the bracket that ends the list. */
static bool take_list(scan *of, bool (*take_row)(scan *of, tt_wisdom *wisdom), tt_wisdom *wisdom) {
  int64_t count = 0;
  do {
    if (!take_end_of_line(of))
      return false;
    if (count == 0 && take(of, "]"))
      return true;
    if (++count > TT_WISDOM_ROWS || !take_row(of, wisdom))
      return false;
  } while (take(of, ","));
  return take_end_of_line(of) && take(of, "]");
}

/* ---- the file ---- */

static tt_wisdom *take_head(scan *of) {
  char machine[TEXT], about[TEXT];
  tt_wisdom *made = NULL;
  bool good = take(of, "{\"tutti-wisdom\": 1") && take_member(of, "machine") && take_text(of, machine) &&
              take_member(of, "about") && take_text(of, about) && take_member(of, "winners") && take(of, "[");
  return good && tt_wisdom_create(machine, about, &made) == TUTTI_OK ? made : NULL;
}

static bool take_lists(scan *of, tt_wisdom *wisdom) {
  bool good = take_list(of, take_winner, wisdom);
  if (good && take(of, ",") && take_end_of_line(of))
    good = take(of, "\"outside\": [") && take_list(of, take_outside, wisdom);
  return good && take(of, "}\n") && of->at == of->end;
}

tt_wisdom *tt_wisdom_scan(const char *path, const char *text, size_t size) {
  scan of = {.at = text, .end = text + size, .line = 1};
  tt_wisdom *made = size > 0 ? take_head(&of) : NULL;
  if (made && (made->path = tt_arena_format(&made->arena, "%s", path)) && take_lists(&of, made))
    return made;
  tt_wisdom_destroy(made);
  return NULL;
}

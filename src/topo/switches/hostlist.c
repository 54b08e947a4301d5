/* topo/switches/hostlist.c - "node[0-3,007-011]n[1,2],other": names with ranges of numbers, as Slurm writes them.
 *
 * Digits of a range's first number are the least that each has: 08-11 are 08, 09, 10, 11. Several brackets in a name
 * are all their combinations, the last the fastest. */
#include "topo/switches/builder.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BRACKETS = 4, DIGITS = 18 };

typedef struct expansion {
  tt_switches_builder *b;
  const char *list; /* for errors */
  void (*take)(tt_switches_builder *b, const char *name, void *user);
  void *user;
  int64_t count;
  char name[TT_SWITCHES_NAME]; /* so far */
} expansion;

static void bad(const expansion *e, const char *why) { tt_switches_fail(e->b, "'%.64s': %s", e->list, why); }

/* Numbers from..to of "from-to" or "from"; `rest` is behind it. */
static bool read_range(const char *text, const char **rest, int64_t *from, int64_t *to, int *digits) {
  size_t length = strspn(text, "0123456789");
  *digits = (int)length;
  if (length == 0 || length > DIGITS)
    return false;
  *from = *to = strtoll(text, NULL, 10);
  text += length;
  if (*text == '-') {
    length = strspn(++text, "0123456789");
    if (length == 0 || length > DIGITS)
      return false;
    *to = strtoll(text, NULL, 10);
    text += length;
  }
  *rest = text;
  return *to >= *from;
}

static bool add_text(expansion *e, size_t used, const char *text, size_t length) {
  if (used + length >= sizeof e->name) {
    bad(e, "has a name that is too long");
    return false;
  }
  memcpy(e->name + used, text, length);
  e->name[used + length] = '\0';
  return true;
}

static void expand(expansion *e, const char *text, const char *end, int depth);

/* Each number of one range, each with all that follows the brackets. */
static void expand_range(expansion *e, size_t used, int64_t from, int64_t to, int digits, const char *behind,
                         const char *end, int depth) {
  char number[DIGITS + 2];
  for (int64_t n = from; n <= to && e->b->status == TUTTI_OK; n++) {
    int length = snprintf(number, sizeof number, "%0*" PRId64, digits, n);
    assert(length > 0 && (size_t)length < sizeof number);
    if (add_text(e, used, number, (size_t)length))
      expand(e, behind, end, depth + 1);
  }
}

static void expand_brackets(expansion *e, const char *text, const char *end, int depth) {
  size_t used = strlen(e->name);
  const char *close = memchr(text, ']', (size_t)(end - text)), *rest = text;
  int64_t from, to;
  int digits;
  if (!close || depth == BRACKETS) {
    bad(e, close ? "has more than 4 brackets in a name" : "has a '[' without its ']'");
    return;
  }
  for (const char *at = text; e->b->status == TUTTI_OK; at = rest + 1) {
    if (!read_range(at, &rest, &from, &to, &digits) || (*rest != ',' && *rest != ']'))
      bad(e, "has brackets without a list such as 0-3,7");
    else
      expand_range(e, used, from, to, digits, close + 1, end, depth);
    e->name[used] = '\0';
    if (e->b->status != TUTTI_OK || *rest == ']')
      return;
  }
}

static void expand(expansion *e, const char *text, const char *end, int depth) {
  size_t used = strlen(e->name), plain = 0;
  while (text + plain < end && text[plain] != '[')
    plain++;
  if (memchr(text, ']', plain))
    bad(e, "has a ']' without its '['");
  else if (!add_text(e, used, text, plain))
    return;
  else if (text + plain < end)
    expand_brackets(e, text + plain + 1, end, depth);
  else if (!e->name[0])
    bad(e, "has an empty name");
  else if (e->count++ == TT_SWITCHES_MOST)
    bad(e, "stands for more than a million names");
  else
    e->take(e->b, e->name, e->user);
}

/* The end of the name that begins here: a comma that is in no brackets, or the end of the text. */
static const char *find_end(const char *text) {
  bool inside = false;
  for (; *text && (inside || *text != ','); text++)
    inside = *text == '[' || (inside && *text != ']');
  return text;
}

void tt_switches_expand(tt_switches_builder *b, const char *list,
                        void (*take)(tt_switches_builder *b, const char *name, void *user), void *user) {
  expansion e = {.b = b, .list = list, .take = take, .user = user};
  for (const char *text = list;; text++) {
    const char *end = find_end(text);
    e.name[0] = '\0';
    expand(&e, text, end, 0);
    text = end;
    if (b->status != TUTTI_OK || !*text)
      return;
  }
}

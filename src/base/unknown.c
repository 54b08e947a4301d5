/* base/unknown.c - variables of the environment that look like options and are none: mostly a slip of the finger, and
 * then something is not set that its user takes for set. */
#include "base/base.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAXIMUM 64
#define SLIPS 2 /* letters that may be wrong, missing or too many */

/* What tutti's other parts read: the bindings of MPI, the tests. An ending '*': all that begin so. */
static const char *const others[] = {"TUTTI_MPI*",   "TUTTI_STATS", "TUTTI_TORCH",
                                     "TUTTI_TEST_*", "TUTTI_BIN",   "TUTTI_SOURCE"};

static bool matches(const char *pattern, const char *name) {
  size_t length = strlen(pattern);
  assert(length > 0);
  return pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0 : strcmp(pattern, name) == 0;
}

static bool is_known(const char *name) {
  size_t count;
  const tt_option *table = tt_option_table(&count);
  for (size_t n = 0; n < count; n++)
    if (strcmp(table[n].name, name) == 0)
      return true;
  for (size_t n = 0; n < TT_COUNT(others); n++)
    if (matches(others[n], name))
      return true;
  return false;
}

/* How many letters to change, to add or to leave out: Levenshtein's distance, a row at a time. */
static size_t distance(const char *a, const char *b) {
  size_t row[NAME_MAXIMUM + 1], length = strlen(b);
  assert(length <= NAME_MAXIMUM);
  for (size_t n = 0; n <= length; n++)
    row[n] = n;
  for (; *a != '\0'; a++) {
    size_t corner = row[0]++;
    for (size_t n = 0; n < length; n++) {
      size_t changed = corner + (*a != b[n]), least = row[n] < row[n + 1] ? row[n] + 1 : row[n + 1] + 1;
      corner = row[n + 1];
      row[n + 1] = changed < least ? changed : least;
    }
  }
  return row[length];
}

const char *tt_option_nearest(const char *name) {
  size_t count, least = SLIPS + 1;
  const char *nearest = NULL;
  const tt_option *table = tt_option_table(&count);
  for (size_t n = 0; n < count && strlen(name) <= NAME_MAXIMUM; n++) {
    size_t slips = distance(table[n].name, name);
    if (slips < least) {
      least = slips;
      nearest = table[n].name;
    }
  }
  return nearest;
}

static void warn(const char *name) {
  const char *nearest = tt_option_nearest(name);
  if (nearest != NULL)
    tt_log(TT_LOG_WARN, "%s is not a variable of tutti; did you mean %s?", name, nearest);
  else
    tt_log(TT_LOG_WARN, "%s is not a variable of tutti (`tutti info` lists them)", name);
}

void tt_options_warn(void) {
  for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
    const char *end = strchr(*variable, '=');
    char name[2 * NAME_MAXIMUM] = "";
    if (strncmp(*variable, "TUTTI_", 6) != 0 || end == NULL)
      continue;
    size_t length = (size_t)(end - *variable);
    memcpy(name, *variable, length < sizeof name ? length : sizeof name - 1);
    if (!is_known(name))
      warn(name);
  }
}

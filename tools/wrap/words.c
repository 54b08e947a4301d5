/* tools/wrap/words.c - a command cut into words, as a shell would cut it where it has nothing but quotes.
 *
 *     blanks separate     'x "y'  as it is     "x 'y"  as it is, but \" and \\     \x  x, outside of quotes
 *
 * {rank} is the rank's number, also between quotes. There are no variables, patterns and pipes: `sh -c '...' sh` has.
 */
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RANK "{rank}"
enum { RANK_LENGTH = sizeof RANK - 1, NUMBER_LENGTH = 24 };

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

static const char *skip_blanks(const char *at) {
  while (is_blank(*at))
    at++;
  return at;
}

/* Whether a backslash makes the next character an ordinary one. */
static bool is_escaped(char quote, char next) {
  return next != '\0' && (quote == '\0' || (quote == '"' && (next == '"' || next == '\\')));
}

/* Writes a word to `to`, with a zero behind it. Returns where it ends in the command; NULL: a quote is not closed. */
static const char *take_word(const char *at, const char *number, char **to) {
  char quote = '\0';
  for (; *at != '\0' && (quote != '\0' || !is_blank(*at)); at++) {
    if (quote == '\0' && (*at == '\'' || *at == '"'))
      quote = *at;
    else if (quote != '\0' && *at == quote)
      quote = '\0';
    else if (*at == '\\' && is_escaped(quote, at[1]))
      *(*to)++ = *++at;
    else if (strncmp(at, RANK, RANK_LENGTH) == 0) {
      *to = stpcpy(*to, number);
      at += RANK_LENGTH - 1;
    } else
      *(*to)++ = *at;
  }
  *(*to)++ = '\0';
  return quote == '\0' ? at : NULL;
}

char **wrap_words(const char *command, int64_t rank, size_t *count, tt_arena *arena) {
  char number[NUMBER_LENGTH];
  size_t length = strlen(command), words = 0;
  snprintf(number, sizeof number, "%" PRId64, rank);
  char **word = tt_arena_alloc(arena, length / 2 + 2, sizeof *word);
  char *to = tt_arena_alloc(arena, (length / RANK_LENGTH + 1) * NUMBER_LENGTH + 2 * length, 1);
  if (word == NULL || to == NULL)
    return NULL;
  for (const char *at = skip_blanks(command); *at != '\0'; at = skip_blanks(at)) {
    word[words++] = to;
    at = take_word(at, number, &to);
    if (at == NULL)
      return NULL;
  }
  *count = words;
  return word;
}

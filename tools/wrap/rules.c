/* tools/wrap/rules.c - rules [RANKS:]COMMAND: which ranks a rule names, and what they execute.
 *
 * RANKS is what stands before the first colon of the first word, so that a command may have colons in all others. */
#include "rank.h"
#include "words.h"
#include "wrap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One of the ranges of a list, which stand between commas; {0} before the first. */
typedef struct rank_range {
  const char *text;
  int length;
  bool sound;
  int64_t first, last;
} rank_range;

/* ---- the list of ranks ---- */

/* Its end; NULL: the rule has no list and means all ranks. */
static const char *ranks_end(const char *rule) {
  const char *end = rule + strcspn(rule, ": \t\n");
  return *end == ':' ? end : NULL;
}

static bool parse_range(rank_range *range) {
  char text[64], *dash;
  if (range->length >= (int)sizeof text)
    return false;
  memcpy(text, range->text, (size_t)range->length);
  text[range->length] = '\0';
  range->first = 0;
  range->last = INT64_MAX;
  if (strcmp(text, "all") == 0)
    return true;
  dash = strchr(text, '-');
  if (dash != NULL)
    *dash = '\0';
  return wrap_read_rank(text, &range->first) && wrap_read_rank(dash != NULL ? dash + 1 : text, &range->last) &&
         range->first <= range->last;
}

static bool next_range(const char *rule, rank_range *range) {
  const char *end = ranks_end(rule), *at = range->text == NULL ? rule : range->text + range->length + 1;
  if (end == NULL || at > end)
    return false;
  const char *comma = memchr(at, ',', (size_t)(end - at));
  range->text = at;
  range->length = (int)((comma != NULL ? comma : end) - at);
  range->sound = parse_range(range);
  return true;
}

static tutti_status check_ranks(const char *rule) {
  for (rank_range range = {0}; next_range(rule, &range);)
    if (!range.sound)
      return tt_fail(TUTTI_ERR_ARGUMENT, "'%s': '%.*s' is not a rank such as 3, a range such as 0-3, or 'all'", rule,
                     range.length, range.text);
  return TUTTI_OK;
}

static bool names(const char *rule, int64_t rank) {
  bool named = ranks_end(rule) == NULL;
  for (rank_range range = {0}; !named && next_range(rule, &range);)
    named = range.first <= rank && rank <= range.last;
  return named;
}

/* The greatest rank that the rule names, -1 where it only says "all". */
static int64_t last_of(const char *rule) {
  int64_t last = -1;
  for (rank_range range = {0}; next_range(rule, &range);)
    if (range.last != INT64_MAX && range.last > last)
      last = range.last;
  return last;
}

/* ---- rules ---- */

static const char *command_of(const char *rule) {
  const char *end = ranks_end(rule);
  return end != NULL ? end + 1 : rule;
}

static tutti_status check_command(const char *rule) {
  size_t count = 0;
  tt_arena arena;
  tt_arena_init(&arena);
  bool closed = wrap_words(command_of(rule), 0, &count, &arena) != NULL, failed = arena.failed;
  tt_arena_finish(&arena);
  if (failed)
    return tt_fail(TUTTI_ERR_MEMORY, "'%s': no memory", rule);
  if (!closed)
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s': a quote is not closed", rule);
  return count > 0 ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "'%s': the command is missing", rule);
}

tutti_status wrap_add(wrap_list *list, const char *rule) {
  tutti_status status = check_ranks(rule);
  if (status == TUTTI_OK)
    status = check_command(rule);
  if (status != TUTTI_OK)
    return status;
  const char **longer = realloc(list->rule, (list->count + 1) * sizeof *longer);
  if (longer == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "'%s': no memory", rule);
  list->rule = longer;
  list->rule[list->count++] = rule;
  return TUTTI_OK;
}

tutti_status wrap_check(const wrap_list *list, int64_t rank_count) {
  for (size_t r = 0; r < list->count; r++)
    if (last_of(list->rule[r]) >= rank_count)
      return tt_fail(TUTTI_ERR_ARGUMENT, "'%s': rank %" PRId64 " is not in this job, which has %" PRId64 " ranks",
                     list->rule[r], last_of(list->rule[r]), rank_count);
  return TUTTI_OK;
}

const char *wrap_of(const wrap_list *list, int64_t rank) {
  for (size_t r = list->count; r-- > 0;)
    if (names(list->rule[r], rank))
      return command_of(list->rule[r]);
  return NULL;
}

char **wrap_command(const wrap_list *list, int64_t rank, char **program, tt_arena *arena) {
  size_t words = 0, more = 0;
  const char *command = wrap_of(list, rank);
  if (command == NULL)
    return program;
  while (program[more] != NULL)
    more++;
  char **word = wrap_words(command, rank, &words, arena);
  char **all = tt_arena_alloc(arena, words + more + 1, sizeof *all);
  if (word == NULL || all == NULL)
    return NULL;
  memcpy(all, word, words * sizeof *all);
  memcpy(all + words, program, more * sizeof *all);
  return all;
}

void wrap_finish(wrap_list *list) {
  free(list->rule);
  *list = (wrap_list){0};
}

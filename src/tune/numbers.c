/* tune/numbers.c - wisdom as numbers, to be sent to other ranks:
 *
 *   [winners][rows of other libraries][rows that are inferred][length of the file's path][of that of the lessons]
 *   both paths, in whole numbers
 *   {region, times, line, 0, length of text}, text in whole numbers           of each winner,
 *   {region, times, line, whether it wins, length of its name}, the name      each row of another library,
 *   {region, last length, by whom, line, 0, length of text}, the text         and each that is inferred.
 * A text that is that of the row before it is not there, and its length is -1.
 */
#include "tune/wisdom.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 5, FACTS = 11, TEXT = 1024, PATH = 8192 };

static size_t words_of(size_t letters) { return (letters + sizeof(int64_t) - 1) / sizeof(int64_t); }

/* Where the next number goes, and the text of the row before it. */
typedef struct target {
  int64_t *at;
  const char *text;
} target;

static void put_one(target *to, const tt_region *of, const int64_t own[4], const char *text) {
  size_t length = strlen(text);
  bool again = strcmp(text, to->text) == 0;
  const int64_t facts[FACTS] = {
      of->collective, of->bytes, of->rank_count, of->node_count, of->ranks_per_node,          of->nic_count,
      own[0],         own[1],    own[2],         own[3],         again ? -1 : (int64_t)length};
  memcpy(to->at, facts, sizeof facts);
  to->at += FACTS;
  to->text = text;
  if (again)
    return;
  memcpy(to->at, text, length);
  to->at += words_of(length);
}

/* At most. */
static size_t size_of(const tt_wisdom *wisdom) {
  size_t size = HEAD + words_of(strlen(wisdom->path)) + words_of(strlen(wisdom->lessons));
  for (int64_t n = 0; n < wisdom->count; n++)
    size += FACTS + words_of(strlen(wisdom->winner[n].text));
  for (int64_t n = 0; n < wisdom->outside_count; n++)
    size += FACTS + words_of(strlen(wisdom->outside[n].library));
  for (int64_t n = 0; n < wisdom->inferred_count; n++)
    size += FACTS + words_of(strlen(wisdom->inferred[n].text));
  return size;
}

/* Returns what is behind it. */
static int64_t *put_head(const tt_wisdom *wisdom, int64_t *made) {
  const int64_t head[HEAD] = {wisdom->count, wisdom->outside_count, wisdom->inferred_count,
                              (int64_t)strlen(wisdom->path), (int64_t)strlen(wisdom->lessons)};
  int64_t *at = made + HEAD;
  memcpy(made, head, sizeof head);
  memcpy(at, wisdom->path, strlen(wisdom->path));
  at += words_of(strlen(wisdom->path));
  memcpy(at, wisdom->lessons, strlen(wisdom->lessons));
  return at + words_of(strlen(wisdom->lessons));
}

tutti_status tt_wisdom_pack(const tt_wisdom *wisdom, int64_t **numbers, int64_t *count) {
  int64_t *made = calloc(size_of(wisdom), sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom");
  target to = {put_head(wisdom, made), ""};
  for (int64_t n = 0; n < wisdom->count; n++) {
    const tt_winner *w = &wisdom->winner[n];
    put_one(&to, &w->region, (const int64_t[]){w->time_ns, w->rules_ns, w->line, 0}, w->text);
  }
  for (int64_t n = 0; n < wisdom->outside_count; n++) {
    const tt_outside *o = &wisdom->outside[n];
    put_one(&to, &o->region, (const int64_t[]){o->time_ns, o->tutti_ns, o->line, o->wins}, o->library);
  }
  for (int64_t n = 0; n < wisdom->inferred_count; n++) {
    const tt_inferred *i = &wisdom->inferred[n];
    put_one(&to, &i->region, (const int64_t[]){i->bytes_last, i->by, i->line, 0}, i->text);
  }
  *numbers = made;
  *count = to.at - made;
  return TUTTI_OK;
}

static tt_region region_at(const int64_t *at) {
  return (tt_region){.collective = (tt_collective)at[0],
                     .bytes = at[1],
                     .rank_count = at[2],
                     .node_count = at[3],
                     .ranks_per_node = at[4],
                     .nic_count = at[5]};
}

/* Rank 0 has checked them, and none is there twice. */
static tutti_status take_winner(const int64_t *at, const char *text, tt_wisdom *wisdom) {
  return tt_wisdom_append(
      wisdom, &(tt_winner){.region = region_at(at), .text = text, .time_ns = at[6], .rules_ns = at[7], .line = at[8]});
}

static tutti_status take_outside(const int64_t *at, const char *text, tt_wisdom *wisdom) {
  return tt_wisdom_append_outside(wisdom, &(tt_outside){.region = region_at(at),
                                                        .library = text,
                                                        .time_ns = at[6],
                                                        .tutti_ns = at[7],
                                                        .line = at[8],
                                                        .wins = at[9] != 0});
}

static tutti_status take_inferred(const int64_t *at, const char *text, tt_wisdom *wisdom) {
  return tt_wisdom_append_inferred(
      wisdom,
      &(tt_inferred){
          .region = region_at(at), .text = text, .bytes_last = at[6], .by = (tt_authority)at[7], .line = at[8]});
}

static tutti_status take(const int64_t *head, int64_t number, const int64_t *at, const char *text, tt_wisdom *wisdom) {
  return number < head[0]             ? take_winner(at, text, wisdom)
         : number < head[0] + head[1] ? take_outside(at, text, wisdom)
                                      : take_inferred(at, text, wisdom);
}

/* What the head has room for. */
static tutti_status take_paths(const int64_t *numbers, tt_wisdom *wisdom) {
  const int64_t *lessons = numbers + HEAD + words_of((size_t)numbers[3]);
  wisdom->path = tt_arena_format(&wisdom->arena, "%.*s", (int)numbers[3], (const char *)(numbers + HEAD));
  wisdom->lessons = tt_arena_format(&wisdom->arena, "%.*s", (int)numbers[4], (const char *)lessons);
  return wisdom->path && wisdom->lessons ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom");
}

/* text: of the row before it, then of this one. Returns how many numbers it has; more than `room`: it is cut off. */
static int64_t take_text(const int64_t *at, int64_t room, char text[static TEXT]) {
  int64_t length = room >= FACTS ? at[FACTS - 1] : 0,
          size = FACTS + (int64_t)words_of((size_t)(length > 0 ? length : 0));
  if (size <= room && length >= 0)
    snprintf(text, TEXT, "%.*s", (int)length, (const char *)(at + FACTS));
  return size;
}

tutti_status tt_wisdom_unpack(const int64_t *numbers, int64_t count, tt_wisdom **wisdom) {
  int64_t used = count + 1;
  char text[TEXT] = "";
  if (count >= HEAD && numbers[3] >= 0 && numbers[3] < PATH && numbers[4] >= 0 && numbers[4] < PATH)
    used = HEAD + (int64_t)(words_of((size_t)numbers[3]) + words_of((size_t)numbers[4]));
  tutti_status status = tt_wisdom_create("0000000000000000", "", wisdom);
  if (status == TUTTI_OK && used <= count)
    status = take_paths(numbers, *wisdom);
  for (int64_t n = 0; status == TUTTI_OK && used <= count && n < numbers[0] + numbers[1] + numbers[2]; n++) {
    const int64_t *at = numbers + used;
    used += take_text(at, count - used, text);
    if (used <= count)
      status = take(numbers, n, at, text, *wisdom);
  }
  if (status == TUTTI_OK && used > count)
    status = tt_fail(TUTTI_ERR_MISMATCH, "wisdom of rank 0 is cut off at %" PRId64 " numbers", count);
  return status;
}

/* tune/numbers.c - wisdom as numbers, to be sent to other ranks:
 *
 *   [winners][rows of other libraries][length of the file's path][path, in whole numbers]
 *   {region, times, line, 0, length of text}, text in whole numbers           of each winner,
 *   {region, times, line, whether it wins, length of its name}, the name      and of each row
 */
#include "tune/wisdom.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 3, FACTS = 11, TEXT = 1024 };

static size_t words_of(size_t letters) { return (letters + sizeof(int64_t) - 1) / sizeof(int64_t); }

static int64_t *put_one(int64_t *at, const tt_region *of, const int64_t own[4], const char *text) {
  const int64_t facts[FACTS] = {of->collective,       of->bytes, of->rank_count, of->node_count, of->ranks_per_node,
                                of->nic_count,        own[0],    own[1],         own[2],         own[3],
                                (int64_t)strlen(text)};
  memcpy(at, facts, sizeof facts);
  memcpy(at + FACTS, text, strlen(text));
  return at + FACTS + words_of(strlen(text));
}

tutti_status tt_wisdom_pack(const tt_wisdom *wisdom, int64_t **numbers, int64_t *count) {
  size_t head = HEAD + words_of(strlen(wisdom->path)), size = head;
  for (int64_t n = 0; n < wisdom->count; n++)
    size += FACTS + words_of(strlen(wisdom->winner[n].text));
  for (int64_t n = 0; n < wisdom->outside_count; n++)
    size += FACTS + words_of(strlen(wisdom->outside[n].library));
  int64_t *made = calloc(size, sizeof *made), *at = made + head;
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom");
  made[0] = wisdom->count;
  made[1] = wisdom->outside_count;
  made[2] = (int64_t)strlen(wisdom->path);
  memcpy(made + HEAD, wisdom->path, strlen(wisdom->path));
  for (int64_t n = 0; n < wisdom->count; n++) {
    const tt_winner *w = &wisdom->winner[n];
    at = put_one(at, &w->region, (const int64_t[]){w->time_ns, w->rules_ns, w->line, 0}, w->text);
  }
  for (int64_t n = 0; n < wisdom->outside_count; n++) {
    const tt_outside *o = &wisdom->outside[n];
    at = put_one(at, &o->region, (const int64_t[]){o->time_ns, o->tutti_ns, o->line, o->wins}, o->library);
  }
  *numbers = made;
  *count = (int64_t)size;
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

tutti_status tt_wisdom_unpack(const int64_t *numbers, int64_t count, tt_wisdom **wisdom) {
  int64_t used = count >= HEAD ? HEAD + (int64_t)words_of((size_t)numbers[2]) : count + 1;
  tutti_status status = tt_wisdom_create("0000000000000000", "", wisdom);
  if (status == TUTTI_OK && used <= count &&
      !((*wisdom)->path = tt_arena_format(&(*wisdom)->arena, "%.*s", (int)numbers[2], (const char *)(numbers + HEAD))))
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom");
  for (int64_t n = 0; status == TUTTI_OK && used <= count && n < numbers[0] + numbers[1]; n++) {
    char text[TEXT];
    int64_t size = used + FACTS <= count ? FACTS + (int64_t)words_of((size_t)numbers[used + FACTS - 1]) : count;
    used += size;
    if (used > count)
      break;
    const int64_t *at = numbers + used - size;
    snprintf(text, sizeof text, "%.*s", (int)at[FACTS - 1], (const char *)(at + FACTS));
    status = (n < numbers[0] ? take_winner : take_outside)(at, text, *wisdom);
  }
  if (status == TUTTI_OK && used > count)
    status = tt_fail(TUTTI_ERR_MISMATCH, "wisdom of rank 0 is cut off at %" PRId64 " numbers", count);
  return status;
}

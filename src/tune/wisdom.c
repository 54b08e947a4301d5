/* tune/wisdom.c - what was measured, in memory: winners, and where another library is faster. read.c, scan.c and
 * store.c have it as a file, numbers.c as numbers for other ranks. */
#include "tune/wisdom.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

static bool is_machine(const char *text) { return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16; }

static tutti_status no_memory(void) { return tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom"); }

tutti_status tt_wisdom_create(const char *machine, const char *about, tt_wisdom **wisdom) {
  if (!is_machine(machine))
    return tt_fail(TUTTI_ERR_ARGUMENT, "\"machine\": '%.40s' is not a fingerprint of 16 digits 0-9, a-f", machine);
  tt_wisdom *made = calloc(1, sizeof *made);
  if (!made)
    return no_memory();
  tt_arena_init(&made->arena);
  memcpy(made->machine, machine, sizeof made->machine);
  made->about = tt_arena_format(&made->arena, "%s", about);
  made->path = tt_arena_format(&made->arena, "%s", "");
  made->lessons = tt_arena_format(&made->arena, "%s", "");
  if (!made->about || !made->path || !made->lessons) {
    tt_wisdom_destroy(made);
    return no_memory();
  }
  *wisdom = made;
  return TUTTI_OK;
}

void tt_wisdom_destroy(tt_wisdom *wisdom) {
  if (!wisdom)
    return;
  tt_arena_finish(&wisdom->arena);
  free(wisdom->winner);
  free(wisdom->outside);
  free(wisdom->inferred);
  free(wisdom);
}

/* ---- regions ---- */

#define MEMBER(name, member, least, most) {name, ", \"" name "\": ", offsetof(tt_region, member), least, most}

const tt_region_member tt_region_members[TT_REGION_MEMBERS] = {
    MEMBER("ranks", rank_count, 1, INT32_MAX), MEMBER("nodes", node_count, 1, INT32_MAX),
    MEMBER("ranks_per_node", ranks_per_node, 1, INT32_MAX), MEMBER("nics", nic_count, 0, INT32_MAX),
    MEMBER("bytes", bytes, 0, INT64_MAX - 1)};

/* On one node no NIC is used. */
static bool counts(const tt_region *of, const tt_region_member *member) {
  return member->at != offsetof(tt_region, nic_count) || of->node_count > 1;
}

int tt_region_compare(const tt_region *a, const tt_region *b) {
  int order = (a->collective > b->collective) - (a->collective < b->collective);
  for (size_t n = 0; n < TT_REGION_MEMBERS && order == 0; n++) {
    if (!counts(a, &tt_region_members[n]))
      continue;
    int64_t x = tt_region_number(a, &tt_region_members[n]), y = tt_region_number(b, &tt_region_members[n]);
    order = (x > y) - (x < y);
  }
  return order;
}

bool tt_region_same(const tt_region *a, const tt_region *b) { return tt_region_compare(a, b) == 0; }

/* ---- lists ---- */

/* For one more of `count`; room for a power of two. */
static void *grown(void *list, int64_t count, size_t each) {
  if ((count & (count - 1)) != 0)
    return list;
  return realloc(list, (count ? 2 * (size_t)count : 1) * each);
}

/* No file has more: it would be refused. */
static tutti_status check_room(int64_t count, const char *what) {
  if (count < TT_WISDOM_ROWS)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_ARGUMENT,
                 "there is no room for more than %d %s in a file of wisdom: have fewer --sizes or --ranks, or begin "
                 "another file, which TUTTI_WISDOM names",
                 TT_WISDOM_ROWS, what);
}

/* ---- winners ---- */

tt_winner *tt_wisdom_of(const tt_wisdom *wisdom, const tt_region *region) {
  for (int64_t n = 0; n < wisdom->count; n++)
    if (tt_region_same(&wisdom->winner[n].region, region))
      return &wisdom->winner[n];
  return NULL;
}

/* before: the text of the row before it, often the same; or NULL. */
static const char *copied(tt_wisdom *wisdom, const char *text, const char *before) {
  size_t size = strlen(text) + 1;
  if (before && strcmp(before, text) == 0)
    return before;
  char *copy = tt_arena_alloc(&wisdom->arena, size, 1);
  return copy ? memcpy(copy, text, size) : NULL;
}

/* "PATH:12" */
static char *source_of(tt_wisdom *wisdom, int64_t line) {
  size_t length = strlen(wisdom->path);
  char *source = tt_arena_alloc(&wisdom->arena, length + 24, 1);
  if (source) {
    memcpy(source, wisdom->path, length);
    snprintf(source + length, 24, ":%" PRId64, line);
  }
  return source;
}

/* *place: of the list, with texts of the arena. */
static tutti_status put(tt_wisdom *wisdom, const tt_winner *winner, tt_winner *place) {
  const char *text = copied(wisdom, winner->text, place > wisdom->winner ? place[-1].text : NULL);
  const char *source = winner->line > 0 ? source_of(wisdom, winner->line) : "";
  *place = *winner;
  place->text = text ? text : "";
  place->source = source ? source : "";
  return text && source ? TUTTI_OK : no_memory();
}

tutti_status tt_wisdom_append(tt_wisdom *wisdom, const tt_winner *winner) {
  tutti_status status = check_room(wisdom->count, "winners");
  if (status != TUTTI_OK)
    return status;
  tt_winner *list = grown(wisdom->winner, wisdom->count, sizeof *list);
  if (list)
    wisdom->winner = list;
  return list ? put(wisdom, winner, &list[wisdom->count++]) : no_memory();
}

/* What was compared with another choice says nothing of this one, which holds for lengths near it, too. */
static void forget_outside(tt_wisdom *wisdom, const tt_region *region) {
  int64_t kept = 0;
  for (int64_t n = 0; n < wisdom->outside_count; n++) {
    const tt_region *at = &wisdom->outside[n].region;
    tt_region alike = *region;
    alike.bytes = at->bytes;
    if (!tt_region_same(at, &alike) || !tt_dispatch_near(at->bytes, region->bytes))
      wisdom->outside[kept++] = wisdom->outside[n];
  }
  wisdom->outside_count = kept;
}

tutti_status tt_wisdom_put(tt_wisdom *wisdom, const tt_winner *winner) {
  tt_params params;
  tutti_status status = tt_params_parse(winner->text, &params);
  if (status != TUTTI_OK)
    return status;
  tt_winner *before = tt_wisdom_of(wisdom, &winner->region);
  bool changes = !before || strcmp(before->text, winner->text) != 0;
  status = before ? put(wisdom, winner, before) : tt_wisdom_append(wisdom, winner);
  if (status == TUTTI_OK && changes)
    forget_outside(wisdom, &winner->region);
  return status;
}

/* ---- a job's ---- */

void tt_wisdom_keep_ranks(tt_wisdom *wisdom, int64_t ranks) {
  int64_t kept = 0;
  for (int64_t n = 0; n < wisdom->count; n++)
    if (wisdom->winner[n].region.rank_count <= ranks)
      wisdom->winner[kept++] = wisdom->winner[n];
  wisdom->count = kept;
  kept = 0;
  for (int64_t n = 0; n < wisdom->outside_count; n++)
    if (wisdom->outside[n].region.rank_count <= ranks)
      wisdom->outside[kept++] = wisdom->outside[n];
  wisdom->outside_count = kept;
}

/* ---- other libraries ---- */

tt_outside *tt_wisdom_outside_of(const tt_wisdom *wisdom, const char *library, const tt_region *region) {
  for (int64_t n = 0; n < wisdom->outside_count; n++)
    if (tt_region_same(&wisdom->outside[n].region, region) && strcmp(wisdom->outside[n].library, library) == 0)
      return &wisdom->outside[n];
  return NULL;
}

tutti_status tt_wisdom_append_outside(tt_wisdom *wisdom, const tt_outside *outside) {
  tutti_status status = check_room(wisdom->outside_count, "rows of other libraries");
  if (status != TUTTI_OK)
    return status;
  int64_t last = wisdom->outside_count - 1;
  const char *library = copied(wisdom, outside->library, last < 0 ? NULL : wisdom->outside[last].library);
  tt_outside *list = grown(wisdom->outside, wisdom->outside_count, sizeof *list);
  if (list)
    wisdom->outside = list;
  if (!list || !library)
    return no_memory();
  list[wisdom->outside_count] = *outside;
  list[wisdom->outside_count++].library = library;
  return TUTTI_OK;
}

bool tt_library_is(const char *name) {
  size_t length = strlen(name);
  return length > 0 && length < TT_LIBRARY_TEXT && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") == length;
}

tutti_status tt_wisdom_put_outside(tt_wisdom *wisdom, const tt_outside *outside) {
  if (!tt_library_is(outside->library))
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%.60s' is not a library, such as openmpi-4.1 (a-z, 0-9, '.', '-')",
                   outside->library);
  tt_outside *before = tt_wisdom_outside_of(wisdom, outside->library, &outside->region);
  if (!before)
    return tt_wisdom_append_outside(wisdom, outside);
  const char *library = before->library;
  *before = *outside;
  before->library = library;
  return TUTTI_OK;
}

/* ---- order ---- */

static int compare_winners(const void *a, const void *b) {
  return tt_region_compare(&((const tt_winner *)a)->region, &((const tt_winner *)b)->region);
}

int tt_outside_compare(const tt_outside *a, const tt_outside *b) {
  int order = strcmp(a->library, b->library);
  return order ? order : tt_region_compare(&a->region, &b->region);
}

static int compare_outside(const void *a, const void *b) { return tt_outside_compare(a, b); }

void tt_wisdom_sort(tt_wisdom *wisdom) {
  if (wisdom->count > 0)
    qsort(wisdom->winner, (size_t)wisdom->count, sizeof *wisdom->winner, compare_winners);
  if (wisdom->outside_count > 0)
    qsort(wisdom->outside, (size_t)wisdom->outside_count, sizeof *wisdom->outside, compare_outside);
}

/* ---- what is inferred ---- */

tutti_status tt_wisdom_append_inferred(tt_wisdom *wisdom, const tt_inferred *inferred) {
  const char *text = tt_arena_format(&wisdom->arena, "%s", inferred->text);
  const char *source = tt_arena_format(&wisdom->arena, "%s:%" PRId64, wisdom->lessons, inferred->line);
  tt_inferred *list = grown(wisdom->inferred, wisdom->inferred_count, sizeof *list);
  if (list)
    wisdom->inferred = list;
  if (!list || !text || !source)
    return no_memory();
  tt_inferred *at = &list[wisdom->inferred_count++];
  *at = *inferred;
  at->text = text;
  at->source = source;
  return TUTTI_OK;
}

/* topo/topo.c - topologies from group maps, and group maps from text. */
#include "topo/topo.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

tt_topo *tt_topo_flat(tt_arena *arena, int64_t rank_count) {
  assert(rank_count > 0);
  tt_topo *topo = tt_arena_alloc(arena, 1, sizeof *topo);
  if (!topo)
    return NULL;
  topo->rank_count = rank_count;
  topo->level_count = 1;
  strcpy(topo->level[0].name, "core");
  topo->level[0].group_count = rank_count;
  topo->level[0].most = 1;
  return topo;
}

typedef struct numbered {
  int64_t group;
  int64_t rank;
} numbered;

static int by_group_then_rank(const void *a, const void *b) {
  const numbered *x = a, *y = b;
  if (x->group != y->group)
    return x->group < y->group ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_rank(const void *a, const void *b) {
  const numbered *x = a, *y = b;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Gives groups numbers from 0 in the order of their first ranks. Returns how many. */
static int64_t number_groups(const int64_t *group_of, int64_t count, numbered *work, int32_t *number) {
  for (int64_t r = 0; r < count; r++)
    work[r] = (numbered){group_of[r], r};
  qsort(work, (size_t)count, sizeof *work, by_group_then_rank);
  for (int64_t n = 0, first = 0; n < count; n++) { /* each rank's group becomes the group's first rank */
    first = n && work[n].group == work[n - 1].group ? first : n;
    number[work[n].rank] = (int32_t)work[first].rank;
  }
  for (int64_t n = 0; n < count; n++)
    work[n] = (numbered){number[n], n};
  qsort(work, (size_t)count, sizeof *work, by_rank);
  int32_t groups = 0;
  for (int64_t r = 0; r < count; r++)
    number[r] = work[r].group == r ? groups++ : number[work[r].group];
  return groups;
}

#ifndef NDEBUG
/* Whether numbers begin with 0 and grow by one where they are new. */
static bool is_numbered(const tt_topo_level *level, int64_t rank_count) {
  int32_t next = 0;
  for (int64_t r = 0; r < rank_count && level->group_of[r] <= next; r++)
    next += level->group_of[r] == next;
  return next == level->group_count;
}
#endif
static tutti_status check_nesting(const tt_topo_level *outer, const tt_topo_level *inner, int64_t rank_count,
                                  int32_t *seen) {
  for (int64_t g = 0; g < inner->group_count; g++)
    seen[g] = -1;
  for (int64_t r = 0; r < rank_count; r++) {
    int32_t *first = &seen[inner->group_of[r]];
    if (*first >= 0 && *first != outer->group_of[r])
      return tt_fail(TUTTI_ERR_ARGUMENT,
                     "rank %" PRId64 ": its group of level '%s' is not inside one group of level '%s'", r, inner->name,
                     outer->name);
    *first = outer->group_of[r];
  }
  return TUTTI_OK;
}

/* Ranks of the largest group. count: room for one number a group. */
static int64_t largest(const tt_topo_level *level, int64_t rank_count, int32_t *count) {
  int32_t most = 0;
  memset(count, 0, (size_t)level->group_count * sizeof *count);
  for (int64_t r = 0; r < rank_count; r++)
    if (++count[level->group_of[r]] > most)
      most = count[level->group_of[r]];
  return most;
}

tutti_status tt_topo_add(tt_topo *topo, tt_arena *arena, const char *name, const int64_t *group_of) {
  if (topo->level_count == TT_TOPO_LEVELS || strlen(name) >= TT_TOPO_NAME)
    return tt_fail(TUTTI_ERR_ARGUMENT, "level '%s' exceeds the limit of %d levels, or its name is too long", name,
                   TT_TOPO_LEVELS);
  assert(topo->level_count >= 1 && topo->level[topo->level_count - 1].group_of == NULL); /* "core" is the last */
  int core = topo->level_count - 1;
  tt_topo_level level = {.publish = topo->level[core].publish};
  strcpy(level.name, name);
  numbered *work = tt_arena_alloc(arena, (size_t)topo->rank_count, sizeof *work);
  level.group_of = tt_arena_alloc(arena, (size_t)topo->rank_count, sizeof *level.group_of);
  int32_t *seen = tt_arena_alloc(arena, (size_t)topo->rank_count, sizeof *seen);
  if (arena->failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for level '%s' of %" PRId64 " ranks", name, topo->rank_count);
  level.group_count = number_groups(group_of, topo->rank_count, work, level.group_of);
  assert(is_numbered(&level, topo->rank_count));
  level.most = largest(&level, topo->rank_count, seen);
  tutti_status status = core ? check_nesting(&topo->level[core - 1], &level, topo->rank_count, seen) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  assert(core == 0 || topo->level[core - 1].group_count <= level.group_count); /* they nest */
  topo->level[core + 1] = topo->level[core];
  topo->level[core] = level;
  topo->level_count++;
  return TUTTI_OK;
}

/* ---- group maps as text ---- */

/* A number from 0 to INT32_MAX; *rest is what follows it. -1 where none stands there. */
static int64_t read_number(const char *text, const char **rest) {
  char *end;
  if (!isdigit((unsigned char)*text))
    return -1;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  *rest = end;
  return errno == 0 && number <= INT32_MAX ? number : -1;
}

/* Numbers separated by commas; returns how many, -1 where something else stands there. */
static int64_t read_list(const char *text, char end, int64_t limit, int64_t *numbers) {
  int64_t count = 0;
  for (;;) {
    const char *rest;
    int64_t number = read_number(text, &rest);
    if (number < 0)
      return -1;
    if (count < limit && numbers)
      numbers[count] = number;
    count++;
    if (*rest == end && rest[end != '\0'] == '\0')
      return count;
    if (*rest != ',')
      return -1;
    text = rest + 1;
  }
}

static tutti_status bad_map(const char *text, int64_t rank_count) {
  return tt_fail(TUTTI_ERR_ARGUMENT,
                 "group map '%s' does not place %" PRId64 " ranks; write 4x8, 7,8,3,1, cyclic:4 or 0,0,1,1:", text,
                 rank_count);
}

static bool read_product(const char *text, int64_t *groups, int64_t *size) {
  const char *rest;
  *groups = read_number(text, &rest);
  if (*groups <= 0 || *rest != 'x')
    return false;
  *size = read_number(rest + 1, &rest);
  return *size > 0 && !*rest;
}

static tutti_status parse_sizes(const char *text, int64_t rank_count, int64_t *map) {
  int64_t count = read_list(text, '\0', rank_count, map), rank = rank_count;
  if (count < 1 || count > rank_count)
    return bad_map(text, rank_count);
  int64_t total = 0;
  for (int64_t g = 0; g < count; g++) {
    if (map[g] < 1 || map[g] > rank_count)
      return bad_map(text, rank_count);
    total += map[g];
  }
  if (total != rank_count)
    return bad_map(text, rank_count);
  for (int64_t g = count - 1; g >= 0; g--) /* from the end: sizes lie in the map's own memory, none behind its group */
    for (int64_t left = map[g]; left > 0; left--)
      map[--rank] = g;
  assert(rank == 0); /* each has its group */
  return TUTTI_OK;
}

tutti_status tt_topo_parse_map(const char *text, int64_t rank_count, int64_t *map) {
  int64_t groups, size;
  if (read_product(text, &groups, &size)) {
    for (int64_t r = 0; r < rank_count; r++)
      map[r] = r / size;
    return groups * size == rank_count ? TUTTI_OK : bad_map(text, rank_count);
  }
  if (strncmp(text, "cyclic:", 7) == 0) {
    const char *rest;
    groups = read_number(text + 7, &rest);
    for (int64_t r = 0; r < rank_count && groups > 0; r++)
      map[r] = r % groups;
    return groups > 0 && !*rest ? TUTTI_OK : bad_map(text, rank_count);
  }
  if (strchr(text, ':'))
    return read_list(text, ':', rank_count, map) == rank_count ? TUTTI_OK : bad_map(text, rank_count);
  return parse_sizes(text, rank_count, map);
}

int64_t tt_topo_map_size(const char *text) {
  int64_t groups, size, total = 0;
  if (read_product(text, &groups, &size))
    return groups * size;
  if (strncmp(text, "cyclic:", 7) == 0)
    return 0;
  int64_t listed = read_list(text, ':', 0, NULL);
  if (listed > 0)
    return listed;
  if (read_list(text, '\0', 0, NULL) < 0)
    return 0;
  for (const char *rest = text;; rest++) {
    total += read_number(rest, &rest);
    if (!*rest)
      return total;
  }
}

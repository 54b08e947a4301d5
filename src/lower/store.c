/* lower/store.c - vectors that double, and a hash table with open addressing. */
#include "lower/store.h"

#include <assert.h>
#include <string.h>

void *tt_lower_push(tt_arena *arena, void *vector, int64_t *count, int64_t *room, size_t size) {
  assert(*count >= 0 && *count <= *room);
  void **base = vector;
  if (*count == *room) {
    int64_t wider = *room ? 2 * *room : 64;
    void *grown = tt_arena_alloc(arena, (size_t)wider, size);
    if (!grown)
      return NULL;
    if (*count)
      memcpy(grown, *base, (size_t)*count * size);
    *base = grown;
    *room = wider;
  }
  return (char *)*base + (size_t)(*count)++ * size;
}

void *tt_lower_keep(tt_arena *arena, const void *vector, int64_t count, size_t size) {
  void *kept = tt_arena_alloc(arena, (size_t)count, size);
  if (kept && count)
    memcpy(kept, vector, (size_t)count * size);
  return kept;
}

struct tt_map_entry {
  uint64_t key;
  int32_t used, number;
};

/* Where the key is, or could be put. */
static struct tt_map_entry *find(const tt_map *map, uint64_t key) {
  assert(map->room > 0 && (map->room & (map->room - 1)) == 0 && map->count < map->room);
  uint64_t hash = key * 0x9e3779b97f4a7c15u, mask = (uint64_t)map->room - 1;
  uint64_t at = (hash ^ hash >> 32) & mask;
  while (map->entry[at].used && map->entry[at].key != key)
    at = (at + 1) & mask;
  return &map->entry[at];
}

static bool grow(tt_map *map, tt_arena *arena) {
  tt_map wider = {.count = map->count, .room = map->room ? 2 * map->room : 64};
  wider.entry = tt_arena_alloc(arena, (size_t)wider.room, sizeof *wider.entry);
  if (!wider.entry)
    return false;
  for (int64_t n = 0; n < map->room; n++)
    if (map->entry[n].used)
      *find(&wider, map->entry[n].key) = map->entry[n];
  *map = wider;
  return true;
}

int32_t *tt_lower_number(tt_map *map, tt_arena *arena, uint64_t key) {
  if (2 * map->count >= map->room && !grow(map, arena))
    return NULL;
  struct tt_map_entry *entry = find(map, key);
  if (!entry->used) {
    *entry = (struct tt_map_entry){key, 1, 0};
    map->count++;
  }
  return &entry->number;
}

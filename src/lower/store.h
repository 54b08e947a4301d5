/* lower/store.h - vectors and maps that grow in an arena. */
#ifndef TT_LOWER_STORE_H
#define TT_LOWER_STORE_H

#include "base/base.h"

/* Room for one more element at the end of a vector in the arena; NULL where memory is exhausted. */
void *tt_lower_push(tt_arena *arena, void *vector, int64_t *count, int64_t *room, size_t size);
/* A copy of a finished vector, of just its size. */
void *tt_lower_keep(tt_arena *arena, const void *vector, int64_t count, size_t size);

/* Numbers by key; as large as what is in it, whatever the keys. */
typedef struct tt_map {
  struct tt_map_entry *entry;
  int64_t count, room; /* room: a power of two, at least twice the count */
} tt_map;

/* The number that is kept for a key, 0 where it is new; NULL where memory is exhausted. Valid until the next call. */
int32_t *tt_lower_number(tt_map *map, tt_arena *arena, uint64_t key);

#endif

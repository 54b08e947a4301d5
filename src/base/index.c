/* base/index.c - an open hash table from numbers to pointers, with linear probing.
 *
 * Removing moves back what stands behind, so that there are no marks of what was removed and a table in which much
 * comes and goes stays as fast as a new one. */
#include "base/base.h"

#include <assert.h>
#include <stdlib.h>

#define SIZE_MINIMUM 16

static size_t home_of(const tt_index *index, uint64_t key) {
  return (size_t)((key ^ key >> 32) * 0x9e3779b97f4a7c15u >> 32) & (index->size - 1);
}

/* Where the key is or would be. size > 0. */
static size_t place_of(const tt_index *index, uint64_t key) {
  assert(index->size != 0 && (index->size & (index->size - 1)) == 0);
  assert(index->used < index->size); /* a free slot ends each search */
  size_t n = home_of(index, key);
  while (index->slot[n].value != NULL && index->slot[n].key != key)
    n = (n + 1) & (index->size - 1);
  return n;
}

void *tt_index_find(const tt_index *index, uint64_t key) {
  return index->size != 0 ? index->slot[place_of(index, key)].value : NULL;
}

static bool grow(tt_index *index) {
  tt_index larger = {.size = index->size != 0 ? 2 * index->size : SIZE_MINIMUM, .used = index->used};
  larger.slot = calloc(larger.size, sizeof *larger.slot);
  if (larger.slot == NULL)
    return false;
  for (size_t n = 0; n < index->size; n++)
    if (index->slot[n].value != NULL)
      larger.slot[place_of(&larger, index->slot[n].key)] = index->slot[n];
  free(index->slot);
  *index = larger;
  return true;
}

bool tt_index_set(tt_index *index, uint64_t key, void *value) {
  assert(value != NULL); /* it would be a free slot */
  if (2 * index->used >= index->size && !grow(index))
    return false;
  tt_index_slot *slot = &index->slot[place_of(index, key)];
  index->used += slot->value == NULL;
  *slot = (tt_index_slot){key, value};
  return true;
}

void tt_index_remove(tt_index *index, uint64_t key) {
  size_t mask = index->size - 1, gap = index->size != 0 ? place_of(index, key) : 0;
  if (index->size == 0 || index->slot[gap].value == NULL)
    return;
  for (size_t n = (gap + 1) & mask; index->slot[n].value != NULL; n = (n + 1) & mask) {
    size_t from_home = (n - home_of(index, index->slot[n].key)) & mask;
    if (from_home < ((n - gap) & mask)) /* its home lies behind the gap */
      continue;
    index->slot[gap] = index->slot[n];
    gap = n;
  }
  index->slot[gap].value = NULL;
  assert(index->used > 0);
  index->used--;
}

void tt_index_finish(tt_index *index) {
  free(index->slot);
  *index = (tt_index){0};
}

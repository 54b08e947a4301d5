/* transport/shm/object.c - the directory: what several ranks open by name, made by whoever comes first.
 *
 * Buckets of singly linked blocks, under the segment's lock. An object lives until all of its ends have opened and
 * closed it; it does not matter in which order, or whether the first has left before the last comes. An end may also
 * never come, since what a rank opens depends on what it has to send: an object with a parent, which all of its ranks
 * open, goes with that one. */
#include "transport/shm/segment.h"

#include <assert.h>

static uint64_t *bucket_of(tt_shm_segment *segment, tt_shm_key key) {
  return &segment->head->bucket[tt_hash(key.id, &key.group, sizeof key.group) % TT_SHM_BUCKETS];
}

static tt_shm_block *find(tt_shm_segment *segment, const tt_shm_object_spec *spec) {
  for (uint64_t offset = *bucket_of(segment, spec->key); offset != 0;) {
    tt_shm_block *block = tt_shm_at(segment, offset);
    if (block->kind == spec->kind && block->key.id == spec->key.id && block->key.group == spec->key.group)
      return block;
    offset = block->next;
  }
  return NULL;
}

static tutti_status make(tt_shm_segment *segment, const tt_shm_object_spec *spec, tt_shm_block **block) {
  assert(spec->kind == TT_SHM_RING || spec->kind == TT_SHM_CELLS);
  tutti_status status = tt_shm_block_alloc(segment, spec->bytes, spec->backed, block);
  if (status != TUTTI_OK)
    return status;
  (*block)->kind = spec->kind;
  (*block)->key = spec->key;
  (*block)->end_count = spec->end_count;
  (*block)->parent = spec->parent != NULL ? tt_shm_offset(segment, spec->parent) : 0;
  if (spec->parent != NULL)
    spec->parent->children++;
  if (spec->init != NULL)
    spec->init(*block, spec->argument);
  uint64_t *bucket = bucket_of(segment, spec->key);
  (*block)->next = *bucket;
  atomic_thread_fence(memory_order_release); /* a rank killed here leaves a whole object or none */
  *bucket = tt_shm_offset(segment, *block);
  return TUTTI_OK;
}

tutti_status tt_shm_object_open(tt_shm_segment *segment, const tt_shm_object_spec *spec, tt_shm_block **block) {
  tutti_status status = tt_shm_lock(segment);
  if (status != TUTTI_OK)
    return status;
  tt_shm_block *found = find(segment, spec);
  if (found == NULL)
    status = make(segment, spec, &found);
  if (status == TUTTI_OK && spec->join != NULL)
    status = spec->join(found, spec->argument);
  if (status == TUTTI_OK) {
    assert(found->opened < found->end_count); /* each end opens once */
    found->opened++;
    *block = found;
  }
  tt_shm_unlock(segment);
  return status;
}

static void unlink_block(tt_shm_segment *segment, const tt_shm_block *block) {
  uint64_t *at = bucket_of(segment, block->key);
  while (*at != 0 && *at != tt_shm_offset(segment, block))
    at = &((tt_shm_block *)tt_shm_at(segment, *at))->next;
  if (*at != 0)
    *at = block->next;
}

/* Out of the directory, before `list`. */
static void take_out(tt_shm_segment *segment, tt_shm_block *block, tt_shm_block **list) {
  assert(tt_shm_has_lock(segment) && block->kind != TT_SHM_FREE);
  unlink_block(segment, block);
  if (block->parent != 0)
    ((tt_shm_block *)tt_shm_at(segment, block->parent))->children--;
  block->next = *list != NULL ? tt_shm_offset(segment, *list) : 0;
  *list = block;
}

static void take_orphans(tt_shm_segment *segment, const tt_shm_block *parent, tt_shm_block **list) {
  for (int64_t n = 0; n < TT_SHM_BUCKETS && parent->children > 0; n++)
    for (uint64_t offset = segment->head->bucket[n]; offset != 0;) {
      tt_shm_block *block = tt_shm_at(segment, offset);
      offset = block->next;
      if (block->parent != tt_shm_offset(segment, parent))
        continue;
      if (block->opened == block->closed)
        take_out(segment, block, list);
      else
        block->parent = 0;
    }
}

static tt_shm_block *next_of(const tt_shm_segment *segment, const tt_shm_block *block) {
  return block->next != 0 ? tt_shm_at(segment, block->next) : NULL;
}

/* The block, and all that goes with it. */
static void take_family(tt_shm_segment *segment, tt_shm_block *block, tt_shm_block **list) {
  tt_shm_block *taken = NULL;
  take_out(segment, block, &taken);
  for (tt_shm_block *one; (one = taken) != NULL; *list = one) {
    taken = next_of(segment, one);
    take_orphans(segment, one, &taken);
    one->next = *list != NULL ? tt_shm_offset(segment, *list) : 0;
  }
}

void tt_shm_object_close(tt_shm_segment *segment, tt_shm_block *block) {
  tt_shm_block *list = NULL;
  if (!tt_shm_lock_to_free(segment))
    return;
  assert(block->closed < block->opened); /* each end closes what it has opened, once */
  if (++block->closed == block->end_count)
    take_family(segment, block, &list);
  tt_shm_unlock(segment);
  while (list != NULL) {
    tt_shm_block *next = next_of(segment, list);
    tt_shm_block_give_back(segment, list);
    list = next;
  }
}

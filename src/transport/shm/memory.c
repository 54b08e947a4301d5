/* transport/shm/memory.c - shared memory for others: cells that a group maps, buffers that peers read in place.
 *
 * Cells are an object of the directory: a line each at least, so that no two ranks write one line. A buffer is a block
 * whose first line carries the block's own data; all of it is backed by memory before the caller gets it. What is freed
 * is kept for a while (kept.c). */
#include "transport/shm/self.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define EPOCH (((uint64_t)1 << 19) - 1) /* the lowest bits of the id of an epoch's cells */

struct tt_shm_cells {
  tt_shm_block *block;
  tt_shm_cells *after; /* another one of the same id */
};

static tutti_status check_ranks(const tt_shm *self, const int64_t *ranks, int64_t count) {
  if (count < 1 || count > self->rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "cells for %" PRId64 " ranks in a job of %" PRId64, count, self->rank_count);
  for (int64_t n = 0; n < count; n++)
    if (ranks[n] < 0 || ranks[n] >= self->rank_count)
      return tt_fail(TUTTI_ERR_ARGUMENT, "cells for rank %" PRId64 " in a job of %" PRId64, ranks[n], self->rank_count);
  return TUTTI_OK;
}

/* Of a persistent request, of an epoch, or of a communicator. */
tt_shm_block *tt_shm_parent_of(const tt_shm *self, uint64_t id) {
  const tt_shm_cells *cells = tt_index_find(&self->cells, id >> 16 << 16);
  if (cells == NULL)
    cells = tt_index_find(&self->cells, id | EPOCH);
  if (cells == NULL)
    cells = tt_index_find(&self->cells, id >> 32 << 32);
  return cells != NULL ? cells->block : NULL;
}

/* The same for cells, which others may go with in their turn. */
static tt_shm_block *parent_of_cells(const tt_shm *self, uint64_t id) {
  if ((uint16_t)id == 0)
    return NULL;
  return tt_shm_parent_of(self, (id | EPOCH) == id ? id >> 32 << 32 : id);
}

/* All have opened it, this rank too, but not all have closed it. */
static tutti_status join_cells(tt_shm_block *block, void *argument) {
  const tt_shm *self = argument;
  if (block->opened < block->end_count)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_ARGUMENT,
                 "rank %" PRId64 " opened cells %" PRIx64 " before, and other ranks still have them open", self->rank,
                 block->key.id);
}

static tutti_status keep(tt_shm *self, uint64_t id, tt_shm_cells *cells) {
  cells->after = tt_index_find(&self->cells, id);
  if (tt_index_set(&self->cells, id, cells))
    return TUTTI_OK;
  tt_shm_object_close(self->segment, cells->block);
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for the handle of cells");
}

tutti_status tt_shm_cells_open(void *self, uint64_t id, const int64_t *ranks, int64_t count, size_t bytes,
                               void **cell) {
  tt_shm *shm = self;
  tutti_status status = check_ranks(shm, ranks, count);
  if (status != TUTTI_OK)
    return status;
  if (bytes > shm->segment->bytes / (uint64_t)count)
    return tt_fail(TUTTI_ERR_MEMORY, "the shared segment has no room for %" PRId64 " cells of %zu bytes", count, bytes);
  tt_shm_cells *cells = calloc(1, sizeof *cells);
  if (cells == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the handle of cells");
  uint64_t stride = tt_shm_round(bytes, TT_SHM_LINE);
  uint64_t size = sizeof(tt_shm_block) + (uint64_t)count * stride;
  tt_shm_object_spec object = {.kind = TT_SHM_CELLS,
                               .key = {id, tt_hash(bytes, ranks, (size_t)count * sizeof *ranks)},
                               .parent = parent_of_cells(shm, id),
                               .end_count = (uint32_t)count,
                               .bytes = size,
                               .backed = size,
                               .join = join_cells,
                               .argument = shm};
  status = tt_shm_object_open(shm->segment, &object, &cells->block);
  if (status == TUTTI_OK)
    status = keep(shm, id, cells);
  if (status != TUTTI_OK) {
    free(cells);
    return status;
  }
  for (int64_t n = 0; n < count; n++)
    cell[n] = (char *)(cells->block + 1) + (uint64_t)n * stride;
  return TUTTI_OK;
}

static void close_all(tt_shm *self, tt_shm_cells *cells) {
  for (tt_shm_cells *after; cells != NULL; cells = after) {
    after = cells->after;
    tt_shm_object_close(self->segment, cells->block);
    free(cells);
  }
}

void tt_shm_cells_close(void *self, uint64_t id) {
  tt_shm *shm = self;
  tt_shm_cells *cells = tt_index_find(&shm->cells, id);
  tt_index_remove(&shm->cells, id);
  close_all(shm, cells);
}

void tt_shm_cells_finish(tt_shm *self) {
  for (size_t n = 0; n < self->cells.size; n++)
    close_all(self, self->cells.slot[n].value);
  tt_index_finish(&self->cells);
}

static tutti_status make_memory(tt_shm_segment *segment, uint64_t bytes, tt_shm_block **block) {
  tutti_status status = tt_shm_lock(segment);
  if (status != TUTTI_OK)
    return status;
  status = tt_shm_block_alloc(segment, bytes, sizeof **block, block);
  tt_shm_unlock(segment);
  if (status != TUTTI_OK)
    return status;
  (*block)->kind = TT_SHM_MEMORY;
  status = tt_shm_block_back(segment, *block, bytes);
  if (status == TUTTI_OK)
    (*block)->held = tt_shm_round(bytes, TT_SHM_PAGE);
  else
    tt_shm_block_give_back(segment, *block);
  return status;
}

tutti_status tt_shm_alloc(void *self, size_t bytes, void **memory) {
  tt_shm *shm = self;
  tt_shm_segment *segment = shm->segment;
  if (bytes > segment->bytes)
    return tt_fail(TUTTI_ERR_MEMORY, "%zu bytes exceed the shared segment of %" PRIu64, bytes, segment->bytes);
  uint64_t whole = sizeof(tt_shm_block) + bytes;
  tt_shm_block *block = tt_shm_kept_take(shm, whole);
  if (block == NULL) {
    tutti_status status = make_memory(segment, whole, &block);
    if (status == TUTTI_ERR_MEMORY && tt_shm_kept_drop(shm))
      status = make_memory(segment, whole, &block);
    if (status != TUTTI_OK)
      return status;
    tt_shm_kept_count(shm, block);
  }
  *memory = block + 1;
  return TUTTI_OK;
}

void tt_shm_free(void *self, void *memory) {
  if (memory != NULL) {
    assert(((const tt_shm_block *)memory - 1)->kind == TT_SHM_MEMORY); /* it was not freed before */
    tt_shm_kept_give(self, (tt_shm_block *)memory - 1);
  }
}

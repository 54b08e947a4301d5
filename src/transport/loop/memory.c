/* transport/loop/memory.c - the loop's shared cells and the buffers that peers may read in place. */
#include "transport/loop/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

static loop_cells *find_cells(tt_loop *loop, uint64_t id, const int64_t *ranks, int64_t count) {
  loop_cells *cells = loop->cells;
  while (cells &&
         (cells->id != id || cells->count != count || memcmp(cells->ranks, ranks, (size_t)count * sizeof *ranks) != 0))
    cells = cells->next;
  return cells;
}

static void free_cells(loop_cells *cells) {
  if (!cells)
    return;
  free(cells->memory);
  free(cells->ranks);
  free(cells);
}

static loop_cells *make_cells(tt_loop *loop, uint64_t id, const int64_t *ranks, int64_t count, size_t bytes) {
  loop_cells *cells = calloc(1, sizeof *cells);
  if (!cells)
    return NULL;
  *cells = (loop_cells){.id = id, .count = count, .bytes = round_up(bytes)};
  cells->memory = aligned_alloc(64, (size_t)count * cells->bytes);
  cells->ranks = malloc((size_t)count * sizeof *ranks);
  if (!cells->memory || !cells->ranks) {
    free_cells(cells);
    return NULL;
  }
  memset(cells->memory, 0, (size_t)count * cells->bytes);
  memcpy(cells->ranks, ranks, (size_t)count * sizeof *ranks);
  cells->next = loop->cells;
  loop->cells = cells;
  return cells;
}

tutti_status tt_loop_cells_open(void *self, uint64_t id, const int64_t *ranks, int64_t count, size_t bytes,
                                void **cell) {
  loop_end *end = self;
  pthread_mutex_lock(&end->loop->mutex);
  loop_cells *cells = find_cells(end->loop, id, ranks, count);
  if (!cells)
    cells = make_cells(end->loop, id, ranks, count, bytes);
  pthread_mutex_unlock(&end->loop->mutex);
  if (!cells)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " cells of %zu bytes", count, bytes);
  for (int64_t n = 0; n < count; n++)
    cell[n] = cells->memory + (size_t)n * cells->bytes;
  return TUTTI_OK;
}

static bool has_rank(const loop_cells *cells, int64_t rank) {
  for (int64_t n = 0; n < cells->count; n++)
    if (cells->ranks[n] == rank)
      return true;
  return false;
}

void tt_loop_cells_close(void *self, uint64_t id) {
  loop_end *end = self;
  pthread_mutex_lock(&end->loop->mutex);
  loop_cells **at = &end->loop->cells;
  while (*at && ((*at)->id != id || !has_rank(*at, end->rank)))
    at = &(*at)->next;
  loop_cells *gone = *at && ++(*at)->closed == (*at)->count ? *at : NULL;
  if (gone)
    *at = gone->next;
  free_cells(gone);
  pthread_mutex_unlock(&end->loop->mutex);
}

tutti_status tt_loop_alloc(void *self, size_t bytes, void **memory) {
  loop_end *end = self;
  loop_memory *block = malloc(sizeof *block);
  unsigned char *base = block ? aligned_alloc(64, round_up(bytes ? bytes : 1)) : NULL;
  if (!base) {
    free(block);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a buffer of %zu bytes", bytes);
  }
  pthread_mutex_lock(&end->loop->mutex);
  *block = (loop_memory){.base = base, .bytes = bytes, .next = end->loop->memory};
  end->loop->memory = block;
  pthread_mutex_unlock(&end->loop->mutex);
  *memory = base;
  return TUTTI_OK;
}

static void free_memory(loop_memory **at) {
  loop_memory *gone = *at;
  *at = gone->next;
  free(gone->base);
  free(gone);
}

void tt_loop_free(void *self, void *memory) {
  loop_end *end = self;
  pthread_mutex_lock(&end->loop->mutex);
  loop_memory **at = &end->loop->memory;
  while (*at && (*at)->base != memory)
    at = &(*at)->next;
  if (*at)
    free_memory(at);
  pthread_mutex_unlock(&end->loop->mutex);
}

bool tt_loop_owns(tt_loop *loop, const void *data, size_t bytes) {
  uintptr_t first = (uintptr_t)data;
  bool owns = false;
  pthread_mutex_lock(&loop->mutex);
  for (const loop_memory *block = loop->memory; block && !owns; block = block->next)
    owns = first >= (uintptr_t)block->base && first + bytes <= (uintptr_t)block->base + block->bytes;
  pthread_mutex_unlock(&loop->mutex);
  return owns;
}

void tt_loop_memory_finish(tt_loop *loop) {
  while (loop->cells) {
    loop_cells *next = loop->cells->next;
    free_cells(loop->cells);
    loop->cells = next;
  }
  while (loop->memory)
    free_memory(&loop->memory);
}

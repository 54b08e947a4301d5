/* base/arena.c - memory of one compilation: a list of chunks, each twice as large as the one before, freed at once.
 *
 * Chunks come zeroed and are never reused, so that an allocation is an addition. What is large beside the next chunk
 * gets one of its own, of just its size. A failure is remembered in the arena: builders look once at the end instead of
 * after each allocation. Large chunks ask for huge pages, which makes first touching them about ten times cheaper. */
#include "base/base.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 16, CHUNK_MINIMUM = 1024, CHUNK_MAXIMUM = 8 << 20, HUGE_PAGE = 2 << 20 };

typedef struct tt_arena_chunk {
  struct tt_arena_chunk *next; /* older */
  size_t capacity;
  _Alignas(ALIGNMENT) unsigned char data[];
} tt_arena_chunk;

void tt_arena_init(tt_arena *arena) { *arena = (tt_arena){0}; }

void tt_arena_finish(tt_arena *arena) {
  for (tt_arena_chunk *chunk = arena->chunks; chunk != NULL;) {
    tt_arena_chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
  tt_arena_init(arena);
}

static void *zeroed(size_t bytes) {
  void *memory;
  if (bytes < HUGE_PAGE)
    return calloc(1, bytes);
  if (posix_memalign(&memory, HUGE_PAGE, bytes) != 0)
    return NULL;
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memset(memory, 0, bytes);
}

/* Of the next chunk that takes many allocations. */
static size_t next_capacity(const tt_arena *arena) {
  if (arena->chunks == NULL)
    return CHUNK_MINIMUM;
  size_t twice = 2 * arena->chunks->capacity;
  return twice < CHUNK_MAXIMUM ? twice : CHUNK_MAXIMUM;
}

static tt_arena_chunk *add_chunk(tt_arena *arena, size_t capacity) {
  tt_arena_chunk *chunk = zeroed(sizeof *chunk + capacity);
  if (chunk == NULL) {
    arena->failed = true;
    return NULL;
  }
  chunk->capacity = capacity;
  arena->reserved_bytes += capacity;
  return chunk;
}

/* The newest chunk goes on taking small allocations. */
static void *alloc_alone(tt_arena *arena, size_t need) {
  tt_arena_chunk *chunk = add_chunk(arena, need);
  if (chunk == NULL)
    return NULL;
  assert(need % ALIGNMENT == 0);
  chunk->next = arena->chunks->next;
  arena->chunks->next = chunk;
  return chunk->data;
}

static bool begin_chunk(tt_arena *arena, size_t capacity) {
  tt_arena_chunk *chunk = add_chunk(arena, capacity);
  if (chunk == NULL)
    return false;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  arena->used_bytes = 0;
  return true;
}

/* Bytes to take for count * size, a positive multiple of the alignment; 0 where the sum is out of reach. */
static size_t rounded(size_t count, size_t size) {
  if (size != 0 && count > (SIZE_MAX / 2) / size)
    return 0;
  size_t bytes = count * size + (count == 0 || size == 0);
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *tt_arena_alloc(tt_arena *arena, size_t count, size_t size) {
  size_t need = rounded(count, size), capacity = next_capacity(arena);
  if (need == 0) {
    arena->failed = true;
    return NULL;
  }
  bool fits = arena->chunks != NULL && need <= arena->chunks->capacity - arena->used_bytes;
  if (!fits && arena->chunks != NULL && need > capacity / 4)
    return alloc_alone(arena, need);
  if (!fits && !begin_chunk(arena, need < capacity ? capacity : need))
    return NULL;
  void *memory = arena->chunks->data + arena->used_bytes;
  arena->used_bytes += need;
  assert(arena->used_bytes <= arena->chunks->capacity && (uintptr_t)memory % ALIGNMENT == 0);
  return memory;
}

char *tt_arena_format(tt_arena *arena, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *text = length < 0 ? NULL : tt_arena_alloc(arena, (size_t)length + 1, 1);
  if (text != NULL)
    vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(arguments);
  return text;
}

/* base/arena.c - memory of one compilation: a list of chunks, each twice as large as all before it, freed at once.
 *
 * Chunks come zeroed and are never reused, so that an allocation is an addition. A failure is remembered in the arena:
 * builders look once at the end instead of after each allocation. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

enum { ALIGNMENT = 16, CHUNK_MINIMUM = 4096, CHUNK_MAXIMUM = 1 << 20 };

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

static size_t chunk_capacity(const tt_arena *arena, size_t need) {
  size_t capacity = arena->reserved_bytes;
  if (capacity < CHUNK_MINIMUM)
    capacity = CHUNK_MINIMUM;
  if (capacity > CHUNK_MAXIMUM)
    capacity = CHUNK_MAXIMUM;
  return capacity < need ? need : capacity;
}

static bool add_chunk(tt_arena *arena, size_t need) {
  size_t capacity = chunk_capacity(arena, need);
  tt_arena_chunk *chunk = calloc(1, sizeof *chunk + capacity);
  if (chunk == NULL)
    return false;
  chunk->next = arena->chunks;
  chunk->capacity = capacity;
  arena->chunks = chunk;
  arena->used_bytes = 0;
  arena->reserved_bytes += capacity;
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
  size_t need = rounded(count, size);
  bool fits = arena->chunks != NULL && need <= arena->chunks->capacity - arena->used_bytes;
  if (need == 0 || (!fits && !add_chunk(arena, need))) {
    arena->failed = true;
    return NULL;
  }
  void *memory = arena->chunks->data + arena->used_bytes;
  arena->used_bytes += need;
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

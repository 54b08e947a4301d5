/* bindings/heap/share.c - from private to shared and back.
 *
 * A block moves into the file when calls have used twice its length: what only one call ever uses is not worth the
 * copy. While it moves nobody may write to it. Where the call has all of it, that holds, since nobody else may write to
 * what a call uses; else other threads are made to wait (hold.c), or there must be none. */
#include "heap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ASK_MS = 100, PAGE = 4096, USES = 2 };

/* Threads of this process; 0: the system does not say. Without malloc. */
static long count_threads(void) {
  char text[512] = "";
  int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0)
    close(fd);
  const char *at = got > 0 ? strrchr(text, ')') : NULL; /* field 2 ends there, threads are field 20 */
  for (int field = 2; at && field < 20; field++)
    at = strchr(at + 1, ' ');
  return at ? strtol(at, NULL, 10) : 0;
}

/* Asks at most ten times a second where there are others. */
static bool is_alone(void) {
  static uint32_t asked_ms;
  uint32_t now_ms = tt_heap_now_ms();
  if (now_ms - asked_ms < ASK_MS)
    return false;
  if (count_threads() == 1)
    return true;
  asked_ms = now_ms;
  return false;
}

void tt_heap_set_run(uint32_t first) {
  for (uint32_t n = 0; n < tt_heap_of(first)->count; n++)
    tt_heap_of(first + n)->run = first;
}

static void set_kind(uint32_t first, heap_kind kind, uint32_t place) {
  heap_granule *run = tt_heap_of(first);
  run->kind = tt_heap_of(first + run->count - 1)->kind = (uint8_t)kind;
  run->place = place;
}

/* What is zero, as what was never touched, costs no memory at its new place. */
static void copy(unsigned char *to, const unsigned char *from, size_t bytes) {
  static const unsigned char zero[PAGE];
  for (size_t done = 0; done < bytes; done += PAGE) {
    size_t piece = bytes - done < PAGE ? bytes - done : PAGE;
    if (memcmp(from + done, zero, piece) != 0)
      memcpy(to + done, from + done, piece);
  }
}

/* By a map over the old one, which hooks of MPIs and UCX take for the end of what was there. (UCX 1.13 stands in front
 * of mremap and loses its last argument.) */
static bool move_there(uint32_t first, uint32_t place) {
  const heap_granule *run = tt_heap_of(first);
  void *made = tt_heap_place_map(NULL, place, run->count, true);
  if (!made)
    return false;
  copy(made, tt_heap_at(first), run->bytes);
  bool moved = tt_heap_place_map(tt_heap_at(first), place, run->count, true) != NULL;
  munmap(made, tt_heap_size(run->count));
  return moved;
}

static bool share(uint32_t first) {
  const heap_granule *run = tt_heap_of(first);
  uint32_t count = run->count, place = tt_heap_place_take(count);
  if (place == HEAP_NONE)
    return false;
  if (!move_there(first, place)) {
    tt_heap_place_give(place, count, false);
    return false;
  }
  if (run->kind == HEAP_FROZEN)
    tt_heap_place_give(run->place, count, true);
  set_kind(first, HEAP_SHARED, place);
  tt_heap_set_run(first);
  return true;
}

/* The live run that those bytes lie in; HEAP_NONE: none. */
static uint32_t find_run(const void *data, size_t bytes) {
  uint32_t number = tt_heap_number(data);
  if (number >= tt_heap.used)
    return HEAP_NONE;
  while (number > 0 && !tt_heap_of(number)->first)
    number--;
  const heap_granule *run = tt_heap_of(number);
  size_t at = (size_t)((const unsigned char *)data - (unsigned char *)tt_heap_at(number));
  bool inside = run->state == HEAP_LIVE && at < run->bytes && bytes <= run->bytes - at;
  return inside ? number : HEAP_NONE;
}

/* Whether they are shared, by what was said when they became so. */
static bool is_shared(const void *data, size_t bytes, uint32_t *first) {
  uint32_t number = tt_heap_number(data), last = tt_heap_number((const unsigned char *)data + bytes - 1);
  if (last >= tt_heap.used)
    return false;
  *first = tt_heap_of(number)->run;
  const heap_granule *run = tt_heap_of(*first);
  return *first <= number && run->first && run->state == HEAP_LIVE && run->kind == HEAP_SHARED &&
         last - *first < run->count;
}

static bool is_ours(const void *data, size_t bytes) {
  size_t at = (size_t)((const unsigned char *)data - tt_heap.base);
  return at < tt_heap.bytes && bytes > 0 && bytes <= tt_heap.bytes - at && !tt_heap.child;
}

/* Moves it, if nobody can write to it meanwhile. whole: the call uses all of it. */
static void share_safely(uint32_t first, bool whole) {
  heap_hold held = {.fd = -1};
  if (whole || is_alone() || tt_heap_hold(&held, tt_heap_at(first), tt_heap_size(tt_heap_of(first)->count)))
    share(first);
  tt_heap_let_go(&held);
}

void tt_heap_use(const void *data, size_t bytes) {
  uint32_t first;
  if (!is_ours(data, bytes))
    return;
  pthread_mutex_lock(&tt_heap.lock);
  if (!is_shared(data, bytes, &first) && (first = find_run(data, bytes)) != HEAP_NONE) {
    heap_granule *run = tt_heap_of(first);
    run->used += bytes;
    if (run->used >= USES * run->bytes) {
      share_safely(first, bytes == run->bytes);
      run->used = run->kind == HEAP_SHARED ? run->used : 0; /* not again with each call */
    }
  }
  pthread_mutex_unlock(&tt_heap.lock);
}

bool tt_heap_locate(const void *data, size_t bytes, uint64_t *offset) {
  uint32_t first;
  if (!is_ours(data, bytes))
    return false;
  pthread_mutex_lock(&tt_heap.lock);
  bool found = is_shared(data, bytes, &first);
  if (found)
    *offset = (uint64_t)tt_heap_of(first)->place * HEAP_GRANULE +
              (uint64_t)((const unsigned char *)data - (unsigned char *)tt_heap_at(first));
  pthread_mutex_unlock(&tt_heap.lock);
  return found;
}

bool tt_heap_empty(uint32_t first) {
  heap_granule *run = tt_heap_of(first);
  size_t bytes = tt_heap_size(run->count);
  if (run->kind == HEAP_PRIVATE)
    return madvise(tt_heap_at(first), bytes, MADV_DONTNEED) == 0;
  if (run->kind == HEAP_SHARED && madvise(tt_heap_at(first), bytes, MADV_REMOVE) != 0)
    return false;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(tt_heap_at(first), bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
    return false;
  tt_heap_place_give(run->place, run->count, run->kind == HEAP_FROZEN);
  set_kind(first, HEAP_PRIVATE, 0);
  run->used = 0;
  return true;
}

/* bindings/heap/share.c - from private to shared and back.
 *
 * A block moves into the file when calls have used twice its length: what only one call ever uses is not worth the
 * copy. While it moves nobody may write to it: another thread, a device, another process. Where the call has all of
 * the block, that holds, since nobody else may write to what a call uses. With TUTTI_HEAP=parts blocks move of which a
 * call has a part, too: threads that write to the rest wait meanwhile (hold.c), but devices do not. */
#include "heap.h"

#include <string.h>
#include <sys/mman.h>

#ifndef MADV_DONTNEED_LOCKED /* headers may be too old for it */
#define MADV_DONTNEED_LOCKED 24
#endif
#define PIECE_BYTES ((size_t)4 << 20) /* of a move: so much is there twice */
enum { PAGE = 4096, USES = 2, COUNT_MS = 100 };
enum { MOVED_MOST = 16384 }; /* each is an area of the system's, which by default allows a process four times as many */

static uint32_t in_file;   /* runs at most, as far as is known; under the lock */
static atomic_int lenders; /* calls that lend, or may: release as one ends, acquire before a frozen block moves */

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
void tt_heap_copy(unsigned char *to, const unsigned char *from, size_t bytes) {
  static const unsigned char zero[PAGE];
  for (size_t done = 0; done < bytes; done += PAGE) {
    size_t piece = bytes - done < PAGE ? bytes - done : PAGE;
    if (memcmp(from + done, zero, piece) != 0)
      memcpy(to + done, from + done, piece);
  }
}

/* By a map over the old one, which hooks of MPIs and UCX take for the end of what was there. (UCX 1.13 stands in front
 * of mremap and loses its last argument.) false: it did not begin. */
static bool move_there(uint32_t first, uint32_t place) {
  const heap_granule *run = tt_heap_of(first);
  const uint32_t step = PIECE_BYTES / HEAP_GRANULE;
  unsigned char *made = tt_heap_place_map(NULL, place, tt_heap_size(run->count), true);
  bool moved = made != NULL;
  for (uint32_t done = 0; moved && done < run->count; done += step) {
    uint32_t count = run->count - done < step ? run->count - done : step;
    size_t at = tt_heap_size(done), left = at < run->bytes ? run->bytes - at : 0, all = tt_heap_size(count);
    tt_heap_copy(made + at, tt_heap_at(first + done), left < all ? left : all);
    moved = tt_heap_place_map(tt_heap_at(first + done), place + done, all, true) != NULL;
    if (!moved && done > 0)
      tt_heap_die("the system has no memory to map the rest of a block\n");
  }
  if (made)
    munmap(made, tt_heap_size(run->count));
  return moved;
}

/* Those that have moved are counted up; before one is refused, those that are still there are, now and then. */
static bool may_move(void) {
  static uint32_t counted_ms;
  uint32_t now_ms = in_file < MOVED_MOST ? 0 : tt_heap_now_ms();
  if (in_file < MOVED_MOST || now_ms - counted_ms < COUNT_MS)
    return in_file < MOVED_MOST;
  counted_ms = now_ms;
  in_file = 0;
  for (uint32_t n = 0; n < tt_heap.used; n += tt_heap_of(n)->count)
    in_file += tt_heap_of(n)->kind != HEAP_PRIVATE;
  return in_file < MOVED_MOST;
}

static bool share(uint32_t first) {
  heap_granule *run = tt_heap_of(first);
  if (run->kind == HEAP_FROZEN ? !tt_heap_place_may_leave() : !may_move())
    return false;
  uint32_t count = run->count, place = tt_heap_place_take(count);
  if (place == HEAP_NONE)
    return false;
  if (!move_there(first, place)) {
    tt_heap_place_leave(place, count, tt_heap_forks()); /* with what was copied */
    return false;
  }
  if (run->kind == HEAP_FROZEN)
    tt_heap_place_leave(run->place, count, run->taken);
  in_file += run->kind == HEAP_PRIVATE;
  set_kind(first, HEAP_SHARED, place);
  run->taken = tt_heap_forks();
  tt_heap_set_run(first);
  return true;
}

static bool is_in(uint32_t first, uint32_t number) {
  const heap_granule *run = tt_heap_of(first);
  return first <= number && run->first && run->state == HEAP_LIVE && number - first < run->count;
}

/* The live run that this byte lies in; HEAP_NONE: none. Granules of one that was searched for know it from then on. */
static uint32_t find_run(const unsigned char *data) {
  uint32_t number = tt_heap_number(data), first = number;
  if (number >= tt_heap.used)
    return HEAP_NONE;
  if (is_in(tt_heap_of(number)->run, number)) {
    first = tt_heap_of(number)->run;
  } else {
    while (first > 0 && !tt_heap_of(first)->first)
      first--;
    if (!is_in(first, number))
      return HEAP_NONE;
    tt_heap_set_run(first);
  }
  size_t at = (size_t)(data - (unsigned char *)tt_heap_at(first));
  return at < tt_heap_of(first)->bytes ? first : HEAP_NONE;
}

static bool is_first(const unsigned char *data) {
  uint32_t number = tt_heap_number(data);
  return number < tt_heap.used && tt_heap_of(number)->first && data == tt_heap_at(number);
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

void tt_heap_lending(bool begins) { atomic_fetch_add_explicit(&lenders, begins ? 1 : -1, memory_order_release); }

/* Whether nobody reads at the place of a frozen block: the call that asks has not lent anything yet. */
static bool nobody_else_lends(void) { return atomic_load_explicit(&lenders, memory_order_acquire) <= 1; }

static void count_usable(const heap_map *map, void *bytes) {
  if ((map->prot & PROT_READ) && (map->prot & PROT_WRITE))
    *(size_t *)bytes += (size_t)(map->to - map->from);
}

/* All of it, to read and write: what calls do not use of it may be guarded. */
static bool is_usable(uint32_t first) {
  size_t all = tt_heap_size(tt_heap_of(first)->count), bytes = 0;
  return tt_heap_each_map(tt_heap_at(first), all, count_usable, &bytes) && bytes == all;
}

static bool hold(heap_hold *held, uint32_t first) {
  return is_usable(first) && tt_heap_hold(held, tt_heap_at(first), tt_heap_size(tt_heap_of(first)->count));
}

/* Moves it, if nobody can write to it or read it meanwhile. whole: the call uses all of it. */
static void share_safely(uint32_t first, bool whole) {
  const heap_granule *run = tt_heap_of(first);
  heap_hold held = {.fd = -1};
  if (run->kind == HEAP_FROZEN && !nobody_else_lends())
    return;
  if (whole || (tt_heap.parts && hold(&held, first)))
    share(first);
  tt_heap_let_go(&held);
}

static void use_run(uint32_t first, size_t bytes) {
  heap_granule *run = tt_heap_of(first);
  bool whole = bytes == run->bytes;
  if (run->kind == HEAP_SHARED || (!whole && !tt_heap.parts))
    return;
  run->used += bytes;
  if (run->used < USES * run->bytes)
    return;
  share_safely(first, whole);
  run->used = run->kind == HEAP_SHARED ? run->used : 0; /* not again with each call */
}

/* All of them, one behind the other. Without `parts` a call that does not begin where a block does uses no block. */
static void use_runs(const unsigned char *data, const unsigned char *end) {
  while (data < end && (tt_heap.parts || is_first(data))) {
    uint32_t first = find_run(data);
    if (first == HEAP_NONE)
      return;
    size_t left = tt_heap_of(first)->bytes - (size_t)(data - (unsigned char *)tt_heap_at(first));
    size_t bytes = left < (size_t)(end - data) ? left : (size_t)(end - data);
    use_run(first, bytes);
    data += bytes;
  }
}

void tt_heap_use(const void *data, size_t bytes) {
  uint32_t first;
  if (!is_ours(data, bytes))
    return;
  tt_heap_lock();
  if (!is_shared(data, bytes, &first))
    use_runs(data, (const unsigned char *)data + bytes);
  tt_heap_unlock();
}

bool tt_heap_locate(const void *data, size_t bytes, uint64_t *offset) {
  uint32_t first;
  if (!is_ours(data, bytes))
    return tt_heap_locate_static(data, bytes, offset);
  tt_heap_lock();
  bool found = is_shared(data, bytes, &first);
  if (found)
    *offset = (uint64_t)tt_heap_of(first)->place * HEAP_GRANULE +
              (uint64_t)((const unsigned char *)data - (unsigned char *)tt_heap_at(first));
  tt_heap_unlock();
  return found;
}

/* Under mlockall no other advice gives pages back, and what is mapped anew has pages at once. */
static bool drop(void *at, size_t bytes) {
  return madvise(at, bytes, MADV_DONTNEED) == 0 || madvise(at, bytes, MADV_DONTNEED_LOCKED) == 0;
}

bool tt_heap_empty(uint32_t first) {
  heap_granule *run = tt_heap_of(first);
  void *at = tt_heap_at(first);
  size_t bytes = tt_heap_size(run->count);
  bool may_have_moved = run->count >= HEAP_MOVE_LEAST; /* here, from elsewhere: a new map is one area of the system's */
  if (run->kind == HEAP_SHARED && !tt_heap_place_empty(run->place, run->count) && madvise(at, bytes, MADV_REMOVE) != 0)
    return false;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  bool anew = (run->kind != HEAP_PRIVATE || may_have_moved) &&
              mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
  bool dropped = (anew || run->kind == HEAP_PRIVATE) && drop(at, bytes);
  if (!anew && !dropped)
    return false;
  if (run->kind == HEAP_FROZEN)
    tt_heap_place_leave(run->place, run->count, run->taken);
  else if (run->kind == HEAP_SHARED)
    tt_heap_place_give(run->place, run->count);
  set_kind(first, HEAP_PRIVATE, 0);
  run->used = 0;
  return true;
}

/* bindings/mpi/handles.c - what is kept by MPI's handles.
 *
 * Linear probing; removal closes the gap, so that a program that makes and frees communicators in a loop leaves no
 * marks behind that would have to be cleaned up. */
#include "handles.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

static struct {
  tt_mpi_handle **slot;
  size_t slot_count, count; /* slot_count: a power of two, or 0 */
} table;

static uintptr_t key_of(const tt_mpi_handle *kept) { return atomic_load_explicit(&kept->key, memory_order_relaxed); }

/* Handles are multiples of something, or count up. */
static size_t home(uintptr_t key) { return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32); }

/* Where the key is, or where it would be. The table is not full. */
static size_t seek(uintptr_t key) {
  size_t at = home(key) & (table.slot_count - 1);
  while (table.slot[at] && key_of(table.slot[at]) != key)
    at = (at + 1) & (table.slot_count - 1);
  return at;
}

static bool grow(void) {
  size_t old_count = table.slot_count;
  tt_mpi_handle **old = table.slot, **slot = calloc(old_count ? 2 * old_count : FIRST_SLOTS, sizeof(tt_mpi_handle *));
  if (!slot)
    return false;
  table.slot = slot;
  table.slot_count = old_count ? 2 * old_count : FIRST_SLOTS;
  for (size_t n = 0; n < old_count; n++)
    if (old[n])
      slot[seek(key_of(old[n]))] = old[n];
  free(old);
  return true;
}

bool tt_mpi_handles_insert(tt_mpi_handle *kept) {
  if (2 * table.count >= table.slot_count && !grow())
    return false;
  table.slot[seek(key_of(kept))] = kept;
  table.count++;
  return true;
}

tt_mpi_handle *tt_mpi_handles_find(uintptr_t key) { return table.slot ? table.slot[seek(key)] : NULL; }

/* Whoever stands behind the gap and may stand in it comes forward. */
static void close_gap(size_t gap) {
  size_t mask = table.slot_count - 1;
  for (size_t at = (gap + 1) & mask; table.slot[at]; at = (at + 1) & mask) {
    size_t distance = (at - home(key_of(table.slot[at]))) & mask;
    if (distance < ((at - gap) & mask))
      continue;
    table.slot[gap] = table.slot[at];
    gap = at;
  }
  table.slot[gap] = NULL;
}

void tt_mpi_handles_remove(const tt_mpi_handle *kept) {
  size_t at = table.slot ? seek(key_of(kept)) : 0;
  if (!table.slot || table.slot[at] != kept)
    return;
  close_gap(at);
  table.count--;
}

tt_mpi_handle *tt_mpi_handles_any(void) {
  for (size_t at = 0; at < table.slot_count; at++)
    if (table.slot[at])
      return table.slot[at];
  free(table.slot);
  table.slot = NULL;
  table.slot_count = 0;
  return NULL;
}

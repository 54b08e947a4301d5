/* bindings/heap/move.c - the pages of a private block, to another place. */
#include "heap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What headers may be too old for. */
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static void *remap(void *from, size_t had, size_t bytes, int flags, void *to) {
  unsigned long all = (unsigned long)(MREMAP_MAYMOVE | flags);
  return (void *)syscall(SYS_mremap, from, had, bytes, all, to); /* no hook's mremap: see share.c */
}

/* By way of a place that the system chooses. What refuses a move (a limit, parts of the block with another protection
 * or advice) does so there: a move to a given place may fail when the system has unmapped that, and then another
 * thread's map could come there. */
bool tt_heap_move(void *from, size_t had, void *to, size_t bytes) {
  unsigned char *by = remap(from, had, had, MREMAP_DONTUNMAP, NULL), *grown;
  if (by == MAP_FAILED)
    return false;
  if ((grown = remap(by, had, bytes, 0, NULL)) != MAP_FAILED) { /* one area of the system's, which can move again */
    if (remap(grown, bytes, bytes, MREMAP_FIXED, to) == to)
      return true;
    by = grown;
  }
  memcpy(from, by, had);
  munmap(by, grown != MAP_FAILED ? bytes : had);
  return false;
}

/* transport/shm/block.c - memory of the segment: blocks of powers of two, a free list for each size.
 *
 * Sizes are address space, which is free: a block's pages become memory when touched and are given back (a hole is
 * punched) when it is freed, all but its first page, which carries the list. Blocks that are not long and backed as a
 * whole, as most of a communicator's are, keep their memory: one that is freed and taken again needs no system call;
 * new small ones are cut from pieces that are backed at once. A size without free blocks takes new space, and when that
 * is used up splits a larger one. Needs the segment's lock where it says so. */
#include "transport/shm/segment.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE /* of kernel headers before 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#define PIECE_BYTES ((uint64_t)16 << 20)
#define SMALL_BYTES ((uint64_t)32 << 10) /* cut from pieces, at most */
#define KEPT_BYTES ((uint64_t)128 << 10) /* of a free block, at most: giving it back takes longer than a call */

static uint32_t log_of(uint64_t bytes) {
  assert(bytes <= (uint64_t)1 << (TT_SHM_CLASSES - 1));
  uint32_t log = 12;
  while (log < TT_SHM_CLASSES - 1 && ((uint64_t)1 << log) < bytes)
    log++;
  return log;
}

static tt_shm_block *pop(tt_shm_segment *segment, uint32_t log) {
  uint64_t offset = segment->head->free[log];
  if (offset == 0)
    return NULL;
  tt_shm_block *block = tt_shm_at(segment, offset);
  assert(block->kind == TT_SHM_FREE && block->log_bytes == log);
  segment->head->free[log] = block->next;
  return block;
}

/* held: as in tt_shm_block. */
static void push(tt_shm_segment *segment, tt_shm_block *block, uint32_t log, uint64_t held) {
  assert(tt_shm_has_lock(segment) && held <= (uint64_t)1 << log);
  block->log_bytes = log;
  block->kind = TT_SHM_FREE;
  block->held = held;
  block->next = segment->head->free[log];
  atomic_thread_fence(memory_order_release); /* a rank killed here leaves whole lists */
  segment->head->free[log] = tt_shm_offset(segment, block);
}

static tutti_status back(tt_shm_segment *segment, uint64_t offset, uint64_t held, uint64_t bytes);

/* From the current piece, or from a new one. NULL: there is no memory for that much. */
static tt_shm_block *take_small(tt_shm_segment *segment, uint32_t log) {
  tt_shm_head *head = segment->head;
  uint64_t offset = head->piece, bytes = (uint64_t)1 << log;
  assert(bytes <= SMALL_BYTES);
  if (tt_shm_round(offset, TT_SHM_PIECE) - offset < bytes) {
    offset = tt_shm_round(head->bump, TT_SHM_PIECE);
    if (segment->bytes < offset + TT_SHM_PIECE || back(segment, offset, 0, TT_SHM_PIECE) != TUTTI_OK)
      return NULL;
    head->bump = offset + TT_SHM_PIECE;
  }
  head->piece = offset + bytes;
  return tt_shm_at(segment, offset);
}

static tt_shm_block *take_new(tt_shm_segment *segment, uint32_t log) {
  uint64_t offset = segment->head->bump;
  assert(offset > 0 && offset <= segment->bytes);
  if (segment->bytes - offset < (uint64_t)1 << log)
    return NULL;
  segment->head->bump = offset + ((uint64_t)1 << log);
  return tt_shm_at(segment, offset);
}

/* Without the segment's descriptor through the mapping, which kernels before 5.14 cannot: there it is touched on use.
 */
static bool back_piece(tt_shm_segment *segment, uint64_t offset, uint64_t bytes) {
  if (tt_file_is_open(&segment->file))
    return fallocate(segment->file.fd, 0, (off_t)offset, (off_t)bytes) == 0;
  return madvise(tt_shm_at(segment, offset), bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL;
}

/* The system would rather end processes than refuse memory, and all ranks may ask at once: so it is looked again and
 * again. */
static tutti_status check_memory(uint64_t bytes, uint64_t done) {
  int64_t left = tt_host_memory_bytes();
  if ((uint64_t)left >= bytes - done)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_MEMORY,
                 "%" PRIu64 " bytes of shared memory: after %" PRIu64 " there are %" PRId64 " left for this process",
                 bytes, done, left);
}

/* All but its first `held` bytes, which are. In pieces, and shorter ones where signals are frequent: fallocate begins
 * again after each. */
static tutti_status back(tt_shm_segment *segment, uint64_t offset, uint64_t held, uint64_t bytes) {
  uint64_t most = PIECE_BYTES;
  for (uint64_t done = held; done < bytes;) {
    uint64_t piece = bytes - done < most ? bytes - done : most;
    tutti_status status = piece < PIECE_BYTES ? TUTTI_OK : check_memory(bytes, done);
    if (status != TUTTI_OK)
      return status;
    if (back_piece(segment, offset + done, piece))
      done += piece;
    else if (errno != EINTR)
      return tt_fail(TUTTI_ERR_MEMORY, "fallocate of %" PRIu64 " bytes of shared memory failed: %s", bytes,
                     strerror(errno));
    else if (most > TT_SHM_PIECE)
      most /= 2;
  }
  return TUTTI_OK;
}

tutti_status tt_shm_block_back(tt_shm_segment *segment, const tt_shm_block *block, uint64_t bytes) {
  return back(segment, tt_shm_offset(segment, block), 0, bytes);
}

/* Gives the pages after the first back to the system. false: they are not zero again. */
static bool empty(tt_shm_segment *segment, const tt_shm_block *block, uint32_t log) {
  uint64_t bytes = (uint64_t)1 << log, offset = tt_shm_offset(segment, block) + TT_SHM_PAGE;
  if (bytes <= TT_SHM_PAGE)
    return true;
  bytes -= TT_SHM_PAGE;
  if (!tt_file_is_open(&segment->file))
    return madvise(tt_shm_at(segment, offset), bytes, MADV_REMOVE) == 0;
  return fallocate(segment->file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes) == 0;
}

/* A larger free block; its upper halves go to their lists. */
static tt_shm_block *split(tt_shm_segment *segment, uint32_t log) {
  for (uint32_t larger = log + 1; larger < TT_SHM_CLASSES; larger++) {
    tt_shm_block *block = pop(segment, larger);
    if (block == NULL)
      continue;
    if (block->held > TT_SHM_PAGE && !empty(segment, block, larger)) {
      push(segment, block, larger, block->held);
      continue;
    }
    block->held = TT_SHM_PAGE;
    while (larger > log) {
      tt_shm_block *upper = (void *)((char *)block + ((uint64_t)1 << --larger));
      if (tt_shm_block_back(segment, upper, TT_SHM_PAGE) == TUTTI_OK)
        push(segment, upper, larger, TT_SHM_PAGE);
    }
    return block;
  }
  return NULL;
}

/* whole: it is to be backed as a whole. *held: how much of it is memory, and may have been written to; 0: none, the
 * block is new. NULL: there is no room. */
static tt_shm_block *take(tt_shm_segment *segment, uint32_t log, bool whole, uint64_t *held) {
  uint64_t bytes = (uint64_t)1 << log;
  tt_shm_block *found = pop(segment, log);
  *held = found != NULL ? found->held : 0;
  if (found == NULL && whole && bytes <= SMALL_BYTES && (found = take_small(segment, log)) != NULL)
    *held = bytes;
  if (found == NULL)
    found = take_new(segment, log);
  if (found == NULL && (found = split(segment, log)) != NULL)
    *held = TT_SHM_PAGE;
  return found;
}

tutti_status tt_shm_block_alloc(tt_shm_segment *segment, uint64_t bytes, uint64_t backed, tt_shm_block **block) {
  assert(tt_shm_has_lock(segment) && bytes >= sizeof **block && backed <= bytes);
  uint32_t log = log_of(bytes);
  uint64_t held = 0, wanted = tt_shm_round(backed < TT_SHM_PAGE ? TT_SHM_PAGE : backed, TT_SHM_PAGE);
  tt_shm_block *found = bytes > segment->bytes ? NULL : take(segment, log, backed >= bytes, &held);
  if (found == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "the shared segment of %" PRIu64 " MiB has no room for %" PRIu64 " bytes",
                   segment->bytes >> 20, bytes);
  tutti_status status = back(segment, tt_shm_offset(segment, found), held, wanted);
  if (status != TUTTI_OK) {
    if (wanted > TT_SHM_PAGE && empty(segment, found, log)) /* of what was not enough, nothing stays */
      held = 0;
    if (held > 0 || tt_shm_block_back(segment, found, TT_SHM_PAGE) == TUTTI_OK)
      push(segment, found, log, held > 0 ? held : TT_SHM_PAGE);
    return status;
  }
  memset(found, 0, held);
  found->log_bytes = log;
  found->held = wanted > held ? wanted : held;
  if (bytes > found->held) /* what is touched beyond is not known */
    found->held = 0;
  *block = found;
  return TUTTI_OK;
}

void tt_shm_block_give_back(tt_shm_segment *segment, tt_shm_block *block) {
  uint32_t log = block->log_bytes;
  assert(log >= 12 && log < TT_SHM_CLASSES && block->held <= (uint64_t)1 << log);
  bool keeps = block->held > 0 && block->held <= KEPT_BYTES;
  if ((!keeps && !empty(segment, block, log)) || !tt_shm_lock_to_free(segment))
    return;
  push(segment, block, log, keeps ? block->held : TT_SHM_PAGE);
  tt_shm_unlock(segment);
}

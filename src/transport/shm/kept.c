/* transport/shm/kept.c - buffers that the rank has freed and keeps for the next ones: to give pages back to the system
 * and to touch new ones takes longer than to copy what they hold.
 *
 * Kept are at most 256 MiB, and no more than the rank's buffers ever had at once; of what nobody took for a second, a
 * quarter of that. A kept block is the rank's as one in use is: if the rank is killed, the job has lost it. */
#include "transport/shm/self.h"

#include <string.h>

#define KEPT_BYTES ((uint64_t)256 << 20)
#define KEPT_NS 1000000000
#define SHARE 8 /* of the segment, all ranks together */

void tt_shm_kept_init(tt_shm *self) { pthread_mutex_init(&self->kept.lock, NULL); }

static tt_shm_block *remove_at(tt_shm_kept *kept, int n) {
  tt_shm_block *block = kept->old[n].block;
  kept->count--;
  kept->bytes -= block->held;
  memmove(&kept->old[n], &kept->old[n + 1], (size_t)(kept->count - n) * sizeof kept->old[n]);
  return block;
}

static bool drop_oldest(tt_shm *self) {
  bool any = self->kept.count > 0;
  if (any)
    tt_shm_block_give_back(self->segment, remove_at(&self->kept, 0));
  return any;
}

static bool keeps_too_much(const tt_shm *self, int64_t now) {
  const tt_shm_kept *kept = &self->kept;
  uint64_t room = self->segment->bytes / SHARE / (uint64_t)self->rank_count, most = kept->live_most;
  most = most < room ? most : room;
  most = most < KEPT_BYTES ? most : KEPT_BYTES;
  bool aged = kept->count > 0 && now - kept->old[0].freed_ns > KEPT_NS;
  return kept->bytes > most || kept->count == TT_SHM_KEPT || (aged && kept->bytes > most / 4);
}

static void count_live(tt_shm_kept *kept, uint64_t bytes) {
  kept->live += bytes;
  kept->live_most = kept->live > kept->live_most ? kept->live : kept->live_most;
}

/* The shortest; of those the newest. Twice as much would be a waste. -1: none. */
static int find(const tt_shm_kept *kept, uint64_t bytes) {
  int found = -1;
  for (int n = kept->count - 1; n >= 0; n--) {
    uint64_t held = kept->old[n].block->held;
    if (held >= bytes && held / 2 < bytes && (found < 0 || held < kept->old[found].block->held))
      found = n;
  }
  return found;
}

tt_shm_block *tt_shm_kept_take(tt_shm *self, uint64_t bytes) {
  tt_shm_block *block = NULL;
  pthread_mutex_lock(&self->kept.lock);
  int n = find(&self->kept, bytes);
  if (n >= 0) {
    block = remove_at(&self->kept, n);
    count_live(&self->kept, block->held);
  }
  pthread_mutex_unlock(&self->kept.lock);
  return block;
}

void tt_shm_kept_count(tt_shm *self, const tt_shm_block *block) {
  pthread_mutex_lock(&self->kept.lock);
  count_live(&self->kept, block->held);
  pthread_mutex_unlock(&self->kept.lock);
}

void tt_shm_kept_give(tt_shm *self, tt_shm_block *block) {
  tt_shm_kept *kept = &self->kept;
  int64_t now = tt_clock_ns();
  pthread_mutex_lock(&kept->lock);
  kept->live -= block->held < kept->live ? block->held : kept->live; /* another rank of the process may have made it */
  kept->bytes += block->held;
  kept->old[kept->count++] = (tt_shm_old){block, now};
  while (keeps_too_much(self, now))
    drop_oldest(self);
  pthread_mutex_unlock(&kept->lock);
}

bool tt_shm_kept_drop(tt_shm *self) {
  bool any = false;
  pthread_mutex_lock(&self->kept.lock);
  while (drop_oldest(self))
    any = true;
  pthread_mutex_unlock(&self->kept.lock);
  return any;
}

void tt_shm_kept_finish(tt_shm *self) {
  tt_shm_kept_drop(self);
  pthread_mutex_destroy(&self->kept.lock);
}

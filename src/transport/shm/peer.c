/* transport/shm/peer.c - who is alive: a record lock of each process on the segment's file.
 *
 * Rank r holds a lock on byte r. The system drops it when the process ends, also while a zombie is left of it, and when
 * it runs another program; a forked child does not have it. So who wants to know asks for the lock, which takes neither
 * a descriptor nor /proc, and is not deceived by a process number that is used again. One rank asks for all, when
 * nobody has for a while; it marks whoever is dead in the segment and rings everybody, so that all learn it at once.
 *
 * A process loses all its locks on a file as soon as it closes any descriptor of it. Ranks that are threads of one
 * process have a descriptor each: the last one to leave closes all of them. Programs may do so too (closefrom). So a
 * lock says that a rank lives; that it is free says only that the rank's memory is to be looked at (alive.c). */
#include "transport/shm/bell.h"
#include "transport/shm/self.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS 50000000      /* between two looks at all peers */
#define LOOK_A_RANK_NS 100000 /* and no shorter than this for each: the system's list of locks is long then */
#define LOOK_QUESTIONS 64u    /* about peers, between two looks at the clock */

static uint32_t state_of(const tt_shm_rank *rank) { return atomic_load_explicit(&rank->state, memory_order_acquire); }

bool tt_shm_peer_has_died(const tt_shm *self, int64_t peer) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)peer, .l_len = 1};
  const tt_shm_segment *segment = self->segment;
  if (tt_shm_is_own(self, peer))
    return false;
  bool known = tt_file_is_open(&segment->file) && fcntl(segment->file.fd, F_GETLK, &lock) == 0;
  if (known && lock.l_type != F_UNLCK)
    return false;
  tt_shm_sign sign = tt_shm_look_at(segment, tt_shm_rank_of(self, peer));
  return sign == TT_SHM_GONE || (sign == TT_SHM_HIDDEN && known);
}

tutti_status tt_shm_life_begin(tt_shm *self) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)self->rank, .l_len = 1};
  if (fcntl(self->segment->file.fd, F_SETLK, &lock) != 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "fcntl(F_SETLK) of byte %" PRId64 " of the shared segment failed: %s", self->rank,
                   strerror(errno));
  tt_shm_rank_of(self, self->rank)->fd = self->segment->file.fd;
  return TUTTI_OK;
}

/* Whether another rank of this process is in the job. */
static bool has_twin(const tt_shm *self) {
  for (int64_t r = 0; r < self->rank_count; r++) {
    const tt_shm_rank *rank = tt_shm_rank_of(self, r);
    if (r != self->rank && tt_shm_is_own(self, r) && rank->fd >= 0 && state_of(rank) == TT_SHM_JOINED)
      return true;
  }
  return false;
}

static void close_twins(const tt_shm *self) {
  tt_file file = self->segment->file;
  for (int64_t r = 0; r < self->rank_count; r++) {
    tt_shm_rank *rank = tt_shm_rank_of(self, r);
    if (r != self->rank && tt_shm_is_own(self, r) && rank->fd >= 0 && state_of(rank) == TT_SHM_LEFT) {
      file.fd = rank->fd;
      if (tt_file_is_open(&file))
        close(file.fd);
      rank->fd = -1;
    }
  }
}

void tt_shm_life_end(tt_shm *self) {
  tt_shm_rank *own = tt_shm_rank_of(self, self->rank);
  bool locks = self->twins && own->fd >= 0, locked = locks && tt_shm_lock_to_free(self->segment);
  atomic_store_explicit(&own->state, TT_SHM_LEFT, memory_order_seq_cst);
  if (locks && (!locked || has_twin(self)))
    self->segment->file.fd = -1; /* the twin's to close */
  else if (locks)
    close_twins(self);
  if (locked)
    tt_shm_unlock(self->segment);
}

void tt_shm_peer_mark_dead(tt_shm *self, int64_t peer) {
  tt_shm_rank *rank = tt_shm_rank_of(self, peer);
  uint32_t joined = TT_SHM_JOINED;
  if (!atomic_compare_exchange_strong_explicit(&rank->state, &joined, TT_SHM_DEAD, memory_order_acq_rel,
                                               memory_order_relaxed))
    return;
  atomic_fetch_add_explicit(&self->segment->head->deaths, 1, memory_order_seq_cst);
  for (int64_t r = 0; r < self->rank_count; r++)
    tt_shm_ring_bell(tt_shm_rank_of(self, r), self->bell);
}

/* Whether it is this rank's turn to look. */
static bool takes_turn(const tt_shm *self) {
  _Atomic int64_t *looked = &self->segment->head->looked_ns;
  int64_t now_ns = tt_clock_ns(), before_ns = atomic_load_explicit(looked, memory_order_relaxed);
  int64_t pause_ns = self->rank_count * LOOK_A_RANK_NS;
  pause_ns = pause_ns > LOOK_NS ? pause_ns : LOOK_NS;
  bool late = now_ns - before_ns >= pause_ns || now_ns < before_ns; /* the clock of another time namespace */
  return late && atomic_compare_exchange_strong_explicit(looked, &before_ns, now_ns, memory_order_relaxed,
                                                         memory_order_relaxed);
}

void tt_shm_peers_look(tt_shm *self) {
  if (!takes_turn(self))
    return;
  for (int64_t r = 0; r < self->rank_count; r++)
    if (state_of(tt_shm_rank_of(self, r)) == TT_SHM_JOINED && tt_shm_peer_has_died(self, r))
      tt_shm_peer_mark_dead(self, r);
}

int tt_shm_peer_dead(void *self, int64_t peer) {
  tt_shm *shm = self;
  if (peer < 0 || peer >= shm->rank_count)
    return 0;
  if (shm->questions++ % LOOK_QUESTIONS == 0)
    tt_shm_peers_look(shm);
  uint32_t state = state_of(tt_shm_rank_of(shm, peer));
  return state == TT_SHM_DEAD ? 1 : state == TT_SHM_LEFT ? 2 : 0;
}

int64_t tt_shm_peer_first_dead(const tt_shm *self) {
  for (int64_t r = 0; r < self->rank_count; r++)
    if (state_of(tt_shm_rank_of(self, r)) == TT_SHM_DEAD)
      return r;
  return -1;
}

tutti_status tt_shm_peer_fail(const tt_shm *self, int64_t peer) {
  const tt_shm_rank *rank = tt_shm_rank_of(self, peer);
  bool dead = state_of(rank) == TT_SHM_DEAD;
  return tt_fail(TUTTI_ERR_PEER, "rank %" PRId64 " (process %d) %s, rank %" PRId64 " waits for it", peer, rank->pid,
                 dead ? "died" : "has left the job", self->rank);
}

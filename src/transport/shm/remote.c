/* transport/shm/remote.c - cross-memory attach: long messages copied once, by the reader, straight from the memory of
 * the writer's process (process_vm_readv).
 *
 * Whether a process may read another one's memory is the system's to say (same user, capabilities, ptrace scope,
 * containers, seccomp). When the job is made every rank tries it on the next one, so each reads once and is read once.
 * What the system asks puts processes in an order, and an order that goes round in a ring holds between all of them. It
 * is used only where all could: then all ranks know; a refusal later is an error. Each read takes a word with it that
 * only that rank's process has at that place, which tells whether the memory was still that one's. One copy instead of
 * two, but the kernel walks page tables for it, which costs more on some machines than on others: each rank measures
 * it, and all send messages that are too short for one of them through slots, whatever the parameters ask for. */
#include "transport/shm/self.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROBES = 8, FAST_NS = 2000, FAST_LEAST = 8 << 10, CROWDED_LEAST = 32 << 10, SLOW_LEAST = 1 << 20 };

/* Of all `bytes`, as many as one call copies; -1: errno says why not, ESRCH where the rank's process is gone. */
static ssize_t read_some(const tt_shm_rank *rank, pid_t thread, uint64_t address, void *to, size_t bytes) {
  uint64_t word = 0;
  const struct iovec local[] = {{&word, sizeof word}, {to, bytes}};
  const struct iovec remote[] = {{(void *)(uintptr_t)rank->probe_address, sizeof word},
                                 {(void *)(uintptr_t)address, bytes}};
  ssize_t copied = process_vm_readv(thread, local, 2, remote, 2, 0);
  if (copied > (ssize_t)sizeof word && word == rank->probe)
    return copied - (ssize_t)sizeof word;
  if (copied >= 0)
    errno = word == rank->probe ? EFAULT : ESRCH;
  return -1;
}

/* Copies all of it; false: errno says why not. thread: any of the rank's process. */
static bool read_all(const tt_shm_rank *rank, pid_t thread, uint64_t address, void *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t copied = read_some(rank, thread, address + done, (char *)to + done, bytes - done);
    if (copied < 0)
      return false;
    done += (size_t)copied;
  }
  return true;
}

tutti_status tt_shm_remote_read(tt_shm *self, int64_t peer, uint64_t address, void *to, size_t bytes) {
  assert(self->remote); /* else nobody refers to memory of its process */
  const tt_shm_rank *rank = tt_shm_rank_of(self, peer);
  if (tt_shm_is_own(self, peer)) {
    tt_copy(to, (const void *)(uintptr_t)address, bytes);
    return TUTTI_OK;
  }
  if (read_all(rank, rank->pid, address, to, bytes))
    return TUTTI_OK;
  int error = errno;
  pid_t thread = error == ESRCH ? tt_shm_find_thread(rank) : 0; /* the first one may have ended */
  if (thread > 0 && read_all(rank, thread, address, to, bytes))
    return TUTTI_OK;
  error = thread > 0 ? errno : error;
  if (error == ESRCH || tt_shm_peer_has_died(self, peer)) {
    tt_shm_peer_mark_dead(self, peer);
    return tt_shm_peer_fail(self, peer);
  }
  return tt_fail(TUTTI_ERR_SYSTEM,
                 "rank %" PRId64 " cannot read %zu bytes of rank %" PRId64 "'s memory: process_vm_readv: %s",
                 self->rank, bytes, peer, strerror(error));
}

/* ---- at the making of the job ---- */

/* Of the ptrace scope that lets only a parent in; elsewhere the call fails and nothing is needed. */
void tt_shm_remote_permit(void) { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

/* The next rank here that is another process; NULL: there is none. */
static const tt_shm_rank *find_neighbour(const tt_shm *self) {
  for (int64_t n = 1; n < self->rank_count; n++) {
    int64_t peer = (self->rank + n) % self->rank_count;
    if (tt_shm_is_here(tt_shm_rank_of(self, peer)) && !tt_shm_is_own(self, peer))
      return tt_shm_rank_of(self, peer);
  }
  return NULL;
}

/* 0, or the error that says why this rank cannot read the neighbour's memory. *best_ns: what a read of 16 KiB took. */
static int try_neighbour(const tt_shm_rank *rank, int64_t *best_ns) {
  void *to = aligned_alloc(TT_SHM_PAGE, TT_SHM_PROBE_BYTES); /* as the probe: how both lie makes some processors slow */
  int error = to == NULL ? ENOMEM : 0;
  for (int n = 0; n < PROBES && error == 0; n++) {
    int64_t began_ns = tt_clock_ns();
    error = read_all(rank, rank->pid, rank->probe_address, to, TT_SHM_PROBE_BYTES) ? 0 : errno;
    int64_t took_ns = tt_clock_ns() - began_ns;
    *best_ns = took_ns < *best_ns ? took_ns : *best_ns;
  }
  free(to);
  return error;
}

static int64_t wanted_least(const tt_shm_config *config) {
  return config->read_bytes > 0 ? config->read_bytes : tt_options_get()->read_bytes;
}

/* 1.5 us on machines where messages of 16 KiB gain by it, 2.5 to 6 us on others. Where ranks share cores a writer has
 * to wait until its reader has had a turn, which a slot saves it. */
static int64_t least_of(int64_t best_ns, bool crowded) {
  return best_ns >= FAST_NS ? SLOW_LEAST : crowded ? CROWDED_LEAST : FAST_LEAST;
}

int64_t tt_shm_read_bytes(bool crowded) {
  static unsigned char memory[TT_SHM_PROBE_BYTES];
  int64_t best_ns = INT64_MAX, wanted = tt_options_get()->read_bytes;
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
      pause();
  }
  tt_shm_rank other = {.pid = child, .probe_address = (uint64_t)(uintptr_t)memory};
  bool reads = child > 0 && try_neighbour(&other, &best_ns) == 0;
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
  return !reads ? -1 : wanted > 0 ? wanted : least_of(best_ns, crowded);
}

void tt_shm_remote_try(const tt_shm *self, const tt_shm_config *config, tt_shm_finding *mine) {
  const tt_shm_rank *neighbour = find_neighbour(self);
  if (neighbour == NULL)
    return;
  int64_t best_ns = INT64_MAX;
  mine->remote_error = try_neighbour(neighbour, &best_ns);
  int64_t wanted = wanted_least(config);
  mine->remote_least = wanted > 0 ? wanted : least_of(best_ns, config->crowded);
}

void tt_shm_remote_open(tt_shm *self, const tt_shm_finding *all) {
  self->remote = true;
  for (int64_t r = 0; r < self->rank_count && self->remote; r++) {
    int error = all[r].remote_error;
    self->remote = error == 0;
    if (tt_shm_is_here(tt_shm_rank_of(self, r)) && all[r].remote_least > (int64_t)self->remote_least)
      self->remote_least = (size_t)all[r].remote_least;
    if (!self->remote && self->rank == 0)
      tt_log(TT_LOG_WARN, "TUTTI_CMA: rank %" PRId64 " cannot read other ranks' memory: %s", r, strerror(error));
  }
}

void tt_shm_remote_open_threads(tt_shm *self, const tt_shm_config *config) {
  self->remote = true;
  self->remote_least = (size_t)wanted_least(config);
}

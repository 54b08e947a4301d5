/* transport/shm/remote.c - cross-memory attach: long messages copied once, by the reader, straight from the memory of
 * the writer's process (process_vm_readv).
 *
 * Whether a process may read another one's memory is the system's to say (same user, ptrace scope, containers,
 * seccomp), so every rank tries it on every other when the job is made, and it is used only where all could: then all
 * ranks know. A descriptor of the process tells whether the memory read was still that one's: while it lives, nobody
 * else has its pid. One copy instead of two, but the kernel walks page tables for it, which costs more on some machines
 * than on others: each rank measures it, and all send messages that are too short for one of them through slots,
 * whatever the parameters ask for. */
#include "transport/shm/self.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { PROBES = 8, FAST_NS = 3000, FAST_LEAST = 8 << 10, CROWDED_LEAST = 32 << 10, SLOW_LEAST = 1 << 20 };

static bool is_own_process(const tt_shm_rank *rank) { return rank->pid == getpid(); }

/* Those of other nodes have no part in the segment. */
static bool is_here(const tt_shm_rank *rank) {
  return atomic_load_explicit(&rank->state, memory_order_acquire) != TT_SHM_ABSENT;
}

static bool is_alive(int pid_fd) {
  struct pollfd process = {.fd = pid_fd, .events = POLLIN}; /* readable: it has ended */
  return poll(&process, 1, 0) == 0;
}

/* Copies all of it; false: errno says why not. */
static bool read_all(pid_t pid, uint64_t address, void *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    struct iovec local = {(char *)to + done, bytes - done};
    struct iovec remote = {(void *)(uintptr_t)(address + done), bytes - done};
    ssize_t copied = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (copied < 0)
      return false;
    if (copied == 0) {
      errno = EFAULT;
      return false;
    }
    done += (size_t)copied;
  }
  return true;
}

tutti_status tt_shm_remote_read(tt_shm *self, int64_t peer, uint64_t address, void *to, size_t bytes) {
  const tt_shm_rank *rank = tt_shm_rank_of(self, peer);
  if (is_own_process(rank)) {
    memcpy(to, (const void *)(uintptr_t)address, bytes);
    return TUTTI_OK;
  }
  bool whole = read_all(rank->pid, address, to, bytes);
  int error = errno;
  if ((!whole && error == ESRCH) || !is_alive(self->pid_fd[peer])) { /* what ends has no memory before it has ended */
    tt_shm_peer_mark_dead(self, peer);
    return tt_shm_peer_fail(self, peer);
  }
  if (!whole)
    return tt_fail(TUTTI_ERR_SYSTEM, "rank %lld cannot read %zu bytes of rank %lld's memory: process_vm_readv: %s",
                   (long long)self->rank, bytes, (long long)peer, strerror(error));
  return TUTTI_OK;
}

/* ---- at the making of the job ---- */

/* Of the ptrace scope that lets only a parent in; elsewhere the call fails and nothing is needed. */
void tt_shm_remote_permit(void) { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

/* 0, or the error that says why this rank cannot read the peer's memory. */
static int try_peer(tt_shm *self, int64_t peer) {
  const tt_shm_rank *rank = tt_shm_rank_of(self, peer);
  if (!is_here(rank) || is_own_process(rank))
    return 0;
  self->pid_fd[peer] = (int)syscall(SYS_pidfd_open, rank->pid, 0);
  uint64_t word = 0;
  if (self->pid_fd[peer] < 0 || !read_all(rank->pid, rank->probe_address, &word, sizeof word))
    return errno;
  return word == rank->probe ? 0 : ESRCH;
}

static int try_peers(tt_shm *self) {
  self->pid_fd = malloc((size_t)self->rank_count * sizeof *self->pid_fd);
  if (self->pid_fd == NULL)
    return ENOMEM;
  for (int64_t r = 0; r < self->rank_count; r++)
    self->pid_fd[r] = -1;
  int error = 0;
  for (int64_t r = 0; r < self->rank_count && error == 0; r++)
    error = try_peer(self, r);
  return error;
}

/* A read of 16 KiB: 1.5 us on machines where messages of that length gain by it, 6 us on others. Where ranks share
 * cores a writer has to wait until its reader has had a turn, which a slot saves it. 0: there is nobody to read from.
 */
static uint32_t find_least(const tt_shm *self, bool crowded) {
  int64_t best_ns = INT64_MAX;
  void *to = malloc(TT_SHM_PROBE_BYTES);
  bool alone = true;
  for (int64_t r = 0; r < self->rank_count; r++)
    alone = alone && self->pid_fd[r] < 0;
  for (int64_t r = 0; to && r < self->rank_count; r++)
    for (int n = 0; self->pid_fd[r] >= 0 && n < PROBES; n++) {
      int64_t began = tt_clock_ns();
      if (!read_all(tt_shm_rank_of(self, r)->pid, tt_shm_rank_of(self, r)->probe_address, to, TT_SHM_PROBE_BYTES))
        break;
      int64_t took = tt_clock_ns() - began;
      best_ns = took < best_ns ? took : best_ns;
    }
  free(to);
  if (alone)
    return 0;
  if (best_ns >= FAST_NS)
    return SLOW_LEAST;
  return crowded ? CROWDED_LEAST : FAST_LEAST;
}

typedef struct finding { /* of one rank */
  int32_t error;         /* why it cannot read all others' memory, or 0 */
  uint32_t least;        /* bytes from which that is worth while */
} finding;

/* What all ranks have found; NULL: no memory, on this rank. */
static finding *exchange(tt_shm *self, const tutti_boot *boot, bool crowded, int64_t timeout_ns, tutti_status *status) {
  char missing[200] = "";
  finding mine = {.error = try_peers(self)}, *all = calloc((size_t)boot->rank_count, sizeof *all);
  if (!mine.error)
    mine.least = find_least(self, crowded);
  *status = all ? boot->allgather(boot->user, &mine, all, sizeof mine, timeout_ns, missing, sizeof missing)
                : tt_fail(TUTTI_ERR_MEMORY, "no memory to ask %lld ranks", (long long)boot->rank_count);
  return all;
}

tutti_status tt_shm_remote_open(tt_shm *self, const tutti_boot *boot, bool crowded, int64_t timeout_ns) {
  tutti_status status;
  finding *all = exchange(self, boot, crowded, timeout_ns, &status);
  self->remote = status == TUTTI_OK;
  for (int64_t r = 0; r < boot->rank_count && self->remote; r++) {
    self->remote = all[r].error == 0;
    if (is_here(tt_shm_rank_of(self, r)) && all[r].least > self->remote_least)
      self->remote_least = all[r].least;
    if (!self->remote && self->rank == 0)
      tt_log(TT_LOG_WARN, "TUTTI_CMA: rank %lld cannot read other ranks' memory: %s", (long long)r,
             strerror(all[r].error));
  }
  free(all);
  if (!self->remote)
    tt_shm_remote_close(self);
  return status;
}

void tt_shm_remote_open_threads(tt_shm *self) { self->remote = true; }

void tt_shm_remote_close(tt_shm *self) {
  for (int64_t r = 0; self->pid_fd != NULL && r < self->rank_count; r++)
    if (self->pid_fd[r] >= 0)
      close(self->pid_fd[r]);
  free(self->pid_fd);
  self->pid_fd = NULL;
}

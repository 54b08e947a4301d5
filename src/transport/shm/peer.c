/* transport/shm/peer.c - who is alive: a look at /proc/PID/stat now and then.
 *
 * A process is dead when there is none with its pid and start time, or a zombie is left of it. Whoever finds a dead
 * rank marks it in the segment and rings everybody, so that all learn it at once. Without a free descriptor a missing
 * program (readlink needs none) tells a zombie, and without /proc kill(pid, 0) answers, which sees zombies as alive. */
#include "transport/shm/self.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS 50000000 /* between two looks at the same peer */

typedef struct process {
  char state;
  long threads;
  unsigned long long start_time;
} process;

/* Fields 3, 20 and 22, after the command's name, which may hold anything. */
static bool parse_stat(char *text, process *found) {
  const char *rest = strrchr(text, ')');
  return rest != NULL &&
         sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
                &found->state, &found->threads, &found->start_time) == 3;
}

static bool read_process(int64_t pid, process *found) {
  char path[32], text[1024];
  snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0)
    return false;
  text[length] = '\0';
  return parse_stat(text, found);
}

uint64_t tt_shm_start_time(int64_t pid) {
  process found;
  return read_process(pid, &found) ? found.start_time : 0;
}

/* What a zombie has lost, and a process whose main thread has ended. Needs no descriptor. */
static bool has_no_program(int64_t pid) {
  char path[32], program[8];
  snprintf(path, sizeof path, "/proc/%lld/exe", (long long)pid);
  return readlink("/proc/self/exe", program, sizeof program) > 0 && readlink(path, program, sizeof program) < 0 &&
         errno == ENOENT;
}

static bool has_died(const tt_shm_rank *rank) {
  process found;
  if (!read_process(rank->pid, &found))
    return (kill(rank->pid, 0) != 0 && errno == ESRCH) || has_no_program(rank->pid);
  if (rank->start_time != 0 && found.start_time != rank->start_time)
    return true;
  /* A zombie with threads is a process whose main thread has ended. */
  return found.state == 'X' || (found.state == 'Z' && found.threads <= 1);
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

static uint32_t state_of(const tt_shm_rank *rank) { return atomic_load_explicit(&rank->state, memory_order_acquire); }

static void look(tt_shm *self, int64_t peer, int64_t now_ns) {
  tt_shm_rank *rank = tt_shm_rank_of(self, peer);
  if (now_ns - self->looked_ns[peer] < LOOK_NS || state_of(rank) != TT_SHM_JOINED || rank->pid == getpid())
    return;
  self->looked_ns[peer] = now_ns;
  if (has_died(rank))
    tt_shm_peer_mark_dead(self, peer);
}

void tt_shm_peers_look(tt_shm *self) {
  int64_t now_ns = tt_clock_ns();
  for (int64_t r = 0; r < self->rank_count; r++)
    look(self, r, now_ns);
}

int tt_shm_peer_dead(void *self, int64_t peer) {
  tt_shm *shm = self;
  if (peer < 0 || peer >= shm->rank_count)
    return 0;
  look(shm, peer, tt_clock_ns());
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
  return tt_fail(TUTTI_ERR_PEER, "rank %lld (process %d) %s, rank %lld waits for it", (long long)peer, rank->pid,
                 dead ? "died" : "has left the job", (long long)self->rank);
}

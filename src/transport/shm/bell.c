/* transport/shm/bell.c - sleeping and waking on a futex in the rank's line, or on a socket; the protocol is in bell.h.
 */
#include "transport/shm/bell.h"

#include "transport/shm/self.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SHORT_NS 1000000

bool tt_shm_bell_register(void) { return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0; }

static void announce(tt_shm_rank *own, tt_shm_bell how) {
  atomic_store_explicit(&own->sleeping, how, memory_order_relaxed);
  atomic_thread_fence(
      memory_order_seq_cst); /* before the engine's next look; pairs with tt_shm_wake by the membarrier */
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

/* false: it was not announced, and is now. */
static bool is_announced(tt_shm_rank *own, tt_shm_bell how) {
  bool is = atomic_load_explicit(&own->sleeping, memory_order_acquire) == how;
  if (!is)
    announce(own, how);
  return is;
}

static struct timespec length_of(const tt_shm_head *head, int64_t timeout_ns) {
  assert(timeout_ns >= 0);
  if (atomic_load_explicit(&head->no_membarrier, memory_order_relaxed) && timeout_ns > SHORT_NS)
    timeout_ns = SHORT_NS;
  return (struct timespec){.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
}

void tt_shm_sleep(tt_shm_head *head, tt_shm_rank *own, int64_t timeout_ns) {
  /* Read before `sleeping`: whoever has taken the announcement rings after this value. Pairs with tt_shm_ring_bell. */
  uint32_t bell = atomic_load_explicit(&own->doorbell, memory_order_acquire);
  if (!is_announced(own, TT_SHM_BELL_FUTEX))
    return;
  struct timespec time = length_of(head, timeout_ns);
  syscall(SYS_futex, &own->doorbell, FUTEX_WAIT, bell, &time, NULL, 0);
  atomic_store_explicit(&own->sleeping, TT_SHM_AWAKE, memory_order_relaxed);
}

/* ---- the socket ---- */

/* The system chooses the name. */
static bool name_socket(int bell, tt_shm_rank *own) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  socklen_t size = sizeof address;
  if (bind(bell, (struct sockaddr *)&address, sizeof address.sun_family) != 0 ||
      getsockname(bell, (struct sockaddr *)&address, &size) != 0)
    return false;
  size_t length = size - offsetof(struct sockaddr_un, sun_path) - 1;
  if (length == 0 || length >= sizeof own->socket)
    return false;
  memcpy(own->socket, address.sun_path + 1, length);
  return true;
}

int tt_shm_bell_open(tt_shm_rank *own) {
  int bell = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (bell < 0 || !name_socket(bell, own)) {
    tt_fail(TUTTI_ERR_SYSTEM, "cannot make the socket that wakes this rank: %s", strerror(errno));
    if (bell >= 0)
      close(bell);
    return -1;
  }
  return bell;
}

static void ring_socket(const tt_shm_rank *rank, int bell) {
  assert(bell >= 0); /* all ranks have such a bell, or none has */
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strnlen(rank->socket, sizeof rank->socket);
  memcpy(address.sun_path + 1, rank->socket, length);
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
  sendto(bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address, size); /* full: it rings already */
}

void tt_shm_sleep_on(tt_shm_head *head, tt_shm_rank *own, int bell, int other, int64_t timeout_ns) {
  struct pollfd of[2] = {{.fd = bell, .events = POLLIN}, {.fd = other, .events = POLLIN}};
  char rings[64];
  if (!is_announced(own, TT_SHM_BELL_SOCKET))
    return;
  struct timespec time = length_of(head, timeout_ns);
  ppoll(of, 2, &time, NULL);
  atomic_store_explicit(&own->sleeping, TT_SHM_AWAKE, memory_order_relaxed);
  while (of[0].revents != 0 && recv(bell, rings, sizeof rings, MSG_DONTWAIT) > 0) {
  }
}

void tt_shm_ring_bell(tt_shm_rank *rank, int bell) {
  uint32_t how = atomic_exchange_explicit(&rank->sleeping, TT_SHM_AWAKE, memory_order_acq_rel);
  if (how == TT_SHM_BELL_SOCKET)
    ring_socket(rank, bell);
  if (how != TT_SHM_BELL_FUTEX)
    return;
  atomic_fetch_add_explicit(&rank->doorbell, 1, memory_order_release);
  syscall(SYS_futex, &rank->doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); /* threads */
}

void tt_shm_wake_rank(void *self, int64_t peer) {
  const tt_shm *shm = self;
  tt_shm_wake(&shm->segment->head->rank[peer], shm->bell);
}

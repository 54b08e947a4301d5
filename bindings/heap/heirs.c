/* bindings/heap/heirs.c - which processes live that have inherited places of the file.
 *
 * Each child of a fork holds a mutex in memory that all of them share; the system opens it when the child ends or runs
 * another program. Forks are counted: a child of the n-th has what was taken before it and given up after it, and so
 * have its own children. */
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEIRS = 128, EXITING = 4 };

typedef enum heir_state { HEIR_NONE, HEIR_EXPECTED, HEIR_LIVES } heir_state;

typedef struct heir { /* in memory that all of them share */
  pthread_mutex_t alive;
  _Atomic int state;
  uint32_t fork; /* of the file's owner, from which it comes */
  pid_t process;
  uint64_t namespace; /* of process numbers; 0: not known */
} heir;

static struct {
  heir at[HEIRS];
  _Atomic uint32_t times;   /* that one was expected */
  _Atomic uint32_t lost[2]; /* children of these forks, and those between, could not be looked after: they live on */
} *heirs;                   /* NULL: none was ever expected */

static struct {
  uint32_t count;     /* forks of the owner; a child's stays that of the fork from which it comes */
  _Atomic bool blind; /* there is no memory to look after any, or one was not expected */
} forks;
static _Thread_local heir *expected __attribute__((tls_model("initial-exec"))); /* of this thread's fork */

uint32_t tt_heap_forks(void) { return forks.count; }

static bool make_heirs(void) {
  pthread_mutexattr_t robust;
  void *made = mmap(NULL, sizeof *heirs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return false;
  heirs = made;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  for (int n = 0; n < HEIRS; n++)
    pthread_mutex_init(&heirs->at[n].alive, &robust);
  pthread_mutexattr_destroy(&robust);
  return true;
}

/* ---- who lives ---- */

static uint64_t namespace_of_processes(void) {
  struct stat about;
  return stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

/* Whether its first thread has ended, whose the mutex is, and others go on: it is marked so before it gives the mutex
 * up (field 9, PF_EXITING), and there are others (field 20). A process that runs another program has no such mark. */
static bool lives_on(const heir *of) {
  char path[64], text[512] = "";
  int cancel;
  if (of->namespace == 0 || of->namespace != namespace_of_processes())
    return true; /* who knows */
  snprintf(path, sizeof path, "/proc/%d/stat", (int)of->process);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* whoever calls this has the lock */
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool cannot = fd < 0 && errno != ENOENT;
  if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
    cannot = errno != ESRCH;
  if (fd >= 0)
    close(fd);
  pthread_setcancelstate(cancel, NULL);
  unsigned long field[21] = {0};
  const char *at = strrchr(text, ')'); /* field 2 ends there */
  for (int n = 3; at && n <= 20; n++) {
    at = strchr(at + 1, ' ');
    field[n] = at ? strtoul(at, NULL, 10) : 0;
  }
  return cannot || ((field[9] & EXITING) && field[20] > 1);
}

/* One whose process was expected, and has not come, may still come. Several processes may look: the state changes only
 * in the hands of who has the mutex, or from none. */
static bool lives(heir *each) {
  int lived = HEIR_LIVES, result;
  if (atomic_load_explicit(&each->state, memory_order_acquire) != HEIR_LIVES)
    return atomic_load_explicit(&each->state, memory_order_acquire) != HEIR_NONE;
  if ((result = pthread_mutex_trylock(&each->alive)) == EBUSY)
    return true;
  if (result == EOWNERDEAD)
    pthread_mutex_consistent(&each->alive);
  else if (result != 0)
    return true;
  if (!lives_on(each))
    atomic_compare_exchange_strong_explicit(&each->state, &lived, HEIR_NONE, memory_order_acq_rel,
                                            memory_order_relaxed);
  pthread_mutex_unlock(&each->alive);
  return atomic_load_explicit(&each->state, memory_order_acquire) != HEIR_NONE;
}

/* A child that ends may have had children meanwhile, in places that were looked at before. */
bool tt_heap_has_heirs(uint32_t from, uint32_t to) {
  uint32_t before, after;
  if (forks.blind || !heirs)
    return forks.blind;
  do {
    before = atomic_load_explicit(&heirs->times, memory_order_acquire);
    uint32_t first = atomic_load_explicit(&heirs->lost[0], memory_order_acquire);
    if (first > 0 && first <= to && atomic_load_explicit(&heirs->lost[1], memory_order_acquire) > from)
      return true;
    for (heir *each = heirs->at; each < heirs->at + HEIRS; each++)
      if (lives(each) && each->fork > from && each->fork <= to)
        return true;
    after = atomic_load_explicit(&heirs->times, memory_order_acquire);
  } while (before != after);
  return false;
}

static bool is_taken(heir *each) {
  int none = HEIR_NONE;
  return !lives(each) && atomic_compare_exchange_strong_explicit(&each->state, &none, HEIR_EXPECTED,
                                                                 memory_order_acq_rel, memory_order_relaxed);
}

/* Of several processes the widest range stays: each only makes it wider. */
static void lose(void) {
  uint32_t first = atomic_load_explicit(&heirs->lost[0], memory_order_relaxed);
  uint32_t last = atomic_load_explicit(&heirs->lost[1], memory_order_relaxed);
  while (last < forks.count && !atomic_compare_exchange_weak_explicit(&heirs->lost[1], &last, forks.count,
                                                                      memory_order_release, memory_order_relaxed))
    ;
  while ((first == 0 || first > forks.count) &&
         !atomic_compare_exchange_weak_explicit(&heirs->lost[0], &first, forks.count, memory_order_release,
                                                memory_order_relaxed))
    ;
}

void tt_heap_expect_heir(bool any) {
  forks.count += tt_heap.child ? 0 : 1;
  expected = NULL;
  if (!any)
    return;
  forks.blind = forks.blind || (!heirs && !make_heirs());
  for (int n = 0; heirs && n < HEIRS && !expected; n++)
    expected = is_taken(&heirs->at[n]) ? &heirs->at[n] : NULL;
  if (expected) {
    expected->fork = forks.count;
    expected->namespace = 0;
  } else if (heirs)
    lose();
  if (heirs)
    atomic_fetch_add_explicit(&heirs->times, 1, memory_order_release);
}

void tt_heap_be_heir(void) {
  if (!expected || pthread_mutex_lock(&expected->alive) != 0)
    return; /* it stays expected for ever */
  expected->process = getpid();
  expected->namespace = namespace_of_processes();
  atomic_store_explicit(&expected->state, HEIR_LIVES, memory_order_release);
}

void tt_heap_have_heir(bool failed) {
  if (expected && failed)
    atomic_store_explicit(&expected->state, HEIR_NONE, memory_order_release);
  expected = NULL;
}

void tt_heap_lose_sight(void) { forks.blind = true; }

/* bindings/mpi/progress.c - who moves works on.
 *
 * Mostly it is the program's own thread, in whatever MPI function it waits. Where such a function blocks inside MPI
 * (tt_mpi_pass_begin) a helper thread does it: started at the first need, asleep otherwise. Where MPI does not allow
 * calls from several threads the helper only moves tutti; the requests are completed by the program's next MPI call. */
#include "progress.h"

#include "lock.h"
#include "queue.h"
#include "state.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define HELPER_YIELDS 200
#define HELPER_NAP_NS 20000

static struct {
  pthread_t thread;
  bool exists, may_call_mpi;
  bool ends, at_work; /* under the mutex */
  pthread_cond_t wanted, parked;
} helper = {.wanted = PTHREAD_COND_INITIALIZER, .parked = PTHREAD_COND_INITIALIZER};

static _Thread_local int depth; /* of passes: MPI calls back */
static _Thread_local bool in_helper;

static int passes(void) { return atomic_load_explicit(&tt_mpi_passes, memory_order_seq_cst); }

/* ---- the program's thread ---- */

void tt_mpi_progress(void) {
  if (tt_mpi_quiet())
    return;
  if (!tt_mpi_trylock()) {
    sched_yield();
    return;
  }
  tt_mpi_queue_look();
  tt_mpi_unlock();
  tt_mpi_queue_complete();
}

/* Of other users of the context, some thread may wait when MPI ends. */
static struct {
  pthread_mutex_t lock;
  _Atomic bool restricted; /* a hint, relaxed: threads that wait begin later */
  bool begun;              /* under the lock */
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool in_first; /* the thread that has begun */

/* The helper may not call MPI, and need not: it is there because another thread is in MPI. MPICH does not move on when
 * it is asked for messages on a communicator of one rank. */
void tt_mpi_idle(void *user) {
  (void)user;
  int rank, found;
  bool may_call = in_first || !atomic_load_explicit(&idle.restricted, memory_order_relaxed);
  if (in_helper || !may_call || pthread_mutex_trylock(&idle.lock) != 0)
    return;
  if (idle.begun) {
    PMPI_Comm_rank(tt_mpi.world, &rank);
    PMPI_Iprobe(rank, 0, tt_mpi.world, &found, MPI_STATUS_IGNORE);
  }
  pthread_mutex_unlock(&idle.lock);
}

void tt_mpi_idle_begin(void) { in_first = idle.begun = true; }

void tt_mpi_idle_restrict(void) { atomic_store_explicit(&idle.restricted, true, memory_order_relaxed); }

void tt_mpi_idle_end(void) {
  pthread_mutex_lock(&idle.lock);
  idle.begun = false;
  pthread_mutex_unlock(&idle.lock);
}

/* ---- the helper ---- */

/* Down a ladder, so that on crowded cores those who work have them. */
static void nap(int64_t looks) {
  if (looks > HELPER_YIELDS)
    nanosleep(&(struct timespec){.tv_nsec = HELPER_NAP_NS}, NULL);
  else
    sched_yield();
}

/* Holds the mutex, gives it up for what may take longer. */
static void help_once(int64_t looks) {
  helper.at_work = true;
  tt_mpi_queue_look();
  pthread_mutex_unlock(&tt_mpi_mutex);
  if (helper.may_call_mpi)
    tt_mpi_queue_complete();
  pthread_mutex_lock(&tt_mpi_mutex);
  helper.at_work = false;
  pthread_cond_broadcast(&helper.parked);
  pthread_mutex_unlock(&tt_mpi_mutex);
  nap(looks);
  pthread_mutex_lock(&tt_mpi_mutex);
}

static void *help(void *unused) {
  (void)unused;
  in_helper = true;
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  int64_t looks = 0;
  pthread_mutex_lock(&tt_mpi_mutex);
  while (!helper.ends) {
    if (passes() > 0 && tt_mpi_queue_running() > 0) {
      help_once(++looks);
    } else {
      looks = 0;
      pthread_cond_wait(&helper.wanted, &tt_mpi_mutex);
    }
  }
  pthread_mutex_unlock(&tt_mpi_mutex);
  return NULL;
}

static void say_missing(int error) {
  static bool said;
  if (!said)
    fprintf(stderr,
            "tutti: no helper thread (%s): calls that are outstanding may stand still while this rank waits in MPI\n",
            strerror(error));
  said = true;
}

/* Signals are for the program's threads. */
static void start(void) {
  sigset_t all, before;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  helper.may_call_mpi = level == MPI_THREAD_MULTIPLE;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int error = pthread_create(&helper.thread, NULL, help, NULL);
  helper.exists = error == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error != 0)
    say_missing(error);
}

void tt_mpi_helper_post(void) {
  if (passes() == 0)
    return;
  if (!helper.exists)
    start();
  pthread_cond_signal(&helper.wanted);
}

void tt_mpi_helper_end(void) {
  if (!helper.exists)
    return;
  pthread_mutex_lock(&tt_mpi_mutex);
  helper.ends = true;
  pthread_cond_signal(&helper.wanted);
  pthread_mutex_unlock(&tt_mpi_mutex);
  pthread_join(helper.thread, NULL);
  helper.exists = helper.ends = false;
}

/* ---- passes ---- */

/* Another thread may start a work later, which then posts: so passes count without works too where there are threads.
 */
void tt_mpi_pass_begin(void) {
  if (!tt_mpi.threads && passes() == 0 && tt_mpi_queue_running() == 0)
    return;
  if (++depth > 1)
    return;
  tt_mpi_progress();
  atomic_fetch_add_explicit(&tt_mpi_passes, 1, memory_order_seq_cst); /* pairs with tt_mpi_queue_add */
  if (tt_mpi_queue_running() == 0)
    return;
  pthread_mutex_lock(&tt_mpi_mutex);
  tt_mpi_helper_post();
  pthread_mutex_unlock(&tt_mpi_mutex);
}

/* Where this was the only thread it must be the only one again. */
void tt_mpi_pass_end(void) {
  if (passes() == 0 || depth == 0 || --depth > 0)
    return;
  if (tt_mpi.threads) {
    atomic_fetch_sub_explicit(&tt_mpi_passes, 1, memory_order_relaxed);
  } else {
    pthread_mutex_lock(&tt_mpi_mutex);
    atomic_fetch_sub_explicit(&tt_mpi_passes, 1, memory_order_relaxed);
    while (helper.at_work)
      pthread_cond_wait(&helper.parked, &tt_mpi_mutex);
    pthread_mutex_unlock(&tt_mpi_mutex);
  }
  tt_mpi_progress();
}

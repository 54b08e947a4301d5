/* wait/progress.c - the thread that moves outstanding requests on while the program computes.
 *
 * It takes the context for one look at all requests and lets go of it again; a call of the program that waits for the
 * context gets it first. It naps, and after some time sleeps, while nothing is outstanding, and while a thread of the
 * program waits for a request, since that moves all of them. While nothing moves it goes down a ladder of its own:
 * spin, yield, sleep for a part of what it has slept, up to two milliseconds: a long wait takes 1 % of a core, and
 * its end is seen 3 % late.
 *
 * Beside programs that compute (contention.c) it rests in the transport's wait instead, which the rank's doorbell ends.
 * Elsewhere it does not: to be woken it interrupts all cores on which ranks compute (transport/shm/bell.c). The bell is
 * for the first that sleeps, this thread or one of the program's; other threads of the program sleep until that one
 * wakes or a request is complete. */
#include "wait/wait.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPINS 20
#define YIELDS 4000
#define SLEEP_NS 50000
#define SLEEP_MOST_NS 2000000
#define SLEEP_PART 32 /* of all that it has slept since something moved */
#define SPIN_NS 30000 /* before it rests: another rank's part of a slice */
#define REST_A_RANK_NS 200000
#define NAP_NS 200000
#define NAPS 50
#define YIELDS_TO_CALLS 64 /* a call may last */
#define BESIDE_NS 1000000  /* a sleep of a thread that the transport does not wake */
#define KEEPS_NS 200000    /* of one that keeps the context meanwhile */

struct tt_progress {
  tutti_context *context;
  tt_progress_move *move;
  pthread_t thread;
  pthread_mutex_t lock; /* recursive: calls of tutti use calls of tutti */
  pthread_cond_t posted;
  pthread_cond_t finished; /* some request is, or nobody sleeps in the transport's wait */
  bool sleeps;             /* a thread of the program, there; under the lock, as the others */
  _Atomic bool rests;      /* the thread, there; set under the lock, and no longer true before it waits for that */
  int64_t idle_ns;         /* since when nothing has moved; the thread's */
  int beside;              /* threads of the program that sleep on `finished`, */
  uint64_t calls;          /* and how often they were called: then they are in `wanted` */
  _Atomic int wanted;      /* threads of the program that wait for the lock: a hint, relaxed */
  int depth;               /* how often its holder has locked it */
  int waiting;             /* threads of the program that wait for requests and move them; under the lock */
  int naps; /* so many since there was something to do; NAPS: it sleeps until it is called; under the lock */
  bool ends;
};

void tt_progress_lock(tt_progress *progress) {
  atomic_fetch_add_explicit(&progress->wanted, 1, memory_order_relaxed); /* a hint; pairs with let_others */
  pthread_mutex_lock(&progress->lock);
  int wanted = atomic_fetch_sub_explicit(&progress->wanted, 1, memory_order_relaxed);
  assert(wanted > 0);
  (void)wanted;
  progress->depth++;
}

void tt_progress_unlock(tt_progress *progress) {
  assert(progress->depth > 0);
  progress->depth--;
  pthread_mutex_unlock(&progress->lock);
}

/* A hint. */
static bool rests(const tt_progress *progress) { return atomic_load_explicit(&progress->rests, memory_order_relaxed); }

/* Who starts a call mostly waits for it soon. The thread looks by itself in a moment. Who waits moves all of them. */
void tt_progress_post(const tutti_context *context) {
  const tt_progress *progress = context->progress;
  if (!progress)
    return;
  if (progress->naps == NAPS && progress->waiting == 0)
    pthread_cond_signal(&context->progress->posted);
  if (rests(progress))
    context->ops->wake(context->transport, context->rank);
}

void tt_progress_call(const tutti_context *context) {
  if (context->progress)
    pthread_cond_signal(&context->progress->posted);
}

static void yield_to_calls(tt_progress *progress) {
  for (int n = 0; n < YIELDS_TO_CALLS && atomic_load_explicit(&progress->wanted, memory_order_relaxed) > 0; n++)
    sched_yield();
}

/* ---- threads that wait ---- */

void tt_progress_begin_wait(tt_progress *progress) { progress->waiting++; }

void tt_progress_end_wait(tt_progress *progress) {
  assert(progress->waiting > 0);
  if (--progress->waiting == 0 && progress->context->outstanding > 0)
    tt_progress_post(progress->context);
}

/* A call of tutti within another one keeps the context: it may be in the middle of something. */
void tt_progress_give_way(tt_progress *progress) {
  if (progress->depth > 1 || atomic_load_explicit(&progress->wanted, memory_order_relaxed) == 0)
    return;
  tt_progress_unlock(progress);
  yield_to_calls(progress);
  tt_progress_lock(progress);
}

static void wait_on(tt_progress *progress, pthread_cond_t *cond, int64_t longest_ns) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  longest_ns += until.tv_nsec;
  until.tv_sec += longest_ns / 1000000000;
  until.tv_nsec = longest_ns % 1000000000;
  pthread_cond_timedwait(cond, &progress->lock, &until);
}

static void sleep_beside(tt_progress *progress, int64_t longest_ns) {
  uint64_t calls = progress->calls;
  progress->beside++;
  progress->depth--;
  wait_on(progress, &progress->finished, longest_ns < BESIDE_NS ? longest_ns : BESIDE_NS);
  progress->depth++;
  if (calls == progress->calls)
    progress->beside--;
  else
    atomic_fetch_sub_explicit(&progress->wanted, 1, memory_order_relaxed);
}

/* They have the context before the progress thread does. */
static void call_those_beside(tt_progress *progress) {
  atomic_fetch_add_explicit(&progress->wanted, progress->beside, memory_order_relaxed); /* a hint, as in lock */
  progress->beside = 0;
  progress->calls++;
  pthread_cond_broadcast(&progress->finished);
}

static int64_t sleep_in_transport(tt_progress *progress, int64_t longest_ns) {
  const tutti_context *context = progress->context;
  progress->sleeps = true;
  tt_progress_unlock(progress);
  context->ops->wait(context->transport, longest_ns);
  int64_t woken = tt_clock_ns(); /* before another thread's call may keep the context */
  tt_progress_lock(progress);
  progress->sleeps = false;
  call_those_beside(progress);
  return woken;
}

int64_t tt_progress_sleep(tt_progress *progress, int64_t longest_ns) {
  const tutti_context *context = progress->context;
  int64_t woken = 0; /* as soon as it has the context again */
  tt_progress_end_wait(progress);
  if (progress->depth > 1) /* within another call, which keeps the context */
    nanosleep(&(struct timespec){.tv_nsec = longest_ns < BESIDE_NS ? longest_ns : BESIDE_NS}, NULL);
  else if (context->machine.waits_beside && !progress->sleeps && !rests(progress))
    woken = sleep_in_transport(progress, longest_ns);
  else
    sleep_beside(progress, longest_ns);
  tt_progress_begin_wait(progress);
  return woken > 0 ? woken : tt_clock_ns();
}

int tt_progress_ask(tt_progress *progress) {
  const tutti_context *context = progress->context;
  int (*call)(void *user) = context->interrupted.call;
  void *user = context->interrupted.user;
  if (progress->depth > 1) /* as with a sleep */
    return call(user);
  tt_progress_end_wait(progress);
  tt_progress_unlock(progress);
  int answer = call(user);
  tt_progress_lock(progress);
  tt_progress_begin_wait(progress);
  return answer;
}

/* Its bell, and what the transport delivers, may be for a thread that sleeps there without the context. */
void tt_progress_keep_asleep(const tt_progress *progress, int64_t longest_ns) {
  const tutti_context *context = progress->context;
  if (progress->sleeps)
    nanosleep(&(struct timespec){.tv_nsec = longest_ns < KEEPS_NS ? longest_ns : KEEPS_NS}, NULL);
  else
    context->ops->wait(context->transport, longest_ns < BESIDE_NS ? longest_ns : BESIDE_NS);
}

void tt_progress_finished(tt_progress *progress) {
  const tutti_context *context = progress->context;
  if (progress->sleeps)
    context->ops->wake(context->transport, context->rank);
  call_those_beside(progress);
}

/* ---- the thread ---- */

/* How long it sleeps next. */
static int64_t sleep_after(int64_t slept_ns) {
  int64_t part_ns = slept_ns / SLEEP_PART;
  return part_ns < SLEEP_NS ? SLEEP_NS : part_ns > SLEEP_MOST_NS ? SLEEP_MOST_NS : part_ns;
}

static void yield(tutti_context *context) {
  if (context->machine.foreign)
    sched_yield();
  else
    tt_contention_measure(&context->contention);
}

/* What the thread does after so many looks at which nothing moved. */
typedef enum step { SPIN, YIELD, SLEEP, REST } step;

static step step_after(tt_progress *progress, int64_t idle, int64_t now) {
  const tutti_context *context = progress->context;
  if (idle <= 1)
    progress->idle_ns = now;
  if (!context->machine.foreign && tt_contention_expected(&context->contention, now)) {
    if (now - progress->idle_ns <= SPIN_NS)
      return SPIN;
    return context->machine.waits_beside && !progress->sleeps ? REST : SLEEP;
  }
  if (idle > SPINS + YIELDS)
    return SLEEP;
  return idle > SPINS || (context->machine.crowded && idle > 0) ? YIELD : SPIN;
}

/* How long: a rest is longer where more ranks share the machine, so that all of them together wake as often. */
static int64_t length_of(const tt_progress *progress, step next, int64_t slept_ns) {
  int64_t ns = next == SLEEP || next == REST ? sleep_after(slept_ns) : 0;
  int64_t least_ns = next == REST ? REST_A_RANK_NS * progress->context->contention.process_count : 0;
  return ns > least_ns ? ns : least_ns;
}

static void take(tt_progress *progress, step next, int64_t ns) {
  tutti_context *context = progress->context;
  if (next == YIELD)
    yield(context);
  if (next == SLEEP)
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
  if (next == REST)
    context->ops->wait(context->transport, ns);
  atomic_store_explicit(&progress->rests, false, memory_order_relaxed); /* a hint */
}

/* slept_ns: how long it has slept since something moved. Others have the context meanwhile. Returns how long the job
 * was stopped. */
static int64_t pause_for(tt_progress *progress, int64_t idle, int64_t *slept_ns) {
  int64_t now = tt_clock_ns();
  step next = step_after(progress, idle, now);
  int64_t ns = length_of(progress, next, *slept_ns);
  atomic_store_explicit(&progress->rests, next == REST, memory_order_relaxed);
  pthread_mutex_unlock(&progress->lock);
  take(progress, next, ns);
  int64_t late_ns = ns > 0 ? tt_clock_ns() - now - ns : 0;
  *slept_ns = ns > 0 ? *slept_ns + ns : 0;
  yield_to_calls(progress);
  pthread_mutex_lock(&progress->lock);
  if (next == REST)
    call_those_beside(progress);
  return late_ns > TT_STOPPED_NS ? late_ns : 0;
}

/* There is nothing to do for it now. */
static void nap(tt_progress *progress) {
  if (progress->naps == NAPS) {
    pthread_cond_wait(&progress->posted, &progress->lock);
    progress->naps = 0;
    return;
  }
  progress->naps++;
  wait_on(progress, &progress->posted, NAP_NS);
}

static void *move_on(void *argument) {
  tt_progress *progress = argument;
  tutti_context *context = progress->context;
  int64_t idle = 0, slept_ns = 0, stopped_ns = 0;
  pthread_mutex_lock(&progress->lock);
  while (!progress->ends) {
    assert(context->outstanding >= 0);
    if (context->outstanding == 0 || progress->waiting > 0) {
      nap(progress);
      idle = stopped_ns = 0;
      continue;
    }
    progress->naps = 0;
    bool moved = false;
    progress->move(context, stopped_ns, &moved);
    idle = moved ? 0 : idle + 1;
    stopped_ns = pause_for(progress, idle, &slept_ns);
  }
  pthread_mutex_unlock(&progress->lock);
  return NULL;
}

/* ---- start and stop ---- */

static void init_lock(tt_progress *progress) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&progress->lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_condattr_t of_cond;
  pthread_condattr_init(&of_cond);
  pthread_condattr_setclock(&of_cond, CLOCK_MONOTONIC);
  pthread_cond_init(&progress->posted, &of_cond);
  pthread_cond_init(&progress->finished, &of_cond);
  pthread_condattr_destroy(&of_cond);
}

static int create_thread(tt_progress *progress) {
  int64_t core = tt_options_get()->progress_core;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core >= 0 && core < CPU_SETSIZE) {
    CPU_SET((size_t)core, &set);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's handlers run in its own threads */
  int error = pthread_create(&progress->thread, &attributes, move_on, progress);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

static void destroy(tt_progress *progress) {
  pthread_cond_destroy(&progress->posted);
  pthread_cond_destroy(&progress->finished);
  pthread_mutex_destroy(&progress->lock);
  free(progress);
}

tutti_status tt_progress_asked(bool *asked) {
  const char *how = tt_options_get()->progress;
  *asked = strcmp(how, "thread") == 0;
  if (!*asked && *how)
    return tt_fail(TUTTI_ERR_ARGUMENT, "TUTTI_PROGRESS is '%s'; it may be 'thread' or empty", how);
  return TUTTI_OK;
}

tutti_status tt_progress_start(tutti_context *context, tt_progress_move *move) {
  tt_progress *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a progress thread");
  assert(!context->progress);
  made->context = context;
  made->move = move;
  init_lock(made);
  pthread_mutex_lock(&made->lock); /* the thread looks at context->progress */
  int error = create_thread(made);
  context->progress = error ? NULL : made;
  pthread_mutex_unlock(&made->lock);
  if (error) {
    destroy(made);
    return tt_fail(TUTTI_ERR_SYSTEM, "the progress thread did not start on core %" PRId64 " (TUTTI_PROGRESS_CORE): %s",
                   tt_options_get()->progress_core, strerror(error));
  }
  return TUTTI_OK;
}

void tt_progress_stop(tutti_context *context) {
  tt_progress *progress = context->progress;
  if (!progress)
    return;
  assert(context->outstanding == 0);
  tt_progress_lock(progress);
  progress->ends = true;
  pthread_cond_signal(&progress->posted);
  if (rests(progress))
    context->ops->wake(context->transport, context->rank);
  tt_progress_unlock(progress);
  pthread_join(progress->thread, NULL);
  context->progress = NULL;
  destroy(progress);
}

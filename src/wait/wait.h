/* wait/wait.h - what a rank does while it has nothing to do.
 *
 *     ladder.c       spin, yield, sleep; and a look around from time to time
 *     contention.c   programs that are not the job's and compute on cores that its ranks wait on
 *     progress.c     a thread that moves requests on meanwhile */
#ifndef TT_WAIT_WAIT_H
#define TT_WAIT_WAIT_H

#include "agree/agree.h"
#include "exec/exec.h"
#include "job/job.h"

/* ---- ladder.c ---- */
/* How long nothing has moved. All zero: something just has. */
typedef struct tt_waiter {
  int64_t polls, spins, spins_ns, began_ns, checked_ns;
  uint64_t moves;       /* of the communicator's requests, when it was last zero */
  int64_t before_ns;    /* that it had waited when this wait began: for people */
  int64_t timeout_ns;   /* its own time limit; 0: TUTTI_TIMEOUT */
  tt_progress *lets_go; /* of the context that other threads may have while nothing moves; NULL: they may not */
} tt_waiter;

/* Called when nothing moved in that call, which the executor runs: waits a little. An error says that the wait is in
 * vain: mismatch, death, timeout; the communicator is broken then. */
tutti_status tt_wait_pause(tutti_comm *comm, const tt_executor *executor, uint64_t number, tt_waiter *waiter);
/* The same for one who polls: without waiting, but others get the core where it is short of them. */
tutti_status tt_wait_look(tutti_comm *comm, uint64_t number, tt_waiter *waiter);
/* The same for calls that nobody asks about now: beside others, or by the progress thread. Calls nothing of the
 * program's. moves: the transport, too, else only now and then. */
tutti_status tt_wait_watch(tutti_comm *comm, uint64_t number, tt_waiter *waiter, bool moves);
/* A sleep that lasts so much longer was no sleep alone: nothing but a stop of the job (Ctrl-Z) or of its machine takes
 * a rank as long to wake up. */
#define TT_STOPPED_NS 1000000000
/* What has waited was stopped for so long, which its time limit does not count. */
void tt_wait_excuse(tt_waiter *waiter, int64_t stopped_ns);
/* Waits a little for ranks that have not stopped before a refused call yet. */
tutti_status tt_wait_settle(tutti_comm *comm, uint64_t number, tt_waiter *waiter);

/* ---- contention.c ---- */
/* process: of each rank that may share cores with this one, in any order; sorted then. */
tutti_status tt_contention_open(tt_contention *contention, int64_t *process, int64_t count);
void tt_contention_close(tt_contention *contention);
/* Gives the core to whoever wants it, and finds out now and then who that is. */
void tt_contention_yield(tt_contention *contention);
/* The same each time, by any thread; whether the core came back late. */
bool tt_contention_measure(tt_contention *contention);
static inline bool tt_contention_expected(const tt_contention *contention, int64_t now) {
  return now < atomic_load_explicit(&contention->news->until_ns, memory_order_relaxed);
}

/* ---- progress.c: one thread at a time in a context, the program's or the one that moves requests on meanwhile ----
 *
 * Where neither TUTTI_PROGRESS=thread nor tutti_context_progress asks for it there is no second one, and holding a
 * context costs a look at a pointer. */

/* Whether the options ask for the thread. */
tutti_status tt_progress_asked(bool *asked);
/* Starts the thread. move: moves the context's requests on, and looks around for those that do not; *moved: some did.
 * stopped_ns: how long the job was stopped just before. */
typedef void tt_progress_move(tutti_context *context, int64_t stopped_ns, bool *moved);
tutti_status tt_progress_start(tutti_context *context, tt_progress_move *move);
void tt_progress_stop(tutti_context *context); /* it is gone when this returns; accepts one without */
/* There are outstanding requests now: the thread moves them in a moment, or at once. The context is held. */
void tt_progress_post(const tutti_context *context);
void tt_progress_call(const tutti_context *context);

void tt_progress_lock(tt_progress *progress);
void tt_progress_unlock(tt_progress *progress);
/* A thread that holds the context waits for a request, and moves all of them: the progress thread need not. */
void tt_progress_begin_wait(tt_progress *progress);
void tt_progress_end_wait(tt_progress *progress);
/* Others that want the context have it first. */
void tt_progress_give_way(tt_progress *progress);
/* Sleeps, in the transport's wait where no other thread does so already, until something comes, some request is
 * complete, or that time is over. Meanwhile others have the context, and the progress thread moves requests. Returns
 * when it woke: in the transport's wait, before it had the context again. Elsewhere that is not known, so that a thread
 * which keeps the context for seconds is taken for a stop. */
int64_t tt_progress_sleep(tt_progress *progress, int64_t longest_ns);
/* Asks the user's `interrupted`, which there is. Meanwhile others have the context, and the progress thread moves
 * requests. */
int tt_progress_ask(tt_progress *progress);
/* Sleeps for a moment, by a thread that keeps the context. */
void tt_progress_keep_asleep(const tt_progress *progress, int64_t longest_ns);
/* A request is complete: threads that sleep look at theirs. */
void tt_progress_finished(tt_progress *progress);
/* Of its progress thread; NULL where it has none, or is NULL; a fork has no threads but one, and the lock as it was. */
static inline tt_progress *tt_progress_of(const tutti_context *context) {
  return context && context->progress && !tt_context_is_copy(context) ? context->progress : NULL;
}
static inline tt_progress *tt_hold(tt_progress *progress) {
  if (progress)
    tt_progress_lock(progress);
  return progress;
}

static inline void tt_release(tt_progress *const *progress) {
  if (*progress)
    tt_progress_unlock(*progress);
}

/* Holds the context until the end of the block; again where this thread holds it already.
 */
#define TT_HOLD(context)                                                                                               \
  tt_progress *const held __attribute__((cleanup(tt_release), unused)) = tt_hold(tt_progress_of(context))

#endif

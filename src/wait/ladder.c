/* wait/ladder.c - the waiting ladder: spin where every rank has a core, then yield, then sleep; with a look around from
 * time to time. Beside programs that compute it sleeps at once (contention.c).
 *
 * On the way down it asks less and less often whether the wait is in vain (agree/check.c): every millisecond while it
 * yields, at wake-ups while it sleeps. A library beside tutti that has to be called now and then (options.idle) is
 * called from the first microseconds on, and sleeps are short then.
 *
 * What comes from another machine is found only by moving the transport. Who waits for it does so at every look, and
 * sleeps until there is something to move; for a small part of the wait at most where the transport cannot wake. Who
 * waits for ranks of its own machine leaves the core to those, and moves the transport now and then for the sake of
 * others. */
#include "wait/wait.h"

#include <assert.h>
#include <inttypes.h>
#include <sched.h>

#define CHECK_NS 1000000
#define CHECK_A_PAIR_NS 500 /* each rank's look around asks about each */
#define CHECK_MOST_NS 1000000000
#define SLEEP_NS 20000000
#define SLEEP_A_RANK_NS 200000 /* or those that wake up keep the cores busy */
#define SHORT_SLEEP_NS 200000
#define LEAST_SLEEP_NS 50000 /* shorter ones take as long */
#define WAITS_A_SLEEP 32     /* of another machine: no more than that part is lost */
#define MOVE_NS 100000
#define YIELDS_A_LOOK 64
#define NEIGHBOURS 64 /* where more ranks share cores, nobody looks who shares whose */
#define IDLE_NS 5000
#define INTERRUPTED_NS 10000000
#define SPINS_AN_IDLE 64   /* a few microseconds */
#define SPINS_A_MOVE 16    /* that take as long */
#define SPINS_A_LOOK 65536 /* some milliseconds: TUTTI_SPIN may be for ever */

/* 0: none. */
static int64_t timeout_of(const tutti_comm *comm, const tt_waiter *waiter) {
  if (waiter->timeout_ns > 0)
    return waiter->timeout_ns;
  return comm->calls.creates ? comm->context->create_timeout_ns : tt_options_get()->timeout_ns;
}

/* For people. */
static const char *limit_of(const tutti_comm *comm, const tt_waiter *waiter) {
  if (waiter->timeout_ns > 0)
    return "the wait's own time limit";
  if (!comm->calls.creates)
    return "TUTTI_TIMEOUT";
  bool given = comm->context->create_timeout_ns != tt_options_get()->create_timeout_ns;
  return given ? "the context's own time limit" : "TUTTI_CREATE_TIMEOUT";
}

static int64_t at_least(int64_t ns, int64_t least_ns) { return ns > least_ns ? ns : least_ns; }

static bool is_over(const tutti_comm *comm, const tt_waiter *waiter, int64_t now) {
  int64_t timeout = timeout_of(comm, waiter);
  return timeout > 0 && now - waiter->began_ns > timeout;
}

/* Whether it is time to look around; at once where some rank is known to have broken the communicator. */
static bool is_due(const tutti_comm *comm, const tt_waiter *waiter, int64_t now) {
  int64_t often_ns = at_least(CHECK_A_PAIR_NS * comm->size * comm->size, CHECK_NS);
  return now - waiter->checked_ns > (often_ns < CHECK_MOST_NS ? often_ns : CHECK_MOST_NS) || tt_agree_poisoned(comm) ||
         is_over(comm, waiter, now);
}

static tutti_status look_around(tutti_comm *comm, uint64_t number, tt_waiter *waiter, int64_t now) {
  assert(number > 0 && waiter->began_ns > 0 && waiter->began_ns <= now);
  waiter->checked_ns = now;
  if (comm->apart)
    tt_notes_look(comm, number, now - waiter->began_ns, now);
  tt_refuse_tend_all(comm->context, now - waiter->began_ns, now);
  tutti_status status = tt_agree_check(comm, number);
  if (status == TUTTI_OK && is_over(comm, waiter, now))
    status = tt_agree_timeout(comm, number, waiter->before_ns + now - waiter->began_ns, limit_of(comm, waiter));
  return status;
}

/* ---- others that want to move on ---- */

/* The user's, not more often than every few microseconds. now: of the clock, after that long a wait. */
static void let_idle(tutti_context *context, int64_t now) {
  if (now - context->idle.called_ns < IDLE_NS)
    return;
  context->idle.call(context->idle.user);
  context->idle.called_ns = now;
}

/* Whether the user has had enough of waiting. What he does meanwhile may need other threads' calls. These may end the
 * call that waits, and destroy its communicator: nobody uses either behind this before he has looked. */
static tutti_status ask_user(tutti_comm *comm, const tt_waiter *waiter, int64_t now) {
  tutti_context *context = comm->context;
  if (!context->interrupted.call || now - context->interrupted.called_ns < INTERRUPTED_NS)
    return TUTTI_OK;
  context->interrupted.called_ns = now;
  tutti_comm *asker = tt_comm_main(comm);
  uint64_t id = asker->id;
  int stops = waiter->lets_go ? tt_progress_ask(waiter->lets_go) : context->interrupted.call(context->interrupted.user);
  if (stops == 0 || (waiter->lets_go && tt_index_find(&context->made.by_number, id) != asker))
    return TUTTI_OK;
  return tt_agree_break(asker, TUTTI_ERR_ABORTED, "rank %" PRId64 " was interrupted", asker->rank);
}

static bool is_member(const tutti_comm *comm, int64_t job_rank) {
  for (int64_t r = 0; r < comm->size; r++)
    if (comm->job_rank[r] == job_rank)
      return true;
  return false;
}

static tutti_status move_transport(tutti_comm *comm, uint64_t number) {
  int64_t peer = -1;
  tutti_status status = comm->context->ops->progress(comm->context->transport, &peer);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  if (status == TUTTI_ERR_PEER && comm->context->ops->peer_dead)
    return tt_agree_check(comm, number); /* decides whether it is one of ours */
  if (status == TUTTI_ERR_PEER)
    return is_member(comm, peer) ? tt_agree_break(comm, status, "rank %" PRId64 " of the job is lost", peer) : TUTTI_OK;
  return tt_agree_break(comm, status, "%s", tutti_last_error());
}

/* Whether what the rank waits for is seen only when the transport is moved. */
static bool awaits_far(const tutti_comm *comm, const tt_executor *executor) {
  const tutti_context *context = comm->context;
  if (!context->machine.head_of || context->outstanding > 0) /* the user's alone; or calls on any communicator */
    return context->machine.foreign;
  return comm->apart && executor->ops->awaits_far(executor);
}

static tutti_status move_sometimes(tutti_comm *comm, uint64_t number, int64_t now) {
  if (now - comm->context->moved_ns < MOVE_NS)
    return TUTTI_OK;
  comm->context->moved_ns = now;
  return move_transport(comm, number);
}

/* The time; a wait that has just begun begins then. */
static int64_t time_of(tt_waiter *waiter) {
  int64_t now = tt_clock_ns();
  if (waiter->began_ns == 0)
    waiter->began_ns = waiter->checked_ns = now;
  return now;
}

void tt_wait_excuse(tt_waiter *waiter, int64_t stopped_ns) {
  int64_t now = time_of(waiter), began_ns = waiter->began_ns + stopped_ns;
  waiter->began_ns = began_ns < now ? began_ns : now; /* it may have begun since */
}

/* moves: what comes is seen only when the transport is moved. */
static tutti_status look(tutti_comm *comm, uint64_t number, tt_waiter *waiter, bool moves, int64_t now) {
  tutti_status status = moves ? move_transport(comm, number) : move_sometimes(comm, number, now);
  return status == TUTTI_OK && is_due(comm, waiter, now) ? look_around(comm, number, waiter, now) : status;
}

tutti_status tt_wait_watch(tutti_comm *comm, uint64_t number, tt_waiter *waiter, bool moves) {
  int64_t now = time_of(waiter);
  return look(comm, number, waiter, moves, now);
}

tutti_status tt_wait_look(tutti_comm *comm, uint64_t number, tt_waiter *waiter) {
  int64_t now = time_of(waiter);
  tutti_status status = look(comm, number, waiter, true, now);
  if (comm->context->idle.call)
    let_idle(comm->context, now);
  if (comm->wait.crowded)
    sched_yield();
  return status;
}

/* ---- where cores are shared ---- */

/* Says where this rank runs, and looks where the others did: on whatever communicator. */
static void find_neighbours(tutti_comm *comm) {
  assert(comm->size <= NEIGHBOURS);
  tt_board *const *board = comm->context->made.control->agree.board;
  uint32_t core = (uint32_t)sched_getcpu() + 1;
  atomic_store_explicit(&board[comm->context->rank]->core, core, memory_order_relaxed);
  comm->wait.crowded = comm->context->machine.crowded;
  for (int64_t r = 0; r < comm->size; r++) {
    bool shares = r != comm->rank && !comm->far[r] && core > 0 &&
                  atomic_load_explicit(&board[comm->job_rank[r]]->core, memory_order_relaxed) == core;
    tt_stream_table_set_neighbour(comm->streams, r, shares);
    comm->wait.crowded = comm->wait.crowded || shares; /* bound to one core, though there are enough */
  }
}

/* Gives the core to a rank that shares it. */
static void yield(tutti_comm *comm, tt_waiter *waiter) {
  if (comm->apart)
    sched_yield();
  else
    tt_contention_yield(&comm->context->contention);
  waiter->polls = 0;
  if (comm->agree.board && comm->context->made.control->agree.board && comm->size <= NEIGHBOURS &&
      comm->wait.yields++ % YIELDS_A_LOOK == 0)
    find_neighbours(comm);
}

/* A core of one's own can be spent on waiting. A shared one only while those are waited for who do not need it: going
 * away and coming back takes longer than they do. Between machines everything takes longer than a yield, and what are
 * machines to MPI may share cores. */
static bool may_spin(const tutti_comm *comm, const tt_executor *executor, tt_waiter *waiter) {
  if (!comm->wait.crowded && !comm->apart)
    return waiter->polls++ < tt_options_get()->spin;
  if (!comm->agree.board || comm->size > NEIGHBOURS || executor->ops->awaits_neighbour(executor))
    return false;
  int64_t now = tt_clock_ns();
  if (waiter->polls++ == 0)
    waiter->spins_ns = now;
  return now - waiter->spins_ns < tt_options_get()->shared_spin_ns;
}

/* How long to sleep after that long a wait; 0: not at all. */
static int64_t sleep_after(const tutti_comm *comm, bool far, int64_t waited_ns, int64_t now) {
  const tutti_context *context = comm->context;
  bool expected = !comm->apart && tt_contention_expected(&context->contention, now);
  bool yields = waited_ns <= tt_options_get()->yield_ns && !expected;
  if (!context->ops->wait || yields)
    return 0;
  if (!context->idle.call && (!context->machine.head_of || context->machine.wakes))
    return at_least(SLEEP_A_RANK_NS * comm->size, SLEEP_NS);
  int64_t part = waited_ns / WAITS_A_SLEEP;
  if (!far || !context->machine.head_of || part > SHORT_SLEEP_NS)
    return SHORT_SLEEP_NS;
  return part < LEAST_SLEEP_NS ? 0 : part;
}

/* A sleep of that length after that long a wait, but no longer than the time limit lets it wait. */
static int64_t within_limit(const tutti_comm *comm, const tt_waiter *waiter, int64_t waited_ns, int64_t longest_ns) {
  int64_t limit_ns = timeout_of(comm, waiter), left_ns = limit_ns - waited_ns;
  return limit_ns > 0 && left_ns < longest_ns ? at_least(left_ns + 1, LEAST_SLEEP_NS) : longest_ns;
}

/* When it woke. */
static int64_t sleep_for(const tutti_context *context, tt_progress *lets_go, int64_t longest_ns) {
  if (lets_go)
    return tt_progress_sleep(lets_go, longest_ns);
  if (tt_progress_of(context))
    tt_progress_keep_asleep(context->progress, longest_ns);
  else
    context->ops->wait(context->transport, longest_ns);
  return tt_clock_ns();
}

/* The time after that. The executor may have gone when others had the context meanwhile. A time limit is no limit of
 * how long the system keeps a rank from running: what a stopped job (Ctrl-Z) has lost, or one on a machine that slept,
 * it gets back. */
static int64_t sleep_at_most(tutti_comm *comm, const tt_executor *executor, tt_waiter *waiter, int64_t longest_ns,
                             int64_t now) {
  assert(longest_ns > 0);
  longest_ns = within_limit(comm, waiter, now - waiter->began_ns, longest_ns);
  executor->ops->prepare_sleep(executor, comm->context->outstanding == 0);
  int64_t woken = sleep_for(comm->context, waiter->lets_go, longest_ns);
  if (woken - now > longest_ns + TT_STOPPED_NS)
    waiter->began_ns += woken - now - longest_ns;
  return waiter->lets_go ? tt_clock_ns() : woken;
}

static tutti_status spin(tutti_comm *comm, uint64_t number, bool far, tt_waiter *waiter) {
  if (comm->context->idle.call && waiter->polls % SPINS_AN_IDLE == 0)
    let_idle(comm->context, tt_clock_ns());
  tt_relax();
  if (++waiter->spins % SPINS_A_LOOK == 0) {
    int64_t now = time_of(waiter);
    tutti_status status = look(comm, number, waiter, far, now);
    return status == TUTTI_OK ? ask_user(comm, waiter, now) : status;
  }
  if (!far)
    return TUTTI_OK;
  waiter->polls += SPINS_A_MOVE;
  return move_transport(comm, number);
}

tutti_status tt_wait_pause(tutti_comm *comm, const tt_executor *executor, uint64_t number, tt_waiter *waiter) {
  bool far = awaits_far(comm, executor);
  if (may_spin(comm, executor, waiter))
    return spin(comm, number, far, waiter);
  int64_t now = time_of(waiter);
  int64_t waited = now - waiter->began_ns, longest_ns = sleep_after(comm, far, waited, now);
  if (longest_ns > 0) /* before the transport moves: what it delivers is looked at first */
    now = sleep_at_most(comm, executor, waiter, longest_ns, now);
  if (waiter->lets_go && waiter->moves != comm->queue.moves) /* another thread has moved the call */
    return TUTTI_OK;
  bool moves = far || !comm->context->machine.head_of;
  tutti_status status = look(comm, number, waiter, moves, now);
  if (status != TUTTI_OK)
    return status;
  if (comm->context->idle.call && waited > IDLE_NS)
    let_idle(comm->context, now);
  if (longest_ns == 0)
    yield(comm, waiter);
  return ask_user(comm, waiter, now);
}

/* Whoever stops rings. */
tutti_status tt_wait_settle(tutti_comm *comm, uint64_t number, tt_waiter *waiter) {
  const tutti_context *context = comm->context;
  bool before = comm->refused.settling;
  comm->refused.settling = true; /* now an error of the wait is one */
  tutti_status status = tt_wait_look(comm, number, waiter);
  comm->refused.settling = before;
  int64_t now = tt_clock_ns();
  if (status == TUTTI_OK)
    status = ask_user(comm, waiter, now);
  if (status == TUTTI_OK && context->ops->wait && now - waiter->began_ns > tt_options_get()->yield_ns)
    sleep_for(context, waiter->lets_go, SHORT_SLEEP_NS);
  else
    sched_yield();
  return status;
}

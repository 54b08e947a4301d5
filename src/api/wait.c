/* api/wait.c - the waiting ladder: spin where every rank has a core, then yield, then sleep; with a look around from
 * time to time.
 *
 * On the way down it asks less and less often whether the wait is in vain (agree.c): every millisecond while it yields,
 * at every wake-up while it sleeps. */
#include "api/api.h"

#include <inttypes.h>
#include <sched.h>

#define CHECK_NS 1000000
#define SLEEP_NS 20000000
#define YIELDS_A_LOOK 64

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/* 0: none. */
static int64_t timeout_of(const tutti_comm *comm) {
  return comm->creates ? comm->context->create_timeout_ns : tt_options_get()->timeout_ns;
}

static tutti_status look_around(tutti_comm *comm, uint64_t number, tt_waiter *waiter, int64_t now) {
  int64_t timeout = timeout_of(comm);
  waiter->checked_ns = now;
  tutti_status status = tt_agree_check(comm, number);
  if (status == TUTTI_OK && timeout > 0 && now - waiter->began_ns > timeout)
    status = tt_agree_timeout(comm, number, now - waiter->began_ns);
  return status;
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

tutti_status tt_wait_look(tutti_comm *comm, uint64_t number, tt_waiter *waiter) {
  int64_t now = tt_clock_ns();
  if (waiter->began_ns == 0)
    waiter->began_ns = waiter->checked_ns = now;
  tutti_status status = move_transport(comm, number);
  if (status == TUTTI_OK && now - waiter->checked_ns > CHECK_NS)
    status = look_around(comm, number, waiter, now);
  if (comm->crowded)
    sched_yield();
  return status;
}

/* ---- where cores are shared ---- */

static bool awaits_neighbour(const tt_operation *operation) {
  const tt_entry *entry = operation->bound->entry;
  return operation->bound->direct ? tt_direct_awaits_neighbour(entry->direct)
                                  : tt_instance_awaits_neighbour(entry->instance);
}

/* Says where this rank runs, and looks where the others did. */
static void find_neighbours(tutti_comm *comm) {
  uint32_t core = (uint32_t)sched_getcpu() + 1;
  __atomic_store_n(&comm->board[comm->rank]->core, core, __ATOMIC_RELAXED);
  comm->crowded = comm->context->crowded;
  for (int64_t r = 0; r < comm->size; r++) {
    comm->neighbour[r] =
        r != comm->rank && core > 0 && __atomic_load_n(&comm->board[r]->core, __ATOMIC_RELAXED) == core;
    comm->crowded = comm->crowded || comm->neighbour[r]; /* bound to one core, though there are enough */
  }
}

/* Gives the core to a rank that shares it. */
static void yield(tutti_comm *comm, tt_waiter *waiter) {
  sched_yield();
  waiter->polls = 0;
  if (comm->board && comm->yields++ % YIELDS_A_LOOK == 0)
    find_neighbours(comm);
}

/* A core of one's own can be spent on waiting. A shared one only while those are waited for who do not need it: going
 * away and coming back takes longer than they do. */
static bool may_spin(const tutti_comm *comm, const tt_operation *operation, tt_waiter *waiter) {
  if (!comm->crowded)
    return waiter->polls++ < tt_options_get()->spin;
  if (!comm->board || awaits_neighbour(operation))
    return false;
  int64_t now = tt_clock_ns();
  if (waiter->polls++ == 0)
    waiter->spins_ns = now;
  return now - waiter->spins_ns < tt_options_get()->shared_spin_ns;
}

tutti_status tt_wait_pause(tutti_comm *comm, const tt_operation *operation, tt_waiter *waiter) {
  const tt_options *options = tt_options_get();
  uint64_t number = operation->number;
  if (may_spin(comm, operation, waiter)) {
    relax();
    return TUTTI_OK;
  }
  int64_t now = tt_clock_ns();
  if (waiter->began_ns == 0)
    waiter->began_ns = waiter->checked_ns = now;
  tutti_status status = move_transport(comm, number);
  if (status != TUTTI_OK)
    return status;
  bool sleeps = now - waiter->began_ns > options->yield_ns && comm->context->ops->wait;
  if (sleeps || now - waiter->checked_ns > CHECK_NS)
    status = look_around(comm, number, waiter, now);
  if (status != TUTTI_OK)
    return status;
  if (sleeps)
    comm->context->ops->wait(comm->context->transport, SLEEP_NS);
  else
    yield(comm, waiter);
  return TUTTI_OK;
}

/* api/refuse.c - one rank refuses a call that the others make; the communicator survives it.
 *
 * A refused call keeps its number. Ranks that are in it, or behind it, stop, and say up to which call they are through.
 * When all have said so, what somebody is through with is over for all (an error on those who are not), and every rank
 * goes on with the next call on streams and cells of a new *epoch*: nothing of the given up calls lies in those. On one
 * machine who is in the refused call itself leaves it at once, and waits for the others in its next one. Ranks that are
 * through with their calls say so from whatever they wait in.
 *
 *     rank 0   bcast 5 done   | barrier 6 ... stops: through with 5 |  over: 5  | barrier 6 again, in the next epoch
 *     rank 1   bcast 5 refused, stops: through with 5   | barrier 6 |           | barrier 6
 *     rank 2   allreduce 4 ... done | bcast 5: stops: through with 4|           | 5 is an error | barrier 6
 *
 * What ranks of one machine say stands in their cells of the board, for this epoch and the one before, since nobody can
 * be further apart; other machines are told by notes, again and again while this rank waits. Each rank has one refusal
 * in an epoch: more of its own wait for the next. */
#include "api/refuse.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TELL_NS 50000000
#define TEND_NS 5000000
#define LISTEN_NS 50000000

struct tt_refusal {
  uint64_t number;
  char text[TT_REFUSED_TEXT];
  struct tt_refusal *next;
};

static uint64_t tag_of(const tutti_comm *comm) { return (uint64_t)comm->epoch + 1; }

/* NULL: on another machine, and has told nothing. */
static tt_stop *stop_of(const tutti_comm *comm, int64_t rank) {
  return comm->board[rank] ? &comm->board[rank]->stop[comm->epoch & 1] : NULL;
}

/* ---- saying ---- */

/* All ranks of this machine look at what was refused. */
static void disturb(const tutti_comm *comm) {
  uint32_t tag = comm->epoch + 1;
  for (int64_t r = 0; r < comm->size; r++) {
    if (comm->far[r])
      continue;
    uint32_t *disturbed = &comm->board[r]->disturbed, before = __atomic_load_n(disturbed, __ATOMIC_RELAXED);
    while (before < tag && !__atomic_compare_exchange_n(disturbed, &before, tag, true, __ATOMIC_RELEASE,
                                                        __ATOMIC_RELAXED)) /* pairs with tt_refuse_looms */
      ;
    if (comm->context->ops->wake && r != comm->rank)
      comm->context->ops->wake(comm->context->transport, comm->job_rank[r]);
  }
}

/* The lowest refused call that this rank has heard of. */
static void see(const tutti_comm *comm, uint64_t number) {
  tt_stop *own = stop_of(comm, comm->rank);
  bool first = own->seen_in != tag_of(comm);
  if (!first && own->seen <= number)
    return;
  __atomic_store_n(&own->seen, number, __ATOMIC_RELAXED);
  __atomic_store_n(&own->seen_in, tag_of(comm), __ATOMIC_RELEASE); /* pairs with lowest */
  disturb(comm);
}

static void publish(tutti_comm *comm, uint64_t number, const char *why) {
  tt_stop *own = stop_of(comm, comm->rank);
  own->refused = number;
  snprintf(own->text, sizeof own->text, "%s", why);
  __atomic_store_n(&own->refused_in, tag_of(comm), __ATOMIC_RELEASE); /* pairs with find_first */
  see(comm, number);
  if (comm->apart)
    tt_notes_stop(comm, tag_of(comm), false);
}

static void stop(tutti_comm *comm, uint64_t ended) {
  tt_stop *own = stop_of(comm, comm->rank);
  if (own->ended_in == tag_of(comm))
    return;
  own->ended = ended;
  __atomic_store_n(&own->ended_in, tag_of(comm), __ATOMIC_RELEASE); /* after all else; pairs with has_stopped */
  disturb(comm);
  if (comm->apart)
    tt_notes_stop(comm, tag_of(comm), false);
}

static uint64_t lowest(const tutti_comm *comm) {
  uint64_t least = UINT64_MAX;
  for (int64_t r = 0; r < comm->size; r++) {
    const tt_stop *of = comm->far[r] ? NULL : stop_of(comm, r);
    if (!of || __atomic_load_n(&of->seen_in, __ATOMIC_ACQUIRE) != tag_of(comm))
      continue;
    uint64_t seen = __atomic_load_n(&of->seen, __ATOMIC_RELAXED);
    least = seen < least ? seen : least;
  }
  return least;
}

bool tt_refuse_concerns(const tutti_comm *comm, uint64_t number) {
  return tt_refuse_looms(comm) && comm->board && number >= lowest(comm);
}

/* ---- agreeing ---- */

/* *ended: through with that call. Who has destroyed the communicator is through with all of his. */
static bool has_stopped(const tutti_comm *comm, int64_t rank, uint64_t *ended) {
  const tt_stop *of = stop_of(comm, rank);
  if (of && __atomic_load_n(&of->ended_in, __ATOMIC_ACQUIRE) == tag_of(comm)) {
    *ended = of->ended;
    return true;
  }
  uint64_t left = of && !comm->far[rank] ? __atomic_load_n(&comm->board[rank]->left, __ATOMIC_ACQUIRE) : 0;
  *ended = left - 1;
  return left > 0;
}

static bool all_have(const tutti_comm *comm, uint64_t *over) {
  uint64_t ended;
  for (int64_t r = 0; r < comm->size; r++) {
    if (!has_stopped(comm, r, &ended))
      return false;
    *over = ended > *over ? ended : *over;
  }
  return true;
}

/* The refusal of the lowest call, for errors. */
static void find_first(tutti_comm *comm) {
  comm->refused = UINT64_MAX;
  for (int64_t r = 0; r < comm->size; r++) {
    const tt_stop *of = stop_of(comm, r);
    if (!of || __atomic_load_n(&of->refused_in, __ATOMIC_ACQUIRE) != tag_of(comm) || of->refused >= comm->refused)
      continue;
    comm->refused = of->refused;
    comm->refuser = r;
    memcpy(comm->refused_text, of->text, sizeof comm->refused_text);
  }
}

/* As all ranks will: the refuser is through with it. Between machines what the call sends may still be lent. */
bool tt_refuse_leave(tutti_comm *comm, uint64_t number) {
  if (comm->apart || stop_of(comm, comm->rank)->ended_in == tag_of(comm))
    return false;
  for (int64_t r = 0; r < comm->size; r++) {
    const tt_stop *of = stop_of(comm, r);
    if (__atomic_load_n(&of->refused_in, __ATOMIC_ACQUIRE) != tag_of(comm) || of->refused != number) /* with publish */
      continue;
    comm->refused = number;
    comm->refuser = r;
    memcpy(comm->refused_text, of->text, sizeof comm->refused_text);
    stop(comm, number);
    return true;
  }
  return false;
}

/* What ranks of other machines have told of this epoch while this rank was in the one before. */
static void hear(tutti_comm *comm) {
  for (int64_t r = 0; r < comm->size; r++) {
    const tt_stop *of = comm->far[r] ? stop_of(comm, r) : NULL;
    if (of && of->seen_in == tag_of(comm))
      see(comm, of->seen);
  }
}

/* What this rank has refused meanwhile, if it is not over. Its refusal of the epoch before holds on where it came
 * behind another's. */
static void go_on(tutti_comm *comm) {
  const tt_stop *before = &comm->board[comm->rank]->stop[(comm->epoch - 1) & 1];
  if (before->refused_in == comm->epoch && before->refused > comm->over) {
    publish(comm, before->refused, before->text);
    return;
  }
  while (comm->refusals && comm->refusals->number <= comm->over) {
    tt_refusal *gone = comm->refusals;
    comm->refusals = gone->next;
    free(gone);
  }
  tt_refusal *first = comm->refusals;
  if (!first)
    return;
  comm->refusals = first->next;
  publish(comm, first->number, first->text);
  free(first);
}

bool tt_refuse_settle(tutti_comm *comm, uint64_t ended) {
  uint64_t over = 0;
  stop(comm, ended);
  int64_t now_ns = comm->apart ? tt_clock_ns() : 0;
  if (!all_have(comm, &over)) {
    if (comm->apart && now_ns - comm->told_ns > TELL_NS) {
      comm->told_ns = now_ns;
      tt_notes_stop(comm, tag_of(comm), true);
    }
    return false;
  }
  find_first(comm);
  comm->over = over;
  const uint64_t facts[] = {comm->epoch + 1, over};
  comm->first_history = comm->history = tt_hash(3, facts, sizeof facts);
  if (tt_comm_renew(comm, comm->epoch + 1) != TUTTI_OK)
    return true;
  hear(comm);
  go_on(comm);
  return true;
}

static tutti_status wait_for_all(tutti_comm *comm, uint64_t number) {
  tt_waiter waiter = {0};
  tutti_status status = TUTTI_OK;
  comm->settling = true; /* now an error of the wait is one */
  while (status == TUTTI_OK && !tt_refuse_settle(comm, number - 1)) {
    bool moved = false;
    status = tt_wait_look(comm, number, &waiter);
    tt_request_progress(comm->context, &moved);
    sched_yield();
  }
  comm->settling = false;
  return status == TUTTI_OK ? comm->broken : status;
}

tutti_status tt_refuse_await(tutti_comm *comm, uint64_t number) {
  tutti_status status = TUTTI_OK;
  if (tt_refuse_concerns(comm, number) && tt_refuse_leave(comm, number))
    return tt_refuse_tell(comm, number);
  while (status == TUTTI_OK && number > comm->over && tt_refuse_concerns(comm, number))
    status = wait_for_all(comm, number);
  if (status != TUTTI_OK)
    return comm->broken == TUTTI_OK ? status : tt_agree_verdict(comm);
  return number > comm->over ? TUTTI_OK : tt_refuse_tell(comm, number);
}

void tt_refuse_rest(tutti_comm *comm) {
  if (comm->board && !comm->queue_head && tt_refuse_concerns(comm, comm->last_number + 1))
    stop(comm, comm->last_number);
}

void tt_refuse_tend(tutti_comm *comm) {
  bool goes_on = !comm->main && comm->board && !comm->queue_head && !comm->busy && !comm->settling;
  while (goes_on)
    goes_on = comm->broken == TUTTI_OK && !tt_agree_poisoned(comm) && tt_refuse_concerns(comm, comm->last_number + 1) &&
              tt_refuse_settle(comm, comm->last_number);
}

void tt_refuse_tend_all(tutti_context *context, int64_t waited_ns, int64_t now) {
  if (now - context->tended_ns < TEND_NS)
    return;
  context->tended_ns = now;
  for (tutti_comm *comm = context->comms; comm; comm = comm->next) {
    if (comm->apart && comm->board && waited_ns > LISTEN_NS)
      tt_notes_take(comm);
    if (tt_refuse_looms(comm))
      tt_refuse_tend(comm);
  }
}

/* ---- refusing ---- */

void tt_refuse_call(tutti_comm *comm, uint64_t number, const char *why) {
  tt_refusal **at = &comm->refusals;
  if (stop_of(comm, comm->rank)->refused_in != tag_of(comm) && stop_of(comm, comm->rank)->ended_in != tag_of(comm)) {
    publish(comm, number, why);
    return;
  }
  while (*at)
    at = &(*at)->next;
  *at = calloc(1, sizeof **at);
  if (!*at) {
    tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory to refuse call %" PRIu64 ": %s", comm->rank,
                   number, why);
    return;
  }
  (*at)->number = number;
  snprintf((*at)->text, sizeof(*at)->text, "%s", why);
}

tutti_status tt_refuse_spoilt(tutti_comm *comm, uint64_t number) {
  static const char why[] = "it was under way in place when an earlier call was refused";
  tt_refuse_call(comm, number, why);
  tt_refuse_rest(comm);
  return tt_fail(TUTTI_ERR_REFUSED,
                 "rank %" PRId64 " refused call %" PRIu64 " on a communicator of %" PRId64 ": %s (rank %" PRId64
                 ", call %" PRIu64 ": %s)",
                 comm->rank, number, comm->size, why, comm->refuser, comm->refused, comm->refused_text);
}

tutti_status tt_refuse_tell(const tutti_comm *comm, uint64_t number) {
  if (comm->refused == number)
    return tt_fail(TUTTI_ERR_REFUSED, "rank %" PRId64 " refused call %" PRIu64 " on a communicator of %" PRId64 ": %s",
                   comm->refuser, number, comm->size, comm->refused_text);
  return tt_fail(TUTTI_ERR_REFUSED,
                 "call %" PRIu64 " on a communicator of %" PRId64 " is given up, as rank %" PRId64
                 " refused call %" PRIu64 ": %s",
                 number, comm->size, comm->refuser, comm->refused, comm->refused_text);
}

void tutti_comm_refuse(tutti_comm *comm, const char *reason) {
  const char *why = reason ? reason : "no reason given";
  if (!comm)
    return;
  TT_HOLD(comm->context);
  if (tt_comm_prepare(comm) != TUTTI_OK || comm->broken != TUTTI_OK || tt_agree_poisoned(comm))
    return; /* broken on all ranks */
  if (!comm->board) {
    tt_agree_break(comm, TUTTI_ERR_ABORTED, "rank %" PRId64 " refused a call: %s", comm->rank, why);
    return;
  }
  if (++comm->last_number <= comm->over)
    return; /* over for all */
  tt_refuse_call(comm, comm->last_number, why);
  tt_refuse_rest(comm);
}

/* ---- other machines ---- */

void tt_refuse_told(tutti_comm *comm, int64_t rank, uint64_t tag, const tt_stop *told) {
  if (tag != tag_of(comm) && tag != tag_of(comm) + 1)
    return;
  comm->board[rank]->stop[(tag - 1) & 1] = *told;
  if (tag == tag_of(comm) && told->seen_in == tag)
    see(comm, told->seen);
}

void tt_refuse_finish(tutti_comm *comm) {
  if (comm->board) {
    tt_refuse_rest(comm);
    if (comm->refusals && comm->refusals->number > comm->over) /* others would never hear of it */
      tt_agree_break(comm, TUTTI_ERR_ABORTED,
                     "rank %" PRId64 " refused call %" PRIu64 " and destroyed the communicator: %s", comm->rank,
                     comm->refusals->number, comm->refusals->text);
    __atomic_store_n(&comm->board[comm->rank]->left, comm->last_number + 1,
                     __ATOMIC_RELEASE); /* pairs with has_stopped */
  }
  for (tt_refusal *next; comm->refusals; comm->refusals = next) {
    next = comm->refusals->next;
    free(comm->refusals);
  }
}

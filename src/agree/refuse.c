/* agree/refuse.c - one rank refuses a call that the others make; the communicator survives it.
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
 * Some ranks do not come to say it. Who has refused the first call of an epoch is through with just that one there, and
 * so may refuse many and go elsewhere: others take one epoch for each. Who has destroyed the communicator is through
 * with all. So all ranks find the same, whenever they look; and who is late takes over what one that has gone on found.
 *
 * What ranks say (stops.c) is read by those of their machine. Others are told by notes, again and again while this rank
 * waits. */
#include "agree/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define TELL_NS 50000000
#define TEND_NS 5000000
#define LISTEN_NS 50000000
#define LISTEN_RANKS 1000 /* in a look */
#define TELLS 3           /* before it is asked who has left */

static tt_stop *own_stop(const tutti_comm *comm) { return &comm->refused.stops->own.said; }

/* ---- saying ---- */

/* All ranks of this machine look at what was refused. */
static void disturb(const tutti_comm *comm) {
  for (int64_t r = 0; r < comm->size; r++) {
    if (comm->far[r])
      continue;
    atomic_store_explicit(&comm->agree.board[r]->disturbed, 1, memory_order_release);
    if (comm->context->ops->wake && r != comm->rank)
      comm->context->ops->wake(comm->context->transport, comm->job_rank[r]);
  }
}

static void say(tutti_comm *comm) {
  tt_stops_say(comm);
  disturb(comm);
}

/* Also of other machines. */
static void say_to_all(tutti_comm *comm) {
  say(comm);
  if (comm->apart)
    tt_notes_stop(comm, false);
}

static bool notice(const tutti_comm *comm, uint64_t number) {
  tt_stop *own = own_stop(comm);
  if (own->seen > 0 && own->seen <= number)
    return false;
  own->seen = number;
  return true;
}

static void stop(tutti_comm *comm, uint64_t ended) {
  tt_stop *own = own_stop(comm);
  if (own->ended > 0)
    return;
  own->ended = 1 + (tt_stop_refuses(own, own->over + 1) ? own->over + 1 : ended);
  say_to_all(comm);
}

static void refuse(tutti_comm *comm, uint64_t number, const char *why) {
  tt_stops_refuse(comm, number, why);
  notice(comm, number);
  say_to_all(comm);
}

/* ---- hearing ---- */

/* The lowest refused call that is not over; UINT64_MAX: none. */
static uint64_t lowest(const tutti_comm *comm) {
  const tt_stop *own = own_stop(comm);
  uint64_t least = UINT64_MAX;
  tt_stop said;
  for (int64_t r = 0; r < comm->size; r++) {
    tt_stops_read(comm, r, &said);
    uint64_t number = tt_stop_first(&said, own->over);
    if (said.epoch == own->epoch && said.seen > 0 && said.seen < number)
      number = said.seen;
    if (said.epoch > own->epoch)
      number = own->over + 1;
    least = number < least ? number : least;
  }
  return least;
}

bool tt_refuse_concerns(tutti_comm *comm, uint64_t number) {
  if (!tt_refuse_looms(comm) || !comm->agree.board)
    return false;
  if (!tt_stops_open(comm))
    return true;
  uint64_t least = lowest(comm);
  if (least == UINT64_MAX) { /* it is over */
    _Atomic uint32_t *disturbed = &comm->agree.board[comm->rank]->disturbed;
    atomic_exchange_explicit(disturbed, 0, memory_order_acq_rel);
    least = lowest(comm);
    if (least < UINT64_MAX)
      atomic_store_explicit(disturbed, 1, memory_order_relaxed);
  }
  return number >= least;
}

/* What this rank knows others of its machine learn from it. */
static void pass_on(tutti_comm *comm) {
  uint64_t least = lowest(comm);
  if (least < UINT64_MAX && notice(comm, least))
    say(comm);
}

/* ---- agreeing ---- */

/* How the communicator goes on: the same on all ranks but for the reason, of which there may be several. */
typedef struct found {
  uint64_t epoch, over;
  tt_reason reason;
} found;

/* Without a call on the communicator it says so only by leaving the job, which comes after all its words. */
static bool has_left_job(const tutti_comm *comm, int64_t rank) {
  const tutti_context *context = comm->context;
  return !comm->far[rank] && rank != comm->rank && context->ops->peer_dead &&
         context->ops->peer_dead(context->transport, comm->job_rank[rank]) == 2;
}

static bool has_left(const tutti_comm *comm, int64_t rank) {
  return (comm->agree.board[rank] && atomic_load_explicit(&comm->agree.board[rank]->left, memory_order_acquire)) ||
         has_left_job(comm, rank);
}

/* *ended: through with that call. The rules stand in the order in which a rank comes from one to the next. Who is in a
 * later epoch, and may have left from there, has found how this one ends: this rank is behind it. */
static bool has_stopped(const tutti_comm *comm, int64_t rank, uint64_t *ended) {
  const tt_stop *own = own_stop(comm);
  bool left = has_left(comm, rank); /* before the look at what it has said */
  tt_stop said;
  tt_stops_read(comm, rank, &said);
  if (said.epoch > own->epoch || (!left && own->epoch - said.epoch > TT_EPOCHS_APART))
    return false;
  if (said.epoch == own->epoch && said.ended > 0) {
    *ended = said.ended - 1;
    return true;
  }
  bool refuses = tt_stop_refuses(&said, own->over + 1);
  *ended = refuses ? own->over + 1 : UINT64_MAX;
  return refuses || left;
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

/* What this rank finds; `over`: the last call that some rank is through with. */
static found find(const tutti_comm *comm, uint64_t over) {
  const tt_stop *own = own_stop(comm);
  return (found){own->epoch + 1, over, tt_stops_reason_from(comm, own->over + 1)};
}

/* A rank that is in a later epoch has found what this one would. */
static bool is_behind(const tutti_comm *comm, found *next) {
  tt_stop said;
  next->epoch = own_stop(comm)->epoch;
  for (int64_t r = 0; r < comm->size; r++) {
    tt_stops_read(comm, r, &said);
    if (said.epoch > next->epoch)
      *next = (found){said.epoch, said.over, said.reason};
  }
  return next->epoch > own_stop(comm)->epoch;
}

static void begin(tutti_comm *comm, const found *next) {
  const uint64_t facts[] = {next->epoch, next->over};
  tt_stop *own = own_stop(comm);
  assert(own->epoch == comm->refused.epoch && next->epoch > own->epoch && next->over >= own->over);
  comm->refused.stops->tells = 0;
  comm->refused.over = own->over = next->over;
  own->epoch = next->epoch;
  own->reason = next->reason;
  own->seen = own->ended = 0;
  tt_stops_say(comm);
  comm->refused.first_history = comm->calls.history = tt_hash(3, facts, sizeof facts);
  tutti_status status = tt_comm_renew(comm, (uint32_t)next->epoch);
  if (status == TUTTI_OK)
    pass_on(comm);
  else
    tt_agree_break_here(comm, status);
}

/* Whoever on another machine has not stopped may be gone. */
static void look_for(tutti_comm *comm, int64_t rank) {
  const tutti_context *context = comm->context;
  uint64_t ended;
  if (!comm->far[rank] || has_stopped(comm, rank, &ended))
    return;
  if (!context->ops->peer_dead || context->ops->peer_dead(context->transport, comm->job_rank[rank]) != 2) {
    tt_notes_seek(comm, rank);
    return;
  }
  tt_notes_receive(comm); /* its last words came before */
  tt_refuse_left(comm, rank);
}

static void tell_far(tutti_comm *comm) {
  int64_t now_ns = tt_clock_ns();
  if (now_ns - comm->refused.stops->told_ns < TELL_NS)
    return;
  comm->refused.stops->told_ns = now_ns;
  tt_notes_stop(comm, true);
  if (++comm->refused.stops->tells < TELLS)
    return;
  for (int64_t r = 0; r < comm->size; r++)
    look_for(comm, r);
}

bool tt_refuse_settle(tutti_comm *comm, uint64_t ended) {
  assert(!comm->side.main);
  found next;
  uint64_t over = comm->refused.over;
  if (!tt_stops_open(comm))
    return true;
  if (!is_behind(comm, &next)) {
    stop(comm, ended);
    if (!all_have(comm, &over)) {
      if (comm->apart)
        tell_far(comm);
      return false;
    }
    next = find(comm, over);
  }
  begin(comm, &next);
  return true;
}

/* As all ranks will: the refuser is through with it. Between machines what the call sends may still be lent. And who
 * has refused the first call of the epoch is through with just that one there: it waits for the epoch in which this one
 * is. */
bool tt_refuse_may_leave(tutti_comm *comm, uint64_t number) {
  if (comm->apart || !comm->refused.stops || tt_stops_reason_from(comm, number).number != number)
    return false;
  const tt_stop *own = own_stop(comm);
  if (own->ended > 0 || tt_stop_refuses(own, own->over + 1))
    return false;
  stop(comm, number);
  atomic_thread_fence(memory_order_seq_cst); /* what the program does to its buffers comes after those words */
  return true;
}

/* Nothing of this rank is under way any more: others need not wait for it. */
static void rest(tutti_comm *comm) {
  if (!comm->queue.head && tt_refuse_concerns(comm, comm->calls.last_number + 1) && comm->refused.stops)
    stop(comm, comm->calls.last_number);
}

void tt_refuse_tend(tutti_comm *comm) {
  bool goes_on =
      !comm->side.main && comm->agree.board && !comm->queue.head && !comm->calls.busy && !comm->refused.settling;
  while (goes_on)
    goes_on = comm->agree.broken == TUTTI_OK && !tt_agree_poisoned(comm) &&
              tt_refuse_concerns(comm, comm->calls.last_number + 1) && tt_refuse_settle(comm, comm->calls.last_number);
}

/* Each far rank of a communicator has streams of its own for that: a look takes in those of some communicators, the
 * next one goes on behind them. */
static void listen(tutti_context *context) {
  int64_t place = 0, ranks = 0;
  for (tutti_comm *comm = context->made.list; comm && ranks < LISTEN_RANKS; comm = comm->next, place++)
    if (place >= context->tended.listened && comm->apart && comm->agree.board) {
      tt_notes_receive(comm);
      ranks += comm->size;
      context->tended.listened = place + 1;
    }
  if (ranks < LISTEN_RANKS)
    context->tended.listened = 0;
}

void tt_refuse_tend_all(tutti_context *context, int64_t waited_ns, int64_t now) {
  if (now - context->tended.ns < TEND_NS)
    return;
  context->tended.ns = now;
  if (waited_ns > LISTEN_NS)
    listen(context);
  for (tutti_comm *comm = context->made.list; comm; comm = comm->next)
    if (tt_refuse_looms(comm))
      tt_refuse_tend(comm);
}

/* ---- refusing ---- */

void tt_refuse_spoilt(tutti_comm *comm, uint64_t number) {
  assert(number > comm->refused.over);
  char why[TT_REFUSED_TEXT];
  const tt_reason *first = &own_stop(comm)->reason;
  snprintf(why, sizeof why, "it was under way in place when rank %" PRId64 " refused call %" PRIu64 ": %.150s",
           first->rank, first->number, first->text);
  refuse(comm, number, why);
  rest(comm);
}

static void describe(const tutti_comm *comm, uint64_t number, char *text, size_t size) {
  tt_reason reason = tt_stops_reason(comm, number);
  if (reason.number == number)
    snprintf(text, size, "rank %" PRId64 " refused call %" PRIu64 " on a communicator of %" PRId64 ": %s", reason.rank,
             number, comm->size, reason.text);
  else if (reason.number > 0)
    snprintf(text, size,
             "call %" PRIu64 " on a communicator of %" PRId64 " was given up because rank %" PRId64
             " refused call %" PRIu64 ": %s",
             number, comm->size, reason.rank, reason.number, reason.text);
  else
    snprintf(text, size,
             "call %" PRIu64 " on a communicator of %" PRId64 " was given up because another rank refused call %" PRIu64
             " or an earlier one",
             number, comm->size, number);
}

tutti_status tt_refuse_fail(const tutti_comm *comm, uint64_t number) {
  char text[2 * TT_REFUSED_TEXT];
  describe(comm, number, text, sizeof text);
  return tt_fail(TUTTI_ERR_REFUSED, "%s", text);
}

char *tt_refuse_text(const tutti_comm *comm, uint64_t number) {
  char *text = malloc(2 * TT_REFUSED_TEXT);
  if (text)
    describe(comm, number, text, 2 * TT_REFUSED_TEXT);
  return text;
}

void tt_refuse_next(tutti_comm *comm, const char *why) {
  if (comm->agree.broken != TUTTI_OK || tt_agree_poisoned(comm))
    return; /* on all ranks */
  if (!comm->agree.board) {
    tt_agree_break(comm, TUTTI_ERR_ABORTED, "rank %" PRId64 " refused a call: %s", comm->rank, why);
    return;
  }
  tt_refuse_tend(comm);
  if (++comm->calls.last_number <= comm->refused.over || !tt_stops_open(comm))
    return; /* over for all */
  refuse(comm, comm->calls.last_number, why);
  rest(comm);
}

/* ---- other machines, and the end ---- */

void tt_refuse_told(tutti_comm *comm, int64_t rank, const tt_stop *told) {
  assert(comm->far[rank]);
  if (!comm->agree.board || !tt_stops_open(comm))
    return;
  tt_stops_keep(comm, rank, told);
  pass_on(comm);
}

void tt_refuse_left(const tutti_comm *comm, int64_t rank) {
  assert(rank == comm->rank || comm->far[rank]);
  tt_record_make(comm, rank);
  if (comm->agree.board[rank])
    atomic_store_explicit(&comm->agree.board[rank]->left, 1, memory_order_release); /* after its words */
}

void tt_refuse_finish(tutti_comm *comm) {
  if (!comm->agree.board)
    return;
  rest(comm);
  if (comm->apart)
    tt_notes_leave(comm);
  tt_refuse_left(comm, comm->rank);
}

/* agree/check.c - does everyone make the same call, and is everyone there to make it?
 *
 * Whoever receives another call's key, or has waited a while, compares the ranks' records of the call. What is wrong
 * breaks the communicator for all (verdict.c). What is wrong with a persistent request breaks its communicator: a side
 * communicator has no verdict of its own. */
#include "agree/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#define NOTE_NS 100000000 /* for a verdict from another machine that is on its way */
#define ANSWERS_NS 300000000
#define LEAVING_NS 2000000000 /* for ranks that know why another one has left */
#define COMING_NS 5000000000  /* for ranks on their way to a call in which two others differ */
#define MANY_RANKS 64         /* they share the last look at each other's records */
#define EARLIER 8 /* calls in which a difference is looked for; ranks are seldom further apart when one finds it */

/* ---- checks ---- */

static bool all_known(const tutti_comm *comm, uint64_t number) {
  tt_record record;
  for (int64_t r = 0; r < comm->size; r++)
    if (!tt_record_read(comm, r, number, &record))
      return false;
  return true;
}

/* A call up to `number` in which ranks differ, and how they do; 0: none that is still known. */
typedef struct difference {
  uint64_t number;
  bool lengths;     /* the call is the same, but not the lengths of its blocks */
  tutti_comm *comm; /* whose call it is */
} difference;

/* The oldest call up to `number` whose record is kept, and the newest one that is to be looked at: a persistent
 * request's starts are all alike. */
static uint64_t oldest_kept(const tutti_comm *comm, uint64_t number) {
  return comm->side.main || number <= TT_RECORDS ? 1 : number - TT_RECORDS + 1;
}

static uint64_t newest_kept(const tutti_comm *comm, uint64_t number) { return comm->side.main ? 1 : number; }

static difference own_difference(tutti_comm *comm, uint64_t number) {
  assert(comm->agree.agreed <= (comm->side.main ? 1 : comm->calls.last_number));
  uint64_t oldest = oldest_kept(comm, number), newest = newest_kept(comm, number);
  uint64_t first = oldest > comm->agree.agreed ? oldest : comm->agree.agreed + 1;
  for (uint64_t n = first; comm->agree.board && n <= newest; n++) {
    bool known = n == first && all_known(comm, n); /* before they are compared: more may come meanwhile */
    if (tt_record_differs(comm, n))
      return (difference){.number = n, .comm = comm};
    if (tt_record_lengths_differ(comm, n))
      return (difference){.number = n, .lengths = true, .comm = comm};
    if (known)
      comm->agree.agreed = first++;
  }
  return (difference){.number = 0};
}

/* The same, and in a persistent request of the communicator. */
static difference first_difference(tutti_comm *comm, uint64_t number) {
  difference found = own_difference(comm, number);
  for (tutti_comm *side = comm->persistent.sides; side && found.number == 0; side = side->side.next)
    found = own_difference(side, 1);
  return found;
}

static bool differs_beside(tutti_comm *comm, uint64_t number) {
  bool differs = false;
  for (uint64_t n = oldest_kept(comm, number); comm->agree.board && n <= newest_kept(comm, number) && !differs; n++)
    differs = tt_record_differs_beside(comm, n) || tt_record_lengths_differ(comm, n);
  return differs;
}

/* The same, as far as this rank is to find it when it leaves. */
static difference last_difference(tutti_comm *comm, uint64_t number) {
  bool differ = comm->size < MANY_RANKS || differs_beside(comm, number);
  for (tutti_comm *side = comm->persistent.sides; side && !differ; side = side->side.next)
    differ = differs_beside(side, 1);
  return differ ? first_difference(comm, number) : (difference){.number = 0};
}

/* peer: whose data this rank has found to be other than it expects, or -1. */
static tutti_status break_for_difference(difference found, int64_t peer) {
  tutti_comm *comm = found.comm;
  assert(found.number > 0);
  char why[TT_VERDICT_TEXT] = "";
  tt_text to = {why, sizeof why, 0};
  if (found.lengths)
    tt_record_add_lengths(&to, comm, found.number, peer);
  else
    tt_record_add_difference(&to, comm, found.number);
  return tt_agree_break(comm, TUTTI_ERR_MISMATCH, "%s", why);
}

static int peer_gone(const tutti_context *context, int64_t job_rank) {
  return context->ops->peer_dead && job_rank != context->rank ? context->ops->peer_dead(context->transport, job_rank)
                                                              : 0;
}

/* What may have made a rank leave: others are dead, which need not be in this communicator; or another one of this
 * rank's is broken, which is known on this machine though the dead one was on another. */
static void add_reasons(tt_text *to, tutti_comm *left) {
  const tutti_context *context = left->context;
  for (int64_t r = 0; r < context->size; r++)
    if (peer_gone(context, r) == 1)
      tt_text_add(to, "; rank %" PRId64 " of the job died", r);
  for (tutti_comm *comm = context->made.list; comm; comm = comm->next)
    if (comm != tt_comm_main(left) && tt_agree_poisoned(comm)) {
      tt_agree_verdict(comm);
      tt_text_add(to, "; on another communicator: %s", tt_agree_broken_text(comm));
    }
}

static tutti_status break_for_leaver(tutti_comm *comm, uint64_t number, int64_t peer) {
  char why[TT_VERDICT_TEXT] = "";
  tt_text to = {why, sizeof why, 0};
  tt_text_add(&to, "rank %" PRId64 " (rank %" PRId64 " of the job) left the job before it came to ", peer,
              comm->job_rank[peer]);
  tt_record_add_number(&to, comm, number);
  add_reasons(&to, comm);
  return tt_agree_break(comm, TUTTI_ERR_PEER, "%s", why);
}

/* TUTTI_OK: none that is known. */
static tutti_status lack_of(const tutti_comm *comm, int64_t peer) {
  tt_board *const *board = comm->context->made.control->agree.board;
  if (!board || comm->far[peer] || comm->id == 0 || /* the hidden one is there */
      !atomic_load_explicit(&board[comm->context->made.control->head]->lacking, memory_order_relaxed))
    return TUTTI_OK;
  tutti_status lack = TUTTI_OK;
  for (int n = 0; n < TT_LACKS; n++) {
    uint64_t word = atomic_load_explicit(&board[comm->job_rank[peer]]->lacks[n], memory_order_acquire);
    lack = (uint32_t)word == comm->id ? (tutti_status)(word >> 32) : lack;
  }
  return lack;
}

static tutti_status break_one(tutti_comm *comm, int64_t peer) {
  return tt_agree_break(comm, TUTTI_ERR_PEER, "rank %" PRId64 " (rank %" PRId64 " of the job) died", peer,
                        comm->job_rank[peer]);
}

/* All communicators that it was in: this rank may leave the job for the error it gets on one of them, and ranks of
 * other machines, which wait for it on another, would not know why. */
static tutti_status break_for_death(tutti_comm *comm, int64_t peer) {
  const tutti_context *context = comm->context;
  break_one(comm, peer);
  for (tutti_comm *other = context->made.list; other; other = other->next)
    for (int64_t r = 0; other != comm && other->apart && other->agree.broken == TUTTI_OK && r < other->size; r++)
      if (other->job_rank[r] == comm->job_rank[peer])
        break_one(other, r);
  return tt_agree_verdict(comm);
}

/* A rank on another machine that is gone may have left because of a verdict, which then is on its way here. */
static tutti_status await_note(tutti_comm *comm, int64_t longest_ns) {
  int64_t until_ns = tt_clock_ns() + longest_ns;
  while (comm->apart && !tt_agree_poisoned(comm) && tt_clock_ns() < until_ns) {
    sched_yield();
    tt_notes_receive(comm);
  }
  return tt_agree_poisoned(comm) ? tt_agree_verdict(comm) : TUTTI_OK;
}

/* Whoever is dead breaks the communicator; whoever has left the job only when it had not come to this call. */
static tutti_status check_peer(tutti_comm *comm, uint64_t number, int64_t peer) {
  assert(peer >= 0 && peer < comm->size);
  int gone = peer_gone(comm->context, comm->job_rank[peer]);
  tutti_status lack = lack_of(comm, peer);
  if (lack != TUTTI_OK)
    return tt_agree_break(comm, lack,
                          "rank %" PRId64 " (rank %" PRId64 " of the job) could not make its part of this "
                          "communicator: %s",
                          peer, comm->job_rank[peer], tutti_status_name(lack));
  if (gone == 1 && comm->far[peer] && await_note(comm, NOTE_NS) != TUTTI_OK)
    return tt_agree_verdict(comm);
  if (gone == 1)
    return break_for_death(comm, peer);
  if (gone != 2 || !comm->agree.board || comm->far[peer] || tt_record_last(comm, peer) >= number)
    return TUTTI_OK;
  if (tt_refuse_concerns(comm, number)) /* who has left has stopped; or it refused the call, and left */
    return comm->refused.settling ? TUTTI_OK : TUTTI_ERR_REFUSED;
  return break_for_leaver(comm, number, peer);
}

static tutti_status check_peers(tutti_comm *comm, uint64_t number) {
  tutti_status status = TUTTI_OK;
  for (int64_t r = 0; r < comm->size && status == TUTTI_OK; r++)
    status = check_peer(comm, number, r);
  return status;
}

tutti_status tt_agree_check(tutti_comm *comm, uint64_t number) {
  if (tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  if (!comm->refused.settling && tt_refuse_concerns(comm, number))
    return TUTTI_ERR_REFUSED; /* of the wait: who waits stops */
  /* a rank that ran ahead may know of a call that others still wait in */
  difference found = own_difference(comm, number);
  return found.number > 0 ? break_for_difference(found, -1) : check_peers(comm, number);
}

/* Whether each rank has come to the call, or never will. */
static bool all_settled(const tutti_comm *comm, uint64_t number) {
  tt_record record;
  for (int64_t r = 0; r < comm->size; r++)
    if (!tt_record_read(comm, r, number, &record) && peer_gone(comm->context, comm->job_rank[r]) == 0)
      return false;
  return true;
}

/* Other machines' ranks are asked; those that are not in a call do not answer. */
static void await_answers(tutti_comm *comm, uint64_t number) {
  int64_t until_ns = tt_clock_ns() + ANSWERS_NS;
  tt_notes_ask(comm, number);
  while (!all_known(comm, number) && !tt_agree_poisoned(comm) && tt_clock_ns() < until_ns) {
    sched_yield();
    tt_notes_receive(comm);
  }
}

/* Whoever has left in the middle of a call knew why, and so does another rank of its machine. */
tutti_status tt_agree_lost(tutti_comm *comm, uint64_t number, int64_t peer) {
  bool left = peer >= 0 && peer_gone(comm->context, peer) != 1;
  assert(peer < comm->context->size);
  tutti_status status = await_note(comm, left ? LEAVING_NS : NOTE_NS);
  return status == TUTTI_OK ? tt_agree_check(comm, number) : status;
}

/* The same where there is one. Keys are of all calls so far, so that it may be in an earlier call that nobody had to
 * wait in; and lengths of blocks can be compared only when all ranks have come to theirs. */
static difference await_difference(tutti_comm *comm, uint64_t number) {
  int64_t began_ns = tt_clock_ns(), now_ns = began_ns;
  difference found = first_difference(comm, number);
  for (uint64_t n = number; comm->apart && found.number == 0 && n > 0 && number - n < EARLIER; n--) {
    await_answers(comm, n);
    found = first_difference(comm, number);
  }
  bool settled = false;
  while (found.number == 0 && comm->agree.board && !settled && !tt_agree_poisoned(comm) &&
         now_ns - began_ns < COMING_NS) {
    sched_yield();
    now_ns = tt_clock_ns();
    if (comm->apart)
      tt_notes_look(comm, number, now_ns - began_ns, now_ns);
    settled = all_settled(comm, number);
    found = first_difference(comm, number);
  }
  return found;
}

tutti_status tt_agree_mismatch(tutti_comm *comm, uint64_t number, int64_t peer) {
  char said[200], call[80]; /* said: by the executor */
  snprintf(said, sizeof said, "%s", tutti_last_error());
  if (tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  difference found = await_difference(comm, number);
  if (tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  if (found.number > 0)
    return break_for_difference(
        found, found.comm == comm && (found.number == number || comm->side.main) ? tt_comm_rank_of(comm, peer) : -1);
  tt_record_add_number(&(tt_text){call, sizeof call, 0}, comm, number);
  return tt_agree_break(comm, TUTTI_ERR_MISMATCH,
                        "%s: rank %" PRId64 " of the job sent data of another call or length than rank %" PRId64
                        " expects (%s)",
                        call, peer, comm->job_rank[comm->rank], said);
}

tutti_status tt_agree_leave(tutti_comm *comm) {
  if (tt_comm_main(comm)->agree.broken != TUTTI_OK)
    return TUTTI_OK; /* told before */
  if (tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  difference found = last_difference(comm, comm->calls.last_number);
  return found.number > 0 ? break_for_difference(found, -1) : TUTTI_OK;
}

tutti_status tt_agree_timeout(tutti_comm *comm, uint64_t number, int64_t waited_ns, const char *limit) {
  assert(number > 0 && waited_ns > 0);
  char why[TT_VERDICT_TEXT] = "";
  tt_text to = {why, sizeof why, 0};
  tt_record_add_number(&to, comm, number);
  tt_text_add(&to, " waited %.3f s (%s)", (double)waited_ns * 1e-9, limit);
  int shown = 0;
  bool silent = false;
  tt_record record;
  if (comm->apart)
    await_answers(comm, number);
  for (int64_t r = 0; comm->agree.board && r < comm->size && shown < 8; r++) {
    uint64_t last = comm->far[r] ? 0 : tt_record_last(comm, r);
    if (comm->far[r] && !tt_record_read(comm, r, number, &record)) {
      tt_text_add(&to, "%s rank %" PRId64 " (rank %" PRId64 " of the job), on another machine, does not answer",
                  shown++ ? "," : ":", r, comm->job_rank[r]);
      silent = true;
    } else if (!comm->far[r] && comm->side.main && last == 0)
      tt_text_add(&to, "%s rank %" PRId64 " has not made it", shown++ ? "," : ":", r);
    else if (!comm->far[r] && last < number)
      tt_text_add(&to, "%s rank %" PRId64 " has not come to it (its last %s was %" PRIu64 ")", shown++ ? "," : ":", r,
                  comm->side.main ? "start" : "call", comm->side.main ? last - 1 : last);
  }
  if (comm->agree.board && !comm->apart && shown == 0)
    tt_text_add(&to, ": all ranks have begun it, but one of them does not proceed");
  if (comm->calls.creates && silent)
    tt_text_add(&to, "; can these machines reach each other through their NICs, or is there a firewall between them? "
                     "(`tutti topo` lists NICs, TUTTI_NICS chooses)");
  return tt_agree_break(comm, TUTTI_ERR_TIMEOUT, "%s", why);
}

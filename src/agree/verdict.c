/* agree/verdict.c - the first error that breaks a communicator, and what breaks those of others.
 *
 * The first to find something wrong writes the verdict in the head's cell and flags every rank's own cell, so that
 * ranks inside the call and ranks that have long returned get the same text. Whoever leaves with it has seen to it that
 * all are flagged. Between machines notes do the same (notes.c). */
#include "agree/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define WRITING_NS 100000000

/* Another rank writes the verdict: a moment for it, but no more, since it may be dead. */
static void await_verdict(const tt_board *head) {
  int64_t until_ns = tt_clock_ns() + WRITING_NS;
  while (atomic_load_explicit(&head->verdict, memory_order_acquire) == 1 && tt_clock_ns() < until_ns)
    sched_yield();
}

/* Whether this one's is the first. */
static bool write_verdict(tutti_comm *comm, tutti_status status, const char *why) {
  tt_board *head = comm->agree.board[comm->head];
  assert(status != TUTTI_OK && !comm->side.main && !comm->far[comm->head]);
  uint32_t none = 0;
  if (!atomic_compare_exchange_strong_explicit(&head->verdict, &none, 1, memory_order_acq_rel, memory_order_acquire))
    return false;
  head->status = (uint32_t)status;
  snprintf(head->text, sizeof head->text, "%s", why);
  atomic_store_explicit(&head->verdict, 2, memory_order_release);
  for (int64_t r = 0; r < comm->size; r++) {
    if (comm->far[r])
      continue;
    atomic_store_explicit(&comm->agree.board[r]->poisoned, 1, memory_order_release);
    if (comm->context->ops->wake && r != comm->rank)
      comm->context->ops->wake(comm->context->transport, comm->job_rank[r]);
  }
  return true;
}

/* This rank's call ends with the error, and the program may write to what others still read in place: by then their
 * flags say so, wherever the writer of the verdict has come to. The fence pairs with that of tt_operation_end. */
static void flag_all(const tutti_comm *comm) {
  for (int64_t r = 0; comm->agree.board && r < comm->size; r++)
    if (!comm->far[r] && atomic_load_explicit(&comm->agree.board[r]->poisoned, memory_order_relaxed) == 0)
      atomic_store_explicit(&comm->agree.board[r]->poisoned, 1, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);
}

static void set_broken(tutti_comm *comm, tutti_status status, const char *why) {
  assert(status != TUTTI_OK && comm->agree.broken == TUTTI_OK); /* the first holds */
  comm->agree.broken = status;
  comm->context->made.gives_up = true;
  comm->agree.broken_text = strndup(why, TT_VERDICT_TEXT - 1);
  flag_all(comm);
}

const char *tt_agree_broken_text(const tutti_comm *comm) {
  return comm->agree.broken_text ? comm->agree.broken_text
                                 : "the communicator is broken; there is no memory for the reason";
}

static void take_verdict(tutti_comm *comm) {
  const tt_board *head = comm->agree.board[comm->head];
  await_verdict(head);
  if (atomic_load_explicit(&head->verdict, memory_order_acquire) != 2)
    return;
  set_broken(comm, (tutti_status)head->status, head->text);
}

tutti_status tt_agree_verdict(tutti_comm *any) {
  tutti_comm *comm = tt_comm_main(any);
  if (comm->agree.broken == TUTTI_OK && comm->agree.board)
    take_verdict(comm);
  if (comm->agree.broken == TUTTI_OK)
    set_broken(comm, TUTTI_ERR_PEER, "another rank broke the communicator and died before it could say why");
  return tt_fail(comm->agree.broken, "%s", tt_agree_broken_text(comm));
}

bool tt_agree_adopt(tutti_comm *any, tutti_status status, const char *why) {
  tutti_comm *comm = tt_comm_main(any);
  bool first = comm->agree.broken == TUTTI_OK;
  if (first && comm->agree.board) {
    first = write_verdict(comm, status, why);
    take_verdict(comm);
  }
  if (comm->agree.broken == TUTTI_OK)
    set_broken(comm, status, why);
  return first;
}

tutti_status tt_agree_break(tutti_comm *comm, tutti_status status, const char *format, ...) {
  char why[TT_VERDICT_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  if (tt_agree_adopt(comm, status, why) && comm->apart)
    tt_notes_break(comm, status, why);
  return tt_fail(tt_comm_main(comm)->agree.broken, "%s", tt_agree_broken_text(tt_comm_main(comm)));
}

tutti_status tt_agree_break_here(tutti_comm *comm, tutti_status status) {
  return tt_agree_break(comm, status, "rank %" PRId64 ": %s", comm->rank, tutti_last_error());
}

/* ---- communicators that a rank could not make ---- */

/* One word, so that it is whole whenever it is read: numbers of communicators have 32 bits. */
void tt_agree_lack(tutti_context *context, uint64_t id, tutti_status status) {
  assert(id <= UINT32_MAX && status != TUTTI_OK);
  if (!context->made.control || !context->made.control->agree.board)
    return;
  _Atomic uint64_t *lacks = context->made.control->agree.board[context->rank]->lacks;
  uint64_t word = (uint64_t)status << 32 | id;
  atomic_store_explicit(&context->made.control->agree.board[context->made.control->head]->lacking, 1,
                        memory_order_relaxed);
  atomic_store_explicit(&lacks[context->made.lacks++ % TT_LACKS], word, memory_order_release);
}

void tt_agree_lack_no_more(const tutti_context *context, uint64_t id) {
  _Atomic uint64_t *lacks =
      context->made.control->agree.board ? context->made.control->agree.board[context->rank]->lacks : NULL;
  for (int n = 0; lacks && n < TT_LACKS; n++)
    if ((uint32_t)atomic_load_explicit(&lacks[n], memory_order_relaxed) == id)
      atomic_store_explicit(&lacks[n], 0, memory_order_release);
}

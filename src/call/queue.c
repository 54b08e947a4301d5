/* call/queue.c - calls that are posted and run later.
 *
 * The calls of one communicator run one after the other, in the order in which they were posted: every rank posts the
 * same order, so the head of the queue can always go on. Queues of different communicators are independent. Ranks may
 * start persistent requests in different orders: each is alone in the queue of its side communicator (side.c). Requests
 * are pooled. */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

tutti_request *tt_request_get(tutti_comm *comm) {
  tutti_request *request = comm->queue.pool;
  if (request) {
    tutti_request *other = request->other;
    assert(request->pooled && request->comm == comm);
    comm->queue.pool = request->next;
    *request = (tutti_request){.comm = comm, .other = other, .words = request->words};
    return request;
  }
  request = calloc(1, sizeof *request);
  if (!request)
    return NULL;
  request->comm = comm;
  request->other = comm->queue.all;
  comm->queue.all = request;
  return request;
}

static void free_request(tutti_request *request) {
  free(request->words.word);
  free(request->refused);
  free(request);
}

void tt_request_give_back(tutti_request *request) {
  tutti_comm *comm = request->comm;
  assert(!request->pooled && request->state != TT_REQUEST_QUEUED && request->state != TT_REQUEST_RUNNING);
  tt_side_end(request->side);
  request->side = NULL;
  free(request->refused);
  request->refused = NULL;
  if (!comm) {
    free_request(request);
    return;
  }
  request->pooled = true;
  request->next = comm->queue.pool;
  comm->queue.pool = request;
}

void tt_request_orphan(tutti_comm *comm) {
  assert(!comm->queue.head); /* given up */
  for (tutti_request *request = comm->queue.all, *other; request; request = other) {
    other = request->other;
    request->comm = request->side = NULL;
    if (request->pooled)
      free_request(request);
  }
}

static void start_head(tutti_comm *comm) {
  tutti_request *head = comm->queue.head;
  assert(head->state == TT_REQUEST_QUEUED && tt_request_home(head) == comm);
  head->state = TT_REQUEST_RUNNING;
  head->operation.bound = &head->bound;
  head->status = tt_operation_start(comm, &head->call, &head->operation);
  if (head->status == TUTTI_OK &&
      head->bound.blocks != TT_CLASS_STREAMS) /* whatever this rank waits for, it is to be woken for this too */
    head->operation.executor->ops->prepare_sleep(head->operation.executor, false);
  head->comm->calls.last_params = comm->calls.last_params;
  head->comm->calls.last_decision = comm->calls.last_decision;
  head->ran.params = comm->calls.last_params;
  head->ran.decision = comm->calls.last_decision;
}

static void list_running(tutti_comm *comm) {
  assert(comm->side.main || !comm->side.is_listed);
  if (!comm->side.main || comm->side.is_listed)
    return;
  comm->side.is_listed = true;
  comm->side.next_running = comm->context->running;
  comm->context->running = comm;
}

/* Later refusals have other texts. */
static void refuse(const tutti_comm *comm, tutti_request *request) {
  request->status = TUTTI_ERR_REFUSED;
  request->refused = tt_refuse_text(comm, request->operation.number);
}

void tt_request_tell(tutti_request *request) {
  void (*notify)(void *user) = request->notify;
  request->notify = NULL;
  if (notify)
    notify(request->notify_user);
}

static void enqueue(tutti_request *request) {
  tutti_comm *comm = tt_request_home(request);
  assert(request->state == TT_REQUEST_IDLE && !request->pooled);
  assert(!comm->side.main || !comm->queue.head); /* of a side communicator there is one */
  list_running(comm);
  tt_operation_number(comm, &request->bound, &request->operation);
  request->operation.again = request->operation.copied = false;
  if (request->operation.number <= comm->refused.over) {
    comm->calls.history = comm->refused.first_history;
    request->state = TT_REQUEST_DONE;
    refuse(comm, request);
    return;
  }
  comm->context->outstanding++;
  tt_progress_post(comm->context);
  request->state = TT_REQUEST_QUEUED;
  request->status = TUTTI_OK;
  request->waiter = (tt_waiter){0};
  assert(!comm->queue.head == !comm->queue.tail);
  request->next = NULL;
  if (comm->queue.tail)
    comm->queue.tail->next = request;
  else
    comm->queue.head = request;
  comm->queue.tail = request;
}

static void finish_head(tutti_comm *comm) {
  tutti_request *head = comm->queue.head;
  assert(head->state == TT_REQUEST_QUEUED || head->state == TT_REQUEST_RUNNING);
  assert(comm->context->outstanding > 0);
  head->state = TT_REQUEST_DONE;
  head->ran.media = atomic_load_explicit(&head->comm->calls.last_media, memory_order_relaxed);
  comm->queue.moves++;
  comm->context->outstanding--;
  comm->queue.head = head->next;
  if (!comm->queue.head)
    comm->queue.tail = NULL;
  tt_request_tell(head);
  if (tt_progress_of(comm->context))
    tt_progress_finished(comm->context->progress);
}

/* ---- where calls are refused ---- */

/* A new epoch: what is over ends, the others begin in it, with keys of it. */
static void queue_again(tutti_comm *comm) {
  tutti_request *head = comm->queue.head;
  bool spoilt = head->state == TT_REQUEST_RUNNING && tt_operation_spoils(&head->operation);
  head->operation.again = head->operation.again || head->state == TT_REQUEST_RUNNING;
  for (; comm->queue.head && comm->queue.head->operation.number <= comm->refused.over; spoilt = false) {
    refuse(comm, comm->queue.head);
    finish_head(comm);
  }
  if (spoilt) {
    assert(comm->queue.head == head);
    tt_refuse_spoilt(comm, head->operation.number);
    refuse(comm, head);
    finish_head(comm);
  }
  for (tutti_request *request = comm->queue.head; request; request = request->next) {
    tt_operation_key(comm, &request->bound, &request->operation);
    request->state = TT_REQUEST_QUEUED;
    request->status = TUTTI_OK;
  }
}

/* Whether the head must wait for ranks that have not stopped yet. */
static bool is_held(tutti_comm *comm) {
  while (comm->queue.head && comm->agree.broken == TUTTI_OK && !tt_agree_poisoned(comm) &&
         tt_refuse_concerns(comm, comm->queue.head->operation.number)) {
    if (tt_refuse_may_leave(comm, comm->queue.head->operation.number)) {
      refuse(comm, comm->queue.head);
      finish_head(comm);
      continue;
    }
    if (!tt_refuse_settle(comm, comm->queue.head->operation.number - 1))
      return true;
    if (comm->agree.broken != TUTTI_OK) /* it could not stop */
      return false;
    queue_again(comm);
  }
  return !comm->queue.head;
}

bool tt_request_has_moved(const tutti_comm *comm, tt_waiter *waiter) {
  assert(waiter->moves <= comm->queue.moves);
  if (waiter->moves == comm->queue.moves)
    return false;
  *waiter = (tt_waiter){.moves = comm->queue.moves, .lets_go = waiter->lets_go, .timeout_ns = waiter->timeout_ns};
  return true;
}

/* Moves the head as far as it goes, then the next. */
static void progress_comm(tutti_comm *comm, bool *moved) {
  while (comm->queue.head) {
    if (tt_refuse_looms(comm) && is_held(comm))
      break;
    tutti_request *head = comm->queue.head;
    bool done = false, some = false, broken = tt_comm_main(comm)->agree.broken != TUTTI_OK;
    if (broken) /* there may be no streams to start on */
      head->status = tt_agree_verdict(comm);
    else if (head->state == TT_REQUEST_QUEUED)
      start_head(comm);
    assert(head->state == TT_REQUEST_RUNNING || broken);
    if (head->status == TUTTI_OK)
      head->status = tt_operation_step(comm, &head->operation, &done, &some);
    if (done && head->status == TUTTI_OK)
      head->status = tt_operation_end(comm, &head->operation);
    if (done && head->status == TUTTI_OK && head->comm != comm)
      tt_operation_note(head->comm, &head->operation);
    if (head->status == TUTTI_ERR_REFUSED) {
      head->status = TUTTI_OK;
      continue;
    }
    bool moves = some || done || head->status != TUTTI_OK;
    comm->queue.moves += moves;
    *moved = *moved || moves;
    if (!done && head->status == TUTTI_OK)
      return;
    finish_head(comm);
  }
  if (tt_refuse_looms(comm))
    tt_refuse_tend(comm);
}

void tt_request_progress(tutti_context *context, bool *moved) {
  for (tutti_comm *comm = context->made.list; comm && context->outstanding > 0; comm = comm->next)
    progress_comm(comm, moved);
  for (tutti_comm **at = &context->running, *side; (side = *at);) {
    progress_comm(side, moved);
    side->side.is_listed = side->queue.head;
    if (side->side.is_listed)
      at = &side->side.next_running;
    else
      *at = side->side.next_running;
  }
}

/* Waits a little for the call at the head of the queue, which does not move. */
static void pause_for(tutti_comm *comm, tt_waiter *waiter) {
  if (waiter->lets_go) { /* what others have moved meanwhile is another's wait */
    tt_progress_give_way(waiter->lets_go);
    if (tt_request_has_moved(comm, waiter))
      return;
  }
  const tutti_request *head = comm->queue.head;
  if (!head)
    return;
  if (!tt_refuse_looms(comm)) {
    if (head->state == TT_REQUEST_RUNNING)
      tt_wait_pause(comm, head->operation.executor, head->operation.number, waiter);
    return;
  }
  tt_wait_settle(comm, head->operation.number, waiter);
}

/* For the call at the head of the queue, without waiting. */
static void look_around(tutti_comm *comm, tt_waiter *waiter, bool moves) {
  comm->refused.settling = tt_refuse_looms(comm);
  tt_wait_watch(comm, comm->queue.head->operation.number, waiter, moves);
  comm->refused.settling = false;
}

void tt_request_await(tutti_comm *comm, tt_waiter *waiter) {
  bool moved = false;
  tt_request_progress(comm->context, &moved);
  if (tt_request_has_moved(comm, waiter) || !comm->queue.head)
    return;
  if (!moved) {
    pause_for(comm, waiter);
    return;
  }
  waiter->polls = 0; /* others' calls go on: their data is no news of this one */
  look_around(comm, waiter, comm->context->machine.foreign);
}

/* For the call that should go on next, where it does not. Threads that wait look at their time limits themselves. */
static bool watch(tutti_comm *comm, int64_t stopped_ns, bool moves) {
  tutti_request *head = comm->queue.head;
  if (!head || tt_request_has_moved(comm, &head->waiter))
    return false;
  if (stopped_ns > 0)
    tt_wait_excuse(&head->waiter, stopped_ns);
  head->waiter.timeout_ns = comm->queue.waiters > 0 ? INT64_MAX : 0;
  look_around(comm, &head->waiter, moves);
  head->waiter.timeout_ns = 0;
  return true;
}

void tt_request_tend(tutti_context *context, int64_t stopped_ns, bool *moved) {
  bool moves = context->machine.foreign; /* once is enough */
  tt_request_progress(context, moved);
  for (tutti_comm *comm = context->made.list; comm && context->outstanding > 0; comm = comm->next)
    moves = !watch(comm, stopped_ns, moves) && moves;
  for (tutti_comm *side = context->running; side; side = side->side.next_running)
    moves = !watch(side, stopped_ns, moves) && moves;
  if (!*moved && context->machine.foreign)
    tt_request_progress(context, moved);
}

static void give_up(tutti_comm *comm) {
  char call[80];
  bool moved = false;
  progress_comm(comm, &moved); /* all that it waits for may be there */
  if (!comm->queue.head)
    return;
  tt_record_add_number(&(tt_text){call, sizeof call, 0}, comm, comm->queue.head->operation.number);
  tt_agree_break(comm, TUTTI_ERR_ABORTED, "rank %" PRId64 " destroyed the communicator in the middle of %s", comm->rank,
                 call);
  progress_comm(comm, &moved);
}

void tt_request_give_up(tutti_comm *comm) {
  give_up(comm);
  for (tutti_comm *side = comm->persistent.sides; side; side = side->side.next)
    give_up(side);
}

void tt_request_start(tutti_request *request) {
  bool moved = false;
  enqueue(request);
  progress_comm(tt_request_home(request), &moved);
}

static tutti_status bind(tutti_request *request, const tt_places *places) {
  tt_bound *bound;
  if (request->call.lists || request->persistent)
    return tt_bound_make(request->comm, &request->call, places, &request->words, &request->bound);
  tutti_status status = tt_recall_bind(request->comm, &request->call, places, &bound);
  if (status == TUTTI_OK)
    request->bound = *bound;
  return status;
}

tutti_status tt_request_post(tutti_comm *comm, const tt_call *call, const tt_places *places, bool persistent,
                             tutti_request **request) {
  tutti_request *made = tt_request_get(comm);
  if (!made)
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for a request", comm->rank);
  assert(!comm->side.main); /* requests are of users' communicators */
  made->call = *call;
  made->call.later = made->persistent = persistent;
  tutti_status status = bind(made, places);
  made->call.lists = NULL; /* the caller's; the bound call has what is needed */
  if (status == TUTTI_OK && persistent)
    status = tt_side_make(made);
  if (status != TUTTI_OK) {
    tt_request_give_back(made);
    return status;
  }
  *request = made;
  if (!persistent)
    tt_request_start(made);
  return TUTTI_OK;
}

tutti_status tt_request_drain(tutti_comm *comm) {
  tt_waiter waiter = {0};
  while (comm->queue.head)
    tt_request_await(comm, &waiter);
  return comm->agree.broken == TUTTI_OK ? TUTTI_OK : tt_agree_verdict(comm);
}

/* bindings/mpi/queue.c - works from their start to their end: queued, looked at, completed.
 *
 * The calls of one communicator complete in the order of their starts, so a look asks the first of each queue, and the
 * next where that is done: 10,000 works on one communicator cost no more than one. Persistent ones complete in any
 * order: a look asks each of those that run. */
#include "queue.h"

#include "lock.h"
#include "request_fail.h"
#include "request_table.h"
#include "request_tag.h"
#include "state.h"

#include <stdatomic.h>

static tt_mpi_comm *busy;                   /* communicators whose queue is not empty */
static tt_mpi_work *started;                /* persistent ones that run */
static tt_mpi_work *done_first, *done_last; /* complete in tutti, not in MPI */
static tt_mpi_work *waited;                 /* of blocking calls, of several threads; they stay where they are */
static _Atomic int64_t running;             /* in queues, and started */

int64_t tt_mpi_queue_running(void) { return atomic_load_explicit(&running, memory_order_seq_cst); }

/* ---- queues ---- */

static void append(tt_mpi_work *work) {
  tt_mpi_comm *comm = work->comm;
  work->next = NULL;
  if (comm->queue.first) {
    comm->queue.last->next = work;
  } else {
    comm->queue.first = work;
    comm->queue.busy = busy;
    busy = comm;
  }
  comm->queue.last = work;
}

void tt_mpi_queue_add(tt_mpi_work *work) {
  work->running = true;
  atomic_store_explicit(&work->over, false, memory_order_relaxed);
  if (work->persistent) {
    work->next = started;
    started = work;
  } else {
    append(work);
  }
  atomic_fetch_add_explicit(&tt_mpi.outstanding, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&running, 1, memory_order_seq_cst); /* pairs with tt_mpi_pass_begin */
}

/* The first of that list. */
static void move_to_done(tt_mpi_work **list) {
  tt_mpi_work *work = *list;
  *list = work->next;
  work->next = NULL;
  if (done_first)
    done_last->next = work;
  else
    done_first = work;
  done_last = work;
  atomic_fetch_sub_explicit(&running, 1, memory_order_relaxed);
}

static void end(tt_mpi_work *work, tutti_status status) {
  work->status = status;
  if (status != TUTTI_OK)
    tt_mpi_work_set_text(work, tutti_last_error());
  work->params = tutti_comm_last_params(work->comm->comm);
  work->authority = tt_mpi.statistics ? tutti_comm_last_authority(work->comm->comm) : "";
  work->media = tutti_comm_last_media(work->comm->comm);
  atomic_store_explicit(&work->over, true, memory_order_release); /* pairs with wait_among_threads */
}

/* Of one who has the lock, as `end` has. */
static bool is_over(const tt_mpi_work *work) { return atomic_load_explicit(&work->over, memory_order_relaxed); }

bool tt_mpi_queue_is_over(tt_mpi_work *work) {
  int done = 0;
  if (is_over(work))
    return true;
  tutti_status status = tutti_test(&work->request, &done);
  if (done || status != TUTTI_OK)
    end(work, status);
  return is_over(work);
}

static void look_at_started(void) {
  for (tt_mpi_work **at = &started; *at;)
    if (tt_mpi_queue_is_over(*at))
      move_to_done(at);
    else
      at = &(*at)->next;
}

void tt_mpi_queue_look(void) {
  for (tt_mpi_comm **at = &busy; *at;) {
    tt_mpi_comm *comm = *at;
    while (comm->queue.first && tt_mpi_queue_is_over(comm->queue.first))
      move_to_done(&comm->queue.first);
    if (comm->queue.first)
      at = &comm->queue.busy;
    else
      *at = comm->queue.busy;
  }
  look_at_started();
  for (tt_mpi_work *work = waited; work; work = work->next)
    tt_mpi_queue_is_over(work);
}

/* ---- completion ---- */

static tt_mpi_work *take_done(void) {
  tt_mpi_lock();
  tt_mpi_work *list = done_first;
  done_first = NULL;
  tt_mpi_unlock();
  return list;
}

static void send(int tag) { PMPI_Send(NULL, 0, MPI_BYTE, 0, tag, tt_mpi.self); }

static void deliver(tt_mpi_work *work) {
  if (work->unpack)
    work->unpack(work);
  tt_mpi_work_count(work);
}

static void give_tag(int tag) {
  tt_mpi_lock();
  tt_mpi_tag_give(tag);
  tt_mpi_unlock();
}

static void free_request(MPI_Request request, bool persistent) {
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  if (persistent)
    PMPI_Request_free(&request);
}

/* Until the message is sent the program may free the request, in another thread; from there on it may start a
 * persistent one again, and the handles of others are MPI's alone. */
static void complete(tt_mpi_work *work) {
  bool persistent = work->persistent;
  int tag = work->tag;
  MPI_Request request = work->mpi;
  if (work->status == TUTTI_OK)
    deliver(work);
  tt_mpi_lock();
  bool detached = work->detached, again = persistent && !detached, failed = work->status != TUTTI_OK && !detached;
  work->running = false;
  if (!persistent && !detached)
    tt_mpi_table_remove(work);
  if (failed)
    tt_mpi_fail_keep(work);
  send(tag);
  tt_mpi_unlock();
  if (detached)
    free_request(request, persistent);
  if (!again && !failed)
    tt_mpi_work_destroy(work);
  if (!again)
    give_tag(tag);
  if (failed)
    return;                                                                /* until the program has been told */
  atomic_fetch_sub_explicit(&tt_mpi.outstanding, 1, memory_order_release); /* pairs with tt_mpi_quiet */
}

void tt_mpi_queue_complete(void) {
  for (tt_mpi_work *work = take_done(), *next; work; work = next) {
    next = work->next;
    complete(work);
  }
}

bool tt_mpi_queue_has_done(void) { return done_first != NULL; }

tt_mpi_work *tt_mpi_queue_any(void) { return started ? started : busy->queue.first; }

/* ---- of one work ---- */

/* tutti waits as it likes, and calls tt_mpi_idle. */
void tt_mpi_queue_await(tt_mpi_work *work) {
  if (!is_over(work))
    end(work, tutti_wait(&work->request));
}

void tt_mpi_queue_watch(tt_mpi_work *work) {
  work->next = waited;
  waited = work;
}

void tt_mpi_queue_leave(const tt_mpi_work *work) {
  tt_mpi_work **at = &waited;
  while (*at != work)
    at = &(*at)->next;
  *at = work->next;
}

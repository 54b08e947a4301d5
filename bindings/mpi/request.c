/* bindings/mpi/request.c - works from their start to their end: queued, looked at, completed.
 *
 * The calls of one communicator complete in the order of their starts, so a look asks the first of each queue, and the
 * next where that is done: 10,000 works on one communicator cost no more than one. Persistent ones complete in any
 * order: a look asks each of those that run. */
#include "request.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS_BEFORE_YIELDING 1000

static tt_mpi_comm *busy;                   /* communicators whose queue is not empty */
static tt_mpi_work *started;                /* persistent ones that run */
static tt_mpi_work *done_first, *done_last; /* complete in tutti, not in MPI */
static tt_mpi_work *waited;                 /* of blocking calls, of several threads; they stay where they are */
static _Atomic int64_t running;             /* in queues, and started */

int64_t tt_mpi_request_running(void) { return atomic_load_explicit(&running, memory_order_seq_cst); }

/* ---- queues ---- */

static void append(tt_mpi_work *work) {
  tt_mpi_comm *comm = work->comm;
  work->next = NULL;
  if (comm->first) {
    comm->last->next = work;
  } else {
    comm->first = work;
    comm->busy = busy;
    busy = comm;
  }
  comm->last = work;
}

void tt_mpi_request_queue(tt_mpi_work *work) {
  work->running = true;
  work->over = false;
  if (work->persistent) {
    work->next = started;
    started = work;
  } else {
    append(work);
  }
  atomic_fetch_add_explicit(&tt_mpi.outstanding, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&running, 1, memory_order_seq_cst); /* pairs with tt_mpi_pass_begin */
  tt_mpi_helper_post();
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

static void set_text(tt_mpi_work *work, const char *text) {
  free(work->text);
  work->text = strdup(text);
  if (!work->text)
    tt_mpi_out_of_memory();
}

static void end(tt_mpi_work *work, tutti_status status) {
  work->status = status;
  if (status != TUTTI_OK)
    set_text(work, tutti_last_error());
  work->params = tutti_comm_last_params(work->comm->comm);
  work->media = tutti_comm_last_media(work->comm->comm);
  __atomic_store_n(&work->over, true, __ATOMIC_RELEASE); /* pairs with wait_among_threads */
}

static bool is_over(tt_mpi_work *work) {
  int done = 0;
  if (work->over)
    return true;
  tutti_status status = tutti_test(&work->request, &done);
  if (done || status != TUTTI_OK)
    end(work, status);
  return work->over;
}

static void look_at_started(void) {
  for (tt_mpi_work **at = &started; *at;)
    if (is_over(*at))
      move_to_done(at);
    else
      at = &(*at)->next;
}

void tt_mpi_request_look(void) {
  for (tt_mpi_comm **at = &busy; *at;) {
    tt_mpi_comm *comm = *at;
    while (comm->first && is_over(comm->first))
      move_to_done(&comm->first);
    if (comm->first)
      at = &comm->busy;
    else
      *at = comm->busy;
  }
  look_at_started();
  for (tt_mpi_work *work = waited; work; work = work->next)
    is_over(work);
}

/* ---- completion ---- */

/* From here on the handles of those that are not persistent are MPI's alone. */
static tt_mpi_work *take_done(void) {
  tt_mpi_lock();
  tt_mpi_work *list = done_first;
  for (tt_mpi_work *work = list; work; work = work->next) {
    work->running = false;
    if (!work->persistent && !work->detached)
      tt_mpi_table_remove(work);
  }
  done_first = NULL;
  tt_mpi_unlock();
  return list;
}

static void send(int tag) { PMPI_Send(NULL, 0, MPI_BYTE, 0, tag, tt_mpi.self); }

static void deliver(tt_mpi_work *work) {
  if (work->unpack)
    work->unpack(work);
  tt_mpi_count_served(work->collective, work->bytes, tt_mpi_clock_ns() - work->began_ns, work->params, work->media);
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

/* The program may start a persistent one again, in another thread, as soon as the message is sent. */
static void complete(tt_mpi_work *work) {
  bool persistent = work->persistent, detached = work->detached;
  bool again = persistent && !detached, failed = work->status != TUTTI_OK && !detached;
  int tag = work->tag;
  MPI_Request request = work->mpi;
  if (work->status == TUTTI_OK)
    deliver(work);
  else if (failed)
    tt_mpi_fail_keep(work);
  if (!again && !failed)
    tt_mpi_work_destroy(work);
  send(tag);
  if (detached)
    free_request(request, persistent);
  if (!again)
    give_tag(tag);
  if (failed)
    return;                                                                /* until the program has been told */
  atomic_fetch_sub_explicit(&tt_mpi.outstanding, 1, memory_order_release); /* pairs with tt_mpi_quiet */
}

void tt_mpi_request_complete(void) {
  for (tt_mpi_work *work = take_done(), *next; work; work = next) {
    next = work->next;
    complete(work);
  }
}

/* ---- waiting ---- */

/* Nobody else is there: tutti may wait as it likes, and calls tt_mpi_idle. */
static void wait_alone(tt_mpi_work *work) {
  if (!work->over)
    end(work, tutti_wait(&work->request));
}

/* Looks of tutti leave the core where it is shared, and call tt_mpi_idle. */
static void pause_after(int64_t looks) {
  if (looks > LOOKS_BEFORE_YIELDING)
    sched_yield();
}

static void leave(const tt_mpi_work *work) {
  tt_mpi_lock();
  tt_mpi_work **at = &waited;
  while (*at != work)
    at = &(*at)->next;
  *at = work->next;
  tt_mpi_unlock();
}

/* Whichever thread has the lock looks for all: it has it nearly all the time. */
static void wait_among_threads(tt_mpi_work *work) {
  tt_mpi_lock();
  bool over = is_over(work);
  if (!over) {
    work->next = waited;
    waited = work;
  }
  tt_mpi_unlock();
  if (over)
    return;
  for (int64_t looks = 1; !__atomic_load_n(&work->over, __ATOMIC_ACQUIRE); looks++) { /* pairs with end */
    if (tt_mpi_trylock()) {
      tt_mpi_request_look();
      bool some = done_first != NULL;
      tt_mpi_unlock();
      if (some)
        tt_mpi_request_complete();
    } else {
      sched_yield();
    }
    pause_after(looks);
  }
  leave(work);
}

void tt_mpi_request_finish(tt_mpi_work *work) {
  if (tt_mpi_shared())
    wait_among_threads(work);
  else
    wait_alone(work);
  if (work->status == TUTTI_OK && work->unpack)
    work->unpack(work);
  tt_mpi_progress();
}

static bool is_running(MPI_Request request) {
  tt_mpi_lock();
  const tt_mpi_work *work = tt_mpi_table_find(request);
  bool runs = work && work->running;
  tt_mpi_unlock();
  return runs;
}

void tt_mpi_request_await(MPI_Request request) {
  tt_mpi_work *work = tt_mpi_shared() ? NULL : tt_mpi_table_find(request);
  if (work && work->running)
    wait_alone(work);
  for (int64_t looks = 1; is_running(request); looks++) {
    tt_mpi_progress();
    pause_after(looks);
  }
}

/* ---- made and ended ---- */

static int post(tt_mpi_work *work) {
  return work->persistent ? PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, work->tag, tt_mpi.self, &work->mpi)
                          : PMPI_Irecv(NULL, 0, MPI_BYTE, 0, work->tag, tt_mpi.self, &work->mpi);
}

static bool take_tag(tt_mpi_work *work) {
  tt_mpi_lock();
  bool taken = tt_mpi_tag_take(&work->tag);
  tt_mpi_unlock();
  return taken;
}

/* The call is done before this returns, or cannot be made where it is persistent. */
static int do_without(tt_mpi_work *work, MPI_Request *request) {
  if (work->persistent)
    set_text(work, "no memory for a persistent request");
  else
    tt_mpi_request_finish(work);
  tutti_status status = work->persistent ? TUTTI_ERR_MEMORY : work->status;
  int code = status == TUTTI_OK ? MPI_SUCCESS : tt_mpi_fail(work->comm, status, work->text);
  tt_mpi_work_destroy(work);
  *request = MPI_REQUEST_NULL;
  return code;
}

int tt_mpi_request_make_take(tt_mpi_work *work, MPI_Request *request) {
  if (!take_tag(work))
    return do_without(work, request);
  if (post(work) != MPI_SUCCESS) {
    give_tag(work->tag);
    return do_without(work, request);
  }
  *request = work->mpi;
  tt_mpi_lock();
  tt_mpi_table_add(work);
  if (!work->persistent)
    tt_mpi_request_queue(work);
  tt_mpi_unlock();
  return MPI_SUCCESS;
}

void tt_mpi_request_end(void) {
  while (tt_mpi_request_running() > 0) {
    if (!tt_mpi_shared())
      wait_alone(started ? started : busy->first);
    tt_mpi_progress();
  }
  tt_mpi_request_complete();
  tt_mpi_helper_end();
  tt_mpi_fail_clear();
  for (tt_mpi_work *work; (work = tt_mpi_table_any()) != NULL;) { /* persistent, not freed by the program */
    tt_mpi_table_remove(work);
    tt_mpi_work_destroy(work);
  }
  tt_mpi_table_clear();
  tt_mpi_tag_clear();
}

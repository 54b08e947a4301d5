/* bindings/mpi/request.c - works as requests: made, waited for, ended. */
#include "request.h"

#include "error.h"
#include "lock.h"
#include "progress.h"
#include "queue.h"
#include "request_fail.h"
#include "request_table.h"
#include "request_tag.h"
#include "state.h"

#include <sched.h>
#include <stdatomic.h>

#define LOOKS_BEFORE_YIELDING 1000

/* ---- waiting ---- */

/* Looks of tutti leave the core where it is shared, and call tt_mpi_idle. */
static void pause_after(int64_t looks) {
  if (looks > LOOKS_BEFORE_YIELDING)
    sched_yield();
}

/* Whichever thread has the lock looks for all: it has it nearly all the time. */
static void wait_among_threads(tt_mpi_work *work) {
  tt_mpi_lock();
  bool over = tt_mpi_queue_is_over(work);
  if (!over)
    tt_mpi_queue_watch(work);
  tt_mpi_unlock();
  if (over)
    return;
  for (int64_t looks = 1; !atomic_load_explicit(&work->over, memory_order_acquire); looks++) { /* pairs with end */
    if (tt_mpi_trylock()) {
      tt_mpi_queue_look();
      bool some = tt_mpi_queue_has_done();
      tt_mpi_unlock();
      if (some)
        tt_mpi_queue_complete();
    } else {
      sched_yield();
    }
    pause_after(looks);
  }
  tt_mpi_lock();
  tt_mpi_queue_leave(work);
  tt_mpi_unlock();
}

void tt_mpi_request_finish(tt_mpi_work *work) {
  if (tt_mpi_shared())
    wait_among_threads(work);
  else
    tt_mpi_queue_await(work);
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
    tt_mpi_queue_await(work);
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
  bool taken = tt_mpi_tag_get(&work->tag);
  tt_mpi_unlock();
  return taken;
}

/* The call is done before this returns, or cannot be made where it is persistent. */
static int do_without(tt_mpi_work *work, MPI_Request *request) {
  if (work->persistent)
    tt_mpi_work_set_text(work, "no memory for a persistent request");
  else
    tt_mpi_request_finish(work);
  tutti_status status = work->persistent ? TUTTI_ERR_MEMORY : work->status;
  int code = status == TUTTI_OK ? MPI_SUCCESS : tt_mpi_fail(work->comm->mpi, work->comm->rank, status, work->text);
  tt_mpi_work_destroy(work);
  *request = MPI_REQUEST_NULL;
  return code;
}

int tt_mpi_request_make_take(tt_mpi_work *work, MPI_Request *request) {
  if (!take_tag(work))
    return do_without(work, request);
  if (post(work) != MPI_SUCCESS) {
    tt_mpi_lock();
    tt_mpi_tag_give(work->tag);
    tt_mpi_unlock();
    return do_without(work, request);
  }
  *request = work->mpi;
  tt_mpi_lock();
  tt_mpi_table_add(work);
  if (!work->persistent) {
    tt_mpi_queue_add(work);
    tt_mpi_helper_post();
  }
  tt_mpi_unlock();
  return MPI_SUCCESS;
}

void tt_mpi_request_end(void) {
  while (tt_mpi_queue_running() > 0) {
    if (!tt_mpi_shared())
      tt_mpi_queue_await(tt_mpi_queue_any());
    tt_mpi_progress();
  }
  tt_mpi_queue_complete();
  tt_mpi_helper_end();
  tt_mpi_fail_clear();
  for (tt_mpi_work *work; (work = tt_mpi_table_any()) != NULL;) { /* persistent, not freed by the program */
    tt_mpi_table_remove(work);
    tt_mpi_table_leave(work->mpi);
    tt_mpi_work_destroy(work);
  }
  tt_mpi_table_clear();
  tt_mpi_tag_clear();
}

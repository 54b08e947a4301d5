/* bindings/mpi/request_calls.c - MPI_Start, MPI_Startall, MPI_Request_free, MPI_Cancel: for works, and else MPI's own.
 */
#include "error.h"
#include "lock.h"
#include "progress.h"
#include "queue.h"
#include "request_table.h"
#include "request_tag.h"
#include "state.h"
#include "stats.h"
#include "wait.h"

/* NULL: none of ours. */
static tt_mpi_work *work_of(MPI_Request request) {
  if (tt_mpi_table_count() == 0 || request == MPI_REQUEST_NULL)
    return NULL;
  tt_mpi_lock();
  tt_mpi_work *work = tt_mpi_table_find(request);
  tt_mpi_unlock();
  return work;
}

/* ---- start ---- */

/* The receive is there before anybody can complete it. */
static int start_both(tt_mpi_work *work, MPI_Request *request) {
  tt_mpi_lock();
  tutti_status status = tutti_request_start(work->request);
  tt_mpi_unlock();
  if (status != TUTTI_OK)
    return tt_mpi_fail(work->comm->mpi, work->comm->rank, status, tutti_last_error());
  int result = PMPI_Start(request);
  tt_mpi_lock();
  tt_mpi_queue_add(work);
  tt_mpi_helper_post();
  tt_mpi_unlock();
  return result;
}

/* Nothing would ever complete it. */
static int fail_left(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return tt_mpi_fail_class(MPI_COMM_WORLD, rank, MPI_ERR_REQUEST,
                           "a persistent collective is started in MPI_Finalize, where tutti has ended");
}

static int start(MPI_Request *request) {
  tt_mpi_work *work = work_of(*request);
  if (tt_mpi_table_is_left(*request))
    return fail_left();
  if (!work || !work->persistent || work->running)
    return PMPI_Start(request); /* which says what is wrong with one that runs */
  work->began_ns = tt_mpi_clock_ns();
  if (work->pack)
    work->pack(work);
  return start_both(work, request);
}

int MPI_Start(MPI_Request *request) { return request ? start(request) : PMPI_Start(request); }

int MPI_Startall(int count, MPI_Request *requests) {
  int result = MPI_SUCCESS;
  if ((tt_mpi_table_count() == 0 && !tt_mpi.ended) || !requests || count < 0)
    return PMPI_Startall(count, requests);
  for (int n = 0; n < count && result == MPI_SUCCESS; n++)
    result = start(&requests[n]);
  return result;
}

/* ---- free, cancel ---- */

/* A work that runs goes on and frees its request itself: MPICH loses the message to a receive that has been freed. */
static bool detach(MPI_Request request, tt_mpi_work **idle) {
  tt_mpi_lock();
  tt_mpi_work *work = tt_mpi_table_find(request);
  bool runs = work && work->running;
  if (work) {
    tt_mpi_table_remove(work);
    work->detached = true;
  }
  *idle = runs ? NULL : work;
  if (*idle)
    tt_mpi_tag_give(work->tag);
  tt_mpi_unlock();
  return runs;
}

int MPI_Request_free(MPI_Request *request) {
  tt_mpi_work *idle;
  if (request)
    tt_mpi_table_forget(*request);
  if (!request || (tt_mpi_table_count() == 0 && tt_mpi_quiet()))
    return PMPI_Request_free(request);
  MPI_Request which = *request;
  if (detach(which, &idle)) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  int code = tt_mpi_request_told(which, PMPI_Request_free(request)); /* of one that has failed, too */
  tt_mpi_work_destroy(idle);
  return code;
}

/* Collective calls cannot be cancelled: MPI has an error for it, as for a request that is none. */
int MPI_Cancel(MPI_Request *request) {
  MPI_Request none = MPI_REQUEST_NULL;
  return PMPI_Cancel(request && work_of(*request) ? &none : request);
}

/* bindings/mpi/wait.c - MPI_Wait..., MPI_Test..., MPI_Request_get_status: MPI's own, and works move on meanwhile.
 *
 * To wait for a request is: for one of a work, to wait for the work; for another, to ask MPI and move works on in turn,
 * as long as there are any. Then MPI's own function completes it. The rest is what the errors of works need: handles
 * are remembered, since completing a request clears them. */
#include "wait.h"

#include "error.h"
#include "idup.h"
#include "progress.h"
#include "request.h"
#include "request_fail.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

#define FEW 64

/* ---- what the program is told ---- */

/* Whether some request's handle must be remembered for tt_mpi_request_told, as completing it clears the handle. */
static bool matters(void) {
  return tt_mpi.threads || tt_mpi_fail_count() > 0 || atomic_load_explicit(&tt_mpi.idups, memory_order_relaxed) > 0;
}

int tt_mpi_request_told(MPI_Request request, int result) {
  if (atomic_load_explicit(&tt_mpi.idups, memory_order_relaxed) > 0)
    tt_mpi_comm_idup_done(request);
  tt_mpi_work *work = tt_mpi_fail_count() > 0 ? tt_mpi_fail_remove(request) : NULL;
  if (!work)
    return result;
  int code = tt_mpi_fail(work->comm->mpi, work->comm->rank, work->status, work->text);
  if (!work->persistent)
    tt_mpi_work_destroy(work);
  return code;
}

/* ---- one request ---- */

/* True: it is complete. False: no works are left, so MPI may wait for it alone. */
static bool settle(MPI_Request request) {
  int complete = request == MPI_REQUEST_NULL;
  if (!complete)
    tt_mpi_request_await(request);
  while (!complete) {
    if (PMPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return true; /* MPI says more when it is waited for */
    if (!complete && tt_mpi_quiet())
      return false;
    if (!complete)
      tt_mpi_progress();
  }
  return true;
}

int tt_mpi_wait(MPI_Request *request, MPI_Status *status) {
  MPI_Request which = *request;
  if (!tt_mpi_quiet() && settle(which))
    return tt_mpi_request_told(which, PMPI_Wait(request, status));
  tt_mpi_pass_begin();
  int result = PMPI_Wait(request, status);
  tt_mpi_pass_end();
  return tt_mpi_request_told(which, result);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  return tt_mpi_alone() || !request ? PMPI_Wait(request, status) : tt_mpi_wait(request, status);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  if (tt_mpi_quiet() || !request || !flag)
    return PMPI_Test(request, flag, status);
  MPI_Request which = *request;
  tt_mpi_progress();
  int result = PMPI_Test(request, flag, status);
  return *flag ? tt_mpi_request_told(which, result) : result;
}

/* A communicator whose making is complete may be used before its request is waited for. */
int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  tt_mpi_progress();
  int result = PMPI_Request_get_status(request, flag, status);
  if (result == MPI_SUCCESS && *flag && atomic_load_explicit(&tt_mpi.idups, memory_order_relaxed) > 0)
    tt_mpi_comm_idup_done(request);
  return result;
}

/* Which of them are complete, MPI says again. Where works do not run any more, nothing of tutti
 * moves MPI on, and MPICH 4.2 does not by itself when it is asked of several: its messages would never come. */
void tt_mpi_request_asked(int count, const MPI_Request *requests) {
  if (tt_mpi.context)
    tt_mpi_idle(NULL);
  for (int n = 0; n < count && atomic_load_explicit(&tt_mpi.idups, memory_order_relaxed) > 0; n++) {
    int complete;
    if (PMPI_Request_get_status(requests[n], &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && complete)
      tt_mpi_comm_idup_done(requests[n]);
  }
}

/* ---- several: the handles before MPI clears them ---- */

typedef struct remembered {
  MPI_Request few[FEW];
  MPI_Request *all; /* NULL: nobody wants to know */
} remembered;

static void remember(remembered *handles, int count, const MPI_Request *requests) {
  handles->all = NULL;
  if (count <= 0 || !requests || !matters())
    return;
  handles->all = count <= FEW ? handles->few : malloc((size_t)count * sizeof *requests);
  if (handles->all)
    memcpy(handles->all, requests, (size_t)count * sizeof *requests);
}

static void forget(remembered *handles) {
  if (handles->all != handles->few)
    free(handles->all);
}

/* MPI has completed request `index`, of which there may be none. */
static int told_one(remembered *handles, int index, int result) {
  if (handles->all && index != MPI_UNDEFINED && index >= 0)
    result = tt_mpi_request_told(handles->all[index], result);
  forget(handles);
  return result;
}

/* The n-th error; with MPI_ERR_IN_STATUS all statuses have one, if only MPI_SUCCESS. */
static int in_status(int n, int code, int count, MPI_Status *statuses, int result) {
  if (statuses == MPI_STATUSES_IGNORE)
    return MPI_ERR_IN_STATUS;
  for (int other = 0; result == MPI_SUCCESS && other < count; other++)
    statuses[other].MPI_ERROR = MPI_SUCCESS;
  statuses[n].MPI_ERROR = code;
  return MPI_ERR_IN_STATUS;
}

/* MPI has completed the requests indices[0 .. count-1]; without indices the first `count`. */
static int told_many(remembered *handles, int count, const int *indices, MPI_Status *statuses, int result) {
  bool usual = result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS;
  for (int n = 0; handles->all && usual && n < count; n++) {
    int code = tt_mpi_request_told(handles->all[indices ? indices[n] : n], MPI_SUCCESS);
    if (code != MPI_SUCCESS)
      result = in_status(n, code, count, statuses, result);
  }
  forget(handles);
  return result;
}

/* ---- all ---- */

static bool settle_all(int count, const MPI_Request *requests) {
  bool settled = !tt_mpi_quiet();
  for (int n = 0; n < count && settled; n++)
    settled = settle(requests[n]);
  return settled;
}

static int wait_all(int count, MPI_Request *requests, MPI_Status *statuses) {
  if (settle_all(count, requests))
    return PMPI_Waitall(count, requests, statuses);
  tt_mpi_pass_begin();
  int result = PMPI_Waitall(count, requests, statuses);
  tt_mpi_pass_end();
  return result;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
  remembered handles;
  if (tt_mpi_alone() || !requests)
    return PMPI_Waitall(count, requests, statuses);
  for (int n = 0; n < count && !tt_mpi_quiet(); n++)
    tt_mpi_request_await(requests[n]); /* what fails has failed then */
  remember(&handles, count, requests);
  int result = wait_all(count, requests, statuses);
  return told_many(&handles, count, NULL, statuses, result);
}

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses) {
  remembered handles;
  tt_mpi_progress();
  remember(&handles, count, requests);
  int result = PMPI_Testall(count, requests, flag, statuses);
  return told_many(&handles, handles.all && *flag ? count : 0, NULL, statuses, result);
}

/* ---- any ---- */

static int test_any(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status) {
  remembered handles;
  *flag = 0;
  remember(&handles, count, requests);
  int result = PMPI_Testany(count, requests, index, flag, status);
  return told_one(&handles, *flag ? *index : MPI_UNDEFINED, result);
}

static int wait_any(int count, MPI_Request *requests, int *index, MPI_Status *status) {
  remembered handles;
  remember(&handles, count, requests);
  tt_mpi_pass_begin();
  int result = PMPI_Waitany(count, requests, index, status);
  tt_mpi_pass_end();
  return told_one(&handles, *index, result);
}

int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status) {
  int done = 0, result = MPI_SUCCESS;
  if (tt_mpi_alone() || !index)
    return PMPI_Waitany(count, requests, index, status);
  while (!done && result == MPI_SUCCESS && !tt_mpi_quiet()) {
    tt_mpi_progress();
    result = test_any(count, requests, index, &done, status);
  }
  return done || result != MPI_SUCCESS ? result : wait_any(count, requests, index, status);
}

int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status) {
  if (tt_mpi_quiet() || !index || !flag)
    return PMPI_Testany(count, requests, index, flag, status);
  tt_mpi_progress();
  return test_any(count, requests, index, flag, status);
}

/* ---- some ---- */

static int test_some(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses) {
  remembered handles;
  *done = 0;
  remember(&handles, count, requests);
  int result = PMPI_Testsome(count, requests, done, indices, statuses);
  return told_many(&handles, *done == MPI_UNDEFINED ? 0 : *done, indices, statuses, result);
}

static int wait_some(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses) {
  remembered handles;
  remember(&handles, count, requests);
  tt_mpi_pass_begin();
  int result = PMPI_Waitsome(count, requests, done, indices, statuses);
  tt_mpi_pass_end();
  return told_many(&handles, *done == MPI_UNDEFINED ? 0 : *done, indices, statuses, result);
}

int MPI_Waitsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses) {
  int result = MPI_SUCCESS;
  if (tt_mpi_alone() || !done)
    return PMPI_Waitsome(count, requests, done, indices, statuses);
  *done = 0;
  while (*done == 0 && result == MPI_SUCCESS && !tt_mpi_quiet()) {
    tt_mpi_progress();
    result = test_some(count, requests, done, indices, statuses);
  }
  return *done != 0 || result != MPI_SUCCESS ? result : wait_some(count, requests, done, indices, statuses);
}

int MPI_Testsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses) {
  if (tt_mpi_quiet() || !done)
    return PMPI_Testsome(count, requests, done, indices, statuses);
  tt_mpi_progress();
  return test_some(count, requests, done, indices, statuses);
}

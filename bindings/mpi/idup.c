/* bindings/mpi/idup.c - communicators of MPI_Comm_idup: the number that each needs comes beside the making, and is
 * there when it is done. */
#include "idup.h"

#include "comm.h"
#include "error.h"
#include "progress.h"
#include "state.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* A communicator of MPI_Comm_idup that is being made. */
typedef struct late {
  struct late *next;
  MPI_Request request;
  MPI_Comm made;
  const char *why;  /* it will not be served */
  int topology;     /* its parent's */
  MPI_Request told; /* brings the number */
  int64_t number;
} late;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of the list; no call of MPI or tutti under it */
static late *lates;

void tt_mpi_comm_idup_posted(MPI_Comm parent, MPI_Comm made, MPI_Request request) {
  tt_mpi_comm *kept = tt_mpi_comm_of(parent);
  if (!kept)
    return;
  late *posted = calloc(1, sizeof *posted);
  if (!posted)
    tt_mpi_out_of_memory();
  *posted = (late){.request = request, .made = made, .why = kept->why, .told = MPI_REQUEST_NULL};
  posted->topology = kept->topology;
  if (kept->comm) {
    posted->number = kept->rank == 0 ? tt_mpi_comm_new_numbers(1) : 0;
    PMPI_Ibcast(&posted->number, 1, MPI_INT64_T, 0, parent, &posted->told);
  }
  atomic_fetch_add_explicit(&tt_mpi.idups, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&tt_mpi.outstanding, 1, memory_order_relaxed);
  pthread_mutex_lock(&guard);
  posted->next = lates;
  lates = posted;
  pthread_mutex_unlock(&guard);
}

static late *take_late(MPI_Request request) {
  pthread_mutex_lock(&guard);
  late **at = &lates;
  while (*at && (*at)->request != request)
    at = &(*at)->next;
  late *found = *at;
  if (found)
    *at = found->next;
  pthread_mutex_unlock(&guard);
  return found;
}

/* Everyone has posted it, since everyone has posted the making, which is complete. */
static void await_number(late *posted) {
  for (int done = 0; PMPI_Test(&posted->told, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done; sched_yield())
    tt_mpi_progress();
}

static void finish_late(late *posted) {
  await_number(posted);
  tt_mpi_comm_made_late(posted->made, posted->topology, posted->number, posted->why);
  free(posted);
  atomic_fetch_sub_explicit(&tt_mpi.outstanding, 1, memory_order_release); /* pairs with tt_mpi_quiet */
  atomic_fetch_sub_explicit(&tt_mpi.idups, 1, memory_order_relaxed);
}

/* Requests that were complete when they were made may share one handle. */
void tt_mpi_comm_idup_done(MPI_Request request) {
  for (late *posted; (posted = take_late(request));)
    finish_late(posted);
}

void tt_mpi_comm_idup_end(void) {
  for (late *next; lates; lates = next) {
    next = lates->next;
    free(lates);
  }
}

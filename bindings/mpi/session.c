/* bindings/mpi/session.c - communicators that a program makes of a session's group, without a parent.
 *
 * Where tutti has joined with MPI_Init its ranks know each other, and such a communicator is like any other. A program
 * that has not called MPI_Init has no world: the first communicator of several ranks becomes one, if tutti has joined
 * on none of them so far; those whose ranks are not all of it pass through. It belongs to a session of tutti's own,
 * since the program's may end sooner. Nobody knows which end of a session is the last, so tutti's comes with the
 * process. */
#include "session.h"

#include "comm.h"
#include "error.h"
#include "job.h"
#include "state.h"

#ifdef TT_MPI_SESSIONS

#include <stdlib.h>
#include <unistd.h>

static MPI_Session own = MPI_SESSION_NULL;
static pid_t process; /* that has it: a fork of it leaves it alone */

/* A rank that fails does not wait for the others, which may wait for it: the launcher ends them. */
static void end(int status, void *unused) {
  (void)unused;
  if (status != 0 || getpid() != process || !tt_mpi.session)
    return;
  tt_mpi_end();
  tt_mpi.session = false;
  PMPI_Session_finalize(&own);
}

/* The ranks of the communicator, as a communicator of tutti's own session. */
static int open_world(MPI_Comm comm) {
  MPI_Group all, ranks, group;
  int size;
  PMPI_Comm_size(comm, &size);
  int *here = malloc(2 * (size_t)size * sizeof *here), *there = here + size;
  if (!here)
    tt_mpi_out_of_memory();
  for (int r = 0; r < size; r++)
    here[r] = r;
  PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own);
  PMPI_Group_from_session_pset(own, "mpi://WORLD", &all);
  PMPI_Comm_group(comm, &ranks);
  PMPI_Group_translate_ranks(ranks, size, here, all, there);
  PMPI_Group_incl(all, size, there, &group);
  int result = PMPI_Comm_create_from_group(group, "tutti", MPI_INFO_NULL, MPI_ERRORS_RETURN, &tt_mpi.world);
  PMPI_Group_free(&group);
  PMPI_Group_free(&ranks);
  PMPI_Group_free(&all);
  free(here);
  return result;
}

/* Program and tutti's session have the level that MPI gives: it cannot be told from what the program uses. */
static void begin(MPI_Comm comm) {
  int level = MPI_THREAD_SINGLE;
  if (open_world(comm) != MPI_SUCCESS) /* as on all of them */
    return;
  process = getpid();
  tt_mpi.session = true;
  PMPI_Query_thread(&level);
  (void)tt_mpi_begin(tt_mpi.world, level, level);
  on_exit(end, NULL);
}

void tt_mpi_session_comm_made(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) /* this rank is not in the group, which may be empty */
    return;
  bool joined = tt_mpi.world != MPI_COMM_NULL || tt_mpi.ended;
  int mine[2] = {joined, !tt_mpi_comm_is_known(comm)}, all[2], size;
  PMPI_Comm_size(comm, &size);
  PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, comm);
  if (!all[0] && size > 1) {
    begin(comm);
    all[1] = tt_mpi.world == MPI_COMM_NULL;
  }
  if (all[1])
    tt_mpi_comm_refuse(comm, "communicator of a session whose ranks tutti has not joined");
  else
    tt_mpi_comm_made(MPI_COMM_NULL, comm, MPI_UNDEFINED);
}

#endif

/* bindings/mpi/init.c - MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Query_thread.
 *
 * tutti's transport between machines may need a higher thread level than the program wants. The program never hears of
 * it: it is told at most what it asked for, so it does not begin to use threads that tutti does not reckon with. */
#include "comm.h"
#include "job.h"
#include "session.h"
#include "state.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static int level = MPI_THREAD_MULTIPLE; /* as the program knows it; without MPI_Init, what MPI says */

/* As tutti's shared memory does. It is for the whole process and costs nothing the second time; but the first time it
 * waits for all cores, 10 to 20 ms, if there are other threads already, and MPI starts some. */
static void register_barriers(void) { syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0); }

/* MPI_Init of a program that has sessions already, for which tutti has joined. */
static void begin_joined(void) {
#ifdef TT_MPI_SESSIONS
  tt_mpi_session_comm_made(MPI_COMM_WORLD);
#endif
  if (tt_mpi.context)
    tt_mpi_comm_made(MPI_COMM_NULL, MPI_COMM_SELF, MPI_UNDEFINED);
}

/* MPI_Init gives the level that the user has set for it, by a variable that MPI_Init_thread does not read. */
static int init_plainly(int *argc, char ***argv, int *provided) {
  int result = PMPI_Init(argc, argv);
  return result == MPI_SUCCESS ? PMPI_Query_thread(provided) : result;
}

/* plain: by MPI_Init. */
static int begin(int *argc, char ***argv, int required, bool plain) {
  register_barriers();
  int asked = tt_mpi_thread_level(required), provided = MPI_THREAD_SINGLE;
  int result =
      plain && asked == required ? init_plainly(argc, argv, &provided) : PMPI_Init_thread(argc, argv, asked, &provided);
  if (result != MPI_SUCCESS)
    return result;
  level = asked > required && provided > required ? required : provided;
  if (!tt_mpi_begin(MPI_COMM_WORLD, level, provided))
    begin_joined();
  return MPI_SUCCESS;
}

int MPI_Init(int *argc, char ***argv) { return begin(argc, argv, MPI_THREAD_SINGLE, true); }

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  int result = begin(argc, argv, required, false);
  if (result == MPI_SUCCESS)
    *provided = level;
  return result;
}

int MPI_Query_thread(int *provided) {
  int result = PMPI_Query_thread(provided);
  if (result == MPI_SUCCESS && *provided > level)
    *provided = level;
  return result;
}

int MPI_Finalize(void) {
  if (!tt_mpi.session) /* which ends later */
    tt_mpi_end();
  return PMPI_Finalize();
}

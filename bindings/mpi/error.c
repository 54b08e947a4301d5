/* bindings/mpi/error.c - errors of tutti as errors of MPI.
 *
 * MPI knows errors by codes, which have a class and a text. tutti adds a class and a code in it, when an error first
 * needs them; the code's text is that of the last error. (A code in one of MPI's own classes would keep MPICH from
 * finding the text.) What does not fit into MPI's text is in stderr. */
#include "error.h"

#include "state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int code_for(const char *text) {
  static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
  static int class, code;
  char brief[MPI_MAX_ERROR_STRING];
  snprintf(brief, sizeof brief, "%s", text);
  pthread_mutex_lock(&guard);
  if (code == 0) {
    PMPI_Add_error_class(&class);
    PMPI_Add_error_string(class, "error of tutti");
    PMPI_Add_error_code(class, &code);
  }
  PMPI_Add_error_string(code, brief);
  pthread_mutex_unlock(&guard);
  return code;
}

static bool has_handler(MPI_Comm comm, MPI_Errhandler wanted) {
  MPI_Errhandler handler;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
    return false;
  bool has = handler == wanted;
  PMPI_Errhandler_free(&handler);
  return has;
}

bool tt_mpi_errors_return(MPI_Comm comm) { return has_handler(comm, MPI_ERRORS_RETURN); }

/* Before this rank ends the job because another one has died. The launcher is about to do so: it has that one's exit
 * code, which an abort of this rank would take the place of. */
static void let_launcher_end_it(MPI_Comm comm) {
  const struct timespec pause = {.tv_sec = 1};
  if (has_handler(comm, MPI_ERRORS_ARE_FATAL))
    nanosleep(&pause, NULL);
}

/* A fork has its parent's MPI, and ends alone. Where that ends the job, MPICH 4.2's mpiexec says 0 in one of three
 * runs; not of an abort, which may return there. */
static void call_handler(MPI_Comm comm, int code) {
  if (tt_mpi.forked && has_handler(comm, MPI_ERRORS_ARE_FATAL))
    _exit(1);
#ifndef OPEN_MPI
  if (has_handler(comm, MPI_ERRORS_ARE_FATAL)) {
    PMPI_Abort(comm, code);
    _exit(code % 256 ? code % 256 : 1);
  }
#endif
  PMPI_Comm_call_errhandler(comm, code);
}

int tt_mpi_fail(MPI_Comm comm, int rank, tutti_status status, const char *text) {
  MPI_Comm whose = comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm;
  fprintf(stderr, "tutti: %s: rank %d: %s\n", tutti_status_name(status), rank, text);
  int code = code_for(text);
  if (comm == MPI_COMM_NULL && tt_mpi.session) /* who has only sessions has no MPI_COMM_WORLD */
    return code;
  if (status == TUTTI_ERR_PEER)
    let_launcher_end_it(whose);
  call_handler(whose, code);
  return code;
}

int tt_mpi_fail_class(MPI_Comm comm, int rank, int class, const char *text) {
  if (!tt_mpi_errors_return(comm))
    fprintf(stderr, "tutti: rank %d: %s\n", rank, text);
  call_handler(comm, class);
  return class;
}

void tt_mpi_give_up(const char *why) {
  fprintf(stderr, "tutti: %s\n", why);
  if (tt_mpi.forked)
    _exit(1);
  PMPI_Abort(tt_mpi.session ? tt_mpi.world : MPI_COMM_WORLD, 1);
  abort();
}

void tt_mpi_out_of_memory(void) { tt_mpi_give_up("no memory left"); }

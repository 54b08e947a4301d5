/* bindings/mpi/error.h - errors of tutti as errors of MPI. */
#ifndef TT_MPI_ERROR_H
#define TT_MPI_ERROR_H

#include <tutti/tutti.h>

#include <mpi.h>
#include <stdbool.h>

/* Turns an error of tutti into one of MPI on that communicator, where this is rank `rank`; MPI_COMM_NULL: the program
 * has freed it. Writes the whole text to stderr, calls the communicator's error handler (which may not return) with an
 * MPI error code whose string begins as the text does, and returns the code. */
int tt_mpi_fail(MPI_Comm comm, int rank, tutti_status status, const char *text);
/* What an MPI would detect, as an error of that class of its own; says nothing where errors are returned. */
int tt_mpi_fail_class(MPI_Comm comm, int rank, int class, const char *text);
/* Whether the communicator's error handler is MPI_ERRORS_RETURN. */
bool tt_mpi_errors_return(MPI_Comm comm);
/* Where other ranks would wait for this one: ends the job, or a fork of this rank alone. */
_Noreturn void tt_mpi_give_up(const char *why);
/* For memory that nobody can do without. */
_Noreturn void tt_mpi_out_of_memory(void);

#endif

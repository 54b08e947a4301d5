/* bindings/mpi/progress.h - who moves works on. */
#ifndef TT_MPI_PROGRESS_H
#define TT_MPI_PROGRESS_H

/* Moves on all outstanding works as far as they go, and completes the MPI_Requests of those that are done. Not
 * blocking. */
void tt_mpi_progress(void);
/* The context's `idle`: lets MPI move on while a call of tutti waits. */
void tt_mpi_idle(void *user);
/* Between these it does so. */
void tt_mpi_idle_begin(void);
void tt_mpi_idle_end(void);
/* From now on only in the thread that has called tt_mpi_idle_begin: others wait in tutti, too. */
void tt_mpi_idle_restrict(void);
/* Around each PMPI_ call that may block and that is not looped over its non-blocking form: a helper thread moves the
 * outstanding works on meanwhile. One load where there are none. */
void tt_mpi_pass_begin(void);
void tt_mpi_pass_end(void);
/* A work has been queued: the helper thread is woken where some thread is inside MPI. Under tt_mpi_lock. */
void tt_mpi_helper_post(void);
void tt_mpi_helper_end(void);

#endif

/* bindings/mpi/request_table.h - persistent works, and others while they run, by the handle of their MPI_Request. Under
 * tt_mpi_lock. */
#ifndef TT_MPI_REQUEST_TABLE_H
#define TT_MPI_REQUEST_TABLE_H

#include "work.h"

void tt_mpi_table_add(tt_mpi_work *work);
void tt_mpi_table_remove(tt_mpi_work *work);
tt_mpi_work *tt_mpi_table_find(MPI_Request request);
tt_mpi_work *tt_mpi_table_any(void);
int64_t tt_mpi_table_count(void); /* any time */
void tt_mpi_table_clear(void);

/* Handles of persistent works that have ended with tutti: the program has not freed them. In MPI_Finalize, delete
 * functions of attributes may still start or free them; there is one thread then. */
void tt_mpi_table_leave(MPI_Request request);
bool tt_mpi_table_is_left(MPI_Request request);
void tt_mpi_table_forget(MPI_Request request);

#endif

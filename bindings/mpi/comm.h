/* bindings/mpi/comm.h - what is kept with each MPI communicator. */
#ifndef TT_MPI_COMM_H
#define TT_MPI_COMM_H

#include "faster.h"
#include "handles.h"
#include "neighbors.h"
#include "stage.h"

/* Numbers that rank 0 need not be asked for: of MPI_COMM_WORLD, the first of the MPI's; and of what several ranks meet
 * on at the end. */
enum { TT_MPI_WORLD_NUMBER = 1 << 30, TT_MPI_LAST_NUMBER };

/* Found by its handle, freed when MPI and all works have done with it. */
typedef struct tt_mpi_comm {
  tt_mpi_handle handle; /* in the table. First */
  tutti_comm *comm;     /* NULL: its calls pass through */
  const char *why;      /* they do: a text of static storage, for the statistics */
  MPI_Comm mpi;         /* whose handler has its errors; freed while works go on: tt_mpi.self, if that was to return
                           them, else MPI_COMM_NULL */
  int rank, size;
  int topology; /* tt_mpi_topology */
  tt_mpi_neighbors neighbors;
  tt_mpi_faster faster;   /* blocking calls that pass through all the same */
  struct {                /* communicators that are made of it */
    int64_t count, known; /* so many are, and so many have a number */
    int64_t next;         /* the next one's */
  } children;
  tt_mpi_words words;   /* the lists of its blocking calls */
  _Atomic int64_t uses; /* MPI's and those of works; each release pairs with that of the last one */
  struct tt_mpi_comm *next;
  struct { /* queue.c: works that run and are not persistent, in the order of their starts */
    struct tt_mpi_work *first, *last;
    struct tt_mpi_comm *busy; /* another communicator that has some */
  } queue;
} tt_mpi_comm;

/* What is kept with that handle; NULL: MPI_COMM_NULL, or before MPI_Init or after MPI_Finalize, or TUTTI_MPI=off. One
 * comparison for the communicator that was used last. Never NULL for others: what tutti does not know passes through.
 */
tt_mpi_comm *tt_mpi_comm_of(MPI_Comm comm);
/* A work keeps its communicator: programs free communicators whose calls are not complete. Any thread. */
tt_mpi_comm *tt_mpi_comm_keep(tt_mpi_comm *comm);
void tt_mpi_comm_release(tt_mpi_comm *comm); /* accepts NULL */
/* After MPI has made a communicator: collective over it, all its ranks are in the call that made it, and over the
 * parent, unless that is MPI_COMM_NULL. comm: MPI_COMM_NULL where this rank is none of its. topology: of which kind it
 * is where MPI says that it has one; MPI_UNDEFINED: the one that MPI says. Without tt_mpi_lock. */
void tt_mpi_comm_made(MPI_Comm parent, MPI_Comm comm, int topology);
/* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH, or MPI_UNDEFINED. Open MPI 5.0 says of a graph that was made over a grid, and of
 * its copies, that it is a grid, and reads wrong memory when it is asked for the grid's dimensions. */
int tt_mpi_topology(MPI_Comm comm);
/* Whether tutti has joined together with all its ranks. */
bool tt_mpi_comm_is_known(MPI_Comm comm);
/* It passes through, for that reason: a text of static storage. */
void tt_mpi_comm_refuse(MPI_Comm comm, const char *why);

/* For idup.c: the first of some numbers that no other communicators have or get. 0: there are no more. */
int64_t tt_mpi_comm_new_numbers(int64_t count);
/* For idup.c: it is made, later than its parent's ranks met. why: it passes through, NULL: it does not. */
void tt_mpi_comm_made_late(MPI_Comm comm, int topology, int64_t number, const char *why);

/* For job.c: makes those of MPI_COMM_WORLD and MPI_COMM_SELF, if the program has them; destroys all that are left. */
void tt_mpi_comm_begin(void);
void tt_mpi_comm_end(void);

#endif

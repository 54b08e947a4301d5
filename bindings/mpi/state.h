/* bindings/mpi/state.h - what all files of the interposer know of the program and of tutti. */
#ifndef TT_MPI_STATE_H
#define TT_MPI_STATE_H

#include <tutti/tutti.h>

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tt_mpi_state {
  tutti_context *context;      /* NULL: nothing is served */
  const char *off;             /* why; a text of static storage */
  bool threads;                /* the program may call MPI from several threads at once: see tt_mpi_lock */
  bool nodes;                  /* the job has ranks on several machines */
  bool tcp;                    /* tutti's transport is to reach them, instead of messages of MPI */
  bool always;                 /* what tutti can serve runs on it, also where MPI is faster */
  uint64_t only;               /* bits of tt_mpi_collective: TUTTI_MPI_ONLY */
  bool statistics;             /* TUTTI_STATS */
  MPI_Comm self;               /* private: requests complete through it (queue.c) */
  MPI_Comm world;              /* private: all ranks that have joined, for transport.c and boot. MPI_COMM_NULL: none */
  bool session;                /* they have by a session (session.c), not by MPI_Init */
  bool ended;                  /* tutti has left, and does not join again */
  bool forked;                 /* this process is a fork of the one that has joined */
  MPI_Group world_group;       /* to tell job ranks */
  _Atomic int64_t idups;       /* MPI_Comm_idup that are not complete: a hint, relaxed */
  _Atomic int64_t outstanding; /* blocking MPI calls must move something on: tutti requests that run, failed ones that
                                  the program has not been told of, and idups */
} tt_mpi_state;

extern tt_mpi_state tt_mpi;

/* Whether MPI_Reduce_local may be called: Open MPI's looks into MPI_COMM_SELF, which sessions alone do not make. */
static inline bool tt_mpi_reduces_locally(void) {
#ifdef OPEN_MPI
  return !tt_mpi.session;
#else
  return true;
#endif
}

/* Why calls of one rank alone pass through: the statistics set them apart. */
extern const char *const tt_mpi_one_rank;

static inline bool tt_mpi_quiet(void) {
  return atomic_load_explicit(&tt_mpi.outstanding, memory_order_acquire) == 0; /* pairs with the end of a completion */
}

/* A blocking call may go straight to tutti's blocking function: no other thread, nothing outstanding. */
static inline bool tt_mpi_alone(void) {
  return !tt_mpi.threads && atomic_load_explicit(&tt_mpi.outstanding, memory_order_relaxed) == 0;
}

#endif

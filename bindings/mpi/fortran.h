/* bindings/mpi/fortran.h - what the Fortran entry points made by gen_fortran.py share: handles, special addresses,
 * statuses.
 *
 * Open MPI's Fortran libraries call PMPI_ names, and so do MPICH's entry points of the module mpi_f08 where there is no
 * buffer. So their Fortran entry points are interposed as well. Those of calls that tutti serves turn their arguments
 * into C's and go on to the MPI_ function of this library; all others go on to the MPI's own entry point. Integers are
 * those of C. In Open MPI, every name exists in the four spellings of Fortran compilers, and as ompi_..._f, which its
 * module mpi_f08 calls. */
#ifndef TT_MPI_FORTRAN_H
#define TT_MPI_FORTRAN_H

#include "comm.h"
#include "fortran_names.h"
#include "idup.h"
#include "progress.h"
#include "serve.h"
#include "session.h"

#include <stdatomic.h>
#include <stdlib.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define INNER(name, ...) extern void name(__VA_ARGS__)
#define STATUS_IGNORED MPI_F_STATUS_IGNORE
#define STATUSES_IGNORED MPI_F_STATUSES_IGNORE
#else /* its Fortran library brings the compiler's with it: there in Fortran programs only, with all that it defines   \
       */
#include <dlfcn.h>
#define WEAK __attribute__((weak))
#define INNER(name, ...)                                                                                               \
  static void (*_Atomic name##found)(__VA_ARGS__);                                                                     \
  void (*name)(__VA_ARGS__) = atomic_load_explicit(&name##found, memory_order_acquire); /* pairs with the store */     \
  if (name == NULL)                                                                                                    \
  atomic_store_explicit(&name##found, name = (void (*)(__VA_ARGS__))inner_of(#name), memory_order_release)
extern __typeof__(MPI_F08_STATUS_IGNORE) MPI_F08_STATUS_IGNORE WEAK;
extern __typeof__(MPI_F08_STATUSES_IGNORE) MPI_F08_STATUSES_IGNORE WEAK;
#define STATUS_IGNORED (const MPI_Fint *)MPI_F08_STATUS_IGNORE
#define STATUSES_IGNORED (const MPI_Fint *)MPI_F08_STATUSES_IGNORE
#endif

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "INTEGER of Fortran is int of C");

/* ---- the MPI's own entry points ---- */

#ifndef OPEN_MPI
/* MPICH's own entry point. Its modules know it by one name only, which is ours as well, so it is looked for in the
 * library that has another name of Fortran's. */
static inline uintptr_t inner_of(const char *name) {
  extern void pmpi_init_(MPI_Fint *) WEAK;
  Dl_info library;
  if (!dladdr((void *)(uintptr_t)pmpi_init_, &library))
    return 0;
  void *handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  uintptr_t inner = handle ? (uintptr_t)dlsym(handle, name) : 0;
  if (handle)
    dlclose(handle);
  return inner;
}
#endif

/* ---- special addresses: variables of Open MPI, in the spelling of the compiler that it was built with ---- */

#define SPECIAL(lower, UPPER)                                                                                          \
  extern MPI_Fint mpi_fortran_##lower __attribute__((weak));                                                           \
  extern MPI_Fint mpi_fortran_##lower##_ __attribute__((weak));                                                        \
  extern MPI_Fint mpi_fortran_##lower##__ __attribute__((weak));                                                       \
  extern MPI_Fint MPI_FORTRAN_##UPPER __attribute__((weak));                                                           \
  static inline bool is_##lower(const void *address) {                                                                 \
    return address != NULL && (address == &mpi_fortran_##lower##_ || address == &mpi_fortran_##lower ||                \
                               address == &mpi_fortran_##lower##__ || address == &MPI_FORTRAN_##UPPER);                \
  }

SPECIAL(in_place, IN_PLACE)
SPECIAL(bottom, BOTTOM)
#undef SPECIAL

static inline void *buffer_of(const void *buffer) {
  return is_in_place(buffer) ? MPI_IN_PLACE : is_bottom(buffer) ? MPI_BOTTOM : (void *)(uintptr_t)buffer;
}

static inline void finish(MPI_Fint *ierror, int result) {
  if (ierror != NULL)
    *ierror = result;
}

/* ---- arrays ---- */

/* Short arrays live on the stack of the entry point; MPI has no way to go on without memory for others. */
#define FEW 32
static inline void *room(void *few, int64_t count, size_t size) {
  void *array = count <= FEW ? few : malloc((size_t)count * size);
  if (array == NULL)
    PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
  return array;
}

static inline void room_free(void *array, void *few) {
  if (array != few)
    free(array);
}

static inline MPI_Request *requests_in(int count, const MPI_Fint *fortran, MPI_Request *few) {
  MPI_Request *requests = room(few, count, sizeof *requests);
  for (int n = 0; n < count; n++)
    requests[n] = PMPI_Request_f2c(fortran[n]);
  return requests;
}

static inline void requests_out(int count, MPI_Request *requests, MPI_Fint *fortran, MPI_Request *few) {
  for (int n = 0; n < count; n++)
    fortran[n] = PMPI_Request_c2f(requests[n]);
  room_free(requests, few);
}

/* How many types the calls of alltoallw have for what is sent and what is received. */
typedef struct peer_counts {
  int out, in;
} peer_counts;

static inline peer_counts peer_counts_of_topology(MPI_Comm comm) {
  peer_counts peers = {0, 0};
  int kind = tt_mpi_topology(comm), rank, weighted;
  if (kind == MPI_DIST_GRAPH)
    PMPI_Dist_graph_neighbors_count(comm, &peers.in, &peers.out, &weighted);
  else if (kind == MPI_GRAPH && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS)
    PMPI_Graph_neighbors_count(comm, rank, &peers.out);
  else if (kind == MPI_CART && PMPI_Cartdim_get(comm, &peers.out) == MPI_SUCCESS)
    peers.out *= 2;
  if (kind != MPI_DIST_GRAPH)
    peers.in = peers.out;
  return peers;
}

static inline peer_counts peer_counts_of(MPI_Comm comm, bool neighbors) {
  int size = 0, inter = 0;
  if (comm == MPI_COMM_NULL)
    return (peer_counts){0, 0};
  if (neighbors)
    return peer_counts_of_topology(comm);
  PMPI_Comm_test_inter(comm, &inter);
  (inter ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &size);
  return (peer_counts){size, size};
}

/* With MPI_IN_PLACE for a buffer its types mean nothing. */
static inline MPI_Datatype *types_in(int count, const MPI_Fint *fortran, MPI_Datatype *few, const void *buffer) {
  MPI_Datatype *types = room(few, count, sizeof *types);
  for (int n = 0; n < count; n++)
    types[n] = is_in_place(buffer) ? MPI_DATATYPE_NULL : PMPI_Type_f2c(fortran[n]);
  return types;
}

static inline void types_out(int count, MPI_Datatype *types, const MPI_Fint *fortran, MPI_Datatype *few) {
  (void)count, (void)fortran;
  room_free(types, few);
}

/* What the MPI's Fortran calls the first index: 1, but 0 in the module mpi_f08 of MPICH 4.0, as programs know by now.
 */
static inline int first_index(void) {
#ifdef OPEN_MPI
  return 1;
#else
  INNER(mpi_waitany_f08_, MPI_Fint *, MPI_Fint *, int *, MPI_Fint *, MPI_Fint *);
  static int first = -1;
  MPI_Fint one = 1, result;
  MPI_Request request;
  if (first < 0) {
    PMPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    mpi_waitany_f08_(&one, &request, &first, (MPI_Fint *)MPI_F08_STATUS_IGNORE, &result);
  }
  return first;
#endif
}

static inline void index_out(int result, MPI_Fint *index) {
  if (result == MPI_SUCCESS && *index != MPI_UNDEFINED)
    *index += first_index();
}

static inline void indices_out(int result, int count, MPI_Fint *indices) {
  if ((result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS) && count != MPI_UNDEFINED)
    for (int n = 0; n < count; n++)
      indices[n] += first_index();
}

/* ---- statuses: read first, since calls leave parts of them as they were ---- */

#define STATUS_INTEGERS (sizeof(MPI_Status) / sizeof(MPI_Fint))

static inline MPI_Status *status_in(const MPI_Fint *fortran, MPI_Status *status) {
  if (fortran == STATUS_IGNORED)
    return MPI_STATUS_IGNORE;
  PMPI_Status_f2c(fortran, status);
  return status;
}

static inline void status_out(const MPI_Status *status, MPI_Fint *fortran) {
  if (fortran != STATUS_IGNORED)
    PMPI_Status_c2f(status, fortran);
}

/* Not inline: gcc takes MPICH's MPI_STATUSES_IGNORE for an address. */
static __attribute__((noinline)) MPI_Status *statuses_in(int count, const MPI_Fint *fortran, MPI_Status *few) {
  if (fortran == STATUSES_IGNORED)
    return MPI_STATUSES_IGNORE;
  MPI_Status *statuses = room(few, count, sizeof *statuses);
  for (int n = 0; n < count; n++)
    PMPI_Status_f2c(fortran + (size_t)n * STATUS_INTEGERS, &statuses[n]);
  return statuses;
}

static inline void statuses_out(int count, MPI_Status *statuses, MPI_Fint *fortran, MPI_Status *few) {
  if (fortran == STATUSES_IGNORED)
    return;
  for (int n = 0; n < count; n++)
    PMPI_Status_c2f(&statuses[n], fortran + (size_t)n * STATUS_INTEGERS);
  room_free(statuses, few);
}

#endif

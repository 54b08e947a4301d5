/* bindings/mpi/comm.c - what is kept with each MPI communicator: a communicator of tutti, made as soon as MPI has made
 * its own, and found by MPI's handle.
 *
 * It has a number that no other one with one of its ranks ever has. Its parent has some for its children, from its
 * rank 0 by a small broadcast; the parts of one split share one. Where not all ranks of the parent are in the call it
 * comes from rank 0 of what is made; with MPI_Comm_idup (idup.c) that goes beside the making, and is there when it is
 * done.
 *
 * An attribute tells when MPI frees a communicator. MPI may do so wherever it moves on, even inside a call of tutti
 * that waits: then it is only put on a list, and destroyed when the next one is made. Entries are used again, but never
 * given back before the end, so that a thread may look into the one that was used last without a lock. */
#include "comm.h"

#include "error.h"
#include "lock.h"
#include "state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of the lists; no call of MPI or tutti under it */
static tt_mpi_comm *dead;                                 /* to be destroyed */
static tt_mpi_comm *unused;                               /* entries */

enum { CHILDREN = 64 }; /* numbers that a parent gets at a time, at most */
#define TO_AGREE (-1)   /* a number that rank 0 has still to give */

#define NO_HANDLE 1 /* of any MPI; 0 is a variable that the program has not set */

static tt_mpi_comm nobody = {.handle.key = NO_HANDLE};
static tt_mpi_comm unknown = {
    .why = "communicator that tutti has not seen being made", .mpi = MPI_COMM_NULL, .topology = MPI_UNDEFINED};
static tt_mpi_comm alone = {.mpi = MPI_COMM_NULL, .size = 1, .topology = MPI_UNDEFINED}; /* the same, of one rank */
static tt_mpi_comm *_Atomic last_used = &nobody;
static int keyval = MPI_KEYVAL_INVALID;

/* ---- by handle ---- */

static uintptr_t key_of(MPI_Comm comm) { return (uintptr_t)comm; }

/* What the handle is the first member of; NULL: none. */
static tt_mpi_comm *of_handle(tt_mpi_handle *handle) { return (tt_mpi_comm *)(void *)handle; }

/* A session's may be older than tutti's beginning. */
static tt_mpi_comm *stranger(MPI_Comm comm) {
  int size = 0, inter = 1;
  if (key_of(comm) == 0) /* the call that was made has the error */
    return &unknown;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &size);
  return size == 1 && !inter ? &alone : &unknown;
}

static tt_mpi_comm *find(MPI_Comm comm) {
  if (!tt_mpi.context || comm == MPI_COMM_NULL)
    return NULL;
  pthread_mutex_lock(&guard);
  tt_mpi_comm *found = of_handle(tt_mpi_handles_find(key_of(comm)));
  if (found)
    atomic_store_explicit(&last_used, found, memory_order_release); /* pairs with tt_mpi_comm_of */
  pthread_mutex_unlock(&guard);
  return found ? found : stranger(comm);
}

tt_mpi_comm *tt_mpi_comm_of(MPI_Comm comm) {
  tt_mpi_comm *last = atomic_load_explicit(&last_used, memory_order_acquire); /* pairs with find */
  return atomic_load_explicit(&last->handle.key, memory_order_relaxed) == key_of(comm) ? last : find(comm);
}

static void publish(tt_mpi_comm *made, MPI_Comm comm) {
  pthread_mutex_lock(&guard);
  atomic_store_explicit(&made->handle.key, key_of(comm), memory_order_relaxed);
  bool fits = tt_mpi_handles_insert(&made->handle);
  pthread_mutex_unlock(&guard);
  if (!fits)
    tt_mpi_out_of_memory();
  PMPI_Comm_set_attr(comm, keyval, made);
}

int tt_mpi_topology(MPI_Comm comm) {
  const tt_mpi_comm *kept = tt_mpi_comm_of(comm);
  int topology = kept ? kept->topology : MPI_UNDEFINED;
  if (topology == MPI_UNDEFINED && comm != MPI_COMM_NULL)
    PMPI_Topo_test(comm, &topology);
  return topology;
}

/* ---- uses, and the end ---- */

tt_mpi_comm *tt_mpi_comm_keep(tt_mpi_comm *comm) {
  atomic_fetch_add_explicit(&comm->uses, 1, memory_order_relaxed);
  return comm;
}

void tt_mpi_comm_release(tt_mpi_comm *comm) {
  if (!comm || atomic_fetch_sub_explicit(&comm->uses, 1, memory_order_acq_rel) > 1)
    return;
  pthread_mutex_lock(&guard);
  comm->next = dead;
  dead = comm;
  pthread_mutex_unlock(&guard);
}

static int forget(MPI_Comm comm, int key, void *value, void *extra) {
  (void)key, (void)extra;
  tt_mpi_comm *gone = value;
  bool goes_on = atomic_load_explicit(&gone->uses, memory_order_relaxed) > 1;
  MPI_Comm instead = goes_on && tt_mpi_errors_return(comm) ? tt_mpi.self : MPI_COMM_NULL;
  pthread_mutex_lock(&guard);
  tt_mpi_handles_remove(&gone->handle);
  atomic_store_explicit(&gone->handle.key, NO_HANDLE, memory_order_relaxed);
  gone->mpi = instead;
  pthread_mutex_unlock(&guard);
  tt_mpi_comm_release(gone);
  return MPI_SUCCESS;
}

static void destroy(tt_mpi_comm *comm) {
  tt_mpi_lock();
  tt_mpi_neighbors_finish(&comm->neighbors);
  tutti_comm_destroy(comm->comm);
  tt_mpi_unlock();
  free(comm->words.word);
  pthread_mutex_lock(&guard);
  comm->next = unused;
  unused = comm;
  pthread_mutex_unlock(&guard);
}

/* Where no call of tutti is under way in this thread. */
static void destroy_dead(void) {
  pthread_mutex_lock(&guard);
  tt_mpi_comm *comm = dead, *next;
  dead = NULL;
  pthread_mutex_unlock(&guard);
  for (; comm; comm = next) {
    next = comm->next;
    destroy(comm);
  }
}

/* ---- the making ---- */

static tt_mpi_comm *take_entry(void) {
  pthread_mutex_lock(&guard);
  tt_mpi_comm *entry = unused;
  if (entry)
    unused = entry->next;
  pthread_mutex_unlock(&guard);
  if (!entry && !(entry = calloc(1, sizeof *entry)))
    tt_mpi_out_of_memory();
  memset(&entry->comm, 0, sizeof *entry - offsetof(tt_mpi_comm, comm)); /* threads may look at the key */
  atomic_init(&entry->uses, 1);
  return entry;
}

static void refuse(tt_mpi_comm *made, const char *why) { made->why = made->neighbors.why_not = why; }

static tt_mpi_comm *describe(MPI_Comm comm, int topology) {
  tt_mpi_comm *made = take_entry();
  int inter = 0;
  made->mpi = comm;
  made->neighbors.why_not = "communicator without a topology";
  PMPI_Comm_rank(comm, &made->rank);
  PMPI_Comm_size(comm, &made->size);
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Topo_test(comm, &made->topology);
  if (made->topology != MPI_UNDEFINED && topology != MPI_UNDEFINED)
    made->topology = topology;
  if (inter)
    refuse(made, "inter-communicator");
  return made;
}

/* The ranks' numbers in the job. NULL: some are of another one, which all ranks see: who is there for one is a stranger
 * for the other. */
static int64_t *job_ranks(MPI_Comm comm, int size) {
  int64_t *ranks = malloc((size_t)size * (sizeof *ranks + 2 * sizeof(int)));
  if (!ranks)
    tt_mpi_out_of_memory();
  int *here = (int *)(ranks + size), *there = here + size;
  MPI_Group group;
  for (int r = 0; r < size; r++)
    here[r] = r;
  PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, size, here, tt_mpi.world_group, there);
  PMPI_Group_free(&group);
  bool known = true;
  for (int r = 0; r < size; r++) {
    ranks[r] = there[r];
    known &= there[r] != MPI_UNDEFINED;
  }
  if (known)
    return ranks;
  free(ranks);
  return NULL;
}

/* The first of some numbers that no other communicators have or get: each rank of the job has its own to give, which
 * lie apart by the number of ranks and behind TT_MPI_WORLD_NUMBER. Others that share the context have numbers below
 * those, or from 2^31 on. 0: there are no more. */
int64_t tt_mpi_comm_new_numbers(int64_t count) {
  static _Atomic int64_t given = 1;
  int64_t ranks = tutti_context_size(tt_mpi.context), rank = tutti_context_rank(tt_mpi.context);
  int64_t first = atomic_fetch_add_explicit(&given, count, memory_order_relaxed);
  int64_t last = TT_MPI_WORLD_NUMBER + (first + count - 1) * ranks + rank;
  return last <= INT32_MAX ? TT_MPI_WORLD_NUMBER + first * ranks + rank : 0;
}

static void say_no_number(const tt_mpi_comm *made) {
  static _Atomic bool said;
  if (made->rank == 0 && !atomic_exchange_explicit(&said, true, memory_order_relaxed))
    fprintf(stderr, "tutti: no communicator number left: new communicators run on the MPI's own collectives\n");
}

static void open_comm(tt_mpi_comm *made, int64_t number, const int64_t *ranks) {
  if (number == 0) {
    say_no_number(made);
    refuse(made, "no communicator number left");
    return;
  }
  tt_mpi_lock();
  tutti_status status = tutti_comm_create_group(tt_mpi.context, number, made->size, ranks, &made->comm);
  if (status == TUTTI_OK)
    status = tt_mpi_faster_find(made->comm, &made->faster);
  tt_mpi_unlock();
  if (status != TUTTI_OK && tt_mpi.forked)
    refuse(made, "communicator of a fork");
  else if (status != TUTTI_OK) /* the others will not pass their calls through */
    tt_mpi_give_up(tutti_last_error());
}

static int64_t agree_numbers(const tt_mpi_comm *over, int64_t count) {
  int64_t first = over->rank == 0 ? tt_mpi_comm_new_numbers(count) : 0;
  if (over->size > 1)
    PMPI_Bcast(&first, 1, MPI_INT64_T, 0, over->mpi);
  return first;
}

/* The next of a parent's, all of whose ranks make children in one order. It gets more of them at a time the more it
 * needs. */
static int64_t child_number(tt_mpi_comm *parent) {
  if (parent->children.count == parent->children.known) {
    int64_t made = parent->children.count, count = made == 0 ? 1 : made < CHILDREN ? made : CHILDREN;
    parent->children.next = agree_numbers(parent, count);
    parent->children.known += count;
  }
  int64_t number = parent->children.next;
  parent->children.count++;
  parent->children.next += number > 0 ? tutti_context_size(tt_mpi.context) : 0;
  return number;
}

bool tt_mpi_comm_is_known(MPI_Comm comm) {
  int size;
  if (!tt_mpi.context)
    return false;
  PMPI_Comm_size(comm, &size);
  int64_t *ranks = job_ranks(comm, size);
  free(ranks);
  return ranks != NULL;
}

void tt_mpi_comm_refuse(MPI_Comm comm, const char *why) {
  if (!tt_mpi.context)
    return;
  destroy_dead();
  tt_mpi_comm *made = describe(comm, MPI_UNDEFINED);
  refuse(made, why);
  publish(made, comm);
}

static void make(MPI_Comm comm, int topology, int64_t number) {
  destroy_dead();
  tt_mpi_comm *made = describe(comm, topology);
  int64_t *ranks = made->why ? NULL : job_ranks(comm, made->size);
  if (!made->why && !ranks) /* nothing is said to strangers, who need not have tutti */
    refuse(made, "ranks of several jobs");
  if (ranks)
    open_comm(made, number == TO_AGREE ? agree_numbers(made, 1) : number, ranks);
  free(ranks);
  if (made->comm && made->topology != MPI_UNDEFINED)
    tt_mpi_neighbors_make(made->mpi, made->topology, made->comm, &made->neighbors);
  publish(made, comm);
}

void tt_mpi_comm_made(MPI_Comm parent, MPI_Comm comm, int topology) {
  tt_mpi_comm *from = tt_mpi_comm_of(parent);
  if (!tt_mpi.context)
    return;
  int64_t number = from && !from->why ? child_number(from) : TO_AGREE; /* also where this rank has no part */
  if (comm != MPI_COMM_NULL)
    make(comm, topology, number);
}

void tt_mpi_comm_made_late(MPI_Comm comm, int topology, int64_t number, const char *why) {
  destroy_dead();
  tt_mpi_comm *made = describe(comm, topology);
  made->why = why;
  made->neighbors.why_not = "communicator of MPI_Comm_idup"; /* a graph would need the others */
  if (!made->why) {
    int64_t *ranks = job_ranks(made->mpi, made->size);
    open_comm(made, number, ranks);
    free(ranks);
  }
  publish(made, made->mpi);
}

/* ---- begin and end ---- */

void tt_mpi_comm_begin(void) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
  alone.why = alone.neighbors.why_not = tt_mpi_one_rank;
  if (tt_mpi.session || !tt_mpi.context)
    return;
  make(MPI_COMM_WORLD, MPI_UNDEFINED, TT_MPI_WORLD_NUMBER);
  make(MPI_COMM_SELF, MPI_UNDEFINED, TO_AGREE);
}

void tt_mpi_comm_end(void) {
  atomic_store_explicit(&last_used, &nobody, memory_order_release); /* pairs with tt_mpi_comm_of */
  for (tt_mpi_comm *comm; (comm = of_handle(tt_mpi_handles_any()));)
    PMPI_Comm_delete_attr(comm->mpi, keyval);
  destroy_dead();
  for (tt_mpi_comm *next; unused; unused = next) {
    next = unused->next;
    free(unused);
  }
  PMPI_Comm_free_keyval(&keyval);
}

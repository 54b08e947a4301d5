/* tests/mpi/comm_family.c - children of children of communicators, made in every way, called and freed in random
 * orders.
 *
 * Each number that tutti gives twice ends the job, and ranks that take different ones wait for ever. Some are not made
 * at first, since one rank's arguments are wrong. At the end: many of one parent take few broadcasts.
 *
 *     comm_family SEED [STEPS] */
#include "comm_check.h"

#include <dlfcn.h>

enum { SLOTS = 12, MANY = 200, BROADCASTS = 12 };

static MPI_Comm slots[SLOTS];
static uint64_t seed;
static int broadcasts;

/* Stands in front of the MPI's own for whoever calls it. */
int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static int (*real)(void *, int, MPI_Datatype, int, MPI_Comm);
  if (!real)
    real = (int (*)(void *, int, MPI_Datatype, int, MPI_Comm))dlsym(RTLD_NEXT, "PMPI_Bcast");
  broadcasts++;
  return real(buffer, count, type, root, comm);
}

/* The same on all ranks, which take as many steps. */
static int below(int limit) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int)((seed >> 33) % (uint64_t)limit);
}

/* ---- makers: on all ranks of `from`, with the same number ---- */

static void make_dup(MPI_Comm from, int number, MPI_Comm *made) {
  (void)number;
  MPI_Comm_dup(from, made);
}

static void make_parts(MPI_Comm from, int number, MPI_Comm *made) {
  int rank;
  MPI_Comm_rank(from, &rank);
  MPI_Comm_split(from, rank % (1 + number % 3), -rank, made);
}

static void make_without_some(MPI_Comm from, int number, MPI_Comm *made) {
  int rank;
  MPI_Comm_rank(from, &rank);
  MPI_Comm_split(from, rank % 3 == number % 3 ? MPI_UNDEFINED : 0, 0, made);
}

/* The ranks from `first` on. */
static MPI_Group group_from(MPI_Comm from, int first) {
  MPI_Group all, some;
  int size;
  MPI_Comm_size(from, &size);
  MPI_Comm_group(from, &all);
  MPI_Group_range_incl(all, 1, (int[1][3]){{first % size, size - 1, 1}}, &some);
  MPI_Group_free(&all);
  return some;
}

static void make_created(MPI_Comm from, int number, MPI_Comm *made) {
  MPI_Group some = group_from(from, number);
  MPI_Comm_create(from, some, made);
  MPI_Group_free(&some);
}

/* Only its ranks are in the call. */
static void make_group(MPI_Comm from, int number, MPI_Comm *made) {
  MPI_Group some = group_from(from, number);
  int rank;
  MPI_Group_rank(some, &rank);
  *made = MPI_COMM_NULL;
  if (rank != MPI_UNDEFINED)
    MPI_Comm_create_group(from, some, 5, made);
  MPI_Group_free(&some);
}

static void make_idup(MPI_Comm from, int number, MPI_Comm *made) {
  MPI_Request request;
  (void)number;
  MPI_Comm_idup(from, made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void make_grid(MPI_Comm from, int number, MPI_Comm *made) {
  int size;
  MPI_Comm_size(from, &size);
  MPI_Cart_create(from, 1, &(int){size > 1 ? size - number % 2 : 1}, &(int){0}, 0, made);
}

static void make_ring(MPI_Comm from, int number, MPI_Comm *made) {
  int rank, size;
  (void)number;
  MPI_Comm_rank(from, &rank);
  MPI_Comm_size(from, &size);
  MPI_Dist_graph_create_adjacent(from, 1, &(int){(rank + size - 1) % size}, MPI_UNWEIGHTED, 1,
                                 &(int){(rank + 1) % size}, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
}

static void make_merged(MPI_Comm from, int number, MPI_Comm *made) {
  MPI_Comm half, across;
  int rank, size;
  MPI_Comm_rank(from, &rank);
  MPI_Comm_size(from, &size);
  if (size == 1) {
    make_dup(from, number, made);
    return;
  }
  int upper = rank >= (size + 1) / 2;
  MPI_Comm_split(from, upper, 0, &half);
  MPI_Intercomm_create(half, 0, from, upper ? 0 : (size + 1) / 2, 3, &across);
  MPI_Intercomm_merge(across, !upper, made);
  MPI_Comm_free(&half);
  MPI_Comm_free(&across);
}

/* One rank's first call is wrong, which it finds before it waits for the others. */
static void make_at_second_try(MPI_Comm from, int number, MPI_Comm *made) {
  int rank, size;
  MPI_Comm_rank(from, &rank);
  MPI_Comm_size(from, &size);
  MPI_Comm_set_errhandler(from, MPI_ERRORS_RETURN);
  if (rank == number % size)
    check(MPI_Comm_dup(from, NULL) != MPI_SUCCESS, "a dup to nowhere", number);
  MPI_Comm_set_errhandler(from, MPI_ERRORS_ARE_FATAL);
  make_dup(from, number, made);
}

static void (*const makers[])(MPI_Comm, int, MPI_Comm *) = {
    make_dup,  make_parts, make_without_some, make_created, make_group,
    make_idup, make_grid,  make_ring,         make_merged,  make_at_second_try};

enum { MAKERS = sizeof makers / sizeof makers[0] };

/* ---- steps ---- */

static void give(int slot, int from, int maker, int number) {
  MPI_Comm made = MPI_COMM_NULL;
  if (slots[from] != MPI_COMM_NULL)
    makers[maker](slots[from], number, &made);
  if (slots[slot] != MPI_COMM_NULL)
    MPI_Comm_free(&slots[slot]);
  slots[slot] = made;
}

static void step(void) {
  int slot = 1 + below(SLOTS - 1), from = below(3) ? below(SLOTS) : 0, maker = below(MAKERS), number = below(100);
  if (below(3) < 2)
    give(slot, from, maker, number);
  else
    check_calls(slots[slot], "family");
}

static void test_many(void) {
  int before = broadcasts;
  for (int n = 0; n < MANY; n++) {
    MPI_Comm made;
    makers[n % 2](MPI_COMM_WORLD, n, &made);
    if (n % 50 == 0)
      check_calls(made, "many");
    MPI_Comm_free(&made);
  }
  check(broadcasts - before <= BROADCASTS, "broadcasts", broadcasts - before);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  seed = strtoull(argv[1], NULL, 10);
  slots[0] = MPI_COMM_WORLD;
  for (int n = 1; n < SLOTS; n++)
    slots[n] = MPI_COMM_NULL;
  for (int n = argc > 2 ? atoi(argv[2]) : 150; n > 0; n--)
    step();
  for (int n = 1; n < SLOTS; n++) {
    check_calls(slots[n], "at the end");
    if (slots[n] != MPI_COMM_NULL)
      MPI_Comm_free(&slots[n]);
  }
  test_many();
  return check_finish();
}

/* tests/mpi/traps/comms.c - communicators of every making, many of them, and their ends. */
#include "traps.h"

#include <stdlib.h>

enum { MANY = 10000, LIVE = 400, CHILDREN = 40, TAG = 5 };

static void ten_thousand_communicators(void) {
  for (int n = 0; n < MANY; n++) {
    MPI_Comm made;
    if (n % 2)
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
    else
      MPI_Comm_split(MPI_COMM_WORLD, trap_rank % 2, -trap_rank, &made);
    trap_allreduce(made);
    MPI_Comm_free(&made);
  }
}

static void four_hundred_live_communicators(void) {
  static MPI_Comm live[LIVE];
  for (int n = 0; n < LIVE; n++)
    MPI_Comm_split(MPI_COMM_WORLD, n % 3 == 0 ? trap_rank % 2 : 0, n % 2 ? trap_rank : -trap_rank, &live[n]);
  for (int n = 0; n < 2 * LIVE; n++)
    trap_allreduce(live[n * 7 % LIVE]);
  for (int n = 0; n < LIVE; n++) {
    MPI_Comm_free(&live[n * 3 % LIVE]);
    trap_allreduce(MPI_COMM_WORLD);
  }
}

#ifdef OPEN_MPI
enum { TOGETHER = 1 }; /* 4.1.4 mixes up messages of more */
#else
enum { TOGETHER = 4 };
#endif

/* Its parent works meanwhile, and the child may be the parent of others at once. More than may be numbered ahead. */
static void idup_overlaps_collectives(void) {
  MPI_Comm children[CHILDREN], parent = MPI_COMM_WORLD;
  MPI_Request requests[CHILDREN];
  for (int n = 0; n < CHILDREN; n++) {
    MPI_Comm_idup(parent, &children[n], &requests[n]);
    trap_allreduce(parent);
    if (n % TOGETHER == TOGETHER - 1)
      MPI_Waitall(TOGETHER, &requests[n - TOGETHER + 1], MPI_STATUSES_IGNORE);
    if (n % 8 == 7)
      parent = children[n];
  }
  for (int n = 0; n < CHILDREN; n++)
    trap_allreduce(children[n]);
  for (int n = 0; n < CHILDREN; n++)
    MPI_Comm_free(&children[n]);
}

/* One rank learns from MPI_Request_get_status that it is there. */
static void idup_is_used_before_it_is_waited_for(void) {
  MPI_Comm made;
  MPI_Request request;
  int done = 0;
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  while (trap_rank == 0 && !done)
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  if (trap_rank > 0)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  trap_allreduce(made);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&made);
}

/* Only even ranks are in the call; the others are in a receive. */
static void create_group_by_a_subset(void) {
  MPI_Group world, even;
  MPI_Comm made = MPI_COMM_NULL;
  int last = (trap_size - 1) / 2 * 2;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, (int[][3]){{0, last, 2}}, &even);
  if (trap_rank % 2 == 0) {
    MPI_Comm_create_group(MPI_COMM_WORLD, even, TAG, &made);
    trap_allreduce(made);
    MPI_Comm_free(&made);
    if (trap_rank + 1 < trap_size)
      MPI_Send(&trap_rank, 1, MPI_INT, trap_rank + 1, TAG, MPI_COMM_WORLD);
  } else {
    int from = -1;
    MPI_Recv(&from, 1, MPI_INT, trap_rank - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Comm_create(MPI_COMM_WORLD, even, &made);
  CHECK((made == MPI_COMM_NULL) == (trap_rank % 2 == 1), "a communicator on the wrong ranks");
  if (made != MPI_COMM_NULL) {
    trap_allreduce(made);
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&even);
  MPI_Group_free(&world);
}

static void split_leaves_ranks_out(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, trap_rank == 1 ? MPI_UNDEFINED : 0, 0, &made);
  CHECK((made == MPI_COMM_NULL) == (trap_rank == 1), "a communicator on the wrong ranks");
  if (made != MPI_COMM_NULL) {
    trap_allreduce(made);
    MPI_Comm_free(&made);
  }
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  trap_allreduce(made);
  MPI_Comm_free(&made);
  trap_allreduce(MPI_COMM_SELF);
}

static void grids_and_parts_of_them(void) {
  MPI_Comm grid, row;
  int sides[2] = {0, 0};
  MPI_Dims_create(trap_size, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, (int[]){1, 0}, 1, &grid);
  MPI_Cart_sub(grid, (int[]){0, 1}, &row);
  trap_allreduce(row);
  trap_allreduce(grid);
  MPI_Comm_free(&grid);
  trap_allreduce(row);
  MPI_Comm_free(&row);
}

/* ---- between two groups ---- */

static void use_between(MPI_Comm between, int local_size, int remote_size, bool low) {
  int sum = -1, word = -1, root = low ? (trap_rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, between);
  CHECK(sum == remote_size, "the other group sums up to %d", sum);
  if (low)
    word = 17;
  MPI_Bcast(&word, 1, MPI_INT, root, between);
  CHECK(word == 17, "the other group's root sent %d", word);
  MPI_Request request;
  MPI_Ibarrier(between, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm all;
  MPI_Intercomm_merge(between, !low, &all);
  int size;
  MPI_Comm_size(all, &size);
  CHECK(size == local_size + remote_size, "merged to %d ranks", size);
  trap_allreduce(all);
  MPI_Comm_free(&all);
}

static void intercommunicators(void) {
  MPI_Comm half, between;
  bool low = trap_rank < 2;
  MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 2 : 0, TAG, &between);
  use_between(between, low ? 2 : trap_size - 2, low ? trap_size - 2 : 2, low);
  MPI_Comm_free(&between);
  trap_allreduce(half);
  MPI_Comm_free(&half);
}

static void spawned(void) {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  CHECK(parent != MPI_COMM_NULL, "there is no parent");
  trap_allreduce(MPI_COMM_WORLD);
  use_between(parent, trap_size, 2, false);
  MPI_Comm_disconnect(&parent);
}

/* Children are a world of their own. */
static void spawn(void) {
  MPI_Comm children;
  char *arguments[] = {"spawned", NULL};
  MPI_Comm_spawn(trap_program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  use_between(children, trap_size, 2, true);
  trap_allreduce(MPI_COMM_WORLD);
  MPI_Comm_disconnect(&children);
}

/* ---- ends ---- */

static void freed_while_a_call_is_outstanding(void) {
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  trap_pending pending = trap_start(twin);
  pending.comm = MPI_COMM_WORLD;
  MPI_Comm_free(&twin);
  CHECK(twin == MPI_COMM_NULL, "the handle is not null");
  trap_allreduce(MPI_COMM_WORLD);
  trap_finish(&pending);
}

static void finalize_without_free(void) {
  static MPI_Comm left[3];
  MPI_Comm_dup(MPI_COMM_WORLD, &left[0]);
  MPI_Comm_split(left[0], trap_rank % 2, 0, &left[1]);
  MPI_Comm_dup(left[1], &left[2]);
  for (int k = 0; k < 3; k++)
    trap_allreduce(left[k]);
  trap_pending pending = trap_start(left[2]);
  MPI_Comm_free(&left[2]);
  pending.comm = left[1];
  trap_finish(&pending);
}

/* A program's attributes on communicators see what they would see. */
static int copies, deletes;

static int count_copy(MPI_Comm comm, int key, void *extra, void *from, void *to, int *flag) {
  (void)comm, (void)key, (void)extra;
  copies++;
  *(void **)to = from;
  *flag = 1;
  return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  deletes++;
  return MPI_SUCCESS;
}

static void attributes_of_the_program(void) {
  int key, found = 0;
  void *value = NULL;
  MPI_Comm first, second;
  MPI_Comm_create_keyval(count_copy, count_delete, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_attr(first, key, &copies);
  MPI_Comm_dup(first, &second);
  MPI_Comm_get_attr(second, key, &value, &found);
  CHECK(found && value == &copies && copies == 1, "found %d, copies %d", found, copies);
  trap_allreduce(second);
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
  CHECK(deletes == 2, "%d deletes", deletes);
  MPI_Comm_free_keyval(&key);
}

const trap trap_comms[] = {
    {"ten_thousand_communicators", 2, TRAP_ENDS, ten_thousand_communicators},
    {"four_hundred_live_communicators", 4, TRAP_ENDS, four_hundred_live_communicators},
    {"idup_overlaps_collectives", 3, TRAP_ENDS, idup_overlaps_collectives},
    {"idup_is_used_before_it_is_waited_for", 3, TRAP_ENDS, idup_is_used_before_it_is_waited_for},
    {"create_group_by_a_subset", 4, TRAP_ENDS, create_group_by_a_subset},
    {"split_leaves_ranks_out", 3, TRAP_ENDS, split_leaves_ranks_out},
    {"grids_and_parts_of_them", 4, TRAP_ENDS, grids_and_parts_of_them},
    {"intercommunicators", 5, TRAP_ENDS, intercommunicators},
    {"spawn", 2, TRAP_ENDS, spawn},
    {"spawned", 2, TRAP_CHILD, spawned},
    {"freed_while_a_call_is_outstanding", 3, TRAP_ENDS, freed_while_a_call_is_outstanding},
    {"finalize_without_free", 3, TRAP_ENDS, finalize_without_free},
    {"attributes_of_the_program", 2, TRAP_ENDS, attributes_of_the_program},
    {0},
};

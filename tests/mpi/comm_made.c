/* tests/mpi/comm_made.c - communicators of every making: calls on them give what they must, at once and while others
 * live, and after the program has freed them.
 *
 * Each check is made of the communicator's own rank and size, so that a mix-up of groups or orders is seen. */
#include "comm_check.h"

#include <string.h>

static int world_rank, world_size;

/* ---- groups ---- */

static MPI_Group odd_group(void) {
  MPI_Group world, part;
  int range[1][3] = {{1, world_size - 1, 2}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (world_size > 1)
    MPI_Group_range_incl(world, 1, range, &part);
  else
    MPI_Group_incl(world, 1, &(int){0}, &part);
  MPI_Group_free(&world);
  return part;
}

/* ---- one communicator of each making; MPI_COMM_NULL where this rank is none of its ---- */

static void make_dup(MPI_Comm *made) { MPI_Comm_dup(MPI_COMM_WORLD, made); }

static void make_dup_with_info(MPI_Comm *made) { MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, made); }

static void make_reversed(MPI_Comm *made) { MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, made); }

static void make_halves(MPI_Comm *made) { MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, made); }

static void make_without_some(MPI_Comm *made) {
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3 == 2 ? MPI_UNDEFINED : 0, 0, made);
}

static void make_machine(MPI_Comm *made) {
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -world_rank, MPI_INFO_NULL, made);
}

static void make_created(MPI_Comm *made) {
  MPI_Group odd = odd_group();
  MPI_Comm_create(MPI_COMM_WORLD, odd, made);
  MPI_Group_free(&odd);
}

/* Only its members are in the call. */
static void make_group(MPI_Comm *made) {
  MPI_Group odd = odd_group();
  int rank;
  MPI_Group_rank(odd, &rank);
  *made = MPI_COMM_NULL;
  if (rank != MPI_UNDEFINED)
    MPI_Comm_create_group(MPI_COMM_WORLD, odd, 7, made);
  MPI_Group_free(&odd);
}

static void make_merged(MPI_Comm *made) {
  MPI_Comm half, across;
  int upper = world_rank >= (world_size + 1) / 2;
  *made = MPI_COMM_NULL;
  if (world_size == 1)
    return;
  MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : (world_size + 1) / 2, 3, &across);
  MPI_Intercomm_merge(across, !upper, made);
  MPI_Comm_free(&half);
  MPI_Comm_free(&across);
}

static void make_grid(MPI_Comm *made) {
  int size[2] = {0, 0}, periodic[2] = {1, 0};
  MPI_Dims_create(world_size, 2, size);
  MPI_Cart_create(MPI_COMM_WORLD, 2, size, periodic, 0, made);
}

static void make_rows(MPI_Comm *made) {
  MPI_Comm grid;
  make_grid(&grid);
  MPI_Cart_sub(grid, (int[]){0, 1}, made);
  MPI_Comm_free(&grid);
}

/* A ring as a graph. */
static void make_graph(MPI_Comm *made) {
  int *index = malloc((size_t)world_size * sizeof *index), *edges = malloc(2 * (size_t)world_size * sizeof *edges);
  for (int r = 0; r < world_size; r++) {
    index[r] = 2 * (r + 1);
    edges[2 * r] = (r + world_size - 1) % world_size;
    edges[2 * r + 1] = (r + 1) % world_size;
  }
  MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, made);
  free(index);
  free(edges);
}

static void make_distributed(MPI_Comm *made) {
  int next = (world_rank + 1) % world_size, one = 1;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
}

static void make_adjacent(MPI_Comm *made) {
  int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 made);
}

static void make_idup(MPI_Comm *made) {
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void make_self(MPI_Comm *made) { MPI_Comm_dup(MPI_COMM_SELF, made); }

static const struct {
  const char *name;
  void (*make)(MPI_Comm *made);
} ways[] = {{"dup", make_dup},
            {"dup with info", make_dup_with_info},
            {"reversed", make_reversed},
            {"halves", make_halves},
            {"without some", make_without_some},
            {"machine", make_machine},
            {"create", make_created},
            {"create group", make_group},
            {"merged", make_merged},
            {"grid", make_grid},
            {"rows", make_rows},
            {"graph", make_graph},
            {"distributed", make_distributed},
            {"adjacent", make_adjacent},
            {"idup", make_idup},
            {"self", make_self}};

enum { WAYS = sizeof ways / sizeof ways[0] };

/* ---- programs ---- */

static void test_each_alone(void) {
  for (int w = 0; w < WAYS; w++) {
    MPI_Comm made;
    ways[w].make(&made);
    check_calls(made, ways[w].name);
    if (made != MPI_COMM_NULL)
      MPI_Comm_free(&made);
  }
}

static void test_all_together(void) {
  MPI_Comm made[WAYS];
  for (int w = 0; w < WAYS; w++)
    ways[w].make(&made[w]);
  for (int w = WAYS - 1; w >= 0; w--)
    check_calls(made[w], ways[w].name);
  for (int w = 0; w < WAYS; w += 2)
    if (made[w] != MPI_COMM_NULL)
      MPI_Comm_free(&made[w]);
  for (int w = 1; w < WAYS; w += 2) {
    check_calls(made[w], ways[w].name);
    if (made[w] != MPI_COMM_NULL)
      MPI_Comm_free(&made[w]);
  }
}

/* A communicator of communicators: children outlive their parents. */
static void test_generations(void) {
  MPI_Comm parent, child;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  for (int n = 0; n < 20; n++) {
    MPI_Comm_split(parent, 0, n % 2 ? world_rank : -world_rank, &child);
    MPI_Comm_free(&parent);
    check_calls(child, "generations");
    parent = child;
  }
  MPI_Comm_free(&parent);
}

/* It is freed while a call on it runs; the call completes. */
static void test_freed_while_busy(void) {
  int64_t in = world_rank + 1, out[8] = {0};
  MPI_Request request[8];
  for (int n = 0; n < 8; n++) {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Iallreduce(&in, &out[n], 1, MPI_INT64_T, MPI_SUM, made, &request[n]);
    MPI_Comm_free(&made);
  }
  MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
  for (int n = 0; n < 8; n++)
    check(out[n] == (int64_t)world_size * (world_size + 1) / 2, "freed while busy", out[n]);
}

/* Several at once, complete in another order than they were posted. */
static void test_idups_at_once(void) {
  enum { COUNT = 20 };
  MPI_Comm made[COUNT];
  MPI_Request request[COUNT];
  for (int n = 0; n < COUNT; n++)
    MPI_Comm_idup(n < 2 ? MPI_COMM_WORLD : made[n % 2 == 0 ? 0 : 1], &made[n], &request[n]),
        n == 1 ? (void)MPI_Waitall(2, request, MPI_STATUSES_IGNORE) : (void)0;
  for (int n = COUNT - 1; n >= 2; n--)
    MPI_Wait(&request[n], MPI_STATUS_IGNORE);
  for (int n = 0; n < COUNT; n++) {
    check_calls(made[n], "idups at once");
    MPI_Comm_free(&made[n]);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  check_calls(MPI_COMM_WORLD, "world");
  check_calls(MPI_COMM_SELF, "self");
  test_each_alone();
  test_all_together();
  test_generations();
  test_freed_while_busy();
  test_idups_at_once();
  return check_finish();
}

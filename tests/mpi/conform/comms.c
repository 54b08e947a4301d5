/* tests/mpi/conform/comms.c - makes the communicators; see comms.h. */
#include "comms.h"
#include "element.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

enum { COMMS_MOST = 7, SLOTS = 4 * COMMS_MOST };

static suite_comm lists[2][COMMS_MOST]; /* without and with a topology */
static int counts[2];
static MPI_Win window;
static _Atomic int64_t *entered; /* by slot; NULL: ranks do not share memory */

int comms_count(bool topology) { return counts[topology]; }
suite_comm *comms_get(bool topology, int index) { return &lists[topology][index]; }

static suite_comm *add(bool topology, const char *name, MPI_Comm mpi, int color) {
  suite_comm *made = &lists[topology][counts[topology]++];
  *made = (suite_comm){.name = name, .mpi = mpi, .slot = 2 * (int)(made - lists[0]) + color};
  MPI_Comm_rank(mpi, &made->rank);
  MPI_Comm_size(mpi, &made->size);
  return made;
}

/* ---- edges ---- */

static void edges_add(edges *of, int rank) {
  assert(of->count < EDGES_MOST);
  of->rank[of->count++] = rank;
}

static int edges_of(const edges *of, int rank, int before) { /* to that rank, among the first ones */
  int found = 0;
  for (int k = 0; k < before; k++)
    found += of->rank[k] == rank;
  return found;
}

static int edges_find(const edges *of, int rank, int nth) {
  int k = 0;
  while (k < of->count && (of->rank[k] != rank || nth-- > 0))
    k++;
  return k;
}

/* `all`: targets of every rank. */
static void edges_match(suite_comm *of, const edges *all) {
  for (int rank = 0; rank < of->size; rank++)
    for (int k = 0; k < all[rank].count; k++)
      of->several = of->several || edges_of(&all[rank], all[rank].rank[k], k) > 0;
  for (int k = 0; k < of->sources.count; k++)
    if (of->sources.rank[k] != MPI_PROC_NULL)
      of->sources.index[k] =
          edges_find(&all[of->sources.rank[k]], of->rank, edges_of(&of->sources, of->sources.rank[k], k));
}

/* ---- grids ---- */

typedef struct grid {
  const char *name;
  int dimensions;
  int periods[2];
} grid;

static const grid grids[] = {
    {"line", 1, {false}},
    {"ring", 1, {true}},
    {"grid", 2, {false, true}},
    {"torus", 2, {true, true}},
};

static edges grid_edges(const grid *of, const int sides[2], int rank) {
  edges made = {0};
  int at[2] = {of->dimensions == 2 ? rank / sides[1] : rank, of->dimensions == 2 ? rank % sides[1] : 0};
  for (int d = 0; d < of->dimensions; d++)
    for (int way = -1; way <= 1; way += 2) {
      int to[2] = {at[0], at[1]};
      to[d] += way;
      bool beyond = to[d] < 0 || to[d] >= sides[d];
      to[d] = (to[d] + sides[d]) % sides[d];
      edges_add(&made, beyond && !of->periods[d] ? MPI_PROC_NULL
                       : of->dimensions == 2     ? to[0] * sides[1] + to[1]
                                                 : to[0]);
    }
  return made;
}

static void add_grid(const grid *of, int size) {
  int sides[2] = {0, 0};
  MPI_Comm mpi;
  MPI_Dims_create(size, of->dimensions, sides);
  MPI_Cart_create(MPI_COMM_WORLD, of->dimensions, sides, of->periods, false, &mpi);
  suite_comm *made = add(true, of->name, mpi, 0);
  made->sources = made->targets = grid_edges(of, sides, made->rank);
  for (int k = 0; k < made->sources.count; k++) /* what was sent to the left comes from the right */
    made->sources.index[k] = k ^ 1;
  for (int d = 0; d < of->dimensions; d++)
    made->several = made->several || (of->periods[d] && sides[d] <= 2);
}

/* ---- graphs ---- */

typedef struct graph {
  const char *name;
  bool symmetric; /* each edge goes both ways */
  bool several;   /* some edges are there twice */
} graph;

static void join(edges *sources, edges *targets, int from, int to) {
  edges_add(&targets[from], to);
  edges_add(&sources[to], from);
}

/* Edges from and to any ranks, to themselves too. */
static void random_edges(int size, const graph *of, uint64_t seed, edges *sources, edges *targets) {
  for (int rank = 0; rank < size; rank++)
    sources[rank].count = targets[rank].count = 0;
  for (int k = 0; k < 2 * size; k++) {
    uint64_t bits = mixed(seed, (uint64_t)k);
    int from = (int)(bits % (uint64_t)size), to = (int)((bits >> 20) % (uint64_t)size);
    bool there = edges_of(&targets[from], to, targets[from].count) > 0;
    for (int times = there ? of->several : 1 + of->several; times > 0; times--) {
      join(sources, targets, from, to);
      if (of->symmetric && from != to)
        join(sources, targets, to, from);
    }
  }
}

static void shuffle(edges *of, uint64_t seed) {
  for (int n = of->count; n > 1; n--) {
    int other = (int)(mixed(seed, (uint64_t)n) % (uint64_t)n), moved = of->rank[other];
    of->rank[other] = of->rank[n - 1];
    of->rank[n - 1] = moved;
  }
}

static MPI_Comm graph_make(int size, const edges *targets) {
  int index[size], neighbors[size * EDGES_MOST], count = 0;
  for (int rank = 0; rank < size; rank++) {
    for (int k = 0; k < targets[rank].count; k++)
      neighbors[count++] = targets[rank].rank[k];
    index[rank] = count;
  }
  MPI_Comm mpi;
  MPI_Graph_create(MPI_COMM_WORLD, size, index, neighbors, false, &mpi);
  return mpi;
}

static MPI_Comm distributed_make(int rank, const edges *sources, const edges *targets) {
  MPI_Comm mpi;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources[rank].count, sources[rank].rank, MPI_UNWEIGHTED,
                                 targets[rank].count, targets[rank].rank, MPI_UNWEIGHTED, MPI_INFO_NULL, false, &mpi);
  return mpi;
}

static const graph graphs[] = {
    {"graph", true, false},
    {"distributed graph", false, false},
    {"distributed graph with double edges", false, true},
};

static void add_graph(const graph *of, int rank, int size, uint64_t seed) {
  edges sources[size], targets[size];
  random_edges(size, of, seed, sources, targets);
  for (int n = 0; n < size && !of->symmetric; n++)
    shuffle(&sources[n], seed + (uint64_t)n);
  MPI_Comm mpi = of->symmetric ? graph_make(size, targets) : distributed_make(rank, sources, targets);
  suite_comm *made = add(true, of->name, mpi, 0);
  made->sources = of->symmetric ? targets[rank] : sources[rank];
  made->targets = targets[rank];
  edges_match(made, targets);
}

/* ---- all ---- */

static void witness_begin(int rank) {
  MPI_Comm node;
  int node_size, size;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &node_size);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_free(&node);
  window = MPI_WIN_NULL;
  if (node_size < size)
    return;
  MPI_Aint bytes = rank == 0 ? SLOTS * (MPI_Aint)sizeof *entered : 0;
  void *memory;
  int unit;
  MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
  entered = memory;
  for (int k = 0; rank == 0 && k < SLOTS; k++)
    atomic_init(&entered[k], 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

void comms_begin(uint64_t seed) {
  int rank, size, sides[2] = {0, 0};
  MPI_Comm half, reversed, twin, cartesian;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  witness_begin(rank);
  add(false, "world", MPI_COMM_WORLD, 0);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  add(false, "split", half, rank % 2);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  add(false, "reversed", reversed, 0);
  MPI_Comm_dup(reversed, &twin);
  add(false, "dup", twin, 0);
  MPI_Dims_create(size, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, (int[]){true, false}, true, &cartesian);
  add(false, "Cartesian", cartesian, 0);
  for (unsigned k = 0; k < sizeof grids / sizeof grids[0]; k++)
    add_grid(&grids[k], size);
  for (unsigned k = 0; k < sizeof graphs / sizeof graphs[0]; k++)
    add_graph(&graphs[k], rank, size, seed + k);
}

void comms_end(void) {
  for (int list = 0; list < 2; list++)
    for (int k = 0; k < counts[list]; k++)
      if (lists[list][k].mpi != MPI_COMM_WORLD)
        MPI_Comm_free(&lists[list][k].mpi);
  if (window != MPI_WIN_NULL)
    MPI_Win_free(&window);
}

int64_t comms_enter(suite_comm *of) {
  of->barriers++;
  if (entered != NULL)
    atomic_fetch_add_explicit(&entered[of->slot], 1, memory_order_relaxed);
  return of->barriers;
}

bool comms_entered(const suite_comm *of, int64_t ticket) {
  return entered == NULL || atomic_load_explicit(&entered[of->slot], memory_order_relaxed) >= ticket * of->size;
}

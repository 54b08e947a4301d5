/* tests/mpi/random/move.c - collectives that move data between all ranks, or between one and all. */
#include "random.h"

typedef enum collective {
  BCAST,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLGATHER,
  ALLGATHERV,
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  COLLECTIVES
} collective;

/* One side: blocks of one layout; or, of alltoallw, a layout each. */
typedef struct side {
  layout layout, layouts[MOST_BLOCKS];
  MPI_Datatype types[MOST_BLOCKS];
  blocks blocks;
  int bytes[MOST_BLOCKS]; /* where blocks begin, alltoallw */
  buffer buffer;
} side;

typedef struct job {
  collective collective;
  const element *of;
  int unit, count, root;
  bool in_place;                       /* on this rank */
  int table[MOST_BLOCKS][MOST_BLOCKS]; /* of rank i for rank j */
  side in, out;
} job;

/* ---- drawing ---- */

static bool is_rooted(collective which) { return which <= SCATTERV; }

static bool is_square(collective which) { return which == ALLTOALLV || which == ALLTOALLW; }

static void place_layouts(job *of, side *s) {
  int64_t at = 0, element = extent_of(of->of->type);
  for (int r = 0; r < size; r++) {
    layout *each = &s->layouts[r];
    *each = make_layout(of->of, of->unit, &own);
    s->types[r] = each->type;
    s->bytes[r] = (int)(at - each->low);
    at += (extents_of(each, s->blocks.count[r]) * each->extent + each->high - each->low) / element * element;
    at += element * pick(&own, 3);
  }
}

static void draw_side(job *of, side *s, bool receives) {
  s->layout = make_layout(of->of, of->unit, &own);
  s->buffer = make_buffer(of->of, &own);
  for (int r = 0; r < size; r++)
    s->blocks.count[r] = !is_square(of->collective) ? of->table[0][r]
                         : receives                 ? of->table[r][rank]
                                                    : of->table[rank][r];
  place_blocks(&s->blocks, size, &s->layout, &own);
  if (of->collective == ALLTOALLW)
    place_layouts(of, s);
}

/* In place, what a rank sends is as long as what it gets. */
static void draw(job *of) {
  of->collective = (collective)pick(&common, COLLECTIVES);
  of->of = &elements[pick(&common, element_count)];
  of->unit = pick(&common, 2) ? 1 : 1 + pick(&common, 6);
  of->count = pick(&common, 8) ? pick(&common, 12) : 0;
  of->root = pick(&common, size);
  bool in_place = of->collective != BCAST && pick(&common, 3) == 0;
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      of->table[i][j] = pick(&common, 3) ? pick(&common, 10) : 0;
  for (int i = 0; in_place && i < size; i++)
    for (int j = 0; j < i; j++)
      of->table[i][j] = of->table[j][i];
  of->in_place = in_place && (!is_rooted(of->collective) || rank == of->root);
  draw_side(of, &of->in, false);
  draw_side(of, &of->out, true);
}

static void end_side(const job *of, side *s, const char *what) {
  compare(what, &s->buffer);
  free_buffer(&s->buffer);
  free_layout(&s->layout);
  for (int r = 0; of->collective == ALLTOALLW && r < size; r++)
    free_layout(&s->layouts[r]);
}

/* ---- calling ---- */

/* Types of their own: all at absolute addresses, or none. */
static void see(const view *as, const side *s, MPI_Datatype types[]) {
  for (int r = 0; r < size; r++)
    types[r] = as->made ? at_address(s->buffer.mine, s->types[r]) : s->types[r];
}

static void unsee(const view *as, MPI_Datatype types[]) {
  for (int r = 0; as->made && r < size; r++)
    MPI_Type_free(&types[r]);
}

static void call_alltoallw(job *of, const view *from, const view *to) {
  MPI_Datatype in_types[MOST_BLOCKS], out_types[MOST_BLOCKS];
  see(from, &of->in, in_types);
  see(to, &of->out, out_types);
  CALL(Alltoallw, Ialltoallw, of->in_place ? MPI_IN_PLACE : from->at, of->in.blocks.count, of->in.bytes, in_types,
       to->at, of->out.blocks.count, of->out.bytes, out_types, comm);
  unsee(from, in_types);
  unsee(to, out_types);
}

static void call(job *of) {
  view from_view = make_view(of->in.buffer.mine, of->in.layout.type, &own);
  view to_view = make_view(of->out.buffer.mine, of->out.layout.type, &own);
  bool at_receiver = of->in_place && (of->collective == SCATTER || of->collective == SCATTERV);
  const void *in = of->in_place && !at_receiver ? MPI_IN_PLACE : from_view.at;
  void *out = at_receiver ? MPI_IN_PLACE : to_view.at;
  MPI_Datatype from = from_view.type, to = to_view.type;
  int *in_counts = of->in.blocks.count, *in_at = of->in.blocks.at;
  int *out_counts = of->out.blocks.count, *out_at = of->out.blocks.at, count = of->count, root = of->root;
  switch (of->collective) {
  case BCAST:
    CALL(Bcast, Ibcast, out, count, to, root, comm);
    break;
  case GATHER:
    CALL(Gather, Igather, in, count, from, out, count, to, root, comm);
    break;
  case GATHERV:
    CALL(Gatherv, Igatherv, in, out_counts[rank], from, out, out_counts, out_at, to, root, comm);
    break;
  case SCATTER:
    CALL(Scatter, Iscatter, in, count, from, out, count, to, root, comm);
    break;
  case SCATTERV:
    CALL(Scatterv, Iscatterv, in, in_counts, in_at, from, out, in_counts[rank], to, root, comm);
    break;
  case ALLGATHER:
    CALL(Allgather, Iallgather, in, count, from, out, count, to, comm);
    break;
  case ALLGATHERV:
    CALL(Allgatherv, Iallgatherv, in, out_counts[rank], from, out, out_counts, out_at, to, comm);
    break;
  case ALLTOALL:
    CALL(Alltoall, Ialltoall, in, count, from, out, count, to, comm);
    break;
  case ALLTOALLV:
    CALL(Alltoallv, Ialltoallv, in, in_counts, in_at, from, out, out_counts, out_at, to, comm);
    break;
  default:
    call_alltoallw(of, &from_view, &to_view);
  }
  free_view(&from_view);
  free_view(&to_view);
}

/* ---- meaning ---- */

/* A block for or from each rank. */
typedef struct block {
  int64_t at;
  int count;
  MPI_Datatype type;
} block;

static block block_of(const job *of, const side *s, int r) {
  switch (of->collective) {
  case GATHER:
  case SCATTER:
  case ALLGATHER:
  case ALLTOALL:
    return (block){r * of->count * s->layout.extent, of->count, s->layout.type};
  case ALLTOALLW:
    return (block){s->bytes[r], s->blocks.count[r], s->types[r]};
  default:
    return (block){s->blocks.at[r] * s->layout.extent, s->blocks.count[r], s->layout.type};
  }
}

/* One block that goes to all ranks, or comes from one. */
static block whole_of(const job *of, const side *s) {
  bool listed = of->collective == GATHERV || of->collective == SCATTERV || of->collective == ALLGATHERV;
  return (block){0, listed ? of->table[0][rank] : of->count, s->layout.type};
}

static void send_block(int to, const char *from, block which) { send_to(to, from + which.at, which.count, which.type); }

static void receive_block(int from, char *to, block which) {
  receive_from(from, to + which.at, which.count, which.type);
}

static void mean_bcast(const job *of) {
  char *data = of->out.buffer.theirs;
  if (rank != of->root)
    receive_block(of->root, data, whole_of(of, &of->out));
  for (int r = 0; rank == of->root && r < size; r++)
    if (r != rank)
      send_block(r, data, whole_of(of, &of->out));
}

static void mean_gather(const job *of) {
  if (!of->in_place)
    send_block(of->root, of->in.buffer.theirs, whole_of(of, &of->in));
  for (int r = 0; rank == of->root && r < size; r++)
    if (!of->in_place || r != rank)
      receive_block(r, of->out.buffer.theirs, block_of(of, &of->out, r));
}

static void mean_scatter(const job *of) {
  if (!of->in_place)
    receive_block(of->root, of->out.buffer.theirs, whole_of(of, &of->out));
  for (int r = 0; rank == of->root && r < size; r++)
    if (!of->in_place || r != rank)
      send_block(r, of->in.buffer.theirs, block_of(of, &of->in, r));
}

/* In place, this rank sends what its result was before. */
static void mean_all(const job *of) {
  bool gathers = of->collective == ALLGATHER || of->collective == ALLGATHERV;
  for (int r = 0; r < size; r++) {
    if (of->in_place && r == rank)
      continue;
    receive_block(r, of->out.buffer.theirs, block_of(of, &of->out, r));
    if (of->in_place)
      send_block(r, of->out.buffer.before, block_of(of, &of->out, gathers ? rank : r));
    else
      send_block(r, of->in.buffer.theirs, gathers ? whole_of(of, &of->in) : block_of(of, &of->in, r));
  }
}

static void mean(const job *of) {
  switch (of->collective) {
  case BCAST:
    mean_bcast(of);
    break;
  case GATHER:
  case GATHERV:
    mean_gather(of);
    break;
  case SCATTER:
  case SCATTERV:
    mean_scatter(of);
    break;
  default:
    mean_all(of);
  }
  end_messages();
}

void try_move(void) {
  static job of;
  draw(&of);
  call(&of);
  mean(&of);
  end_side(&of, &of.in, "in");
  end_side(&of, &of.out, "out");
}

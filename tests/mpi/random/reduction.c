/* tests/mpi/random/reduction.c - reductions, with MPI's operators and with others, one of which keeps an order. */
#include "random.h"

#define BIT(kind) (1 << (kind))
#define INTEGERS (BIT(SIGNED) | BIT(UNSIGNED))
#define ALL_INTEGERS (INTEGERS | BIT(FORTRAN_INTEGER))
#define NUMBERS (ALL_INTEGERS | BIT(REAL) | BIT(LONG_REAL))

typedef struct job {
  element of; /* what buffers hold */
  MPI_Datatype type;
  MPI_Op op;
  bool own_type, own_op;
} job;

/* ---- operators ---- */

/* x -> a x + b, one after the other: associative, in that order only. */
typedef struct affine {
  int a, gap, b;
} affine;

static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
  MPI_Aint lower, extent; /* data lies at the type's addresses, as MPI lets an operator find it */
  MPI_Type_get_extent(*type, &lower, &extent);
  const affine *left = (const affine *)((const char *)in + lower);
  affine *right = (affine *)((char *)inout + lower);
  for (int n = 0; n < *count; n++) {
    right[n].b = (left[n].a * right[n].b + left[n].b) % 1009;
    right[n].a = left[n].a * right[n].a % 1009;
  }
}

/* The type that an operator is called with is the program's own. */
static void add_ints(void *in, void *inout, int *count, MPI_Datatype *type) {
  failures += *type != MPI_INT;
  for (int n = 0; n < *count; n++)
    ((int *)inout)[n] += ((const int *)in)[n];
}

static void keep_left(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  memcpy(inout, in, (size_t)*count * sizeof(int));
}

static const struct operator{
  MPI_Op op;
  int kinds;
}
operators[] = {
    {MPI_SUM, NUMBERS | BIT(COMPLEX)},
    {MPI_PROD, NUMBERS}, /* complex: -0 or 0 */
    {MPI_MAX, NUMBERS},
    {MPI_MIN, NUMBERS},
    {MPI_LAND, INTEGERS | BIT(LOGICAL)},
    {MPI_LOR, INTEGERS | BIT(LOGICAL)},
    {MPI_LXOR, INTEGERS | BIT(LOGICAL)},
    {MPI_BAND, ALL_INTEGERS},
    {MPI_BOR, ALL_INTEGERS},
    {MPI_BXOR, ALL_INTEGERS},
    {MPI_MAXLOC, BIT(PAIR)},
    {MPI_MINLOC, BIT(PAIR)},
};

/* ---- jobs ---- */

static job make_derived(void) {
  job made = {.of = {MPI_INT, SIGNED, 0}, .own_type = true, .own_op = true};
  MPI_Aint at[2] = {0, 8};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Type_create_struct(2, (int[]){1, 1}, at, types, &made.type);
  MPI_Type_commit(&made.type);
  MPI_Op_create(compose, 0, &made.op);
  return made;
}

static job make_ints(void) {
  job made = {.of = {MPI_INT, SIGNED, 0}, .type = MPI_INT, .own_op = true};
  int commutes = pick(&common, 2);
  MPI_Op_create(commutes ? add_ints : keep_left, commutes, &made.op);
  return made;
}

static job make_predefined(void) {
  const struct operator* op;
  const element *of;
  do {
    op = &operators[pick(&common, sizeof operators / sizeof *operators)];
    of = &elements[pick(&common, element_count)];
  } while (!(op->kinds >> of->kind & 1));
  return (job){.of = *of, .type = of->type, .op = op->op};
}

static void free_job(job *of) {
  if (of->own_type)
    MPI_Type_free(&of->type);
  if (of->own_op)
    MPI_Op_free(&of->op);
}

/* ---- trials ---- */

typedef struct arguments {
  int collective, count, counts[MOST_BLOCKS], root;
  bool in_place;
} arguments;

static arguments draw(void) {
  arguments drawn = {.collective = pick(&common, 6),
                     .count = pick(&common, 8) ? pick(&common, pick(&common, 4) ? 40 : 300) : 0,
                     .root = pick(&common, size),
                     .in_place = pick(&common, 3) == 0};
  for (int r = 0; r < size; r++)
    drawn.counts[r] = pick(&common, 3) ? pick(&common, 50) : 0;
  return drawn;
}

static void call(const arguments *with, const job *of, const void *in, void *out) {
  int count = with->count;
  switch (with->collective) {
  case 0:
    CALL(Allreduce, Iallreduce, in, out, count, of->type, of->op, comm);
    break;
  case 1:
    CALL(Reduce, Ireduce, in, out, count, of->type, of->op, with->root, comm);
    break;
  case 2:
    CALL(Reduce_scatter, Ireduce_scatter, in, out, with->counts, of->type, of->op, comm);
    break;
  case 3:
    CALL(Reduce_scatter_block, Ireduce_scatter_block, in, out, count, of->type, of->op, comm);
    break;
  case 4:
    CALL(Scan, Iscan, in, out, count, of->type, of->op, comm);
    break;
  default:
    CALL(Exscan, Iexscan, in, out, count, of->type, of->op, comm);
  }
}

/* Derived types may be at absolute addresses: one for both buffers, which then begin at one place. */
static void call_seen(const arguments *with, const job *of, bool in_place, buffer *in, buffer *out) {
  if (!of->own_type || !in_place) {
    call(with, of, in_place ? MPI_IN_PLACE : in->mine, out->mine);
    return;
  }
  view as = make_view(out->mine, of->type, &own);
  job seen = *of;
  seen.type = as.type;
  call(with, &seen, MPI_IN_PLACE, as.at);
  free_view(&as);
}

/* MPI's own, not in place, which MPICH has mistakes in. */
static void mean(const arguments *with, const job *of, const void *in, void *out) {
  switch (with->collective) {
  case 0:
    PMPI_Allreduce(in, out, with->count, of->type, of->op, comm);
    break;
  case 1:
    PMPI_Reduce(in, out, with->count, of->type, of->op, with->root, comm);
    break;
  case 2:
    PMPI_Reduce_scatter(in, out, with->counts, of->type, of->op, comm);
    break;
  case 3:
    PMPI_Reduce_scatter_block(in, out, with->count, of->type, of->op, comm);
    break;
  case 4:
    PMPI_Scan(in, out, with->count, of->type, of->op, comm);
    break;
  default:
    PMPI_Exscan(in, out, with->count, of->type, of->op, comm);
  }
}

void try_reduction(void) {
  int which = pick(&common, 4);
  job of = which == 0 ? make_derived() : which == 1 ? make_ints() : make_predefined();
  arguments with = draw();
  buffer in = make_buffer(&of.of, &own), out = make_buffer(&of.of, &own);
  bool in_place = with.in_place && (with.collective != 1 || rank == with.root);
  call_seen(&with, &of, in_place, &in, &out);
  mean(&with, &of, in_place ? out.before : in.theirs, out.theirs);
  if (with.collective == 5 && rank == 0) /* has no result, and keeps what it has */
    memcpy(out.memory[1], out.memory[2], (size_t)out.bytes);
  if (in_place && (with.collective == 2 || with.collective == 3)) /* of the vector, this rank's part is left */
    forget(&out, (with.collective == 2 ? with.counts[rank] : with.count) * extent_of(of.type));
  compare("in", &in);
  compare("out", &out);
  free_buffer(&in);
  free_buffer(&out);
  free_job(&of);
}

/* bindings/mpi/serve_reduce.c - reductions: what tutti is given instead of the program's buffers.
 *
 * Elements stay where they are, but for derived types with gaps: those are copied to the stage and back with all their
 * extent, so that an operator finds them as MPI would give them, and gaps of the result keep what they hold. */
#include "serve_reduce.h"

#include "types.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct job {
  const tt_mpi_call *call;
  const tt_mpi_comm *comm;
  tt_mpi_reduction how;
  int64_t in_count, out_count; /* elements on each side */
  int64_t own;                 /* elements before this rank's part, where the result is one */
  bool in_place, has_out;
  bool is_miscounted;
  int64_t wrong; /* the count that is */
} job;

/* ---- counts ---- */

static bool miscount(job *of, int64_t count) {
  of->is_miscounted = true;
  of->wrong = count;
  return false;
}

/* Of reduce_scatter: a list, in elements. */
static bool count_parts(job *of, tt_mpi_args *args, tt_mpi_stage *stage) {
  int64_t *counts = tt_mpi_stage_lists(stage, of->comm->size);
  for (int r = 0; r < of->comm->size; r++) {
    counts[r] = tt_mpi_at(of->call->out.counts, r);
    if (r == of->comm->rank)
      of->own = of->in_count;
    if (counts[r] < 0 || __builtin_add_overflow(of->in_count, counts[r], &of->in_count))
      return miscount(of, counts[r]);
  }
  of->out_count = counts[of->comm->rank];
  args->in.counts = counts;
  return true;
}

static bool count(job *of, const tt_mpi_row *row, tt_mpi_args *args, tt_mpi_stage *stage) {
  if (row->in.listed)
    return count_parts(of, args, stage);
  bool of_ranks = row->in.unit == TT_MPI_RANKS;
  int64_t parts = of_ranks ? of->comm->size : 1;
  of->out_count = args->count = of->call->out.count;
  if (of->out_count < 0 || __builtin_mul_overflow(of->out_count, parts, &of->in_count))
    return miscount(of, of->out_count);
  of->own = of_ranks ? of->comm->rank * of->out_count : 0;
  return true;
}

/* ---- buffers ---- */

static tt_mpi_move cells(const job *of, const void *buffer, char *staged, int64_t elements) {
  return (tt_mpi_move){.program = (char *)(uintptr_t)buffer,
                       .staged = staged,
                       .count = elements,
                       .type = of->call->out.type,
                       .way = TT_MPI_AS_CELLS};
}

static void stage_cells(const job *of, tt_mpi_args *args, tt_mpi_stage *stage) {
  const void *from = of->in_place ? of->call->out.buffer : of->call->in.buffer;
  args->in.base = tt_mpi_stage_memory(stage, TT_MPI_STAGE_IN, args->in.bytes);
  tt_mpi_stage_add(&stage->pack, cells(of, from, args->in.base, of->in_count));
  args->out.base = NULL;
  if (!of->has_out)
    return;
  args->out.base = args->in.base + of->own * of->how.bytes;
  /* the first rank has no result of an exscan */
  if (of->call->collective != TT_MPI_EXSCAN || of->comm->rank > 0)
    tt_mpi_stage_add(&stage->unpack, cells(of, of->call->out.buffer, args->out.base, of->out_count));
}

static tt_mpi_move bytes(char *program, char *staged, int64_t count) {
  return (tt_mpi_move){.program = program, .staged = staged, .count = count, .way = TT_MPI_AS_BYTES};
}

/* MPI has the result at the beginning of the vector, tutti at this rank's part. */
static void stage_part(tt_mpi_args *args, tt_mpi_stage *stage) {
  char *program = args->out.base;
  args->out.base = tt_mpi_stage_memory(stage, TT_MPI_STAGE_OUT, args->out.bytes);
  tt_mpi_stage_add(&stage->unpack, bytes(program, args->out.base, args->out.bytes));
}

static bool overlaps(const job *of, const tt_mpi_args *args) {
  const char *in = args->in.base, *out = args->out.base;
  return of->has_out && in < out + args->out.bytes && out < in + args->in.bytes && in + of->own * of->how.bytes != out;
}

static void place(const job *of, tt_mpi_args *args, tt_mpi_stage *stage) {
  char *program = tt_mpi_behind(of->in_place ? of->call->out.buffer : of->call->in.buffer, of->how.lower);
  args->in.base = program;
  args->out.base = tt_mpi_behind(of->call->out.buffer, of->how.lower);
  if (!overlaps(of, args))
    return;
  if (of->in_place) {
    stage_part(args, stage);
    return;
  }
  args->in.base = tt_mpi_stage_memory(stage, TT_MPI_STAGE_IN, args->in.bytes);
  tt_mpi_stage_add(&stage->pack, bytes(program, args->in.base, args->in.bytes));
}

/* ---- calls ---- */

/* One buffer for both is an error that MPICH finds before it communicates; Open MPI takes it, and so does tutti. */
static bool is_refused_alias(const job *of) {
#ifdef MPICH_NUMVERSION
  return of->has_out && of->call->out.count > 0 && !of->call->out.counts.value && of->call->out.buffer &&
         of->call->in.buffer == of->call->out.buffer;
#else
  (void)of;
  return false;
#endif
}

static bool begin(job *of, const tt_mpi_row *row, tt_mpi_args *args, tt_mpi_stage *stage) {
  const tt_mpi_call *call = of->call;
  of->has_out = !row->out.of_root || call->root == of->comm->rank;
  of->in_place = call->in.buffer == MPI_IN_PLACE;
  bool odd = (of->in_place && !of->has_out) || (of->has_out && call->out.buffer == MPI_IN_PLACE);
  if (odd || is_refused_alias(of) || !count(of, row, args, stage))
    return false;
  if (__builtin_mul_overflow(of->in_count, of->how.bytes, &args->in.bytes))
    return miscount(of, of->in_count);
  args->out.bytes = of->out_count * of->how.bytes;
  return true;
}

static tt_mpi_verdict tell_wrong_pair(const tt_mpi_call *call, tt_mpi_args *args) {
  tt_mpi_shape shape;
  args->error = MPI_ERR_OP;
  if (call->op == MPI_OP_NULL)
    snprintf(args->text, sizeof args->text, "the operator is MPI_OP_NULL");
  else if (tt_mpi_shape_of(call->out.type, &shape))
    snprintf(args->text, sizeof args->text, "the operator does not combine elements of that type");
  else {
    args->error = MPI_ERR_TYPE;
    snprintf(args->text, sizeof args->text, "the type is invalid or not committed");
  }
  return TT_MPI_WRONG;
}

static tt_mpi_verdict tell_wrong_data(const job *of, tt_mpi_args *args) {
  args->error = of->is_miscounted ? MPI_ERR_COUNT : MPI_ERR_BUFFER;
  if (of->is_miscounted)
    snprintf(args->text, sizeof args->text, "a count is %" PRId64, of->wrong);
  else
    snprintf(args->text, sizeof args->text, "both buffers are the same, or MPI_IN_PLACE is not allowed here");
  return TT_MPI_WRONG;
}

tt_mpi_verdict tt_mpi_prepare_reduction(const tt_mpi_call *call, const tt_mpi_comm *comm, tt_mpi_args *args,
                                        tt_mpi_stage *stage) {
  job of = {.call = call, .comm = comm};
  if (tt_mpi_rows[call->collective].in.listed && !call->out.counts.value) {
    args->error = MPI_ERR_ARG;
    snprintf(args->text, sizeof args->text, "the list of counts is NULL");
    return TT_MPI_WRONG;
  }
  if (!tt_mpi_reduction_find(call->op, call->out.type, &of.how, &args->why))
    return args->why ? TT_MPI_PASSED : tell_wrong_pair(call, args);
  if (!begin(&of, &tt_mpi_rows[call->collective], args, stage))
    return tell_wrong_data(&of, args);
  args->type = of.how.element;
  args->op = of.how.op;
  stage->applied = of.how.applied;
  if (of.how.cells)
    stage_cells(&of, args, stage);
  else
    place(&of, args, stage);
  return TT_MPI_SERVED;
}

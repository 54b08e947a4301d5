/* bindings/mpi/faster.c - calls that MPI's own algorithm makes faster than tutti.
 *
 * All ranks of a communicator have the same table from rank 0's wisdom, and look up what MPI makes them agree on: the
 * bytes of the vector. Not the layout of a type, the place of a buffer or the lengths of gatherv's blocks, which ranks
 * may have their own of. Nothing is measured while a program runs. */
#include "faster.h"

#include "library.h"
#include "ops.h"
#include "serve_row.h"
#include "state.h"
#include "types.h"

#include <pthread.h>

enum { BARRIER_BYTES = 8 }; /* as tutti_lengths_have has it */

/* tutti's names; NULL: not measured, since ranks need not know how long all blocks are. */
static const char *const names[TT_MPI_COLLECTIVE_COUNT] = {[TT_MPI_ALLREDUCE] = "allreduce",
                                                           [TT_MPI_REDUCE] = "reduce",
                                                           [TT_MPI_REDUCE_SCATTER_BLOCK] = "reduce-scatter",
                                                           [TT_MPI_SCAN] = "scan",
                                                           [TT_MPI_EXSCAN] = "exscan",
                                                           [TT_MPI_BCAST] = "broadcast",
                                                           [TT_MPI_GATHER] = "gather",
                                                           [TT_MPI_SCATTER] = "scatter",
                                                           [TT_MPI_ALLGATHER] = "allgather",
                                                           [TT_MPI_ALLTOALL] = "all-to-all",
                                                           [TT_MPI_BARRIER] = "barrier",
                                                           [TT_MPI_ALLGATHERV] = "allgatherv",
                                                           [TT_MPI_REDUCE_SCATTER] = "reduce-scatterv"};

static char library[TT_MPI_LIBRARY_TEXT]; /* each MPI has its own times, and each version */

static void find_library(void) { tt_mpi_library_name(library); }

/* ---- a communicator's ---- */

tutti_status tt_mpi_faster_find(tutti_comm *comm, tt_mpi_faster *faster) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  tutti_status status = TUTTI_OK;
  pthread_once(&once, find_library);
  for (int c = 0; c < TT_MPI_COLLECTIVE_COUNT && status == TUTTI_OK && !tt_mpi.always; c++) {
    if (names[c])
      status = tutti_comm_outside(comm, library, names[c], &faster->of[c]);
    faster->some = faster->some || faster->of[c].low || faster->of[c].high;
  }
  return status;
}

/* ---- a call ---- */

/* The side that this rank must describe: of a root's the root, which may have its own block in place. */
static const tt_mpi_side *side_of(const tt_mpi_call *call, const tt_mpi_row *row, bool is_root) {
  bool is_in = row->in.of_root ? is_root : row->out.of_root && !is_root && !row->reduces;
  return is_in ? &call->in : &call->out;
}

/* Elements of all blocks; -1: one has less than none. INT64_MAX: they are too many. */
static int64_t count_of(const tt_mpi_side *side, int64_t blocks) {
  int64_t count = 0;
  if (!side->counts.value && __builtin_mul_overflow(side->count, blocks, &count))
    return side->count < 0 ? -1 : INT64_MAX;
  for (int64_t n = 0; n < blocks && side->counts.value; n++) {
    int64_t of_block = tt_mpi_at(side->counts, n);
    if (of_block < 0)
      return -1;
    if (__builtin_add_overflow(count, of_block, &count))
      return INT64_MAX;
  }
  return count;
}

/* Of the whole vector, as count_of; -1: an argument is wrong. */
static int64_t bytes_of(const tt_mpi_call *call, int rank, int size) {
  const tt_mpi_row *row = &tt_mpi_rows[call->collective];
  const tt_mpi_side *side = side_of(call, row, call->root == rank);
  int64_t blocks = row->in.unit == TT_MPI_RANKS || row->out.unit == TT_MPI_RANKS ? size : 1, bytes;
  tt_mpi_shape shape;
  if (call->collective == TT_MPI_BARRIER)
    return BARRIER_BYTES;
  int64_t count = count_of(side, blocks);
  if (count < 0 || !tt_mpi_shape_of(side->type, &shape))
    return -1;
  return __builtin_mul_overflow(count, shape.size, &bytes) ? INT64_MAX : bytes;
}

/* Where a rank has no length to look up, it cannot know whether the others pass. MPI names the error, and a call that
 * is wrong has no place in tutti's order: the next one is matched with that of the others, as in MPI alone. */
const char *tt_mpi_faster_why(const tt_mpi_faster *faster, const tt_mpi_call *call, int rank, int size) {
  const tutti_lengths *of = &faster->of[call->collective];
  if (!of->low && !of->high)
    return NULL;
  if (tt_mpi_rows[call->collective].reduces && call->op != MPI_OP_NULL && !tt_mpi_op_is_own(call->op))
    return NULL;
  int64_t bytes = bytes_of(call, rank, size);
  if (bytes < 0)
    return "an argument is wrong";
  return tutti_lengths_have(of, bytes) ? "MPI was measured to be faster" : NULL;
}

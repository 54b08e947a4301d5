/* tools/tune/kernels.c - see kernels.h. Of several repetitions the median counts. */
#include "kernels.h"

#include "bench/stats.h"
#include "dtype/dtype.h"

#include <string.h>

#define PIECE (32 << 10)
#define LONGEST (1 << 20)
#define REPEATS 7
#define LEAST_NS 300000

typedef struct kernel {
  tt_combine combine; /* NULL: it copies */
  int64_t piece_bytes, element_bytes;
  unsigned char *memory;
  int64_t turns; /* parts of memory of two pieces */
} kernel;

static void run(const kernel *of, int64_t turn) {
  unsigned char *in = of->memory + turn * 2 * of->piece_bytes, *out = in + of->piece_bytes;
  if (of->combine)
    of->combine(out, in, out, (size_t)(of->piece_bytes / of->element_bytes), false);
  else
    tt_dtype_copy(out, in, (size_t)of->piece_bytes, false);
}

/* ns of a piece. */
static double time_of(const kernel *of) {
  double time_ns[REPEATS];
  for (int64_t t = 0; t < of->turns; t++)
    run(of, t);
  for (int n = 0; n < REPEATS; n++) {
    int64_t begin_ns = tt_clock_ns(), end_ns = begin_ns, calls = 0;
    for (; end_ns - begin_ns < LEAST_NS; end_ns = tt_clock_ns())
      for (int k = 0; k < 8; k++, calls++)
        run(of, calls % of->turns);
    time_ns[n] = (double)(end_ns - begin_ns) / (double)calls;
  }
  return bench_median(time_ns, REPEATS);
}

void tune_kernels_copy(unsigned char *memory, int64_t memory_bytes, double byte_ns[static TT_SIM_REUSES]) {
  for (int k = 0; k < TT_SIM_REUSES; k++) {
    kernel of = {.piece_bytes = PIECE, .memory = memory, .turns = tt_sim_reuse[k] / (2 * PIECE)};
    bool fits = tt_sim_reuse[k] <= memory_bytes;
    byte_ns[k] = fits ? time_of(&of) / PIECE : byte_ns[k - 1];
  }
}

static void time_pieces(kernel of, const double byte_ns[static TT_SIM_REUSES], tt_sim_end *end) {
  of.turns = 1;
  for (int k = 0; k < TT_SIM_REUSES; k++)
    end->reuse_ns[k] = fmax(0, byte_ns[k] - byte_ns[0]);
  tt_sim_end none = *end;
  memset(none.piece_ns, 0, sizeof none.piece_ns);
  for (int k = 0; k < TT_SIM_PIECES; k++) {
    of.piece_bytes = tt_sim_piece[k];
    end->piece_ns[k] = fmax(0, time_of(&of) - tt_sim_end_ns(&none, of.piece_bytes, 2 * (double)of.piece_bytes));
  }
}

void tune_kernels_own(unsigned char *memory, const double byte_ns[static TT_SIM_REUSES],
                      tt_sim_end own[static TT_SIM_ACTS]) {
  memset(own, 0, TT_SIM_ACTS * sizeof *own);
  time_pieces((kernel){.memory = memory}, byte_ns, &own[TT_SIM_STORE]);
  time_pieces((kernel){.memory = memory, .combine = tt_dtype_combine(TUTTI_FLOAT32, TUTTI_SUM), .element_bytes = 4},
              byte_ns, &own[TT_SIM_COMBINE]);
}

void tune_kernels_gamma(unsigned char *memory, tune_gamma gamma[static TUNE_GAMMAS]) {
  static const tutti_type types[TUNE_GAMMAS] = {TUTTI_FLOAT32, TUTTI_FLOAT64,  TUTTI_INT32,
                                                TUTTI_INT64,   TUTTI_BFLOAT16, TUTTI_FLOAT16};
  for (int n = 0; n < TUNE_GAMMAS; n++) {
    kernel of = {.combine = tt_dtype_combine(types[n], TUTTI_SUM),
                 .piece_bytes = PIECE,
                 .element_bytes = (int64_t)tutti_type_size(types[n]),
                 .memory = memory,
                 .turns = 1};
    gamma[n] = (tune_gamma){tutti_type_name(types[n]), time_of(&of) / PIECE};
  }
}

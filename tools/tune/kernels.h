/* tools/tune/kernels.h - what copying and combining take within a rank's own memory. */
#ifndef TUTTI_TOOLS_TUNE_KERNELS_H
#define TUTTI_TOOLS_TUNE_KERNELS_H

#include "tune/tune.h"

/* ns a byte of pieces of 32 KiB that are copied where the rank has used that many bytes since it used these. memory: of
 * so many bytes; what needs more is as the one before. */
void tune_kernels_copy(unsigned char *memory, int64_t memory_bytes, double byte_ns[static TT_SIM_REUSES]);
/* Pieces that are in the cache, and copy's `byte_ns` for the rest. */
void tune_kernels_own(unsigned char *memory, const double byte_ns[static TT_SIM_REUSES],
                      tt_sim_end own[static TT_SIM_ACTS]);
/* Sums in the cache, of some types. */
typedef struct tune_gamma {
  const char *name;
  double byte_ns;
} tune_gamma;
#define TUNE_GAMMAS 6
void tune_kernels_gamma(unsigned char *memory, tune_gamma gamma[static TUNE_GAMMAS]);

#endif

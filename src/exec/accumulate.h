/* exec/accumulate.h - runs of 16-bit floats whose partial results stay in float32: on float32 images of the buffers. */
#ifndef TT_EXEC_ACCUMULATE_H
#define TT_EXEC_ACCUMULATE_H

#include "exec/memory.h"

typedef struct tt_image_block { /* a block of in that is read, or of out that is written */
  tt_place place, length;
} tt_image_block;

typedef struct tt_accumulate {
  bool on; /* in this run */
  tutti_type type;
  unsigned char *out; /* the user's */
  unsigned char *image;
  size_t image_bytes;           /* grown where a run needs more than any before it */
  tt_image_block *read, *write; /* NULL: not yet set; in place: blocks of either buffer are read */
  uint32_t read_count, write_count;
} tt_accumulate;

/* Whether the run asks for it and it changes something. */
bool tt_accumulate_applies(const tt_run *run);

/* Once blocks and memory are those of the same run in float32: has memory mean images and fills them. */
tutti_status tt_accumulate_start(tt_accumulate *of, const tt_bound_plan *bound, tt_arena *arena, const tt_run *run,
                                 const tt_blocks *blocks, tt_memory *memory);
/* The run is complete: rounds what is in the image of out. */
void tt_accumulate_narrow(tt_accumulate *of, const tt_blocks *blocks, const tt_memory *memory);
void tt_accumulate_finish(tt_accumulate *of);

#endif

/* tune/space.h - what the files of the space share. */
#ifndef TT_TUNE_SPACE_H
#define TT_TUNE_SPACE_H

#include "tune/tune.h"

/* What a text comes to, without its slice and medium. */
typedef struct tt_structure {
  uint64_t hash; /* of all ranks' steps */
  int64_t parts; /* plan blocks of the vector */
} tt_structure;

tutti_status tt_structure_make(const tt_task *task, const char *text, tt_structure *made);
int64_t tt_structure_block(const tt_task *task, const tt_structure *of); /* bytes of its longest block */
/* With a slice and a medium. slice_bytes 0: a slot. */
uint64_t tt_structure_identity(const tt_task *task, const tt_structure *of, int64_t slice_bytes, bool single_copy);

#endif

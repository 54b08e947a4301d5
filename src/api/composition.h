/* api/composition.h - a user's composition as the files of this folder see it: composition.c takes it down, program.c
 * compiles, proves and shows it, start.c makes requests. */
#ifndef TT_API_COMPOSITION_H
#define TT_API_COMPOSITION_H

#include "api/api.h"

#include <tutti/composition.h>

typedef struct tt_stage_list { /* families of a stage, as they grow */
  tt_family *family;
  int64_t count, room;
} tt_stage_list;

struct tutti_composition {
  tutti_comm *comm;
  tt_arena arena;
  tt_composition made;
  tt_stage_list list[TT_STAGES];
  char *params;
  bool reduces;
  bool frozen;        /* a request has been made of it */
  tt_entry *entry[2]; /* compiled: as it is, and with every reduction in rank order; NULL: not yet */
};

/* Whether that operator wants every reduction in rank order. */
bool tt_composition_is_ordered(const tutti_composition *of, tutti_op op);
/* The compiled one, made at the first time. */
tutti_status tt_composition_entry(tutti_composition *of, bool ordered, tt_entry **entry);

#endif

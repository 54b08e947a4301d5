/* bind/parts.h - the parts of a binding. */
#ifndef TT_BIND_PARTS_H
#define TT_BIND_PARTS_H

#include "bind/bind.h"

/* cells.c: the lists that cells need. */
tutti_status tt_bind_cells(const tt_plan *plan, tt_bound_plan *bound);
/* images.c: which blocks are widened and rounded. */
tutti_status tt_bind_images(const tt_plan *plan, tt_bound_plan *bound);

#endif

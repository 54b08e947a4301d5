/* tests/mpi/conform/layout.h - how elements lie in memory: the derived types.
 *
 * A unit is ITEMS elements of a base type (one in reductions), laid out by a datatype; units follow each other by the
 * type's extent. All layouts of a base have the same signature, so one rank may send what another receives as a
 * different one.
 *
 *     plain     012345|012345|...      vector    01.23.45|01.23.45|...     resized   012345...|012345...|
 *     columns   0000..1111..2222..     unit u's element i is in row i, column u */
#ifndef TEST_MPI_LAYOUT_H
#define TEST_MPI_LAYOUT_H

#include "element.h"

typedef enum layout_kind {
  LAYOUT_PLAIN,
  LAYOUT_CONTIGUOUS,
  LAYOUT_VECTOR,
  LAYOUT_RESIZED,
  LAYOUT_INDEXED, /* later elements lie first */
  LAYOUT_STRUCT,
  LAYOUT_NEGATIVE, /* data before the address that is passed */
  LAYOUT_SUBARRAY,
  LAYOUT_COLUMNS, /* units are interleaved */
  LAYOUT_COUNT
} layout_kind;

enum { ITEMS = 6 };

typedef struct layout {
  MPI_Datatype type;
  bool own;                        /* to be freed */
  int scale;                       /* elements of the type in a unit */
  int items;                       /* elements of the base in a unit */
  MPI_Aint item_at[ITEMS], extent; /* of a unit, in bytes */
  MPI_Aint low, high;              /* bytes of a unit lie in low .. high - 1 */
} layout;

/* `total`: units that will lie in the buffer. items: 1 or ITEMS; layouts other than plain need ITEMS. */
layout layout_make(layout_kind kind, const base_type *base, int items, int64_t total);
void layout_free(layout *layout);
const char *layout_name(layout_kind kind);

/* Where, in bytes, the unit before unit `end` ends. */
static inline MPI_Aint layout_end(const layout *of, int64_t end) { return (MPI_Aint)(end - 1) * of->extent + of->high; }

#endif

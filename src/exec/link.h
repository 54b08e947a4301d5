/* exec/link.h - a link as the other files of this folder see it: streams by lane id and peer. */
#ifndef TT_EXEC_LINK_H
#define TT_EXEC_LINK_H

#include "exec/exec.h"

typedef struct tt_link_end { /* of a stream; ranks of the communicator */
  uint32_t lane_id;
  bool sends, published;
  int32_t peer;          /* -1: this rank sends to all readers */
  const int32_t *reader; /* published: the lane's readers, ascending; with or without the source and this rank */
  uint32_t reader_count;
} tt_link_end;

typedef struct tt_cells tt_cells; /* cells.h */

/* The stream of that end, opened on first need. */
tutti_status tt_link_stream(tt_link *link, const tt_link_end *end, tutti_stream **stream);
/* The link's shared cells, opened on first need. TUTTI_ERR_UNSUPPORTED where the transport has none. */
tutti_status tt_link_cells(tt_link *link, tt_cells **cells);
const tt_link_spec *tt_link_get(const tt_link *link);
/* Of each rank: tt_link_set_neighbour; NULL where there is none. */
const bool *tt_link_neighbours(const tt_link *link);
/* What executors count: all of cells, messages, and the bytes of slots, which have gaps. */
tt_sent *tt_link_counts(tt_link *link);

#endif

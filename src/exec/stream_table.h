/* exec/stream_table.h - a stream table as the other files of this folder see it: streams by lane id and peer. */
#ifndef TT_EXEC_STREAM_TABLE_H
#define TT_EXEC_STREAM_TABLE_H

#include "exec/exec.h"

typedef struct tt_stream_end { /* of a stream; ranks of the communicator */
  uint32_t lane_id;
  bool sends, published;
  int32_t peer;          /* -1: this rank sends to all readers */
  const int32_t *reader; /* published: the lane's readers, ascending; with or without the source and this rank */
  uint32_t reader_count;
} tt_stream_end;

typedef struct tt_cells tt_cells; /* cells.h */

/* The stream of that end, opened on first need. */
tutti_status tt_stream_table_stream(tt_stream_table *streams, const tt_stream_end *end, tutti_stream **stream);
/* The stream table's shared cells, opened on first need. TUTTI_ERR_UNSUPPORTED where the transport has none. */
tutti_status tt_stream_table_cells(tt_stream_table *streams, tt_cells **cells);
const tt_stream_table_spec *tt_stream_table_spec_of(const tt_stream_table *streams);
/* Of each rank: tt_stream_table_set_neighbour; NULL where there is none. */
const bool *tt_stream_table_neighbours(const tt_stream_table *streams);
/* What executors count: all of cells, messages, and the bytes of slots, which have gaps. */
tt_sent *tt_stream_table_counts(tt_stream_table *streams);

#endif

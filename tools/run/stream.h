/* tools/run/stream.h - a rank's output under --label, passed on in whole lines. */
#ifndef TUTTI_TOOLS_RUN_STREAM_H
#define TUTTI_TOOLS_RUN_STREAM_H

#include "base/base.h"

/* One of a rank's outputs. */
typedef struct run_stream {
  int from; /* pipe; -1: closed */
  int to;
  bool waits; /* for room at `to` */
  int64_t rank;
  char *text; /* lines that wait, an unfinished one */
  size_t used, room;
} run_stream;

int run_stream_open(run_stream *stream, int64_t rank, int to, int *write_end);
/* Passes on a pipeful at most, as far as there is room for it; at its end the stream is closed. errno where that could
 * not be written, else 0. */
int run_stream_pass(run_stream *stream);
/* Passes on what is there when no rank writes any more; waits for room. */
int run_stream_drain(run_stream *stream);
void run_stream_close(run_stream *stream);

#endif

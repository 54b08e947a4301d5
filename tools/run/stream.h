/* tools/run/stream.h - a rank's output under --label, passed on in whole lines. */
#ifndef TUTTI_TOOLS_RUN_STREAM_H
#define TUTTI_TOOLS_RUN_STREAM_H

#include "base/base.h"

struct run_stream;

/* Where several streams go. */
typedef struct run_output {
  int fd;
  struct run_stream *in_line; /* whose line has begun there and has not ended; NULL: none */
} run_output;

/* One of a rank's outputs. */
typedef struct run_stream {
  int from; /* pipe; -1: closed */
  run_output *to;
  bool waits; /* for room at `to`, or for the end of another's line */
  bool ended; /* no more will come */
  int64_t rank;
  char *text;  /* lines that wait, an unfinished one */
  size_t done; /* bytes of the first line, with its label, that are out */
  size_t used, room;
} run_stream;

int run_stream_open(run_stream *stream, int64_t rank, run_output *to, int *write_end);
/* Passes on a pipeful at most, as far as there is room for it; at its end the stream is closed. errno where that could
 * not be written, else 0. */
int run_stream_pass(run_stream *stream);
/* Passes on what is there when no rank writes any more; waits for room. */
int run_stream_drain(run_stream *stream);
void run_stream_close(run_stream *stream);

bool run_has_room(int to); /* for PIPE_BUF bytes where it is a pipe */
/* Waits for it. The ranks have gone, nothing is left to do but this: a signal may end the launcher from here on. */
void run_await_room(int to);

#endif

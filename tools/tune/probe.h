/* tools/tune/probe.h - messages from rank to rank: plans of a composition with one primitive, run by the executor that
 * runs all plans. All ranks of a communicator make the same messages; the two ends start them. */
#ifndef TUTTI_TOOLS_TUNE_PROBE_H
#define TUTTI_TOOLS_TUNE_PROBE_H

#include "exec/exec.h"
#include "tune/tune.h"

#include <tutti/composition.h>

typedef struct tune_message {
  tutti_composition *composition;
  tutti_request *request;
  tt_spent spent; /* by this rank, while it is watched */
  bool sends;     /* this rank does */
} tune_message;

/* probe->piece_bytes 0: of nothing. memory: of this rank, for its buffers. tune_message_close is called afterwards in
 * any case. */
tutti_status tune_message_open(tutti_comm *comm, const tt_probe *probe, int64_t from, int64_t to, void *memory,
                               tune_message *message);
void tune_message_close(tune_message *message);
void tune_message_watch(tune_message *message);
/* Blocks until this rank's end is done. */
tutti_status tune_message_run(tune_message *message, const void *in, void *out);
int64_t tune_message_moved(const tune_message *message); /* ns, since it is watched */

/* There and back. */
typedef struct tune_trip {
  tt_probe probe;
  tune_message message[2];
  unsigned char *memory;
  int64_t turn, turns; /* which part of the memory is next, of how many */
} tune_trip;

tutti_status tune_trip_open(tutti_comm *comm, const tt_probe *probe, int64_t from, int64_t to, void *memory,
                            tune_trip *trip);
void tune_trip_close(tune_trip *trip);
/* So many times; on the two ranks. */
tutti_status tune_trip_run(tune_trip *trip, int64_t count, tt_probe_time *sum);

#endif

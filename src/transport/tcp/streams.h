/* transport/tcp/streams.h - the transport as tcp.c opens it, and its streams. */
#ifndef TT_TRANSPORT_TCP_STREAMS_H
#define TT_TRANSPORT_TCP_STREAMS_H

#include "transport/tcp/pipe.h"

#define TT_TCP_WINDOW 16 /* slots of a stream */

typedef struct tt_tcp_node tt_tcp_node;

typedef struct tt_tcp {
  int64_t rank, rank_count;
  tt_tcp_host *host; /* of each rank */
  tt_tcp_door *door;
  tt_tcp_pipes *pipes;
  /* streams.c */
  tt_tcp_node **bucket;
  size_t bucket_count, node_count; /* bucket_count: a power of two, or 0 */
  uint64_t last_stream;            /* number of the newest that this rank writes */
} tt_tcp;

/* What the pipes call. */
tt_tcp_owner tt_tcp_streams_owner(tt_tcp *self);
/* Closes all that are open. The pipes still are. */
void tt_tcp_streams_finish(tt_tcp *self);

/* Of the transport's table. */
tutti_status tt_tcp_stream_open(void *self, const tutti_stream_spec *spec, tutti_stream **stream);
void tt_tcp_stream_close(void *self, tutti_stream *stream);
tutti_status tt_tcp_stream_reserve(void *self, tutti_stream *stream, tutti_slot_header **header, void **data,
                                   size_t *room);
tutti_status tt_tcp_stream_commit(void *self, tutti_stream *stream, size_t bytes);
tutti_status tt_tcp_stream_peek(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                                size_t *bytes);
tutti_status tt_tcp_stream_release(void *self, tutti_stream *stream);
uint64_t tt_tcp_stream_unreleased(void *self, tutti_stream *stream);
uint64_t tt_tcp_stream_unsent(void *self, tutti_stream *stream);

#endif

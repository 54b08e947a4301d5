/* transport/streams/table.h - what the streams keep in one hash table, by (kind, key, peer). */
#ifndef TT_TRANSPORT_STREAMS_TABLE_H
#define TT_TRANSPORT_STREAMS_TABLE_H

#include "transport/streams/streams.h"

typedef enum tt_streams_node_kind {
  TT_STREAMS_WRITER, /* key: the number of this opening of its stream; peer: -1, since the numbers are this rank's */
  TT_STREAMS_READER, /* key: its stream's id */
  TT_STREAMS_INBOX,  /* what comes of one opening; key: its number, of that peer */
  TT_STREAMS_PLACE,  /* where a reader of a stream is, or will be; key: the stream's id */
  TT_STREAMS_UNUSED  /* a stream that was closed before anything was written; key: its id */
} tt_streams_node_kind;

/* The first member of what is kept. */
struct tt_streams_node {
  tt_streams_node *after; /* in its bucket */
  uint64_t key;
  int64_t peer;
  tt_streams_node_kind kind;
};

/* NULL: there is none. */
void *tt_streams_node_find(const tt_streams *self, tt_streams_node_kind kind, uint64_t key, int64_t peer);
/* A new one of that size, zeroed behind the node; NULL: no memory. */
void *tt_streams_node_make(tt_streams *self, tt_streams_node_kind kind, uint64_t key, int64_t peer, size_t bytes);
void *tt_streams_node_find_or_make(tt_streams *self, tt_streams_node_kind kind, uint64_t key, int64_t peer,
                                   size_t bytes);
/* Out of the table, and freed. */
void tt_streams_node_destroy(tt_streams *self, void *node);

#endif

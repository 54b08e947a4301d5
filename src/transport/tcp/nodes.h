/* transport/tcp/nodes.h - what the streams keep in one hash table, by (kind, key, peer). */
#ifndef TT_TRANSPORT_TCP_NODES_H
#define TT_TRANSPORT_TCP_NODES_H

#include "transport/tcp/streams.h"

typedef enum tt_tcp_node_kind {
  TT_TCP_WRITER, /* key: the number of this opening of its stream; peer: -1, since the numbers are this rank's */
  TT_TCP_READER, /* key: its stream's id */
  TT_TCP_INBOX,  /* what comes of one opening; key: its number, of that peer */
  TT_TCP_PLACE,  /* where a reader of a stream is, or will be; key: the stream's id */
  TT_TCP_UNUSED  /* a stream that was closed before anything was written; key: its id */
} tt_tcp_node_kind;

/* The first member of what is kept. */
struct tt_tcp_node {
  tt_tcp_node *after; /* in its bucket */
  uint64_t key;
  int64_t peer;
  tt_tcp_node_kind kind;
};

/* NULL: there is none. */
void *tt_tcp_node_find(const tt_tcp *self, tt_tcp_node_kind kind, uint64_t key, int64_t peer);
/* A new one of that size, zeroed behind the node; NULL: no memory. */
void *tt_tcp_node_make(tt_tcp *self, tt_tcp_node_kind kind, uint64_t key, int64_t peer, size_t bytes);
void *tt_tcp_node_find_or_make(tt_tcp *self, tt_tcp_node_kind kind, uint64_t key, int64_t peer, size_t bytes);
/* Out of the table, and freed. */
void tt_tcp_node_destroy(tt_tcp *self, void *node);

#endif

/* transport/streams/table.c - an open hash table of what the streams keep. */
#include "transport/streams/table.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_BUCKETS = 64 };

static tt_streams_node **bucket_of(const tt_streams *self, tt_streams_node_kind kind, uint64_t key, int64_t peer) {
  assert(self->bucket_count > 0 && (self->bucket_count & (self->bucket_count - 1)) == 0);
  uint64_t mixed =
      (key ^ (uint64_t)(peer * 8 + (int64_t)kind) * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
  return &self->bucket[(mixed >> 32) & (self->bucket_count - 1)];
}

static void insert(tt_streams *self, tt_streams_node *node) {
  tt_streams_node **bucket = bucket_of(self, node->kind, node->key, node->peer);
  node->after = *bucket;
  *bucket = node;
}

static bool grow(tt_streams *self) {
  tt_streams old = *self;
  size_t count = old.bucket_count ? 2 * old.bucket_count : FIRST_BUCKETS;
  tt_streams_node **bucket = calloc(count, sizeof *bucket);
  if (!bucket)
    return false;
  self->bucket = bucket;
  self->bucket_count = count;
  for (size_t n = 0; n < old.bucket_count; n++)
    for (tt_streams_node *node = old.bucket[n], *after; node; node = after) {
      after = node->after;
      insert(self, node);
    }
  free(old.bucket);
  return true;
}

void *tt_streams_node_find(const tt_streams *self, tt_streams_node_kind kind, uint64_t key, int64_t peer) {
  if (self->bucket_count == 0)
    return NULL;
  tt_streams_node *node = *bucket_of(self, kind, key, peer);
  while (node && (node->key != key || node->peer != peer || node->kind != kind))
    node = node->after;
  return node;
}

void *tt_streams_node_make(tt_streams *self, tt_streams_node_kind kind, uint64_t key, int64_t peer, size_t bytes) {
  assert(bytes >= sizeof(tt_streams_node));
  if (self->node_count >= self->bucket_count && !grow(self))
    return NULL;
  tt_streams_node *node = calloc(1, bytes);
  if (!node)
    return NULL;
  *node = (tt_streams_node){.key = key, .peer = peer, .kind = kind};
  insert(self, node);
  self->node_count++;
  return node;
}

void *tt_streams_node_find_or_make(tt_streams *self, tt_streams_node_kind kind, uint64_t key, int64_t peer,
                                   size_t bytes) {
  void *node = tt_streams_node_find(self, kind, key, peer);
  return node ? node : tt_streams_node_make(self, kind, key, peer, bytes);
}

void tt_streams_node_destroy(tt_streams *self, void *given) {
  assert(self->node_count > 0);
  tt_streams_node *node = given, **at = bucket_of(self, node->kind, node->key, node->peer);
  while (*at != node)
    at = &(*at)->after;
  *at = node->after;
  self->node_count--;
  free(node);
}

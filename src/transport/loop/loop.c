/* transport/loop/loop.c - the loop object, its table of operations, and the ends that ranks open on it. */
#include "transport/loop/loop.h"

#include "transport/loop/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

tutti_status tt_loop_create(const tt_loop_options *options, tt_loop **loop) {
  if (options->rank_count < 1 || options->slot_count < 1 || options->slot_bytes < 1)
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "loop of %" PRId64 " ranks with %zu slots of %zu bytes: each number must be at least 1",
                   options->rank_count, options->slot_count, options->slot_bytes);
  tt_loop *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a loop transport");
  made->options = *options;
  tt_random_init(&made->random, options->seed);
  atomic_init(&made->dead, -1);
  pthread_mutex_init(&made->mutex, NULL);
  *loop = made;
  return TUTTI_OK;
}

static void free_ears(loop_ear *ear) {
  while (ear) {
    loop_ear *next = ear->next;
    free(ear);
    ear = next;
  }
}

void tt_loop_destroy(tt_loop *loop) {
  if (!loop)
    return;
  for (size_t bucket = 0; bucket < TT_LOOP_BUCKETS; bucket++)
    free_ears(loop->ear[bucket]);
  while (loop->ring) {
    loop_ring *next = loop->ring->next;
    tt_loop_ring_free(loop->ring);
    loop->ring = next;
  }
  tt_loop_memory_finish(loop);
  pthread_mutex_destroy(&loop->mutex);
  free(loop);
}

uint64_t tt_loop_pick(tt_loop *loop, uint64_t limit) {
  assert(!loop->options.threads); /* threads keep to no schedule */
  return tt_random_below(&loop->random, limit);
}

/* Relaxed: being dead orders nothing else. */
void tt_loop_kill(tt_loop *loop, int64_t rank) { atomic_store_explicit(&loop->dead, rank, memory_order_relaxed); }

static tutti_status end_open(const void *config, const tutti_boot *boot, void **self) {
  (void)boot;
  const tt_loop_config *mine = config;
  if (mine->rank < 0 || mine->rank >= mine->loop->options.rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "rank %" PRId64 " is not in a loop of %" PRId64 " ranks", mine->rank,
                   mine->loop->options.rank_count);
  loop_end *end = malloc(sizeof *end);
  if (!end)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to open a loop transport");
  *end = (loop_end){.loop = mine->loop, .rank = mine->rank};
  *self = end;
  return TUTTI_OK;
}

static void end_close(void *self) { free(self); }

static int peer_dead(void *self, int64_t peer) {
  loop_end *end = self;
  return atomic_load_explicit(&end->loop->dead, memory_order_relaxed) == peer;
}

static tutti_status progress(void *self, int64_t *peer) {
  loop_end *end = self;
  int64_t dead = atomic_load_explicit(&end->loop->dead, memory_order_relaxed);
  if (dead < 0 || dead == end->rank)
    return TUTTI_OK;
  *peer = dead;
  return tt_fail(TUTTI_ERR_PEER, "rank %" PRId64 " is dead", dead);
}

static void wake(void *self, int64_t peer) {
  (void)self;
  (void)peer;
}

static const tutti_transport_ops loop_ops = {
    .size = sizeof(tutti_transport_ops),
    .name = "loop",
    .publish = 1,
    .open = end_open,
    .close = end_close,
    .stream_open = tt_loop_stream_open,
    .stream_close = tt_loop_stream_close,
    .reserve = tt_loop_reserve,
    .commit = tt_loop_commit,
    .peek = tt_loop_peek,
    .release = tt_loop_release,
    .progress = progress,
    .peer_dead = peer_dead,
    .wake = wake,
    .cells_open = tt_loop_cells_open,
    .cells_close = tt_loop_cells_close,
    .alloc = tt_loop_alloc,
    .free = tt_loop_free,
    .refer = tt_loop_refer,
    .unreleased = tt_loop_unreleased,
    .sent = tt_loop_sent,
    .fetch = tt_loop_fetch,
};

const tutti_transport_ops *tt_loop_ops(void) { return &loop_ops; }

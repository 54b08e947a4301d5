/* tests/conformance/threads.h - a job whose ranks are threads of this process, with a context each, on the loop
 * transport or on one mapping of shared memory. For sanitizers that do not look across processes. */
#ifndef TEST_CONFORMANCE_THREADS_H
#define TEST_CONFORMANCE_THREADS_H

#include "support/job.h"
#include "transport/loop/loop.h"
#include "transport/shm/shm.h"

#include <tutti/tutti.h>

#include <pthread.h>

enum { THREADS = 64, THREADS_BOOT_BYTES = 4096 };

typedef struct threads_rank threads_rank;

typedef struct threads_options {
  int64_t count;
  bool shm;          /* else loop */
  size_t slot_bytes; /* at least; with one slot a stream */
  bool hides_deaths; /* the transport cannot be asked who is dead */
  void (*body)(const threads_rank *at, tutti_context *context, void *argument);
  void *argument;
} threads_options;

typedef struct threads_team {
  threads_options options;
  tutti_transport_ops ops; /* shm: with an open that takes what tt_shm_open_threads has opened */
  tt_loop *loop;
  void *self[THREADS]; /* shm */
  pthread_barrier_t barrier;
  char boot[THREADS][THREADS_BOOT_BYTES];
} threads_team;

struct threads_rank {
  threads_team *team;
  int64_t rank;
  pthread_t thread;
};

static inline tutti_status threads_allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns,
                                             char *missing, size_t missing_size) {
  const threads_rank *at = user;
  threads_team *team = at->team;
  (void)timeout_ns, (void)missing, (void)missing_size;
  if (bytes > THREADS_BOOT_BYTES)
    return TUTTI_ERR_ARGUMENT;
  memcpy(team->boot[at->rank], mine, bytes);
  pthread_barrier_wait(&team->barrier);
  for (int64_t r = 0; r < team->options.count; r++)
    memcpy((char *)all + (size_t)r * bytes, team->boot[r], bytes);
  pthread_barrier_wait(&team->barrier);
  return TUTTI_OK;
}

static inline tutti_status threads_take_self(const void *config, const tutti_boot *boot, void **self) {
  (void)boot;
  *self = *(void *const *)config;
  return TUTTI_OK;
}

static inline void *threads_run_rank(void *argument) {
  threads_rank *at = argument;
  threads_team *team = at->team;
  tt_loop_config loop = {team->loop, at->rank};
  tutti_boot boot = {sizeof boot, at->rank, team->options.count, at, threads_allgather};
  tutti_context *context;
  tutti_context_options options;
  tutti_context_options_init(&options);
  options.boot = &boot;
  options.transport = &team->ops;
  options.transport_config = team->options.shm ? (const void *)&team->self[at->rank] : &loop;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  team->options.body(at, context, team->options.argument);
  pthread_barrier_wait(&team->barrier); /* a context that leaves first is no dead peer here */
  tutti_context_destroy(context);
  return NULL;
}

static inline void threads_open(threads_team *team) {
  const threads_options *options = &team->options;
  tt_loop_options loop = {options->count, options->slot_bytes, 1, true, 0};
  tt_shm_config shm = {.slot_bytes = options->slot_bytes, .slot_count = 1};
  pthread_barrier_init(&team->barrier, NULL, (unsigned)options->count);
  team->ops = options->shm ? *tt_shm_ops() : *tt_loop_ops();
  if (options->shm)
    team->ops.open = threads_take_self;
  if (options->hides_deaths)
    team->ops.peer_dead = NULL;
  if (options->shm)
    CHECK(tt_shm_open_threads(&shm, options->count, team->self) == TUTTI_OK);
  else
    CHECK(tt_loop_create(&loop, &team->loop) == TUTTI_OK);
}

static inline void threads_run(const threads_options *options) {
  static threads_team team;
  static threads_rank rank[THREADS];
  team = (threads_team){.options = *options};
  threads_open(&team);
  for (int64_t r = 0; r < options->count; r++) {
    rank[r] = (threads_rank){.team = &team, .rank = r};
    CHECK(pthread_create(&rank[r].thread, NULL, threads_run_rank, &rank[r]) == 0);
  }
  for (int64_t r = 0; r < options->count; r++)
    pthread_join(rank[r].thread, NULL);
  tt_loop_destroy(team.loop);
  pthread_barrier_destroy(&team.barrier);
}

#endif

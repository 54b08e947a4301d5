/* tests/conformance/program.h - rounds of calls that are outstanding together, as one rank makes them.
 *
 * A round has 2 to 8 calls on 1 to 3 communicators: two of all ranks, and one of the ranks of equal parity. Each rank
 * posts the calls of a communicator in its order, but goes from one communicator to the other as it likes, and waits in
 * any order. In the middle there is one blocking call on a fourth communicator; odd ranks have waited for all others
 * before it, even ranks have not: so a rank must move all its calls while it blocks in one. */
#ifndef TEST_CONFORMANCE_PROGRAM_H
#define TEST_CONFORMANCE_PROGRAM_H

#include "conformance/choose.h"
#include "support/job.h"

#include <sched.h>

enum { PROGRAM_COMMS = 3, PROGRAM_CALLS = 8, PROGRAM_COLORS = 2 };

/* Of all ranks: memory that they share. The last barriers are of the communicator for blocking calls. */
typedef struct program_memory {
  call_barriers barriers[PROGRAM_COMMS + 1][PROGRAM_COLORS];
} program_memory;

typedef struct program_options {
  uint64_t seed;
  int rounds;
  int64_t most; /* elements of a call */
  program_memory *memory;
} program_options;

typedef struct program {
  const program_options *options;
  tutti_context *context;
  tutti_comm *comm[PROGRAM_COMMS + 1];
  tutti_graph *graph[PROGRAM_COMMS + 1][CALL_GRAPHS];
  tt_random common[PROGRAM_COMMS + 1]; /* equal on all ranks of the communicator */
  tt_random all, own;                  /* equal on all ranks; of this rank */
  call_barriers *barriers[PROGRAM_COMMS + 1];
  call_side side[PROGRAM_CALLS]; /* of this round */
  int count;
} program;

/* ---- communicators ---- */

static inline void program_open(program *at, tutti_context *context, const program_options *options) {
  int64_t rank = tutti_context_rank(context), parity = rank % 2;
  *at = (program){.options = options, .context = context};
  for (int c = 0; c < PROGRAM_COMMS; c++)
    CHECK(tutti_comm_create(context, &at->comm[c == 2 ? 3 : c]) == TUTTI_OK);
  CHECK(tutti_comm_split(at->comm[0], parity, -rank, &at->comm[2]) == TUTTI_OK); /* backwards */
  CHECK(call_create_types(context) == TUTTI_OK);
  for (int c = 0; c <= PROGRAM_COMMS; c++) {
    CHECK(call_create_graphs(at->comm[c], at->graph[c]) == TUTTI_OK);
    int64_t color = c == 2 ? parity : 0;
    at->barriers[c] = &options->memory->barriers[c][color];
    tt_random_init(&at->common[c], options->seed * 64 + (uint64_t)(8 * c + color));
  }
  tt_random_init(&at->all, options->seed);
  tt_random_init(&at->own, options->seed + 1000 + (uint64_t)rank);
}

static inline void program_close(program *at) {
  for (int c = 0; c <= PROGRAM_COMMS; c++) {
    call_destroy_graphs(at->graph[c]);
    tutti_comm_destroy(at->comm[c]);
  }
}

/* ---- one call ---- */

static inline unsigned char *program_take(program *at, size_t bytes, bool shared) {
  void *memory = NULL;
  if (shared)
    CHECK(tutti_alloc(at->context, bytes, &memory) == TUTTI_OK);
  else
    CHECK((memory = malloc(bytes)) != NULL);
  return memory;
}

static inline void program_prepare(program *at, call_side *side, const call *of, int comm) {
  *side = (call_side){.of = *of,
                      .rank = tutti_comm_rank(at->comm[comm]),
                      .size = tutti_comm_size(at->comm[comm]),
                      .barriers = at->barriers[comm],
                      .shared = tt_random_below(&at->own, 3) == 0};
  size_t bytes = call_region_bytes(of, side->size);
  unsigned char *first = program_take(at, bytes, side->shared), *second = program_take(at, bytes, side->shared);
  call_lay(side, first, second, (size_t)tt_random_below(&at->own, 8), &at->own);
  call_fill(side, (int64_t)tt_random_below(&at->common[comm], 1000));
  const char *params = *of->params ? of->params : NULL;
  CHECK(tutti_comm_set_params(at->comm[comm], tt_compose_info(of->collective).name, params) == TUTTI_OK);
}

static inline void program_check(program *at, call_side *side) {
  unsigned char *scratch = malloc(side->bytes[0] + side->bytes[1]);
  CHECK(scratch != NULL);
  CHECK(call_right(side, scratch));
  free(scratch);
  call_finish(side);
  for (int n = 0; n < 2; n++)
    if (side->shared)
      tutti_free(at->context, side->region[n]);
    else
      free(side->region[n]);
}

static inline call program_choose(program *at, int comm) {
  int64_t size = tutti_comm_size(at->comm[comm]);
  call made;
  do
    made = choose_call(&at->common[comm], size, at->options->most);
  while (!choose_valid(&made, at->comm[comm], at->graph[comm]));
  return made;
}

/* ---- a round ---- */

static inline void program_post(program *at, int comm) {
  call made = program_choose(at, comm);
  if (made.mode == CALL_BLOCK)
    made.mode = CALL_START;
  call_side *side = &at->side[at->count++];
  program_prepare(at, side, &made, comm);
  CHECK(call_begin(side, at->comm[comm], at->graph[comm]) == TUTTI_OK);
}

/* As many calls on each communicator as `left` says, from one to the other in this rank's own order. */
static inline void program_post_all(program *at, int comms) {
  int left[PROGRAM_COMMS] = {0}, total = 0;
  for (int c = 0; c < comms; c++)
    total += left[c] =
        (comms == 1) + 1 + (int)tt_random_below(&at->all, (uint64_t)(PROGRAM_CALLS / comms - (comms == 1)));
  at->count = 0;
  while (at->count < total) {
    int comm = (int)tt_random_below(&at->own, (uint64_t)comms);
    if (left[comm]-- > 0)
      program_post(at, comm);
  }
}

/* Until all are complete: one after the other, at random, by tutti_wait or tutti_test. */
static inline void program_wait_all(program *at) {
  while (at->count > 0) {
    int n = (int)tt_random_below(&at->own, (uint64_t)at->count), done = 1;
    call_side *side = &at->side[n];
    if (tt_random_below(&at->own, 2))
      CHECK(call_end(side) == TUTTI_OK);
    else
      CHECK(tutti_test(&side->request, &done) == TUTTI_OK);
    if (!done) {
      sched_yield();
      continue;
    }
    program_check(at, side);
    *side = at->side[--at->count];
  }
}

static inline void program_block(program *at) {
  call made = program_choose(at, PROGRAM_COMMS);
  call_side side;
  made.mode = CALL_BLOCK;
  program_prepare(at, &side, &made, PROGRAM_COMMS);
  CHECK(call_begin(&side, at->comm[PROGRAM_COMMS], at->graph[PROGRAM_COMMS]) == TUTTI_OK);
  program_check(at, &side);
}

static inline void program_run(tutti_context *context, const program_options *options) {
  program *at = malloc(sizeof *at);
  CHECK(at != NULL);
  program_open(at, context, options);
  for (int round = 0; round < options->rounds; round++) {
    program_post_all(at, 1 + (int)tt_random_below(&at->all, PROGRAM_COMMS));
    if (tutti_context_rank(context) % 2 == 1)
      program_wait_all(at);
    program_block(at);
    program_wait_all(at);
  }
  program_close(at);
  free(at);
}

#endif

/* tests/mutants/engine.h - runs all ranks' plans with the library's engine on the loop transport, under a random
 * schedule.
 *
 * Elements are int64 and averaged, so that a result that is finished twice or never is seen. Counts, slots and slices
 * are drawn from the seed. Buffers stand between guards, so that no access of a wrong plan leaves them. */
#ifndef TEST_MUTANTS_ENGINE_H
#define TEST_MUTANTS_ENGINE_H

#include "exec/exec.h"
#include "interpreter.h"
#include "transport/loop/loop.h"

enum { ELEMENTS = 512, GUARD = 1024, IDLE_ROUNDS = 400 };

typedef struct engine_rank {
  void *transport;
  tt_link *link;
  tt_instance *instance;
  int64_t in[GUARD + ELEMENTS + GUARD], out[GUARD + ELEMENTS + GUARD], in_before[GUARD + ELEMENTS + GUARD];
  int64_t *in_at, *out_at;
  bool done;
} engine_rank;

typedef struct engine {
  const tt_meaning *meaning;
  tt_access_log log;
  tt_loop *loop;
  int64_t rank_count, total, job_rank[RANKS];
  engine_rank rank[RANKS];
} engine;

static inline int64_t first_of(const engine *on, int64_t block) {
  int64_t base = on->total / on->meaning->block_count, extra = on->total % on->meaning->block_count;
  return block * base + (block < extra ? block : extra);
}

/* A multiple of the rank count, so that averages are whole. */
static inline int64_t engine_input(const engine *on, int64_t rank, int64_t index) {
  return on->rank_count * (int64_t)(input_number((uint32_t)rank, (uint32_t)index, 0).sum >> 24);
}

static inline void place_buffers(const engine *on, engine_rank *of, int64_t rank) {
  const tt_meaning *meaning = on->meaning;
  of->in_at = of->in + GUARD;
  of->out_at = of->out + GUARD;
  if (meaning->in_place && meaning->layout[TT_OUT] == TT_LAYOUT_OWN)
    of->out_at = of->in_at + first_of(on, rank);
  else if (meaning->in_place)
    of->in_at = of->out_at + (meaning->layout[TT_IN] == TT_LAYOUT_OWN ? first_of(on, rank) : 0);
}

static inline void fill_buffers(const engine *on, int64_t rank, tt_random *random) {
  engine_rank *of = (engine_rank *)&on->rank[rank];
  place_buffers(on, of, rank);
  for (size_t n = 0; n < TT_COUNT(of->in); n++)
    of->in[n] = of->out[n] = (int64_t)(tt_random_next(random) >> 24);
  bool own = on->meaning->layout[TT_IN] == TT_LAYOUT_OWN;
  int64_t from = own ? first_of(on, rank) : 0, to = own ? first_of(on, rank + 1) : on->total;
  for (int64_t n = from; n < to; n++)
    of->in_at[n - from] = engine_input(on, rank, n);
  memcpy(of->in_before, of->in, sizeof of->in);
}

static inline bool open_rank(engine *on, const tt_plan *plan, int64_t rank) {
  engine_rank *of = &on->rank[rank];
  const tt_meaning *meaning = on->meaning;
  tt_loop_config config = {on->loop, rank};
  tt_link_spec spec = {.ops = tt_loop_ops(),
                       .job_rank = on->job_rank,
                       .rank = rank,
                       .rank_count = on->rank_count,
                       .stream_base = 1,
                       .slot_bytes_minimum = 64};
  tt_run run = {.in = of->in_at,
                .out = of->out_at,
                .in_own = meaning->layout[TT_IN] == TT_LAYOUT_OWN,
                .out_own = meaning->layout[TT_OUT] == TT_LAYOUT_OWN,
                .blocks = {.block_count = meaning->block_count, .total = on->total},
                .type = TUTTI_INT64,
                .op = TUTTI_AVERAGE,
                .call = 1,
                .key = 1};
  tutti_status status = spec.ops->open(&config, NULL, &of->transport);
  spec.transport = of->transport;
  if (status == TUTTI_OK)
    status = tt_link_create(&spec, &of->link);
  if (status == TUTTI_OK)
    status = tt_instance_create(plan, of->link, &of->instance);
  if (status == TUTTI_OK)
    tt_instance_log(of->instance, on->log, NULL);
  return status == TUTTI_OK && tt_instance_start(of->instance, &run) == TUTTI_OK;
}

static inline bool open_all(engine *on, const tt_plan *const *plan, tt_random *random, int slots) {
  tt_loop_options options = {.rank_count = on->rank_count, .slot_bytes = 64u << tt_random_below(random, 4)};
  options.slot_count = slots > 0 ? (size_t)slots : 1 + tt_random_below(random, 3);
  options.seed = tt_random_next(random);
  bool open = tt_loop_create(&options, &on->loop) == TUTTI_OK;
  for (int64_t rank = 0; rank < on->rank_count && open; rank++)
    open = open_rank(on, plan[rank], rank);
  return open;
}

static inline void close_all(engine *on) {
  for (int64_t rank = 0; rank < on->rank_count; rank++) {
    tt_instance_destroy(on->rank[rank].instance);
    tt_link_destroy(on->rank[rank].link);
    tt_loop_ops()->close(on->rank[rank].transport);
  }
  tt_loop_destroy(on->loop);
}

/* Steps ranks in the schedule's order until all are done, one fails, or nothing has moved for long. */
static inline outcome step_all(engine *on) {
  int64_t left = on->rank_count;
  for (int64_t idle = 0; left > 0 && idle < IDLE_ROUNDS * on->rank_count; idle++) {
    engine_rank *of = &on->rank[tt_loop_pick(on->loop, (uint64_t)on->rank_count)];
    bool was_done = of->done, moved = false;
    int64_t peer;
    if (!of->done && tt_instance_step(of->instance, &of->done, &moved, &peer) != TUTTI_OK)
      return WRONG_MESSAGE;
    left -= of->done && !was_done;
    if (moved)
      idle = 0;
  }
  return left > 0 ? STUCK : RIGHT;
}

static inline bool is_average(const engine *on, int64_t value, int64_t index) {
  int64_t sum = 0;
  for (int64_t rank = 0; rank < on->rank_count; rank++)
    sum += engine_input(on, rank, index);
  return value == sum / on->rank_count;
}

static inline bool is_block_right(const engine *on, int64_t rank, int64_t block) {
  int64_t source = 0, begin = first_of(on, block), end = first_of(on, block + 1);
  tt_meaning_kind kind = on->meaning->expect(on->meaning, rank, block, &source);
  bool own = on->meaning->layout[TT_OUT] == TT_LAYOUT_OWN, right = true;
  for (int64_t n = begin; n < end && kind != TT_MEANING_NOTHING; n++) {
    int64_t value = on->rank[rank].out_at[own ? n - begin : n];
    right = right && (kind == TT_MEANING_SUM ? is_average(on, value, n) : value == engine_input(on, source, n));
  }
  return right;
}

/* Whether in is as it was, where it is not out too. */
static inline bool is_in_kept(const engine *on, int64_t rank) {
  const engine_rank *of = &on->rank[rank];
  return on->meaning->in_place || memcmp(of->in, of->in_before, sizeof of->in) == 0;
}

static inline outcome check_all(const engine *on) {
  for (int64_t rank = 0; rank < on->rank_count; rank++) {
    if (!is_in_kept(on, rank))
      return WRONG_ACCESS;
    for (int64_t block = 0; block < on->meaning->block_count; block++)
      if (!is_block_right(on, rank, block))
        return WRONG_VALUE;
  }
  return RIGHT;
}

/* As interpret(); log may be NULL. It needs slots, and does not look at operand order. */
static inline outcome run_on_loop(const tt_meaning *meaning, const tt_plan *const *plan, uint64_t seed, int slots,
                                  tt_access_log log) {
  static engine on;
  tt_random random;
  tt_random_init(&random, seed);
  on.meaning = meaning;
  on.log = log;
  on.loop = NULL;
  on.rank_count = meaning->rank_count;
  on.total = (int64_t)tt_random_below(&random, ELEMENTS);
  for (int64_t rank = 0; rank < on.rank_count; rank++) {
    on.job_rank[rank] = rank;
    on.rank[rank].transport = NULL;
    on.rank[rank].link = NULL;
    on.rank[rank].instance = NULL;
    on.rank[rank].done = false;
    fill_buffers(&on, rank, &random);
  }
  outcome got = open_all(&on, plan, &random, slots) ? step_all(&on) : WRONG_MESSAGE;
  if (got == RIGHT)
    got = check_all(&on);
  close_all(&on);
  return got;
}

#endif

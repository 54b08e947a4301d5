/* tests/mutants/engine.h - runs all ranks' plans with the library's engine on the loop transport, under a random
 * schedule.
 *
 * Where nothing depends on operand order, elements are int64 and averaged, so that a result that is finished twice or
 * never is seen. Else they are functions x -> a x + b, and the operator is a user's. Counts, slots and slices are drawn
 * from the seed. Both buffers have room for every block, so that no access of a wrong plan leaves them. */
#ifndef TEST_MUTANTS_ENGINE_H
#define TEST_MUTANTS_ENGINE_H

#include "bind/bind.h"
#include "exec/exec.h"
#include "interpreter.h"
#include "transport/loop/loop.h"

enum { ELEMENTS = 512, BLOCKS = 64, IDLE_ROUNDS = 400 };

typedef struct function { /* an element of the user's type */
  uint64_t a, b;
} function;

typedef union vector {
  int64_t whole[ELEMENTS];
  function function[ELEMENTS];
} vector;

typedef struct engine_rank {
  void *transport;
  tt_link *link;
  tt_bound_plan *bound;
  tt_instance *instance;
  vector in, out, in_before, out_before; /* in place: in is out */
  bool done;
} engine_rank;

typedef struct engine {
  const tt_meaning *meaning;
  tt_access_log log;
  tt_loop *loop;
  bool ordered;
  int64_t rank_count, total, job_rank[RANKS], count[BLOCKS], offset[BLOCKS];
  engine_rank rank[RANKS];
} engine;

static inline void compose(const void *left, const void *right, void *out, int64_t count, void *user) {
  const function *f = left, *g = right;
  (void)user;
  for (int64_t n = 0; n < count; n++)
    ((function *)out)[n] = (function){f[n].a * g[n].a, f[n].a * g[n].b + f[n].b};
}

static inline void draw_blocks(engine *on, tt_random *random) {
  int64_t blocks = on->meaning->block_count;
  bool even = tt_random_below(random, 2) == 0;
  uint64_t limit = ELEMENTS / (uint64_t)blocks;
  int64_t count = (int64_t)tt_random_below(random, limit);
  on->total = 0;
  for (int64_t block = 0; block < blocks; block++) {
    on->offset[block] = on->total;
    on->count[block] = even ? count : (int64_t)tt_random_below(random, limit);
    on->total += on->count[block];
  }
}

static inline void put_number(const engine *on, vector *to, int64_t at, element value) {
  if (on->ordered)
    to->function[at] = (function){value.a, value.b};
  else
    to->whole[at] = (int64_t)value.sum;
}

static inline bool is_number(const engine *on, const vector *in, int64_t at, element value) {
  return on->ordered ? in->function[at].a == value.a && in->function[at].b == value.b
                     : in->whole[at] == (int64_t)value.sum;
}

static inline vector *in_of(engine_rank *of, bool in_place) { return in_place ? &of->out : &of->in; }

static inline void fill_buffers(engine *on, int64_t rank, tt_random *random) {
  engine_rank *of = &on->rank[rank];
  vector *in = in_of(of, on->meaning->in_place);
  for (size_t n = 0; n < ELEMENTS; n++)
    of->in.whole[n] = of->out.whole[n] = (int64_t)(tt_random_next(random) >> 24);
  for (int64_t block = 0; block < on->meaning->block_count; block++)
    for (int64_t n = 0; n < on->count[block] && on->meaning->has_in(on->meaning, rank, block); n++)
      put_number(on, in, on->offset[block] + n, input_number((uint32_t)rank, (uint32_t)block, (uint32_t)n));
  of->in_before = of->in;
  of->out_before = of->out;
}

static inline tt_run run_of(engine *on, int64_t rank) {
  static const tt_user_op op = {.reduce = compose, .element_bytes = sizeof(function)};
  engine_rank *of = &on->rank[rank];
  return (tt_run){.in = in_of(of, on->meaning->in_place),
                  .out = &of->out,
                  .blocks = {.kind = TT_TABLE_LISTED,
                             .block_count = on->meaning->block_count,
                             .total = on->total,
                             .count = on->count,
                             .known = true,
                             .in_offset = on->offset,
                             .out_offset = on->offset,
                             .mid_offset = on->offset},
                  .type = TUTTI_INT64,
                  .op = TUTTI_AVERAGE,
                  .element_bytes = on->ordered ? (int64_t)sizeof(function) : 0,
                  .user_op = on->ordered ? &op : NULL,
                  .call = 1,
                  .key = 1};
}

static inline bool open_rank(engine *on, const tt_plan *plan, int64_t rank) {
  engine_rank *of = &on->rank[rank];
  tt_loop_config config = {on->loop, rank};
  tt_link_spec spec = {.ops = tt_loop_ops(),
                       .job_rank = on->job_rank,
                       .rank = rank,
                       .ids = TT_LINK_IDS,
                       .rank_count = on->rank_count,
                       .stream_base = 1,
                       .slot_bytes_minimum = 64};
  tt_run run = run_of(on, rank);
  tutti_status status = spec.ops->open(&config, NULL, &of->transport);
  spec.transport = of->transport;
  if (status == TUTTI_OK)
    status = tt_link_create(&spec, &of->link);
  if (status == TUTTI_OK)
    status = tt_bind(plan, &(tt_bind_facts){.blocks = TT_CLASS_STREAMS, .able = TT_MEDIA_LENT}, &of->bound);
  if (status == TUTTI_OK)
    status = tt_instance_create(of->bound, of->link, &of->instance);
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
    tt_bound_plan_destroy(on->rank[rank].bound);
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

static inline bool is_block_right(const engine *on, int64_t rank, int64_t block, const tt_expected *expected) {
  for (int64_t n = 0; n < on->count[block]; n++)
    if (!is_number(on, &on->rank[rank].out, on->offset[block] + n,
                   expected_number(on->meaning, expected, (uint32_t)block, (uint32_t)n)))
      return false;
  return true;
}

static inline bool is_block_kept(const engine *on, const vector *now, const vector *before, int64_t block) {
  size_t size = on->ordered ? sizeof(function) : sizeof(int64_t), at = (size_t)on->offset[block] * size;
  return memcmp((const char *)now + at, (const char *)before + at, (size_t)on->count[block] * size) == 0;
}

static inline outcome check_block(const engine *on, int64_t rank, int64_t block) {
  const engine_rank *of = &on->rank[rank];
  tt_expected expected = on->meaning->expect(on->meaning, rank, block);
  if (!is_block_kept(on, &of->in, &of->in_before, block))
    return WRONG_ACCESS;
  if (expected.kind == TT_MEANING_NOTHING)
    return is_block_kept(on, &of->out, &of->out_before, block) ? RIGHT : WRONG_ACCESS;
  return is_block_right(on, rank, block, &expected) ? RIGHT : WRONG_VALUE;
}

static inline outcome check_all(const engine *on) {
  for (int64_t rank = 0; rank < on->rank_count; rank++)
    for (int64_t block = 0; block < on->meaning->block_count; block++) {
      outcome got = check_block(on, rank, block);
      if (got != RIGHT)
        return got;
    }
  return RIGHT;
}

/* As interpret(); log may be NULL. It needs slots. */
static inline outcome run_on_loop(const tt_meaning *meaning, const tt_plan *const *plan, uint64_t seed, int slots,
                                  bool ordered, tt_access_log log) {
  static engine on;
  tt_random random;
  tt_random_init(&random, seed);
  on.meaning = meaning;
  on.log = log;
  on.loop = NULL;
  on.ordered = ordered;
  on.rank_count = meaning->rank_count;
  draw_blocks(&on, &random);
  for (int64_t rank = 0; rank < on.rank_count; rank++) {
    on.job_rank[rank] = rank;
    on.rank[rank].transport = NULL;
    on.rank[rank].link = NULL;
    on.rank[rank].bound = NULL;
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

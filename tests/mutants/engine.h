/* tests/mutants/engine.h - runs all ranks' plans, or bound plans, with the library's executors on the loop transport,
 * under a random schedule. Whatever may be lent is. A rank's buffers turn to garbage when its run is complete.
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
  tt_stream_table *streams;
  tt_executor *instance;
  tt_executor *direct;                   /* where cells are admitted */
  vector in, out, in_before, out_before; /* in place: in is out */
  vector in_after, out_after;            /* when the run was complete */
  bool done;
} engine_rank;

typedef struct engine {
  const tt_meaning *meaning;
  tt_access_log log;
  tt_loop *loop;
  bool ordered, moves_only;
  const tt_bound_plan *const *bound;
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
                             .known = on->bound[rank]->blocks != TT_CLASS_ENDS,
                             .in_offset = on->offset,
                             .out_offset = on->offset,
                             .mid_offset = on->offset},
                  .type = TUTTI_INT64,
                  .op = TUTTI_AVERAGE,
                  .single_copy = true,
                  .moves_only = on->moves_only,
                  .element_bytes = on->ordered ? (int64_t)sizeof(function) : 0,
                  .user_op = on->ordered ? &op : NULL,
                  .call = 1,
                  .key = 1};
}

static inline bool start_rank(engine *on, int64_t rank) {
  engine_rank *of = &on->rank[rank];
  tt_run run = run_of(on, rank);
  const tt_bound_plan *bound = on->bound[rank];
  if (bound->blocks != TT_CLASS_STREAMS)
    return tt_executor_create(bound, of->streams, &of->direct) == TUTTI_OK &&
           of->direct->ops->start(of->direct, &run) == TUTTI_OK;
  if (tt_executor_create(bound, of->streams, &of->instance) != TUTTI_OK)
    return false;
  tt_executor_log(of->instance, on->log, NULL);
  return of->instance->ops->start(of->instance, &run) == TUTTI_OK;
}

static inline bool open_rank(engine *on, int64_t rank) {
  engine_rank *of = &on->rank[rank];
  tt_loop_config config = {on->loop, rank};
  tt_stream_table_spec spec = {.ops = tt_loop_ops(),
                               .job_rank = on->job_rank,
                               .rank = rank,
                               .ids = TT_STREAM_TABLE_IDS,
                               .rank_count = on->rank_count,
                               .stream_base = 1,
                               .thresholds = {.lend = 1},
                               .slot_bytes_minimum = 64};
  tutti_status status = spec.ops->open(&config, NULL, &of->transport);
  spec.transport = of->transport;
  if (status == TUTTI_OK)
    status = tt_stream_table_create(&spec, &of->streams);
  return status == TUTTI_OK && start_rank(on, rank);
}

static inline bool open_all(engine *on, tt_random *random, int slots) {
  tt_loop_options options = {.rank_count = on->rank_count, .slot_bytes = 64u << tt_random_below(random, 4)};
  options.slot_count = slots > 0 ? (size_t)slots : 1 + tt_random_below(random, 3);
  options.seed = tt_random_next(random);
  bool open = tt_loop_create(&options, &on->loop) == TUTTI_OK;
  for (int64_t rank = 0; rank < on->rank_count && open; rank++)
    open = open_rank(on, rank);
  return open;
}

static inline void close_all(engine *on) {
  for (int64_t rank = 0; rank < on->rank_count; rank++) {
    tt_executor_destroy(on->rank[rank].instance);
    tt_executor_destroy(on->rank[rank].direct);
    tt_stream_table_destroy(on->rank[rank].streams);
    tt_loop_ops()->close(on->rank[rank].transport);
  }
  tt_loop_destroy(on->loop);
}

/* The rank's memory is its owner's again. */
static inline void end_rank(engine_rank *of) {
  of->in_after = of->in;
  of->out_after = of->out;
  memset(&of->in, 0x5a, sizeof of->in);
  memset(&of->out, 0x5a, sizeof of->out);
}

static inline tutti_status step_rank_on_loop(engine_rank *of, bool *moved) {
  int64_t peer;
  return of->direct ? of->direct->ops->step(of->direct, &of->done, moved, &peer)
                    : of->instance->ops->step(of->instance, &of->done, moved, &peer);
}

/* Steps ranks in the schedule's order until all are done, one fails, or nothing has moved for long. */
static inline outcome step_all(engine *on) {
  int64_t left = on->rank_count;
  for (int64_t idle = 0; left > 0 && idle < IDLE_ROUNDS * on->rank_count; idle++) {
    engine_rank *of = &on->rank[tt_loop_pick(on->loop, (uint64_t)on->rank_count)];
    bool was_done = of->done, moved = false;
    if (!of->done && step_rank_on_loop(of, &moved) != TUTTI_OK)
      return WRONG_MESSAGE;
    left -= of->done && !was_done;
    if (of->done && !was_done)
      end_rank(of);
    if (moved)
      idle = 0;
  }
  return left > 0 ? STUCK : RIGHT;
}

static inline bool is_block_right(const engine *on, int64_t rank, int64_t block, const tt_expected *expected) {
  for (int64_t n = 0; n < on->count[block]; n++)
    if (!is_number(on, &on->rank[rank].out_after, on->offset[block] + n,
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
  if (!is_block_kept(on, &of->in_after, &of->in_before, block))
    return WRONG_ACCESS;
  if (expected.kind == TT_MEANING_NOTHING)
    return is_block_kept(on, &of->out_after, &of->out_before, block) ? RIGHT : WRONG_ACCESS;
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

static inline bool moves_only(const tt_bound_plan *const *bound, int64_t rank_count) {
  for (int64_t rank = 0; rank < rank_count; rank++)
    for (uint32_t n = 0; n < bound[rank]->list->step_count; n++)
      if (tt_plan_step_combines(&bound[rank]->list->step[n]))
        return false;
  return true;
}

/* As interpret_bound(); log may be NULL. It needs slots. */
static inline outcome run_bound_on_loop(const tt_meaning *meaning, const tt_bound_plan *const *bound, uint64_t seed,
                                        int slots, bool ordered, tt_access_log log) {
  static engine on;
  tt_random random;
  tt_random_init(&random, seed);
  on.meaning = meaning;
  on.bound = bound;
  on.moves_only = moves_only(bound, meaning->rank_count);
  on.log = log;
  on.loop = NULL;
  on.ordered = ordered;
  on.rank_count = meaning->rank_count;
  draw_blocks(&on, &random);
  for (int64_t rank = 0; rank < on.rank_count; rank++) {
    on.job_rank[rank] = rank;
    on.rank[rank].transport = NULL;
    on.rank[rank].streams = NULL;
    on.rank[rank].direct = NULL;
    on.rank[rank].instance = NULL;
    on.rank[rank].done = false;
    fill_buffers(&on, rank, &random);
  }
  outcome got = open_all(&on, &random, slots) ? step_all(&on) : WRONG_MESSAGE;
  if (got == RIGHT)
    got = check_all(&on);
  close_all(&on);
  return got;
}

/* As interpret(); the plans are bound to streams, in which all that may be is lent. */
static inline outcome run_on_loop(const tt_meaning *meaning, const tt_plan *const *plan, uint64_t seed, int slots,
                                  bool ordered, tt_access_log log) {
  tt_bound_plan *bound[RANKS] = {NULL};
  const tt_bind_facts facts = {.blocks = TT_CLASS_STREAMS, .able = TT_MEDIA_LENT};
  bool made = true;
  for (int64_t rank = 0; rank < meaning->rank_count; rank++)
    made = made && tt_bind(plan[rank], &facts, &bound[rank]) == TUTTI_OK;
  outcome got = WRONG_MESSAGE;
  if (made)
    got = run_bound_on_loop(meaning, (const tt_bound_plan *const *)bound, seed, slots, ordered, log);
  for (int64_t rank = 0; rank < meaning->rank_count; rank++)
    tt_bound_plan_destroy(bound[rank]);
  return got;
}

#endif

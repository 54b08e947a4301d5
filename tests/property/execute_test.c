/* tests/property/execute_test.c - any collective, form, topology and parameters, composed, lowered, proven and run.
 *
 * All ranks run inside one process under a random schedule, several calls in a row on one communicator's streams, by
 * the interpreter and, where the plan allows it, by the direct executor. Results are compared with the definition of
 * the collective. A failure prints its seed; EXECUTE_SEED=N runs that one alone. */
#include "compose/compose.h"
#include "exec/testing.h"
#include "lower/lower.h"
#include "verify/verify.h"

#include <inttypes.h>

enum { CASES = 1500, CALLS = 3, GUARD = 64, FEW_RANKS = 16, SCHEDULES = 200, SCHEDULES_LONG = 1000 };

typedef struct property {
  uint64_t seed;
  tt_random random;
  tt_problem problem;
  const char *form;
  char params[256], map[256];
  size_t slot_bytes, slot_count;
  tt_composition composition;
  bool direct_fits;
  tt_direct *direct[TEST_RANKS];
  test_job job;
} property;

typedef struct call {
  bool direct;
  int64_t total;
  tutti_type type;
  tutti_op op;
  unsigned char *memory[TEST_RANKS][2]; /* in, out; in place: one of them for both */
  unsigned char *in[TEST_RANKS], *out[TEST_RANKS];
} call;

static uint64_t below(property *at, uint64_t limit) { return tt_random_below(&at->random, limit); }

/* ---- a random case ---- */

static void add_level(property *at, const char *name) {
  static const char *const shape[] = {"star", "chain", "2-nomial", "3-nomial", "2-ary", "3-ary"};
  static const char *const labelling[] = {"", ",xor"}, *const order[] = {"", ",far"};
  size_t used = strlen(at->params);
  snprintf(at->params + used, sizeof at->params - used, "%s%s:%s%s%s", at->params[used - 1] == '[' ? "" : "/", name,
           shape[below(at, TT_COUNT(shape))], labelling[below(at, 2)], order[below(at, 2)]);
}

static void random_params(property *at, bool nodes) {
  static const int slices[] = {0, 64, 192, 1024};
  strcpy(at->params, "[");
  if (nodes && below(at, 3))
    add_level(at, "node");
  add_level(at, "core");
  size_t used = strlen(at->params);
  snprintf(at->params + used, sizeof at->params - used, "] stripe=%d channels=%d slice=%d%s", (int)below(at, 3),
           below(at, 2) ? 1 : 1 + (int)below(at, 3), slices[below(at, TT_COUNT(slices))],
           below(at, 4) ? "" : " ring=1");
}

/* ranks 0: any number, of any collective. */
static void random_case(property *at, uint64_t seed, int64_t ranks, tt_collective collective) {
  memset(at, 0, sizeof *at);
  at->seed = seed;
  tt_random_init(&at->random, seed);
  at->problem.collective = ranks ? collective : (tt_collective)below(at, TT_COLLECTIVE_COUNT);
  tt_collective_info info = tt_compose_info(at->problem.collective);
  at->form = info.form[below(at, (uint64_t)info.form_count)];
  at->problem.rank_count = ranks ? ranks : 1 + (int64_t)below(at, FEW_RANKS);
  at->problem.root = info.has_root ? (int64_t)below(at, (uint64_t)at->problem.rank_count) : 0;
  at->problem.in_place = below(at, 2);
  bool nodes = below(at, 2);
  snprintf(at->map, sizeof at->map, below(at, 2) ? "cyclic:%d" : "by %d", 1 + (int)below(at, 5));
  if (!nodes)
    strcpy(at->map, "flat");
  random_params(at, nodes);
  at->slot_bytes = (size_t)64 << below(at, 6);
  at->slot_count = 1 + below(at, 3);
}

static void describe(const property *at, const call *of, const char *what, int64_t rank, int64_t index) {
  print_error(
      "EXECUTE_SEED=%" PRIu64 ": %s form=%s ranks %" PRId64 " root %" PRId64 "%s map %s params %s slots %zu x %zu",
      at->seed, tt_compose_info(at->problem.collective).name, at->form, at->problem.rank_count, at->problem.root,
      at->problem.in_place ? " in place" : "", at->map, at->params, at->slot_count, at->slot_bytes);
  if (of)
    print_error(" total %" PRId64 " %s %s%s", of->total, tutti_type_name(of->type), tutti_op_name(of->op),
                of->direct ? " direct" : "");
  print_error(": %s, rank %" PRId64 " element %" PRId64 "\n", what, rank, index);
}

static void must(const property *at, tutti_status status) {
  if (status == TUTTI_OK)
    return;
  describe(at, NULL, tutti_last_error(), -1, -1);
  fail();
}

/* ---- plans ---- */

static tt_topo *make_topo(const property *at, tt_arena *arena) {
  int64_t group[TEST_RANKS], size = 0;
  tt_topo *topo = tt_topo_flat(arena, at->problem.rank_count);
  assert_non_null(topo);
  topo->level[0].publish = true;
  if (strcmp(at->map, "flat") == 0)
    return topo;
  bool cyclic = sscanf(at->map, "cyclic:%" SCNd64, &size) == 1;
  if (!cyclic)
    assert_int_equal(sscanf(at->map, "by %" SCNd64, &size), 1);
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++)
    group[rank] = cyclic ? rank % size : rank / size;
  must(at, tt_topo_add(topo, arena, "node", group));
  return topo;
}

static void prove(const property *at) {
  tt_meaning meaning;
  must(at, tt_verify_meaning(tt_compose_info(at->problem.collective).name, at->problem.rank_count,
                             at->composition.block_count, at->problem.root, at->problem.in_place, &meaning));
  must(at, tt_verify(&meaning, (const tt_plan *const *)at->job.plan));
}

static void make_plans(property *at, tt_arena *arena) {
  tt_params params;
  tt_lowering *lowering;
  must(at, tt_params_parse(at->params, &params));
  must(at, tt_compose(&at->problem, at->form, &at->composition));
  must(at, tt_lowering_create(&at->composition, make_topo(at, arena), &params, &lowering));
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++)
    must(at, tt_lower_rank(lowering, rank, &at->job.plan[rank]));
  tt_lowering_destroy(lowering);
  prove(at);
}

static void open_case(property *at) {
  tt_arena arena;
  tt_arena_init(&arena);
  tt_loop_options options = {at->problem.rank_count, at->slot_bytes, at->slot_count, false, at->seed};
  test_job_open(&at->job, &options, at->slot_bytes);
  make_plans(at, &arena);
  tt_arena_finish(&arena);
  at->direct_fits = tt_direct_fits(at->job.plan[0], 0);
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++) {
    must(at, tt_instance_create(at->job.plan[rank], at->job.link[rank], &at->job.instance[rank]));
    if (at->direct_fits)
      must(at, tt_direct_create(at->job.plan[rank], at->job.link[rank], &at->direct[rank]));
  }
}

static void close_case(property *at) {
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++)
    tt_direct_destroy(at->direct[rank]);
  test_job_close(&at->job);
}

/* ---- a call ---- */

static bool is_own(const property *at, int side) { return at->composition.layout[side] == TT_LAYOUT_OWN; }

/* First element of the rank's own block, or of the one after it. */
static int64_t own_begin(const property *at, const call *of, int64_t rank) {
  int64_t base = of->total / at->composition.block_count, extra = of->total % at->composition.block_count;
  return rank * base + (rank < extra ? rank : extra);
}

static size_t bytes_of(const call *of) { return (size_t)of->total * tutti_type_size(of->type); }

static void place_buffers(const property *at, call *of, int64_t rank) {
  size_t before = (size_t)own_begin(at, of, rank) * tutti_type_size(of->type);
  of->in[rank] = of->memory[rank][0];
  of->out[rank] = of->memory[rank][1];
  if (at->problem.in_place && is_own(at, TT_OUT))
    of->out[rank] = of->in[rank] + before;
  else if (at->problem.in_place)
    of->in[rank] = of->out[rank] + (is_own(at, TT_IN) ? before : 0);
}

static int64_t scale_of(const property *at, const call *of) {
  return tt_compose_info(at->problem.collective).reduces ? test_scale(of->op, at->problem.rank_count) : 1;
}

static void fill(const property *at, const call *of, int64_t rank) {
  int64_t begin = is_own(at, TT_IN) ? own_begin(at, of, rank) : 0;
  int64_t end = is_own(at, TT_IN) ? own_begin(at, of, rank + 1) : of->total;
  if (at->problem.collective == TT_BROADCAST && rank != at->problem.root)
    end = begin;
  for (int64_t n = begin; n < end; n++)
    test_put(of->type, of->in[rank], n - begin, test_value(rank, n, scale_of(at, of)));
}

static void make_call(property *at, call *of) {
  static const tutti_type types[] = {TUTTI_FLOAT32, TUTTI_FLOAT64, TUTTI_INT32, TUTTI_INT64};
  static const int64_t totals[] = {0, 1, 3, 15, 64, 300, 2000, 7000};
  memset(of, 0, sizeof *of);
  of->type = types[below(at, TT_COUNT(types))];
  of->op = (tutti_op)below(at, TUTTI_OP_COUNT);
  if (of->op == TUTTI_PRODUCT && at->problem.rank_count > FEW_RANKS)
    of->op = TUTTI_SUM; /* products of so many are not exact */
  of->total = totals[below(at, at->problem.rank_count > FEW_RANKS ? 6 : TT_COUNT(totals))];
  of->direct = at->direct_fits && below(at, 2) && tt_direct_fits(at->job.plan[0], (int64_t)bytes_of(of));
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++) {
    for (int side = 0; side < 2; side++) {
      of->memory[rank][side] = malloc(bytes_of(of) + GUARD);
      assert_non_null(of->memory[rank][side]);
      memset(of->memory[rank][side], 0x5A, bytes_of(of) + GUARD);
    }
    place_buffers(at, of, rank);
    fill(at, of, rank);
  }
}

static void free_call(const property *at, const call *of) {
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++)
    for (int side = 0; side < 2; side++)
      free(of->memory[rank][side]);
}

static void start(property *at, const call *of, int64_t rank, uint64_t number) {
  tt_run run = {.in = of->in[rank],
                .out = of->out[rank],
                .in_own = is_own(at, TT_IN),
                .out_own = is_own(at, TT_OUT),
                .blocks = {.block_count = at->composition.block_count, .total = of->total},
                .type = of->type,
                .op = of->op,
                .call = number,
                .key = 11};
  must(at, of->direct ? tt_direct_start(at->direct[rank], &run) : tt_instance_start(at->job.instance[rank], &run));
}

static bool step(property *at, const call *of, int64_t rank, bool *moved) {
  bool done = false;
  int64_t peer = -1;
  must(at, of->direct ? tt_direct_step(at->direct[rank], &done, moved, &peer)
                      : tt_instance_step(at->job.instance[rank], &done, moved, &peer));
  return done;
}

/* ---- results: what the collective is, from its definition ---- */

static double expected(const property *at, const call *of, int64_t index) {
  if (tt_compose_info(at->problem.collective).reduces)
    return test_combined(of->op, at->problem.rank_count, index, scale_of(at, of));
  int64_t source = at->problem.root;
  for (int64_t rank = 0; at->problem.collective == TT_ALLGATHER && rank < at->problem.rank_count; rank++)
    if (index >= own_begin(at, of, rank))
      source = rank;
  return test_value(source, index, 1);
}

static void check(const property *at, const call *of, int64_t rank) {
  int64_t begin = is_own(at, TT_OUT) ? own_begin(at, of, rank) : 0;
  int64_t end = is_own(at, TT_OUT) ? own_begin(at, of, rank + 1) : of->total;
  for (int64_t n = begin; n < end; n++)
    if (test_get(of->type, of->out[rank], n - begin) != expected(at, of, n)) {
      describe(at, of, "wrong value", rank, n);
      fail();
    }
  for (size_t n = 0; n < GUARD; n++)
    assert_int_equal(of->memory[rank][0][bytes_of(of) + n] & of->memory[rank][1][bytes_of(of) + n], 0x5A);
}

/* ---- the schedule ---- */

/* Every rank makes the calls in order, each at its own pace. */
static void run_calls(property *at, const call *calls) {
  int number[TEST_RANKS] = {0};
  int64_t ranks = at->problem.rank_count, left = ranks;
  for (int64_t rank = 0; rank < ranks; rank++)
    start(at, &calls[0], rank, 1);
  for (int64_t idle = 0; left > 0; idle++) {
    int64_t rank = (int64_t)tt_loop_pick(at->job.loop, (uint64_t)ranks);
    const call *of = &calls[number[rank]];
    bool moved = false;
    if (idle > 3000 * ranks) {
      describe(at, of, "stuck", rank, -1);
      fail();
    }
    if (number[rank] < CALLS && step(at, of, rank, &moved)) {
      check(at, of, rank);
      moved = true;
      if (++number[rank] < CALLS)
        start(at, of + 1, rank, (uint64_t)number[rank] + 1);
      else
        left--;
    }
    idle = moved ? 0 : idle;
  }
}

static void run_case(uint64_t seed, int64_t ranks, tt_collective collective) {
  static property at;
  static call calls[CALLS + 1];
  random_case(&at, seed, ranks, collective);
  open_case(&at);
  for (int n = 0; n < CALLS; n++)
    make_call(&at, &calls[n]);
  calls[CALLS] = calls[0];
  run_calls(&at, calls);
  for (int n = 0; n < CALLS; n++)
    free_call(&at, &calls[n]);
  close_case(&at);
}

static void test_what_is_proven_runs_right_under_random_schedules(void **state) {
  (void)state;
  const char *only = getenv("EXECUTE_SEED");
  if (only)
    run_case(strtoull(only, NULL, 10), 0, TT_COLLECTIVE_COUNT);
  for (uint64_t seed = 0; seed < CASES && !only; seed++)
    run_case(seed, 0, TT_COLLECTIVE_COUNT);
}

static void test_64_ranks_of_every_collective_under_many_schedules(void **state) {
  (void)state;
  uint64_t schedules = getenv("TUTTI_TEST_LONG") ? SCHEDULES_LONG : SCHEDULES;
  for (int collective = 0; collective < TT_COLLECTIVE_COUNT; collective++)
    for (uint64_t seed = 0; seed < schedules; seed++)
      run_case(seed, 64, (tt_collective)collective);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_proven_runs_right_under_random_schedules),
      cmocka_unit_test(test_64_ranks_of_every_collective_under_many_schedules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/property/execute_test.c - any collective, form, topology and parameters, and any composition: composed,
 * lowered, proven and run.
 *
 * All ranks run inside one process under a random schedule, several calls in a row on one communicator's streams, by
 * the interpreter and, where the plan allows it, by the direct executor. Results are compared with the definition of
 * the collective. A failure prints its seed; EXECUTE_SEED=N runs that one alone. */
#include "buffers.h"

#include "../../tools/verify/random.h"
#include "support/question.h"
#include "support/sanitized.h"
#include "support/sent.h"
#include "tune/tune.h"

#include <inttypes.h>

enum { CASES = 20000, MOVES = 20000, CALLS = 3, FEW_RANKS = 16, SCHEDULES = 1000, TURNS = 10 };

typedef struct property {
  uint64_t seed;
  tt_random random;
  tt_arena arena;
  bool collective; /* else any composition */
  bool moves;      /* one stage of multicasts, by a direct plan */
  tt_problem problem;
  const char *form;
  char params[512], map[256];
  size_t slot_bytes, slot_count;
  tt_graph graph;
  tt_composition composition;
  tt_question question;
  tt_meaning meaning;
  tt_executor *direct[TT_CLASS_STREAMS][TEST_RANKS];   /* by class */
  tt_sent_range foreseen[TEST_RANKS][TT_MEDIUM_COUNT]; /* of all runs so far */
  test_job job;
} property;

static uint64_t below(property *at, uint64_t limit) { return tt_random_below(&at->random, limit); }

/* ---- a random case ---- */

static void random_params(property *at, bool nodes) {
  static const char *const names[] = {"node"};
  const tt_drawing drawing = {.collective = at->collective ? at->problem.collective : TT_COLLECTIVE_COUNT,
                              .level = names,
                              .level_count = nodes,
                              .slot_bytes = (int64_t)at->slot_bytes};
  tt_params params;
  tt_params_draw(&drawing, &at->random, &params);
  at->form = at->collective ? tt_compose_form(at->problem.collective, params.form) : "";
  params.form[0] = '\0';
  tt_params_print(&params, at->params, sizeof at->params);
}

/* ranks 0: any number, of anything. */
static void random_case(property *at, uint64_t seed, int64_t ranks, tt_collective collective) {
  memset(at, 0, sizeof *at);
  at->seed = seed;
  tt_random_init(&at->random, seed);
  tt_arena_init(&at->arena);
  at->collective = ranks || below(at, 4);
  at->problem.collective = ranks ? collective : (tt_collective)below(at, TT_COLLECTIVE_COUNT);
  tt_collective_info info = tt_compose_info(at->problem.collective);
  at->problem.rank_count = ranks ? ranks : 1 + (int64_t)below(at, FEW_RANKS);
  at->problem.root = info.has_root ? (int64_t)below(at, (uint64_t)at->problem.rank_count) : 0;
  at->problem.in_place = below(at, 2) && (!at->collective || (!info.has_graph && info.in != TT_LAYOUT_ROW));
  at->problem.ordered = below(at, 2);
  bool nodes = below(at, 2);
  snprintf(at->map, sizeof at->map, below(at, 2) ? "cyclic:%d" : "by %d", 1 + (int)below(at, 5));
  if (!nodes)
    strcpy(at->map, "flat");
  at->slot_bytes = (size_t)64 << below(at, 6);
  random_params(at, nodes);
  at->slot_count = 1 + below(at, 3);
}

static void describe(const property *at, const call *of, const char *what, int64_t rank, int64_t index) {
  print_error("EXECUTE_SEED=%" PRIu64 ": %s form=%s ranks %" PRId64 " root %" PRId64
              "%s%s map %s params %s slots %zu x %zu",
              at->seed, at->collective ? tt_compose_info(at->problem.collective).name : "composition", at->form,
              at->problem.rank_count, at->problem.root, at->problem.in_place ? " in place" : "",
              at->problem.ordered ? " ordered" : "", at->map, at->params, at->slot_count, at->slot_bytes);
  if (of)
    print_error(" total %" PRId64 " %s %s%s%s", of->total, of->element_bytes ? "maps" : tutti_type_name(of->type),
                tutti_op_name(of->op), of->blocks < TT_CLASS_STREAMS ? " direct" : "", of->unknown ? " unknown" : "");
  print_error(": %s, rank %" PRId64 " element %" PRId64 "\n", what, rank, index);
}

static void must(const property *at, tutti_status status) {
  if (status == TUTTI_OK)
    return;
  describe(at, NULL, tutti_last_error(), -1, -1);
  fail();
}

/* ---- plans ---- */

static tt_topo *make_topo(property *at) {
  int64_t group[TEST_RANKS], size = 0;
  tt_topo *topo = tt_topo_flat(&at->arena, at->problem.rank_count);
  assert_non_null(topo);
  topo->level[0].publish = true;
  if (strcmp(at->map, "flat") == 0)
    return topo;
  bool cyclic = sscanf(at->map, "cyclic:%" SCNd64, &size) == 1;
  if (!cyclic)
    assert_int_equal(sscanf(at->map, "by %" SCNd64, &size), 1);
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++)
    group[rank] = cyclic ? rank % size : rank / size;
  must(at, tt_topo_add(topo, &at->arena, "node", group));
  return topo;
}

static void compose(property *at, const tt_params *params, const tt_topo *topo) {
  if (at->moves) {
    random_moves(&at->random, at->problem.rank_count, at->problem.in_place, &at->arena, &at->composition);
    must(at, tt_verify_primitives(&at->composition, &at->arena, &at->meaning));
    return;
  }
  if (!at->collective) {
    random_composition(&at->random, at->problem.rank_count, at->problem.in_place, at->problem.ordered, &at->arena,
                       &at->composition);
    must(at, tt_verify_primitives(&at->composition, &at->arena, &at->meaning));
    return;
  }
  if (tt_compose_info(at->problem.collective).has_graph) {
    must(at, random_graph(&at->random, at->problem.rank_count, &at->arena, &at->graph));
    at->problem.graph = &at->graph;
  }
  must(at, tt_task_compose(&at->problem, params, topo, &at->arena, &at->composition));
  at->question = question_of(&at->problem, &at->composition);
  must(at, tt_verify_meaning(&at->question, &at->meaning));
}

/* False where the parameters do not fit. */
static bool make_plans(property *at) {
  tt_params params;
  tt_lowering *lowering;
  must(at, tt_params_parse(at->params, &params));
  snprintf(params.form, sizeof params.form, "%s", at->form);
  tt_topo *topo = make_topo(at);
  compose(at, &params, topo);
  if (tt_lowering_create(&at->composition, topo, &params, &lowering) != TUTTI_OK)
    return false;
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++)
    must(at, tt_lower_rank(lowering, rank, &at->job.plan[rank]));
  tt_lowering_destroy(lowering);
  must(at, tt_verify(&at->meaning, (const tt_plan *const *)at->job.plan));
  return true;
}

static void prove_bound(property *at, tt_class blocks) {
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++)
    test_job_bound(&at->job, rank, blocks);
  const tt_bound_plan *bound[TEST_RANKS];
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++)
    bound[rank] = at->job.bound[rank][blocks];
  must(at, tt_verify_bound(&at->meaning, (const tt_plan *const *)at->job.plan, bound));
}

static bool open_case(property *at) {
  tt_loop_options options = {at->problem.rank_count, at->slot_bytes, at->slot_count, false, at->seed};
  test_job_open(&at->job, &options, at->slot_bytes);
  if (!make_plans(at))
    return false;
  for (int n = 0; n < TT_CLASS_COUNT; n++)
    if (n == TT_CLASS_STREAMS || at->job.plan[0]->direct)
      prove_bound(at, (tt_class)n);
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++) {
    test_job_instance(&at->job, rank);
    for (int n = 0; n < TT_CLASS_STREAMS && at->job.plan[0]->direct; n++)
      test_job_direct(&at->job, rank, (tt_class)n, &at->direct[n][rank]);
  }
  return true;
}

static void close_case(property *at) {
  for (int64_t rank = 0; rank < at->problem.rank_count; rank++)
    for (int n = 0; n < TT_CLASS_STREAMS; n++)
      tt_executor_destroy(at->direct[n][rank]);
  test_job_close(&at->job);
  tt_arena_finish(&at->arena);
}

/* ---- a call ---- */

static bool moves_only(const tt_composition *of) {
  for (int s = 0; s < of->stage_count; s++)
    for (int n = 0; n < of->stage[s].family_count; n++)
      if (tt_ir_family(&of->stage[s], n)->primitive == TT_REDUCTION)
        return false;
  return true;
}

/* Blocks whose lengths not all ranks know are not forwarded: only direct plans take squares of any lengths. */
static void choose_table(property *at, call *of) {
  tt_layout layout = at->composition.layout[TT_IN];
  of->even = true;
  if (layout == TT_LAYOUT_ROW) {
    of->table = TT_TABLE_SQUARE;
    of->even = !at->job.plan[0]->direct || below(at, 2);
  } else {
    of->table = layout == TT_LAYOUT_TOUCHED || below(at, 3) == 0 ? TT_TABLE_LISTED : TT_TABLE_SPLIT;
    of->unknown = of->moves_only && of->table == TT_TABLE_LISTED && below(at, 2);
  }
}

static void choose_operator(property *at, call *of) {
  static const tutti_type types[] = {TUTTI_FLOAT32, TUTTI_FLOAT64, TUTTI_INT32, TUTTI_INT64};
  static const int64_t sizes[] = {3, 8, 16, 24};
  of->type = types[below(at, TT_COUNT(types))];
  of->op = (tutti_op)below(at, TEST_OPS);
  bool far = at->problem.rank_count > FEW_RANKS; /* products of so many are not exact */
  if ((of->op == TUTTI_PRODUCT && far) || (of->op == TUTTI_AVERAGE && at->meaning.sum_count > 0))
    of->op = TUTTI_SUM; /* nor are averages of averages */
  if (at->problem.ordered) {
    of->element_bytes = sizes[below(at, TT_COUNT(sizes))];
    of->op = TUTTI_SUM;
    of->maps = (test_maps){.bytes = of->element_bytes};
    of->user_op = (tt_user_op){.reduce = test_compose, .user = &of->maps, .element_bytes = (size_t)of->element_bytes};
  }
}

static void make_call(property *at, call *of) {
  static const int64_t totals[] = {0, 1, 3, 15, 64, 300, 2000, 7000};
  memset(of, 0, offsetof(call, count));
  of->meaning = &at->meaning;
  of->composition = &at->composition;
  of->moves_only = moves_only(&at->composition);
  choose_table(at, of);
  choose_operator(at, of);
  int64_t total = totals[below(at, at->problem.rank_count > FEW_RANKS ? 6 : TT_COUNT(totals))];
  call_lengths(of, &at->random, of->table == TT_TABLE_SQUARE ? 8 * total : total, of->table != TT_TABLE_SPLIT);
  of->transport = below(at, 2) ? at->job.transport[0] : NULL;
  open_call(of);
  tt_run run = run_of(of, 0, 1);
  of->single_copy = below(at, 2);
  of->blocks = below(at, 2) ? tt_run_class(at->job.plan[0], &run) : TT_CLASS_STREAMS;
}

static void foresee(property *at, const call *of, int64_t rank, const tt_run *run) {
  const tt_bound_plan *bound = at->job.bound[rank][of->blocks];
  tt_forecast_facts facts = {.slot_bytes = (int64_t)at->slot_bytes,
                             .thresholds = TEST_THRESHOLDS,
                             .shared = {of->transport != NULL, of->transport != NULL}};
  size_t count = (size_t)bound->list->lane_count * TT_MEDIUM_COUNT;
  tt_sent_range *by_lane = calloc(count + 1, sizeof *by_lane);
  assert_non_null(by_lane);
  must(at, tt_forecast(bound, run, &facts, by_lane));
  for (size_t n = 0; n < count; n++)
    tt_sent_range_add(&at->foreseen[rank][n % TT_MEDIUM_COUNT], &by_lane[n]);
  free(by_lane);
}

static void check_sent(const property *at, const call *of, int64_t rank) {
  tt_sent sent[TT_MEDIUM_COUNT];
  int64_t all = 0, foreseen = 0;
  tt_stream_table_sent(at->job.streams[rank], sent);
  for (int n = 0; n < TT_MEDIUM_COUNT; n++) {
    all += sent[n].bytes;
    foreseen += at->foreseen[rank][n].least.bytes;
    if (sent_lies_between(&sent[n], &at->foreseen[rank][n]))
      continue;
    sent_print(n, &sent[n], &at->foreseen[rank][n]);
    describe(at, of, "sent otherwise than foreseen", rank, -1);
    fail();
  }
  if (all < foreseen) {
    describe(at, of, "less sent than foreseen", rank, -1);
    fail();
  }
}

static void start(property *at, call *of, int64_t rank, uint64_t number) {
  tt_run run = run_of(of, rank, number);
  foresee(at, of, rank, &run);
  must(at, of->blocks < TT_CLASS_STREAMS ? at->direct[of->blocks][rank]->ops->start(at->direct[of->blocks][rank], &run)
                                         : at->job.instance[rank]->ops->start(at->job.instance[rank], &run));
}

static bool step(property *at, const call *of, int64_t rank, bool *moved) {
  bool done = false;
  int64_t peer = -1;
  must(at, of->blocks < TT_CLASS_STREAMS
               ? at->direct[of->blocks][rank]->ops->step(at->direct[of->blocks][rank], &done, moved, &peer)
               : at->job.instance[rank]->ops->step(at->job.instance[rank], &done, moved, &peer));
  return done;
}

static void check(const property *at, call *of, int64_t rank) {
  for (int64_t block = 0; block < at->meaning.block_count; block++) {
    int64_t wrong = find_wrong(of, rank, block);
    if (wrong >= 0) {
      describe(at, of, "wrong value", rank, of->first[block] + wrong);
      fail();
    }
  }
  if (!is_rest_kept(of, rank)) {
    describe(at, of, "written outside the blocks", rank, -1);
    fail();
  }
}

/* ---- the schedule ---- */

/* Every rank makes the calls in order, each at its own pace. */
static void run_calls(property *at, call *calls) {
  int number[TEST_RANKS] = {0};
  int64_t ranks = at->problem.rank_count, left = ranks;
  for (int64_t rank = 0; rank < ranks; rank++)
    start(at, &calls[0], rank, 1);
  for (int64_t idle = 0; left > 0; idle++) {
    int64_t rank = (int64_t)tt_loop_pick(at->job.loop, (uint64_t)ranks);
    call *of = &calls[number[rank]];
    bool moved = false;
    if (idle > 3000 * ranks) {
      describe(at, of, "stuck", rank, -1);
      fail();
    }
    if (number[rank] < CALLS && step(at, of, rank, &moved)) {
      check(at, of, rank);
      moved = true;
      check_sent(at, of, rank);
      if (++number[rank] < CALLS)
        start(at, of + 1, rank, (uint64_t)number[rank] + 1);
      else
        left--;
    }
    idle = moved ? 0 : idle;
  }
}

/* False where what the case is does not fit together. turns: schedules, each with calls of its own. */
static bool run_all(property *at, int turns) {
  static call calls[CALLS + 1];
  bool fits = open_case(at);
  for (int turn = 0; turn < turns && fits; turn++) {
    for (int n = 0; n < CALLS; n++)
      make_call(at, &calls[n]);
    run_calls(at, calls);
    for (int n = 0; n < CALLS; n++)
      close_call(&calls[n]);
  }
  close_case(at);
  return fits;
}

static bool run_case(uint64_t seed, int64_t ranks, tt_collective collective, int turns) {
  static property at;
  random_case(&at, seed, ranks, collective);
  return run_all(&at, turns);
}

static bool run_moves(uint64_t seed) {
  static property at;
  random_case(&at, seed, 0, TT_COLLECTIVE_COUNT);
  at.collective = at.problem.ordered = false;
  at.moves = true;
  at.problem.in_place = below(&at, 4) > 0;
  strcpy(at.map, "flat");
  snprintf(at.params, sizeof at.params, "[core:star] slice=%d", below(&at, 2) ? 0 : 192);
  return run_all(&at, TURNS);
}

/* One form of a reduction by one preset, on nodes of four ranks, with an operator that does not commute. */
static bool run_ordered(tt_collective collective, const char *form, const tt_preset *preset, int64_t ranks) {
  static property at;
  tt_params params;
  assert_int_equal(tt_params_parse(preset->text, &params), TUTTI_OK);
  const char *own = params.form[0] ? tt_compose_form(collective, params.form) : form;
  if (!own || strcmp(own, form) != 0)
    return false;
  random_case(&at, (uint64_t)ranks, ranks, collective);
  at.form = form;
  at.problem.ordered = true;
  strcpy(at.map, "by 4");
  snprintf(at.params, sizeof at.params, "%s", preset->text);
  return run_all(&at, 1);
}

/* The builds with and without address sanitizer have seeds of their own, and it a quarter as many: it takes far
 * longer. */
#if SANITIZED
enum { SHARE = 1 };
static uint64_t seed_of(uint64_t n) { return 4 * n + 3; }
#else
enum { SHARE = 4 };
static uint64_t seed_of(uint64_t n) { return n / 2 * 4 + n % 2; }
#endif

/* A twentieth, but for make test-long. */
static uint64_t cases(uint64_t all) { return (getenv("TUTTI_TEST_LONG") ? all : all / 20) * SHARE / 8; }

static void test_what_is_proven_runs_right_under_random_schedules(void **state) {
  (void)state;
  uint64_t run = 0, drawn = cases(CASES);
  const char *only = getenv("EXECUTE_SEED");
  if (only)
    run_case(strtoull(only, NULL, 10), 0, TT_COLLECTIVE_COUNT, 1);
  for (uint64_t n = 0; n < drawn && !only; n++)
    run += run_case(seed_of(n), 0, TT_COLLECTIVE_COUNT, 1);
  print_message("%" PRIu64 " of %" PRIu64 " drawn cases fit together: proven, run and compared\n", run, drawn);
  assert_true(only || run > drawn / 2);
}

/* What fits into a cell and what is left to streams, in one run; copies and tmp between them. */
static void test_moves_of_any_lengths_run_right_by_cells_and_streams(void **state) {
  (void)state;
  const char *only = getenv("EXECUTE_SEED");
  if (only)
    run_moves(strtoull(only, NULL, 10));
  for (uint64_t n = 0; n < cases(MOVES) && !only; n++)
    assert_true(run_moves(seed_of(n)));
}

static void test_64_ranks_of_every_collective_under_many_schedules(void **state) {
  (void)state;
  uint64_t schedules = cases(SCHEDULES), turns = (uint64_t)fewer_sanitized(TURNS);
  for (int collective = 0; collective < TT_COLLECTIVE_COUNT; collective++)
    for (uint64_t n = 0, run = 0; run < schedules; n++)
      run += run_case(seed_of(n), 64, (tt_collective)collective, (int)turns) ? turns : 0;
}

/* With the sanitizer: few, powers of two and their neighbors, and some between. */
static const int64_t sizes_of_order[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33};

static bool looks_at(int64_t ranks) {
  bool found = !SANITIZED;
  for (size_t n = 0; n < TT_COUNT(sizes_of_order); n++)
    found |= sizes_of_order[n] == ranks;
  return found;
}

/* The operator is the product of matrices [[a, b], [0, 1]]. */
static void test_every_preset_that_claims_rank_order_keeps_it(void **state) {
  (void)state;
  size_t count;
  const tt_preset *presets = tt_preset_table(&count);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    for (int f = 0; f < info.form_count && info.reduces; f++) {
      int claims = 0;
      for (size_t p = 0; p < count; p++)
        for (int64_t ranks = 1; ranks <= 33; ranks++)
          claims += looks_at(ranks) && run_ordered((tt_collective)c, info.form[f], &presets[p], ranks);
      assert_true(claims >= (SANITIZED ? (int)TT_COUNT(sizes_of_order) : 33)); /* linear always does */
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_proven_runs_right_under_random_schedules),
      cmocka_unit_test(test_moves_of_any_lengths_run_right_by_cells_and_streams),
      cmocka_unit_test(test_every_preset_that_claims_rank_order_keeps_it),
      cmocka_unit_test(test_64_ranks_of_every_collective_under_many_schedules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

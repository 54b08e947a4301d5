/* Compositions of users: random ones give what their primitives say, the twins of tutti's own give its plans byte for
 * byte, and what makes no sense is refused with its reason. */
#include "compose/compose.h"
#include "conformance/threads.h"
#include "lower/lower.h"

#include <tutti/composition.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- random compositions ---- */

enum { RANKS = 7, BLOCKS = 8, STAGES = 3, MOST = 6, LONGEST = 700 };

typedef struct primitive {
  bool reduces, to_all;
  int64_t root, ends[RANKS], end_count, block;
  tutti_buffer from, to;
} primitive;

typedef struct drawn {
  int64_t ranks, blocks, counts[BLOCKS];
  bool in_place, moves; /* moves: no reduction, so that cells and streams may share a run */
  int stages, count[STAGES];
  primitive primitive[STAGES][MOST];
} drawn;

typedef struct picture { /* of (rank, buffer, block): element n is value + slope * n; there: it has one */
  int64_t value[RANKS][3][BLOCKS], slope[RANKS][3][BLOCKS];
  bool there[RANKS][3][BLOCKS];
} picture;

static int64_t input(int64_t rank, int64_t block) { return 1 + rank * 100 + block * 7; }

static primitive draw_primitive(tt_random *random, const drawn *of, int stage) {
  primitive made = {.reduces = tt_random_below(random, 2) > 0 && !of->moves,
                    .block = (int64_t)tt_random_below(random, (uint64_t)of->blocks)};
  made.root = (int64_t)tt_random_below(random, (uint64_t)of->ranks);
  made.to_all = tt_random_below(random, 3) == 0;
  for (int64_t r = 0; r < of->ranks; r++)
    if (made.to_all || tt_random_below(random, 2))
      made.ends[made.end_count++] = r;
  if (made.end_count == 0)
    made.ends[made.end_count++] = made.root;
  made.from = (tutti_buffer)tt_random_below(random, stage ? 3 : 1);
  made.to = tt_random_below(random, 2) ? TUTTI_OUT : TUTTI_MID;
  return made;
}

static drawn draw(uint64_t seed) {
  static const int64_t lengths[] = {0, 1, 37, 37, 200, LONGEST};
  tt_random random;
  tt_random_init(&random, seed);
  drawn made = {.ranks = 1 + (int64_t)tt_random_below(&random, RANKS),
                .blocks = 1 + (int64_t)tt_random_below(&random, BLOCKS),
                .in_place = tt_random_below(&random, 2) > 0,
                .moves = tt_random_below(&random, 2) > 0,
                .stages = 1 + (int)tt_random_below(&random, STAGES)};
  for (int64_t b = 0; b < made.blocks; b++)
    made.counts[b] = lengths[tt_random_below(&random, TT_COUNT(lengths))];
  for (int s = 0; s < made.stages; s++) {
    made.count[s] = 1 + (int)tt_random_below(&random, MOST);
    for (int n = 0; n < made.count[s]; n++)
      made.primitive[s][n] = draw_primitive(&random, &made, s);
  }
  return made;
}

/* In place there is no `in` beside `out`. */
static tutti_buffer place_of(const drawn *of, tutti_buffer buffer) {
  return of->in_place && buffer == TUTTI_IN ? TUTTI_OUT : buffer;
}

static void apply(const drawn *of, const primitive *at, const picture *before, picture *after) {
  tutti_buffer from = place_of(of, at->from), to = at->to;
  int64_t sum = 0, slope = 0;
  for (int64_t n = 0; n < at->end_count; n++) {
    int64_t end = at->ends[n];
    sum += before->value[end][from][at->block];
    slope += before->slope[end][from][at->block];
    if (at->reduces)
      continue;
    after->value[end][to][at->block] = before->value[at->root][from][at->block];
    after->slope[end][to][at->block] = before->slope[at->root][from][at->block];
    after->there[end][to][at->block] = true;
  }
  if (at->reduces) {
    after->value[at->root][to][at->block] = sum;
    after->slope[at->root][to][at->block] = slope;
    after->there[at->root][to][at->block] = true;
  }
}

/* What every rank has at the end, from the primitives alone. */
static picture evaluate(const drawn *of) {
  picture now = {0};
  tutti_buffer in = place_of(of, TUTTI_IN);
  for (int64_t r = 0; r < of->ranks; r++)
    for (int64_t b = 0; b < of->blocks; b++) {
      now.value[r][in][b] = input(r, b);
      now.slope[r][in][b] = 1;
      now.there[r][in][b] = true;
    }
  for (int s = 0; s < of->stages; s++) {
    picture before = now;
    for (int n = 0; n < of->count[s]; n++)
      apply(of, &of->primitive[s][n], &before, &now);
  }
  return now;
}

static tutti_composition *build(const drawn *of, tutti_comm *comm) {
  tutti_composition *made;
  CHECK(tutti_composition_create(comm, of->blocks, &made) == TUTTI_OK);
  CHECK(tutti_composition_set_in_place(made, of->in_place) == TUTTI_OK);
  for (int s = 0; s < of->stages; s++) {
    char name[] = {(char)('a' + s), '\0'};
    CHECK(tutti_composition_stage(made, name) == TUTTI_OK);
    for (int n = 0; n < of->count[s]; n++) {
      const primitive *at = &of->primitive[s][n];
      const int64_t *ends = at->to_all ? NULL : at->ends;
      tutti_status status =
          at->reduces ? tutti_composition_reduce(made, ends, at->end_count, at->root, at->block, at->from, at->to)
                      : tutti_composition_multicast(made, at->root, ends, at->end_count, at->block, at->from, at->to);
      CHECK(status == TUTTI_OK);
    }
  }
  return made;
}

static const char *params_of(uint64_t seed) {
  static const char *const texts[] = {NULL, "[core:chain] slice=64", "[core:2-nomial]", "[core:2-ary]",
                                      "[core:3-nomial,far] channels=2"};
  return texts[seed % TT_COUNT(texts)];
}

static int proven; /* counted by rank 0 */

typedef struct buffers { /* of one rank */
  int64_t in[BLOCKS * LONGEST], out[BLOCKS * LONGEST], offsets[BLOCKS];
} buffers;

static void fill(const drawn *of, int64_t rank, buffers *with) {
  int64_t *in = of->in_place ? with->out : with->in;
  for (int64_t n = 0; n < BLOCKS * LONGEST; n++)
    with->in[n] = with->out[n] = -1;
  for (int64_t b = 0; b < of->blocks; b++) {
    with->offsets[b] = b * LONGEST;
    for (int64_t n = 0; n < of->counts[b]; n++)
      in[with->offsets[b] + n] = input(rank, b) + n;
  }
}

static void check(const drawn *of, const picture *wanted, int64_t rank, const buffers *with) {
  for (int64_t b = 0; b < of->blocks; b++)
    for (int64_t n = 0; n < LONGEST; n++) {
      bool there = n < of->counts[b] && wanted->there[rank][TUTTI_OUT][b];
      int64_t value = wanted->value[rank][TUTTI_OUT][b] + n * wanted->slope[rank][TUTTI_OUT][b];
      CHECK(with->out[with->offsets[b] + n] == (there ? value : -1));
    }
}

static void run(const drawn *of, uint64_t seed, int64_t rank, tutti_comm *comm) {
  tutti_composition *made = build(of, comm);
  CHECK(tutti_composition_set_params(made, params_of(seed)) == TUTTI_OK);
  if (tutti_composition_verify(made, TUTTI_SUM) ==
      TUTTI_OK) { /* else a primitive takes what nobody brought, or two collide */
    picture wanted = evaluate(of);
    buffers *with = malloc(sizeof *with);
    CHECK(with);
    fill(of, rank, with);
    const int64_t *in = of->in_place ? with->out : with->in;
    proven += rank == 0;
    tutti_request *request;
    tutti_block_table blocks = {of->counts, with->offsets, with->offsets};
    CHECK(tutti_composition_init(made, in, with->out, &blocks, TUTTI_INT64, TUTTI_MAX, &request) == TUTTI_OK);
    CHECK(tutti_composition_set_in_place(made, 1) == TUTTI_ERR_ARGUMENT);
    tutti_request_destroy(request);
    CHECK(tutti_composition_init(made, in, with->out, &blocks, TUTTI_INT64, TUTTI_SUM, &request) == TUTTI_OK);
    for (int turn = 0; turn < 2; turn++) {
      fill(of, rank, with);
      CHECK(tutti_request_start(request) == TUTTI_OK);
      CHECK(tutti_wait(&request) == TUTTI_OK);
      check(of, &wanted, rank, with);
    }
    tutti_request_destroy(request);
    free(with);
  }
  tutti_composition_destroy(made);
}

typedef struct turns {
  uint64_t first;
  int count;
} turns;

static void run_turns(const threads_rank *at, tutti_context *context, void *argument) {
  const turns *of = argument;
  for (int n = 0; n < of->count; n++) {
    drawn made = draw(of->first + (uint64_t)n);
    tutti_comm *world, *comm;
    CHECK(tutti_comm_create(context, &world) == TUTTI_OK);
    CHECK(tutti_comm_split(world, at->rank < made.ranks ? 0 : -1, 0, &comm) == TUTTI_OK);
    if (comm)
      run(&made, of->first + (uint64_t)n, at->rank, comm);
    tutti_comm_destroy(comm);
    tutti_comm_destroy(world);
  }
}

static void test_random_compositions_do_what_their_primitives_say(void **state) {
  (void)state;
  turns of = {1, 1000};
  for (int shm = 0; shm < 2; shm++)
    threads_run(&(threads_options){.count = RANKS, .shm = shm, .slot_bytes = 256, .body = run_turns, .argument = &of});
  printf("%d of %d compositions make sense and were run\n", proven, 2 * of.count);
  assert_true(proven > 400);
}

/* ---- twins ---- */

static char *built_in(tt_collective collective, const char *form, int64_t ranks) {
  tt_problem problem = {.collective = collective, .rank_count = ranks};
  tt_composition composition;
  tt_lowering *lowering;
  tt_params params;
  tt_plan *plan;
  tt_arena arena;
  tt_arena_init(&arena);
  tt_topo *topo = tt_topo_flat(&arena, ranks);
  assert_int_equal(tt_params_parse("[core:2-nomial,xor]", &params), TUTTI_OK);
  assert_int_equal(tt_compose(&problem, form, &composition), TUTTI_OK);
  assert_int_equal(tt_lowering_create(&composition, topo, &params, &lowering), TUTTI_OK);
  assert_int_equal(tt_lower_rank(lowering, 0, &plan), TUTTI_OK);
  char *text = tt_plan_print(plan);
  tt_plan_destroy(plan);
  tt_lowering_destroy(lowering);
  tt_arena_finish(&arena);
  return text;
}

static tutti_family everyone(int reduces, int64_t ranks, tutti_affine block, tutti_buffer from) {
  return (tutti_family){.reduces = reduces,
                        .count_i = ranks,
                        .count_j = 1,
                        .root = {0, 1, 0},
                        .block = block,
                        .ends = TUTTI_ENDS_ALL,
                        .from = from,
                        .to = TUTTI_OUT};
}

static void compare(tutti_composition *twin, tt_collective collective, const char *form, int64_t ranks) {
  char *own = NULL, *theirs = built_in(collective, form, ranks);
  CHECK(tutti_composition_set_params(twin, "[core:2-nomial,xor]") == TUTTI_OK);
  CHECK(tutti_composition_print(twin, &own) == TUTTI_OK);
  const char *plan = strstr(own, "\n\n");
  CHECK(plan && strcmp(plan + 2, theirs) == 0);
  free(own);
  free(theirs);
  tutti_composition_destroy(twin);
}

static void compile_twins(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  int64_t ranks = at->team->options.count;
  tutti_comm *comm;
  tutti_composition *twin;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  if (at->rank == 0) {
    tutti_family whole = everyone(1, ranks, (tutti_affine){0}, TUTTI_IN);
    CHECK(tutti_composition_create(comm, 1, &twin) == TUTTI_OK);
    CHECK(tutti_composition_stage(twin, "sum") == TUTTI_OK && tutti_composition_add(twin, &whole) == TUTTI_OK);
    compare(twin, TT_ALLREDUCE, "one", ranks);
    tutti_family parts = everyone(1, ranks, (tutti_affine){0, 1, 0}, TUTTI_IN);
    tutti_family all = everyone(0, ranks, (tutti_affine){0, 1, 0}, TUTTI_OUT);
    CHECK(tutti_composition_create(comm, ranks, &twin) == TUTTI_OK);
    CHECK(tutti_composition_stage(twin, "down") == TUTTI_OK && tutti_composition_add(twin, &parts) == TUTTI_OK);
    CHECK(tutti_composition_stage(twin, "up") == TUTTI_OK && tutti_composition_add(twin, &all) == TUTTI_OK);
    compare(twin, TT_ALLREDUCE, "allgather.reduce-scatter", ranks);
  }
  tutti_comm_destroy(comm);
}

static void test_twins_of_tuttis_own_compile_to_its_plans(void **state) {
  (void)state;
  for (int64_t ranks = 2; ranks <= 9; ranks += 7)
    threads_run(&(threads_options){.count = ranks, .slot_bytes = 256, .body = compile_twins});
}

/* ---- what is refused ---- */

#define REFUSED(call, code, text)                                                                                      \
  do {                                                                                                                 \
    CHECK((call) == (code));                                                                                           \
    if (!strstr(tutti_last_error(), text))                                                                             \
      fprintf(stderr, "'%s' is not in '%s'\n", text, tutti_last_error());                                              \
    CHECK(strstr(tutti_last_error(), text) != NULL);                                                                   \
  } while (0)

static void refuse_arguments(tutti_comm *comm) {
  tutti_composition *of = NULL;
  const int64_t falling[] = {1, 0}, high[] = {0, 2};
  REFUSED(tutti_composition_create(NULL, 1, &of), TUTTI_ERR_ARGUMENT, "comm is NULL");
  REFUSED(tutti_composition_create(comm, 0, &of), TUTTI_ERR_ARGUMENT, "block_count is 0");
  REFUSED(tutti_composition_create(comm, INT32_MAX, &of), TUTTI_ERR_ARGUMENT,
          "block_count is 2147483647; it may be 1 to 33554432 on 2 ranks");
  CHECK(tutti_composition_create(comm, 2, &of) == TUTTI_OK);
  REFUSED(tutti_composition_verify(of, TUTTI_SUM), TUTTI_ERR_PLAN, "has no stage");
  REFUSED(tutti_composition_multicast(of, 0, NULL, 0, 0, TUTTI_IN, TUTTI_OUT), TUTTI_ERR_ARGUMENT,
          "call tutti_composition_stage first");
  REFUSED(tutti_composition_stage(of, "1st"), TUTTI_ERR_ARGUMENT, "name is '1st'");
  CHECK(tutti_composition_stage(of, "one") == TUTTI_OK);
  REFUSED(tutti_composition_stage(of, "one"), TUTTI_ERR_ARGUMENT, "a stage 'one' already exists");
  REFUSED(tutti_composition_multicast(of, 2, NULL, 0, 0, TUTTI_IN, TUTTI_OUT), TUTTI_ERR_PLAN, "a root is not a rank");
  REFUSED(tutti_composition_multicast(of, 0, NULL, 0, 2, TUTTI_IN, TUTTI_OUT), TUTTI_ERR_PLAN,
          "a block is not below 2");
  REFUSED(tutti_composition_multicast(of, 0, NULL, 0, 0, TUTTI_OUT, TUTTI_IN), TUTTI_ERR_PLAN, "to buffer 0");
  REFUSED(tutti_composition_multicast(of, 0, NULL, 0, 0, (tutti_buffer)9, TUTTI_OUT), TUTTI_ERR_ARGUMENT, "buffer 9");
  REFUSED(tutti_composition_reduce(of, falling, 2, 0, 0, TUTTI_IN, TUTTI_OUT), TUTTI_ERR_PLAN, "ends[1] is 0");
  REFUSED(tutti_composition_reduce(of, high, 2, 0, 0, TUTTI_IN, TUTTI_OUT), TUTTI_ERR_PLAN, "ends[1] is 2");
  REFUSED(tutti_composition_reduce(of, high, 0, 0, 0, TUTTI_IN, TUTTI_OUT), TUTTI_ERR_ARGUMENT, "0 ends");
  tutti_family wide = {.count_i = 9, .count_j = 1, .root = {.i = INT64_MAX / 4 + 1}, .from = TUTTI_IN, .to = TUTTI_OUT};
  REFUSED(tutti_composition_add(of, &wide), TUTTI_ERR_PLAN, "9 x 1 primitives for 2 blocks on 2 ranks");
  wide.count_i = 4;
  REFUSED(tutti_composition_add(of, &wide), TUTTI_ERR_PLAN, "a root is not a rank below 2");
  wide = (tutti_family){.count_i = INT64_MAX, .count_j = INT64_MAX, .from = TUTTI_IN, .to = TUTTI_OUT};
  REFUSED(tutti_composition_add(of, &wide), TUTTI_ERR_PLAN, "some bring the same");
  REFUSED(tutti_composition_set_params(of, "ring"), TUTTI_ERR_PLAN, "have no forms");
  REFUSED(tutti_composition_set_params(of, "wheel"), TUTTI_ERR_PLAN, "wheel");
  CHECK(tutti_composition_multicast(of, 0, NULL, 0, 0, TUTTI_MID, TUTTI_OUT) == TUTTI_OK);
  REFUSED(tutti_composition_multicast(of, 2, NULL, 0, 0, TUTTI_IN, TUTTI_OUT), TUTTI_ERR_PLAN, "family 1: a root");
  CHECK(tutti_composition_verify(of, TUTTI_SUM) == TUTTI_ERR_PLAN); /* nobody brought it there */
  int64_t counts[] = {1, 1};
  tutti_block_table blocks = {.counts = counts};
  tutti_request *request = NULL;
  float in[2] = {0}, out[2] = {0};
  CHECK(tutti_composition_init(of, in, out, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request) == TUTTI_ERR_PLAN);
  CHECK(request == NULL);
  CHECK(tutti_composition_set_params(of, "two[core:chain]") == TUTTI_OK);
  REFUSED(tutti_composition_verify(of, TUTTI_SUM), TUTTI_ERR_PLAN, "has no stage 'two'");
  tutti_composition_destroy(of);
  tutti_composition_destroy(NULL);
}

static void refuse_tables(tutti_comm *comm) {
  tutti_composition *of;
  tutti_request *request = NULL;
  float in[4] = {0}, out[4] = {0};
  int64_t counts[] = {4}, negative[] = {-1}, far[] = {INT64_MAX};
  tutti_block_table blocks = {.counts = counts};
  CHECK(tutti_composition_create(comm, 1, &of) == TUTTI_OK && tutti_composition_stage(of, "sum") == TUTTI_OK);
  CHECK(tutti_composition_reduce(of, NULL, 0, 0, 0, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
  REFUSED(tutti_composition_init(of, in, out, NULL, TUTTI_FLOAT32, TUTTI_SUM, &request), TUTTI_ERR_ARGUMENT, "blocks");
  REFUSED(tutti_composition_init(of, in, out, &blocks, (tutti_type)999, TUTTI_SUM, &request), TUTTI_ERR_ARGUMENT,
          "type is 999");
  REFUSED(tutti_composition_init(of, in, out, &blocks, TUTTI_FLOAT32, TUTTI_BIT_AND, &request), TUTTI_ERR_ARGUMENT,
          "bit-and");
  REFUSED(tutti_composition_init(of, NULL, out, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request), TUTTI_ERR_ARGUMENT,
          "in is NULL");
  REFUSED(tutti_composition_init(of, in, in, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request), TUTTI_ERR_ARGUMENT,
          "overlap");
  blocks.counts = negative;
  REFUSED(tutti_composition_init(of, in, out, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request), TUTTI_ERR_ARGUMENT,
          "counts[0] is -1");
  blocks = (tutti_block_table){.counts = counts, .in_offsets = far};
  REFUSED(tutti_composition_init(of, in, out, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request), TUTTI_ERR_ARGUMENT,
          "in_offsets[0] is 9223372036854775807");
  CHECK(request == NULL);
  tutti_composition_destroy(of);
}

/* Three blocks come to rank 0 of two, two are read there. */
static void refuse_overlap(tutti_comm *comm, int in_place) {
  tutti_composition *of;
  tutti_request *request = NULL;
  static const struct {
    int64_t offsets[5];
    const char *text; /* at rank 0; NULL: they do not meet */
    bool reads;       /* a block that is only read meets one that is written: matters in place */
  } tables[] = {
      {{0, 4, 8, 12, 16}, NULL, false},
      {{0, 3, 8, 12, 16},
       "blocks 0 and 1 overlap in out, where this rank's plan writes: 4 elements at 0, 4 at 3",
       false},
      {{8, 4, 7, 12, 16}, "blocks 1 and 2 overlap", false},
      {{0, 8, 0, 12, 16}, "blocks 0 and 2 overlap", false},
      {{0, 4, 8, 12, 12}, NULL, false}, /* both are only read */
      {{0, 4, 8, 9, 16}, "blocks 2 and 3 overlap", true},
  };
  const int64_t counts[5] = {4, 4, 4, 4, 4}, one[] = {1}, zero[] = {0};
  float in[20] = {0}, out[20] = {0};
  CHECK(tutti_composition_create(comm, 5, &of) == TUTTI_OK && tutti_composition_stage(of, "swap") == TUTTI_OK);
  CHECK(tutti_composition_set_in_place(of, in_place) == TUTTI_OK);
  for (int64_t b = 0; b < 5; b++)
    CHECK(tutti_composition_multicast(of, b < 3, b < 3 ? zero : one, 1, b, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(tables); n++) {
    const int64_t *offsets = tables[tutti_comm_rank(comm) == 0 ? n : 0].offsets; /* each rank has places of its own */
    tutti_block_table blocks = {counts, offsets, offsets};
    bool meet = tables[n].text && (in_place || !tables[n].reads);
    const float *from = in_place ? out : in;
    if (meet && tutti_comm_rank(comm) > 0) /* it would have a request that rank 0 has not */
      continue;
    tutti_status status = tutti_composition_init(of, from, out, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request);
    if (meet)
      REFUSED(status, TUTTI_ERR_ARGUMENT, tables[n].text);
    else
      CHECK(status == TUTTI_OK);
    tutti_request_destroy(request);
    request = NULL;
  }
  tutti_composition_destroy(of);
}

static void first(const void *left, const void *right, void *out, int64_t count, void *user) {
  (void)right, (void)user;
  if (out != left)
    memcpy(out, left, (size_t)count * sizeof(float));
}

/* An operator that does not commute wants rank order, which not all parameters keep: proof and request say the same. */
static void verify_for_operator(tutti_comm *comm, tutti_context *context) {
  static const char *const texts[] = {"[core:star]", "[core:chain]", "[core:2-nomial]", "[core:2-nomial,xor]"};
  const int64_t counts[] = {4};
  const tutti_block_table blocks = {.counts = counts};
  float in[4] = {0}, out[4] = {0};
  tutti_op commutes, ordered;
  int differ = 0;
  CHECK(tutti_op_create(context, first, NULL, sizeof(float), 1, &commutes) == TUTTI_OK);
  CHECK(tutti_op_create(context, first, NULL, sizeof(float), 0, &ordered) == TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(texts); n++) {
    tutti_composition *of;
    tutti_request *request = NULL;
    CHECK(tutti_composition_create(comm, 1, &of) == TUTTI_OK && tutti_composition_stage(of, "sum") == TUTTI_OK);
    CHECK(tutti_composition_reduce(of, NULL, 0, 3, 0, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
    CHECK(tutti_composition_set_params(of, texts[n]) == TUTTI_OK);
    CHECK(tutti_composition_verify(of, TUTTI_SUM) == TUTTI_OK && tutti_composition_verify(of, commutes) == TUTTI_OK);
    REFUSED(tutti_composition_verify(of, (tutti_op)999), TUTTI_ERR_ARGUMENT, "op is 999");
    tutti_status proof = tutti_composition_verify(of, ordered);
    CHECK(tutti_composition_init(of, in, out, &blocks, TUTTI_FLOAT32, ordered, &request) == proof);
    differ += proof == TUTTI_ERR_PLAN;
    tutti_request_destroy(request);
    tutti_composition_destroy(of);
  }
  CHECK(differ > 0 && differ < (int)TT_COUNT(texts));
}

static void refuse_at_operators(const threads_rank *at, tutti_context *context, void *argument) {
  (void)at, (void)argument;
  tutti_comm *comm;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  verify_for_operator(comm, context);
  tutti_comm_destroy(comm);
}

static void test_a_proof_is_of_the_operator_of_the_request(void **state) {
  (void)state;
  threads_run(&(threads_options){.count = 5, .slot_bytes = 256, .body = refuse_at_operators});
}

/* What a rank has no part in may have any length there, where places do not follow from it. */
static void ignore_others(tutti_comm *comm) {
  int64_t counts[] = {-1, 2, -7}, offsets[] = {1, 0, INT64_MAX}, rank = tutti_comm_rank(comm);
  float in[2] = {3, 4}, out[2] = {0};
  tutti_block_table blocks = {counts, offsets, offsets};
  tutti_composition *of;
  tutti_request *request = NULL;
  CHECK(tutti_composition_create(comm, 3, &of) == TUTTI_OK && tutti_composition_stage(of, "one") == TUTTI_OK);
  CHECK(tutti_composition_reduce(of, NULL, 0, 0, 1, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
  CHECK(tutti_composition_init(of, in, out, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request) == TUTTI_OK);
  CHECK(tutti_request_start(request) == TUTTI_OK && tutti_wait(&request) == TUTTI_OK);
  CHECK(rank != 0 || (out[0] == 6 && out[1] == 8));
  tutti_request_destroy(request);
  request = NULL;
  blocks.out_offsets = NULL;
  REFUSED(tutti_composition_init(of, in, out, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request), TUTTI_ERR_ARGUMENT,
          "counts[0] is -1");
  tutti_composition_destroy(of);
}

/* In place, only what a rank has a part in must be at one place: not block 1, though places follow from its count. */
static void ignore_others_in_place(tutti_comm *comm) {
  const int64_t counts[] = {1, 1}, one[] = {1};
  int64_t offsets[] = {1, -1}, rank = tutti_comm_rank(comm);
  float both[1] = {(float)rank};
  tutti_block_table blocks = {.counts = counts, .out_offsets = offsets};
  tutti_composition *of;
  tutti_request *request = NULL;
  CHECK(tutti_composition_create(comm, 2, &of) == TUTTI_OK && tutti_composition_stage(of, "one") == TUTTI_OK);
  CHECK(tutti_composition_set_in_place(of, 1) == TUTTI_OK);
  CHECK(tutti_composition_multicast(of, 0, one, 1, 0, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
  REFUSED(tutti_composition_init(of, both, both, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request), TUTTI_ERR_ARGUMENT,
          "in place, but block 0 is at");
  offsets[0] = INT64_MIN;
  REFUSED(tutti_composition_init(of, both, both, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request), TUTTI_ERR_ARGUMENT,
          "out_offsets[0] is -9223372036854775808");
  offsets[0] = 0;
  CHECK(tutti_composition_init(of, both, both, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request) == TUTTI_OK);
  CHECK(tutti_request_start(request) == TUTTI_OK && tutti_wait(&request) == TUTTI_OK && both[0] == 0);
  tutti_request_destroy(request);
  tutti_composition_destroy(of);
}

static void refuse(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  tutti_comm *comm, *alone;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  CHECK(tutti_comm_split(comm, at->rank, 0, &alone) == TUTTI_OK);
  refuse_arguments(comm);
  refuse_tables(alone);
  for (int in_place = 0; in_place < 2; in_place++)
    refuse_overlap(comm, in_place);
  ignore_others(comm);
  ignore_others_in_place(comm);
  tutti_comm_destroy(alone);
  tutti_comm_destroy(comm);
}

static void test_what_makes_no_sense_is_refused(void **state) {
  (void)state;
  threads_run(&(threads_options){.count = 2, .slot_bytes = 256, .body = refuse});
}

int main(void) {
  setenv("TUTTI_DIRECT_BYTES", "2K", 1); /* blocks of all lengths are few bytes here */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_compositions_do_what_their_primitives_say),
      cmocka_unit_test(test_twins_of_tuttis_own_compile_to_its_plans),
      cmocka_unit_test(test_what_makes_no_sense_is_refused),
      cmocka_unit_test(test_a_proof_is_of_the_operator_of_the_request),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* exec/table_test.c - both executors on block tables of every kind: blocks from one rank to another, at places that the
 * user chose, of lengths that not every rank knows, none of them or all of them long, in elements of any size. */
#include "exec/testing.h"

#include <inttypes.h>

enum { RANKS_MOST = 5, BLOCKS_MOST = 40, CALLS = 80, GAP_MOST = 40 };

#define POISON ((int64_t)1 << 60) /* a count or offset that this rank has no right to read */

typedef enum pattern { SQUARE_EVEN, SQUARE, GATHER, SCATTER, GRAPH, PATTERN_COUNT } pattern;

typedef struct side { /* of a rank: in or out */
  unsigned char *memory;
  size_t bytes;
  int64_t offset[BLOCKS_MOST], count[BLOCKS_MOST]; /* as the executor gets them */
} side;

typedef struct call { /* made when the first rank comes to it, gone when the last one has completed it */
  uint64_t number;    /* from 1 */
  tt_class blocks;
  int64_t left; /* ranks that have not completed it */
  int64_t count[BLOCKS_MOST];
  side side[RANKS_MOST][2];
} call;

typedef struct test_case {
  pattern pattern;
  bool known; /* LISTED: all ranks know all lengths */
  int64_t parts, slot_bytes, element_bytes, root, scale;
  uint64_t seed;
  tt_random random;
  int64_t block_count, from[BLOCKS_MOST], to[BLOCKS_MOST];
  test_job job;
  tt_executor *direct[TT_CLASS_STREAMS][RANKS_MOST]; /* by class */
  call *call[CALLS];
  int position[RANKS_MOST]; /* the call that each rank is in */
} test_case;

static int64_t below(test_case *at, int64_t limit) { return (int64_t)tt_random_below(&at->random, (uint64_t)limit); }

/* ---- who sends what to whom ---- */

static void add_block(test_case *at, int64_t from, int64_t to) {
  assert_true(at->block_count < BLOCKS_MOST);
  at->from[at->block_count] = from;
  at->to[at->block_count++] = to;
}

static void draw_blocks(test_case *at) {
  int64_t ranks = at->job.rank_count;
  if (at->pattern == SQUARE_EVEN || at->pattern == SQUARE)
    for (int64_t b = 0; b < ranks * ranks; b++)
      add_block(at, b / ranks, b % ranks);
  else if (at->pattern == GRAPH)
    for (int64_t b = 1 + below(at, 3 * ranks); b > 0; b--)
      add_block(at, below(at, ranks), below(at, ranks));
  else
    for (int64_t rank = 0; rank < ranks; rank++)
      add_block(at, at->pattern == GATHER ? rank : at->root, at->pattern == GATHER ? at->root : rank);
}

/* ---- plans: one round, a lane for each part and direction ---- */

static void add_lane(const test_case *at, test_text *text, int64_t rank, int64_t part, bool sends, int *lanes) {
  int steps = 0;
  for (int64_t b = 0; b < at->block_count; b++) {
    int64_t number = b * at->parts + part, peer = sends ? at->to[b] : at->from[b];
    if ((sends ? at->from[b] : at->to[b]) != rank || peer == rank)
      continue;
    if (steps == 0)
      test_add(text, "lane %d id %d %s level 0 channel 0\n", (*lanes)++, (int)(2 * part + 1), sends ? "send" : "recv");
    test_add(text, "  %d t0 %s%d b%d %s.%d first last\n", steps++, sends ? "send ->" : "recv <-", (int)peer,
             (int)number, sends ? "in" : "=> out", (int)number);
  }
}

static void add_copies(const test_case *at, test_text *text, int64_t rank, int *lanes) {
  int steps = 0;
  for (int64_t b = 0; b < at->block_count; b++)
    for (int64_t part = 0; at->from[b] == rank && at->to[b] == rank && part < at->parts; part++) {
      int number = (int)(b * at->parts + part);
      if (steps == 0)
        test_add(text, "lane %d id 99 local level 0 channel 0\n", (*lanes)++);
      test_add(text, "  %d t0 copy b%d in.%d => out.%d\n", steps++, number, number, number);
    }
}

static void make_plan(test_case *at, test_text *text, int64_t rank) {
  int lanes = 0;
  text->used = 0;
  test_add(text, "plan rank %d of %d blocks %d parts %d tmp 0 times 1 slice 0 direct\nlevel 0 core\n", (int)rank,
           (int)at->job.rank_count, (int)(at->block_count * at->parts), (int)at->parts);
  for (int64_t n = 0; n < 2 * at->parts; n++) /* receives in the other order of parts: places must not depend on it */
    add_lane(at, text, rank, n < at->parts ? n : 2 * at->parts - 1 - n, n < at->parts, &lanes);
  add_copies(at, text, rank, &lanes);
}

static void open_case(test_case *at) {
  tt_loop_options options = {.rank_count = 1 + below(at, RANKS_MOST),
                             .slot_bytes = (size_t)at->slot_bytes,
                             .slot_count = (size_t)(1 + below(at, 3)),
                             .seed = at->seed};
  test_job_open(&at->job, &options, (size_t)at->slot_bytes);
  at->root = below(at, at->job.rank_count);
  draw_blocks(at);
  test_text *text = malloc(sizeof *text);
  assert_non_null(text);
  for (int64_t rank = 0; rank < at->job.rank_count; rank++) {
    make_plan(at, text, rank);
    test_job_plan(&at->job, rank, text->data);
    for (int n = 0; n < TT_CLASS_STREAMS; n++)
      test_job_direct(&at->job, rank, (tt_class)n, &at->direct[n][rank]);
  }
  free(text);
}

static void close_case(test_case *at) {
  for (int64_t rank = 0; rank < at->job.rank_count; rank++)
    for (int n = 0; n < TT_CLASS_STREAMS; n++)
      tt_executor_destroy(at->direct[n][rank]);
  test_job_close(&at->job);
}

/* ---- a call ---- */

static unsigned char byte_of(const call *of, int64_t block, int64_t n) {
  const int64_t facts[] = {(int64_t)of->number, block, n};
  return (unsigned char)(tt_hash(0, facts, sizeof facts) >> 7);
}

/* Elements of a block: none, few, or more than a share of a cell has. */
static int64_t draw_count(test_case *at, int64_t scale) {
  static const int64_t choice[] = {0, 0, 1, 1, 2, 3, 8, 50, 300, 3000};
  int64_t count = choice[below(at, scale)], most = 30 * at->slot_bytes / at->element_bytes;
  return count < most ? count : most;
}

static void draw_counts(test_case *at, call *of) {
  int64_t even = draw_count(at, 10);
  for (int64_t b = 0; b < at->block_count; b++)
    of->count[b] = at->pattern == SQUARE_EVEN ? even : draw_count(at, at->scale);
}

static bool has(const test_case *at, int64_t rank, int which, int64_t block) {
  return (which == 0 ? at->from[block] : at->to[block]) == rank;
}

/* Where the executor looks for a block's count and offset. */
static int64_t index_of(const test_case *at, int which, int64_t block) {
  if (at->pattern != SQUARE)
    return block;
  return which == 0 ? at->to[block] : at->from[block];
}

/* The n-th block in a buffer, in an order of its own; even squares have none. */
static int64_t nth_block(const test_case *at, const call *of, int64_t n) {
  if (at->pattern == SQUARE_EVEN)
    return n;
  return at->block_count % 7 == 0 ? at->block_count - 1 - n : (n * 7 + (int64_t)of->number) % at->block_count;
}

/* Lays the rank's blocks of one side, with gaps. */
static void lay_side(test_case *at, call *of, int64_t rank, int which) {
  side *made = &of->side[rank][which];
  int64_t end = 0, gap = at->pattern == SQUARE_EVEN ? 0 : below(at, GAP_MOST);
  for (int64_t b = 0; b < BLOCKS_MOST; b++) {
    made->offset[b] = POISON;
    made->count[b] = at->known && b < at->block_count ? of->count[b] : POISON;
  }
  for (int64_t n = 0; n < at->block_count; n++) {
    int64_t block = nth_block(at, of, n);
    if (!has(at, rank, which, block))
      continue;
    made->offset[index_of(at, which, block)] = end;
    made->count[index_of(at, which, block)] = of->count[block];
    end += of->count[block] + gap;
  }
  made->bytes = (size_t)(end * at->element_bytes);
  made->memory = malloc(made->bytes + 1);
  assert_non_null(made->memory);
  memset(made->memory, 0x66, made->bytes + 1);
}

/* The block's bytes in the rank's buffer. */
static unsigned char *bytes_at(const test_case *at, const call *of, int64_t rank, int which, int64_t block) {
  int64_t index = which == 0 ? at->to[block] : at->from[block];
  int64_t elements =
      at->pattern == SQUARE_EVEN ? index * of->count[block] : of->side[rank][which].offset[index_of(at, which, block)];
  return of->side[rank][which].memory + elements * at->element_bytes;
}

static void fill(const test_case *at, call *of, int64_t rank) {
  for (int64_t b = 0; b < at->block_count; b++)
    for (int64_t n = 0; has(at, rank, 0, b) && n < of->count[b] * at->element_bytes; n++)
      bytes_at(at, of, rank, 0, b)[n] = byte_of(of, b, n);
}

/* Whether every block that the rank gets is right; then what it got is wiped, so that the rest can be looked at. */
static bool right(const test_case *at, call *of, int64_t rank) {
  side *out = &of->side[rank][1];
  bool good = true;
  for (int64_t b = 0; b < at->block_count; b++)
    for (int64_t n = 0; has(at, rank, 1, b) && n < of->count[b] * at->element_bytes; n++) {
      unsigned char *byte = bytes_at(at, of, rank, 1, b) + n;
      good &= *byte == byte_of(of, b, n);
      *byte = 0x66;
    }
  for (size_t n = 0; n <= out->bytes; n++)
    good &= out->memory[n] == 0x66;
  return good;
}

static tt_run run_of(const test_case *at, call *of, int64_t rank) {
  side *in = &of->side[rank][0], *out = &of->side[rank][1];
  bool square = at->pattern == SQUARE || at->pattern == SQUARE_EVEN;
  tt_run run = {.in = in->memory,
                .out = out->memory,
                .moves_only = true,
                .blocks = {.kind = square ? TT_TABLE_SQUARE : TT_TABLE_LISTED,
                           .block_count = at->block_count,
                           .known = at->known,
                           .in_offset = in->offset,
                           .out_offset = out->offset},
                .type = TUTTI_BYTE,
                .element_bytes = at->element_bytes,
                .call = of->number,
                .key = 3};
  for (int64_t b = 0; !square && b < at->block_count; b++)
    if (has(at, rank, 1, b))
      in->count[b] = of->count[b];
  if (at->pattern == SQUARE_EVEN)
    run.blocks.each = of->count[0];
  else if (square) {
    run.blocks.in_count = in->count;
    run.blocks.out_count = out->count;
  } else
    run.blocks.count = in->count;
  return run;
}

/* What is known of its blocks: all ranks say the same. */
static tt_class class_of(const test_case *at, call *of) {
  tt_run run = run_of(at, of, 0);
  tt_class all = tt_run_class(at->job.plan[0], &run);
  for (int64_t rank = 1; rank < at->job.rank_count; rank++) {
    run = run_of(at, of, rank);
    assert_int_equal(tt_run_class(at->job.plan[rank], &run), all);
  }
  return all;
}

static call *make_call(test_case *at, int position) {
  call *of = calloc(1, sizeof *of);
  assert_non_null(of);
  of->number = (uint64_t)position + 1;
  of->left = at->job.rank_count;
  draw_counts(at, of);
  for (int64_t rank = 0; rank < at->job.rank_count; rank++) {
    lay_side(at, of, rank, 0);
    lay_side(at, of, rank, 1);
    fill(at, of, rank);
  }
  of->blocks = below(at, 6) > 0 ? class_of(at, of) : TT_CLASS_STREAMS;
  return of;
}

static void start_call(test_case *at, int64_t rank) {
  call **of = &at->call[at->position[rank]];
  if (!*of)
    *of = make_call(at, at->position[rank]);
  tt_run run = run_of(at, *of, rank);
  test_ok((*of)->blocks < TT_CLASS_STREAMS
              ? at->direct[(*of)->blocks][rank]->ops->start(at->direct[(*of)->blocks][rank], &run)
              : at->job.instance[rank]->ops->start(at->job.instance[rank], &run));
}

static bool step_rank(const test_case *at, const call *of, int64_t rank) {
  bool done = false, moved;
  int64_t peer;
  test_ok(of->blocks < TT_CLASS_STREAMS
              ? at->direct[of->blocks][rank]->ops->step(at->direct[of->blocks][rank], &done, &moved, &peer)
              : at->job.instance[rank]->ops->step(at->job.instance[rank], &done, &moved, &peer));
  return done;
}

static void check_call(const test_case *at, call *of, int64_t rank) {
  if (!right(at, of, rank))
    fail_msg("seed %" PRIu64 " pattern %d ranks %" PRId64 " blocks %" PRId64 " parts %" PRId64 " elements of %" PRId64
             "%s%s call %" PRIu64 ": rank %" PRId64,
             at->seed, (int)at->pattern, at->job.rank_count, at->block_count, at->parts, at->element_bytes,
             at->known ? " known" : "", of->blocks < TT_CLASS_STREAMS ? " direct" : "", of->number, rank);
  if (--of->left > 0)
    return;
  for (int64_t r = 0; r < at->job.rank_count; r++)
    for (int which = 0; which < 2; which++)
      free(of->side[r][which].memory);
  free(of);
}

/* One turn of the rank; true when its last call is complete. Some ranks run ahead of the others. */
static bool turn(test_case *at, int64_t rank) {
  call *of = at->call[at->position[rank]];
  if (!step_rank(at, of, rank))
    return false;
  check_call(at, of, rank);
  if (++at->position[rank] == CALLS)
    return true;
  start_call(at, rank);
  return false;
}

static void run_calls(test_case *at) {
  for (int64_t rank = 0; rank < at->job.rank_count; rank++)
    start_call(at, rank);
  int64_t left = at->job.rank_count, slow = below(at, left);
  for (int64_t turns = 0; left > 0; turns++) {
    int64_t rank = (int64_t)tt_loop_pick(at->job.loop, (uint64_t)at->job.rank_count);
    if (rank == slow && turns % 1000 < 990)
      continue;
    if (at->position[rank] < CALLS && turn(at, rank))
      left--;
    assert_true(turns < 10000000);
  }
}

static void run_case(uint64_t seed) {
  static const int64_t elements[] = {1, 1, 2, 3, 4, 8, 12, 24, 100, 333};
  static const int64_t slots[] = {64, 128, 1024, 4096};
  test_case *at = calloc(1, sizeof *at);
  assert_non_null(at);
  at->seed = seed;
  tt_random_init(&at->random, seed);
  at->pattern = (pattern)below(at, PATTERN_COUNT);
  at->known = at->pattern >= GATHER && below(at, 2);
  at->parts = 1 + below(at, 3) * below(at, 2);
  at->slot_bytes = slots[below(at, TT_COUNT(slots))];
  at->element_bytes = elements[below(at, TT_COUNT(elements))];
  at->scale = 4 + below(at, 7);
  open_case(at);
  run_calls(at);
  close_case(at);
  free(at);
}

static void test_blocks_arrive_where_the_tables_say(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 150; seed++)
    run_case(seed);
}

/* ---- what is refused ---- */

static tutti_status start_plan(const char *text, const tt_run *run) {
  test_job job;
  tt_loop_options options = {.rank_count = 3, .slot_bytes = 1024, .slot_count = 2};
  test_job_open(&job, &options, 1024);
  test_job_plan(&job, 0, text);
  tutti_status status = job.instance[0]->ops->start(job.instance[0], run);
  test_job_close(&job);
  return status;
}

static void test_block_of_other_ranks_needs_even_lengths(void **state) {
  (void)state;
  static const char text[] = "plan rank 0 of 3 blocks 9 parts 1 tmp 1 times 1 slice 0\nlevel 0 core\n"
                             "lane 0 id 1 recv level 0 channel 0\n  0 t0 recv <-1 b5 => tmp.0 first last\n";
  const int64_t count[3] = {1, 1, 1};
  tt_run run = {.blocks = {.kind = TT_TABLE_SQUARE, .block_count = 9, .each = 1}, .type = TUTTI_INT32};
  assert_int_equal(start_plan(text, &run), TUTTI_OK);
  run.blocks.in_count = run.blocks.out_count = run.blocks.in_offset = run.blocks.out_offset = count;
  assert_int_equal(start_plan(text, &run), TUTTI_ERR_ARGUMENT);
  assert_non_null(strstr(tutti_last_error(), "block 5"));
}

static void test_lengths_that_are_none_are_errors(void **state) {
  (void)state;
  static const char text[] = "plan rank 0 of 3 blocks 3 parts 1 tmp 0 times 1 slice 0\nlevel 0 core\n"
                             "lane 0 id 1 recv level 0 channel 0\n  0 t0 recv <-1 b1 => out.1 first last\n";
  static const struct {
    int64_t count;
    tutti_status status;
  } rows[] = {{0, TUTTI_OK}, {-1, TUTTI_ERR_ARGUMENT}, {INT64_MAX / 2, TUTTI_ERR_MEMORY}};
  for (size_t n = 0; n < TT_COUNT(rows); n++) {
    const int64_t count[3] = {POISON, rows[n].count, POISON}, offset[3] = {POISON, 0, POISON};
    tt_run run = {.blocks = {.kind = TT_TABLE_LISTED,
                             .block_count = 3,
                             .count = count,
                             .in_offset = offset,
                             .out_offset = offset},
                  .type = TUTTI_INT32};
    assert_int_equal(start_plan(text, &run), rows[n].status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_arrive_where_the_tables_say),
      cmocka_unit_test(test_block_of_other_ranks_needs_even_lengths),
      cmocka_unit_test(test_lengths_that_are_none_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

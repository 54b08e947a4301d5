/* exec/direct_test.c - the direct executor between threads: bit for bit what the interpreter gives, for mixed calls in
 * a row. */
#include "exec/testing.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>

enum { RANKS_MOST = 5, BYTES_MOST = 4096, ROUNDS = 300 };

/* ---- one-round plans ---- */

typedef void (*plan_text)(test_text *text, int rank, int ranks, int root, bool in_place);

static void add_header(test_text *text, int rank, int ranks, int blocks, bool in_place) {
  text->used = 0;
  test_add(text, "plan rank %d of %d blocks %d parts 1 tmp 0 times 1 slice 0%s direct\nlevel 0 core\n", rank, ranks,
           blocks, in_place ? " in-place" : "");
}

/* Sends one block to each other rank: `block`, or each its own where block = -1. */
static void add_sends(test_text *text, int rank, int ranks, int block) {
  test_add(text, "lane 0 id 1 send level 0 channel 0\n");
  for (int peer = 0, n = 0; peer < ranks; peer++)
    if (peer != rank)
      test_add(text, "  %d t0 send ->%d b%d in.%d first last\n", n++, peer, block < 0 ? peer : block,
               block < 0 ? peer : block);
}

/* Combines what the others send with the own block, those of lower ranks from the left. */
static void add_reduces(test_text *text, int rank, int ranks, int block, bool in_place) {
  test_add(text, "lane 1 id 1 recv level 0 channel 0\n");
  for (int n = 0; n < ranks - 1; n++) {
    int peer = n < rank ? rank - 1 - n : n + 1;
    test_add(text, "  %d t0 reduce <-%d b%d %s.%d => out.%d%s first last", n, peer, block, n ? "out" : "in", block,
             block, peer < rank ? " left" : "");
    if (n == ranks - 2)
      test_add(text, " finish %d", ranks);
    for (int send = 0; in_place && n == 0 && send < ranks - 1; send++)
      test_add(text, "%s 0.%d*", send ? "" : " wait", send);
    test_add(text, "\n");
  }
}

static void allreduce_text(test_text *text, int rank, int ranks, int root, bool in_place) {
  (void)root;
  add_header(text, rank, ranks, 1, in_place);
  add_sends(text, rank, ranks, 0);
  add_reduces(text, rank, ranks, 0, in_place);
}

static void reduce_scatter_text(test_text *text, int rank, int ranks, int root, bool in_place) {
  (void)root;
  add_header(text, rank, ranks, ranks, in_place);
  add_sends(text, rank, ranks, -1);
  add_reduces(text, rank, ranks, rank, in_place);
}

static void broadcast_text(test_text *text, int rank, int ranks, int root, bool in_place) {
  add_header(text, rank, ranks, 1, in_place);
  if (rank == root) {
    add_sends(text, rank, ranks, 0);
    if (!in_place)
      test_add(text, "lane 1 id 2 local level 0 channel 0\n  0 t0 copy b0 in.0 => out.0\n");
  } else {
    test_add(text, "lane 0 id 1 recv level 0 channel 0\n  0 t0 recv <-%d b0 => out.0 first last\n", root);
  }
}

static void allgather_text(test_text *text, int rank, int ranks, int root, bool in_place) {
  (void)root;
  add_header(text, rank, ranks, ranks, in_place);
  add_sends(text, rank, ranks, rank);
  test_add(text, "lane 1 id 1 recv level 0 channel 0\n");
  for (int peer = 0, n = 0; peer < ranks; peer++)
    if (peer != rank)
      test_add(text, "  %d t0 recv <-%d b%d => out.%d first last\n", n++, peer, peer, peer);
  if (!in_place)
    test_add(text, "lane 2 id 2 local level 0 channel 0\n  0 t0 copy b%d in.%d => out.%d\n", rank, rank, rank);
}

/* To the root, of those that send one block each: their own or, where it is combined, the same. */
static void add_leaf(test_text *text, int root, int block) {
  test_add(text, "lane 0 id 1 send level 0 channel 0\n  0 t0 send ->%d b%d in.%d first last\n", root, block, block);
}

static void reduce_text(test_text *text, int rank, int ranks, int root, bool in_place) {
  add_header(text, rank, ranks, 1, in_place);
  if (rank != root) {
    add_leaf(text, root, 0);
    return;
  }
  test_add(text, "lane 0 id 1 recv level 0 channel 0\n");
  for (int n = 0; n < ranks - 1; n++) {
    int peer = n < rank ? rank - 1 - n : n + 1;
    test_add(text, "  %d t0 reduce <-%d b0 %s.0 => out.0%s first last", n, peer, n ? "out" : "in",
             peer < rank ? " left" : "");
    test_add(text, n == ranks - 2 ? " finish %d\n" : "\n", ranks);
  }
}

static void gather_text(test_text *text, int rank, int ranks, int root, bool in_place) {
  add_header(text, rank, ranks, ranks, in_place);
  if (rank != root) {
    add_leaf(text, root, rank);
    return;
  }
  test_add(text, "lane 0 id 1 recv level 0 channel 0\n");
  for (int peer = 0, n = 0; peer < ranks; peer++)
    if (peer != rank)
      test_add(text, "  %d t0 recv <-%d b%d => out.%d first last\n", n++, peer, peer, peer);
  if (!in_place)
    test_add(text, "lane 1 id 2 local level 0 channel 0\n  0 t0 copy b%d in.%d => out.%d\n", rank, rank, rank);
}

static void scatter_text(test_text *text, int rank, int ranks, int root, bool in_place) {
  add_header(text, rank, ranks, ranks, in_place);
  if (rank == root) {
    add_sends(text, rank, ranks, -1);
    if (!in_place)
      test_add(text, "lane 1 id 2 local level 0 channel 0\n  0 t0 copy b%d in.%d => out.%d\n", rank, rank, rank);
  } else {
    test_add(text, "lane 0 id 1 recv level 0 channel 0\n  0 t0 recv <-%d b%d => out.%d first last\n", root, rank, rank);
  }
}

/* Each rank combines what lower ranks send, nearest first, and sends to higher ones. */
static void scan_text(test_text *text, int rank, int ranks, int root, bool in_place) {
  (void)root;
  int lane = 0;
  add_header(text, rank, ranks, 1, in_place);
  if (rank < ranks - 1)
    test_add(text, "lane %d id 1 send level 0 channel 0\n", lane++);
  for (int peer = rank + 1; peer < ranks; peer++)
    test_add(text, "  %d t0 send ->%d b0 in.0 first last\n", peer - rank - 1, peer);
  if (rank > 0)
    test_add(text, "lane %d id 1 recv level 0 channel 0\n", lane);
  else if (!in_place)
    test_add(text, "lane %d id 2 local level 0 channel 0\n  0 t0 copy b0 in.0 => out.0\n", lane);
  for (int n = 0; n < rank; n++) {
    test_add(text, "  %d t0 reduce <-%d b0 %s.0 => out.0 left first last", n, rank - 1 - n, n ? "out" : "in");
    if (n == rank - 1)
      test_add(text, " finish %d", rank + 1);
    for (int send = 0; in_place && n == 0 && send < ranks - 1 - rank; send++)
      test_add(text, "%s 0.%d*", send ? "" : " wait", send);
    test_add(text, "\n");
  }
}

static const struct {
  plan_text text;
  bool in_own, out_own; /* the buffer has only the own block */
  bool blocks;          /* as many as ranks, else one */
} family[] = {{allreduce_text, false, false, false}, {broadcast_text, false, false, false},
              {allgather_text, true, false, true},   {reduce_scatter_text, false, true, true},
              {reduce_text, false, false, false},    {gather_text, true, false, true},
              {scatter_text, false, true, true},     {scan_text, false, false, false}};

/* ---- a rank's thread: the same random calls on every rank, each by both executors ---- */

typedef struct table { /* of plans, made when first needed */
  tt_plan *plan[TT_COUNT(family)][RANKS_MOST][2];
  tt_bound_plan *bound[TT_COUNT(family)][RANKS_MOST][2][TT_CLASS_COUNT];
  tt_executor *direct[TT_COUNT(family)][RANKS_MOST][2];
  tt_executor *instance[TT_COUNT(family)][RANKS_MOST][2];
} table;

typedef struct rank {
  test_job *job;
  int number;
  uint64_t seed;
  tt_spent spent;
  int bad_call; /* the first whose results differ; 0: none */
  pthread_t thread;
} rank;

typedef struct deed {
  size_t family;
  int root;
  bool in_place;
  tutti_type type;
  tutti_op op;
  int64_t element_bytes; /* of the user's elements; 0: of the type */
  int64_t total;
} deed;

static deed random_deed(tt_random *random, int ranks) {
  static const int64_t totals[] = {0, 1, 2, 5, 12, 13, 100, 500, 512};
  static const int64_t elements[] = {0, 0, 1, 3, 8, 12, 16, 32, 64, 100};
  deed c = {.family = tt_random_below(random, TT_COUNT(family)),
            .root = (int)tt_random_below(random, (uint64_t)ranks),
            .in_place = tt_random_below(random, 3) == 0,
            .type = (tutti_type)tt_random_below(random, TEST_TYPES),
            .op = (tutti_op)tt_random_below(random, TEST_OPS),
            .element_bytes = elements[tt_random_below(random, TT_COUNT(elements))],
            .total = totals[tt_random_below(random, TT_COUNT(totals))]};
  if (c.element_bytes && c.total > BYTES_MOST / c.element_bytes)
    c.total = BYTES_MOST / c.element_bytes;
  return c;
}

static int64_t element_bytes(const deed *c) {
  return c->element_bytes ? c->element_bytes : (int64_t)tutti_type_size(c->type);
}

static void make_plan(const rank *self, table *of, const deed *c) {
  if (of->plan[c->family][c->root][c->in_place])
    return;
  test_text *text = malloc(sizeof *text);
  assert_non_null(text);
  family[c->family].text(text, self->number, (int)self->job->rank_count, c->root, c->in_place);
  tt_plan **plan = &of->plan[c->family][c->root][c->in_place];
  tt_stream_table *streams = self->job->streams[self->number];
  test_ok(tt_plan_parse(text->data, plan));
  tt_bound_plan **bound = of->bound[c->family][c->root][c->in_place];
  bound[TT_CLASS_CELLS] = test_bind(*plan, TT_CLASS_CELLS);
  bound[TT_CLASS_STREAMS] = test_bind(*plan, TT_CLASS_STREAMS);
  test_ok(tt_executor_create(bound[TT_CLASS_CELLS], streams, &of->direct[c->family][c->root][c->in_place]));
  test_ok(tt_executor_create(bound[TT_CLASS_STREAMS], streams, &of->instance[c->family][c->root][c->in_place]));
  free(text);
}

static void free_plans(table *of) {
  for (size_t f = 0; f < TT_COUNT(family); f++)
    for (size_t n = 0; n < 2 * (size_t)RANKS_MOST; n++) {
      tt_executor_destroy(of->direct[f][n / 2][n % 2]);
      tt_executor_destroy(of->instance[f][n / 2][n % 2]);
      for (int k = 0; k < TT_CLASS_COUNT; k++)
        tt_bound_plan_destroy(of->bound[f][n / 2][n % 2][k]);
      tt_plan_destroy(of->plan[f][n / 2][n % 2]);
    }
}

static void run_direct(tt_executor *direct, const tt_run *run) {
  bool done = false, moved;
  int64_t peer;
  test_ok(direct->ops->start(direct, run));
  for (;;) {
    test_ok(direct->ops->step(direct, &done, &moved, &peer));
    if (done)
      return;
    sched_yield();
  }
}

static void run_instance(tt_executor *instance, const tt_run *run) {
  bool done = false, moved;
  int64_t peer;
  test_ok(instance->ops->start(instance, run));
  for (;;) {
    test_ok(instance->ops->step(instance, &done, &moved, &peer));
    if (done)
      return;
    sched_yield();
  }
}

/* Fills the input with numbers whose sums depend on their order. */
static void fill(unsigned char *in, const deed *c, tt_random *random) {
  test_maps maps = {.bytes = c->element_bytes};
  for (int64_t n = 0; n < c->total; n++)
    if (maps.bytes)
      test_put_map(&maps, in + n * maps.bytes, (int64_t)tt_random_below(random, 1000), n);
    else
      test_put(c->type, in, n, (double)(1 + tt_random_below(random, 2000)) / 3);
}

/* In place means that the own block of `in` lies where it lies in `out`. */
static unsigned char *aliased(unsigned char *out, const deed *c, int number, int ranks) {
  int64_t base = c->total / ranks, extra = c->total % ranks;
  int64_t before = number * base + (number < extra ? number : extra);
  return family[c->family].in_own ? out + before * element_bytes(c) : out;
}

static bool same_both_ways(rank *self, table *of, const deed *c, uint64_t number) {
  enum { ROOM = BYTES_MOST + 64 };
  static _Thread_local _Alignas(64) unsigned char input[ROOM], in[ROOM], out[2][ROOM];
  test_maps maps = {.bytes = c->element_bytes};
  tt_user_op op = {test_compose, &maps, (size_t)maps.bytes, false};
  tt_random random;
  int ranks = (int)self->job->rank_count;
  tt_random_init(&random, self->seed * 1000 + number * 10 + (uint64_t)self->number);
  fill(input, c, &random);
  for (int n = 0; n < 2; n++) {
    memset(out[n], 0x55, ROOM);
    unsigned char *from = c->in_place ? aliased(out[n], c, self->number, ranks) : in;
    memcpy(from, input, (size_t)(BYTES_MOST - (from - (c->in_place ? out[n] : in))));
    tt_run run = {.in = from,
                  .out = out[n],
                  .in_own = family[c->family].in_own,
                  .out_own = family[c->family].out_own && !c->in_place,
                  .blocks = {.block_count = family[c->family].blocks ? ranks : 1, .total = c->total},
                  .type = c->type,
                  .op = c->op,
                  .element_bytes = c->element_bytes,
                  .user_op = c->element_bytes ? &op : NULL,
                  .call = 2 * number + (uint64_t)n,
                  .key = 5};
    if (n == 0)
      run_direct(of->direct[c->family][c->root][c->in_place], &run);
    else
      run_instance(of->instance[c->family][c->root][c->in_place], &run);
  }
  return memcmp(out[0], out[1], ROOM) == 0 && !maps.misaligned;
}

static void *run_rank(void *argument) {
  rank *self = argument;
  table *of = calloc(1, sizeof *of);
  assert_non_null(of);
  tt_random random;
  tt_random_init(&random, self->seed);
  for (int n = 1; n <= ROUNDS; n++) {
    deed c = random_deed(&random, (int)self->job->rank_count);
    tt_stream_table_watch(self->job->streams[self->number], n % 2 ? &self->spent : NULL); /* it changes nothing */
    make_plan(self, of, &c);
    if (!same_both_ways(self, of, &c, (uint64_t)n) && !self->bad_call) {
      self->bad_call = n;
      print_error("rank %d call %d: family %zu root %d%s %s %s elements of %" PRId64 " total %" PRId64 "\n",
                  self->number, n, c.family, c.root, c.in_place ? " in place" : "", tutti_type_name(c.type),
                  tutti_op_name(c.op), c.element_bytes, c.total);
    }
  }
  free_plans(of);
  free(of);
  return NULL;
}

static void open_job(test_job *job, int64_t ranks) {
  tt_loop_options options = {.rank_count = ranks, .slot_bytes = BYTES_MOST, .slot_count = 2, .threads = true};
  test_job_open(job, &options, BYTES_MOST);
}

static void test_direct_gives_the_bits_of_the_interpreter(void **state) {
  (void)state;
  for (int64_t ranks = 2; ranks <= RANKS_MOST; ranks++) {
    test_job job;
    rank of[RANKS_MOST];
    open_job(&job, ranks);
    for (int r = 0; r < ranks; r++) {
      of[r] = (rank){.job = &job, .number = r, .seed = 77 + (uint64_t)ranks};
      assert_int_equal(pthread_create(&of[r].thread, NULL, run_rank, &of[r]), 0);
    }
    for (int r = 0; r < ranks; r++)
      pthread_join(of[r].thread, NULL);
    for (int r = 0; r < ranks; r++)
      assert_int_equal(of[r].bad_call, 0);
    test_job_close(&job);
  }
}

/* ---- one thread: who waits for whom, and mismatches ---- */

typedef struct pair {
  test_job job;
  tt_executor *direct[2];
  int32_t in[2], out[2];
} pair;

static void open_pair(pair *of, plan_text text) {
  test_text *plan = malloc(sizeof *plan);
  assert_non_null(plan);
  memset(of, 0, sizeof *of);
  open_job(&of->job, 2);
  for (int r = 0; r < 2; r++) {
    text(plan, r, 2, 0, false);
    test_job_plan(&of->job, r, plan->data);
    test_job_direct(&of->job, r, TT_CLASS_CELLS, &of->direct[r]);
  }
  free(plan);
}

static void close_pair(pair *of) {
  for (int r = 0; r < 2; r++)
    tt_executor_destroy(of->direct[r]);
  test_job_close(&of->job);
}

static void start(pair *of, int r, uint64_t call, uint64_t key) {
  tt_run run = {.in = &of->in[r],
                .out = &of->out[r],
                .blocks = {.block_count = 1, .total = 1},
                .type = TUTTI_INT32,
                .call = call,
                .key = key};
  test_ok(of->direct[r]->ops->start(of->direct[r], &run));
}

static bool step(pair *of, int r) {
  bool done, moved;
  int64_t peer;
  test_ok(of->direct[r]->ops->step(of->direct[r], &done, &moved, &peer));
  return done;
}

static int64_t sum(const tt_spent *spent) {
  int64_t all = 0;
  for (uint32_t n = 0; n < spent->level_count; n++)
    all += spent->level[n].move_ns + spent->level[n].wait_ns;
  return all;
}

static void test_time_of_a_direct_run_is_of_its_level(void **state) {
  (void)state;
  pair of;
  tt_spent spent = {.level_count = 0};
  open_pair(&of, broadcast_text);
  tt_stream_table_watch(of.job.streams[1], &spent);
  int64_t before = tt_clock_ns();
  start(&of, 1, 1, 1);
  assert_false(step(&of, 1));
  int64_t idle = tt_clock_ns(), begun = idle;
  while (idle == begun)
    idle = tt_clock_ns();
  start(&of, 0, 1, 1);
  assert_true(step(&of, 0));
  assert_true(step(&of, 1));
  int64_t elapsed = tt_clock_ns() - before;
  assert_int_equal(spent.level_count, 1);
  assert_string_equal(spent.level[0].name, "core");
  assert_false(spent.level[0].far);
  assert_true(spent.level[0].wait_ns > 0);
  assert_true(sum(&spent) <= elapsed);
  close_pair(&of);
}

static void test_publisher_does_not_overtake_its_readers(void **state) {
  (void)state;
  pair of;
  open_pair(&of, broadcast_text);
  int ahead = 0;
  do {
    of.in[0] = ahead;
    start(&of, 0, (uint64_t)++ahead, 1);
  } while (step(&of, 0));
  assert_in_range(ahead, 3, 1000); /* some calls ahead, and then it waits */
  assert_false(of.direct[0]->ops->awaits_neighbour(of.direct[0]));
  tt_stream_table_set_neighbour(of.job.streams[0], 1, true); /* the reader that keeps it from publishing */
  assert_true(of.direct[0]->ops->awaits_neighbour(of.direct[0]));
  for (int n = 1; n <= ahead; n++) {
    start(&of, 1, (uint64_t)n, 1);
    if (n == ahead)
      assert_true(step(&of, 0));
    assert_true(step(&of, 1));
    assert_int_equal(of.out[1], n - 1);
  }
  close_pair(&of);
}

static void test_other_key_or_call_is_a_mismatch_that_names_the_peer(void **state) {
  (void)state;
  static const struct {
    uint64_t call, key;
  } other[] = {{7, 2}, {8, 1}};
  for (size_t n = 0; n < TT_COUNT(other); n++) {
    pair of;
    bool done, moved;
    int64_t peer = -1;
    open_pair(&of, allreduce_text);
    start(&of, 0, 7, 1);
    start(&of, 1, other[n].call, other[n].key);
    assert_int_equal(of.direct[1]->ops->step(of.direct[1], &done, &moved, &peer), TUTTI_ERR_MISMATCH);
    assert_int_equal(peer, 0);
    assert_non_null(strstr(tutti_last_error(), "rank 0"));
    assert_int_equal(of.direct[1]->ops->step(of.direct[1], &done, &moved, &peer), TUTTI_ERR_MISMATCH);
    assert_int_equal(of.out[1], 0);
    close_pair(&of);
  }
}

static void test_plan_of_two_rounds_is_refused(void **state) {
  (void)state;
  static const char text[] = "plan rank 0 of 2 blocks 1 parts 1 tmp 0 times 2 slice 0 direct\nlevel 0 core\n"
                             "lane 0 id 1 recv level 0 channel 0\n  0 t0 recv <-1 b0 => out.0 first last\n"
                             "lane 1 id 1 send level 0 channel 0\n  0 t1 send ->1 b0 out.0 first last wait 0.0\n";
  tt_plan *plan;
  tt_bound_plan *bound;
  tt_bind_facts facts = {.blocks = TT_CLASS_CELLS};
  test_ok(tt_plan_parse(text, &plan));
  assert_int_equal(tt_bind(plan, &facts, &bound), TUTTI_ERR_PLAN);
  tt_plan_destroy(plan);
}

static void test_what_is_better_read_in_place_does_not_fit(void **state) {
  (void)state;
  pair of;
  open_pair(&of, allreduce_text);
  tt_run run = {.type = TUTTI_INT32, .blocks = {.block_count = 1, .total = 2048}, .refer_least = 8192};
  assert_int_equal(tt_run_class(of.job.plan[0], &run), TT_CLASS_CELLS);
  run.single_copy = true;
  assert_int_equal(tt_run_class(of.job.plan[0], &run), TT_CLASS_STREAMS);
  run.blocks.total = 2047;
  assert_int_equal(tt_run_class(of.job.plan[0], &run), TT_CLASS_CELLS);
  run.blocks = (tt_block_table){.block_count = 2, .total = 4094}; /* no block is so long, though both are */
  assert_int_equal(tt_run_class(of.job.plan[0], &run), TT_CLASS_CELLS);
  run.blocks.total = 4095;
  assert_int_equal(tt_run_class(of.job.plan[0], &run), TT_CLASS_STREAMS);
  run.blocks.total = 5000; /* more than the direct executor has room for, whatever is read in place */
  run.refer_least = 32 << 10;
  assert_int_equal(tt_run_class(of.job.plan[0], &run), TT_CLASS_STREAMS);
  close_pair(&of);
}

static void test_many_ranks_with_a_block_each_fit_by_their_blocks(void **state) {
  (void)state;
  static const struct {
    int64_t ranks, each;
    bool own, fits;
  } of[] = {
      {32, 128, true, true},   {32, 129, true, false},   {33, 128, true, true},    {33, 129, true, false},
      {2048, 128, true, true}, {2048, 129, true, false}, {2048, 128, false, false}}; /* 16 KiB: of all up to 32 ranks,
                                                                                        then 512 bytes of each that has
                                                                                        but its own */
  for (size_t n = 0; n < TT_COUNT(of); n++) {
    const tt_plan plan = {.rank_count = of[n].ranks, .direct = true};
    const tt_run run = {.type = TUTTI_INT32,
                        .in_own = of[n].own,
                        .blocks = {.block_count = of[n].ranks, .total = of[n].ranks * of[n].each}};
    assert_int_equal(tt_run_class(&plan, &run), of[n].fits ? TT_CLASS_CELLS : TT_CLASS_STREAMS);
  }
}

static void test_keys_agree_where_one_says_nothing_of_what_bytes_mean(void **state) {
  (void)state;
  assert_true(tt_key_agrees(0x70001, 0x70001));
  assert_true(tt_key_agrees(0x70001, 0x70000));
  assert_true(tt_key_agrees(0x70000, 0x7ffff));
  assert_false(tt_key_agrees(0x70001, 0x70002));
  assert_false(tt_key_agrees(0x70000, 0x80000));
  assert_false(tt_key_agrees(0x70001, 0x80001));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_direct_gives_the_bits_of_the_interpreter),
      cmocka_unit_test(test_time_of_a_direct_run_is_of_its_level),
      cmocka_unit_test(test_publisher_does_not_overtake_its_readers),
      cmocka_unit_test(test_other_key_or_call_is_a_mismatch_that_names_the_peer),
      cmocka_unit_test(test_keys_agree_where_one_says_nothing_of_what_bytes_mean),
      cmocka_unit_test(test_plan_of_two_rounds_is_refused),
      cmocka_unit_test(test_what_is_better_read_in_place_does_not_fit),
      cmocka_unit_test(test_many_ranks_with_a_block_each_fit_by_their_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

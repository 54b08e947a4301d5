/* Jobs over several nodes: shared memory inside them, between them the sockets of examples/sockets.c, as a user's
 * transport, or tcp on the loopback. Nodes are pretended, all ranks being here; that nothing goes between ranks of a
 * node but through shared memory is checked at each message of the user's. Every collective and preset against results
 * computed here, many outstanding; the messages between nodes counted. */
#define main sockets_main
#include "../../examples/sockets.c"
#undef main

#include "conformance/program.h"
#include "fault/fault.h"

enum { MOST_RANKS = 9 };

typedef struct bed { /* a job; the memory is shared by its ranks */
  const char *name;
  int64_t count;
  int node[MOST_RANKS];
  bool tcp;            /* between nodes */
  const char *refused; /* no job can be made, and this is why */
  int (*pair)[RANKS][2];
  void (*body)(const struct bed *of, tutti_context *context);
  program_memory *program;
  _Atomic int64_t *messages; /* between nodes, by all ranks */
  _Atomic int64_t *planned;  /* the same as their plans have it */
  _Atomic int64_t *met;
} bed;

static const bed beds[] = {{.name = "5 and 3", .count = 8, .node = {7, 7, 7, 7, 7, 2, 2, 2}},
                           {.name = "interleaved", .count = 8, .node = {0, 1, 0, 1, 0, 0, 1, 0}},
                           {.name = "three, uneven", .count = 9, .node = {4, 0, 0, 4, 9, 0, 0, 9, 0}},
                           {.name = "a rank each", .count = 4, .node = {0, 1, 2, 3}},
                           {.name = "one node", .count = 3, .node = {5, 5, 5}}};

static uint64_t seed;
static int rounds;
static const bed *current; /* of this process */
static int64_t own_rank;

/* ---- the transport between nodes: the example's, with its messages counted ---- */

static tutti_status count_open(void *self, const tutti_stream_spec *spec, tutti_stream **stream) {
  CHECK(spec->reader_count == 1);
  CHECK(current->node[spec->source] != current->node[spec->readers[0]]);
  return stream_open(self, spec, stream);
}

/* Notes are sent by who has waited long, which is a matter of the machine's load. */
static bool is_note(const tutti_stream *stream) { return (uint32_t)stream->id >= UINT32_MAX - 32; /* notes.c */ }

static tutti_status count_commit(void *self, tutti_stream *stream, size_t bytes) {
  CHECK(current->node[stream->peer] != current->node[own_rank]);
  atomic_fetch_add_explicit(current->messages, !is_note(stream), memory_order_relaxed);
  return commit(self, stream, bytes);
}

/* ---- jobs ---- */

/* As a group map in the environment. */
static void pretend_nodes(const bed *of) {
  char text[8 * MOST_RANKS] = "";
  for (int64_t r = 0; r < of->count; r++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", r ? "," : "", of->node[r]);
  strcat(text, ":");
  setenv("TUTTI_NODES", text, 1);
  setenv("TUTTI_NICS", "lo", 1);
}

static void never(void *self, tutti_stream *stream, tutti_stream_sent *sent) {
  (void)self;
  (void)stream;
  bool has_such_a_member = false;
  (void)sent;
  CHECK(has_such_a_member);
}

static void run_rank_of(const tutti_boot *boot, void *argument) {
  const bed *of = current = argument;
  mesh own = own_mesh(of->pair, boot->rank, of->count);
  tutti_transport_ops ops = transport;
  tutti_context *context;
  tutti_context_options options;
  own_rank = boot->rank;
  ops.size = offsetof(tutti_transport_ops, sent); /* as of a program of before */
  ops.sent = never;
  ops.stream_open = count_open;
  ops.commit = count_commit;
  setenv("TUTTI_TIMEOUT", "60s", 1);
  alarm(200);
  tutti_context_options_init(&options);
  options.boot = boot;
  if (of->tcp) {
    pretend_nodes(of);
  } else {
    options.transport = &ops;
    options.transport_config = &own;
    options.node = of->node[boot->rank];
  }
  tutti_status status = tutti_context_create(&options, &context);
  if (of->refused) {
    CHECK(status != TUTTI_OK && strstr(tutti_last_error(), of->refused));
    return;
  }
  CHECK(status == TUTTI_OK);
  of->body(of, context);
  tutti_context_destroy(context);
  check_leaks();
}

static void *shared_memory(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(memory, MAP_FAILED);
  return memory;
}

static void run_over(const bed *of, bool tcp, void (*body)(const bed *of, tutti_context *context)) {
  int pair[RANKS][RANKS][2];
  bed mine = *of;
  mine.tcp = tcp;
  mine.body = body;
  mine.pair = pair;
  mine.program = shared_memory(sizeof *mine.program);
  mine.messages = shared_memory(3 * sizeof *mine.messages);
  mine.planned = mine.messages + 1;
  mine.met = mine.messages + 2;
  for (int64_t a = 0; a < of->count; a++)
    for (int64_t b = 0; b < a; b++)
      assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair[a][b]), 0);
  job started = job_start((int)of->count, run_rank_of, &mine);
  own_mesh(pair, -1, of->count);
  int failed = job_wait(&started);
  munmap(mine.program, sizeof *mine.program);
  munmap(mine.messages, 3 * sizeof *mine.messages);
  if (failed)
    fail_msg("%s%s, TUTTI_TEST_SEED=%" PRIu64 ": %d ranks failed", of->name, tcp ? ", tcp" : "", seed, failed);
}

static void run_bed(const bed *of, void (*body)(const bed *of, tutti_context *context)) { run_over(of, false, body); }

/* ---- making ---- */

static void test_ranks_must_agree_on_what_transports_are_for(void **state) {
  (void)state;
  run_bed(&(bed){.name = "one without a node",
                 .count = 3,
                 .node = {0, -1, 0},
                 .refused = "ranks 0 and 1 have different transports"},
          NULL);
  run_bed(&(bed){.name = "a wrong node", .count = 2, .node = {-5, -5}, .refused = "options->node is -5"}, NULL);
}

/* ---- results ---- */

static void run_calls(const bed *of, tutti_context *context) {
  program_run(context, &(program_options){seed, rounds, 20000, of->program});
}

static void test_calls_over_nodes_are_right(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(beds); n++)
    run_bed(&beds[n], run_calls);
}

static void test_calls_over_tcp_are_right(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(beds); n++)
    run_over(&beds[n], true, run_calls);
}

/* ---- messages ---- */

/* All ranks have come here; by memory alone, so that nothing is counted. Each one's add pairs with the load of the
 * others; it orders all that they count, too. */
static void meet(const bed *of) {
  int64_t turn = atomic_fetch_add_explicit(of->met, 1, memory_order_acq_rel) / of->count;
  while (atomic_load_explicit(of->met, memory_order_acquire) < (turn + 1) * of->count)
    sched_yield();
}

/* Messages between nodes by all ranks in this call. */
static int64_t count_messages(const bed *of, tutti_comm *comm, tt_collective collective, int64_t count) {
  static int64_t in[1024], out[1024];
  int64_t counts[MOST_RANKS];
  for (int64_t r = 0; r < MOST_RANKS; r++)
    counts[r] = count;
  const call_arguments arguments = {.in = in,
                                    .out = out,
                                    .count = count,
                                    .in_counts = counts,
                                    .out_counts = counts,
                                    .type = TUTTI_INT64,
                                    .op = TUTTI_SUM,
                                    .comm = comm};
  meet(of);
  int64_t before = atomic_load_explicit(of->messages, memory_order_relaxed);
  meet(of);
  CHECK(call_invoke(collective, CALL_BLOCK, &arguments, NULL) == TUTTI_OK);
  meet(of);
  return atomic_load_explicit(of->messages, memory_order_relaxed) - before;
}

/* What each short call sends between two nodes, by the shipped profile: one message each way that data goes. */
static const struct {
  tt_collective collective;
  int64_t messages;
} short_calls[] = {{TT_ALLREDUCE, 2},      {TT_BROADCAST, 1}, {TT_REDUCE, 1},         {TT_ALLGATHER, 2},
                   {TT_REDUCE_SCATTER, 2}, {TT_GATHER, 1},    {TT_SCATTER, 1},        {TT_ALL_TO_ALL, 2},
                   {TT_ALLGATHERV, 2},     {TT_BARRIER, 2},   {TT_REDUCE_SCATTERV, 2}};

static void send_short(const bed *of, tutti_context *context) {
  tutti_comm *comm;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(short_calls); n++)
    CHECK(count_messages(of, comm, short_calls[n].collective, 1) == short_calls[n].messages);
  tutti_comm_destroy(comm);
}

static void test_short_calls_send_one_message_each_way(void **state) {
  (void)state;
  run_bed(&beds[0], send_short);
  run_bed(&beds[1], send_short);
}

/* What this rank's plan sends to other nodes. */
static int64_t planned(const bed *of, const tt_plan *plan) {
  int64_t messages = 0;
  for (uint32_t n = 0; n < plan->step_count; n++) {
    const tt_step *step = &plan->step[n];
    messages += step->kind == TT_STEP_SEND && step->flags & TT_STEP_LAST && step->peer >= 0 &&
                of->node[step->peer] != of->node[own_rank];
  }
  return messages;
}

static void send_as_planned(const bed *of, tutti_context *context) {
  tutti_comm *comm;
  size_t presets;
  const tt_preset *preset = tt_preset_table(&presets);
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  for (size_t n = 0; n < presets; n++) {
    call made = {.collective = TT_ALLREDUCE};
    snprintf(made.params, sizeof made.params, "%s", preset[n].name);
    if (!choose_valid(&made, comm, NULL))
      continue;
    CHECK(tutti_comm_set_params(comm, "allreduce", preset[n].name) == TUTTI_OK);
    int64_t counted = count_messages(of, comm, TT_ALLREDUCE, 16 * of->count);
    CHECK(strcmp(tutti_comm_last_params(comm), preset[n].name) == 0);
    atomic_fetch_add_explicit(of->planned, planned(of, comm->calls.entries->plan), memory_order_relaxed);
    meet(of);
    CHECK(counted == atomic_load_explicit(of->planned, memory_order_relaxed));
    meet(of);
    atomic_store_explicit(of->planned, 0, memory_order_relaxed);
  }
  tutti_comm_destroy(comm);
}

static void test_messages_are_those_of_the_plan(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(beds); n++)
    run_bed(&beds[n], send_as_planned);
}

static void stay_inside(const bed *of, tutti_context *context) {
  tutti_comm *all, *part;
  CHECK(tutti_comm_create(context, &all) == TUTTI_OK);
  CHECK(tutti_comm_split(all, of->node[own_rank], -own_rank, &part) == TUTTI_OK);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    if (!call_row_of((tt_collective)c).types && !tt_compose_info((tt_collective)c).has_graph &&
        tt_compose_info((tt_collective)c).lengths == TT_LENGTHS_ALL)
      CHECK(count_messages(of, part, (tt_collective)c, 100) == 0);
  CHECK(part->agree.board != NULL); /* shared cells: the direct executor, and errors that name calls */
  tutti_comm_destroy(part);
  tutti_comm_destroy(all);
}

static void test_what_is_on_one_node_stays_there(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(beds); n++)
    run_bed(&beds[n], stay_inside);
}

/* ---- errors ---- */

/* All ranks get the status, with these words in the text. */
static void expect(tutti_status status, tutti_status wanted, const char *first, const char *second) {
  if (status != wanted || !strstr(tutti_last_error(), first) || !strstr(tutti_last_error(), second))
    fprintf(stderr, "rank %d: %s, expected %s with '%s' and '%s'\n", (int)own_rank, tutti_status_name(status),
            tutti_status_name(wanted), first, second);
  CHECK(status == wanted && strstr(tutti_last_error(), first) && strstr(tutti_last_error(), second));
}

static void count_wrong(const bed *of, tutti_context *context) {
  static int64_t in[40000], out[40000];
  tutti_comm *comm, *other;
  (void)of;
  for (int64_t count = 10; count < 40000; count *= 1000) {
    CHECK(tutti_comm_create(context, &comm) == TUTTI_OK && tutti_comm_create(context, &other) == TUTTI_OK);
    int64_t own = own_rank == 6 ? count + 1 : count;
    tutti_status status = tutti_allreduce(in, out, own, TUTTI_INT64, TUTTI_SUM, comm);
    expect(status, TUTTI_ERR_MISMATCH, "rank 6 called allreduce(count 1", "1, int64, sum)");
    expect(tutti_barrier(comm), TUTTI_ERR_MISMATCH, "rank 6 called allreduce(count 1", "1, int64, sum)");
    CHECK(tutti_barrier(other) == TUTTI_OK); /* it concerns one communicator */
    tutti_comm_destroy(comm);
    tutti_comm_destroy(other);
  }
}

/* Nobody gets a slot that he waits for: it is found by asking. */
static void call_apart(const bed *of, tutti_context *context) {
  static int64_t in[64], out[64];
  tutti_comm *comm;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  bool odd = of->node[own_rank] != of->node[0];
  tutti_status status = odd ? tutti_scan(in, out, 5, TUTTI_INT64, TUTTI_MAX, comm)
                            : tutti_reduce(in, out, 4, TUTTI_INT64, TUTTI_SUM, 7, comm);
  for (int n = 0; status == TUTTI_OK && n < 3; n++) /* who got nothing and waited for nobody learns it later */
    status = tutti_barrier(comm);
  expect(status, TUTTI_ERR_MISMATCH, "called scan(count 5, int64, max)", "called reduce(count 4, int64, sum, root 7)");
  tutti_comm_destroy(comm);
}

static void die(const bed *of, tutti_context *context) {
  tutti_comm *comm;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  tutti_status status = tutti_barrier(comm); /* others can still be in it when rank 6 dies */
  if (own_rank == 6) {
    CHECK(status == TUTTI_OK);
    _exit(0);
  }
  while (status == TUTTI_OK)
    status = tutti_barrier(comm);
  expect(status, TUTTI_ERR_PEER, "rank 6", "");
  tutti_comm_destroy(comm);
  (void)of;
}

static void abort_one(const bed *of, tutti_context *context) {
  tutti_comm *comm;
  (void)of;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  if (own_rank == 1)
    tutti_comm_abort(comm, "enough");
  expect(tutti_barrier(comm), TUTTI_ERR_ABORTED, "rank 1 aborted", "enough");
  tutti_comm_destroy(comm);
}

static void test_errors_reach_all_nodes(void **state) {
  (void)state;
  for (int n = 0; n < 4; n++) {
    run_over(&beds[n / 2], n % 2, count_wrong);
    run_over(&beds[n / 2], n % 2, call_apart);
    run_over(&beds[n / 2], n % 2, die);
    run_over(&beds[n / 2], n % 2, abort_one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranks_must_agree_on_what_transports_are_for),
      cmocka_unit_test(test_calls_over_nodes_are_right),
      cmocka_unit_test(test_calls_over_tcp_are_right),
      cmocka_unit_test(test_short_calls_send_one_message_each_way),
      cmocka_unit_test(test_messages_are_those_of_the_plan),
      cmocka_unit_test(test_what_is_on_one_node_stays_there),
      cmocka_unit_test(test_errors_reach_all_nodes),
  };
  seed = getenv("TUTTI_TEST_SEED") ? strtoull(getenv("TUTTI_TEST_SEED"), NULL, 10) : (uint64_t)time(NULL);
  rounds = getenv("TUTTI_TEST_LONG") ? 300 : 30;
  print_message("TUTTI_TEST_SEED=%" PRIu64 "\n", seed);
  return cmocka_run_group_tests(tests, NULL, NULL);
}

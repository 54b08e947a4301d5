/* tests/fault/fork_test.c - a process that a rank has forked calls tutti: every call that would touch the job is an
 * error there that says so, however the process was forked, and the job goes on as if nothing had happened. */
#include "conformance/invoke.h"
#include "fault/fault.h"

#include <tutti/composition.h>

#include <inttypes.h>
#include <sys/syscall.h>

enum { ENOUGH = 4096 };

typedef struct things { /* that a rank has before it forks */
  const tutti_boot *boot;
  tutti_context *context;
  tutti_comm *comm;
  tutti_graph *graph;
  tutti_composition *composition;
  tutti_request *started, *persistent;
  int64_t outer[2];
} things;

static int64_t sum_of(tutti_comm *comm, int64_t mine) {
  int64_t sum = -1;
  CHECK(tutti_allreduce(&mine, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_OK);
  return sum;
}

/* ---- in the child ---- */

static void check_refused(const things *of, tutti_status status, const char *function) {
  char rank[64], name[64];
  const char *text = tutti_last_error();
  snprintf(rank, sizeof rank, "is a fork of rank %" PRId64 " of the job", of->boot->rank);
  snprintf(name, sizeof name, "%s: this process", function);
  if (status != TUTTI_ERR_UNSUPPORTED || !strstr(text, rank) || !strstr(text, name))
    fprintf(stderr, "%s: %s, '%s'\n", function, tutti_status_name(status), text);
  CHECK(status == TUTTI_ERR_UNSUPPORTED && strstr(text, rank) && strstr(text, name));
}

/* Every collective, in its three forms. */
static void call_all(const things *of) {
  static const char *const forms[] = {[CALL_BLOCK] = "", [CALL_START] = "_start", [CALL_INIT] = "_init"};
  static unsigned char in[ENOUGH], out[ENOUGH];
  static const int64_t counts[64], offsets[64];
  static const tutti_type types[64];
  const call_arguments arguments = {.in = in,
                                    .out = out,
                                    .count = 1,
                                    .in_count = 0,
                                    .out_count = 0,
                                    .in_counts = counts,
                                    .in_offsets = offsets,
                                    .out_counts = counts,
                                    .out_offsets = offsets,
                                    .in_types = types,
                                    .out_types = types,
                                    .type = TUTTI_INT32,
                                    .op = TUTTI_SUM,
                                    .comm = of->comm,
                                    .graph = of->graph};
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (int form = CALL_BLOCK; form <= CALL_INIT; form++) {
      tutti_request *request = NULL;
      char name[64];
      snprintf(name, sizeof name, "tutti_%s%s", tt_compose_info((tt_collective)c).name, forms[form]);
      for (char *at = name; *at; at++)
        *at = *at == '-' ? '_' : *at;
      check_refused(of, call_invoke((tt_collective)c, (call_mode)form, &arguments, &request), name);
      CHECK(request == NULL);
    }
}

static void call_others(things *of) {
  static const int64_t ranks[] = {0};
  tutti_comm *comm = NULL;
  tutti_graph *graph = NULL;
  tutti_composition *composition = NULL;
  tutti_request *request = NULL;
  void *memory = NULL;
  int done;
  int64_t count = 1;
  const tutti_block_table blocks = {.counts = &count};
  check_refused(of, tutti_wait(&of->started), "tutti_wait");
  check_refused(of, tutti_test(&of->started, &done), "tutti_test");
  check_refused(of, tutti_request_start(of->persistent), "tutti_request_start");
  check_refused(of, tutti_comm_create(of->context, &comm), "tutti_comm_create");
  check_refused(of, tutti_comm_split(of->comm, 0, 0, &comm), "tutti_comm_split");
  check_refused(of, tutti_comm_create_group(of->context, 99, 1, ranks, &comm), "tutti_comm_create_group");
  check_refused(of, tutti_graph_create(of->comm, 0, NULL, 0, NULL, &graph), "tutti_graph_create");
  check_refused(of, tutti_graph_create_known(of->comm, ranks, ranks, ranks, &graph), "tutti_graph_create_known");
  check_refused(of, tutti_composition_create(of->comm, 1, &composition), "tutti_composition_create");
  check_refused(
      of, tutti_composition_init(of->composition, of->outer, of->outer, &blocks, TUTTI_INT64, TUTTI_SUM, &request),
      "tutti_composition_init");
  check_refused(of, tutti_alloc(of->context, 100, &memory), "tutti_alloc");
  fclose(stderr); /* where these say what they found */
  tutti_comm_refuse(of->comm, "no reason");
  check_refused(of, TUTTI_ERR_UNSUPPORTED, "tutti_comm_refuse");
  tutti_comm_abort(of->comm, "no reason");
  check_refused(of, TUTTI_ERR_UNSUPPORTED, "tutti_comm_abort");
  CHECK(!comm && !graph && !composition && !request && !memory && of->started);
}

/* A job of its own beside its parent's, which stays its parent's. */
static void make_own(const things *of) {
  tutti_context *context = NULL;
  tutti_comm *comm = NULL;
  unsetenv("TUTTI_BOOT");
  CHECK(tutti_context_create(NULL, &context) == TUTTI_OK && tutti_context_size(context) == 1);
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK && sum_of(comm, 7) == 7);
  check_refused(of, tutti_barrier(of->comm), "tutti_barrier");
  pid_t child = fork();
  if (child == 0) {
    CHECK(tutti_barrier(comm) == TUTTI_ERR_UNSUPPORTED && tutti_barrier(of->comm) == TUTTI_ERR_UNSUPPORTED);
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(sum_of(comm, 8) == 8);
  leave_all(context, comm);
}

static void be_child(things *of) {
  alarm(HANG_S);
  call_all(of);
  make_own(of);
  call_others(of);
  tutti_request_destroy(of->persistent);
  tutti_composition_destroy(of->composition);
  tutti_graph_destroy(of->graph);
  leave_all(of->context, of->comm);
  _exit(0);
}

/* ---- in the rank ---- */

static pid_t fork_plainly(void) { return fork(); }
static pid_t fork_raw(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); }

static void begin_sum(things *of) {
  of->outer[0] = of->boot->rank;
  CHECK(tutti_allreduce_start(&of->outer[0], &of->outer[1], 1, TUTTI_INT64, TUTTI_SUM, of->comm, &of->started) ==
        TUTTI_OK);
}

static void make_things(things *of) {
  static int64_t in, out;
  const int64_t self[] = {of->boot->rank};
  of->comm = join_all(of->boot, &of->context);
  CHECK(tutti_graph_create(of->comm, 1, self, 1, self, &of->graph) == TUTTI_OK);
  CHECK(tutti_composition_create(of->comm, 1, &of->composition) == TUTTI_OK);
  CHECK(tutti_composition_stage(of->composition, "go") == TUTTI_OK);
  CHECK(tutti_composition_multicast(of->composition, 0, NULL, 0, 0, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
  CHECK(tutti_allreduce_init(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, of->comm, &of->persistent) == TUTTI_OK);
}

static void unmake_things(things *of) {
  tutti_request_destroy(of->persistent);
  tutti_composition_destroy(of->composition);
  tutti_graph_destroy(of->graph);
  leave_all(of->context, of->comm);
}

static void fork_ranks(const tutti_boot *boot, void *argument) {
  pid_t (*const ways[])(void) = {fork_plainly, fork_raw};
  int64_t ranks = boot->rank_count, all = ranks * (ranks - 1) / 2;
  if (*(const char *)argument)
    setenv("TUTTI_PROGRESS", argument, 1);
  things of = {.boot = boot};
  make_things(&of);
  for (int way = 0; way < 2; way++) {
    int status = -1;
    begin_sum(&of);
    pid_t child = ways[way]();
    if (child == 0)
      be_child(&of);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(tutti_wait(&of.started) == TUTTI_OK && of.outer[1] == all);
    for (int n = 0; n < 20; n++)
      CHECK(sum_of(of.comm, n) == ranks * n);
  }
  unmake_things(&of);
}

static void test_calls_of_a_fork_are_refused_by_name(void **state) {
  (void)state;
  run_job(3, fork_ranks, "");
  run_job(3, fork_ranks, "thread");
}

/* A child of vfork runs in its parent's memory until it is another program. */
static void start_programs(const tutti_boot *boot, void *unused) {
  (void)unused;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  for (int n = 0; n < 10; n++) {
    int status = -1;
    pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", (char *)NULL);
      _exit(1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(system("true") == 0);
    CHECK(sum_of(comm, n) == 2 * n);
  }
  leave_all(context, comm);
}

static void test_programs_that_ranks_start_are_no_forks(void **state) {
  (void)state;
  run_job(2, start_programs, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_calls_of_a_fork_are_refused_by_name),
      FAULT_TEST(test_programs_that_ranks_start_are_no_forks),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

/* Persistent requests, started in an order of each rank's own: right results, and an error with names where a rank does
 * not start one, dies, or made another. */
#include "api/api.h"
#include "fault/fault.h"
#include "transport/shm/self.h"

#include <inttypes.h>
#include <malloc.h>
#include <tutti/composition.h>

/* ---- two of them ---- */

typedef struct crossing {
  int64_t count;
  const char *nodes;
} crossing;

static void fill(int64_t *data, int64_t count, int64_t value) {
  for (int64_t n = 0; n < count; n++)
    data[n] = value + n;
}

static void check_filled(const int64_t *data, int64_t count, int64_t value) {
  for (int64_t n = 0; n < count; n++)
    CHECK(data[n] == value + n);
}

static tutti_request *init_broadcast(int64_t *data, int64_t count, tutti_comm *comm) {
  tutti_request *request = NULL;
  CHECK(tutti_broadcast_init(data, data, count, TUTTI_INT64, 0, comm, &request) == TUTTI_OK);
  return request;
}

static void cross_two(const tutti_boot *boot, void *argument) {
  const crossing *how = argument;
  setenv("TUTTI_NODES", how->nodes, 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t count = how->count, *data = calloc((size_t)(2 * count), sizeof *data);
  tutti_request *request[2] = {init_broadcast(data, count, comm), init_broadcast(data + count, count, comm)};
  for (int64_t round = 1; round < 40; round++) {
    int first = (int)boot->rank % 2;
    memset(data, 0, (size_t)(2 * count) * sizeof *data);
    for (int n = 0; n < 2 && boot->rank == 0; n++)
      fill(data + n * count, count, 1000 * round + n);
    CHECK(tutti_request_start(request[first]) == TUTTI_OK);
    CHECK(tutti_request_start(request[1 - first]) == TUTTI_OK);
    for (int n = 0; n < 2; n++)
      CHECK(tutti_wait(&request[n]) == TUTTI_OK);
    for (int n = 0; n < 2; n++)
      check_filled(data + n * count, count, 1000 * round + n);
  }
  for (int n = 0; n < 2; n++)
    tutti_request_destroy(request[n]);
  free(data);
  leave_all(context, comm);
  check_leaks();
}

static void test_equal_broadcasts_start_in_opposite_orders(void **state) {
  (void)state;
  static const char *const nodes[] = {"", "2x2"};
  static const int64_t counts[] = {1, 100, 70000};
  for (int n = 0; n < 2; n++)
    for (int c = 0; c < 3; c++)
      run_job(4, cross_two, &(crossing){counts[c], nodes[n]});
}

/* Rank 0 starts first and then blocks; the others block first. */
static void cross_blocking(const tutti_boot *boot, void *argument) {
  const crossing *how = argument;
  setenv("TUTTI_NODES", how->nodes, 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t count = how->count, *data = calloc((size_t)(2 * count), sizeof *data), *other = data + count;
  tutti_request *request = init_broadcast(data, count, comm);
  for (int64_t round = 1; round < 40; round++) {
    memset(data, 0, (size_t)(2 * count) * sizeof *data);
    if (boot->rank == 0) {
      fill(data, count, 1000 * round);
      fill(other, count, 1000 * round + 1);
    }
    if (boot->rank == 0)
      CHECK(tutti_request_start(request) == TUTTI_OK);
    CHECK(tutti_broadcast(other, other, count, TUTTI_INT64, 0, comm) == TUTTI_OK);
    if (boot->rank != 0)
      CHECK(tutti_request_start(request) == TUTTI_OK);
    CHECK(tutti_wait(&request) == TUTTI_OK);
    check_filled(data, count, 1000 * round);
    check_filled(other, count, 1000 * round + 1);
  }
  tutti_request_destroy(request);
  free(data);
  leave_all(context, comm);
  check_leaks();
}

static void test_persistent_and_blocking_cross(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 70000};
  for (int c = 0; c < 2; c++) {
    run_job(3, cross_blocking, &(crossing){counts[c], ""});
    run_job(4, cross_blocking, &(crossing){counts[c], "2x2"});
  }
}

/* ---- many of all kinds ---- */

enum { REQUESTS = 24, COMMS = 3, MOST = 5000, RANKS = 5 };

typedef enum kind { ALLREDUCE, IN_PLACE, BROADCAST, ALLGATHER, ALL_TO_ALL, SCATTERV, BARRIER, RING, KINDS } kind;

typedef struct many {
  kind kind;
  int64_t count, root;
  tutti_comm *comm;
  tutti_graph *graph;
  int64_t counts[RANKS];
  int64_t in[MOST * RANKS], out[MOST * RANKS];
  tutti_request *request;
  bool started;
} many;

typedef struct setting {
  uint64_t seed;
  int rounds;
  const char *nodes, *slots, *direct, *progress;
} setting;

static int64_t value(int64_t what, int64_t round, int64_t rank, int64_t n) {
  return what * 1000003 + round * 10007 + rank * 101 + n;
}

static tutti_status init_scatterv(many *of, int64_t ranks) {
  for (int64_t r = 0; r < ranks; r++)
    of->counts[r] = (of->count + r) % MOST;
  return tutti_scatterv_init(of->in, of->counts, NULL, of->out, of->counts[tutti_comm_rank(of->comm)], TUTTI_INT64,
                             of->root, of->comm, &of->request);
}

static void init(many *of, int64_t ranks) {
  tutti_status status = TUTTI_ERR_ARGUMENT;
  switch (of->kind) {
  case ALLREDUCE:
    status = tutti_allreduce_init(of->in, of->out, of->count, TUTTI_INT64, TUTTI_SUM, of->comm, &of->request);
    break;
  case IN_PLACE:
    status = tutti_allreduce_init(of->out, of->out, of->count, TUTTI_INT64, TUTTI_SUM, of->comm, &of->request);
    break;
  case BROADCAST:
    status = tutti_broadcast_init(of->out, of->out, of->count, TUTTI_INT64, of->root, of->comm, &of->request);
    break;
  case ALLGATHER:
    status = tutti_allgather_init(of->in, of->out, of->count, TUTTI_INT64, of->comm, &of->request);
    break;
  case ALL_TO_ALL:
    status = tutti_all_to_all_init(of->in, of->out, of->count, TUTTI_INT64, of->comm, &of->request);
    break;
  case SCATTERV:
    status = init_scatterv(of, ranks);
    break;
  case BARRIER:
    status = tutti_barrier_init(of->comm, &of->request);
    break;
  case RING:
    status = tutti_neighbor_allgather_init(of->in, of->out, of->count, TUTTI_INT64, of->graph, &of->request);
    break;
  case KINDS:
    break;
  }
  CHECK(status == TUTTI_OK);
}

static void put(many *of, int64_t what, int64_t round, int64_t rank, int64_t ranks) {
  int64_t *to = of->kind == IN_PLACE || (of->kind == BROADCAST && rank == of->root) ? of->out : of->in;
  memset(of->out, 0xff, sizeof of->out[0] * (size_t)(of->count * ranks));
  int64_t count = of->kind == ALL_TO_ALL || of->kind == SCATTERV ? MOST * ranks : of->count;
  for (int64_t n = 0; n < count; n++)
    to[n] = value(what, round, rank, n);
}

static void check_sum(const many *of, int64_t what, int64_t round, int64_t ranks) {
  for (int64_t n = 0; n < of->count; n++)
    CHECK(of->out[n] == ranks * value(what, round, 0, n) + 101 * ranks * (ranks - 1) / 2);
}

/* Elements of `out` from `at` on are those of that rank's from `first` on. */
static void check_part(const many *of, int64_t at, int64_t count, int64_t what, int64_t round, int64_t rank,
                       int64_t first) {
  for (int64_t n = 0; n < count; n++)
    CHECK(of->out[at + n] == value(what, round, rank, first + n));
}

static void check_scattered(const many *of, int64_t what, int64_t round, int64_t rank) {
  int64_t first = 0;
  for (int64_t r = 0; r < rank; r++)
    first += of->counts[r];
  check_part(of, 0, of->counts[rank], what, round, of->root, first);
}

static void check_many(const many *of, int64_t what, int64_t round, int64_t rank, int64_t ranks) {
  if (of->kind == ALLREDUCE || of->kind == IN_PLACE)
    check_sum(of, what, round, ranks);
  if (of->kind == BROADCAST)
    check_part(of, 0, of->count, what, round, of->root, 0);
  for (int64_t r = 0; r < ranks && of->kind == ALLGATHER; r++)
    check_part(of, r * of->count, of->count, what, round, r, 0);
  for (int64_t r = 0; r < ranks && of->kind == ALL_TO_ALL; r++)
    check_part(of, r * of->count, of->count, what, round, r, rank * of->count);
  if (of->kind == SCATTERV)
    check_scattered(of, what, round, rank);
  if (of->kind == RING)
    check_part(of, 0, of->count, what, round, (rank + ranks - 1) % ranks, 0);
}

static void make_all(many *all, tutti_comm *const *comm, tutti_graph *const *graph, uint64_t *random, int64_t ranks) {
  static const int64_t counts[] = {0, 1, 3, 40, 700, MOST};
  for (int n = 0; n < REQUESTS; n++) {
    int64_t which = random_below(random, COMMS);
    all[n].kind = (kind)(n % KINDS);
    all[n].count = counts[random_below(random, 6)];
    all[n].root = random_below(random, ranks);
    all[n].comm = comm[which];
    all[n].graph = graph[which];
    init(&all[n], ranks);
  }
}

/* Calls that all ranks make in one order, between the starts. */
static void call_between(tutti_comm *comm, int64_t what, int64_t rank, int64_t ranks) {
  int64_t in = what + rank, out = 0;
  tutti_request *request = NULL;
  if (what % 2)
    CHECK(tutti_allreduce(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_OK);
  else
    CHECK(tutti_allreduce_start(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK &&
          tutti_wait(&request) == TUTTI_OK);
  CHECK(out == ranks * what + ranks * (ranks - 1) / 2);
}

static void wait_for(many *of, uint64_t *own) {
  int done = 0;
  while (random_below(own, 3) && !done)
    CHECK(tutti_test(&of->request, &done) == TUTTI_OK);
  CHECK(done || tutti_wait(&of->request) == TUTTI_OK);
}

/* Starts all in an order of the rank's own, with calls and some waits in between, and waits in another order. */
static void play_round(many *all, tutti_comm *const *comm, int64_t round, uint64_t *own, const tutti_boot *boot) {
  int order[REQUESTS], calls = 0;
  for (int n = 0; n < REQUESTS; n++) {
    int64_t at = random_below(own, n + 1);
    order[n] = order[at];
    order[at] = n;
  }
  for (int n = 0; n < REQUESTS; n++) {
    many *of = &all[order[n]];
    put(of, order[n], round, boot->rank, boot->rank_count);
    CHECK(tutti_request_start(of->request) == TUTTI_OK);
    for (; calls < 4 && random_below(own, REQUESTS - n) < 4 - calls; calls++)
      call_between(comm[calls % COMMS], round * 4 + calls, boot->rank, boot->rank_count);
  }
  for (; calls < 4; calls++)
    call_between(comm[calls % COMMS], round * 4 + calls, boot->rank, boot->rank_count);
  for (int n = REQUESTS - 1; n >= 0; n--) {
    int64_t at = random_below(own, n + 1);
    many *of = &all[order[at]];
    wait_for(of, own);
    check_many(of, order[at], round, boot->rank, boot->rank_count);
    order[at] = order[n];
  }
}

static void start_in_any_order(const tutti_boot *boot, void *argument) {
  const setting *how = argument;
  static many all[REQUESTS];
  tutti_context *context;
  tutti_comm *comm[COMMS];
  tutti_graph *graph[COMMS];
  uint64_t same = how->seed, own = how->seed + 1 + (uint64_t)boot->rank;
  int64_t ranks = boot->rank_count, source = (boot->rank + ranks - 1) % ranks, destination = (boot->rank + 1) % ranks;
  setenv("TUTTI_NODES", how->nodes, 1);
  setenv("TUTTI_SLOT_COUNT", how->slots, 1);
  setenv("TUTTI_DIRECT_BYTES", how->direct, 1);
  setenv("TUTTI_PROGRESS", how->progress, 1);
  comm[0] = join_all(boot, &context);
  for (int n = 1; n < COMMS; n++)
    CHECK(tutti_comm_split(comm[0], 0, n == 1 ? -boot->rank : boot->rank, &comm[n]) == TUTTI_OK);
  tutti_comm_destroy(comm[1]); /* ranks of all have one numbering */
  CHECK(tutti_comm_split(comm[0], 0, 0, &comm[1]) == TUTTI_OK);
  for (int n = 0; n < COMMS; n++)
    CHECK(tutti_graph_create(comm[n], 1, &source, 1, &destination, &graph[n]) == TUTTI_OK);
  make_all(all, comm, graph, &same, ranks);
  for (int round = 0; round < how->rounds; round++) {
    play_round(all, comm, round, &own, boot);
    many *again = &all[random_below(&same, REQUESTS)];
    tutti_request_destroy(again->request); /* and made anew, on all ranks */
    init(again, ranks);
  }
  for (int n = 0; n < REQUESTS; n++)
    tutti_request_destroy(all[n].request);
  for (int n = 0; n < COMMS; n++)
    tutti_graph_destroy(graph[n]);
  for (int n = COMMS - 1; n > 0; n--)
    tutti_comm_destroy(comm[n]);
  leave_all(context, comm[0]);
  check_leaks();
}

static void run_in_any_order(int ranks, setting how) {
  how.seed = getenv("TUTTI_TEST_SEED") ? strtoull(getenv("TUTTI_TEST_SEED"), NULL, 10) : (uint64_t)now_ns();
  how.rounds = long_mode() ? 1000 : 25;
  print_message("TUTTI_TEST_SEED=%" PRIu64 "\n", how.seed);
  run_job(ranks, start_in_any_order, &how);
}

static void test_requests_start_in_any_order(void **state) {
  (void)state;
  for (int ranks = 1; ranks <= RANKS; ranks++)
    run_in_any_order(ranks, (setting){.nodes = "", .slots = ranks % 2 ? "1" : "4", .direct = "8K", .progress = ""});
  run_in_any_order(RANKS, (setting){.nodes = "", .slots = "2", .direct = "0", .progress = ""});
}

static void test_requests_between_machines_start_in_any_order(void **state) {
  (void)state;
  run_in_any_order(4, (setting){.nodes = "2x2", .slots = "4", .direct = "8K", .progress = ""});
  run_in_any_order(5, (setting){.nodes = "cyclic:2", .slots = "1", .direct = "8K", .progress = ""});
}

static void test_thread_moves_requests_started_in_any_order(void **state) {
  (void)state;
  run_in_any_order(3, (setting){.nodes = "", .slots = "2", .direct = "8K", .progress = "thread"});
  run_in_any_order(4, (setting){.nodes = "2x2", .slots = "2", .direct = "8K", .progress = "thread"});
}

/* ---- what is left ---- */

typedef struct cycles {
  const char *nodes;
  bool starts;
} cycles;

static void *shm_of(const tutti_comm *comm) { return comm->transport; }

static void make_and_free(tutti_comm *comm, int count, bool starts) {
  static int64_t in[2000], out[2000];
  static const int64_t counts[] = {1, 60, 2000};
  for (int n = 0; n < count; n++) {
    tutti_request *request = NULL, *other = NULL;
    CHECK(tutti_allreduce_init(in, out, counts[n % 3], TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
    CHECK(n % 4 || tutti_broadcast_init(out, out, 5, TUTTI_INT64, 0, comm, &other) == TUTTI_OK);
    if (starts)
      CHECK(tutti_request_start(request) == TUTTI_OK && tutti_wait(&request) == TUTTI_OK);
    tutti_request_destroy(request);
    tutti_request_destroy(other);
    if (n % 200 == 0) /* a rank far ahead keeps what others have not made yet */
      CHECK(tutti_barrier(comm) == TUTTI_OK);
  }
}

static void cycle(const tutti_boot *boot, void *argument) {
  const cycles *how = argument;
  setenv("TUTTI_NODES", how->nodes, 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int count = how->starts || *how->nodes ? 2000 : 10000;
  alarm(5 * HANG_S);
  make_and_free(comm, 500, how->starts);
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  size_t before = mallinfo2().uordblks;
  uint64_t bump = *how->nodes ? 0 : ((tt_shm *)shm_of(comm))->segment->head->bump;
  make_and_free(comm, count, how->starts);
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  /* less than 50 bytes each; between machines, packets are kept until they are known to have come */
  CHECK(SANITIZED || *how->nodes || mallinfo2().uordblks < before + 100000);
  CHECK(comm->persistent.sides == NULL && context->running == NULL);
  CHECK(*how->nodes || ((tt_shm *)shm_of(comm))->segment->head->bump < bump + (4 << 20));
  leave_all(context, comm);
  check_leaks();
}

static void test_requests_made_and_freed_leave_nothing(void **state) {
  (void)state;
  run_job(3, cycle, &(cycles){"", false});
  run_job(3, cycle, &(cycles){"", true});
  run_job(4, cycle, &(cycles){"2x2", false});
  run_job(4, cycle, &(cycles){"2x2", true});
}

/* ---- which are made late ---- */

#define KEPT 40
#define NATIVES 14328                 /* whose ids lie under the communicator's own number */
#define PLACES_LEAST (NATIVES + 1024) /* of a communicator whose number is large */

/* Each rank destroys them in an order of its own, some keep the first to the end; all use some of them first. */
static void make_and_free_in_any_order(const tutti_boot *boot, tutti_comm *comm, int count) {
  tutti_request *kept[KEPT] = {NULL}, *first = NULL;
  uint64_t own = (uint64_t)boot->rank;
  int64_t in = 1;
  static int64_t out[2000];
  CHECK(tutti_barrier_init(comm, &first) == TUTTI_OK);
  if (boot->rank == 1)
    tutti_request_destroy(first);
  for (int n = 0; n < count; n++) {
    int64_t place = random_below(&own, KEPT);
    tutti_request_destroy(kept[place]);
    CHECK(tutti_allreduce_init(n % 10 ? &in : out, out, n % 10 ? 1 : 2000, TUTTI_INT64, TUTTI_SUM, comm,
                               &kept[place]) == TUTTI_OK);
    if (n % 100 == 1)
      CHECK(tutti_request_start(kept[place]) == TUTTI_OK && tutti_wait(&kept[place]) == TUTTI_OK &&
            out[0] == boot->rank_count);
    if (n % 100 == 0)
      CHECK(tutti_request_start(kept[place]) == TUTTI_OK && tutti_wait(&kept[place]) == TUTTI_OK);
  }
  for (int n = 0; n < KEPT; n++)
    tutti_request_destroy(kept[n]);
  if (boot->rank != 1)
    tutti_request_destroy(first);
  CHECK(tutti_barrier(comm) == TUTTI_OK);
}

static void make_100000(const tutti_boot *boot, void *argument) {
  setenv("TUTTI_NODES", argument, 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  bool apart = *(const char *)argument;
  alarm(10 * HANG_S);
  make_and_free_in_any_order(boot, comm, 1000);
  size_t before = mallinfo2().uordblks;
  uint64_t bump = apart ? 0 : ((tt_shm *)shm_of(comm))->segment->head->bump;
  make_and_free_in_any_order(boot, comm, 100000);
  CHECK(SANITIZED || apart || mallinfo2().uordblks < before + 100000);
  /* less than 700 bytes each; how many exist at once depends on how far a rank gets ahead */
  CHECK(apart || ((tt_shm *)shm_of(comm))->segment->head->bump < bump + (64 << 20));
  CHECK(comm->persistent.sides == NULL && context->running == NULL);
  leave_all(context, comm);
  check_leaks();
}

static void test_100000_requests_destroyed_in_any_order_leave_nothing(void **state) {
  (void)state;
  run_job(2, make_100000, "");
  run_job(2, make_100000, "2x1");
}

typedef struct late {
  const char *nodes;
  int64_t number; /* of the communicator; 0: the first one */
  uint64_t inits; /* as if so many had been made */
} late;

static tutti_comm *open_late(const tutti_boot *boot, const late *how, tutti_context **context) {
  setenv("TUTTI_NODES", how->nodes, 1);
  tutti_comm *comm = join_all(boot, context), *made;
  const int64_t all[] = {0, 1, 2};
  if (how->number == 0)
    return comm;
  tutti_comm_destroy(comm);
  CHECK(tutti_comm_create_group(*context, how->number, boot->rank_count, all, &made) == TUTTI_OK);
  return made;
}

/* One of the first requests outlives many others, on some ranks. */
static void outlive(const tutti_boot *boot, void *argument) {
  const late *how = argument;
  tutti_context *context;
  tutti_comm *comm = open_late(boot, how, &context);
  int64_t in = boot->rank, out, short_in = 1, short_out;
  tutti_request *old = NULL, *older = NULL, *young = NULL;
  CHECK(tutti_allreduce_init(&short_in, &short_out, 1, TUTTI_INT64, TUTTI_SUM, comm, &older) == TUTTI_OK);
  CHECK(tutti_allreduce_init(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm, &old) == TUTTI_OK);
  if (boot->rank == 1) {
    tutti_request_destroy(older);
    older = NULL;
  }
  comm->persistent.count = how->inits;
  for (int n = 0; n < 8; n++) {
    CHECK(tutti_allreduce_init(&short_in, &short_out, 1, TUTTI_INT64, TUTTI_SUM, comm, &young) == TUTTI_OK);
    CHECK(tutti_request_start(boot->rank ? young : old) == TUTTI_OK);
    CHECK(tutti_request_start(boot->rank ? old : young) == TUTTI_OK);
    CHECK(tutti_wait(&young) == TUTTI_OK && short_out == boot->rank_count);
    CHECK(tutti_wait(&old) == TUTTI_OK && out == boot->rank_count * (boot->rank_count - 1) / 2);
    tutti_request_destroy(young);
  }
  tutti_request_destroy(old);
  tutti_request_destroy(older);
  leave_all(context, comm);
  check_leaks();
}

static void test_request_outlives_others_on_some_ranks(void **state) {
  (void)state;
  static const uint64_t inits[] = {NATIVES - 1, NATIVES, 63486, UINT32_MAX, (UINT64_C(1) << 41) - 4};
  for (int n = 0; n < 5; n++)
    run_job(3, outlive, &(late){n % 2 ? "2,1" : "", 0, inits[n]});
  run_job(3, outlive, &(late){"", UINT32_MAX, PLACES_LEAST - 11});
}

/* Rank 1 has long destroyed the request whose ids come again; the others have not. */
static void outlive_too_many(const tutti_boot *boot, void *argument) {
  const late *how = argument;
  tutti_context *context;
  tutti_comm *comm = open_late(boot, how, &context);
  int64_t in = 1, out;
  tutti_request *old, *young = NULL;
  CHECK(tutti_allreduce_init(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm, &old) == TUTTI_OK);
  CHECK(tutti_request_start(old) == TUTTI_OK && tutti_wait(&old) == TUTTI_OK);
  meet_before_death(boot);
  if (boot->rank == 1)
    tutti_request_destroy(old);
  comm->persistent.count = how->inits;
  tutti_status status = tutti_allreduce_init(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm, &young);
  if (status == TUTTI_OK)
    status = tutti_request_start(young);
  if (status == TUTTI_OK)
    status = tutti_wait(&young);
  report(boot, status);
  if (boot->rank != 1)
    tutti_request_destroy(old);
  tutti_request_destroy(young);
  leave_all(context, comm);
  check_leaks();
}

static void test_request_that_outlives_too_many_is_everyones_error(void **state) {
  (void)state;
  static const char *const nodes[] = {"", "2,1", "3x1"};
  for (int n = 0; n < 3; n++) {
    run_job(3, outlive_too_many, &(late){nodes[n], UINT32_MAX, PLACES_LEAST});
    for (int r = 0; r < 3; r++)
      assert_true(outcomes[r].status > 0);
    assert_true(strstr(outcomes[0].text, "persistent request 1 still exists when request 15353 is made") ||
                strstr(outcomes[0].text, "rank 1: rank 1 opened cells"));
  }
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Numbers around all powers of two up to 2^44, ascending. Returns how many. */
static int list_numbers(uint64_t *number) {
  int count = 0;
  for (int bits = 0; bits <= 44; bits++)
    for (uint64_t n = (UINT64_C(1) << bits) - 1; n <= (UINT64_C(1) << bits) + 1; n++)
      if (n > 0 && (count == 0 || n > number[count - 1]))
        number[count++] = n;
  return count;
}

static void test_ids_of_requests_are_told_apart(void **state) {
  (void)state;
  uint64_t number[200], *base = calloc(1 << 16, sizeof *base);
  int64_t count = 0, numbers = list_numbers(number);
  for (int64_t c = 0; c < numbers && number[c] <= UINT32_MAX; c++) {
    uint64_t places = tt_side_places(number[c]);
    for (int64_t n = 0; n < numbers; n++) {
      if (number[n] <= NATIVES - 5)
        base[count++] = tt_side_base(number[c], number[n]);
      if (number[n] + NATIVES - 5 <= places)
        base[count++] = tt_side_base(number[c], number[n] + NATIVES - 5);
    }
    assert_int_equal(tt_side_base(number[c], places + 7), tt_side_base(number[c], 7));
  }
  assert_true(tt_side_places(1) > UINT64_C(1) << 40 && tt_side_places(1 << 16) > 1 << 25);
  assert_int_equal(tt_side_places(1 << 30), tt_side_places(1)); /* MPI's first */
  assert_in_range(count, 10000, 1 << 16);
  qsort(base, (size_t)count, sizeof *base, by_value);
  for (int64_t n = 0; n < count; n++) {
    assert_int_equal(base[n] & 0xffff, 0);
    assert_in_range(base[n] & UINT32_MAX, 0x48000000, 0xfff70000); /* others are the communicator's */
    assert_false(n > 0 && base[n] == base[n - 1]);
  }
  free(base);
}

/* ---- errors ---- */

/* Only rank 0 starts the second of two; the others wait in a call of all. */
static void start_alone(const tutti_boot *boot, void *argument) {
  setenv("TUTTI_NODES", argument, 1);
  setenv("TUTTI_TIMEOUT", "1s", 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t in = 1, out[2];
  tutti_request *request[2];
  for (int n = 0; n < 2; n++)
    CHECK(tutti_allreduce_init(&in, &out[n], 1, TUTTI_INT64, TUTTI_SUM, comm, &request[n]) == TUTTI_OK);
  if (boot->rank == 0) {
    CHECK(tutti_request_start(request[1]) == TUTTI_OK);
    report(boot, tutti_wait(&request[1]));
  } else {
    while (outcomes[0].status < 0)
      sched_yield();
    report(boot, tutti_barrier(comm));
  }
  CHECK(tutti_request_start(request[0]) == TUTTI_ERR_TIMEOUT);
  leave_all(context, comm);
}

static void test_request_that_others_do_not_start_times_out_with_names(void **state) {
  (void)state;
  run_job(3, start_alone, "");
  for (int r = 0; r < 3; r++) {
    assert_outcome(r, TUTTI_ERR_TIMEOUT, "start 1 of persistent request 2 waited ");
    assert_outcome(r, TUTTI_ERR_TIMEOUT, "rank 1 has not come to it (its last start was 0), rank 2 has not come to it");
  }
  run_job(2, start_alone, "2x1");
  for (int r = 0; r < 2; r++)
    assert_outcome(r, TUTTI_ERR_TIMEOUT, "start 1 of persistent request 2 waited ");
}

static void make_others(const tutti_boot *boot, void *argument) {
  setenv("TUTTI_NODES", argument, 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t data[10] = {0};
  tutti_request *both[2];
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < 2; n++)
    CHECK(tutti_broadcast_init(data, data, 10, TUTTI_INT64, n == 1 && boot->rank == 1, comm, &both[n]) == TUTTI_OK);
  meet_before_death(boot);
  for (int n = 0; n < 2 && status == TUTTI_OK; n++) {
    status = tutti_request_start(both[n]);
    status = status == TUTTI_OK ? tutti_wait(&both[n]) : status;
  }
  if (status == TUTTI_OK) /* both were over before anyone knew */
    status = tutti_barrier(comm);
  report(boot, status);
  leave_all(context, comm);
}

static void test_requests_that_differ_are_a_mismatch_with_names(void **state) {
  (void)state;
  static const char text[] = "ranks differ in persistent request 2 on a communicator of 3: ranks 0 and 2 "
                             "called broadcast(count 10, int64, root 0); rank 1 called broadcast(count 10, int64, "
                             "root 1)";
  run_job(3, make_others, "");
  for (int r = 0; r < 3; r++)
    assert_outcome(r, TUTTI_ERR_MISMATCH, text);
  run_job(3, make_others, "2,1");
  for (int r = 0; r < 3; r++)
    assert_outcome(r, TUTTI_ERR_MISMATCH, "");
}

/* Rank 1's part is over before anybody can know; it frees the request, and is told at its next call. */
static void free_before_told(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t data[2] = {0};
  tutti_request *request;
  CHECK(tutti_broadcast_init(data, data, boot->rank == 1 ? 2 : 1, TUTTI_INT64, 1, comm, &request) == TUTTI_OK);
  if (boot->rank == 1) {
    CHECK(tutti_request_start(request) == TUTTI_OK && tutti_wait(&request) == TUTTI_OK);
    tutti_request_destroy(request);
    outcomes[1].calls = 1;
    report(boot, tutti_barrier(comm));
  } else {
    while (outcomes[1].calls == 0)
      sched_yield();
    tutti_status status = tutti_request_start(request);
    report(boot, status == TUTTI_OK ? tutti_wait(&request) : status);
  }
  leave_all(context, comm);
}

static void test_rank_that_freed_its_request_is_told_of_a_mismatch(void **state) {
  (void)state;
  run_job(2, free_before_told, NULL);
  for (int r = 0; r < 2; r++)
    assert_outcome(r, TUTTI_ERR_MISMATCH, "ranks differ in persistent request 1 on a communicator of 2");
}

static void die(const tutti_boot *boot, void *argument) {
  setenv("TUTTI_NODES", argument, 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t in = 1, out[2];
  tutti_request *request[2];
  for (int n = 0; n < 2; n++)
    CHECK(tutti_allreduce_init(&in, &out[n], 1, TUTTI_INT64, TUTTI_SUM, comm, &request[n]) == TUTTI_OK);
  for (int n = 0; n < 2; n++) {
    int which = (n + (int)boot->rank) % 2;
    CHECK(tutti_request_start(request[which]) == TUTTI_OK);
  }
  for (int n = 0; n < 2; n++)
    CHECK(tutti_wait(&request[n]) == TUTTI_OK);
  meet_before_death(boot);
  if (boot->rank == 1)
    raise(SIGKILL);
  tutti_status status = tutti_request_start(request[boot->rank == 0]);
  report(boot, status == TUTTI_OK ? tutti_wait(&request[boot->rank == 0]) : status);
  leave_all(context, comm);
}

static void test_death_ends_requests_with_names(void **state) {
  (void)state;
  static const char *const nodes[] = {"", "2,1"};
  for (int n = 0; n < 2; n++) {
    job started = start_job(3, die, (void *)(uintptr_t)nodes[n]);
    assert_int_equal(job_wait(&started), 1);
    for (int r = 0; r < 3; r += 2)
      assert_outcome(r, TUTTI_ERR_PEER, "rank 1 (rank 1 of the job) died");
  }
}

/* ---- ends, in any order ---- */

static void destroy_too_early(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t in = 1, out[3];
  tutti_request *request[3];
  for (int n = 0; n < 3; n++)
    CHECK(tutti_allreduce_init(&in, &out[n], 1, TUTTI_INT64, TUTTI_SUM, comm, &request[n]) == TUTTI_OK);
  CHECK(tutti_request_start(request[0]) == TUTTI_OK && tutti_wait(&request[0]) == TUTTI_OK);
  meet_before_death(boot);
  if (boot->rank == 1) {
    CHECK(tutti_request_start(request[1]) == TUTTI_OK && context->outstanding == 1);
    tutti_comm_destroy(comm);
    CHECK(context->outstanding == 0 && context->running == NULL);
    report(boot, tutti_wait(&request[1]));
    CHECK(tutti_request_start(request[2]) == TUTTI_ERR_ARGUMENT);
  } else {
    tutti_status status = tutti_request_start(request[2]);
    report(boot, status == TUTTI_OK ? tutti_wait(&request[2]) : status);
    tutti_comm_destroy(comm);
  }
  for (int n = 0; n < 3; n++)
    tutti_request_destroy(request[n]);
  tutti_context_destroy(context);
  check_leaks();
}

static void test_communicator_destroyed_in_a_request_is_everyones_error(void **state) {
  (void)state;
  run_job(3, destroy_too_early, NULL);
  assert_outcome(1, TUTTI_ERR_ABORTED, "");
  for (int r = 0; r < 3; r += 2)
    assert_outcome(r, TUTTI_ERR_ABORTED,
                   "rank 1 destroyed the communicator in the middle of start 1 of persistent request 2");
}

/* On rank 2, too, which takes no part. */
static void refuse_composed(tutti_comm *comm) {
  static const int64_t ends[] = {0, 1}, counts[] = {1};
  int64_t in = 1, out = 0;
  tutti_composition *of;
  tutti_request *request = NULL;
  CHECK(tutti_composition_create(comm, 1, &of) == TUTTI_OK && tutti_composition_stage(of, "go") == TUTTI_OK);
  CHECK(tutti_composition_multicast(of, 0, ends, 2, 0, TUTTI_IN, TUTTI_OUT) == TUTTI_OK);
  CHECK(tutti_composition_set_params(of, "[core:star] channels=40") == TUTTI_OK);
  CHECK(tutti_composition_init(of, &in, &out, &(tutti_block_table){.counts = counts}, TUTTI_INT64, TUTTI_SUM,
                               &request) == TUTTI_ERR_PLAN);
  CHECK(strstr(tutti_last_error(), "40 channels; a persistent request has at most 31"));
  tutti_composition_destroy(of);
}

static void refuse(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t in = 1, out = 0;
  tutti_request *request = NULL;
  if (boot->rank == 1) /* an init that is refused counts for nothing */
    CHECK(tutti_allreduce_init(&in, NULL, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_ERR_ARGUMENT);
  CHECK(tutti_comm_set_params(comm, "allreduce", "ring channels=200") == TUTTI_OK);
  CHECK(tutti_allreduce_init(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_ERR_PLAN);
  CHECK(strstr(tutti_last_error(), "a persistent request has at most 31"));
  refuse_composed(comm);
  CHECK(tutti_allreduce(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_OK);
  CHECK(tutti_comm_set_params(comm, "allreduce", "ring channels=31") == TUTTI_OK);
  CHECK(tutti_allreduce_init(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
  CHECK(tutti_request_start(request) == TUTTI_OK && tutti_wait(&request) == TUTTI_OK && out == boot->rank_count);
  tutti_request_destroy(request);
  leave_all(context, comm);
}

static void test_init_that_is_refused_counts_for_nothing(void **state) {
  (void)state;
  run_job(3, refuse, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_equal_broadcasts_start_in_opposite_orders),
      FAULT_TEST(test_persistent_and_blocking_cross),
      FAULT_TEST(test_requests_start_in_any_order),
      FAULT_TEST(test_requests_between_machines_start_in_any_order),
      FAULT_TEST(test_thread_moves_requests_started_in_any_order),
      FAULT_TEST(test_requests_made_and_freed_leave_nothing),
      FAULT_TEST(test_100000_requests_destroyed_in_any_order_leave_nothing),
      FAULT_TEST(test_request_outlives_others_on_some_ranks),
      FAULT_TEST(test_request_that_outlives_too_many_is_everyones_error),
      FAULT_TEST(test_ids_of_requests_are_told_apart),
      FAULT_TEST(test_request_that_others_do_not_start_times_out_with_names),
      FAULT_TEST(test_requests_that_differ_are_a_mismatch_with_names),
      FAULT_TEST(test_rank_that_freed_its_request_is_told_of_a_mismatch),
      FAULT_TEST(test_death_ends_requests_with_names),
      FAULT_TEST(test_communicator_destroyed_in_a_request_is_everyones_error),
      FAULT_TEST(test_init_that_is_refused_counts_for_nothing),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

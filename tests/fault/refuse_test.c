/* tests/fault/refuse_test.c - calls that some ranks refuse, among others, in random orders: what succeeds is right,
 * what fails names who refused, nothing hangs, and all ranks stay at the same call. Some refuse several in a row and
 * wait for others outside; some end a communicator while others have still to hear of a refusal. */
#include "fault/fault.h"

#include <inttypes.h>

#define CALLS 120
#define LONGEST 20000
#define CLEAN 8 /* at the end nobody refuses: of these the last half succeed */
#define POSTED 3
#define ROW 6

typedef struct order {
  uint64_t seed;
  int64_t ranks;
  bool waits; /* outside, after a row */
} order;

typedef struct step {
  int kind, root;
  int64_t count;
  unsigned refusers; /* bits */
  bool in_place;
} step;

/* The same on all ranks. */
static step draw(uint64_t *seed, int64_t ranks, bool clean) {
  step drawn = {.kind = (int)random_below(seed, 6), .root = (int)random_below(seed, ranks)};
  int64_t chance = random_below(seed, 6);
  drawn.count = random_below(seed, 3) ? 1 + random_below(seed, 20) : 1 + random_below(seed, LONGEST);
  drawn.in_place = random_below(seed, 4) == 0;
  for (int64_t r = 0; r < ranks; r++)
    if (random_below(seed, 3) == 0)
      drawn.refusers |= 1u << r;
  if (chance == 1)
    drawn.refusers = 1u << random_below(seed, ranks);
  if (chance > 1 || clean)
    drawn.refusers = 0;
  return drawn;
}

static int64_t value_of(int call, int64_t rank, int64_t k) { return call * 1000 + rank * 7 + k % 13; }

/* Of all ranks' values at k. */
static int64_t sum_at(int call, int64_t ranks, int64_t k) {
  int64_t sum = 0;
  for (int64_t r = 0; r < ranks; r++)
    sum += value_of(call, r, k);
  return sum;
}

static void check_all(const step *of, int call, int64_t ranks, const int64_t *out) {
  for (int64_t k = 0; k < of->count; k++) {
    if (of->kind == 0)
      CHECK(out[k] == value_of(call, of->root, k));
    for (int64_t r = 0; of->kind == 1 && r < ranks; r++)
      CHECK(out[r * of->count + k] == value_of(call, r, k));
    if (of->kind == 3 || of->kind == 4)
      CHECK(out[k] == sum_at(call, ranks, k));
  }
}

static bool names_refuser(const char *text) {
  const char *at = text;
  while ((at = strstr(at, "rank ")) != NULL) {
    at += strlen("rank ");
    size_t digits = strspn(at, "0123456789");
    if (digits > 0 && strncmp(at + digits, " refused call", strlen(" refused call")) == 0)
      return true;
  }
  return false;
}

static void check_told(tutti_status status) {
  bool told = status == TUTTI_ERR_REFUSED && names_refuser(tutti_last_error());
  if (!told)
    fprintf(stderr, "%s: %s\n", tutti_status_name(status), tutti_last_error());
  CHECK(told);
}

/* kinds: broadcast, allgather, barrier, allreduce, the same started, gather at a root that others do not wait for */
static tutti_status make(const step *of, const int64_t *in, int64_t *out, tutti_comm *comm) {
  const void *from = of->in_place && of->kind >= 3 && of->kind < 5 ? out : in;
  tutti_request *request = NULL;
  tutti_status status;
  switch (of->kind) {
  case 0:
    return tutti_broadcast(in, out, of->count, TUTTI_INT64, of->root, comm);
  case 1:
    return tutti_allgather(in, out, of->count, TUTTI_INT64, comm);
  case 2:
    return tutti_barrier(comm);
  case 3:
    return tutti_allreduce(from, out, of->count, TUTTI_INT64, TUTTI_SUM, comm);
  case 4:
    status = tutti_allreduce_start(from, out, of->count, TUTTI_INT64, TUTTI_SUM, comm, &request);
    return status == TUTTI_OK ? tutti_wait(&request) : status;
  default:
    return tutti_gather(in, out, of->count, TUTTI_INT64, of->root, comm);
  }
}

static void run_one(const step *of, int call, int64_t rank, int64_t ranks, tutti_comm *comm, int64_t *failed) {
  int64_t *in = malloc((size_t)of->count * sizeof *in), *out = malloc((size_t)(of->count * ranks) * sizeof *out);
  for (int64_t k = 0; k < of->count; k++)
    in[k] = out[k] = value_of(call, rank, k);
  if (of->refusers >> rank & 1) {
    tutti_comm_refuse(comm, "a test");
  } else {
    tutti_status status = make(of, in, out, comm);
    *failed += status != TUTTI_OK;
    if (status == TUTTI_OK)
      check_all(of, call, ranks, out);
    else
      check_told(status);
  }
  free(in);
  free(out);
}

/* Several that are under way together. */
static void run_posted(uint64_t *seed, int call, int64_t rank, int64_t ranks, tutti_comm *comm) {
  enum { COUNT = 5000 };
  static int64_t in[POSTED][COUNT], out[POSTED][COUNT];
  tutti_request *request[POSTED] = {NULL};
  step drawn[POSTED];
  for (int n = 0; n < POSTED; n++) {
    drawn[n] = draw(seed, ranks, false);
    for (int64_t k = 0; k < COUNT; k++)
      in[n][k] = value_of(call + n, rank, k);
    if (drawn[n].refusers >> rank & 1)
      tutti_comm_refuse(comm, "a test");
    else
      CHECK(tutti_allreduce_start(in[n], out[n], COUNT, TUTTI_INT64, TUTTI_SUM, comm, &request[n]) == TUTTI_OK);
  }
  for (int n = 0; n < POSTED; n++) {
    if (drawn[n].refusers >> rank & 1)
      continue;
    tutti_status status = tutti_wait(&request[n]);
    if (status != TUTTI_OK)
      check_told(status);
    for (int64_t k = 0; status == TUTTI_OK && k < COUNT; k++)
      CHECK(out[n][k] == sum_at(call + n, ranks, k));
  }
}

/* One rank refuses several calls and waits outside until another one is through with them. */
static void run_row(uint64_t *seed, int call, const order *of, int64_t rank, tutti_comm *comm, int64_t *failed) {
  int64_t length = 2 + random_below(seed, ROW), refuser = random_below(seed, of->ranks);
  int64_t other = (refuser + 1 + random_below(seed, of->ranks - 1)) % of->ranks;
  bool same = random_below(seed, 2), waits = of->waits && random_below(seed, 2);
  for (int64_t n = 0; n < length; n++) {
    step drawn = draw(seed, of->ranks, false);
    char why[40];
    snprintf(why, sizeof why, "a row, %d", same ? 0 : (int)n);
    if (rank == refuser)
      tutti_comm_refuse(comm, why);
    else
      run_one(&drawn, call, rank, of->ranks, comm, failed);
  }
  outcomes[rank].calls = call + 1;
  while (waits && rank == refuser && outcomes[other].calls <= call)
    sched_yield();
}

/* A communicator for a few calls. Each rank ends it as soon as its own are done. */
static void run_part(uint64_t *seed, int call, int64_t rank, int64_t ranks, tutti_comm *parent) {
  int64_t count = 1 + random_below(seed, 4), failed = 0;
  tutti_comm *part = NULL;
  CHECK(tutti_comm_split(parent, 0, 0, &part) == TUTTI_OK);
  for (int64_t n = 0; n < count; n++) {
    step drawn = draw(seed, ranks, false);
    run_one(&drawn, call, rank, ranks, part, &failed);
  }
  tutti_comm_destroy(part);
}

/* Persistent requests, which ranks start in orders of their own: refused calls do not concern them. */
typedef struct kept {
  int64_t in[POSTED][LONGEST], out[POSTED][LONGEST];
  tutti_request *request[POSTED];
} kept;

static void make_kept(kept *all, int64_t count, tutti_comm *comm) {
  for (int n = 0; n < POSTED; n++) {
    tutti_request_destroy(all->request[n]);
    all->request[n] = NULL;
    CHECK(tutti_allreduce_init(all->in[n], all->out[n], count, TUTTI_INT64, TUTTI_SUM, comm, &all->request[n]) ==
          TUTTI_OK);
  }
}

static void start_kept(kept *all, int64_t count, int call, int64_t rank) {
  for (int i = 0; i < POSTED; i++) {
    int n = (int)((i + rank) % POSTED);
    for (int64_t k = 0; k < count; k++)
      all->in[n][k] = value_of(call + n, rank, k);
    CHECK(tutti_request_start(all->request[n]) == TUTTI_OK);
  }
}

static void wait_kept(kept *all, int64_t count, int call, int64_t ranks) {
  for (int n = 0; n < POSTED; n++) {
    CHECK(tutti_wait(&all->request[n]) == TUTTI_OK);
    for (int64_t k = 0; k < count; k++)
      CHECK(all->out[n][k] == sum_at(call + n, ranks, k));
  }
}

/* Ranks that others wait for on one communicator may already be here, on another. */
static void meet_elsewhere(int call, int64_t rank, int64_t ranks, tutti_comm *other) {
  int64_t in = value_of(call, rank, 0), out = 0;
  CHECK(tutti_allreduce(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, other) == TUTTI_OK);
  CHECK(out == sum_at(call, ranks, 0));
}

static void run_all(const tutti_boot *boot, void *argument) {
  const order *of = argument;
  uint64_t seed = of->seed;
  int64_t failed = 0, count = 0;
  kept *all = calloc(1, sizeof *all);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context), *other = NULL;
  CHECK(tutti_comm_create(context, &other) == TUTTI_OK);
  for (int call = 0; call < CALLS + CLEAN; call++) {
    bool clean = call >= CALLS, starts = random_below(&seed, 4) == 0, makes = random_below(&seed, 20) == 0;
    bool meets = random_below(&seed, 3) == 0, rows = !clean && random_below(&seed, 6) == 0;
    int64_t length = random_below(&seed, 2) ? 1 + random_below(&seed, 9) : 1 + random_below(&seed, LONGEST);
    if (makes || call == 0)
      make_kept(all, count = length, comm);
    if (starts)
      start_kept(all, count, call, boot->rank);
    if (random_below(&seed, 8) == 0)
      run_part(&seed, call, boot->rank, of->ranks, other);
    if (rows)
      run_row(&seed, call, of, boot->rank, comm, &failed);
    if (!clean && random_below(&seed, 10) == 0) {
      run_posted(&seed, call, boot->rank, of->ranks, comm);
    } else {
      step drawn = draw(&seed, of->ranks, clean);
      if (call == CALLS + CLEAN / 2)
        failed = 0;
      run_one(&drawn, call, boot->rank, of->ranks, comm, &failed);
    }
    if (meets)
      meet_elsewhere(call, boot->rank, of->ranks, other);
    if (starts)
      wait_kept(all, count, call, of->ranks);
  }
  for (int n = 0; n < POSTED; n++)
    tutti_request_destroy(all->request[n]);
  free(all);
  tutti_comm_destroy(other);
  CHECK(failed == 0);
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

/* Where a refusal travels in notes, nobody sends them on for a rank that waits outside. */
static void run_orders(const char *variable, const char *value, int64_t ranks) {
  const char *text = getenv("TUTTI_TEST_SEED");
  int64_t rounds = long_mode() ? 100 : 4;
  setenv(variable, value, 1);
  for (int64_t n = 0; n < rounds; n++) {
    order of = {.seed = text ? strtoull(text, NULL, 10) : (uint64_t)now_ns(),
                .ranks = ranks,
                .waits = strcmp(variable, "TUTTI_NODES") != 0};
    printf("TUTTI_TEST_SEED=%" PRIu64 ", %s=%s\n", of.seed, variable, value);
    fflush(stdout); /* ranks are forks */
    run_job((int)ranks, run_all, &of);
    for (int r = 0; r < ranks; r++)
      assert_outcome(r, TUTTI_OK, "");
  }
  unsetenv(variable);
}

static void test_what_some_refuse_ends_there_and_no_later_call_does(void **state) {
  (void)state;
  run_orders("TUTTI_PARAMS", "", 2);
  run_orders("TUTTI_PARAMS", "", 4);
  run_orders("TUTTI_PARAMS", "ring", 3);
}

static void test_the_same_across_machines(void **state) {
  (void)state;
  run_orders("TUTTI_NODES", "2x2", 4);
  run_orders("TUTTI_NODES", "1,2", 3);
  run_orders("TUTTI_NODES", "1,1,1", 3);
}

static void test_the_same_where_a_thread_moves_calls_on(void **state) {
  (void)state;
  run_orders("TUTTI_PROGRESS", "thread", 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_what_some_refuse_ends_there_and_no_later_call_does),
      FAULT_TEST(test_the_same_across_machines),
      FAULT_TEST(test_the_same_where_a_thread_moves_calls_on),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

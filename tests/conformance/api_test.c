/* The public API between processes: every collective, type, operator, mode, place, root and parameter, with counts that
 * are likely to be special, against results computed here.
 *
 * The product of all of them is large, so calls are drawn from it at random, with a seed that is printed and that
 * TUTTI_TEST_SEED sets; TUTTI_TEST_LONG=1 draws many more. */
#include "api/api.h"
#include "conformance/choose.h"
#include "support/job.h"
#include "support/sanitized.h"
#include "support/sent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

enum { RANKS = 9, MOST = 65537, ROUNDS = 3 };

static uint64_t seed;
static int calls_a_job;

typedef struct job_setting { /* of a job's environment; "" keeps the default */
  const char *name;
  const char *groups, *slot_count, *direct_bytes, *medium, *nodes, *far_slots, *far_bulk;
} job_setting;

typedef struct job_memory { /* between all processes of a job */
  call_barriers barriers;
  _Atomic int64_t right, invalid;
} job_memory;

typedef struct work { /* of one rank */
  tutti_context *context;
  tutti_comm *comm;
  tutti_graph *graph[CALL_GRAPHS];
  bool forced; /* a medium is */
  job_memory *shared;
  unsigned char *memory[4]; /* regions 0 and 1 of ordinary memory, then of tutti_alloc */
  unsigned char *scratch;
  tt_random common, own; /* common: equal on all ranks */
} work;

/* One call's blocks are at most so long, or a quarter of it where there may be two for each rank. */
static size_t region_bytes(int64_t size) {
  call largest = {.type = TUTTI_FLOAT64, .count = MOST / 2 + 1024};
  return call_region_bytes(&largest, size);
}

static void open_work(work *at, const tutti_boot *boot, const job_setting *setting, job_memory *shared) {
  size_t bytes = region_bytes(boot->rank_count);
  tutti_context_options options;
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &at->context) == TUTTI_OK);
  CHECK(tutti_comm_create(at->context, &at->comm) == TUTTI_OK);
  CHECK(tutti_comm_rank(at->comm) == boot->rank && tutti_comm_size(at->comm) == boot->rank_count);
  CHECK(call_create_types(at->context) == TUTTI_OK);
  CHECK(call_create_graphs(at->comm, at->graph) == TUTTI_OK);
  for (int n = 0; n < 2; n++) {
    CHECK((at->memory[n] = malloc(bytes)) != NULL);
    CHECK(tutti_alloc(at->context, bytes, (void **)&at->memory[2 + n]) == TUTTI_OK);
  }
  CHECK((at->scratch = malloc(2 * bytes)) != NULL);
  at->shared = shared;
  at->forced = setting->medium;
  tt_random_init(&at->common, tt_hash(seed + (uint64_t)boot->rank_count, setting->name, strlen(setting->name)));
  tt_random_init(&at->own, seed + (uint64_t)boot->rank);
}

static void close_work(work *at) {
  for (int n = 0; n < 2; n++) {
    free(at->memory[n]);
    tutti_free(at->context, at->memory[2 + n]);
  }
  free(at->scratch);
  call_destroy_graphs(at->graph);
  tutti_comm_destroy(at->comm);
  tutti_context_destroy(at->context);
}

static void must(const call_side *side, bool right, const char *what) {
  if (!right)
    call_describe(side, what, 0);
  CHECK(right);
}

/* exactly: messages and bytes, not the slots that they take. */
static bool is_as_foreseen(const tt_sent *sent, const tt_sent_range *foreseen, bool exactly) {
  const tt_sent *least = &foreseen->least, *most = &foreseen->most;
  if (exactly && (least->messages != most->messages || least->bytes != most->bytes))
    return false;
  return sent_lies_between(sent, foreseen);
}

static bool is_slots(int medium) {
  return medium == TT_MEDIUM_SLOT || medium == TT_MEDIUM_PUBLISHED || medium == TT_MEDIUM_MESSAGE;
}

/* What has gone so far by each medium is what was foreseen; with one medium for all there is no doubt. */
static void check_sent(const work *at, const call_side *side) {
  tt_sent sent[TT_MEDIUM_COUNT];
  tt_sent_range foreseen[TT_MEDIUM_COUNT];
  tt_comm_tallied(at->comm, sent, foreseen);
  for (int n = 0; n < TT_MEDIUM_COUNT; n++) {
    if (is_as_foreseen(&sent[n], &foreseen[n], at->forced) && (!is_slots(n) || sent[n].carried >= sent[n].bytes))
      continue;
    sent_print(n, &sent[n], &foreseen[n]);
    must(side, false, "sent as foreseen");
  }
}

static void run_rounds(work *at, call_side *side) {
  int64_t rounds = side->of.mode == CALL_START ? 1 : ROUNDS; /* a call made before goes another way */
  bool valid = choose_valid(&side->of, at->comm, at->graph);
  for (int64_t round = 0; round < rounds; round++) {
    call_fill(side, round);
    tutti_status status = call_begin(side, at->comm, at->graph);
    if (!valid) {
      must(side, status == TUTTI_ERR_PLAN, "has no plan");
      at->shared->invalid += side->rank == 0;
      return;
    }
    must(side, status == TUTTI_OK, "began");
    must(side, call_end(side) == TUTTI_OK, "ended");
    CHECK(call_right(side, at->scratch));
    check_sent(at, side);
    at->shared->right += side->rank == 0;
  }
  call_finish(side);
}

static void run_call(work *at) {
  call_side side = {
      .rank = tutti_comm_rank(at->comm), .size = tutti_comm_size(at->comm), .barriers = &at->shared->barriers};
  side.of = choose_call(&at->common, side.size, MOST);
  size_t shift = (size_t)tt_random_below(&at->own, 8), memory = 2 * (size_t)tt_random_below(&at->own, 2);
  if (memory == 2)
    shift &= tt_random_below(&at->own, 2) ? 7 : 0;
  call_lay(&side, at->memory[memory], at->memory[memory + 1], shift, &at->own);
  CHECK(side.bytes[0] <= region_bytes(side.size) && side.bytes[1] <= region_bytes(side.size));
  const char *params = *side.of.params ? side.of.params : NULL;
  CHECK(tutti_comm_set_params(at->comm, tt_compose_info(side.of.collective).name, params) == TUTTI_OK);
  CHECK(tt_comm_tally(at->comm, memory == 2) == TUTTI_OK);
  run_rounds(at, &side);
}

/* One step over a chain or some k-nomial trees runs along a tree of its own for each rank (docs/plan.md). */
static bool has_one_order(const char *params) {
  return !params || !strstr(params, "form=one") || strncmp(params, "linear", 6) == 0 ||
         strncmp(params, "recursive-doubling", 18) == 0;
}

/* Sums that depend on the order of their operands: the same bits the next time, and, mostly, on every rank. */
static void sum_twice(work *at, const char *params) {
  float *in = (float *)(void *)at->memory[0], *out = (float *)(void *)at->memory[1];
  int64_t all[RANKS], before = 0, count = 1 + (int64_t)tt_random_below(&at->common, 3000);
  for (int64_t n = 0; n < count; n++)
    in[n] = 1.0f / (float)(1 + tt_random_below(&at->own, 1000000));
  CHECK(tutti_comm_set_params(at->comm, "allreduce", params) == TUTTI_OK);
  for (int n = 0; n < 2; n++) {
    CHECK(tutti_allreduce(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, at->comm) == TUTTI_OK);
    int64_t hash = (int64_t)tt_hash(0, out, (size_t)count * sizeof *out);
    CHECK(n == 0 || hash == before);
    before = hash;
  }
  CHECK(tutti_allgather(&before, all, 1, TUTTI_INT64, at->comm) == TUTTI_OK);
  for (int64_t r = 0; r < tutti_comm_size(at->comm); r++)
    CHECK(all[r] == before || !has_one_order(params));
}

static void run_sums(const tutti_boot *boot, void *argument) {
  work at = {0};
  setenv("TUTTI_GROUPS", argument, 1);
  open_work(&at, boot, &(job_setting){.name = "sums"}, NULL);
  for (int n = 0; n < calls_a_job; n++) {
    call made = {.collective = TT_ALLREDUCE};
    choose_params(&at.common, &made);
    if (choose_valid(&made, at.comm, at.graph))
      sum_twice(&at, *made.params ? made.params : NULL);
  }
  close_work(&at);
}

typedef struct job_of {
  const job_setting *setting;
  job_memory *shared;
} job_of;

static void set(const char *name, const char *value) {
  if (value && *value)
    setenv(name, value, 1);
}

static void run_rank(const tutti_boot *boot, void *argument) {
  const job_of *mine = argument;
  work at = {0};
  set("TUTTI_GROUPS", mine->setting->groups);
  set("TUTTI_SLOT_COUNT", mine->setting->slot_count);
  set("TUTTI_DIRECT_BYTES", mine->setting->direct_bytes);
  set("TUTTI_MEDIUM", mine->setting->medium);
  set("TUTTI_NODES", mine->setting->nodes);
  set("TUTTI_FAR_SLOTS", mine->setting->far_slots);
  set("TUTTI_FAR_BULK", mine->setting->far_bulk);
  set("TUTTI_TIMEOUT", "120s");
  open_work(&at, boot, mine->setting, mine->shared);
  for (int n = 0; n < calls_a_job; n++)
    run_call(&at);
  close_work(&at);
}

static void run_job(int ranks, const job_setting *setting) {
  job_memory *memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(memory, MAP_FAILED);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  job_of mine = {setting, memory};
  int failed = job_run(ranks, run_rank, &mine);
  clock_gettime(CLOCK_MONOTONIC, &end);
  print_message("%d ranks, %s: %" PRId64 " calls right, %" PRId64 " make no plan, %.2f s\n", ranks, setting->name,
                memory->right, memory->invalid,
                (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9);
  munmap(memory, sizeof *memory);
  if (failed)
    fail_msg("TUTTI_TEST_SEED=%" PRIu64 ": %d of %d ranks failed", seed, failed, ranks);
}

static void test_calls_are_right_by_profile_and_preset(void **state) {
  (void)state;
  static const job_setting plain = {.name = "defaults"};
  for (int ranks = 1; ranks <= RANKS; ranks++)
    run_job(ranks, &plain);
}

static void test_calls_are_right_on_uneven_groups(void **state) {
  (void)state;
  char sizes[32];
  const job_setting uneven = {.name = "uneven groups", .groups = sizes};
  for (int ranks = 3; ranks <= RANKS; ranks += 2) {
    snprintf(sizes, sizeof sizes, "%d,1,%d", (ranks - 1) / 2, ranks - 1 - (ranks - 1) / 2);
    run_job(ranks, &uneven);
  }
}

static void test_calls_are_right_on_interleaved_groups_with_one_slot(void **state) {
  (void)state;
  static const job_setting tight = {.name = "interleaved groups, one slot, no direct executor",
                                    .groups = "cyclic:2",
                                    .slot_count = "1",
                                    .direct_bytes = "0"};
  for (int ranks = 2; ranks <= RANKS; ranks += 3)
    run_job(ranks, &tight);
}

static void test_one_slot_and_long_direct_calls(void **state) {
  (void)state;
  static const job_setting direct = {.name = "one slot, direct up to 64K", .slot_count = "1", .direct_bytes = "64K"};
  for (int ranks = 2; ranks <= RANKS; ranks += 3)
    run_job(ranks, &direct);
}

static void test_calls_are_right_with_every_medium(void **state) {
  (void)state;
  static const char *const media[] = {"cell", "slot", "published", "lent", "read"};
  for (size_t n = 0; n < sizeof media / sizeof *media; n++) {
    const job_setting forced = {.name = media[n], .medium = media[n]};
    run_job(2, &forced);
    run_job(5, &forced);
  }
  static const job_setting far = {.name = "two machines", .nodes = "3,2"};
  static const job_setting tight = {
      .name = "two machines, one slot, many connections", .nodes = "2,3", .far_slots = "1", .far_bulk = "100"};
  run_job(5, &far);
  run_job(5, &tight);
}

static void test_sums_have_the_same_bits(void **state) {
  (void)state;
  char flat[] = "", uneven[] = "3,2", interleaved[] = "cyclic:2";
  assert_int_equal(job_run(6, run_sums, flat), 0);
  assert_int_equal(job_run(5, run_sums, uneven), 0);
  assert_int_equal(job_run(7, run_sums, interleaved), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_are_right_by_profile_and_preset),
      cmocka_unit_test(test_calls_are_right_on_uneven_groups),
      cmocka_unit_test(test_calls_are_right_on_interleaved_groups_with_one_slot),
      cmocka_unit_test(test_one_slot_and_long_direct_calls),
      cmocka_unit_test(test_calls_are_right_with_every_medium),
      cmocka_unit_test(test_sums_have_the_same_bits),
  };
  seed = getenv("TUTTI_TEST_SEED") ? strtoull(getenv("TUTTI_TEST_SEED"), NULL, 10) : (uint64_t)time(NULL);
  calls_a_job = getenv("TUTTI_TEST_LONG") ? 3000 : fewer_sanitized(400);
  print_message("TUTTI_TEST_SEED=%" PRIu64 "\n", seed);
  return cmocka_run_group_tests(tests, NULL, NULL);
}

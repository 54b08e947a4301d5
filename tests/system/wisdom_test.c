/* What was measured is what runs: all ranks use rank 0's wisdom, whoever can read the file; results stay right whatever
 * it says; what cannot be used is left alone or named. */
#include "fault/fault.h"

#include "api/api.h"
#include "support/wisdom.h"

#include <fcntl.h>
#include <sys/stat.h>

#define RANKS 4
#define CALLS 1000
#define CHANGED 200

static char folder[] = "/tmp/tutti-system-wisdom-XXXXXX";
static char path[256], machine[TT_MACHINE_TEXT];

static int make_folder(void **state) {
  if (fault_setup(state) != 0 || !mkdtemp(folder) || setenv("XDG_CACHE_HOME", folder, 1) != 0)
    return -1;
  char found[TT_WISDOM_PATH];
  return tt_wisdom_find("", true, found, machine) == TUTTI_OK && snprintf(path, sizeof path, "%s", found) < 256 ? 0
                                                                                                                : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[160];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

/* ---- random wisdom ---- */

static const tt_collective tuned[] = {TT_ALLREDUCE, TT_BROADCAST, TT_ALLGATHER, TT_REDUCE};
static const int64_t sizes[] = {8, 512, 8192, 65536};

/* Any candidate wins, be it good or not. */
static const char *draw(tt_collective collective, int64_t ranks, int64_t bytes, tt_random *random, char text[512]) {
  tt_arena arena;
  tt_arena_init(&arena);
  tt_candidates space;
  tt_task task = {.problem = {.collective = collective, .rank_count = ranks},
                  .topo = tt_topo_flat(&arena, ranks),
                  .bytes = bytes,
                  .slot_bytes = 65536,
                  .read_bytes = 32768};
  assert_int_equal(tt_candidates_make(&task, &space), TUTTI_OK);
  snprintf(text, 512, "%s", space.candidate[tt_random_below(random, (uint64_t)space.count)].text);
  tt_candidates_finish(&space);
  tt_arena_finish(&arena);
  return text;
}

static tt_wisdom *make_random(uint64_t seed) {
  tt_random random;
  tt_wisdom *wisdom;
  char text[512];
  tt_random_init(&random, seed);
  assert_int_equal(tt_wisdom_create(machine, "random", &wisdom), TUTTI_OK);
  for (int64_t ranks = 2; ranks <= RANKS; ranks++)
    for (size_t n = 0; n < TT_COUNT(tuned) * TT_COUNT(sizes); n++) {
      tt_winner winner = {.region = {.collective = tuned[n / TT_COUNT(sizes)],
                                     .bytes = sizes[n % TT_COUNT(sizes)],
                                     .rank_count = ranks,
                                     .node_count = 1,
                                     .ranks_per_node = ranks,
                                     .nic_count = 1}};
      winner.text = draw(winner.region.collective, ranks, winner.region.bytes, &random, text);
      assert_int_equal(tt_wisdom_put(wisdom, &winner), TUTTI_OK);
    }
  return wisdom;
}

/* ---- a job ---- */

static void set_wisdom(const char *value) {
  if (value)
    setenv("TUTTI_WISDOM", value, 1);
  else
    unsetenv("TUTTI_WISDOM");
}

/* One call of whole numbers, which every order of additions makes exact. */
static void call_once(tutti_comm *comm, tt_collective collective, int64_t count, int64_t root) {
  static float in[65536], out[65536 * RANKS];
  int64_t rank = tutti_comm_rank(comm), ranks = tutti_comm_size(comm);
  float sum = (float)(ranks * (ranks + 1) / 2);
  for (int64_t n = 0; n < count; n++)
    in[n] = (float)(rank + 1);
  memset(out, 0, sizeof out);
  if (collective == TT_ALLREDUCE)
    CHECK(tutti_allreduce(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK);
  else if (collective == TT_REDUCE)
    CHECK(tutti_reduce(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, root, comm) == TUTTI_OK);
  else if (collective == TT_BROADCAST)
    CHECK(tutti_broadcast(in, out, count, TUTTI_FLOAT32, root, comm) == TUTTI_OK);
  else
    CHECK(tutti_allgather(in, out, count, TUTTI_FLOAT32, comm) == TUTTI_OK);
  for (int64_t n = 0; n < count && (collective != TT_REDUCE || rank == root); n++) {
    if (collective == TT_ALLGATHER)
      for (int64_t r = 0; r < ranks; r++)
        CHECK(out[r * count + n] == (float)(r + 1));
    else
      CHECK(out[n] == (collective == TT_BROADCAST ? (rank == root ? 0 : (float)(root + 1)) : sum) ||
            (collective == TT_BROADCAST && rank == root));
  }
}

/* The nearest that was measured, counted in half powers of two; up to four of them away. */
static const char *expected(const tt_wisdom *wisdom, tt_collective collective, int64_t ranks, int64_t bytes) {
  const tt_winner *best = NULL;
  int nearest = 5;
  for (int64_t n = 0; n < wisdom->count; n++) {
    const tt_winner *at = &wisdom->winner[n];
    int away = abs(tt_dispatch_bucket(at->region.bytes) - tt_dispatch_bucket(bytes));
    if (at->region.collective != collective || at->region.rank_count != ranks)
      continue;
    if (away < nearest || (away == nearest && best && at->region.bytes > best->region.bytes)) {
      nearest = away;
      best = at;
    }
  }
  return best ? best->text : NULL;
}

typedef struct trial {
  const tt_wisdom *wisdom;
  const char *option[RANKS]; /* TUTTI_WISDOM of each rank; NULL: none */
  bool used;
} trial;

/* Random calls on communicators of 2, 3 and 4 ranks: what runs is what the wisdom says, and it is right. */
static void run_calls(const tutti_boot *boot, void *argument) {
  const trial *of = argument;
  set_wisdom(of->option[boot->rank]);
  tutti_context *context = join_job(boot);
  tutti_comm *world, *comm[RANKS + 1] = {NULL};
  tt_random random;
  tt_random_init(&random, 7);
  CHECK(tutti_comm_create(context, &world) == TUTTI_OK);
  for (int64_t ranks = 2; ranks <= RANKS; ranks++)
    CHECK(tutti_comm_split(world, boot->rank < ranks ? 0 : -1, boot->rank, &comm[ranks]) == TUTTI_OK);
  for (int n = 0; n < fewer_sanitized(CALLS); n++) {
    int64_t ranks = 2 + (int64_t)tt_random_below(&random, RANKS - 1);
    tt_collective collective = tuned[tt_random_below(&random, TT_COUNT(tuned))];
    int64_t count = 1 + (int64_t)tt_random_below(&random, (uint64_t)1 << (1 + tt_random_below(&random, 15)));
    int64_t root = (int64_t)tt_random_below(&random, (uint64_t)ranks);
    if (boot->rank >= ranks)
      continue;
    call_once(comm[ranks], collective, count, root);
    int64_t bytes = count * (int64_t)sizeof(float) * (collective == TT_ALLGATHER ? ranks : 1);
    const char *text = expected(of->wisdom, collective, ranks, bytes), *ran = tutti_comm_last_params(comm[ranks]);
    CHECK(!of->used || !text || strcmp(ran, text) == 0);
  }
  for (int64_t ranks = 2; ranks <= RANKS; ranks++)
    tutti_comm_destroy(comm[ranks]);
  leave_all(context, world);
}

static void run_random(uint64_t seed, trial of) {
  tt_wisdom *wisdom = make_random(seed);
  of.wisdom = wisdom;
  unlink(path);
  assert_int_equal(tt_wisdom_write(path, wisdom), TUTTI_OK);
  run_job(RANKS, run_calls, &of);
  tt_wisdom_destroy(wisdom);
}

static void test_what_was_measured_runs_and_is_right(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (uint64_t)fewer_sanitized(3); seed++)
    run_random(seed, (trial){.used = true});
}

static void test_rank_0_reads_for_all(void **state) {
  (void)state;
  run_random(4, (trial){.used = true, .option = {path, "off", "/no/such/file", NULL}});
  run_random(5, (trial){.used = false, .option = {"off", path, path, path}});
}

/* ---- what cannot be used ---- */

static void write_file(const char *text) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void run_one(const tutti_boot *boot, void *argument) {
  const trial *of = argument;
  set_wisdom(of->option[boot->rank]);
  tutti_context *context = join_job(boot);
  tutti_comm *comm;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  call_once(comm, TT_ALLREDUCE, 100, 0);
  CHECK(strcmp(tutti_comm_last_params(comm), "linear") == 0);
  leave_all(context, comm);
}

/* A job whose ranks together say so in that many lines. */
static void run_and_count(const trial *of, int lines) {
  char said[4096] = "";
  int kept = dup(STDERR_FILENO), count = 0;
  FILE *file = tmpfile();
  assert_true(file && kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
  run_job(RANKS, run_one, (void *)(uintptr_t)of);
  dup2(kept, STDERR_FILENO);
  close(kept);
  rewind(file);
  while (fgets(said, sizeof said, file))
    count += strstr(said, "wisdom is not used: ") != NULL;
  fclose(file);
  assert_int_equal(count, lines);
}

static void test_a_file_in_the_cache_that_is_wrong_or_foreign_is_left_alone(void **state) {
  (void)state;
  trial of = {.used = false};
  write_file("{\"tutti-wisdom\": 1, \"machine\": \"0000000000000000\", \"winners\": [{\"collective\": \"allreduce\", "
             "\"ranks\": 4, \"nodes\": 1, \"ranks_per_node\": 4, \"nics\": 1, \"bytes\": 400, \"params\": \"chain\", "
             "\"ns\": 1, \"rules_ns\": 2}]}");
  run_and_count(&of, 1);
  write_file("not JSON");
  run_and_count(&of, 1);
  write_file("{\"tutti-wisdom\": 2}");
  run_and_count(&of, 1);
  unlink(path);
  run_and_count(&of, 0);
}

static void expect_refusal(const tutti_boot *boot, void *argument) {
  tutti_context_options options;
  tutti_context *context = NULL;
  set_wisdom(path);
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_ERR_ARGUMENT && !context);
  CHECK(strstr(tutti_last_error(), argument));
}

static void test_a_named_file_that_is_wrong_is_an_error_on_all_ranks(void **state) {
  (void)state;
  char text[400];
  write_file("{}\n}");
  snprintf(text, sizeof text, "rank 0: %s: line 2: ", path);
  run_job(RANKS, expect_refusal, text);
  unlink(path);
  snprintf(text, sizeof text, "rank 0: %s: ", path);
  run_job(RANKS, expect_refusal, text);
}

static const char no_plan[] = "[rack:chain/core:star]";

static void insist(const tutti_boot *boot, void *argument) {
  const trial *of = argument;
  float in = 1, out;
  set_wisdom(of->option[boot->rank]);
  tutti_context *context = join_job(boot);
  tutti_comm *comm;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  CHECK(tutti_allreduce(&in, &out, 1, TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK && out == RANKS);
  call_once(comm, TT_ALLREDUCE, 100, 0);
  CHECK(tutti_comm_set_params(comm, "allreduce", no_plan) == TUTTI_OK);
  CHECK(tutti_allreduce(&in, &out, 1, TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_ERR_PLAN);
  leave_all(context, comm);
}

/* A plan that this call cannot have: the user's own parameters are an error, also where the same text was passed over
 * before; these are not. */
static void test_a_winner_that_makes_no_plan_here_is_passed_over(void **state) {
  (void)state;
  trial of = {.used = false};
  char text[512];
  snprintf(text, sizeof text,
           "{\"tutti-wisdom\": 1, \"machine\": \"%s\", \"winners\": [{\"collective\": \"allreduce\", \"ranks\": 4, "
           "\"nodes\": 1, \"ranks_per_node\": 4, \"nics\": 1, \"bytes\": 400, \"params\": "
           "\"%s\", \"ns\": 1, \"rules_ns\": 2}]}",
           machine, no_plan);
  write_file(text);
  run_job(RANKS, run_one, &of);
  run_job(RANKS, insist, &of);
  unlink(path);
}

/* ---- files that are wrong in any way ---- */

/* All ranks alike: no job, or one that calculates right. */
static void run_changed(const tutti_boot *boot, void *argument) {
  tutti_context_options options;
  tutti_context *context = NULL;
  tutti_comm *comm;
  (void)argument;
  alarm(HANG_S);
  set_wisdom(path);
  tutti_context_options_init(&options);
  options.boot = boot;
  tutti_status status = tutti_context_create(&options, &context);
  report(boot, status);
  if (status != TUTTI_OK)
    return;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  for (size_t n = 0; n < TT_COUNT(tuned); n++)
    for (int64_t count = 2; count <= 32768; count *= 8)
      call_once(comm, tuned[n], count, count % RANKS);
  leave_all(context, comm);
}

/* Says which file it was, where something goes wrong. */
static void run_changed_job(const char *bytes, size_t size, uint64_t seed, int number, int *refusals) {
  char start[400];
  FILE *file = fopen(path, "we");
  assert_true(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
  job started = start_job(RANKS, run_changed, NULL);
  int failed = job_wait(&started);
  snprintf(start, sizeof start, "rank 0: %s: ", path);
  for (int r = 0; r < RANKS; r++)
    failed += outcomes[r].status != outcomes[0].status ||
              (outcomes[r].status != TUTTI_OK &&
               (outcomes[r].status != TUTTI_ERR_ARGUMENT || !strstr(outcomes[r].text, start)));
  if (failed)
    fail_msg("TUTTI_TEST_SEED=%" PRIu64 ", number %d: %s '%s' from a file of %zu bytes: %.2000s", seed, number,
             tutti_status_name((tutti_status)outcomes[0].status), outcomes[0].text, size, bytes);
  *refusals += outcomes[0].status != TUTTI_OK;
}

static void test_a_changed_file_ends_the_start_or_changes_no_result(void **state) {
  (void)state;
  static char right[WISDOM_BYTES], bytes[WISDOM_BYTES + 1];
  const char *given = getenv("TUTTI_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
  int refusals = 0, rounds = long_mode() ? 20 * CHANGED : fewer_sanitized(CHANGED);
  size_t size = wisdom_write(machine, right);
  tt_random random;
  tt_random_init(&random, seed);
  run_changed_job(right, size, seed, -1, &refusals);
  assert_int_equal(refusals, 0);
  for (int n = 0; n < rounds; n++) {
    size_t now = size;
    memcpy(bytes, right, size);
    now = wisdom_change(bytes, now, &random);
    bytes[now] = '\0';
    run_changed_job(bytes, now, seed, n, &refusals);
  }
  print_message("%d of %d files refused, TUTTI_TEST_SEED=%" PRIu64 "\n", refusals, rounds, seed);
  assert_true(refusals > 0 && refusals < rounds);
  unlink(path);
}

/* ---- where another library is faster ---- */

typedef struct outside_trial {
  const char *variable, *value; /* NULL: none; of rank 0 */
  bool known;
} outside_trial;

static void ask(const tutti_boot *boot, void *argument) {
  const outside_trial *of = argument;
  set_wisdom(boot->rank == 0 ? path : "off");
  if (of->variable)
    setenv(of->variable, of->value, 1);
  tutti_context *context = join_job(boot);
  tutti_comm *world, *part;
  tutti_lengths lengths = {1, 1};
  CHECK(tutti_comm_create(context, &world) == TUTTI_OK);
  CHECK(tutti_comm_split(world, boot->rank < 3 ? 0 : 1, boot->rank, &part) == TUTTI_OK);
  CHECK(tutti_comm_outside(world, "mpich-4.0", "sort", &lengths) == TUTTI_ERR_ARGUMENT);
  CHECK(strstr(tutti_last_error(), "tutti_comm_outside: unknown collective 'sort'"));
  CHECK(tutti_comm_outside(world, NULL, "scan", &lengths) == TUTTI_ERR_ARGUMENT);
  CHECK(tutti_comm_outside(world, "mpich-4.0", "scan", &lengths) == TUTTI_OK);
  CHECK((tutti_lengths_have(&lengths, 400) == 1) == of->known && !tutti_lengths_have(&lengths, 1 << 20));
  CHECK(tutti_comm_outside(world, "openmpi-4.1", "scan", &lengths) == TUTTI_OK && !lengths.low && !lengths.high);
  CHECK(tutti_comm_outside(world, "mpich-4.0", "barrier", &lengths) == TUTTI_OK && !lengths.low && !lengths.high);
  CHECK(tutti_comm_outside(part, "mpich-4.0", "scan", &lengths) == TUTTI_OK && !lengths.low && !lengths.high);
  tutti_comm_destroy(part);
  leave_all(context, world);
}

static void test_files_of_one_folder_share_nothing(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {"/a/wisdom.json", "/a/learned.json"},   {"wisdom.json", "learned.json"}, {"/a/b.json", "/a/b.learned.json"},
      {"/a.json/b", "/a.json/b.learned.json"}, {"b", "b.learned.json"},         {"/a/.json", "/a/.json.learned.json"}};
  char found[TT_WISDOM_PATH + 32];
  for (size_t n = 0; n < TT_COUNT(files); n++) {
    tt_lessons_path(files[n][0], found);
    assert_string_equal(found, files[n][1]);
  }
}

/* ---- the machine ---- */

static void expect_machine(const char *expected) {
  char found[TT_WISDOM_PATH], name[TT_MACHINE_TEXT];
  assert_int_equal(tt_wisdom_find("", false, found, name), TUTTI_OK);
  assert_string_equal(name, expected);
}

/* Those of other hosts that have the same home are kept; what is no such file is replaced. */
static void test_what_the_machine_is_was_found_out_once_since_it_started(void **state) {
  (void)state;
  static const char other[] = "0123456789abcdef";
  char kept[400], line[64], text[256] = "";
  snprintf(kept, sizeof kept, "%s/tutti/machine", folder);
  FILE *file = fopen(kept, "we");
  assert_non_null(file);
  fprintf(file, "%016" PRIx64 " %s\n%016" PRIx64 " %s\n", ~tt_host(), machine, tt_host(), other);
  fclose(file);
  expect_machine(other);
  assert_non_null(file = fopen(kept, "we"));
  fprintf(file, "%016" PRIx64 " %s\nno machine\n", ~tt_host(), other);
  fclose(file);
  expect_machine(machine);
  assert_non_null(file = fopen(kept, "re"));
  snprintf(line, sizeof line, "%016" PRIx64 " %s\n", tt_host(), machine);
  assert_string_equal(fgets(text, sizeof text, file), line);
  snprintf(line, sizeof line, "%016" PRIx64 " %s\n", ~tt_host(), other);
  assert_string_equal(fgets(text, sizeof text, file), line);
  assert_null(fgets(text, sizeof text, file));
  fclose(file);
}

/* All machines of a cluster may have the same home. */
static void test_many_machines_are_remembered(void **state) {
  (void)state;
  enum { OTHERS = 200 };
  char kept[400], line[64], text[64];
  snprintf(kept, sizeof kept, "%s/tutti/machine", folder);
  FILE *file = fopen(kept, "we");
  assert_non_null(file);
  for (uint64_t n = 0; n < OTHERS; n++)
    fprintf(file, "%016" PRIx64 " 0123456789abcdef\n", ~tt_host() + n);
  fclose(file);
  expect_machine(machine);
  assert_non_null(file = fopen(kept, "re"));
  assert_non_null(fgets(text, sizeof text, file));
  for (uint64_t n = 0; n < OTHERS; n++) {
    snprintf(line, sizeof line, "%016" PRIx64 " 0123456789abcdef\n", ~tt_host() + n);
    assert_string_equal(fgets(text, sizeof text, file), line);
  }
  fclose(file);
}

/* By a variable of hwloc: what the cache has of this one is neither used nor replaced. */
static void test_a_pretended_machine_is_not_kept(void **state) {
  (void)state;
  static const char other[] = "0123456789abcdef";
  char kept[400], found[TT_WISDOM_PATH], name[TT_MACHINE_TEXT];
  snprintf(kept, sizeof kept, "%s/tutti/machine", folder);
  FILE *file = fopen(kept, "we");
  assert_non_null(file);
  fprintf(file, "%016" PRIx64 " %s\n", tt_host(), other);
  fclose(file);
  setenv("HWLOC_SYNTHETIC", "pack:3 core:7 pu:1", 1);
  tutti_status status = tt_wisdom_find("", false, found, name);
  unsetenv("HWLOC_SYNTHETIC");
  assert_int_equal(status, TUTTI_OK);
  assert_string_not_equal(name, machine);
  assert_string_not_equal(name, other);
  expect_machine(other);
  unlink(kept);
}

/* Else it would be found out whenever a job starts. */
static void test_what_the_machine_is_is_kept_for_users_of_a_named_file_too(void **state) {
  (void)state;
  char cache[200], kept[300], found[TT_WISDOM_PATH], name[TT_MACHINE_TEXT];
  snprintf(cache, sizeof cache, "%s/no/cache", folder);
  snprintf(kept, sizeof kept, "%s/no", folder);
  assert_int_equal(mkdir(kept, 0700), 0);
  setenv("XDG_CACHE_HOME", cache, 1);
  assert_int_equal(tt_wisdom_find("/some/file", false, found, name), TUTTI_OK);
  setenv("XDG_CACHE_HOME", folder, 1);
  assert_string_equal(found, "/some/file");
  snprintf(kept, sizeof kept, "%s/tutti/machine", cache);
  assert_int_equal(access(kept, R_OK), 0);
}

static void test_where_another_library_is_faster_is_known_to_all_ranks(void **state) {
  (void)state;
  static const outside_trial trials[] = {{NULL, NULL, true},
                                         {"TUTTI_VERIFY", "1", false},
                                         {"TUTTI_TIMEOUT", "90s", false},
                                         {"TUTTI_PARAMS", "linear", false},
                                         {"TUTTI_NODES", "2x2", false}};
  char text[512];
  snprintf(text, sizeof text,
           "{\"tutti-wisdom\": 1, \"machine\": \"%s\", \"winners\": [], \"outside\": [{\"library\": \"mpich-4.0\", "
           "\"collective\": \"scan\", \"ranks\": 4, \"nodes\": 1, \"ranks_per_node\": 4, \"nics\": 1, \"bytes\": "
           "400, \"wins\": true, \"ns\": 1, \"tutti_ns\": 2}]}",
           machine);
  write_file(text);
  for (size_t n = 0; n < TT_COUNT(trials); n++)
    run_job(RANKS, ask, (void *)(uintptr_t)&trials[n]);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_was_measured_runs_and_is_right),
      cmocka_unit_test(test_rank_0_reads_for_all),
      cmocka_unit_test(test_a_file_in_the_cache_that_is_wrong_or_foreign_is_left_alone),
      cmocka_unit_test(test_a_named_file_that_is_wrong_is_an_error_on_all_ranks),
      cmocka_unit_test(test_a_winner_that_makes_no_plan_here_is_passed_over),
      cmocka_unit_test(test_a_changed_file_ends_the_start_or_changes_no_result),
      cmocka_unit_test(test_files_of_one_folder_share_nothing),
      cmocka_unit_test(test_what_the_machine_is_was_found_out_once_since_it_started),
      cmocka_unit_test(test_many_machines_are_remembered),
      cmocka_unit_test(test_a_pretended_machine_is_not_kept),
      cmocka_unit_test(test_what_the_machine_is_is_kept_for_users_of_a_named_file_too),
      cmocka_unit_test(test_where_another_library_is_faster_is_known_to_all_ranks),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* What `tutti explain` says is what runs: random calls of jobs with random wisdom, random profiles, TUTTI_PARAMS,
 * parameters that the program sets, communicators that are splits, ranks on pretended nodes; blocking, started and
 * persistent. After each job the command is asked about every call, in the same environment, and must name the
 * parameters that ran and who had decided, with the file and line; or that the call was an error. */
#include "../../bench/invoke.h"

#include "fault/fault.h"

#include "api/api.h"

#include <fcntl.h>
#include <jansson.h>

enum { RANKS = 4, JOBS = 10, CALLS = 100, PARTS = 2, TEXT = 600 };

static char folder[] = "/tmp/tutti-system-explain-XXXXXX";
static char machine[TT_MACHINE_TEXT], wisdom_path[256], lessons_path[256], profile_path[256], tool[4096];

/* Some make no plan for some calls, and one for none. */
static const char *const texts[] = {"linear",
                                    "ring",
                                    "binomial",
                                    "recursive-doubling",
                                    "two-level-ring",
                                    "[core:chain] channels=2",
                                    "form=split [node:star/core:star]",
                                    "[2:star/core:chain] slice=8K",
                                    "[rack:star/core:star]"};
static const tt_collective asked_of[] = {TT_ALLREDUCE, TT_BROADCAST, TT_REDUCE,         TT_ALLGATHER, TT_GATHER,
                                         TT_SCATTER,   TT_SCAN,      TT_REDUCE_SCATTER, TT_BARRIER,   TT_ALL_TO_ALL};

/* What a job begins with. */
typedef struct setting {
  const char *groups; /* TUTTI_GROUPS; NULL: not set */
  const char *nodes;  /* TUTTI_NODES, the same */
  int node[RANKS];    /* the same */
  const char *params; /* TUTTI_PARAMS; NULL: not set */
  bool wisdom, profile;
  uint64_t seed;
} setting;

/* A call, and what became of it. */
typedef struct call {
  bool there;
  tt_collective collective;
  int64_t bytes, ranks, root;
  int node[RANKS]; /* of each of its ranks */
  bool whole;      /* they are those of the job, in its order */
  tutti_type type;
  bool ordered;
  const char *set; /* static, so that all processes have it at one place; NULL: nothing */
  tutti_status status;
  char ran[TEXT], authority[TEXT];
} call;

static call *calls; /* [CALLS * PARTS], shared */

/* ---- settings ---- */

static int64_t below(tt_random *random, int64_t limit) { return (int64_t)tt_random_below(random, (uint64_t)limit); }

static const char *any_text(tt_random *random) { return texts[below(random, TT_COUNT(texts))]; }

static const char *any_collective(tt_random *random) {
  return tt_compose_info(asked_of[below(random, TT_COUNT(asked_of))]).name;
}

/* Lines of their own, several in one, or empty ones between them. */
static void put_gap(FILE *file, tt_random *random) {
  for (int64_t lines = below(random, 4); lines > 0; lines--)
    fputc('\n', file);
}

static void write_wisdom(tt_random *random) {
  FILE *file = fopen(wisdom_path, "we");
  assert_non_null(file);
  fprintf(file, "{\"tutti-wisdom\": 1, \"machine\": \"%s\", \"about\": \"random\", \"winners\": [", machine);
  for (int n = 0; n < 70; n++) {
    int64_t ranks = 2 + below(random, 3), nodes = 1 + below(random, 2),
            each = nodes == 1 ? ranks : 1 + below(random, 3);
    fputs(n ? "," : "", file);
    put_gap(file, random);
    fprintf(file,
            "{\"collective\": \"%s\", \"ranks\": %d, \"nodes\": %d, \"ranks_per_node\": %d, \"nics\": %d, \"bytes\": "
            "%d, \"params\": \"%s\", \"ns\": 1, \"rules_ns\": 2}",
            any_collective(random), (int)ranks, (int)nodes, (int)each, (int)below(random, 3), 4 << below(random, 15),
            any_text(random));
  }
  fputs("]}", file);
  fclose(file);
}

static void put_region(FILE *file, int bytes, int ranks, int nodes, int each) {
  fprintf(file, "\"bytes\": %d, \"ranks\": %d, \"nodes\": %d, \"ranks_per_node\": %d, \"nics\": %d", bytes, ranks,
          nodes, each, nodes == 1);
}

/* Three classes, the first of which is the rules'; each vector draws the calls around it to its own. */
static void put_classifier(FILE *file, tt_random *random) {
  fprintf(file,
          "\"classes\": [\"\", \"%s\", \"%s\"], \"gamma\": 0.5, \"vectors_of\": [2, 2, 2], \"rho\": [0, 0, 0], "
          "\"vectors\": [",
          any_text(random), any_text(random));
  for (int n = 0; n < 6; n++)
    fprintf(file, "%s[%.1f, %.1f, %.1f, 0, 0, %d, %d]", n ? ", " : "", (double)below(random, 21) / 10 - 1,
            (double)below(random, 21) / 10 - 1, (double)below(random, 21) / 10 - 1, n < 2 ? 1 : -1, n < 4 ? 1 : -1);
  fputs("], ", file);
}

/* Of most collectives; by each who may be asked. */
static void write_lessons(tt_random *random) {
  static const char *const by[] = {"rules", "classifier", "nearest", "model", "model", "model"};
  FILE *file = fopen(lessons_path, "we");
  const char *before = "";
  assert_non_null(file);
  fprintf(file, "{\"tutti-learned\": 2, \"machine\": \"%s\", \"about\": \"random\", \"collectives\": [", machine);
  for (size_t c = 0; c < TT_COUNT(asked_of); c++) {
    if (below(random, 6) == 0)
      continue;
    fputs(before, file);
    before = ",";
    put_gap(file, random);
    fprintf(file, "{\"collective\": \"%s\", \"by\": \"%s\", \"scores\": {}, \"from\": {",
            tt_compose_info(asked_of[c]).name, by[below(random, TT_COUNT(by))]);
    put_region(file, 4 << below(random, 6), 2, 1, 1);
    fputs("}, \"to\": {", file);
    put_region(file, 4096 << below(random, 8), 3 + (int)below(random, 2), 1 + (int)below(random, 2), 4);
    fputs("}, ", file);
    put_classifier(file, random);
    fputs("\"points\": [", file);
    for (int n = 0; n < 80; n++) {
      int ranks = 2 + (int)below(random, 3), nodes = 1 + (int)below(random, 2);
      fprintf(file, "%s\"%s %d %d %d %d %d: %s\"", n ? ", " : "", n % 3 ? "model" : "measured", ranks, nodes,
              nodes == 1 ? ranks : 1 + (int)below(random, 3), nodes == 1, 4 << below(random, 15), any_text(random));
    }
    fputs("]}", file);
  }
  fputs("]}", file);
  fclose(file);
}

static void write_profile(tt_random *random) {
  FILE *file = fopen(profile_path, "we");
  assert_non_null(file);
  fputs("{\"name\": \"random\",\n\"rules\": [", file);
  for (int n = 0; n < 25; n++) {
    fputs(n ? "," : "", file);
    put_gap(file, random);
    fprintf(file, "{\"collective\": [\"%s\", \"%s\"], \"ranks\": [%d, %d], \"bytes\": \"%d\", \"params\": \"%s\"",
            any_collective(random), any_collective(random), (int)(1 + below(random, 3)), (int)(3 + below(random, 3)),
            8 << below(random, 15), any_text(random));
    if (below(random, 3) == 0)
      fprintf(file, ", \"nodes\": [%d, 2]", (int)(1 + below(random, 2)));
    if (below(random, 3) == 0)
      fprintf(file, ", \"ranks_per_node\": [%d]", (int)(1 + below(random, 3)));
    if (below(random, 3) == 0)
      fprintf(file, ", \"ranks_per_core\": [%d, 2]", (int)(1 + below(random, 2)));
    fputc('}', file);
  }
  fputs("]}", file);
  fclose(file);
}

static setting draw(uint64_t seed) {
  static const struct {
    const char *groups, *nodes;
    int node[RANKS];
  } places[] = {{NULL, NULL, {0}},
                {"2x2", NULL, {0, 0, 1, 1}},
                {"cyclic:2", "2x2", {0, 1, 0, 1}},
                {"3,1", NULL, {0, 0, 0, 1}},
                {NULL, "1,3", {0, 1, 1, 1}}};
  tt_random random;
  tt_random_init(&random, seed);
  int64_t place = below(&random, TT_COUNT(places));
  setting of = {.groups = places[place].groups, .nodes = places[place].nodes, .seed = seed};
  memcpy(of.node, places[place].node, sizeof of.node);
  of.params = below(&random, 4) == 0 ? any_text(&random) : NULL;
  of.wisdom = below(&random, 4) != 0;
  of.profile = below(&random, 4) != 0;
  write_wisdom(&random);
  write_profile(&random);
  unlink(lessons_path);
  if (below(&random, 8) != 0)
    write_lessons(&random);
  return of;
}

static void set(const char *name, const char *value) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

static void enter(const setting *of) {
  set("TUTTI_GROUPS", of->groups);
  set("TUTTI_NODES", of->nodes);
  set("TUTTI_PARAMS", of->params);
  set("TUTTI_WISDOM", of->wisdom ? wisdom_path : "off");
  set("TUTTI_PROFILE", of->profile ? profile_path : NULL);
}

/* ---- a job's calls ---- */

enum { WHOLE, BACKWARDS, THREE, HALVES, COMMS };

/* The second operand: associative, and not commutative. */
static void take_second(const void *left, const void *right, void *out, int64_t count, void *user) {
  (void)left, (void)user;
  if (out != right)
    memcpy(out, right, (size_t)count * sizeof(float));
}

typedef struct drawn {
  int comm;
  tt_collective collective;
  int64_t count, root;
  bench_way way;
  bool ordered, sets;
  const char *set;
  tutti_type type;
} drawn;

/* The same on all ranks. */
static drawn draw_call(tt_random *random) {
  drawn of = {.comm = (int)below(random, COMMS), .collective = asked_of[below(random, TT_COUNT(asked_of))]};
  of.count = 1 + below(random, (int64_t)1 << below(random, 13));
  of.root = below(random, 2);
  of.way = (bench_way)below(random, 3);
  of.ordered = tt_compose_info(of.collective).reduces && of.collective != TT_BARRIER && below(random, 5) == 0;
  of.type = of.ordered || below(random, 2) ? TUTTI_FLOAT32 : TUTTI_FLOAT64;
  of.sets = below(random, 6) == 0;
  of.set = below(random, 2) ? any_text(random) : NULL;
  return of;
}

static int64_t bytes_of(const drawn *of, const tutti_comm *comm) {
  int64_t element = of->type == TUTTI_FLOAT64 ? 8 : 4;
  return tt_compose_vector(of->collective, of->count, tutti_comm_size(comm)) * element;
}

/* What tutti_comm_explain says before the call. */
static tutti_status foresee(const drawn *of, tutti_comm *comm, const char **params, const char **authority) {
  return tutti_comm_explain(comm, tt_compose_info(of->collective).name, bytes_of(of, comm), of->root, !of->ordered,
                            params, authority);
}

static tutti_status run(const drawn *of, tutti_comm *comm, tutti_op op) {
  static double in[8192 * RANKS], out[8192 * RANKS];
  bench_arguments with = {in, out, .count = of->count, .type = of->type, .op = op, .root = of->root, .comm = comm};
  tutti_request *request = NULL;
  tutti_status status = bench_invoke(of->collective, of->way, &with, &request);
  if (status != TUTTI_OK || of->way == BENCH_NOW)
    return status;
  if (of->way == BENCH_INIT)
    status = tutti_request_start(request);
  if (status == TUTTI_OK)
    status = tutti_wait(&request);
  if (of->way == BENCH_INIT)
    tutti_request_destroy(request);
  return status;
}

/* By its first rank. */
static void note(const setting *of, const drawn *what, tutti_comm *comm, const char *said, tutti_status status,
                 const int64_t *job_rank, call *to) {
  int64_t ranks = tutti_comm_size(comm);
  *to = (call){.there = true,
               .collective = what->collective,
               .bytes = bytes_of(what, comm),
               .ranks = ranks,
               .whole = what->comm == WHOLE,
               .root = what->root,
               .type = what->type,
               .ordered = what->ordered,
               .set = said,
               .status = status};
  for (int64_t r = 0; r < ranks; r++)
    to->node[r] = of->node[job_rank[r]];
  snprintf(to->ran, sizeof to->ran, "%s", tutti_comm_last_params(comm));
  snprintf(to->authority, sizeof to->authority, "%s", tutti_comm_last_authority(comm));
}

static void list_ranks(int comm, int64_t own, int64_t job_rank[RANKS]) {
  for (int64_t r = 0; r < RANKS; r++)
    job_rank[r] = comm == BACKWARDS ? RANKS - 1 - r : comm == HALVES ? 2 * r + own % 2 : r;
}

static void run_calls(const tutti_boot *boot, void *argument) {
  const setting *of = argument;
  static const char *said[COMMS][TT_COLLECTIVE_COUNT];
  tutti_comm *world, *comm[COMMS];
  tutti_op second;
  tt_random random;
  enter(of);
  tutti_context *context = join_job(boot);
  tt_random_init(&random, of->seed + 1000);
  CHECK(tutti_op_create(context, take_second, NULL, sizeof(float), 0, &second) == TUTTI_OK);
  CHECK(tutti_comm_create(context, &world) == TUTTI_OK);
  CHECK(tutti_comm_split(world, 0, 0, &comm[WHOLE]) == TUTTI_OK);
  CHECK(tutti_comm_split(world, 0, -boot->rank, &comm[BACKWARDS]) == TUTTI_OK);
  CHECK(tutti_comm_split(world, boot->rank < 3 ? 0 : -1, 0, &comm[THREE]) == TUTTI_OK);
  CHECK(tutti_comm_split(world, boot->rank % 2, 0, &comm[HALVES]) == TUTTI_OK);
  for (int n = 0; n < CALLS; n++) {
    drawn what = draw_call(&random);
    tutti_comm *on = comm[what.comm];
    int64_t job_rank[RANKS];
    if (!on)
      continue;
    if (what.sets) {
      CHECK(tutti_comm_set_params(on, tt_compose_info(what.collective).name, what.set) == TUTTI_OK);
      said[what.comm][what.collective] = what.set;
    }
    const char *params, *authority;
    tutti_status before = foresee(&what, on, &params, &authority);
    tutti_status status = run(&what, on, what.ordered ? second : TUTTI_SUM);
    CHECK(status == TUTTI_OK || status == TUTTI_ERR_PLAN);
    CHECK(before == status);
    CHECK(status != TUTTI_OK || (params == tutti_comm_last_params(on) && authority == tutti_comm_last_authority(on)));
    list_ranks(what.comm, boot->rank, job_rank);
    if (tutti_comm_rank(on) == 0)
      note(of, &what, on, said[what.comm][what.collective], status, job_rank,
           &calls[n * PARTS + (what.comm == HALVES ? boot->rank % 2 : 0)]);
  }
  for (int n = 0; n < COMMS; n++)
    tutti_comm_destroy(comm[n]);
  tutti_op_destroy(context, second);
  leave_all(context, world);
}

/* ---- what explain says ---- */

/* Its answer; ends the test where it has none. */
static json_t *explain(const setting *of, char *const *words) {
  int ends[2], status;
  static char text[1 << 21];
  size_t size = 0;
  json_error_t error;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    enter(of);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv(tool, words);
    _exit(127);
  }
  close(ends[1]);
  for (ssize_t got; size < sizeof text && (got = read(ends[0], text + size, sizeof text - size)) > 0;)
    size += (size_t)got;
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  json_t *answer = json_loadb(text, size, 0, &error);
  if (status != 0 || !answer)
    fail_msg("tutti explain ended with %d and said: %.*s", status, (int)size, text);
  return answer;
}

static json_t *explain_call(const setting *of, const call *at) {
  char length[32], ranks[16], root[16], map[64] = "";
  char *words[24] = {tool, "explain", (char *)(uintptr_t)tt_compose_info(at->collective).name};
  int count = 3;
  snprintf(length, sizeof length, "%" PRId64, at->bytes);
  snprintf(ranks, sizeof ranks, "%" PRId64, at->ranks);
  snprintf(root, sizeof root, "%" PRId64, at->root);
  for (int64_t r = 0; r < at->ranks; r++)
    snprintf(map + strlen(map), sizeof map - strlen(map), "%s%d", r ? "," : "", at->node[r]);
  strcat(map, ":");
  if (at->collective != TT_BARRIER)
    words[count++] = length;
  if (!at->whole) { /* else it knows from TUTTI_GROUPS */
    words[count++] = "--groups";
    words[count++] = map;
  }
  char *const more[] = {"-n", ranks, "--brief", "--json"};
  for (size_t n = 0; n < TT_COUNT(more); n++)
    words[count++] = more[n];
  if (at->type == TUTTI_FLOAT64) {
    words[count++] = "--type";
    words[count++] = "float64";
  }
  if (at->ordered)
    words[count++] = "--ordered";
  if (tt_compose_info(at->collective).has_root) {
    words[count++] = "--root";
    words[count++] = root;
  }
  if (at->set) {
    words[count++] = "--set";
    words[count++] = (char *)(uintptr_t)at->set;
  }
  assert_true(count < (int)TT_COUNT(words));
  return explain(of, words);
}

static const char *member(const json_t *answer, const char *name) {
  const char *text = json_string_value(json_object_get(answer, name));
  return text ? text : "";
}

/* As tutti_comm_last_authority has it. */
static void format_authority(const json_t *answer, char text[TEXT]) {
  const char *source = member(answer, "source");
  bool passed_over = strcmp(member(answer, "runs"), member(answer, "chosen")) != 0;
  snprintf(text, TEXT, "%s%s%s%s", passed_over ? "default; no plan from " : "", member(answer, "authority"),
           *source ? " " : "", source);
}

/* The line that is named has the parameters that it is named for. default.json is not looked at. */
static void check_line(const json_t *answer) {
  static char line[1 << 16];
  char path[TEXT], params[TEXT];
  snprintf(path, sizeof path, "%s", member(answer, "source"));
  char *colon = strrchr(path, ':');
  if (*path != '/')
    return;
  int number = atoi(colon + 1);
  *colon = '\0';
  if (strcmp(path, lessons_path) == 0) /* a lesson has many */
    snprintf(params, sizeof params, "{\"collective\": \"%s\", \"by\"", member(answer, "collective"));
  else
    snprintf(params, sizeof params, "\"params\": \"%s\"", member(answer, "chosen"));
  FILE *file = fopen(path, "re");
  assert_non_null(file);
  for (; number > 0; number--)
    assert_non_null(fgets(line, sizeof line, file));
  fclose(file);
  assert_non_null(strstr(line, params));
}

typedef struct counts {
  int all, errors, passed_over, by[TT_AUTHORITY_COUNT];
} counts;

static void compare(const setting *of, const call *at, counts *seen) {
  char authority[TEXT];
  json_t *answer = explain_call(of, at);
  bool error = json_is_null(json_object_get(answer, "runs"));
  format_authority(answer, authority);
  bool agrees = error ? at->status == TUTTI_ERR_PLAN
                      : at->status == TUTTI_OK && strcmp(at->ran, member(answer, "runs")) == 0 &&
                            strcmp(at->authority, authority) == 0;
  if (!agrees) {
    char *text = json_dumps(answer, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    fail_msg("seed %d: %s of %d bytes on %d ranks: status %d, ran '%s' by '%s'; explain says: %s", (int)of->seed,
             tt_compose_info(at->collective).name, (int)at->bytes, (int)at->ranks, (int)at->status, at->ran,
             at->authority, text);
  }
  check_line(answer);
  seen->all++;
  seen->errors += error;
  seen->passed_over += !error && strncmp(authority, "default; ", 9) == 0;
  for (tt_authority by = TT_BY_PROGRAM; by < TT_AUTHORITY_COUNT; by++)
    seen->by[by] += strcmp(member(answer, "authority"), tt_authority_name(by)) == 0;
  json_decref(answer);
}

/* So many calls are compared, and each authority has decided some: else the test would have tested little. */
static void test_what_explain_says_is_what_ran(void **state) {
  (void)state;
  counts seen = {0};
  const char *given = getenv("TUTTI_TEST_SEED");
  uint64_t first = given ? strtoull(given, NULL, 10) : 1;
  int jobs = fewer_sanitized(JOBS);
  for (uint64_t seed = first; seed < first + (uint64_t)jobs; seed++) {
    setting of = draw(seed);
    memset(calls, 0, sizeof *calls * CALLS * PARTS);
    run_job(RANKS, run_calls, &of);
    for (int n = 0; n < CALLS * PARTS; n++)
      if (calls[n].there)
        compare(&of, &calls[n], &seen);
  }
  print_message(
      "%d calls, %d errors, %d passed over; by the program %d, TUTTI_PARAMS %d, wisdom %d, learned %d, model %d, "
      "profile %d, nobody %d\n",
      seen.all, seen.errors, seen.passed_over, seen.by[0], seen.by[1], seen.by[2], seen.by[3], seen.by[4], seen.by[5],
      seen.by[6]);
  assert_true(seen.all >= jobs * 100);
  if (given || jobs < JOBS)
    return;
  assert_true(seen.errors > 20 && seen.passed_over > 20);
  for (tt_authority by = TT_BY_PROGRAM; by < TT_AUTHORITY_COUNT; by++)
    assert_true(seen.by[by] > 10);
}

/* ---- where there is nothing to explain ---- */

static void test_what_ends_a_job_is_an_error(void **state) {
  (void)state;
  static const char *const names[] = {"TUTTI_WISDOM", "TUTTI_PROFILE"};
  char command[8192], said[1024];
  for (size_t n = 0; n < TT_COUNT(names); n++) {
    snprintf(command, sizeof command, "%s=/no/such/file '%s' explain allreduce 1K -n 4 2>&1", names[n], tool);
    FILE *pipe = popen(command, "re");
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    assert_int_equal(WEXITSTATUS(pclose(pipe)), 1);
    assert_string_equal(said, "tutti explain: /no/such/file: cannot be read: No such file or directory\n");
  }
}

/* The whole table, once: what runs is marked, the fastest stand first, and each text has its reason. */
static void test_every_candidate_has_its_reason(void **state) {
  (void)state;
  char *words[] = {tool, "explain", "reduce", "256K", "-n", "3", "--json", NULL};
  setting of = {.params = "[2:star/core:chain]"};
  json_t *answer = explain(&of, words), *list = json_object_get(answer, "candidates"), *left, *row;
  size_t n, marked = 0;
  double last_ns = 0;
  assert_true(json_array_size(list) > 50);
  json_array_foreach(list, n, row) {
    double time_ns = json_number_value(json_object_get(row, "predicted_ns"));
    assert_true(time_ns >= last_ns);
    last_ns = time_ns;
    marked += json_is_true(json_object_get(row, "runs"));
    assert_int_equal(json_is_true(json_object_get(row, "runs")), strcmp(member(row, "params"), of.params) == 0);
    assert_true(*member(row, "why") != '\0');
  }
  assert_int_equal(marked, 1);
  left = json_object_get(answer, "left_out");
  assert_true(json_array_size(left) > 0);
  json_array_foreach(left, n, row) {
    const char *why = member(row, "why");
    assert_true(
        strncmp(why, "does not compile: ", 18) == 0 ||
        (strncmp(why, "runs like #", 11) == 0 && atoi(why + 11) >= 1 && atoi(why + 11) <= (int)json_array_size(list)));
  }
  json_decref(answer);
}

/* The time of the rules stands beside what they choose where ranks share cores, as they did when it was measured. */
static void test_the_rules_time_is_at_what_they_choose_here(void **state) {
  (void)state;
  static const struct {
    const char *params;
    double measured_ns;
  } expected[] = {{"linear", 0}, {"ring", 7000}, {"binomial", 5000}};
  char *words[] = {tool, "explain", "reduce", "4K", "-n", "4", "--nics", "0", "--cores", "2", "--all", "--json", NULL};
  FILE *file = fopen(wisdom_path, "we");
  assert_non_null(file);
  fprintf(file,
          "{\"tutti-wisdom\": 1, \"machine\": \"%s\", \"about\": \"\", \"winners\": [{\"collective\": \"reduce\", "
          "\"ranks\": 4, \"nodes\": 1, \"ranks_per_node\": 4, \"nics\": 0, \"bytes\": 4096, \"params\": "
          "\"binomial\", \"ns\": 5000, \"rules_ns\": 7000}]}",
          machine);
  fclose(file);
  file = fopen(profile_path, "we");
  assert_non_null(file);
  fputs("{\"name\": \"shared\", \"rules\": [{\"collective\": \"reduce\", \"ranks_per_core\": [2], \"params\": "
        "\"ring\"}, {\"collective\": \"reduce\", \"params\": \"linear\"}]}",
        file);
  fclose(file);
  json_t *answer = explain(&(setting){.wisdom = true, .profile = true}, words), *row;
  size_t n;
  json_array_foreach(json_object_get(answer, "candidates"), n, row) {
    double measured_ns = json_number_value(json_object_get(row, "measured_ns"));
    for (size_t k = 0; k < TT_COUNT(expected); k++)
      assert_true(strcmp(member(row, "params"), expected[k].params) != 0 || measured_ns == expected[k].measured_ns);
  }
  json_decref(answer);
}

/* ---- the whole ---- */

static int make_folder(void **state) {
  char found[TT_WISDOM_PATH];
  const char *programs = getenv("TUTTI_BIN");
  int bin = programs ? open(programs, O_PATH) : -1; /* it may be in /tmp, which is another one from here on */
  if (fault_setup(state) != 0 || !mkdtemp(folder) || setenv("XDG_CACHE_HOME", folder, 1) != 0 || bin < 0)
    return -1;
  calls = mmap(NULL, sizeof *calls * CALLS * PARTS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  snprintf(tool, sizeof tool, "/proc/self/fd/%d/tutti", bin);
  snprintf(wisdom_path, sizeof wisdom_path, "%s/wisdom.json", folder);
  snprintf(lessons_path, sizeof lessons_path, "%s/learned.json", folder);
  snprintf(profile_path, sizeof profile_path, "%s/profile.json", folder);
  return calls == MAP_FAILED || tt_wisdom_find("", true, found, machine) != TUTTI_OK;
}

static int remove_folder(void **state) {
  (void)state;
  char command[160];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_explain_says_is_what_ran),
      cmocka_unit_test(test_what_ends_a_job_is_an_error),
      cmocka_unit_test(test_every_candidate_has_its_reason),
      cmocka_unit_test(test_the_rules_time_is_at_what_they_choose_here),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* tools/regret/result.c - see result.h. A line also has what follows from it, for who reads it without tutti. */
#include "result.h"

#include "bench/halves.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

regret_verdict regret_judge(const regret_result *result) {
  const double *finalist[REGRET_FINALISTS], *copy[REGRET_COPIES];
  regret_verdict verdict;
  for (int n = 0; n < result->finalist_count; n++)
    finalist[n] = result->finalist[n].round_ns;
  for (int n = 0; n < REGRET_COPIES; n++)
    copy[n] = result->copy_ns[n];
  verdict.best = bench_find_best(finalist, result->finalist_count, REGRET_ROUNDS);
  verdict.best_ns = bench_half_median(finalist[verdict.best], REGRET_ROUNDS, BENCH_COMPARES);
  for (int n = 0; n < result->choice_count; n++)
    verdict.ratio[n] = bench_regret(finalist[result->choice[n].finalist], finalist[verdict.best], REGRET_ROUNDS);
  int best = bench_find_best(copy, REGRET_COPIES, REGRET_ROUNDS);
  verdict.floor = bench_regret(finalist[result->choice[0].finalist], copy[best], REGRET_ROUNDS).middle;
  return verdict;
}

/* ---- writing ---- */

static json_t *times_json(const double round_ns[static REGRET_ROUNDS]) {
  json_t *all = json_array();
  for (int n = 0; n < REGRET_ROUNDS; n++)
    json_array_append_new(all, json_real(round_ns[n]));
  return all;
}

static json_t *choices_json(const regret_result *result, const regret_verdict *verdict) {
  json_t *all = json_array();
  for (int n = 0; n < result->choice_count; n++) {
    const regret_choice *choice = &result->choice[n];
    json_array_append_new(all, json_pack("{ss ss si sf sf sf}", "name", choice->name, "params", choice->params,
                                         "finalist", choice->finalist, "ratio", verdict->ratio[n].middle, "low",
                                         verdict->ratio[n].low, "high", verdict->ratio[n].high));
  }
  return all;
}

static json_t *finalists_json(const regret_result *result) {
  json_t *all = json_array();
  for (int n = 0; n < result->finalist_count; n++)
    json_array_append_new(all, json_pack("{ss so}", "params", result->finalist[n].params, "ns",
                                         times_json(result->finalist[n].round_ns)));
  return all;
}

static json_t *copies_json(const regret_result *result) {
  json_t *all = json_array();
  for (int n = 0; n < REGRET_COPIES; n++)
    json_array_append_new(all, times_json(result->copy_ns[n]));
  return all;
}

static json_t *json_of(const regret_result *result) {
  const tt_region *region = &result->region;
  regret_verdict verdict = regret_judge(result);
  return json_pack("{ss ss sI sI sI sI sI sI sI ss sf sf so so so}", "machine", result->machine, "collective",
                   tt_compose_info(region->collective).name, "ranks", (json_int_t)region->rank_count, "nodes",
                   (json_int_t)region->node_count, "ranks_per_node", (json_int_t)region->ranks_per_node, "nics",
                   (json_int_t)region->nic_count, "bytes", (json_int_t)region->bytes, "candidates",
                   (json_int_t)result->candidates, "dropped", (json_int_t)result->dropped, "best",
                   result->finalist[verdict.best].params, "best_ns", verdict.best_ns, "floor", verdict.floor, "choices",
                   choices_json(result, &verdict), "finalists", finalists_json(result), "copies", copies_json(result));
}

tutti_status regret_result_write(FILE *file, const char *path, const regret_result *result) {
  json_t *json = json_of(result);
  char *text = json ? json_dumps(json, JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17)) : NULL;
  bool made = text != NULL, good = made && fprintf(file, "%s\n", text) > 0 && fflush(file) == 0;
  free(text);
  json_decref(json);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a line of %s", path);
  return good ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "%s: cannot be written: %s", path, strerror(errno));
}

/* ---- reading ---- */

static bool read_text(const json_t *from, const char *member, size_t room, char *text) {
  const char *found = json_string_value(json_object_get(from, member));
  return found && (size_t)snprintf(text, room, "%s", found) < room;
}

static bool read_times(const json_t *from, double round_ns[static REGRET_ROUNDS]) {
  for (size_t n = 0; n < REGRET_ROUNDS; n++) {
    round_ns[n] = json_number_value(json_array_get(from, n));
    if (!(round_ns[n] > 0))
      return false;
  }
  return json_array_size(from) == REGRET_ROUNDS;
}

static bool read_finalists(const json_t *from, regret_result *result) {
  result->finalist_count = (int)json_array_size(from);
  bool good = result->finalist_count > 0 && result->finalist_count <= REGRET_FINALISTS;
  for (int n = 0; n < result->finalist_count && good; n++) {
    const json_t *one = json_array_get(from, (size_t)n);
    good = read_text(one, "params", TUNE_TEXT, result->finalist[n].params) &&
           read_times(json_object_get(one, "ns"), result->finalist[n].round_ns);
  }
  return good;
}

static bool read_choices(const json_t *from, regret_result *result) {
  result->choice_count = (int)json_array_size(from);
  bool good = result->choice_count > 0 && result->choice_count <= REGRET_CHOOSERS;
  for (int n = 0; n < result->choice_count && good; n++) {
    const json_t *one = json_array_get(from, (size_t)n), *finalist = json_object_get(one, "finalist");
    regret_choice *choice = &result->choice[n];
    choice->finalist = (int)json_integer_value(finalist);
    good = read_text(one, "name", REGRET_NAME, choice->name) && read_text(one, "params", TUNE_TEXT, choice->params) &&
           json_is_integer(finalist) && choice->finalist >= 0 && choice->finalist < result->finalist_count;
  }
  return good;
}

static bool read_copies(const json_t *from, regret_result *result) {
  bool good = json_array_size(from) == REGRET_COPIES;
  for (size_t n = 0; n < REGRET_COPIES && good; n++)
    good = read_times(json_array_get(from, n), result->copy_ns[n]);
  return good;
}

static bool read_region(const json_t *from, tt_region *region) {
  const char *name = json_string_value(json_object_get(from, "collective"));
  *region = (tt_region){.collective = name ? tt_compose_find(name) : TT_COLLECTIVE_COUNT,
                        .bytes = json_integer_value(json_object_get(from, "bytes")),
                        .rank_count = json_integer_value(json_object_get(from, "ranks")),
                        .node_count = json_integer_value(json_object_get(from, "nodes")),
                        .ranks_per_node = json_integer_value(json_object_get(from, "ranks_per_node")),
                        .nic_count = json_integer_value(json_object_get(from, "nics"))};
  return region->collective != TT_COLLECTIVE_COUNT && region->bytes > 0 && region->rank_count > 0;
}

static bool read_result(const json_t *from, regret_result *result) {
  result->candidates = json_integer_value(json_object_get(from, "candidates"));
  result->dropped = json_integer_value(json_object_get(from, "dropped"));
  return read_text(from, "machine", TT_MACHINE_TEXT, result->machine) && read_region(from, &result->region) &&
         read_finalists(json_object_get(from, "finalists"), result) &&
         read_choices(json_object_get(from, "choices"), result) && read_copies(json_object_get(from, "copies"), result);
}

tutti_status regret_result_read(FILE *file, const char *path, int64_t number, regret_result **result) {
  json_error_t error;
  int next = fgetc(file);
  *result = NULL;
  if (next == EOF)
    return TUTTI_OK;
  ungetc(next, file);
  json_t *json = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
  regret_result *made = calloc(1, sizeof *made);
  bool good = json && made && read_result(json, made) && fgetc(file) == '\n';
  json_decref(json);
  if (good) {
    *result = made;
    return TUTTI_OK;
  }
  free(made);
  return tt_fail(TUTTI_ERR_ARGUMENT, "%s: line %" PRId64 " is none that tutti tune --regret has written: remove it",
                 path, number);
}

/* tools/tune/samples.c - a line of JSON for each task:
 *
 *   {"machine": "0123456789abcdef", "collective": "allreduce", "ranks": 8, "nodes": 1, "ranks_per_node": 8, "nics": 1,
 *    "bytes": 4096, "rules": "linear", "rules_ns": 15000, "winner": "[8:star]",
 *    "samples": [["[8:star]", 12000, 24], ...]}
 *
 * The winner is that of the wisdom: the rules, too, where nothing is surely faster. A sample is the parameters, the
 * time of a call and the rounds that this is the median of. All up to the length is the line's key: lines of one key
 * are of one task, and the last takes the place of the others. Nothing else of the file is read here, so that a line
 * that is wrong stops nobody. */
#include "samples.h"

#include "tune/store.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY 256
#define TASKS_MOST 2000 /* the oldest go */

static void key_of(const char *machine, const tt_region *region, char key[static KEY]) {
  snprintf(key, KEY,
           "{\"machine\": \"%s\", \"collective\": \"%s\", \"ranks\": %" PRId64 ", \"nodes\": %" PRId64
           ", \"ranks_per_node\": %" PRId64 ", \"nics\": %" PRId64 ", \"bytes\": %" PRId64 ",",
           machine, tt_compose_info(region->collective).name, region->rank_count, region->node_count,
           region->ranks_per_node, region->nic_count, region->bytes);
}

static bool has_key(const char *line, const char *key) { return strncmp(line, key, strlen(key)) == 0; }

static bool put_text(FILE *file, const char *text) {
  json_t *json = json_string(text);
  char *quoted = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
  bool good = quoted && fputs(quoted, file) >= 0;
  free(quoted);
  json_decref(json);
  return good;
}

static bool put_line(FILE *file, const char *key, const tune_result *result) {
  bool good = fprintf(file, "%s \"rules\": ", key) > 0 && put_text(file, result->rules) &&
              fprintf(file, ", \"rules_ns\": %.0f, \"winner\": ", result->rules_ns) > 0 &&
              put_text(file, result->params) && fputs(", \"samples\": [", file) >= 0;
  for (int64_t n = 0; n < result->sample_count && good; n++) {
    const tune_sample *at = &result->sample[n];
    good = fputs(n ? ", [" : "[", file) >= 0 && put_text(file, at->params) &&
           fprintf(file, ", %.0f, %" PRId64 "]", at->time_ns, at->rounds) > 0;
  }
  return good && fputs("]}\n", file) >= 0;
}

/* All lines of other tasks but the first `skip`. to NULL: only counts them. */
static int64_t copy_others(FILE *from, const char *key, int64_t skip, FILE *to) {
  char *line = NULL;
  size_t room = 0;
  int64_t count = 0;
  rewind(from);
  for (ssize_t size; (size = getline(&line, &room, from)) > 0;) {
    bool whole = line[size - 1] == '\n'; /* not what was cut off */
    if (whole && !has_key(line, key) && count++ >= skip && to)
      fwrite(line, 1, (size_t)size, to);
  }
  free(line);
  return count;
}

/* What the file becomes. */
typedef struct change {
  FILE *from; /* NULL: there is none */
  const char *key;
  const tune_result *result;
} change;

static bool put_all(FILE *to, const void *user) {
  const change *of = user;
  int64_t others = of->from ? copy_others(of->from, of->key, 0, NULL) : 0;
  if (of->from)
    copy_others(of->from, of->key, others < TASKS_MOST ? 0 : others - TASKS_MOST + 1, to);
  return put_line(to, of->key, of->result) && (!of->from || !ferror(of->from)) && !ferror(to);
}

static tutti_status replace(const char *path, const char *key, const tune_result *result) {
  change of = {.from = fopen(path, "re"), .key = key, .result = result};
  if (!of.from && errno != ENOENT)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: cannot read it: %s", path, strerror(errno));
  tutti_status status = tt_store_replace(path, put_all, &of);
  if (of.from)
    fclose(of.from);
  return status;
}

void tune_samples_path(const char *wisdom, char path[static TUNE_SAMPLES_PATH]) {
  size_t stem = strlen(wisdom);
  if (stem > 5 && strcmp(wisdom + stem - 5, ".json") == 0)
    stem -= 5;
  snprintf(path, TUNE_SAMPLES_PATH, "%.*s.samples.jsonl", (int)stem, wisdom);
}

tutti_status tune_samples_write(const char *wisdom, const char *machine, const tt_region *region,
                                const tune_result *result) {
  char path[TUNE_SAMPLES_PATH], key[KEY];
  int lock;
  tune_samples_path(wisdom, path);
  key_of(machine, region, key);
  tutti_status status = tt_store_lock(path, &lock);
  if (status != TUTTI_OK)
    return status;
  status = replace(path, key, result);
  tt_store_unlock(lock);
  return status;
}

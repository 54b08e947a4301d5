/* tune/read.c - wisdom from a file:
 *
 *   {"tutti-wisdom": 1, "machine": "0123456789abcdef", "about": "...", "winners": [
 *     {"collective": "allreduce", "ranks": 8, "nodes": 1, "ranks_per_node": 8, "nics": 1, "bytes": 4096,
 *      "params": "linear", "ns": 12000, "rules_ns": 15000}, ...],
 *    "outside": [
 *     {"library": "openmpi-4.1", "collective": "allreduce", "ranks": 8, "nodes": 1, "ranks_per_node": 8, "nics": 1,
 *      "bytes": 4096, "wins": true, "ns": 9000, "tutti_ns": 12000}, ...]}
 *
 * A file may come from anybody. Every member is checked, and parameters are parsed; that they make a right plan is the
 * compiler's business, as for all parameters. */
#include "tune/file.h"
#include "tune/wisdom.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1

/* A member of one of the lists. */
typedef struct row {
  json_t *from;
  const char *list; /* what it is: "winner" */
  int64_t number;   /* in its list, from 1 */
  int64_t line;     /* of the file */
} row;

static tutti_status bad(const row *at, const char *member, const char *why) {
  return tt_fail(TUTTI_ERR_ARGUMENT, "%s %" PRId64 ", \"%s\": %s", at->list, at->number, member, why);
}

/* ---- members ---- */

static bool is_one_of(const char *name, const char *const *names) {
  while (*names && strcmp(*names, name) != 0)
    names++;
  return *names != NULL;
}

/* own: those that rows of this list have beside the region; NULL ends them. */
static tutti_status check_members(const row *at, const char *const *own) {
  static const char *const region[] = {"collective", "ranks", "nodes", "ranks_per_node", "nics", "bytes", NULL};
  const char *name;
  json_t *value;
  if (!json_is_object(at->from))
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s %" PRId64 " is not an object", at->list, at->number);
  json_object_foreach(at->from, name, value) {
    if (!is_one_of(name, region) && !is_one_of(name, own))
      return bad(at, name, "is unknown");
  }
  return TUTTI_OK;
}

static tutti_status read_number(const row *at, const char *member, int64_t least, int64_t most, int64_t *value) {
  const json_t *found = json_object_get(at->from, member);
  if (!json_is_integer(found) || json_integer_value(found) < least || json_integer_value(found) > most) {
    char why[96];
    snprintf(why, sizeof why, "is not a whole number from %" PRId64 " to %" PRId64, least, most);
    return bad(at, member, why);
  }
  *value = json_integer_value(found);
  return TUTTI_OK;
}

static tutti_status read_text(const row *at, const char *member, const char **text) {
  *text = json_string_value(json_object_get(at->from, member));
  return *text ? TUTTI_OK : bad(at, member, "is not a text");
}

static tutti_status read_region(const row *at, tt_region *region) {
  const char *name = json_string_value(json_object_get(at->from, "collective"));
  region->collective = name ? tt_compose_find(name) : TT_COLLECTIVE_COUNT;
  if (region->collective == TT_COLLECTIVE_COUNT)
    return bad(at, "collective", "does not name a collective");
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < TT_REGION_MEMBERS && status == TUTTI_OK; n++) {
    const tt_region_member *member = &tt_region_members[n];
    status = read_number(at, member->name, member->least, member->most, tt_region_value(region, member));
  }
  return status;
}

/* What a list refuses, with the member that it is about. */
static tutti_status blame(const row *at, const char *member) {
  char why[256];
  snprintf(why, sizeof why, "%s", tutti_last_error());
  return bad(at, member, why);
}

/* ---- rows ---- */

static tutti_status read_winner(const row *at, tt_wisdom *wisdom) {
  static const char *const own[] = {"params", "ns", "rules_ns", NULL};
  tt_winner winner = {.line = at->line};
  tutti_status status = check_members(at, own);
  if (status == TUTTI_OK)
    status = read_region(at, &winner.region);
  if (status == TUTTI_OK)
    status = read_number(at, "ns", 0, INT64_MAX, &winner.time_ns);
  if (status == TUTTI_OK)
    status = read_number(at, "rules_ns", 0, INT64_MAX, &winner.rules_ns);
  if (status == TUTTI_OK)
    status = read_text(at, "params", &winner.text);
  if (status != TUTTI_OK)
    return status;
  status = tt_wisdom_put(wisdom, &winner);
  return status == TUTTI_ERR_PLAN ? blame(at, "params") : status;
}

static tutti_status read_outside(const row *at, tt_wisdom *wisdom) {
  static const char *const own[] = {"library", "wins", "ns", "tutti_ns", NULL};
  tt_outside outside = {.line = at->line};
  tutti_status status = check_members(at, own);
  if (status == TUTTI_OK)
    status = read_region(at, &outside.region);
  if (status == TUTTI_OK)
    status = read_number(at, "ns", 0, INT64_MAX, &outside.time_ns);
  if (status == TUTTI_OK)
    status = read_number(at, "tutti_ns", 0, INT64_MAX, &outside.tutti_ns);
  if (status == TUTTI_OK)
    status = read_text(at, "library", &outside.library);
  const json_t *wins = json_object_get(at->from, "wins");
  if (status == TUTTI_OK && !json_is_boolean(wins))
    status = bad(at, "wins", "is neither true nor false");
  if (status != TUTTI_OK)
    return status;
  outside.wins = json_is_true(wins);
  status = tt_wisdom_put_outside(wisdom, &outside);
  return status == TUTTI_ERR_ARGUMENT ? blame(at, "library") : status;
}

/* ---- the file ---- */

static tutti_status read_list(const tt_json_file *file, const char *name, const char *of_one,
                              tutti_status (*read)(const row *at, tt_wisdom *wisdom), tt_wisdom *wisdom) {
  const json_t *rows = json_object_get(file->root, name);
  int64_t count = (int64_t)json_array_size(rows), *line;
  if (count > TT_WISDOM_ROWS)
    return tt_fail(TUTTI_ERR_ARGUMENT, "it has %" PRId64 " %s; the limit is %d", count, name, TT_WISDOM_ROWS);
  if (count == 0)
    return TUTTI_OK;
  if (!(line = calloc((size_t)count, sizeof *line)))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom");
  tt_json_file_lines(file, name, count, line);
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++) {
    status = read(&(row){json_array_get(rows, (size_t)n), of_one, n + 1, line[n]}, wisdom);
    if (status == TUTTI_ERR_ARGUMENT)
      tt_fail_about(status, "line %" PRId64, line[n]);
  }
  free(line);
  return status;
}

/* Winners first: they forget what was compared with others. */
static tutti_status read_all(const char *path, const tt_json_file *file, tt_wisdom **wisdom) {
  const json_t *root = file->root, *outside = json_object_get(root, "outside");
  const char *machine = json_string_value(json_object_get(root, "machine"));
  const char *about = json_string_value(json_object_get(root, "about"));
  if (json_integer_value(json_object_get(root, "tutti-wisdom")) != VERSION)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "\"tutti-wisdom\" is not %d: another version of tutti wrote the file",
                   VERSION);
  if (!machine || !json_is_array(json_object_get(root, "winners")))
    return tt_fail(TUTTI_ERR_ARGUMENT, "it has no \"%s\"", machine ? "winners" : "machine");
  if (outside && !json_is_array(outside))
    return tt_fail(TUTTI_ERR_ARGUMENT, "\"outside\" is not a list");
  tutti_status status = tt_wisdom_create(machine, about ? about : "", wisdom);
  if (status == TUTTI_OK && !((*wisdom)->path = tt_arena_format(&(*wisdom)->arena, "%s", path)))
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom");
  if (status == TUTTI_OK)
    status = read_list(file, "winners", "winner", read_winner, *wisdom);
  if (status == TUTTI_OK)
    status = read_list(file, "outside", "outside", read_outside, *wisdom);
  return status;
}

tutti_status tt_wisdom_read(const char *path, tt_wisdom **wisdom) {
  tt_json_file file;
  tt_wisdom *made = NULL;
  tutti_status status = tt_json_file_open(path, &file);
  if (status == TUTTI_OK)
    status = read_all(path, &file, &made);
  tt_json_file_close(&file);
  if (status == TUTTI_OK) {
    *wisdom = made;
    return TUTTI_OK;
  }
  tt_wisdom_destroy(made);
  return tt_fail_about(status, "%s", path);
}

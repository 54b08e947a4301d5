/* tune/wisdom.c - winners, in memory and as a file:
 *
 *   {"tutti-wisdom": 1, "machine": "0123456789abcdef", "about": "...", "winners": [
 *     {"collective": "allreduce", "ranks": 8, "nodes": 1, "ranks_per_node": 8, "nics": 1, "bytes": 4096,
 *      "params": "linear", "ns": 12000, "rules_ns": 15000}, ...]}
 *
 * A file may come from anybody. Every member is checked, and parameters are parsed; that they make a right plan is the
 * compiler's business, as for all parameters. */
#include "tune/file.h"
#include "tune/tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define WINNERS_MOST 10000
#define RANKS_MOST INT32_MAX

/* ---- life ---- */

static bool is_machine(const char *text) { return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16; }

static tutti_status no_memory(void) { return tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom"); }

tutti_status tt_wisdom_create(const char *machine, const char *about, tt_wisdom **wisdom) {
  if (!is_machine(machine))
    return tt_fail(TUTTI_ERR_ARGUMENT, "\"machine\": '%.40s' is not a fingerprint of 16 digits 0-9, a-f", machine);
  tt_wisdom *made = calloc(1, sizeof *made);
  if (!made)
    return no_memory();
  tt_arena_init(&made->arena);
  memcpy(made->machine, machine, sizeof made->machine);
  made->about = tt_arena_format(&made->arena, "%s", about);
  made->path = tt_arena_format(&made->arena, "%s", "");
  if (!made->about || !made->path) {
    tt_wisdom_destroy(made);
    return no_memory();
  }
  *wisdom = made;
  return TUTTI_OK;
}

void tt_wisdom_destroy(tt_wisdom *wisdom) {
  if (!wisdom)
    return;
  tt_arena_finish(&wisdom->arena);
  free(wisdom->winner);
  free(wisdom);
}

bool tt_region_same(const tt_region *a, const tt_region *b) {
  return a->collective == b->collective && a->bytes == b->bytes && a->rank_count == b->rank_count &&
         a->node_count == b->node_count && a->ranks_per_node == b->ranks_per_node && a->nic_count == b->nic_count;
}

tt_winner *tt_wisdom_of(const tt_wisdom *wisdom, const tt_region *region) {
  for (int64_t n = 0; n < wisdom->count; n++)
    if (tt_region_same(&wisdom->winner[n].region, region))
      return &wisdom->winner[n];
  return NULL;
}

static tt_winner *place_behind(tt_wisdom *wisdom) {
  if ((wisdom->count & (wisdom->count - 1)) == 0) { /* room for a power of two */
    size_t room = wisdom->count ? 2 * (size_t)wisdom->count : 1;
    tt_winner *larger = realloc(wisdom->winner, room * sizeof *larger);
    if (!larger)
      return NULL;
    wisdom->winner = larger;
  }
  return &wisdom->winner[wisdom->count++];
}

/* place: NULL: there is no memory for one. */
static tutti_status put(tt_wisdom *wisdom, const tt_winner *winner, tt_winner *place) {
  const char *text = tt_arena_format(&wisdom->arena, "%s", winner->text), *source = "";
  if (winner->line > 0)
    source = tt_arena_format(&wisdom->arena, "%s:%" PRId64, wisdom->path, winner->line);
  if (place)
    *place = *winner;
  if (place) {
    place->text = text ? text : "";
    place->source = source ? source : "";
  }
  return place && text && source ? TUTTI_OK : no_memory();
}

tutti_status tt_wisdom_put(tt_wisdom *wisdom, const tt_winner *winner) {
  tt_params params;
  tutti_status status = tt_params_parse(winner->text, &params);
  if (status != TUTTI_OK)
    return status;
  tt_winner *before = tt_wisdom_of(wisdom, &winner->region);
  return put(wisdom, winner, before ? before : place_behind(wisdom));
}

/* ---- reading ---- */

static tutti_status bad(int64_t number, const char *member, const char *why) {
  return tt_fail(TUTTI_ERR_ARGUMENT, "winner %" PRId64 ", \"%s\": %s", number, member, why);
}

static tutti_status check_members(json_t *from, int64_t number) {
  static const char *const members[] = {"collective", "ranks", "nodes",  "ranks_per_node", "nics",
                                        "bytes",      "ns",    "params", "rules_ns"};
  const char *name;
  json_t *value;
  json_object_foreach(from, name, value) {
    size_t n = 0;
    while (n < TT_COUNT(members) && strcmp(members[n], name) != 0)
      n++;
    if (n == TT_COUNT(members))
      return bad(number, name, "is unknown");
  }
  return TUTTI_OK;
}

static tutti_status read_number(const json_t *from, const char *member, int64_t number, int64_t least, int64_t most,
                                int64_t *value) {
  const json_t *found = json_object_get(from, member);
  if (!json_is_integer(found) || json_integer_value(found) < least || json_integer_value(found) > most) {
    char why[96];
    snprintf(why, sizeof why, "is not a whole number from %" PRId64 " to %" PRId64, least, most);
    return bad(number, member, why);
  }
  *value = json_integer_value(found);
  return TUTTI_OK;
}

static tutti_status read_region(const json_t *from, int64_t number, tt_region *region) {
  const struct {
    const char *member;
    int64_t least, most, *value;
  } rows[] = {{"bytes", 0, INT64_MAX - 1, &region->bytes},
              {"ranks", 1, RANKS_MOST, &region->rank_count},
              {"nodes", 1, RANKS_MOST, &region->node_count},
              {"ranks_per_node", 1, RANKS_MOST, &region->ranks_per_node},
              {"nics", 0, RANKS_MOST, &region->nic_count}};
  const char *name = json_string_value(json_object_get(from, "collective"));
  region->collective = name ? tt_compose_find(name) : TT_COLLECTIVE_COUNT;
  if (region->collective == TT_COLLECTIVE_COUNT)
    return bad(number, "collective", "does not name a collective");
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < TT_COUNT(rows) && status == TUTTI_OK; n++)
    status = read_number(from, rows[n].member, number, rows[n].least, rows[n].most, rows[n].value);
  return status;
}

static tutti_status read_winner(json_t *from, int64_t number, int64_t line, tt_wisdom *wisdom) {
  tt_winner winner = {.number = number, .line = line, .text = json_string_value(json_object_get(from, "params"))};
  if (!json_is_object(from))
    return tt_fail(TUTTI_ERR_ARGUMENT, "winner %" PRId64 " is not an object", number);
  tutti_status status = check_members(from, number);
  if (status == TUTTI_OK)
    status = read_region(from, number, &winner.region);
  if (status == TUTTI_OK)
    status = read_number(from, "ns", number, 0, INT64_MAX, &winner.time_ns);
  if (status == TUTTI_OK)
    status = read_number(from, "rules_ns", number, 0, INT64_MAX, &winner.rules_ns);
  if (status == TUTTI_OK && !winner.text)
    status = bad(number, "params", "is not a text");
  if (status != TUTTI_OK)
    return status;
  status = tt_wisdom_put(wisdom, &winner);
  char why[256];
  snprintf(why, sizeof why, "%s", tutti_last_error());
  return status == TUTTI_ERR_PLAN ? bad(number, "params", why) : status;
}

static tutti_status read_winners(const tt_json_file *file, const json_t *winners, tt_wisdom *wisdom) {
  int64_t count = (int64_t)json_array_size(winners), *line = calloc((size_t)count + 1, sizeof *line);
  tutti_status status = line ? TUTTI_OK : no_memory();
  if (status == TUTTI_OK)
    tt_json_file_lines(file, "winners", count, line);
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++) {
    status = read_winner(json_array_get(winners, (size_t)n), n + 1, line[n], wisdom);
    if (status == TUTTI_ERR_ARGUMENT)
      tt_fail_about(status, "line %" PRId64, line[n]);
  }
  free(line);
  return status;
}

static tutti_status read_all(const char *path, const tt_json_file *file, tt_wisdom **wisdom) {
  const json_t *root = file->root, *winners = json_object_get(root, "winners");
  const char *machine = json_string_value(json_object_get(root, "machine"));
  const char *about = json_string_value(json_object_get(root, "about"));
  if (json_integer_value(json_object_get(root, "tutti-wisdom")) != VERSION)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "\"tutti-wisdom\" is not %d: another version of tutti wrote the file",
                   VERSION);
  if (!machine || !json_is_array(winners))
    return tt_fail(TUTTI_ERR_ARGUMENT, "it has no \"%s\"", machine ? "winners" : "machine");
  if (json_array_size(winners) > WINNERS_MOST)
    return tt_fail(TUTTI_ERR_ARGUMENT, "it has %zu winners; the limit is %d", json_array_size(winners), WINNERS_MOST);
  tutti_status status = tt_wisdom_create(machine, about ? about : "", wisdom);
  if (status == TUTTI_OK && !((*wisdom)->path = tt_arena_format(&(*wisdom)->arena, "%s", path)))
    status = no_memory();
  return status == TUTTI_OK ? read_winners(file, winners, *wisdom) : status;
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

/* ---- as numbers ---- */

/* [winners][length of path][path, in whole numbers][{region, times, number, line, length of text}, text]... */
enum { HEAD = 2, FACTS = 11 };

static size_t words_of(size_t letters) { return (letters + sizeof(int64_t) - 1) / sizeof(int64_t); }

static void pack_one(const tt_winner *of, int64_t *to) {
  const int64_t facts[FACTS] = {of->region.collective,
                                of->region.bytes,
                                of->region.rank_count,
                                of->region.node_count,
                                of->region.ranks_per_node,
                                of->region.nic_count,
                                of->time_ns,
                                of->rules_ns,
                                of->number,
                                of->line,
                                (int64_t)strlen(of->text)};
  memcpy(to, facts, sizeof facts);
  memcpy(to + FACTS, of->text, strlen(of->text));
}

tutti_status tt_wisdom_pack(const tt_wisdom *wisdom, int64_t **numbers, int64_t *count) {
  size_t used = HEAD + words_of(strlen(wisdom->path)), size = used;
  for (int64_t n = 0; n < wisdom->count; n++)
    size += FACTS + words_of(strlen(wisdom->winner[n].text));
  int64_t *made = calloc(size, sizeof *made);
  if (!made)
    return no_memory();
  made[0] = wisdom->count;
  made[1] = (int64_t)strlen(wisdom->path);
  memcpy(made + HEAD, wisdom->path, strlen(wisdom->path));
  for (int64_t n = 0; n < wisdom->count; n++) {
    pack_one(&wisdom->winner[n], made + used);
    used += FACTS + words_of(strlen(wisdom->winner[n].text));
  }
  *numbers = made;
  *count = (int64_t)size;
  return TUTTI_OK;
}

/* Rank 0 has parsed them, and none is there twice. */
static tutti_status unpack_one(const int64_t *at, tt_wisdom *wisdom) {
  char text[1024];
  tt_winner winner = {.region = {.collective = (tt_collective)at[0],
                                 .bytes = at[1],
                                 .rank_count = at[2],
                                 .node_count = at[3],
                                 .ranks_per_node = at[4],
                                 .nic_count = at[5]},
                      .text = text,
                      .time_ns = at[6],
                      .rules_ns = at[7],
                      .number = at[8],
                      .line = at[9]};
  snprintf(text, sizeof text, "%.*s", (int)at[10], (const char *)(at + FACTS));
  return put(wisdom, &winner, place_behind(wisdom));
}

static tutti_status cut_off(int64_t count) {
  return tt_fail(TUTTI_ERR_MISMATCH, "wisdom of rank 0 is cut off at %" PRId64 " numbers", count);
}

tutti_status tt_wisdom_unpack(const int64_t *numbers, int64_t count, tt_wisdom **wisdom) {
  int64_t used = count >= HEAD ? HEAD + (int64_t)words_of((size_t)numbers[1]) : count + 1;
  tutti_status status = tt_wisdom_create("0000000000000000", "", wisdom);
  if (status == TUTTI_OK && used > count)
    status = cut_off(count);
  if (status == TUTTI_OK &&
      !((*wisdom)->path = tt_arena_format(&(*wisdom)->arena, "%.*s", (int)numbers[1], (const char *)(numbers + HEAD))))
    status = no_memory();
  for (int64_t n = 0; status == TUTTI_OK && n < numbers[0]; n++) {
    int64_t size = used + FACTS <= count ? FACTS + (int64_t)words_of((size_t)numbers[used + FACTS - 1]) : count;
    status = used + size > count ? cut_off(count) : unpack_one(numbers + used, *wisdom);
    used += size;
  }
  return status;
}

/* tune/profile.c - reads a profile: a JSON file with one rule for each region.
 *
 *   {"name": "...", "rules": [{"collective": "allreduce", "ranks": [2, 8], "nodes": [2], "bytes": "8K",
 *                              "params": "linear"},
 *                             {"collective": ["scan", "exscan"], "params": "linear"}, ...]}
 *
 * A rule for several collectives becomes one of each. "bytes" is the largest vector that the rule is for, in bytes or
 * as a part or a multiple of the level 2 cache of a core; "ranks", "nodes", "ranks_per_node" (of the largest node),
 * "ranks_per_core" (rounded up) and "nics" are [least, most], or [least]; what a rule leaves out holds for any. The
 * first rule that fits is taken. */
#include "tune/file.h"
#include "tune/tune.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define L2_FACTOR_MOST 64
#define L2_USUAL (1 << 20) /* where it is unknown */

static tutti_status bad_rule(int64_t number, const char *member, const char *why) {
  return tt_fail(TUTTI_ERR_ARGUMENT, "rule %" PRId64 ", \"%s\": %s", number, member, why);
}

/* [least, most], [least], or absent: any. */
static tutti_status read_range(const json_t *rule, const char *member, int64_t number, int64_t *least, int64_t *most) {
  const json_t *range = json_object_get(rule, member);
  *least = 1;
  *most = INT64_MAX;
  if (!range)
    return TUTTI_OK;
  size_t numbers = json_is_array(range) ? json_array_size(range) : 0;
  bool has_most = numbers == 2;
  if (numbers < 1 || numbers > 2 || !json_is_integer(json_array_get(range, 0)) ||
      (has_most && !json_is_integer(json_array_get(range, 1))))
    return bad_rule(number, member, "is not [least, most] or [least]");
  *least = json_integer_value(json_array_get(range, 0));
  if (has_most)
    *most = json_integer_value(json_array_get(range, 1));
  if (*least < 1)
    return bad_rule(number, member, "begins below 1");
  return *least <= *most ? TUTTI_OK : bad_rule(number, member, "has a least value above its most");
}

/* "L2", "L2/3" or "L2*4". */
static bool read_l2(const char *text, tt_rule *rule) {
  int64_t factor = 1;
  if (strncmp(text, "L2", 2) != 0)
    return false;
  if (text[2] != '\0' && (!strchr("/*", text[2]) || tt_parse_bytes(text + 3, &factor) != TUTTI_OK))
    return false;
  rule->l2_times = text[2] == '*' ? factor : 1;
  rule->l2_parts = text[2] == '/' ? factor : 1;
  return factor >= 1 && factor <= L2_FACTOR_MOST;
}

static tutti_status read_bytes(const json_t *from, int64_t number, tt_rule *rule) {
  const json_t *member = json_object_get(from, "bytes");
  const char *text = json_string_value(member);
  rule->bytes_max = INT64_MAX;
  if (!member)
    return TUTTI_OK;
  if (text && read_l2(text, rule))
    return TUTTI_OK;
  rule->l2_parts = 0;
  if (text && tt_parse_bytes(text, &rule->bytes_max) == TUTTI_OK)
    return TUTTI_OK;
  return bad_rule(number, "bytes",
                  "is not a size such as \"64K\", or of a core's level 2 cache such as \"L2/3\" or \"L2*4\"");
}

static bool is_member(const char *name) {
  static const char *const members[] = {"collective",     "ranks", "nodes", "ranks_per_node",
                                        "ranks_per_core", "nics",  "bytes", "params"};
  for (size_t n = 0; n < TT_COUNT(members); n++)
    if (strcmp(members[n], name) == 0)
      return true;
  return false;
}

static tutti_status check_members(json_t *rule, int64_t number) {
  const char *name;
  json_t *value;
  json_object_foreach(rule, name, value) {
    if (!is_member(name))
      return bad_rule(number, name,
                      "is unknown; members are collective, ranks, nodes, ranks_per_node, ranks_per_core, nics, bytes, "
                      "params");
  }
  return TUTTI_OK;
}

static tutti_status parse_params(const char *text, int64_t number, tt_rule *rule) {
  tutti_status status = tt_params_parse(text, &rule->params);
  char why[256];
  snprintf(why, sizeof why, "%s", tutti_last_error());
  return status == TUTTI_OK ? TUTTI_OK : bad_rule(number, "params", why);
}

static tutti_status read_rule(json_t *from, const json_t *collective, int64_t number, tt_rule *rule) {
  const char *name = json_string_value(collective);
  const char *params = json_string_value(json_object_get(from, "params"));
  tutti_status status = check_members(from, number);
  if (status != TUTTI_OK)
    return status;
  rule->number = number;
  rule->collective = name ? tt_compose_find(name) : TT_COLLECTIVE_COUNT;
  if (rule->collective == TT_COLLECTIVE_COUNT)
    return bad_rule(number, "collective", "does not name a collective");
  if (!params)
    return bad_rule(number, "params", "is missing");
  status = parse_params(params, number, rule);
  if (status == TUTTI_OK)
    status = read_range(from, "ranks", number, &rule->ranks_min, &rule->ranks_max);
  if (status == TUTTI_OK)
    status = read_range(from, "nodes", number, &rule->nodes_min, &rule->nodes_max);
  if (status == TUTTI_OK)
    status = read_range(from, "ranks_per_node", number, &rule->each_min, &rule->each_max);
  if (status == TUTTI_OK)
    status = read_range(from, "ranks_per_core", number, &rule->share_min, &rule->share_max);
  if (status == TUTTI_OK)
    status = read_range(from, "nics", number, &rule->nics_min, &rule->nics_max);
  if (status == TUTTI_OK)
    status = read_bytes(from, number, rule);
  if (status == TUTTI_OK && !(rule->text = strdup(params)))
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory for a profile");
  return status;
}

static tutti_status check_top(json_t *root) {
  const char *name;
  json_t *value;
  json_object_foreach(root, name, value) {
    if (strcmp(name, "name") != 0 && strcmp(name, "rules") != 0)
      return tt_fail(TUTTI_ERR_ARGUMENT, "\"%s\" is unknown; members are name, rules", name);
  }
  return TUTTI_OK;
}

/* How many collectives the rule is for; 1 where it names none, which read_rule finds. */
static size_t collectives_of(const json_t *rule) {
  const json_t *list = json_object_get(rule, "collective");
  return json_array_size(list) > 0 ? json_array_size(list) : 1;
}

static const json_t *collective_of(const json_t *rule, size_t n) {
  const json_t *named = json_object_get(rule, "collective");
  return json_is_array(named) ? json_array_get(named, n) : named;
}

static bool make_room(const json_t *rules, tt_profile *profile) {
  size_t count = 0;
  for (size_t n = 0; n < json_array_size(rules); n++)
    count += collectives_of(json_array_get(rules, n));
  profile->rule = calloc(count + 1, sizeof *profile->rule);
  return profile->rule != NULL;
}

/* A rule of the file: of each of its collectives. */
static tutti_status read_collectives(json_t *from, int64_t number, const char *source, tt_profile *profile) {
  for (size_t c = 0; c < collectives_of(from); c++) {
    tt_rule *rule = &profile->rule[profile->rule_count];
    tutti_status status = read_rule(from, collective_of(from, c), number, rule);
    if (status == TUTTI_OK && !(rule->source = strdup(source)))
      status = tt_fail(TUTTI_ERR_MEMORY, "no memory for a profile");
    if (status != TUTTI_OK)
      return status;
    profile->rule_count++;
  }
  return TUTTI_OK;
}

/* name: of the file, for people. */
static tutti_status read_rules(const char *name, const tt_json_file *file, tt_profile *profile) {
  json_t *rules = json_object_get(file->root, "rules");
  if (!json_is_array(rules))
    return tt_fail(TUTTI_ERR_ARGUMENT, "it has no \"rules\" array");
  int64_t count = (int64_t)json_array_size(rules), *line = calloc((size_t)count + 1, sizeof *line);
  tutti_status status =
      line && make_room(rules, profile) ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for a profile");
  if (status == TUTTI_OK)
    tt_json_file_lines(file, "rules", count, line);
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++) {
    char source[4200];
    snprintf(source, sizeof source, "%s:%" PRId64, name, line[n]);
    status = read_collectives(json_array_get(rules, (size_t)n), n + 1, source, profile);
    if (status == TUTTI_ERR_ARGUMENT)
      tt_fail_about(status, "line %" PRId64, line[n]);
  }
  free(line);
  return status;
}

static tutti_status load(const char *path, tt_json_file *file) {
  return path && *path ? tt_json_file_open(path, file)
                       : tt_json_file_parse(tt_profile_shipped, strlen(tt_profile_shipped), file);
}

/* What two ranks compare: independent of how the file is written. */
static uint64_t hash_of(const tt_profile *profile) {
  uint64_t hash = 0;
  for (int64_t n = 0; n < profile->rule_count; n++) {
    const tt_rule *r = &profile->rule[n];
    const int64_t facts[] = {r->collective, r->bytes_max, r->l2_times,  r->l2_parts, r->ranks_min,
                             r->ranks_max,  r->nodes_min, r->nodes_max, r->each_min, r->each_max,
                             r->nics_min,   r->nics_max,  r->share_min, r->share_max};
    hash = tt_hash(tt_hash(hash, facts, sizeof facts), r->text, strlen(r->text) + 1);
  }
  return hash;
}

static tutti_status take(const char *path, const tt_json_file *file, tt_profile *profile) {
  const char *name = json_string_value(json_object_get(file->root, "name"));
  if (!(profile->name = strdup(name ? name : path ? path : "shipped")))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a profile");
  tutti_status status = check_top(file->root);
  if (status == TUTTI_OK)
    status = read_rules(path && *path ? path : "default.json", file, profile);
  profile->hash = hash_of(profile);
  return status;
}

tutti_status tt_profile_open(const char *path, tt_profile **profile) {
  tt_profile *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a profile");
  tt_json_file file;
  tutti_status status = load(path, &file);
  if (status == TUTTI_OK)
    status = take(path, &file, made);
  tt_json_file_close(&file);
  if (status == TUTTI_OK) {
    *profile = made;
    return TUTTI_OK;
  }
  tt_profile_close(made);
  return tt_fail_about(status, "%s", path && *path ? path : "the shipped profile");
}

static void free_rule(tt_rule *rule) {
  free(rule->text);
  free(rule->source);
}

void tt_profile_close(tt_profile *profile) {
  if (!profile)
    return;
  for (int64_t n = 0; profile->rule && n <= profile->rule_count; n++)
    free_rule(&profile->rule[n]);
  free(profile->rule);
  free(profile->name);
  free(profile);
}

static bool is_within(int64_t value, int64_t least, int64_t most) { return value >= least && value <= most; }

static bool is_short(const tt_rule *rule, const tt_region *region) {
  int64_t l2_bytes = region->l2_bytes > 0 ? region->l2_bytes : L2_USUAL;
  return region->bytes <= (rule->l2_parts > 0 ? l2_bytes * rule->l2_times / rule->l2_parts : rule->bytes_max);
}

static bool holds(const tt_rule *rule, const tt_region *region) {
  int64_t each = region->ranks_per_node > 0 ? region->ranks_per_node : 1;
  int64_t nics = region->nic_count > 0 ? region->nic_count : 1;
  return rule->collective == region->collective && is_short(rule, region) &&
         is_within(region->rank_count, rule->ranks_min, rule->ranks_max) &&
         is_within(region->node_count, rule->nodes_min, rule->nodes_max) &&
         is_within(each, rule->each_min, rule->each_max) && is_within(nics, rule->nics_min, rule->nics_max) &&
         is_within(tt_region_share(region), rule->share_min, rule->share_max);
}

const tt_rule *tt_profile_find(const tt_profile *profile, const tt_region *region) {
  assert(region->rank_count > 0 && region->node_count > 0);
  for (int64_t n = 0; n < profile->rule_count; n++)
    if (holds(&profile->rule[n], region))
      return &profile->rule[n];
  return NULL;
}

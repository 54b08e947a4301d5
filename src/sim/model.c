/* sim/model.c - rates of a machine: defaults, text, and which level two ranks meet at.
 *
 *     model = entry { ";" entry }      entry = [ ( level | place ) ":" ] item { "," item }      item = name "=" value
 *
 * Names are rows of a table. places.c has what a place is. */
#include "sim/places.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A machine as there are many: cores that meet in memory, nodes on a fast network with one adapter a node. */
static const tt_sim_level within = {.alpha_ns = 500, .beta_ns = 0.1, .ports = 1};
static const tt_sim_level between = {.alpha_ns = 2000, .beta_ns = 0.1, .ports = 1, .links = 1};

void tt_sim_model_init(tt_sim_model *model, const tt_topo *topo) {
  *model = (tt_sim_model){.topo = topo, .gamma_ns = 0.05};
  for (int n = 0; n < topo->level_count; n++)
    model->level[n] = n + 1 < topo->level_count ? between : within;
}

int tt_sim_model_level(const tt_sim_model *model, int64_t a, int64_t b) {
  const tt_topo *topo = model->topo;
  assert(a >= 0 && a < topo->rank_count && b >= 0 && b < topo->rank_count);
  for (int n = 0; n + 1 < topo->level_count; n++)
    if (topo->level[n].group_of[a] != topo->level[n].group_of[b])
      return n;
  return topo->level_count - 1;
}

/* ---- text ---- */

typedef enum kind { TIME, RATE, BYTES, NUMBER, PART } kind;

/* What an item is of, and what its offset is in: tt_sim_model, tt_sim_level, and tt_sim_place of links and of ranks. */
typedef enum owner { ALL, LEVEL, LINK, RANK } owner;

typedef struct item {
  const char *name;
  kind kind;
  owner owner;
  size_t offset;
  double least, most;
} item;

static const item items[] = {
    {"alpha", TIME, LEVEL, offsetof(tt_sim_level, alpha_ns), 0, 1e9},
    {"beta", RATE, LEVEL, offsetof(tt_sim_level, beta_ns), 0, 1e6},
    {"ports", NUMBER, LEVEL, offsetof(tt_sim_level, ports), 1, TT_SIM_PORTS},
    {"links", NUMBER, LEVEL, offsetof(tt_sim_level, links), 0, TT_SIM_PORTS},
    {"gamma", RATE, ALL, offsetof(tt_sim_model, gamma_ns), 0, 1e6},
    {"copy", RATE, ALL, offsetof(tt_sim_model, copy_ns), 0, 1e6},
    {"slot", BYTES, ALL, offsetof(tt_sim_model, slot_bytes), 0, 1e12},
    {"slots", NUMBER, ALL, offsetof(tt_sim_model, slot_count), 0, 1e6},
    {"beta", RATE, LINK, offsetof(tt_sim_place, beta_ns), 0, 1e6},
    {"load", PART, LINK, offsetof(tt_sim_place, load), 0, 0.99},
    {"load", PART, RANK, offsetof(tt_sim_place, load), 0, 0.99},
    {"late", TIME, RANK, offsetof(tt_sim_place, late_ns), 0, 1e12},
};

typedef struct unit {
  kind kind;
  const char *name;
  double factor;
} unit;

static const unit units[] = {
    {TIME, "", 1},         {TIME, "ns", 1},       {TIME, "us", 1e3},     {TIME, "ms", 1e6},
    {RATE, "", 1},         {RATE, "ns/B", 1},     {NUMBER, "", 1},       {BYTES, "", 1},
    {BYTES, "K", 1 << 10}, {BYTES, "M", 1 << 20}, {BYTES, "G", 1 << 30}, {PART, "%", 0.01},
};

static bool is_real(kind of) { return of == TIME || of == RATE || of == PART; }

static bool read_value(const item *of, const char *text, double *value) {
  char *rest;
  double number = strtod(text, &rest);
  if (rest == text || !(number >= 0)) /* a number that is none, too */
    return false;
  for (size_t u = 0; u < TT_COUNT(units); u++)
    if (units[u].kind == of->kind && strcmp(units[u].name, rest) == 0) {
      *value = number * units[u].factor;
      bool whole = is_real(of->kind) || *value == floor(*value);
      return whole && *value >= of->least && *value <= of->most;
    }
  return false;
}

bool tt_sim_time_parse(const char *text, double *time_ns) {
  static const item time = {.name = "time", .kind = TIME, .most = 1e12};
  return read_value(&time, text, time_ns);
}

static void set(const item *of, void *in, double value) {
  void *place = (char *)in + of->offset;
  if (is_real(of->kind))
    *(double *)place = value;
  else
    *(int64_t *)place = (int64_t)value;
}

static double get(const item *of, const void *in) {
  const void *place = (const char *)in + of->offset;
  return is_real(of->kind) ? *(const double *)place : (double)*(const int64_t *)place;
}

/* What an entry is about. */
typedef struct subject {
  int level;           /* -1: all of them */
  tt_sim_place *place; /* NULL: levels, and the whole model */
} subject;

static bool has(const subject *of, owner by) {
  if (of->place)
    return by == (of->place->level < 0 ? RANK : LINK);
  return by == LEVEL || by == ALL;
}

static void set_all(const item *of, const subject *to, tt_sim_model *model, double value) {
  if (to->place)
    set(of, to->place, value);
  else if (of->owner == ALL)
    set(of, model, value);
  else
    for (int n = 0; n < model->topo->level_count; n++)
      if (to->level < 0 || to->level == n)
        set(of, &model->level[n], value);
}

static const char *known(const subject *of) {
  if (!of->place)
    return "levels have alpha, beta, ports and links, all levels share gamma, copy, slot and slots";
  return of->place->level < 0 ? "ranks have late and load" : "links have beta and load";
}

static tutti_status parse_item(const char *text, const subject *to, tt_sim_model *model) {
  for (size_t n = 0; n < TT_COUNT(items); n++) {
    size_t length = strlen(items[n].name);
    double value;
    if (!has(to, items[n].owner) || strncmp(text, items[n].name, length) != 0 || text[length] != '=')
      continue;
    if (!read_value(&items[n], text + length + 1, &value))
      return tt_fail(TUTTI_ERR_ARGUMENT, "model: '%s' has an invalid value; write for example %s", text,
                     to->place ? "beta=0.1 (ns a byte), load=50%, late=5us"
                               : "alpha=2us, beta=0.1 (ns a byte), ports=1");
    set_all(&items[n], to, model, value);
    return TUTTI_OK;
  }
  return tt_fail(TUTTI_ERR_ARGUMENT, "model: '%s' is unknown; %s", text, known(to));
}

static tutti_status parse_level(const char *name, const tt_topo *topo, int *level) {
  for (*level = 0; *level < topo->level_count; ++*level)
    if (strcmp(topo->level[*level].name, name) == 0)
      return TUTTI_OK;
  return tt_fail(TUTTI_ERR_ARGUMENT, "model: the topology has no level '%s'", name);
}

static tutti_status parse_entry(char *entry, tt_sim_model *model) {
  subject of = {.level = -1};
  char *colon = strchr(entry, ':'), *rest = NULL;
  tutti_status status = TUTTI_OK;
  if (colon) {
    *colon = '\0';
    status =
        tt_sim_place_is(entry) ? tt_sim_place_add(entry, model, &of.place) : parse_level(entry, model->topo, &of.level);
    entry = colon + 1;
  }
  for (char *word = strtok_r(entry, ",", &rest); word && status == TUTTI_OK; word = strtok_r(NULL, ",", &rest))
    status = parse_item(word, &of, model);
  return status;
}

tutti_status tt_sim_model_parse(const char *text, tt_sim_model *model) {
  char *copy = strdup(text), *rest = NULL;
  tutti_status status = copy ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for a model");
  for (char *entry = copy ? strtok_r(copy, ";", &rest) : NULL; entry && status == TUTTI_OK;
       entry = strtok_r(NULL, ";", &rest))
    status = parse_entry(entry, model);
  free(copy);
  return status == TUTTI_OK ? tt_sim_places_check(model) : status;
}

static void print_item(const item *of, double value, char *text, size_t size) {
  bool us = of->kind == TIME && value >= 1000 && fmod(value, 1000) == 0;
  const char *named = of->kind != TIME ? "" : us ? "us" : "ns";
  if (of->kind == PART)
    snprintf(text, size, "%s=%.15g%%", of->name, 100 * value);
  else
    snprintf(text, size, "%s=%.15g%s", of->name, us ? value / 1000 : value, named);
}

/* Left out is what is as little as it can be, and usually so; of places, what is not said. */
static void print_items(owner of, const void *in, const void *usual, char *text, size_t size) {
  const char *before = "";
  for (size_t n = 0; n < TT_COUNT(items); n++) {
    if (items[n].owner != of)
      continue;
    double value = get(&items[n], in);
    size_t used = strlen(text);
    if (usual ? value == items[n].least && value == get(&items[n], usual) : value < 0)
      continue;
    snprintf(text + used, size - used, "%s", before);
    used = strlen(text);
    print_item(&items[n], value, text + used, size - used);
    before = ",";
  }
}

static void print_place(const tt_sim_model *model, const tt_sim_place *place, char *text, size_t size) {
  size_t used = strlen(text);
  snprintf(text + used, size - used, ";");
  used = strlen(text);
  tt_sim_place_print(model, place, text + used, size - used);
  used = strlen(text);
  snprintf(text + used, size - used, ":");
  print_items(place->level < 0 ? RANK : LINK, place, NULL, text, size);
}

void tt_sim_model_print(const tt_sim_model *model, char *text, size_t size) {
  tt_sim_model usual;
  tt_sim_model_init(&usual, model->topo);
  *text = '\0';
  for (int l = 0; l < model->topo->level_count; l++) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s:", model->topo->level[l].name);
    print_items(LEVEL, &model->level[l], &usual.level[l], text, size);
    used = strlen(text);
    snprintf(text + used, size - used, ";");
  }
  print_items(ALL, model, &usual, text, size);
  for (int n = 0; n < model->place_count; n++)
    print_place(model, &model->place[n], text, size);
}

/* sim/model.c - rates of a machine: defaults, text, and which level two ranks meet at.
 *
 *     model = entry { ";" entry }      entry = [ level ":" ] item { "," item }      item = name "=" value
 *
 * Names are rows of a table. */
#include "sim/sim.h"

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

typedef enum kind { TIME, RATE, BYTES, NUMBER } kind;

typedef struct item {
  const char *name;
  kind kind;
  bool of_level;
  size_t offset; /* in tt_sim_level or tt_sim_model */
  double least, most;
} item;

static const item items[] = {
    {"alpha", TIME, true, offsetof(tt_sim_level, alpha_ns), 0, 1e9},
    {"beta", RATE, true, offsetof(tt_sim_level, beta_ns), 0, 1e6},
    {"ports", NUMBER, true, offsetof(tt_sim_level, ports), 1, TT_SIM_PORTS},
    {"links", NUMBER, true, offsetof(tt_sim_level, links), 0, TT_SIM_PORTS},
    {"gamma", RATE, false, offsetof(tt_sim_model, gamma_ns), 0, 1e6},
    {"copy", RATE, false, offsetof(tt_sim_model, copy_ns), 0, 1e6},
    {"slot", BYTES, false, offsetof(tt_sim_model, slot_bytes), 0, 1e12},
    {"slots", NUMBER, false, offsetof(tt_sim_model, slot_count), 0, 1e6},
};

typedef struct unit {
  kind kind;
  const char *name;
  double factor;
} unit;

static const unit units[] = {
    {TIME, "", 1},         {TIME, "ns", 1},       {TIME, "us", 1e3},     {TIME, "ms", 1e6},
    {RATE, "", 1},         {RATE, "ns/B", 1},     {NUMBER, "", 1},       {BYTES, "", 1},
    {BYTES, "K", 1 << 10}, {BYTES, "M", 1 << 20}, {BYTES, "G", 1 << 30},
};

static bool read_value(const item *of, const char *text, double *value) {
  char *rest;
  double number = strtod(text, &rest);
  if (rest == text || !(number >= 0)) /* a number that is none, too */
    return false;
  for (size_t u = 0; u < TT_COUNT(units); u++)
    if (units[u].kind == of->kind && strcmp(units[u].name, rest) == 0) {
      *value = number * units[u].factor;
      bool whole = of->kind == TIME || of->kind == RATE || *value == floor(*value);
      return whole && *value >= of->least && *value <= of->most;
    }
  return false;
}

static void set(const item *of, void *in, double value) {
  void *place = (char *)in + of->offset;
  if (of->kind == TIME || of->kind == RATE)
    *(double *)place = value;
  else
    *(int64_t *)place = (int64_t)value;
}

static double get(const item *of, const void *in) {
  const void *place = (const char *)in + of->offset;
  return of->kind == TIME || of->kind == RATE ? *(const double *)place : (double)*(const int64_t *)place;
}

/* level -1: all of them. */
static tutti_status parse_item(const char *text, int level, tt_sim_model *model) {
  for (size_t n = 0; n < TT_COUNT(items); n++) {
    size_t length = strlen(items[n].name);
    double value;
    if (strncmp(text, items[n].name, length) != 0 || text[length] != '=')
      continue;
    if (!read_value(&items[n], text + length + 1, &value))
      return tt_fail(TUTTI_ERR_ARGUMENT,
                     "model: '%s' has an invalid value; write for example alpha=2us, beta=0.1 (ns a byte), ports=1",
                     text);
    if (!items[n].of_level)
      set(&items[n], model, value);
    for (int l = 0; l < model->topo->level_count && items[n].of_level; l++)
      if (level < 0 || level == l)
        set(&items[n], &model->level[l], value);
    return TUTTI_OK;
  }
  return tt_fail(
      TUTTI_ERR_ARGUMENT,
      "model: '%s' is unknown; levels have alpha, beta, ports and links, all levels share gamma, copy, slot and slots",
      text);
}

static tutti_status parse_level(const char *name, const tt_topo *topo, int *level) {
  for (*level = 0; *level < topo->level_count; ++*level)
    if (strcmp(topo->level[*level].name, name) == 0)
      return TUTTI_OK;
  return tt_fail(TUTTI_ERR_ARGUMENT, "model: the topology has no level '%s'", name);
}

static tutti_status parse_entry(char *entry, tt_sim_model *model) {
  int level = -1;
  char *colon = strchr(entry, ':'), *rest = NULL;
  tutti_status status = TUTTI_OK;
  if (colon) {
    *colon = '\0';
    status = parse_level(entry, model->topo, &level);
    entry = colon + 1;
  }
  for (char *word = strtok_r(entry, ",", &rest); word && status == TUTTI_OK; word = strtok_r(NULL, ",", &rest))
    status = parse_item(word, level, model);
  return status;
}

tutti_status tt_sim_model_parse(const char *text, tt_sim_model *model) {
  char *copy = strdup(text), *rest = NULL;
  tutti_status status = copy ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for a model");
  for (char *entry = copy ? strtok_r(copy, ";", &rest) : NULL; entry && status == TUTTI_OK;
       entry = strtok_r(NULL, ";", &rest))
    status = parse_entry(entry, model);
  free(copy);
  return status;
}

static void print_item(const item *of, double value, char *text, size_t size) {
  bool us = of->kind == TIME && value >= 1000 && fmod(value, 1000) == 0;
  const char *named = of->kind != TIME ? "" : us ? "us" : "ns";
  snprintf(text, size, "%s=%.15g%s", of->name, us ? value / 1000 : value, named);
}

/* Left out is what is as little as it can be, and usually so. */
static void print_items(bool of_level, const void *in, const void *usual, char *text, size_t size) {
  const char *before = "";
  for (size_t n = 0; n < TT_COUNT(items); n++) {
    if (items[n].of_level != of_level)
      continue;
    double value = get(&items[n], in);
    size_t used = strlen(text);
    if (value == items[n].least && value == get(&items[n], usual))
      continue;
    snprintf(text + used, size - used, "%s", before);
    used = strlen(text);
    print_item(&items[n], value, text + used, size - used);
    before = ",";
  }
}

void tt_sim_model_print(const tt_sim_model *model, char *text, size_t size) {
  tt_sim_model usual;
  tt_sim_model_init(&usual, model->topo);
  *text = '\0';
  for (int l = 0; l < model->topo->level_count; l++) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s:", model->topo->level[l].name);
    print_items(true, &model->level[l], &usual.level[l], text, size);
    used = strlen(text);
    snprintf(text + used, size - used, ";");
  }
  print_items(false, model, &usual, text, size);
}

/* sim/places.c - links and ranks that are not like the others of a model: slower, loaded, late.
 *
 *     place = level "." some [ "." some ] | "rank." some      some = "*" | number | number "-" number
 *
 * The first numbers are of groups of the level, or of ranks; the second ones of the groups' links. */
#include "sim/places.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 96 /* characters of a place */

static const tt_sim_place unsaid = {
    .level = -1, .last = INT64_MAX, .last_link = INT64_MAX, .beta_ns = -1, .load = -1, .late_ns = -1};

/* ---- text ---- */

bool tt_sim_place_is(const char *text) { return strchr(text, '.') != NULL; }

/* NULL: something else stands there; else what follows. */
static const char *read_number(const char *text, int64_t *number) {
  char *rest;
  if (!isdigit((unsigned char)*text))
    return NULL;
  *number = strtoll(text, &rest, 10);
  return *number < INT64_MAX ? rest : NULL; /* which means any */
}

static const char *read_some(const char *text, int64_t *first, int64_t *last) {
  *first = 0;
  *last = INT64_MAX;
  if (*text == '*')
    return text + 1;
  const char *rest = read_number(text, first);
  *last = *first;
  if (rest && *rest == '-')
    rest = read_number(rest + 1, last);
  return rest && *first <= *last ? rest : NULL;
}

static tutti_status bad(const char *text) {
  return tt_fail(TUTTI_ERR_ARGUMENT,
                 "model: '%s' is no place; write node.0.1 (link 1 of node 0), node.0-3 (all links of four nodes), "
                 "node.*.1 (link 1 of each node) or rank.3",
                 text);
}

static tutti_status read_place(const char *text, const tt_topo *topo, tt_sim_place *place) {
  size_t length = strcspn(text, ".");
  const char *rest = read_some(text + length + 1, &place->first, &place->last);
  if (strncmp(text, "rank.", length + 1) == 0)
    return rest && !*rest ? TUTTI_OK : bad(text);
  for (int n = 0; n < topo->level_count; n++)
    if (strlen(topo->level[n].name) == length && strncmp(topo->level[n].name, text, length) == 0)
      place->level = n;
  if (place->level < 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "model: the topology has no level '%.*s'", (int)length, text);
  if (rest && *rest == '.')
    rest = read_some(rest + 1, &place->first_link, &place->last_link);
  return rest && !*rest ? TUTTI_OK : bad(text);
}

tutti_status tt_sim_place_add(const char *text, tt_sim_model *model, tt_sim_place **place) {
  if (model->place_count == TT_SIM_PLACES)
    return tt_fail(TUTTI_ERR_ARGUMENT, "model: '%s' is one place too many; the limit is %d, and rank.0-3 is one", text,
                   TT_SIM_PLACES);
  *place = &model->place[model->place_count++];
  **place = unsaid;
  return read_place(text, model->topo, *place);
}

static void print_some(const char *before, int64_t first, int64_t last, char *text, size_t size) {
  size_t used = strlen(text);
  if (last == INT64_MAX)
    snprintf(text + used, size - used, "%s*", before);
  else if (first == last)
    snprintf(text + used, size - used, "%s%" PRId64, before, first);
  else
    snprintf(text + used, size - used, "%s%" PRId64 "-%" PRId64, before, first, last);
}

void tt_sim_place_print(const tt_sim_model *model, const tt_sim_place *place, char *text, size_t size) {
  snprintf(text, size, "%s", place->level < 0 ? "rank" : model->topo->level[place->level].name);
  print_some(".", place->first, place->last, text, size);
  if (place->last_link != INT64_MAX)
    print_some(".", place->first_link, place->last_link, text, size);
}

/* ---- whether they are there ---- */

static tutti_status check(const tt_sim_model *model, const tt_sim_place *place) {
  char name[NAME_MOST];
  const tt_topo_level *level = place->level < 0 ? NULL : &model->topo->level[place->level];
  int64_t count = level ? level->group_count : model->topo->rank_count;
  int64_t links = level ? model->level[place->level].links : 0;
  tt_sim_place_print(model, place, name, sizeof name);
  if (place->last != INT64_MAX && place->last >= count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "model: '%s' is not there; the last %s is %" PRId64, name,
                   level ? level->name : "rank", count - 1);
  if (level && links == 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "model: '%s' has no links that ranks share; add %s:links=1", name, level->name);
  if (level && place->last_link != INT64_MAX && place->last_link >= links)
    return tt_fail(TUTTI_ERR_ARGUMENT, "model: '%s' is not there; each %s has %" PRId64 " link%s, counted from 0", name,
                   level->name, links, links == 1 ? "" : "s");
  return TUTTI_OK;
}

tutti_status tt_sim_places_check(const tt_sim_model *model) {
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < model->place_count && status == TUTTI_OK; n++)
    status = check(model, &model->place[n]);
  return status;
}

/* ---- what they say ---- */

static bool is_within(int64_t first, int64_t last, int64_t number) { return first <= number && number <= last; }

/* What the last one says that says something; else `usual`. */
static double said(const tt_sim_model *model, int level, int64_t number, int64_t link, size_t member, double usual) {
  for (int n = model->place_count; n-- > 0;) {
    const tt_sim_place *place = &model->place[n];
    double value = *(const double *)((const char *)place + member);
    if (place->level == level && value >= 0 && is_within(place->first, place->last, number) &&
        is_within(place->first_link, place->last_link, link))
      return value;
  }
  return usual;
}

#define SAID(level, number, link, member, usual) said(model, level, number, link, offsetof(tt_sim_place, member), usual)

double tt_sim_link_ns(const tt_sim_model *model, int level, int64_t group, int64_t link) {
  return SAID(level, group, link, beta_ns, model->level[level].beta_ns) / (1 - SAID(level, group, link, load, 0));
}

double tt_sim_work_factor(const tt_sim_model *model, int64_t rank) { return 1 / (1 - SAID(-1, rank, 0, load, 0)); }

double tt_sim_late_ns(const tt_sim_model *model, int64_t rank) { return SAID(-1, rank, 0, late_ns, 0); }

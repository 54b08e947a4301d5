/* tune/fits.c - fits of a machine as a file, beside its wisdom:
 *
 *   {"tutti-machine": 1, "machine": "0123456789abcdef", "about": "...", "fits": [
 *     {"ranks": 2, "nodes": 1, "ranks_per_node": 2, "nics": 1,
 *      "call_ns": 300, "cores": 0, "switch_ns": 0, "cache_bytes": 4194304, "memory_ns": 0.05,
 *      "within": {"alpha_ns": 100, "beta_ns": 0, "ports": 64, "links": 0}, "between": {...},
 *      "ends": [
 *       {"medium": "slot", "act": "send", "piece_ns": [53, ...], "reuse_ns": [0, ...], "both_ns": [0, ...],
 *        "past_ns": 0.05}, ...]}]}
 *
 * A medium "own" is a rank's own memory. A file may come from anybody: every member is checked. */
#include "tune/store.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSION 1
#define FITS_MOST 1000
#define NS_MOST 1e12
#define OWN TT_MEDIUM_COUNT /* as a number of a medium */

static const char *const act_name[TT_SIM_ACTS] = {"send", "store", "combine", "store-new", "combine-new"};

static const char *medium_name(int medium) { return medium == OWN ? "own" : tt_medium_name[medium]; }

static tt_sim_end *end_of(tt_sim_rates *rates, int medium, int act) {
  return medium == OWN ? &rates->own[act] : &rates->end[medium][act];
}

/* ---- members that are numbers ---- */

typedef struct number {
  const char *name;
  bool whole;
  size_t at; /* of int64_t or double */
  double least, most;
} number;

static const number shape_numbers[] = {{"ranks", true, offsetof(tt_region, rank_count), 1, INT32_MAX},
                                       {"nodes", true, offsetof(tt_region, node_count), 1, INT32_MAX},
                                       {"ranks_per_node", true, offsetof(tt_region, ranks_per_node), 1, INT32_MAX},
                                       {"nics", true, offsetof(tt_region, nic_count), 0, INT32_MAX}};

static const number rate_numbers[] = {{"call_ns", false, offsetof(tt_sim_rates, call_ns), 0, NS_MOST},
                                      {"cores", true, offsetof(tt_sim_rates, cores), 0, INT16_MAX},
                                      {"switch_ns", false, offsetof(tt_sim_rates, switch_ns), 0, NS_MOST},
                                      {"cache_bytes", true, offsetof(tt_sim_rates, cache_bytes), 0, 0x1p62},
                                      {"memory_ns", false, offsetof(tt_sim_rates, memory_ns), 0, NS_MOST}};

static const number way_numbers[] = {{"alpha_ns", false, offsetof(tt_sim_level, alpha_ns), 0, NS_MOST},
                                     {"beta_ns", false, offsetof(tt_sim_level, beta_ns), 0, NS_MOST},
                                     {"ports", true, offsetof(tt_sim_level, ports), 1, TT_SIM_PORTS},
                                     {"links", true, offsetof(tt_sim_level, links), 0, TT_SIM_PORTS}};

/* ---- life ---- */

void tt_fits_destroy(tt_fits *machine) {
  if (machine)
    free(machine->fit);
  free(machine);
}

static tutti_status create(const char *machine, const char *about, size_t room, tt_fits **made) {
  *made = calloc(1, sizeof **made);
  if (*made && !((*made)->fit = calloc(room + 1, sizeof *(*made)->fit))) {
    free(*made);
    *made = NULL;
  }
  if (!*made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the rates of a machine");
  snprintf((*made)->machine, sizeof(*made)->machine, "%s", machine);
  snprintf((*made)->about, sizeof(*made)->about, "%s", about);
  return TUTTI_OK;
}

static bool same_shape(const tt_region *a, const tt_region *b) {
  return a->rank_count == b->rank_count && a->node_count == b->node_count && a->ranks_per_node == b->ranks_per_node &&
         a->nic_count == b->nic_count;
}

const tt_fit *tt_fits_find(const tt_fits *machine, const tt_region *shape) {
  for (int64_t n = 0; n < machine->count; n++)
    if (same_shape(&machine->fit[n].shape, shape))
      return &machine->fit[n];
  return NULL;
}

/* ---- reading ---- */

typedef struct place { /* in the file, for errors */
  int64_t fit, end;    /* from 1; end 0: not in one */
} place;

static tutti_status bad(place at, const char *member, const char *why) {
  if (at.end > 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "fit %" PRId64 ", end %" PRId64 ", \"%s\": %s", at.fit, at.end, member, why);
  return tt_fail(TUTTI_ERR_ARGUMENT, "fit %" PRId64 ", \"%s\": %s", at.fit, member, why);
}

static tutti_status read_number(const json_t *from, place at, const number *of, void *to) {
  const json_t *found = json_object_get(from, of->name);
  double value = json_number_value(found);
  if (of->whole ? !json_is_integer(found) : !json_is_number(found))
    return bad(at, of->name, of->whole ? "is not a whole number" : "is not a number");
  if (!(value >= of->least && value <= of->most)) {
    char why[96];
    snprintf(why, sizeof why, "is not from %.0f to %.0f", of->least, of->most);
    return bad(at, of->name, why);
  }
  if (of->whole)
    *(int64_t *)(void *)((char *)to + of->at) = json_integer_value(found);
  else
    *(double *)(void *)((char *)to + of->at) = value;
  return TUTTI_OK;
}

static tutti_status read_numbers(const json_t *from, place at, const number *of, size_t count, void *to) {
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < count && status == TUTTI_OK; n++)
    status = read_number(from, at, &of[n], to);
  return status;
}

static tutti_status read_list(const json_t *from, place at, const char *member, double least, int count, double *to) {
  const json_t *list = json_object_get(from, member);
  if (json_array_size(list) != (size_t)count)
    return bad(at, member, "has the wrong number of numbers");
  for (int n = 0; n < count; n++) {
    const json_t *found = json_array_get(list, (size_t)n);
    to[n] = json_number_value(found);
    if (!json_is_number(found) || !(to[n] >= least && to[n] <= NS_MOST))
      return bad(at, member, "has something that is no time");
  }
  return TUTTI_OK;
}

static int find_name(const json_t *from, const char *member, int count, const char *(*name)(int number)) {
  const char *text = json_string_value(json_object_get(from, member));
  int n = 0;
  while (n < count && (!text || strcmp(text, name(n)) != 0))
    n++;
  return n;
}

static const char *name_of_act(int act) { return act_name[act]; }

static tutti_status read_end(const json_t *from, place at, tt_sim_rates *rates) {
  static const number past = {"past_ns", false, offsetof(tt_sim_end, past_ns), 0, NS_MOST};
  int medium = find_name(from, "medium", OWN + 1, medium_name), act = find_name(from, "act", TT_SIM_ACTS, name_of_act);
  if (medium > OWN)
    return bad(at, "medium", "is none");
  if (act == TT_SIM_ACTS)
    return bad(at, "act", "is not send, store, combine, store-new or combine-new");
  tt_sim_end *end = end_of(rates, medium, act);
  tutti_status status = read_list(from, at, "piece_ns", 0, TT_SIM_PIECES, end->piece_ns);
  if (status == TUTTI_OK)
    status = read_list(from, at, "reuse_ns", 0, TT_SIM_REUSES, end->reuse_ns);
  if (status == TUTTI_OK)
    status = read_list(from, at, "both_ns", -NS_MOST, TT_SIM_PIECES, end->both_ns);
  return status == TUTTI_OK ? read_number(from, at, &past, end) : status;
}

static tutti_status read_fit(const json_t *from, int64_t fit_number, tt_fit *fit) {
  place at = {.fit = fit_number};
  const json_t *ends = json_object_get(from, "ends");
  *fit = (tt_fit){.shape = {.rank_count = 0}};
  tutti_status status = read_numbers(from, at, shape_numbers, TT_COUNT(shape_numbers), &fit->shape);
  if (status == TUTTI_OK)
    status = read_numbers(from, at, rate_numbers, TT_COUNT(rate_numbers), &fit->rates);
  if (status == TUTTI_OK)
    status = read_numbers(json_object_get(from, "within"), at, way_numbers, TT_COUNT(way_numbers), &fit->rates.within);
  if (status == TUTTI_OK)
    status =
        read_numbers(json_object_get(from, "between"), at, way_numbers, TT_COUNT(way_numbers), &fit->rates.between);
  if (status == TUTTI_OK && !json_is_array(ends))
    status = bad(at, "ends", "is not a list");
  for (size_t n = 0; n < json_array_size(ends) && status == TUTTI_OK; n++)
    status = read_end(json_array_get(ends, n), (place){fit_number, (int64_t)n + 1}, &fit->rates);
  return status;
}

static tutti_status read_all(const json_t *root, tt_fits **made) {
  const json_t *fits = json_object_get(root, "fits");
  const char *machine = json_string_value(json_object_get(root, "machine"));
  const char *about = json_string_value(json_object_get(root, "about"));
  if (json_integer_value(json_object_get(root, "tutti-machine")) != VERSION)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "\"tutti-machine\" is not %d: another version of tutti wrote the file",
                   VERSION);
  if (!machine || strlen(machine) + 1 != TT_MACHINE_TEXT || !json_is_array(fits))
    return tt_fail(TUTTI_ERR_ARGUMENT, "it has no \"%s\"", json_is_array(fits) ? "machine" : "fits");
  if (json_array_size(fits) > FITS_MOST)
    return tt_fail(TUTTI_ERR_ARGUMENT, "it has %zu fits; the limit is %d", json_array_size(fits), FITS_MOST);
  tutti_status status = create(machine, about ? about : "", json_array_size(fits), made);
  for (size_t n = 0; n < json_array_size(fits) && status == TUTTI_OK; n++) {
    status = read_fit(json_array_get(fits, n), (int64_t)n + 1, &(*made)->fit[n]);
    (*made)->count += status == TUTTI_OK;
  }
  return status;
}

tutti_status tt_fits_read(const char *path, tt_fits **machine) {
  json_error_t error;
  json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  if (!root)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: line %d: %s", path, error.line, error.text);
  tt_fits *made = NULL;
  tutti_status status = read_all(root, &made);
  json_decref(root);
  if (status == TUTTI_OK) {
    *machine = made;
    return TUTTI_OK;
  }
  tt_fits_destroy(made);
  char why[400];
  snprintf(why, sizeof why, "%s", tutti_last_error());
  return tt_fail(status, "%s: %s", path, why);
}

/* ---- writing ---- */

static void put_number(FILE *file, const number *of, const void *from, const char *before) {
  const void *at = (const char *)from + of->at;
  if (of->whole)
    fprintf(file, "%s\"%s\": %" PRId64, before, of->name, *(const int64_t *)at);
  else
    fprintf(file, "%s\"%s\": %.6g", before, of->name, *(const double *)at);
}

static void put_numbers(FILE *file, const number *of, size_t count, const void *from) {
  for (size_t n = 0; n < count; n++)
    put_number(file, &of[n], from, n ? ", " : "");
}

static void put_list(FILE *file, const char *name, const double *value, int count) {
  fprintf(file, "\"%s\": [", name);
  for (int n = 0; n < count; n++)
    fprintf(file, "%s%.6g", n ? ", " : "", value[n]);
  fputs("]", file);
}

static bool is_known(const tt_sim_end *end) {
  double sum = 0;
  for (int k = 0; k < TT_SIM_PIECES; k++)
    sum += end->piece_ns[k];
  return sum > 0;
}

static void put_end(FILE *file, tt_sim_rates *rates, int medium, int act, const char **before) {
  const tt_sim_end *end = end_of(rates, medium, act);
  if (!is_known(end))
    return;
  fprintf(file, "%s\n    {\"medium\": \"%s\", \"act\": \"%s\", ", *before, medium_name(medium), act_name[act]);
  put_list(file, "piece_ns", end->piece_ns, TT_SIM_PIECES);
  fputs(", ", file);
  put_list(file, "reuse_ns", end->reuse_ns, TT_SIM_REUSES);
  fputs(", ", file);
  put_list(file, "both_ns", end->both_ns, TT_SIM_PIECES);
  fprintf(file, ", \"past_ns\": %.6g}", end->past_ns);
  *before = ",";
}

static void put_fit(FILE *file, const tt_fit *fit) {
  tt_sim_rates rates = fit->rates;
  const char *before = "";
  fputs("\n  {", file);
  put_numbers(file, shape_numbers, TT_COUNT(shape_numbers), &fit->shape);
  fputs(",\n   ", file);
  put_numbers(file, rate_numbers, TT_COUNT(rate_numbers), &rates);
  fputs(",\n   \"within\": {", file);
  put_numbers(file, way_numbers, TT_COUNT(way_numbers), &rates.within);
  fputs("}, \"between\": {", file);
  put_numbers(file, way_numbers, TT_COUNT(way_numbers), &rates.between);
  fputs("},\n   \"ends\": [", file);
  for (int medium = 0; medium <= OWN; medium++)
    for (int act = 0; act < TT_SIM_ACTS; act++)
      put_end(file, &rates, medium, act, &before);
  fputs("]}", file);
}

static bool put_all(FILE *file, const void *user) {
  const tt_fits *machine = user;
  json_t *about = json_string(machine->about);
  char *text = about ? json_dumps(about, JSON_ENCODE_ANY) : NULL;
  if (text)
    fprintf(file, "{\"tutti-machine\": %d, \"machine\": \"%s\", \"about\": %s, \"fits\": [", VERSION, machine->machine,
            text);
  for (int64_t n = 0; n < machine->count; n++) {
    fputs(n ? "," : "", file);
    put_fit(file, &machine->fit[n]);
  }
  fputs("\n]}\n", file);
  free(text);
  json_decref(about);
  return text && !ferror(file);
}

/* What the file has, and the new fit in the place of one of an equal shape. A file of another machine is left alone. */
static tutti_status merge(const char *path, const tt_fits *with, tt_fits **merged) {
  tt_fits *before = NULL;
  tutti_status status = tt_store_is_missing(path) ? TUTTI_OK : tt_fits_read(path, &before);
  if (status == TUTTI_OK && before && strcmp(before->machine, with->machine) != 0)
    status = tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: it is of machine %s, and this is %s; it is left alone", path,
                     before->machine, with->machine);
  if (status == TUTTI_OK)
    status = create(with->machine, with->about, (size_t)(before ? before->count : 0) + 1, merged);
  for (int64_t n = 0; status == TUTTI_OK && before && n < before->count; n++)
    if (!same_shape(&before->fit[n].shape, &with->fit->shape))
      (*merged)->fit[(*merged)->count++] = before->fit[n];
  if (status == TUTTI_OK && (*merged)->count == FITS_MOST)
    status = tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no room for more than %d fits in it: remove it to begin anew",
                     path, FITS_MOST);
  if (status == TUTTI_OK)
    (*merged)->fit[(*merged)->count++] = *with->fit;
  tt_fits_destroy(before);
  return status;
}

tutti_status tt_fits_write(const char *path, const char *machine, const char *about, const tt_fit *fit) {
  tt_fit copy = *fit;
  tt_fits with = {.fit = &copy, .count = 1}, *merged = NULL;
  int lock;
  tutti_status status = tt_store_lock(path, &lock);
  if (status != TUTTI_OK)
    return status;
  snprintf(with.machine, sizeof with.machine, "%s", machine);
  snprintf(with.about, sizeof with.about, "%s", about);
  status = merge(path, &with, &merged);
  if (status == TUTTI_OK)
    status = tt_store_replace(path, put_all, merged);
  tt_fits_destroy(merged);
  tt_store_unlock(lock);
  return status;
}

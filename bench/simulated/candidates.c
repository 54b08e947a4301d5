/* bench/simulated/candidates.c - see candidates.h. Candidates are a part of the space (src/tune/space.c): the presets,
 * and forms x trees over the machine's levels x stripes x slices. */
#include "candidates.h"

#include "tune/tune.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 12 }; /* for the next round, by each of two orders */

/* ---- plans ---- */

tutti_status point_plans(const point *of, const char *params, plans *all) {
  tt_problem problem = {.collective = of->collective, .rank_count = of->ranks};
  tutti_status status = plans_begin(all, of->ranks, NULL, false);
  if (status == TUTTI_OK)
    status = machine_place(of->on, all);
  if (status == TUTTI_OK)
    status = tt_params_parse(params, &all->params);
  if (status == TUTTI_OK)
    status = plans_compose(&problem, NULL, all);
  return status == TUTTI_OK ? plans_lower(all) : status;
}

/* Blocks of an all-to-all are one for each pair of ranks. */
int64_t point_total(const point *of, int length) {
  return of->collective == TT_ALL_TO_ALL ? of->bytes[length] * of->ranks : of->bytes[length];
}

/* A rank's ports are as many as a model can have: SMPI's messages wait for links only. */
tutti_status point_model(const point *of, const plans *all, double stretch, tt_sim_model *model) {
  tt_sim_model_init(model, all->topo);
  tutti_status status = tt_sim_model_parse(of->on->model, model);
  for (int n = 0; n < all->topo->level_count; n++) {
    model->level[n].ports = TT_SIM_PORTS;
    model->level[n].alpha_ns *= stretch;
  }
  return status;
}

static bool is_short(const plans *all, int64_t total) {
  int64_t steps = 0, slice = all->plan[0]->slice_bytes, block = total / all->plan[0]->block_count;
  for (int64_t r = 0; r < all->count; r++)
    steps += all->plan[r]->step_count;
  return steps * (slice && slice < block ? (block + slice - 1) / slice : 1) <= PACKETS_MOST;
}

double point_time(const point *of, int length, const plans *all, const tt_sim_model *model) {
  tt_sim_result result;
  tt_sim_lengths lengths = {.total_bytes = point_total(of, length)};
  tt_sim_model with_slots = *model;
  int64_t slice = all->plan[0]->slice_bytes, block = lengths.total_bytes / all->plan[0]->block_count;
  if (!is_short(all, lengths.total_bytes))
    return -1;
  with_slots.slot_count = slice && slice < block;
  tutti_status status = tt_sim_run(&with_slots, (const tt_plan *const *)all->plan, &lengths, false, &result);
  double time_ns = status == TUTTI_OK ? result.time_ps / 1000 : -1;
  tt_sim_finish(&result);
  return time_ns;
}

/* ---- all candidates ---- */

static const char *const flat[] = {"star",         "chain",    "2-nomial", "2-nomial,far",
                                   "2-nomial,xor", "4-nomial", "8-nomial", "2-planted"};
static const char *const outer[] = {"star",         "chain",        "2-nomial", "2-nomial,far",
                                    "2-nomial,xor", "4-nomial,far", "2-planted"};
static const char *const inner[] = {"star", "chain", "2-nomial,far", "16-ary"};
static const char *const usual[] = {"star", "chain", "2-nomial,xor"};
static const char *const stripes[] = {" stripe=1", " stripe=4", " stripe=all", " even"};
static const int64_t slices[] = {0, 16384, 65536, 262144};

static void add(const char *text, int64_t slice_bytes, candidates *to) {
  to->of = realloc(to->of, (size_t)(to->count + 1) * sizeof *to->of);
  if (!to->of)
    abort();
  candidate *one = &to->of[to->count++];
  *one = (candidate){.slice_bytes = slice_bytes, .alive = ~0U};
  snprintf(one->text, sizeof one->text, "%s", text);
}

/* The stages of a split vector go around a chain the same way, so a rank that is ahead loses no time between them. */
static void add_both(const char *form, const char *tree, const char *rest, candidates *to) {
  char text[200];
  const char *chain = strstr(tree, ":chain");
  if (strcmp(form, "allgather.reduce-scatter") != 0 || !chain)
    return;
  chain += strlen(":chain");
  snprintf(text, sizeof text, "form=%s [%s] allgather[%.*s,reflect%s]%s", form, tree, (int)(chain - tree), tree, chain,
           rest);
  add(text, 0, to);
}

/* Slices only where whole vectors go along trees. */
static void add_slices(const point *of, const char *form, const char *tree, const char *stripe, candidates *to) {
  char text[200];
  bool vectors = of->collective == TT_BROADCAST || strcmp(form, "broadcast.reduce") == 0;
  const char *channels = strstr(tree, "2-planted") ? " channels=2" : "";
  snprintf(text, sizeof text, "form=%s [%s]%s%s", form, tree, stripe, channels);
  for (size_t n = 0; n < (vectors ? TT_COUNT(slices) : 1); n++)
    add(text, slices[n], to);
  add_both(form, tree, stripe, to);
}

static void add_stripes(const point *of, const char *form, const char *tree, candidates *to) {
  for (size_t n = 0; n < TT_COUNT(stripes); n++)
    add_slices(of, form, tree, stripes[n], to);
}

static void add_two(const point *of, const char *form, candidates *to) {
  char tree[80];
  for (size_t o = 0; o < TT_COUNT(outer); o++)
    for (size_t i = 0; i < TT_COUNT(inner); i++) {
      snprintf(tree, sizeof tree, "node:%s/core:%s", outer[o], inner[i]);
      add_stripes(of, form, tree, to);
    }
}

static void add_three(const point *of, const char *form, const char *level, candidates *to) {
  char tree[80];
  for (size_t o = 0; o < TT_COUNT(usual); o++)
    for (size_t i = 0; i < TT_COUNT(usual); i++) {
      snprintf(tree, sizeof tree, "%s:%s/node:%s/core:star", level, usual[o], usual[i]);
      add_stripes(of, form, tree, to);
    }
}

static void add_form(const point *of, const char *form, candidates *to) {
  char tree[80];
  for (size_t n = 0; n < TT_COUNT(flat); n++) {
    snprintf(tree, sizeof tree, "core:%s", flat[n]);
    add_slices(of, form, tree, "", to);
  }
  add_two(of, form, to);
  if (of->on->nodes_a_switch)
    add_three(of, form, "switch", to);
  if (of->on->switches_a_group)
    add_three(of, form, "group", to);
}

void candidates_make(const point *of, candidates *all) {
  tt_collective_info info = tt_compose_info(of->collective);
  size_t preset_count;
  const tt_preset *presets = tt_preset_table(&preset_count);
  *all = (candidates){.count = 0};
  for (size_t n = 0; n < preset_count; n++)
    add(presets[n].name, 0, all);
  for (int n = 0; n < info.form_count; n++)
    add_form(of, info.form[n], all);
}

/* ---- rounds ---- */

static void time_one(const point *of, const plans *all, const tt_sim_model *model, candidate *one) {
  int64_t own = all->plan[0]->slice_bytes;
  for (int64_t r = 0; r < all->count && one->slice_bytes > 0; r++)
    all->plan[r]->slice_bytes = one->slice_bytes;
  for (int n = 0; n < of->length_count; n++) {
    bool cuts = one->slice_bytes == 0 || one->slice_bytes < point_total(of, n) / all->plan[0]->block_count;
    one->time_ns[n] = one->alive >> n & 1 && cuts ? point_time(of, n, all, model) : -1;
  }
  for (int64_t r = 0; r < all->count; r++)
    all->plan[r]->slice_bytes = own;
}

static bool is_alive(const point *of, const candidate *one) { return one->alive & ((1U << of->length_count) - 1); }

/* Those of one text stand side by side: their plans differ by the slice. */
static void time_all(const point *of, double stretch, candidates *all) {
  for (int n = 0, next; n < all->count; n = next) {
    plans of_text;
    tt_sim_model model;
    bool alive = false;
    for (next = n; next < all->count && strcmp(all->of[next].text, all->of[n].text) == 0; next++)
      alive |= is_alive(of, &all->of[next]);
    bool made = alive && point_plans(of, all->of[n].text, &of_text) == TUTTI_OK &&
                point_model(of, &of_text, stretch, &model) == TUTTI_OK;
    for (int k = n; k < next; k++)
      if (made)
        time_one(of, &of_text, &model, &all->of[k]);
      else
        all->of[k].alive = 0;
    if (alive)
      plans_close(&of_text);
  }
}

static int by_time(const void *a, const void *b) {
  double x = **(const double *const *)a, y = **(const double *const *)b;
  return (x > y) - (x < y);
}

/* keep[n] gets the bits of those lengths of which candidate n is one of the `most` cheapest. */
static void mark(const point *of, int most, candidates *all, unsigned *keep) {
  double **order = malloc((size_t)all->count * sizeof(double *));
  if (!order)
    abort();
  for (int length = 0; length < of->length_count; length++) {
    size_t count = 0;
    for (int n = 0; n < all->count; n++)
      if (all->of[n].alive >> length & 1 && all->of[n].time_ns[length] >= 0)
        order[count++] = &all->of[n].time_ns[length];
    qsort(order, count, sizeof(double *), by_time);
    for (size_t k = 0; k < count && k < (size_t)most; k++)
      keep[((char *)order[k] - (char *)all->of) / (ptrdiff_t)sizeof(candidate)] |= 1U << length;
  }
  free(order);
}

static void judge_round(const point *of, double stretch, int most, candidates *all) {
  unsigned *keep = calloc((size_t)all->count, sizeof *keep);
  if (!keep)
    abort();
  if (stretch > 1) {
    time_all(of, stretch, all);
    mark(of, most, all, keep);
  }
  time_all(of, 1, all);
  mark(of, most, all, keep);
  for (int n = 0; n < all->count; n++)
    all->of[n].alive = keep[n];
  free(keep);
}

void candidates_judge(const point *of, int most, candidates *all) {
  for (int64_t ranks = 64; ranks < of->ranks; ranks *= 4) {
    point smaller = *of;
    smaller.ranks = ranks;
    judge_round(&smaller, (double)of->ranks / (double)ranks, KEPT, all);
  }
  judge_round(of, 1, most, all);
}

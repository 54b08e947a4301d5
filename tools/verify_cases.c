/* tools/verify_cases.c - the grid of cases, random cases, and the proof of one. */
#include "verify_cases.h"

#include "verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const int64_t rank_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 32, 64};
static const int64_t stripes[] = {0, 1, 3};
static const int64_t channel_counts[] = {1, 2};

enum { MAP_FLAT, MAP_EQUAL, MAP_UNEVEN, MAP_INTERLEAVED, MAPS };
static const char *const map_names[MAPS] = {"flat", "equal", "uneven", "interleaved"};

/* Node of a rank: equal ones of 4 (fewer in the last), uneven ones of 1, 2, 3, 4, 5, 1, ... and interleaved ones in
 * turn. */
static int64_t node_of(int map, int64_t rank, int64_t rank_count) {
  switch (map) {
  case MAP_EQUAL:
    return rank / 4;
  case MAP_UNEVEN: {
    int64_t node = 0;
    for (int64_t left = rank; left >= node % 5 + 1; node++)
      left -= node % 5 + 1;
    return node;
  }
  case MAP_INTERLEAVED:
    return rank % (rank_count / 3 + 1);
  default:
    return 0;
  }
}

/* ---- the grid ---- */

/* Root 0, the last, the first rank of the last node (a leader) and one that is none. */
static int64_t root_of(const tt_case *one) {
  int64_t last = one->rank_count - 1;
  const int64_t roots[] = {0, last, one->rank_count / 4 * 4 < one->rank_count ? one->rank_count / 4 * 4 : last / 2,
                           last / 3};
  return roots[one->root_at];
}

static int64_t root_count(const tt_case *one) { return tt_compose_info(one->collective).has_root ? 4 : 1; }

static void place(tt_case *one) {
  one->rank_count = rank_counts[one->ranks_at];
  one->root = tt_compose_info(one->collective).has_root ? root_of(one) : 0;
}

bool tt_case_first(tt_case *one, tt_collective collective, const char *form, int64_t max_ranks) {
  memset(one, 0, sizeof *one);
  one->collective = collective;
  one->form = form;
  one->max_ranks = max_ranks;
  place(one);
  return max_ranks >= 1;
}

/* Advances one digit of the number that the coordinates are; true where it did not wrap. */
static bool advance(int *digit, int64_t limit) {
  *digit = *digit + 1 < limit ? *digit + 1 : 0;
  return *digit > 0;
}

static int64_t rank_count_choices(int64_t max_ranks) {
  int64_t count = 0;
  while (count < (int64_t)TT_COUNT(rank_counts) && rank_counts[count] <= max_ranks)
    count++;
  return count;
}

bool tt_case_next(tt_case *one) {
  size_t presets;
  int in_place = one->in_place;
  tt_preset_table(&presets);
  bool more = advance(&in_place, 2) || advance(&one->channels_at, TT_COUNT(channel_counts)) ||
              advance(&one->stripe_at, TT_COUNT(stripes)) || advance(&one->map_at, MAPS) ||
              advance(&one->root_at, root_count(one)) || advance(&one->preset, (int64_t)presets) ||
              advance(&one->ranks_at, rank_count_choices(one->max_ranks));
  one->in_place = in_place;
  place(one);
  return more;
}

/* ---- random ---- */

static void random_level(tt_level_params *level, const char *name, tt_random *random) {
  memset(level, 0, sizeof *level);
  strcpy(level->name, name);
  level->shape = (tt_shape)tt_random_below(random, TT_SHAPE_COUNT);
  level->k = 2 + (int)tt_random_below(random, 4);
  level->labelling = (tt_labelling)tt_random_below(random, TT_LABELLING_COUNT);
  level->order = (tt_order)tt_random_below(random, TT_ORDER_COUNT);
}

static void random_stage(tt_case *one, const char *name, tt_random *random) {
  static const char *const names[] = {"node", "socket"};
  tt_stage_params *stage = &one->params.stage[one->params.stage_count++];
  memset(stage, 0, sizeof *stage);
  strcpy(stage->stage, name);
  for (int n = 0; n < one->level_count; n++)
    if (tt_random_below(random, 4))
      random_level(&stage->level[stage->level_count++], names[n], random);
  random_level(&stage->level[stage->level_count++], "core", random);
}

static void random_groups(tt_case *one, tt_random *random) {
  one->level_count = (int)tt_random_below(random, 3);
  uint64_t nodes = 1 + tt_random_below(random, (uint64_t)one->rank_count);
  bool interleaved = tt_random_below(random, 2);
  for (int64_t r = 0, node = 0; r < one->rank_count; r++) {
    node = interleaved ? (int64_t)tt_random_below(random, nodes) : node + (tt_random_below(random, 3) == 0);
    one->group_of[0][r] = node;
    one->group_of[1][r] = node * 4 + (int64_t)tt_random_below(random, 3); /* inside the node */
  }
}

void tt_case_random(tt_case *one, tt_random *random) {
  memset(one, 0, sizeof *one);
  one->random = true;
  one->collective = (tt_collective)tt_random_below(random, TT_COLLECTIVE_COUNT);
  tt_collective_info info = tt_compose_info(one->collective);
  one->form = info.form[tt_random_below(random, (uint64_t)info.form_count)];
  one->rank_count = 1 + (int64_t)tt_random_below(random, 24);
  one->root = info.has_root ? (int64_t)tt_random_below(random, (uint64_t)one->rank_count) : 0;
  one->in_place = tt_random_below(random, 2);
  random_groups(one, random);
  tt_params_init(&one->params);
  random_stage(one, "", random);
  if (strchr(one->form, '.') && tt_random_below(random, 2)) { /* the last stage, by its name, has its own */
    char name[TT_STAGE_NAME] = "";
    strncat(name, one->form, strcspn(one->form, "."));
    random_stage(one, name, random);
  }
  one->params.stripe = (int64_t)tt_random_below(random, 4);
  one->params.channels = 1 + (int64_t)tt_random_below(random, 3);
  one->params.ring = tt_random_below(random, 3) ? 0 : 1;
}

/* ---- proof ---- */

static tutti_status make_params(const tt_case *one, tt_params *params) {
  if (one->random) {
    *params = one->params;
    return TUTTI_OK;
  }
  size_t presets;
  const tt_preset *preset = &tt_preset_table(&presets)[one->preset];
  tutti_status status = tt_params_parse(preset->text, params);
  params->stripe = stripes[one->stripe_at];
  params->channels = channel_counts[one->channels_at];
  bool bound = params->form[0] && strcmp(params->form, "split") != 0; /* split: whatever fits; the cell decides */
  if (status == TUTTI_OK && bound && strcmp(params->form, one->form) != 0)
    return tt_fail(TUTTI_ERR_PLAN, "preset %s has a form of its own, %s", preset->name, params->form);
  return status;
}

static tutti_status make_topo(const tt_case *one, tt_arena *arena, tt_topo **topo) {
  int64_t map[TT_CASE_RANKS];
  *topo = tt_topo_flat(arena, one->rank_count);
  (*topo)->level[0].publish = true;
  for (int64_t r = 0; r < one->rank_count; r++)
    map[r] = node_of(one->map_at, r, one->rank_count);
  if (!one->random)
    return tt_topo_add(*topo, arena, "node", map);
  tutti_status status = one->level_count > 0 ? tt_topo_add(*topo, arena, "node", one->group_of[0]) : TUTTI_OK;
  return status == TUTTI_OK && one->level_count > 1 ? tt_topo_add(*topo, arena, "socket", one->group_of[1]) : status;
}

static tutti_status prove(const tt_case *one, const tt_composition *composition, const tt_lowering *lowering) {
  tt_plan *plan[TT_CASE_RANKS] = {NULL};
  tt_meaning meaning;
  tutti_status status = tt_verify_meaning(tt_compose_info(one->collective).name, one->rank_count,
                                          composition->block_count, one->root, one->in_place, &meaning);
  for (int64_t r = 0; r < one->rank_count && status == TUTTI_OK; r++)
    status = tt_lower_rank(lowering, r, &plan[r]);
  if (status == TUTTI_OK)
    status = tt_verify(&meaning, (const tt_plan *const *)plan);
  for (int64_t r = 0; r < one->rank_count; r++)
    tt_plan_destroy(plan[r]);
  return status;
}

/* Levels that a case does not name cannot change its plans: the flat map stands for all. */
static bool same_as_flat(const tt_case *one, const tt_params *params) {
  return !one->random && one->map_at != MAP_FLAT && params->stage_count > 0 && params->stage[0].level_count == 1;
}

static tt_outcome outcome_of(tt_case_kind kind) {
  tt_outcome outcome = {.kind = kind};
  snprintf(outcome.text, sizeof outcome.text, "%s", kind == TT_CASE_PROVEN ? "" : tutti_last_error());
  return outcome;
}

static tt_outcome lower_and_prove(const tt_case *one, const tt_params *params, tt_arena *arena) {
  tt_composition composition;
  tt_topo *topo;
  tt_lowering *lowering;
  tt_problem problem = {one->collective, one->rank_count, one->root, one->in_place};
  if (tt_compose(&problem, one->form, &composition) != TUTTI_OK || make_topo(one, arena, &topo) != TUTTI_OK ||
      tt_lowering_create(&composition, topo, params, &lowering) != TUTTI_OK)
    return outcome_of(TT_CASE_INVALID);
  tt_outcome outcome = outcome_of(prove(one, &composition, lowering) == TUTTI_OK ? TT_CASE_PROVEN : TT_CASE_FAILED);
  tt_lowering_destroy(lowering);
  return outcome;
}

tt_outcome tt_case_prove(const tt_case *one) {
  tt_params params;
  if (make_params(one, &params) != TUTTI_OK)
    return outcome_of(TT_CASE_INVALID);
  if (same_as_flat(one, &params))
    return (tt_outcome){.kind = TT_CASE_SAME};
  tt_arena arena;
  tt_arena_init(&arena);
  tt_outcome outcome = lower_and_prove(one, &params, &arena);
  tt_arena_finish(&arena);
  return outcome;
}

static size_t add_map(const int64_t *group_of, int64_t count, char *text, size_t size, size_t used) {
  for (int64_t r = 0; r < count && used < size; r++)
    used += (size_t)snprintf(text + used, size - used, "%" PRId64 "%s", group_of[r], r + 1 < count ? "," : ":");
  return used;
}

void tt_case_print(const tt_case *one, char text[static TT_CASE_TEXT]) {
  tt_params params;
  char words[512] = "?";
  if (make_params(one, &params) == TUTTI_OK)
    tt_params_print(&params, words, sizeof words);
  int length = snprintf(text, TT_CASE_TEXT, "%s form=%s, %" PRId64 " ranks, root %" PRId64 "%s, %s, map %s ",
                        tt_compose_info(one->collective).name, one->form, one->rank_count, one->root,
                        one->in_place ? ", in place" : "", words, one->random ? "" : map_names[one->map_at]);
  size_t used = length < TT_CASE_TEXT ? (size_t)length : TT_CASE_TEXT;
  for (int n = 0; n < one->level_count && one->random; n++)
    used = add_map(one->group_of[n], one->rank_count, text, TT_CASE_TEXT, used);
}

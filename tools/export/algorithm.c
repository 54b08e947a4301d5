/* tools/export/algorithm.c - see algorithm.h. Other libraries know flat algorithms: what the outermost level does that
 * joins more than one group counts, and inner levels are left out. */
#include "algorithm.h"

#include <string.h>

const char *export_algorithm_name(export_algorithm algorithm) {
  static const char *const names[EXPORT_ALGORITHM_COUNT] = {
      "linear",   "chain", "ring",     "segmented ring", "exchange",         "binary",       "split binary", "binomial",
      "k-nomial", "Bruck", "doubling", "Rabenseifner",   "scatter-doubling", "scatter-ring", "two steps"};
  return names[algorithm];
}

static const tt_stage_params *stage_of(const tt_params *params, const char *name) {
  const tt_stage_params *usual = NULL;
  for (int n = 0; n < params->stage_count; n++) {
    if (strcmp(params->stage[n].stage, name) == 0)
      return &params->stage[n];
    if (!params->stage[n].stage[0])
      usual = &params->stage[n];
  }
  return usual;
}

/* NULL: the star of all ranks that runs where nothing is said. */
static const tt_level_params *level_of(const tt_params *params, const char *stage, bool one_node) {
  const tt_stage_params *of = stage_of(params, stage);
  int n = of && of->level_count > 1 && one_node && strcmp(of->level[0].name, "node") == 0;
  return of && of->level_count > n ? &of->level[n] : NULL;
}

static bool is_shape(const tt_level_params *level, const char *name) {
  return strcmp(level ? tt_shape_about(level->shape)->name : "star", name) == 0;
}

/* Of a stage that goes from or to one root, or of all ranks to all. */
static export_algorithm of_tree(const tt_level_params *level, bool rooted) {
  static const struct {
    const char *shape;
    export_algorithm rooted, all;
  } rows[] = {{"star", EXPORT_LINEAR, EXPORT_LINEAR},
              {"chain", EXPORT_CHAIN, EXPORT_RING},
              {"exchange", EXPORT_CHAIN, EXPORT_EXCHANGE},
              {"ary", EXPORT_BINARY, EXPORT_BINARY},
              {"planted", EXPORT_SPLIT_BINARY, EXPORT_BINARY}};
  for (size_t n = 0; n < TT_COUNT(rows); n++)
    if (is_shape(level, rows[n].shape))
      return rooted ? rows[n].rooted : rows[n].all;
  if (rooted)
    return level->k > 2 && is_shape(level, "nomial") ? EXPORT_KNOMIAL : EXPORT_BINOMIAL;
  return level->labelling == TT_XOR ? EXPORT_DOUBLING : EXPORT_BRUCK;
}

static bool goes_around(const tt_level_params *level) {
  return is_shape(level, "star") || is_shape(level, "chain") || is_shape(level, "exchange");
}

/* Of two stages, which a form names: the last one first. */
static export_algorithm of_steps(const tt_params *params, const char *form, bool one_node, bool rooted) {
  if (strcmp(form, "allgather.reduce-scatter") == 0 || strcmp(form, "gather.reduce-scatter") == 0) {
    bool ring = goes_around(level_of(params, "reduce-scatter", one_node)) && !rooted;
    return !ring ? EXPORT_RABENSEIFNER : params->slice_bytes > 0 ? EXPORT_SEGMENTED_RING : EXPORT_RING;
  }
  if (strcmp(form, "allgather.scatter") == 0)
    return goes_around(level_of(params, "allgather", one_node)) ? EXPORT_SCATTER_RING : EXPORT_SCATTER_DOUBLING;
  return EXPORT_TWO_STEPS;
}

/* A second level, or what other libraries have no word for. */
static bool is_plain(const tt_params *params, bool one_node) {
  bool plain = params->stripe == 0 && !params->even && params->ring == 0 && params->channels == 1;
  for (int n = 0; n < params->stage_count; n++) {
    const tt_stage_params *stage = &params->stage[n];
    int used = stage->level_count - (one_node && strcmp(stage->level[0].name, "node") == 0);
    plain = plain && used <= 1;
  }
  return plain;
}

bool export_choose(const tt_winner *winner, export_choice *choice) {
  tt_params params;
  tt_collective collective = winner->region.collective;
  bool known = tt_params_parse(winner->text, &params) == TUTTI_OK;
  const char *form = known ? tt_compose_form(collective, params.form) : NULL;
  if (!form)
    return false;
  bool one_node = winner->region.node_count == 1, rooted = tt_compose_info(collective).has_root;
  const tt_level_params *level = level_of(&params, tt_compose_info(collective).name, one_node);
  bool steps = strchr(form, '.') != NULL;
  *choice = (export_choice){.plain = is_plain(&params, one_node), .slice_bytes = params.slice_bytes, .k = 2};
  choice->algorithm = steps ? of_steps(&params, form, one_node, rooted) : of_tree(level, rooted);
  if (!steps && level)
    choice->k = level->k;
  if (!steps && collective == TT_ALLREDUCE && choice->algorithm == EXPORT_RING)
    choice->plain = false; /* whole vectors go around, not blocks */
  return true;
}

/* tools/plan/text.c - short texts of `tutti plan`. */
#include "text.h"
#include "place.h"

#include <inttypes.h>
#include <stdio.h>

const char *plan_order_text(const tt_level_params *level) {
  return tt_shape_about(level->shape)->has_order ? tt_order_name(level->order) : "-";
}

void plan_level_text(const tt_level_params *level, char *text, size_t size) {
  char shape[TT_SHAPE_TEXT];
  bool ordered = tt_shape_about(level->shape)->has_order, labelled = level->labelling != TT_ROTATE;
  tt_shape_print(level, shape);
  snprintf(text, size, "%s%s%s%s%s", shape, labelled ? ", " : "", labelled ? tt_labelling_name(level->labelling) : "",
           ordered ? ", " : "", ordered ? plan_order_text(level) : "");
}

void plan_title(const plan_work *work, char *text, size_t size) {
  const tt_problem *problem = &work->options->problem;
  tt_collective_info info = tt_compose_info(problem->collective);
  int used = snprintf(text, size, "%s of %" PRId64 " rank%s", info.name, problem->rank_count,
                      problem->rank_count == 1 ? "" : "s");
  const tt_topo_level *nodes = plan_nodes(work->topo);
  if (nodes)
    used += snprintf(text + used, size - (size_t)used, " on %" PRId64 " node%s", nodes->group_count,
                     nodes->group_count == 1 ? "" : "s");
  if (info.has_root)
    used += snprintf(text + used, size - (size_t)used, ", root %" PRId64, problem->root);
  if (info.has_graph)
    used += snprintf(text + used, size - (size_t)used, ", %" PRId64 " edges", problem->graph->edge_count);
  snprintf(text + used, size - (size_t)used, "%s", problem->in_place ? ", in place" : "");
}

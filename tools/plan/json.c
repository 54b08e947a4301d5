/* tools/plan/json.c - see json.h. Of the lengths of --sizes only, in their order; times are ns.
 *
 *   {"collective": "allreduce", "ranks": 8, "nodes": 1, "root": null, "params": "ring", "form": "...", "blocks": 8,
 *    "rounds": 14, "levels": [{"name": "core", "messages": 14, "blocks": 14}], "model": "...",
 *    "sizes": [{"bytes": 65536, "predicted_ns": 21300.0}]}
 *
 * Of a level: what the busiest rank sends over it. "compiled": of so few ranks, where no few stand for all. */
#include "json.h"
#include "place.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static tutti_status no_memory(void) { return tt_fail(TUTTI_ERR_MEMORY, "no memory for JSON"); }

static json_t *level_of(const plan_work *work, uint32_t level) {
  tt_plan_counts most = {0, 0};
  for (int64_t n = 0; n < work->plan_count; n++) {
    tt_plan_counts sent = tt_plan_sent(work->plan[n], (int)level);
    most.messages = sent.messages > most.messages ? sent.messages : most.messages;
    most.blocks = sent.blocks > most.blocks ? sent.blocks : most.blocks;
  }
  return json_pack("{s:s, s:I, s:I}", "name", work->plan[0]->level[level], "messages", (json_int_t)most.messages,
                   "blocks", (json_int_t)most.blocks);
}

static json_t *levels_of(const plan_work *work) {
  json_t *list = json_array();
  for (uint32_t n = 0; n < work->plan[0]->level_count; n++)
    json_array_append_new(list, level_of(work, n));
  return list;
}

static tutti_status add_sizes(const plan_work *work, json_t *list) {
  const plan_options *options = work->options;
  for (int n = 0; n < options->size_count; n++) {
    double time_ns;
    tutti_status status = plan_work_cost(work, options->size[n], &time_ns);
    if (status != TUTTI_OK)
      return status;
    if (json_array_append_new(
            list, json_pack("{s:I, s:f}", "bytes", (json_int_t)options->size[n], "predicted_ns", time_ns)) != 0)
      return no_memory();
  }
  return TUTTI_OK;
}

/* NULL: no memory. */
static json_t *plan_of(const plan_work *work, json_t *sizes) {
  const tt_problem *problem = &work->options->problem;
  tt_collective_info info = tt_compose_info(problem->collective);
  const tt_topo_level *nodes = plan_nodes(work->topo);
  char params[512], model[PLAN_MODEL];
  tt_params_print(&work->params, params, sizeof params);
  tt_sim_model_print(&work->model, model, sizeof model);
  return json_pack("{s:s, s:I, s:I, s:o, s:s, s:s, s:I, s:I, s:o, s:s, s:O}", "collective", info.name, "ranks",
                   (json_int_t)problem->rank_count, "nodes", (json_int_t)(nodes ? nodes->group_count : 1), "root",
                   info.has_root ? json_integer(problem->root) : json_null(), "params", params, "form",
                   tt_compose_form(problem->collective, work->params.form), "blocks",
                   (json_int_t)work->composition.block_count, "rounds",
                   (json_int_t)tt_lowering_round(work->lowering, work->composition.stage_count), "levels",
                   levels_of(work), "model", model, "sizes", sizes);
}

tutti_status plan_json_print(const plan_work *work) {
  json_t *sizes = json_array();
  tutti_status status = sizes ? add_sizes(work, sizes) : no_memory();
  json_t *plan = status == TUTTI_OK ? plan_of(work, sizes) : NULL;
  if (plan && !plan_work_is_whole(work) && !work->large.found)
    json_object_set_new(plan, "compiled", json_integer(work->plan_count));
  char *text = plan ? json_dumps(plan, JSON_INDENT(1) | JSON_PRESERVE_ORDER) : NULL;
  if (text)
    puts(text);
  else if (status == TUTTI_OK)
    status = no_memory();
  free(text);
  json_decref(plan);
  json_decref(sizes);
  return status;
}

/* tests/conformance/choose.h - which call comes next: a random one of the tables' rows and of values that are likely to
 * be special. Ranks that draw from equal seeds draw the same. */
#ifndef TEST_CONFORMANCE_CHOOSE_H
#define TEST_CONFORMANCE_CHOOSE_H

#include "api/api.h"
#include "conformance/call.h"

/* Added to presets; the ring needs two ranks. */
static const char *const choose_extra[] = {"", " channels=2 slice=4K", " stripe=2", " channels=3 stripe=3"};

static inline size_t choose_index(tt_random *random, size_t count) {
  return (size_t)tt_random_below(random, (uint64_t)count);
}

/* A preset with more text, and in a form of the collective where it does not name its own. */
static inline void choose_params(tt_random *random, call *made) {
  size_t presets;
  const tt_preset *preset = tt_preset_table(&presets);
  size_t which = choose_index(random, presets + 2);
  tt_collective_info info = tt_compose_info(made->collective);
  const char *text = which < presets ? preset[which].name : "[core:chain] ring=2";
  bool has_form = which < presets && strstr(preset[which].text, "form=");
  snprintf(made->params, sizeof made->params, "%s%s%s%s", text,
           choose_extra[choose_index(random, TT_COUNT(choose_extra))],
           has_form ? "" : " form=", has_form ? "" : info.form[choose_index(random, (size_t)info.form_count)]);
  if (which > presets)
    made->params[0] = '\0';
}

/* Whether its parameters make a plan: a preset may ask for a form that the collective has not, for more ranks than
 * there are, for another order of operands, or for ranks that pass on blocks whose length they do not know. */
static inline bool choose_valid(const call *of, tutti_comm *comm, tutti_graph *const *graph) {
  tt_params params;
  tt_composition made;
  tt_lowering *lowering = NULL;
  tt_collective_info info = tt_compose_info(of->collective);
  const tt_problem problem = {.collective = of->collective,
                              .rank_count = comm->size,
                              .root = of->root,
                              .ordered = info.reduces && call_is_ordered(of),
                              .graph = info.has_graph ? &graph[of->graph]->all : NULL};
  if (!*of->params)
    return true;
  bool valid = tt_agree_prepare(comm) == TUTTI_OK && tt_params_parse(of->params, &params) == TUTTI_OK &&
               tt_compose(&problem, params.form, &made) == TUTTI_OK &&
               tt_lowering_create(&made, comm->topo, &params, &lowering) == TUTTI_OK &&
               (info.lengths == TT_LENGTHS_ALL || !tt_lowering_relays(lowering));
  tt_lowering_destroy(lowering);
  return valid;
}

static inline int64_t choose_count(tt_random *random, int64_t size, int64_t most) {
  const int64_t counts[] = {0, 1, size - 1, size, 17, 1000, 65537};
  int64_t count = counts[tt_random_below(random, TT_COUNT(counts))];
  return count < most ? count : most;
}

/* An operator and a type that fit. */
static inline void choose_kind(tt_random *random, call *made) {
  do {
    made->type = (tutti_type)tt_random_below(random, CALL_TYPE_COUNT);
    made->op = (tutti_op)tt_random_below(random, CALL_OP_COUNT);
    if (made->type >= TUTTI_TYPE_COUNT && call_reduces(made->collective))
      made->op = made->type == CALL_MATRIX ? CALL_PRODUCT : CALL_LARGEST;
  } while (call_reduces(made->collective) ? !call_op_fits(made->op, made->type) : made->op >= TUTTI_OP_COUNT);
  if (!call_reduces(made->collective) || made->collective == TT_BARRIER)
    made->op = TUTTI_SUM;
}

/* most: of a call's elements, 8 bytes each. */
static inline call choose_call(tt_random *random, int64_t size, int64_t most) {
  call made = {.collective = (tt_collective)tt_random_below(random, TT_COLLECTIVE_COUNT),
               .root = (int64_t)tt_random_below(random, (uint64_t)size),
               .seed = tt_random_next(random),
               .graph = (int)tt_random_below(random, CALL_GRAPHS),
               .mode = (call_mode)tt_random_below(random, CALL_MODE_COUNT),
               .places = (call_places)tt_random_below(random, CALL_PLACES_COUNT)};
  call_row row = call_row_of(made.collective);
  choose_kind(random, &made);
  size_t bytes = row.types || made.type >= TUTTI_TYPE_COUNT ? 16 : tutti_type_size(made.type);
  made.count = choose_count(random, size, most * 8 / (int64_t)bytes / (row.lists || row.out == CALL_FROM ? 4 : 1));
  if (!tt_compose_info(made.collective).has_root)
    made.root = 0;
  choose_params(random, &made);
  return made;
}

#endif

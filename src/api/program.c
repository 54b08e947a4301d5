/* api/program.c - a user's composition compiled: this rank's plan for requests, all ranks' plans for the proof and the
 * picture. */
#include "api/composition.h"
#include "draw/draw.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A composition on its way to plans. */
typedef struct program {
  const tutti_composition *of;
  tt_arena arena;
  tt_composition composition;
  tt_params params;
  tt_lowering *lowering;
  tt_plan **plan; /* of every rank; NULL where only one was asked for */
} program;

/* What the user made, with every reduction in rank order where `ordered`; in the arena. */
static tutti_status take(const tutti_composition *of, bool ordered, tt_arena *arena, tt_composition *composition) {
  *composition = of->made;
  for (int s = 0; s < composition->stage_count && ordered; s++) {
    tt_stage *stage = &composition->stage[s];
    tt_family *family = tt_arena_alloc(arena, (size_t)stage->family_count, sizeof *family);
    if (arena->failed)
      return tt_fail(TUTTI_ERR_MEMORY, "no memory for a composition");
    for (int n = 0; n < stage->family_count; n++) {
      family[n] = stage->list[n];
      family[n].ordered = family[n].primitive == TT_REDUCTION;
    }
    stage->list = family;
  }
  return TUTTI_OK;
}

bool tt_composition_is_ordered(const tutti_composition *of, tutti_op op) {
  const tt_user_op *user = tt_context_user_op(of->comm->context, (int32_t)op);
  return of->reduces && user && !user->commutes;
}

static const char *text_of(const tutti_composition *of) { return of->params ? of->params : "linear"; }

static void finish(program *made) {
  for (int64_t r = 0; made->plan && r < made->composition.rank_count; r++)
    tt_plan_destroy(made->plan[r]);
  free(made->plan);
  tt_lowering_destroy(made->lowering);
  tt_arena_finish(&made->arena);
}

static bool has_stage(const tt_composition *composition, const char *name) {
  for (int n = 0; n < composition->stage_count; n++)
    if (strcmp(composition->stage[n].name, name) == 0)
      return true;
  return false;
}

/* Whether parameters speak of stages that there are. */
static tutti_status check_stages(const program *made) {
  for (int n = 0; n < made->params.stage_count; n++)
    if (*made->params.stage[n].stage && !has_stage(&made->composition, made->params.stage[n].stage))
      return tt_fail(TUTTI_ERR_PLAN, "the composition has no stage '%s'", made->params.stage[n].stage);
  return TUTTI_OK;
}

static tutti_status begin(const tutti_composition *of, bool ordered, program *made) {
  *made = (program){.of = of};
  tt_arena_init(&made->arena);
  if (of->made.stage_count == 0)
    return tt_fail(TUTTI_ERR_PLAN, "the composition has no stage");
  tutti_status status = take(of, ordered, &made->arena, &made->composition);
  if (status == TUTTI_OK)
    status = tt_params_parse(text_of(of), &made->params);
  if (status == TUTTI_OK)
    status = check_stages(made);
  return status == TUTTI_OK ? tt_lowering_create(&made->composition, of->comm->topo, &made->params, &made->lowering)
                            : status;
}

static tutti_status lower_all(program *made) {
  int64_t ranks = made->composition.rank_count;
  assert(!made->plan);
  made->plan = calloc((size_t)ranks, sizeof(tt_plan *));
  tutti_status status =
      made->plan ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for the plans of %" PRId64 " ranks", ranks);
  for (int64_t r = 0; r < ranks && status == TUTTI_OK; r++)
    status = tt_lower_rank(made->lowering, r, &made->plan[r]);
  return status;
}

static tutti_status prove(program *made) {
  tt_meaning meaning;
  tutti_status status = tt_verify_primitives(&made->composition, &made->arena, &meaning);
  return status == TUTTI_OK ? tt_prove(made->of->comm, &meaning, made->lowering, made->params.acc_float32) : status;
}

/* ---- this rank's plan ---- */

static uint64_t hash_of(const program *made) {
  const char *params = text_of(made->of);
  return tt_hash(tt_ir_hash(&made->composition), params, strlen(params));
}

/* Whether its primitives make sense together: found from the composition alone, so on all ranks alike. */
static tutti_status check_sense(program *made) {
  tt_meaning meaning;
  return tt_verify_primitives(&made->composition, &made->arena, &meaning);
}

static tutti_status compile(program *made, tt_entry *entry) {
  tutti_status status = tt_options_get()->verify ? prove(made) : check_sense(made);
  if (status == TUTTI_OK)
    status = tt_lower_rank(made->lowering, made->of->comm->rank, &entry->plan);
  entry->hash = hash_of(made);
  entry->channels = made->params.channels;
  entry->wide = made->params.acc_float32;
  entry->single_copy = made->params.single_copy;
  entry->runs = tt_comm_keep_text(made->of->comm, text_of(made->of));
  if (made->arena.failed || !entry->runs)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a composition");
  return status;
}

tutti_status tt_composition_entry(tutti_composition *of, bool ordered, tt_entry **entry) {
  *entry = of->entry[ordered];
  assert(!*entry || (*entry)->plan);
  if (*entry)
    return TUTTI_OK;
  tt_entry *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a plan");
  made->by_class = made->own;
  program whole;
  tutti_status status = begin(of, ordered, &whole);
  if (status == TUTTI_OK)
    status = compile(&whole, made);
  finish(&whole);
  if (status == TUTTI_OK)
    *entry = of->entry[ordered] = made;
  else
    tt_entry_destroy(made);
  return status;
}

/* ---- for people ---- */

static tutti_status no_composition(const char *function, const void *composition) {
  return tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s is NULL", function, composition ? "the result" : "composition");
}

tutti_status tutti_composition_verify(tutti_composition *composition, tutti_op op) {
  if (!composition)
    return no_composition("tutti_composition_verify", composition);
  TT_HOLD(composition->comm->context); /* other threads may make operators */
  const tt_user_op *user = tt_context_user_op(composition->comm->context, (int32_t)op);
  if (composition->reduces && !user && ((int32_t)op < 0 || op >= TUTTI_OP_COUNT))
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_composition_verify: op is %d", (int)op);
  program made;
  tutti_status status = begin(composition, tt_composition_is_ordered(composition, op), &made);
  if (status == TUTTI_OK)
    status = prove(&made);
  finish(&made);
  return status;
}

tutti_status tutti_composition_print(tutti_composition *composition, char **text) {
  if (!composition || !text)
    return no_composition("tutti_composition_print", composition);
  program made;
  tt_entry *entry;
  tutti_status status = begin(composition, false, &made);
  if (status == TUTTI_OK)
    status = tt_composition_entry(composition, false, &entry);
  if (status == TUTTI_OK) {
    char *what = tt_ir_print(&made.composition, &made.arena), *plan = tt_plan_print(entry->plan);
    bool there = what && plan && asprintf(text, "%s\n%s", what, plan) >= 0;
    free(plan);
    status = there ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "tutti_composition_print: no memory");
  }
  finish(&made);
  return status;
}

static tutti_status draw(program *made, FILE *to) {
  assert(made->plan[0]->part_count > 0 && made->composition.stage_count <= TT_STAGES);
  char params[512];
  tt_draw_stage stages[TT_STAGES];
  tt_params_print(&made->params, params, sizeof params);
  for (int s = 0; s < made->composition.stage_count; s++)
    stages[s] = (tt_draw_stage){made->composition.stage[s].name, tt_lowering_round(made->lowering, s)};
  tt_draw_picture picture = {.plan = (const tt_plan *const *)made->plan,
                             .topo = made->of->comm->topo,
                             .unit_blocks = made->plan[0]->part_count,
                             .unit_text = "one block",
                             .title = "a composition",
                             .subtitle = params,
                             .stage = stages,
                             .stage_count = made->composition.stage_count};
  return tt_draw_svg(&picture, to);
}

static tutti_status draw_to_memory(program *made, char **svg) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  tutti_status status = to ? draw(made, to) : TUTTI_OK;
  bool written = to && fclose(to) == 0;
  if (status == TUTTI_OK && !written)
    status = tt_fail(TUTTI_ERR_MEMORY, "tutti_composition_draw: no memory");
  if (status == TUTTI_OK)
    *svg = text;
  else
    free(text);
  return status;
}

tutti_status tutti_composition_draw(tutti_composition *composition, char **svg) {
  if (!composition || !svg)
    return no_composition("tutti_composition_draw", composition);
  program made;
  tutti_status status = begin(composition, false, &made);
  if (status == TUTTI_OK && made.composition.rank_count <= TT_DRAW_RANKS)
    status = lower_all(&made);
  else if (status == TUTTI_OK)
    status = tt_fail(TUTTI_ERR_UNSUPPORTED,
                     "tutti_composition_draw: %" PRId64 " ranks are too many to draw; the limit is %d",
                     made.composition.rank_count, TT_DRAW_RANKS);
  if (status == TUTTI_OK)
    status = draw_to_memory(&made, svg);
  finish(&made);
  return status;
}

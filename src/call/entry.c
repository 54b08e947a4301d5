/* call/entry.c - from a kind of call to a compiled plan: choose parameters, compose, lower, prove. The communicator
 * keeps what runs the plan, its team the plan: the next communicator of the same ranks compiles nothing. */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- choice ---- */

tt_region tt_comm_region(const tutti_comm *comm, tt_collective collective, int64_t bytes) {
  const tutti_context *context = comm->context;
  return tt_region_of(comm->topo, collective, bytes, context->machine.nic_count, context->machine.l2_bytes,
                      context->machine.core_count);
}

/* Rank 0's wisdom for this shape, where there is any: without it this rank would not choose as the others do. */
static tutti_status make_dispatch(const tutti_comm *comm, const tt_entry_key *key) {
  tt_team *team = comm->team;
  if (team->dispatch || !comm->context->wisdom || comm->calls.creates)
    return TUTTI_OK;
  team->dispatch = malloc(sizeof *team->dispatch);
  if (!team->dispatch)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom");
  tt_region shape = tt_comm_region(comm, key->collective, 0);
  tt_dispatch_make(comm->context->wisdom, &shape, team->dispatch);
  return TUTTI_OK;
}

static bool is_same(const tt_choice_kept *last, const tt_entry_key *key, int64_t bytes) {
  return last->choice.text && last->collective == key->collective && last->bytes == bytes &&
         last->ordered == key->ordered;
}

/* The making of communicators does not depend on what the user sets. What the user has not decided is the same for all
 * communicators of a team. */
static tt_choice choose(const tutti_comm *comm, const tt_entry_key *key, int64_t bytes) {
  if (comm->calls.creates)
    return tt_choose_fallback();
  tt_authorities of = {.set = comm->calls.params[key->collective],
                       .params = tt_options_get()->choice.params,
                       .wisdom = comm->context->wisdom,
                       .dispatch = comm->team->dispatch,
                       .profile = comm->context->profile};
  tt_choice_kept *last = of.set || *of.params ? NULL : &comm->team->last_choice;
  if (last && is_same(last, key, bytes))
    return last->choice;
  tt_region region = tt_comm_region(comm, key->collective, bytes);
  tt_choice choice = tt_choose(&of, &region, key->ordered);
  if (last)
    *last = (tt_choice_kept){bytes, key->collective, key->ordered, choice};
  return choice;
}

uint64_t tt_entry_hash(const tutti_comm *comm, const tt_entry_key *key, int64_t bytes) {
  const char *text = choose(comm, key, bytes).text;
  return tt_hash(0, text, strlen(text));
}

/* ---- texts of parameters, which live as long as their communicator ---- */

struct tt_params_text {
  tt_params_text *next;
  char text[];
};

const char *tt_comm_keep_text(tutti_comm *comm, const char *text) {
  for (tt_params_text *n = comm->calls.texts; n; n = n->next)
    if (strcmp(n->text, text) == 0)
      return n->text;
  tt_params_text *made = malloc(sizeof *made + strlen(text) + 1);
  if (!made)
    return NULL;
  strcpy(made->text, text);
  made->next = comm->calls.texts;
  comm->calls.texts = made;
  return made->text;
}

void tt_comm_free_texts(tutti_comm *comm) {
  for (tt_params_text *n = comm->calls.texts, *next; n; n = next) {
    next = n->next;
    free(n);
  }
}

/* ---- compiling ---- */

static const tt_graph *graph_of(const tt_compiled *of) { return of->key.graph ? &of->key.graph->all : NULL; }

/* Made once for each level, and kept as long as the team. NULL: blocks are not dealt. */
static tutti_status find_owners(tutti_comm *comm, const tt_params *params, const tt_owners **owners) {
  const tt_topo_level *level = params->even ? tt_lower_outermost(params, comm->topo) : NULL;
  *owners = NULL;
  if (!level || !level->group_of)
    return TUTTI_OK;
  tt_owners *made = &comm->team->owners[level - comm->topo->level];
  assert(level - comm->topo->level < comm->topo->level_count);
  tutti_status status = TUTTI_OK;
  if (made->block_count == 0)
    status = tt_compose_owners(level->group_of, level->group_count, comm->size, &comm->team->arena, made);
  *owners = made;
  return status;
}

static tutti_status compose(tutti_comm *comm, tt_compiled *of, const tt_params *params) {
  const tt_owners *owners;
  tutti_status status = find_owners(comm, params, &owners);
  if (status != TUTTI_OK)
    return status;
  const tt_problem problem = {.collective = of->key.collective,
                              .rank_count = comm->size,
                              .root = of->key.root,
                              .in_place = of->key.in_place,
                              .ordered = of->key.ordered,
                              .graph = graph_of(of),
                              .owners = owners};
  return tt_compose(&problem, params->form, &of->composition);
}

/* What the plans have to do, from the collective's definition. */
static tutti_status find_meaning(const tutti_comm *comm, const tt_compiled *of, const tt_params *params,
                                 tt_question *question, tt_meaning *meaning) {
  const tt_graph *graph = graph_of(of);
  *question = (tt_question){.collective = tt_compose_info(of->key.collective).name,
                            .rank_count = comm->size,
                            .block_count = of->composition.block_count,
                            .root = of->key.root,
                            .in_place = of->key.in_place,
                            .ordered = of->key.ordered,
                            .reproducible = params->reproducible,
                            .edge_count = graph ? graph->edge_count : 0,
                            .from = graph ? graph->from : NULL,
                            .to = graph ? graph->to : NULL};
  return tt_verify_meaning(question, meaning);
}

static tutti_status prove(const tutti_comm *comm, const tt_compiled *of, const tt_params *params,
                          const tt_lowering *lowering) {
  tt_question question;
  tt_meaning meaning;
  tutti_status status = find_meaning(comm, of, params, &question, &meaning);
  return status == TUTTI_OK ? tt_prove(comm, &meaning, lowering, params->acc_float32) : status;
}

/* A rank that passes a block on has to know how long it is. */
static tutti_status check_lengths(const tt_compiled *of, const tt_lowering *lowering, const char *text) {
  if (tt_task_knows_lengths(of->key.collective, lowering))
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_PLAN,
                 "%s with parameters '%s': ranks would pass on blocks whose length they do not know; blocks must go "
                 "directly, as with '%s'",
                 tt_compose_info(of->key.collective).name, text, tt_choose_fallback().text);
}

static tutti_status compile(tutti_comm *comm, tt_compiled *of, const char *text) {
  tt_params params;
  tt_lowering *lowering = NULL;
  tutti_status status = tt_params_parse(text, &params);
  of->runs = text;
  if (status == TUTTI_OK) {
    of->channels = params.channels;
    of->wide = params.acc_float32;
    of->single_copy = params.single_copy;
    status = compose(comm, of, &params);
  }
  if (status == TUTTI_OK)
    status = tt_lowering_create(&of->composition, comm->topo, &params, &lowering);
  if (status == TUTTI_OK)
    status = check_lengths(of, lowering, text);
  if (status == TUTTI_OK && tt_options_get()->verify) {
    status = prove(comm, of, &params, lowering);
    of->refuted = status != TUTTI_OK;
  }
  if (status == TUTTI_OK)
    status = tt_lower_rank(lowering, comm->rank, &of->plan);
  tt_lowering_destroy(lowering);
  return status;
}

static tutti_status make_compiled(tutti_comm *comm, const tt_entry_key *key, const tt_choice *choice,
                                  tt_compiled **compiled) {
  tt_compiled *made = calloc(1, sizeof *made);
  if (!made || !(made->text = strdup(choice->text))) {
    tt_compiled_destroy(made);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a plan");
  }
  made->key = *key;
  tutti_status status = compile(comm, made, made->text);
  bool passed = status == TUTTI_ERR_PLAN && !made->refuted; /* it does not know of this call: on no rank */
  if (passed && !tt_authority_insists(choice->by)) {
    tt_plan_destroy(made->plan);
    made->plan = NULL;
    status = compile(comm, made, tt_choose_fallback().text);
  }
  if (status == TUTTI_OK)
    *compiled = made;
  else
    tt_compiled_destroy(made);
  return status;
}

/* ---- entries ---- */

/* Those that the next communicator may have. */
static void keep_executors(tt_entry *entry) {
  tt_compiled *compiled = entry->compiled;
  for (int n = 0; compiled && n < TT_CLASS_COUNT; n++)
    if (entry->executor[n] && !compiled->spare[n] && entry->executor[n]->ops->may_move(entry->executor[n])) {
      compiled->spare[n] = entry->executor[n];
      entry->executor[n] = NULL;
    }
}

static void drop_compiled(tt_compiled *compiled) {
  assert(compiled->uses > 0);
  compiled->uses--;
  if (compiled->key.graph)
    tt_compiled_destroy(compiled);
}

void tt_entry_destroy(tt_entry *entry) {
  if (!entry)
    return;
  keep_executors(entry);
  tt_executors_destroy(entry->executor);
  if (entry->compiled)
    drop_compiled(entry->compiled);
  else {
    tt_bound_plans_destroy(entry->own);
    tt_plan_destroy(entry->plan);
  }
  free(entry);
}

static void take_compiled(tt_entry *entry, tt_compiled *compiled) {
  assert(compiled->plan && compiled->uses > 0);
  entry->compiled = compiled;
  entry->composition = &compiled->composition;
  entry->plan = compiled->plan;
  entry->by_class = compiled->by_class;
  entry->hash = tt_hash(0, compiled->text, strlen(compiled->text));
  entry->channels = compiled->channels;
  entry->wide = compiled->wide;
  entry->single_copy = compiled->single_copy;
}

/* The team's, or one that is made now. */
static tutti_status get_compiled(tutti_comm *comm, const tt_entry_key *key, const tt_choice *choice,
                                 tt_compiled **compiled) {
  *compiled = tt_team_find(comm->team, key, choice->text, tt_authority_insists(choice->by));
  if (*compiled)
    return TUTTI_OK;
  tutti_status status = make_compiled(comm, key, choice, compiled);
  if (status == TUTTI_OK)
    tt_team_keep(comm->team, *compiled);
  return status;
}

static tutti_status create(tutti_comm *comm, const tt_entry_key *key, const tt_choice *choice, tt_entry **entry) {
  tt_compiled *compiled;
  tutti_status status = get_compiled(comm, key, choice, &compiled);
  if (status != TUTTI_OK)
    return status;
  compiled->uses++;
  tt_entry *made = calloc(1, sizeof *made);
  if (!made || !(made->runs = tt_comm_keep_text(comm, compiled->runs))) {
    drop_compiled(compiled);
    free(made);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a plan");
  }
  made->key = *key;
  take_compiled(made, compiled);
  made->next = comm->calls.entries;
  comm->calls.entries = made;
  *entry = made;
  return TUTTI_OK;
}

static bool same_key(const tt_entry_key *a, const tt_entry_key *b) {
  return a->collective == b->collective && a->root == b->root && a->in_place == b->in_place &&
         a->ordered == b->ordered && a->graph == b->graph;
}

/* Whose parameters somebody insists on runs nothing else. */
static bool fits(const tt_entry *entry, const tt_entry_key *key, const tt_choice *choice) {
  return same_key(&entry->key, key) && strcmp(entry->compiled->text, choice->text) == 0 &&
         (!tt_authority_insists(choice->by) || strcmp(entry->runs, choice->text) == 0);
}

static tt_entry *find(const tutti_comm *comm, const tt_entry_key *key, const tt_choice *choice) {
  tt_entry *entry = comm->calls.entries;
  while (entry && !fits(entry, key, choice))
    entry = entry->next;
  return entry;
}

tutti_status tt_entry_find(tutti_comm *comm, const tt_entry_key *key, int64_t bytes, tt_entry **entry,
                           tt_decision *decision) {
  assert(!comm->side.main); /* those borrow their plans */
  tutti_status status = make_dispatch(comm, key);
  if (status != TUTTI_OK)
    return status;
  const tt_choice choice = choose(comm, key, bytes);
  tt_entry *found = find(comm, key, &choice);
  status = found ? TUTTI_OK : create(comm, key, &choice, &found);
  if (status != TUTTI_OK)
    return status;
  bool passed_over = found->compiled->runs != found->compiled->text;
  *decision = (tt_decision){.source = choice.source, .by = choice.by, .passed_over = passed_over};
  *entry = found;
  return TUTTI_OK;
}

void tt_entry_forget(tutti_comm *comm, const tutti_graph *graph) {
  for (tt_entry **at = &comm->calls.entries; *at;) {
    tt_entry *entry = *at;
    if (graph && entry->key.graph != graph) {
      at = &entry->next;
      continue;
    }
    *at = entry->next;
    tt_entry_destroy(entry);
  }
}

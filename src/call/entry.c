/* call/entry.c - from a kind of call to a compiled plan: choose parameters, compose, lower, prove. The communicator
 * keeps what runs the plan, its team the plan: the next communicator of the same ranks compiles nothing. */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- choice ---- */

/* What fits every call: each rank sends what it has to who needs it. */
static const char fallback[] = "linear";

static const tt_topo_level *nodes_of(const tutti_comm *comm) {
  const tt_topo_level *level = comm->topo->level;
  while (level->group_of && strcmp(level->name, "node") != 0)
    level++;
  return level;
}

tt_region tt_comm_region(const tutti_comm *comm, tt_collective collective, int64_t bytes) {
  const tt_topo_level *nodes = nodes_of(comm);
  return (tt_region){.collective = collective,
                     .bytes = bytes,
                     .rank_count = comm->size,
                     .node_count = nodes->group_count,
                     .ranks_per_node = nodes->most,
                     .nic_count = comm->context->machine.nic_count};
}

/* Rank 0's wisdom, where something like it was measured. The operand order that a call needs was not asked for then. */
static const char *choose_winner(const tutti_comm *comm, const tt_region *region, bool ordered) {
  const tt_wisdom *wisdom = comm->context->wisdom;
  if (!wisdom || ordered)
    return NULL;
  if (!comm->team->dispatch) {
    comm->team->dispatch = tt_arena_alloc(&comm->team->arena, 1, sizeof *comm->team->dispatch);
    if (!comm->team->dispatch)
      return NULL;
    tt_dispatch_make(wisdom, region, comm->team->dispatch);
  }
  const tt_winner *winner = tt_dispatch_find(comm->team->dispatch, wisdom, region->collective, region->bytes);
  return winner ? winner->text : NULL;
}

/* What was measured, or the profile's rule: the same for all communicators of a team. */
static const char *choose_shared(const tutti_comm *comm, tt_collective collective, int64_t bytes, bool ordered) {
  tt_choice *last = &comm->team->last_choice;
  if (last->text && last->collective == collective && last->bytes == bytes && last->ordered == ordered)
    return last->text;
  tt_region region = tt_comm_region(comm, collective, bytes);
  const char *text = choose_winner(comm, &region, ordered);
  const tt_rule *rule = text ? NULL : tt_profile_find(comm->context->profile, &region);
  *last = (tt_choice){collective, bytes, ordered, text ? text : rule ? rule->text : fallback};
  return last->text;
}

/* Parameters of a call: what the user set for the communicator, TUTTI_PARAMS, wisdom, the profile; else the star. The
 * making of communicators does not depend on what the user sets. Where not all ranks know how many bytes there are,
 * only rules for any number of bytes apply. *own: the user said so. */
static const char *choose(const tutti_comm *comm, const tt_entry_key *key, int64_t bytes, bool *own) {
  *own = false;
  if (comm->calls.creates)
    return fallback;
  *own = true;
  if (comm->calls.params[key->collective])
    return comm->calls.params[key->collective];
  if (*tt_options_get()->choice.params)
    return tt_options_get()->choice.params;
  *own = false;
  bool known = tt_compose_info(key->collective).lengths == TT_LENGTHS_ALL;
  return choose_shared(comm, key->collective, known ? bytes : INT64_MAX, key->ordered);
}

uint64_t tt_entry_hash(const tutti_comm *comm, const tt_entry_key *key, int64_t bytes) {
  bool own;
  const char *text = choose(comm, key, bytes, &own);
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
  tt_collective_info info = tt_compose_info(of->key.collective);
  if (info.lengths == TT_LENGTHS_ALL || !tt_lowering_relays(lowering))
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_PLAN,
                 "%s with parameters '%s': ranks would pass on blocks whose length they do not know; blocks must go "
                 "directly, as with '%s'",
                 info.name, text, fallback);
}

static tutti_status compile(tutti_comm *comm, tt_compiled *of, const char *text) {
  tt_params params;
  tt_lowering *lowering = NULL;
  tutti_status status = tt_params_parse(text, &params);
  of->runs = text;
  if (status == TUTTI_OK) {
    of->wide = params.acc_float32;
    of->single_copy = params.single_copy;
    status = compose(comm, of, &params);
  }
  if (status == TUTTI_OK)
    status = tt_lowering_create(&of->composition, comm->topo, &params, &lowering);
  if (status == TUTTI_OK)
    status = check_lengths(of, lowering, text);
  if (status == TUTTI_OK && tt_options_get()->verify)
    status = prove(comm, of, &params, lowering);
  if (status == TUTTI_OK)
    status = tt_lower_rank(lowering, comm->rank, &of->plan);
  tt_lowering_destroy(lowering);
  return status;
}

static tutti_status make_compiled(tutti_comm *comm, const tt_entry_key *key, const char *text, bool own,
                                  tt_compiled **compiled) {
  tt_compiled *made = calloc(1, sizeof *made);
  if (!made || !(made->text = strdup(text))) {
    tt_compiled_destroy(made);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a plan");
  }
  made->key = *key;
  tutti_status status = compile(comm, made, made->text);
  if (status == TUTTI_ERR_PLAN && !own) { /* a rule that does not know of this call's order: on no rank */
    tt_plan_destroy(made->plan);
    made->plan = NULL;
    status = compile(comm, made, fallback);
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
  entry->wide = compiled->wide;
  entry->single_copy = compiled->single_copy;
}

/* The team's, or one that is made now. */
static tutti_status get_compiled(tutti_comm *comm, const tt_entry_key *key, const char *text, bool own,
                                 tt_compiled **compiled) {
  *compiled = tt_team_find(comm->team, key, text, own);
  if (*compiled)
    return TUTTI_OK;
  tutti_status status = make_compiled(comm, key, text, own, compiled);
  if (status == TUTTI_OK)
    tt_team_keep(comm->team, *compiled);
  return status;
}

static tutti_status create(tutti_comm *comm, const tt_entry_key *key, const char *text, bool own, tt_entry **entry) {
  tt_compiled *compiled;
  tutti_status status = get_compiled(comm, key, text, own, &compiled);
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

tutti_status tt_entry_find(tutti_comm *comm, const tt_entry_key *key, int64_t bytes, tt_entry **entry) {
  bool own;
  assert(!comm->side.main); /* those borrow their plans */
  const char *text = choose(comm, key, bytes, &own);
  for (tt_entry *n = comm->calls.entries; n; n = n->next)
    if (same_key(&n->key, key) && strcmp(n->compiled->text, text) == 0) {
      *entry = n;
      return TUTTI_OK;
    }
  return create(comm, key, text, own, entry);
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

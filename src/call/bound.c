/* call/bound.c - a call with its plan, its block table and its key. recall.c keeps it for when it is made again. */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static int64_t vector_count(const tutti_comm *comm, const tt_call *call) {
  return tt_compose_vector(call->collective, call->count, comm->size);
}

static int64_t vector_bytes(const tutti_comm *comm, const tt_call *call) {
  return vector_count(comm, call) * tt_context_type_bytes(comm->context, call->type);
}

tt_entry_key tt_bound_entry_key(const tutti_comm *comm, const tt_call *call) {
  const tt_user_op *op = tt_context_user_op(comm->context, call->op);
  return (tt_entry_key){.collective = call->collective,
                        .root = call->root,
                        .in_place = call->in_place && !tt_call_copies(call),
                        .ordered = tt_compose_info(call->collective).reduces && op && !op->commutes,
                        .graph = call->lists ? call->lists->graph : NULL};
}

/* What all ranks must agree on. In place is no part of it: it changes nothing that another rank sees. */
void tt_bound_say(const tutti_comm *comm, tt_bound *bound, uint64_t params) {
  tt_record *said = &bound->said;
  const uint64_t facts[] = {comm->id,
                            (uint64_t)said->collective,
                            (uint64_t)tt_said_type_key(said->type),
                            (uint64_t)said->op,
                            (uint64_t)said->root,
                            (uint64_t)said->count,
                            params,
                            said->lists,
                            (uint64_t)bound->run.element_bytes};
  said->params = params;
  said->key = tt_hash(1, facts, sizeof facts);
}

/* What the call is; the plan and the table are missing. */
tt_bound tt_bound_begin(const tutti_comm *comm, const tt_call *call, const tt_places *places) {
  bool user_type = tt_type_is_user(call->type);
  assert(call->count >= 0 && call->root >= 0 && call->root < comm->size); /* tt_call_check */
  int32_t said_type = tt_context_said_type(comm->context, call->type);
  return (tt_bound){.said = {.count = call->count,
                             .root = (int32_t)call->root,
                             .collective = (int32_t)call->collective,
                             .type = said_type,
                             .op = tt_context_said_op(comm->context, call->op)},
                    .count = call->count,
                    .type = call->type,
                    .op = call->op,
                    .in_place = call->in_place,
                    .copies = call->in_place && tt_call_copies(call),
                    .places = *places,
                    .run = {.moves_only = !tt_compose_info(call->collective).reduces,
                            .type = user_type ? TUTTI_BYTE : (tutti_type)tt_said_type_key(said_type),
                            .op = (tutti_op)call->op,
                            .element_bytes = user_type ? tt_context_type_bytes(comm->context, call->type) : 0,
                            .user_op = tt_context_user_op(comm->context, call->op),
                            .shape = ++comm->context->last_shape}};
}

/* ---- plain calls ---- */

static tt_block_table plain_table(const tutti_comm *comm, const tt_call *call, const tt_composition *composition) {
  bool square = composition->layout[TT_IN] == TT_LAYOUT_ROW;
  assert(!square || composition->block_count == comm->size * comm->size);
  return (tt_block_table){.kind = square ? TT_TABLE_SQUARE : TT_TABLE_SPLIT,
                          .block_count = composition->block_count,
                          .total = vector_count(comm, call),
                          .each = square ? call->count : 0};
}

static int64_t refer_least(const tutti_comm *comm) {
  size_t least = comm->ops->refer_least ? comm->ops->refer_least(comm->transport) : 0;
  return least < INT64_MAX ? (int64_t)least : 0;
}

tt_bind_facts tt_bound_facts(const tutti_comm *comm, tt_class class, bool wide) {
  const tt_team *team = comm->side.main ? comm->side.main->team : comm->team;
  bool lends = comm->ops->refer && comm->ops->unreleased;
  return (tt_bind_facts){.blocks = class,
                         .able = lends ? tt_medium_able(comm->context->medium) : 0,
                         .wide = wide && class == TT_CLASS_STREAMS,
                         .machine = team->machine};
}

/* The entry's plan for blocks of that class. */
static tutti_status get_plan(const tutti_comm *comm, const tt_entry *entry, tt_class class,
                             const tt_bound_plan **plan) {
  tt_bind_facts facts = tt_bound_facts(comm, class, entry->wide);
  tutti_status status = entry->by_class[class] ? TUTTI_OK : tt_bind(entry->plan, &facts, &entry->by_class[class]);
  *plan = entry->by_class[class];
  return status;
}

/* The one that another communicator of the team has left, or a new one. */
static tutti_status make_executor(const tutti_comm *comm, tt_entry *entry, tt_class class) {
  assert(!entry->executor[class]);
  tt_executor **spare = entry->compiled ? &entry->compiled->spare[class] : NULL;
  const tt_bound_plan *plan;
  if (!spare || !*spare) {
    tutti_status status = get_plan(comm, entry, class, &plan);
    return status == TUTTI_OK ? tt_executor_create(plan, comm->streams, &entry->executor[class]) : status;
  }
  tutti_status status = (*spare)->ops->move(*spare, comm->streams);
  if (status != TUTTI_OK)
    return status;
  entry->executor[class] = *spare;
  *spare = NULL;
  return TUTTI_OK;
}

/* An executor for the entry's plan, made when first needed. */
tutti_status tt_bound_make_executor(tutti_comm *comm, tt_bound *bound) {
  tt_entry *entry = bound->entry;
  bound->run.wide = entry->wide;
  tt_medium medium = comm->context->medium;
  bound->run.single_copy = entry->single_copy;
  bound->run.refer_least = refer_least(comm);
  tt_medium_apply(medium, &bound->run);
  bound->blocks =
      comm->agree.board && !comm->apart ? tt_medium_class(medium, entry->plan, &bound->run) : TT_CLASS_STREAMS;
  assert(bound->blocks < TT_CLASS_COUNT);
  return entry->executor[bound->blocks] ? TUTTI_OK : make_executor(comm, entry, bound->blocks);
}

static tutti_status bind_plain(tutti_comm *comm, const tt_call *call, tt_bound *bound) {
  const tt_entry_key key = tt_bound_entry_key(comm, call);
  tutti_status status = tt_entry_find(comm, &key, vector_bytes(comm, call), &bound->entry, &bound->decision);
  if (status != TUTTI_OK)
    return status;
  const tt_composition *composition = bound->entry->composition;
  bound->run.in_own = composition->layout[TT_IN] == TT_LAYOUT_OWN;
  bound->run.out_own = composition->layout[TT_OUT] == TT_LAYOUT_OWN;
  bound->run.blocks = plain_table(comm, call, composition);
  tt_bound_say(comm, bound, bound->entry->hash);
  return call->later ? TUTTI_OK : tt_bound_make_executor(comm, bound);
}

/* ---- calls with lists ---- */

/* What all ranks know of the lists: elements, and a number that stands for the rest. */
static void sum_up(const tutti_comm *comm, const tt_call *call, tt_bound *bound) {
  const tutti_graph *graph = call->lists->graph;
  bool all_know = tt_compose_info(call->collective).lengths == TT_LENGTHS_ALL;
  tt_buffer side = tt_compose_side(call->collective, TT_IN).length == TT_BY_LIST ? TT_IN : TT_OUT;
  const int64_t *count = call->lists->side[side].count;
  bound->said.count = all_know ? call->count : 0;
  bound->said.lists = graph ? graph->number : 0;
  if (graph || !all_know)
    return;
  for (int64_t r = 0; r < comm->size; r++)
    bound->said.count += count[r];
  bound->said.lists = tt_hash(0, count, (size_t)comm->size * sizeof *count);
}

static tutti_status bind_listed(tutti_comm *comm, const tt_call *call, tt_words *words, tt_bound *bound) {
  const tt_entry_key key = tt_bound_entry_key(comm, call);
  sum_up(comm, call, bound);
  int64_t bytes = bound->said.count * tt_context_type_bytes(comm->context, call->type);
  tutti_status status = tt_entry_find(comm, &key, bytes, &bound->entry, &bound->decision);
  if (status == TUTTI_OK)
    status = tt_table_make(comm, call, words, bound);
  if (status != TUTTI_OK)
    return status;
  tt_bound_say(comm, bound, bound->entry->hash);
  return call->later ? TUTTI_OK : tt_bound_make_executor(comm, bound);
}

/* ---- errors ---- */

/* Parameters that make no plan make none on any rank; else the others learn from this call's record that they differ.
 * What is only bound is no call yet. Nobody waits in the call: whether an epoch begins before or behind it is chance,
 * and keys of later calls do not depend on it. */
static tutti_status refuse_params(tutti_comm *comm, const tt_call *call, tt_bound *bound) {
  if (call->later)
    return TUTTI_ERR_PLAN;
  const tt_entry_key key = tt_bound_entry_key(comm, call);
  int64_t count = call->lists ? bound->said.count : vector_count(comm, call);
  tt_entry entry = {.hash = tt_entry_hash(comm, &key, count * tt_context_type_bytes(comm->context, call->type))};
  tt_operation operation;
  uint64_t history = comm->calls.history;
  bound->entry = &entry;
  tt_bound_say(comm, bound, entry.hash);
  tt_operation_number(comm, bound, &operation);
  comm->calls.history = history;
  if (tt_record_reach(comm, operation.number) != TUTTI_OK)
    return tt_agree_break_here(comm, TUTTI_ERR_MEMORY);
  tt_record_publish(comm, operation.number, &bound->said);
  bound->entry = NULL;
  return TUTTI_ERR_PLAN;
}

tutti_status tt_bound_fail(tutti_comm *comm, const tt_call *call, tt_bound *bound, tutti_status status) {
  return status == TUTTI_ERR_PLAN ? refuse_params(comm, call, bound) : tt_agree_break_here(comm, status);
}

tutti_status tt_bound_make(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_words *words,
                           tt_bound *bound) {
  *bound = tt_bound_begin(comm, call, places);
  tutti_status status = call->lists ? bind_listed(comm, call, words, bound) : bind_plain(comm, call, bound);
  return status == TUTTI_OK ? TUTTI_OK : tt_bound_fail(comm, call, bound, status);
}

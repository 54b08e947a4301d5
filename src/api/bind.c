/* api/bind.c - from a call to its plan: choose parameters, compose, lower, and keep the result.
 *
 * Two tables. Entries: one compiled plan for each (collective, root, in place, parameters), whatever the counts.
 * Bounds: a small table by what the call is, so that a call made before costs one comparison. */
#include "api/api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- choice ---- */

/* Elements of the whole vector: all ranks' parts together. */
static int64_t vector_count(const tutti_comm *comm, const tt_call *call) {
  bool per_rank = call->collective == TT_ALLGATHER || call->collective == TT_REDUCE_SCATTER;
  return call->count * (per_rank ? comm->size : 1);
}

/* Parameters of a call: what the user set for the communicator, TUTTI_PARAMS, the profile; else the star, which fits
 * always. The making of communicators does not depend on what the user sets. */
static const char *choose(const tutti_comm *comm, const tt_call *call) {
  if (comm->creates)
    return "linear";
  if (comm->params[call->collective])
    return comm->params[call->collective];
  if (*tt_options_get()->params)
    return tt_options_get()->params;
  tt_region region = {call->collective, vector_count(comm, call) * (int64_t)tutti_type_size((tutti_type)call->type),
                      comm->size, comm->topo->level[0].group_count};
  const tt_rule *rule = tt_profile_find(comm->context->profile, &region);
  return rule ? rule->text : "linear";
}

/* ---- entries ---- */

static tutti_status prove(const tutti_comm *comm, const tt_entry *entry, const tt_lowering *lowering) {
  tt_plan **plans = calloc((size_t)comm->size, sizeof(tt_plan *));
  tutti_status status =
      plans ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory to prove %" PRId64 " plans", comm->size);
  for (int64_t r = 0; r < comm->size && status == TUTTI_OK; r++)
    status = tt_lower_rank(lowering, r, &plans[r]);
  tt_meaning meaning;
  if (status == TUTTI_OK)
    status = tt_verify_meaning(tt_compose_info(entry->collective).name, comm->size, entry->composition.block_count,
                               entry->root, entry->in_place, &meaning);
  if (status == TUTTI_OK)
    status = tt_verify(&meaning, (const tt_plan *const *)plans);
  for (int64_t r = 0; r < comm->size && plans; r++)
    tt_plan_destroy(plans[r]);
  free(plans);
  return status;
}

static tutti_status compile(const tutti_comm *comm, tt_entry *entry) {
  tt_params params;
  tt_problem problem = {entry->collective, comm->size, entry->root, entry->in_place};
  tt_lowering *lowering = NULL;
  tutti_status status = tt_params_parse(entry->text, &params);
  if (status == TUTTI_OK)
    status = tt_compose(&problem, params.form, &entry->composition);
  if (status == TUTTI_OK)
    status = tt_lowering_create(&entry->composition, comm->topo, &params, &lowering);
  if (status == TUTTI_OK && tt_options_get()->verify)
    status = prove(comm, entry, lowering);
  if (status == TUTTI_OK)
    status = tt_lower_rank(lowering, comm->rank, &entry->plan);
  tt_lowering_destroy(lowering);
  return status;
}

static void entry_destroy(tt_entry *entry) {
  if (!entry)
    return;
  tt_direct_destroy(entry->direct);
  tt_instance_destroy(entry->instance);
  tt_plan_destroy(entry->plan);
  free(entry->text);
  free(entry);
}

static tutti_status entry_create(tutti_comm *comm, const tt_call *call, const char *text, tt_entry **entry) {
  tt_entry *made = calloc(1, sizeof *made);
  if (!made || !(made->text = strdup(text))) {
    entry_destroy(made);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a plan");
  }
  made->collective = call->collective;
  made->root = call->root;
  made->in_place = call->in_place;
  made->hash = tt_hash(0, text, strlen(text));
  tutti_status status = compile(comm, made);
  if (status != TUTTI_OK) {
    entry_destroy(made);
    return status;
  }
  made->next = comm->entries;
  comm->entries = made;
  *entry = made;
  return TUTTI_OK;
}

static tutti_status find_entry(tutti_comm *comm, const tt_call *call, tt_entry **entry) {
  const char *text = choose(comm, call);
  for (tt_entry *n = comm->entries; n; n = n->next)
    if (n->collective == call->collective && n->root == call->root && n->in_place == call->in_place &&
        strcmp(n->text, text) == 0) {
      *entry = n;
      return TUTTI_OK;
    }
  return entry_create(comm, call, text, entry);
}

void tt_comm_forget(tutti_comm *comm, tt_collective collective) {
  for (int n = 0; n < TT_BOUNDS; n++)
    if (comm->bound[n].collective == collective)
      comm->bound[n].entry = NULL;
}

void tt_comm_unbind(tutti_comm *comm) {
  while (comm->entries) {
    tt_entry *next = comm->entries->next;
    entry_destroy(comm->entries);
    comm->entries = next;
  }
}

/* ---- bounds ---- */

/* What all ranks must agree on. In place is no part of it: it changes nothing that another rank sees. */
static uint64_t key_of(const tutti_comm *comm, const tt_call *call, const tt_entry *entry) {
  const uint64_t facts[] = {comm->id,           call->collective,     (uint64_t)call->type,
                            (uint64_t)call->op, (uint64_t)call->root, (uint64_t)call->count,
                            entry->hash};
  return tt_hash(1, facts, sizeof facts);
}

/* Spread enough for the few kinds of calls that a program makes; cheap, since every call asks. */
static tt_bound *slot_of(tutti_comm *comm, const tt_call *call) {
  uint64_t count = (uint64_t)call->count;
  uint64_t mixed = count ^ count >> 6 ^ count >> 13 ^ count >> 20 ^ (uint64_t)call->root * 5 ^
                   (uint64_t)call->collective * 11 ^ (uint64_t)call->type * 3 ^ (uint64_t)call->op * 7 ^
                   (uint64_t)(call->in == call->out) * 32;
  return &comm->bound[mixed % TT_BOUNDS];
}

/* An executor for the entry's plan, made when first needed. */
static tutti_status make_executor(tutti_comm *comm, tt_bound *bound) {
  tt_entry *entry = bound->entry;
  bound->direct = comm->board && tt_direct_fits(entry->plan, bound->run.blocks.total *
                                                                 (int64_t)tutti_type_size((tutti_type)bound->type));
  if (bound->direct)
    return entry->direct ? TUTTI_OK : tt_direct_create(entry->plan, comm->link, &entry->direct);
  return entry->instance ? TUTTI_OK : tt_instance_create(entry->plan, comm->link, &entry->instance);
}

/* Sizes of the buffers, and where they meet when they are one. */
static void bind_buffers(const tutti_comm *comm, tt_bound *bound) {
  int64_t bytes = bound->count * (int64_t)tutti_type_size((tutti_type)bound->type);
  bool gathers = bound->collective == TT_ALLGATHER, scatters = bound->collective == TT_REDUCE_SCATTER;
  bound->reads = bound->collective != TT_BROADCAST || bound->root == comm->rank;
  bound->in_bytes = scatters ? comm->size * bytes : bytes;
  bound->out_bytes = gathers ? comm->size * bytes : bytes;
  bound->in_own = scatters ? comm->rank * bytes : 0;
  bound->out_own = gathers ? comm->rank * bytes : 0;
}

static tutti_status bind_call(tutti_comm *comm, const tt_call *call, tt_bound *bound) {
  tt_entry *entry = NULL;
  tutti_status status = find_entry(comm, call, &entry);
  if (status != TUTTI_OK)
    return status;
  *bound =
      (tt_bound){.count = call->count,
                 .root = call->root,
                 .collective = call->collective,
                 .type = call->type,
                 .op = call->op,
                 .in_place = call->in_place,
                 .key = key_of(comm, call, entry),
                 .entry = entry,
                 .run = {.in_own = entry->composition.layout[TT_IN] == TT_LAYOUT_OWN,
                         .out_own = entry->composition.layout[TT_OUT] == TT_LAYOUT_OWN,
                         .blocks = {.block_count = entry->composition.block_count, .total = vector_count(comm, call)},
                         .type = (tutti_type)call->type,
                         .op = (tutti_op)call->op}};
  bound->run.shape = ++comm->context->last_shape;
  bind_buffers(comm, bound);
  return make_executor(comm, bound);
}

static bool is_call(const tt_bound *bound, const tt_call *call) {
  return bound->entry && bound->count == call->count && bound->root == call->root &&
         bound->collective == call->collective && bound->type == call->type && bound->op == call->op;
}

/* Whether the buffers need no look: they are there, and apart or one as they were before. */
static bool buffers_fit(const tt_bound *bound, const tt_call *call) {
  const char *in = call->in, *out = call->out;
  if (!bound->reads)
    return out != NULL;
  if (in + bound->in_own == out + bound->out_own)
    return bound->in_place && in;
  return !bound->in_place && in && out && (in + bound->in_bytes <= out || out + bound->out_bytes <= in);
}

tt_bound *tt_comm_recall(tutti_comm *comm, const tt_call *call) {
  tt_bound *slot = slot_of(comm, call);
  return is_call(slot, call) && buffers_fit(slot, call) ? slot : NULL;
}

/* Parameters that make no plan make none on any rank; else the others learn from this call's record that they differ.
 */
static tutti_status refuse_params(tutti_comm *comm, const tt_call *call) {
  const char *text = choose(comm, call);
  tt_entry entry = {.hash = tt_hash(0, text, strlen(text))};
  tt_bound bound = {.count = call->count,
                    .root = call->root,
                    .collective = call->collective,
                    .type = call->type,
                    .op = call->op,
                    .key = key_of(comm, call, &entry),
                    .entry = &entry};
  tt_operation operation;
  tt_operation_number(comm, bound.key, &operation);
  tt_agree_publish(comm, operation.number, &bound);
  return TUTTI_ERR_PLAN;
}

tutti_status tt_comm_bind(tutti_comm *comm, const tt_call *call, tt_bound **bound) {
  tt_bound *slot = slot_of(comm, call);
  if (!is_call(slot, call) || slot->in_place != call->in_place) {
    tt_bound made;
    tutti_status status = bind_call(comm, call, &made);
    if (status == TUTTI_ERR_PLAN)
      return refuse_params(comm, call);
    if (status != TUTTI_OK)
      return tt_agree_break(comm, status, "rank %" PRId64 ": %s", comm->rank, tutti_last_error());
    *slot = made;
  }
  *bound = slot;
  return TUTTI_OK;
}

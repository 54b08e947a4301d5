/* call/recall.c - blocking calls that were made before. A communicator has one table of bindings, looked up by what the
 * call is, so that a repeated call costs one comparison. Where a call has lists, their copies are compared too. */
#include "call/call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- lists ---- */

/* The arrays of a side, as the user passed them; NULL as there. */
typedef struct copy {
  int64_t blocks;
  int64_t *count, *offset;
  tutti_type *type;
  int64_t own;
} copy;

/* What a binding in the table has besides, where the call has lists. */
struct tt_listed {
  tt_words words; /* of its block table */
  copy side[2];
  const tutti_graph *graph;
};

static void free_arrays(copy *of) {
  free(of->count);
  free(of->offset);
  free(of->type);
}

static void free_listed(tt_listed *listed) {
  if (!listed)
    return;
  free_arrays(&listed->side[TT_IN]);
  free_arrays(&listed->side[TT_OUT]);
  free(listed->words.word);
  free(listed);
}

/* *copied stays NULL where there is nothing to copy. */
static bool take(void **copied, const void *from, size_t bytes) {
  if (!from || bytes == 0)
    return true;
  if ((*copied = malloc(bytes)))
    memcpy(*copied, from, bytes);
  return *copied != NULL;
}

static bool take_side(const tutti_comm *comm, const tt_call *call, tt_buffer side, copy *to) {
  const tt_list *list = &call->lists->side[side];
  bool listed = tt_compose_side(call->collective, side).length == TT_BY_LIST && tt_call_has(comm, call, side);
  size_t blocks = listed ? (size_t)tt_call_block_count(comm, call, side) : 0;
  *to = (copy){.blocks = (int64_t)blocks, .own = list->own};
  return take((void **)&to->count, list->count, blocks * sizeof *list->count) &&
         take((void **)&to->offset, list->offset, blocks * sizeof *list->offset) &&
         take((void **)&to->type, list->type, blocks * sizeof *list->type);
}

/* NULL: no memory. */
static tt_listed *copy_lists(const tutti_comm *comm, const tt_call *call) {
  tt_listed *made = calloc(1, sizeof *made);
  if (!made)
    return NULL;
  made->graph = call->lists->graph;
  if (take_side(comm, call, TT_IN, &made->side[TT_IN]) && take_side(comm, call, TT_OUT, &made->side[TT_OUT]))
    return made;
  free_listed(made);
  return NULL;
}

static bool same_array(const void *kept, const void *now, size_t bytes) {
  return bytes == 0 || (!kept == !now && (!kept || memcmp(kept, now, bytes) == 0));
}

static bool same_side(const copy *kept, const tt_list *now) {
  size_t blocks = (size_t)kept->blocks;
  return kept->own == now->own && same_array(kept->count, now->count, blocks * sizeof *now->count) &&
         same_array(kept->offset, now->offset, blocks * sizeof *now->offset) &&
         same_array(kept->type, now->type, blocks * sizeof *now->type);
}

static bool same_lists(const tt_listed *kept, const tt_lists *now) {
  return kept->graph == now->graph && same_side(&kept->side[TT_IN], &now->side[TT_IN]) &&
         same_side(&kept->side[TT_OUT], &now->side[TT_OUT]);
}

static bool listed_buffers_fit(const tt_bound *bound, const tt_call *call) {
  const tt_places *places = &bound->places;
  bool needs_in = places->begin[TT_IN] != places->end[TT_IN], needs_out = places->begin[TT_OUT] != places->end[TT_OUT];
  if ((needs_in && !call->in) || (needs_out && !call->out))
    return false;
  return tt_call_meeting(call, places) == (bound->in_place ? TT_IN_PLACE : TT_APART);
}

/* Of few values: lists that are elsewhere at each call must not take all places. */
static uint64_t facts_of_lists(const tt_lists *lists) {
  uintptr_t mixed =
      (uintptr_t)lists->side[TT_IN].count ^ (uintptr_t)lists->side[TT_OUT].count ^ (uintptr_t)lists->graph;
  return (mixed >> 4 ^ mixed >> 9) % 4;
}

/* ---- the table ---- */

/* Spread enough for the few kinds of calls that a program makes; cheap, since every call asks. lists: the call's, here
 * and below; an argument, so that plain calls have a copy of all this that has nothing of them. */
static ALWAYS_INLINE tt_bound *slot_of(tutti_comm *comm, const tt_call *call, const tt_lists *lists) {
  uint64_t facts = (uint64_t)call->count ^ (uint64_t)call->root << 24 ^ (uint64_t)call->collective << 40 ^
                   (uint64_t)call->type << 46 ^ (uint64_t)call->op << 52 ^ (uint64_t)(call->in == call->out) << 58;
  if (lists)
    facts ^= facts_of_lists(lists) << 60;
  uint64_t mixed = facts * 0x9e3779b97f4a7c15u >> 32;
  return comm->calls.bound_count ? &comm->calls.bound[mixed & (comm->calls.bound_count - 1)] : NULL;
}

/* All calls of a collective have lists, or none has. */
static ALWAYS_INLINE bool is_call(const tt_bound *bound, const tt_call *call, const tt_lists *lists) {
  return bound->entry && bound->count == call->count && bound->said.root == call->root &&
         bound->said.collective == (int32_t)call->collective && bound->type == call->type && bound->op == call->op &&
         (!lists || same_lists(bound->listed, lists));
}

/* Whether the buffers need no look: they are there, and apart or one as they were before. */
static ALWAYS_INLINE bool buffers_fit(const tt_bound *bound, const tt_call *call, const tt_lists *lists) {
  if (lists)
    return listed_buffers_fit(bound, call);
  const tt_places *places = &bound->places;
  const char *in = call->in, *out = call->out;
  if (!places->reads || !places->writes)
    return (in || !places->reads) && (out || !places->writes);
  if (in + places->in_own == out + places->out_own)
    return bound->in_place && in;
  return !bound->in_place && in && out && (in + places->end[TT_IN] <= out || out + places->end[TT_OUT] <= in);
}

static ALWAYS_INLINE tt_bound *look_up(tutti_comm *comm, const tt_call *call, const tt_lists *lists) {
  tt_bound *slot = slot_of(comm, call, lists);
  return slot && is_call(slot, call, lists) && buffers_fit(slot, call, lists) ? slot : NULL;
}

static __attribute__((noinline)) tt_bound *look_up_listed(tutti_comm *comm, const tt_call *call) {
  return look_up(comm, call, call->lists);
}

tt_bound *tt_recall(tutti_comm *comm, const tt_call *call) {
  return call->lists ? look_up_listed(comm, call) : look_up(comm, call, NULL);
}

static void forget(tt_bound *bound) {
  free_listed(bound->listed);
  bound->listed = NULL;
  bound->entry = NULL;
}

void tt_recall_forget(tutti_comm *comm, tt_collective collective) {
  for (uint64_t n = 0; n < comm->calls.bound_count; n++)
    if (comm->calls.bound[n].said.collective == (int32_t)collective)
      forget(&comm->calls.bound[n]);
}

void tt_recall_forget_op(tutti_comm *comm, int32_t op) {
  for (uint64_t n = 0; n < comm->calls.bound_count; n++)
    if (comm->calls.bound[n].op == op)
      forget(&comm->calls.bound[n]);
}

void tt_recall_forget_graph(tutti_comm *comm, const tutti_graph *graph) {
  for (uint64_t n = 0; n < comm->calls.bound_count; n++)
    if (comm->calls.bound[n].listed && comm->calls.bound[n].listed->graph == graph)
      forget(&comm->calls.bound[n]);
}

void tt_recall_finish(tutti_comm *comm) {
  for (uint64_t n = 0; n < comm->calls.bound_count; n++)
    forget(&comm->calls.bound[n]);
  free(comm->calls.bound);
  comm->calls.bound = NULL;
  comm->calls.bound_count = 0;
}

/* A larger table, empty: what is in the old one is bound again when it is called. No memory: the old one stays. */
static void grow(tutti_comm *comm) {
  uint64_t count = comm->calls.bound_count ? 4 * comm->calls.bound_count : 1;
  tt_bound *larger = count <= TT_BOUNDS ? calloc(count, sizeof *larger) : NULL;
  if (!larger)
    return;
  tt_recall_finish(comm);
  comm->calls.bound = larger;
  comm->calls.bound_count = count;
}

/* Where the call may stand; NULL: no memory. */
static tt_bound *find_slot(tutti_comm *comm, const tt_call *call) {
  tt_bound *slot = slot_of(comm, call, call->lists);
  if (slot && (!slot->entry || is_call(slot, call, call->lists)))
    return slot;
  grow(comm);
  return slot_of(comm, call, call->lists);
}

static tutti_status fill(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_bound *slot) {
  tt_bound made;
  tt_listed *listed = call->lists ? copy_lists(comm, call) : NULL;
  if (call->lists && !listed)
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for lists", comm->rank);
  tutti_status status = tt_bound_make(comm, call, places, listed ? &listed->words : NULL, &made);
  if (status != TUTTI_OK) {
    free_listed(listed);
    return status;
  }
  forget(slot);
  *slot = made;
  slot->listed = listed;
  return TUTTI_OK;
}

tutti_status tt_recall_bind(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_bound **bound) {
  tt_bound *slot = find_slot(comm, call);
  if (!slot)
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for a call", comm->rank);
  bool again = is_call(slot, call, call->lists) && slot->in_place == call->in_place;
  tutti_status status = again ? TUTTI_OK : fill(comm, call, places, slot);
  *bound = slot;
  return status;
}

tutti_status tt_call_run(tutti_comm *comm, const tt_call *call, const tt_places *places) {
  tt_bound *bound;
  tutti_status status = tt_request_drain(comm);
  if (status == TUTTI_OK)
    status = tt_recall_bind(comm, call, places, &bound);
  return status == TUTTI_OK ? tt_operation_run(comm, call, bound) : status;
}

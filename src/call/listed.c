/* call/listed.c - calls with lists: bound, and kept with a copy of their lists, so that one made again costs comparing
 * them. */
#include "call/call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- binding ---- */

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

static tutti_status bind(tutti_comm *comm, const tt_call *call, tt_words *words, tt_bound *bound) {
  const tt_entry_key key = tt_bound_entry_key(comm, call);
  sum_up(comm, call, bound);
  int64_t bytes = bound->said.count * tt_context_type_bytes(comm->context, call->type);
  tutti_status status = tt_entry_find(comm, &key, bytes, &bound->entry);
  if (status == TUTTI_OK)
    status = tt_table_make(comm, call, words, bound);
  if (status != TUTTI_OK)
    return status;
  tt_bound_say(comm, bound, bound->entry->hash);
  return call->later ? TUTTI_OK : tt_bound_make_executor(comm, bound);
}

tutti_status tt_listed_bind(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_words *words,
                            tt_bound *bound) {
  *bound = tt_bound_begin(comm, call, places);
  tutti_status status = bind(comm, call, words, bound);
  return status == TUTTI_OK ? TUTTI_OK : tt_bound_fail(comm, call, bound, status);
}

/* ---- those that were made before ---- */

/* The arrays of a side, as the user passed them; NULL as there. */
typedef struct copy {
  int64_t blocks;
  int64_t *count, *offset;
  tutti_type *type;
  int64_t own;
} copy;

struct tt_listed {
  tt_bound bound; /* entry NULL: none */
  tt_words words; /* of its block table */
  copy side[2];
  const tutti_graph *graph;
};

static tt_listed **slot_of(tutti_comm *comm, const tt_call *call) {
  const tt_lists *lists = call->lists;
  uintptr_t mixed =
      (uintptr_t)lists->side[TT_IN].count ^ (uintptr_t)lists->side[TT_OUT].count ^ (uintptr_t)lists->graph;
  return &comm->calls
              .listed[(mixed >> 4 ^ mixed >> 9 ^ (uintptr_t)call->collective ^ (uintptr_t)call->type) % TT_LISTED];
}

static void free_arrays(copy *of) {
  free(of->count);
  free(of->offset);
  free(of->type);
  *of = (copy){.blocks = 0};
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

static bool same_array(const void *kept, const void *now, size_t bytes) {
  return bytes == 0 || (!kept == !now && (!kept || memcmp(kept, now, bytes) == 0));
}

static bool same_side(const copy *kept, const tt_list *now) {
  size_t blocks = (size_t)kept->blocks;
  return kept->own == now->own && same_array(kept->count, now->count, blocks * sizeof *now->count) &&
         same_array(kept->offset, now->offset, blocks * sizeof *now->offset) &&
         same_array(kept->type, now->type, blocks * sizeof *now->type);
}

static bool is_call(const tt_listed *kept, const tt_call *call) {
  const tt_bound *bound = &kept->bound;
  return bound->entry && bound->said.collective == (int32_t)call->collective && bound->said.root == call->root &&
         bound->type == call->type && bound->op == call->op && kept->graph == call->lists->graph &&
         (!kept->graph || tt_compose_side(call->collective, TT_OUT).length != TT_BY_COUNT ||
          bound->said.count == call->count) &&
         same_side(&kept->side[TT_IN], &call->lists->side[TT_IN]) &&
         same_side(&kept->side[TT_OUT], &call->lists->side[TT_OUT]);
}

static bool buffers_fit(const tt_bound *bound, const tt_call *call) {
  const tt_places *places = &bound->places;
  bool needs_in = places->begin[TT_IN] != places->end[TT_IN], needs_out = places->begin[TT_OUT] != places->end[TT_OUT];
  if ((needs_in && !call->in) || (needs_out && !call->out))
    return false;
  return tt_call_meeting(call, places) == (bound->in_place ? TT_IN_PLACE : TT_APART);
}

tt_bound *tt_listed_recall(tutti_comm *comm, const tt_call *call) {
  tt_listed *kept = *slot_of(comm, call);
  return kept && is_call(kept, call) && buffers_fit(&kept->bound, call) ? &kept->bound : NULL;
}

tutti_status tt_listed_keep(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_bound **bound) {
  tt_listed **slot = slot_of(comm, call);
  if (!*slot && !(*slot = calloc(1, sizeof **slot)))
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for a call", comm->rank);
  tt_listed *kept = *slot;
  tutti_status status = tt_listed_bind(comm, call, places, &kept->words, &kept->bound);
  kept->graph = call->lists->graph;
  for (tt_buffer side = TT_IN; side <= TT_OUT; side++) {
    free_arrays(&kept->side[side]);
    if (status == TUTTI_OK && !take_side(comm, call, side, &kept->side[side]))
      status = tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for lists", comm->rank);
  }
  if (status != TUTTI_OK)
    kept->bound.entry = NULL;
  *bound = &kept->bound;
  return status;
}

void tt_listed_forget(tutti_comm *comm) {
  for (int n = 0; n < TT_LISTED; n++) {
    tt_listed *kept = comm->calls.listed[n];
    comm->calls.listed[n] = NULL;
    if (!kept)
      continue;
    free_arrays(&kept->side[TT_IN]);
    free_arrays(&kept->side[TT_OUT]);
    free(kept->words.word);
    free(kept);
  }
}

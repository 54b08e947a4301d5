/* verify/places.c - both ends find each message in one place, from what both know.
 *
 * Streams: the n-th send meets the n-th receive (match.c), and the reader takes any medium that the sender may pick.
 * Cells: where all ranks know all lengths, a block lies where it lies in the sender's input. Else the two ends of a
 * pair lay its blocks one after the other, in the order of the sender's `put` and the reader's `take`: those must be
 * the same steps in the same order, and stand together. */
#include "verify/bound.h"

#include <assert.h>

static tt_media cell_of(const tt_bound_proof *proof, uint32_t step) {
  return proof->step[step]->media & TT_MEDIA(TT_MEDIUM_CELL);
}

static const char *unlike(const tt_bound_proof *proof, uint32_t recv, uint32_t send) {
  tt_media sends = proof->step[send]->media, takes = proof->step[recv]->media;
  if (sends & ~takes)
    return "its sender may pick a medium that it does not admit";
  if (cell_of(proof, send) != cell_of(proof, recv))
    return "only one of its ends expects it in a cell";
  if ((sends ^ takes) & TT_MEDIA(TT_MEDIUM_MESSAGE))
    return "only one of its ends takes the other for another machine";
  return NULL;
}

static tutti_status check_pairs(const tt_bound_proof *proof) {
  const tt_proof *lists = &proof->lists;
  for (uint32_t recv = 0; recv < lists->step_count; recv++) {
    uint32_t send = lists->send_of[recv];
    const char *wrong = send == TT_NONE ? NULL : unlike(proof, recv, send);
    if (wrong)
      return tt_verify_fail(lists, recv, "%s", wrong);
  }
  return TUTTI_OK;
}

/* ---- cells ---- */

typedef struct list { /* put or take of one rank */
  const uint32_t *number;
  uint32_t count, first_step;
  const char *name;
} list;

static list put_of(const tt_bound_proof *proof, uint32_t rank) {
  const tt_bound_plan *bound = proof->bound[rank];
  return (list){bound->put, bound->put_count, proof->first_step[rank], "the list of blocks put into cells"};
}

static list take_of(const tt_bound_proof *proof, uint32_t rank) {
  const tt_bound_plan *bound = proof->bound[rank];
  return (list){bound->take, bound->take_count, proof->first_step[rank], "the list of blocks taken from cells"};
}

static tutti_status check_released(const tt_bound_proof *proof, uint32_t rank) {
  const tt_bound_plan *bound = proof->bound[rank];
  for (uint32_t n = bound->released; n < bound->order_count; n++) {
    uint32_t step = proof->first_step[rank] + bound->order[n];
    if (proof->lists.step[step]->kind != TT_STEP_COPY)
      return tt_verify_fail(&proof->lists, step, "it takes from a released cell");
  }
  return TUTTI_OK;
}

/* Whether steps of one peer stand together: places begin anew with each peer. seen: zeros, and left so. */
static tutti_status check_together(const tt_bound_proof *proof, list of, uint32_t *seen) {
  const tt_proof *lists = &proof->lists;
  int32_t before = -1;
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; n < of.count && status == TUTTI_OK; n++) {
    uint32_t step = of.first_step + of.number[n];
    int32_t peer = lists->step[step]->peer;
    if (cell_of(proof, step) && peer >= 0 && peer != before && seen[peer]++)
      status = tt_verify_fail(lists, step, "in %s, those of its peer are not consecutive", of.name);
    before = cell_of(proof, step) ? peer : before;
  }
  for (uint32_t peer = 0; peer < lists->rank_count; peer++)
    seen[peer] = 0;
  return status;
}

/* Whether the takes of each peer are the other ends of its puts in the same order. put: place of each send. */
static tutti_status check_order(const tt_bound_proof *proof, list of, const uint32_t *put) {
  const tt_proof *lists = &proof->lists;
  uint32_t before = TT_NONE;
  for (uint32_t n = 0; n < of.count; n++) {
    uint32_t step = of.first_step + of.number[n];
    if (!cell_of(proof, step))
      continue;
    assert(lists->send_of[step] != TT_NONE);
    bool same = before != TT_NONE && lists->step[before]->peer == lists->step[step]->peer;
    if (same && put[lists->send_of[step]] < put[lists->send_of[before]])
      return tt_verify_fail(lists, step, "its two ends have it at different places of a cell");
    before = step;
  }
  return TUTTI_OK;
}

/* Where both ends find places by pairs: put is the place of each send in its list. */
static tutti_status check_pairs_in_cells(const tt_bound_proof *proof, uint32_t *put, uint32_t *seen) {
  const tt_proof *lists = &proof->lists;
  tutti_status status = TUTTI_OK;
  for (uint32_t rank = 0; rank < lists->rank_count; rank++) {
    list of = put_of(proof, rank);
    for (uint32_t n = 0; n < of.count; n++)
      put[of.first_step + of.number[n]] = n;
  }
  for (uint32_t rank = 0; rank < lists->rank_count && status == TUTTI_OK; rank++) {
    status = check_together(proof, put_of(proof, rank), seen);
    if (status == TUTTI_OK)
      status = check_together(proof, take_of(proof, rank), seen);
    if (status == TUTTI_OK)
      status = check_order(proof, take_of(proof, rank), put);
  }
  return status;
}

tutti_status tt_verify_places(tt_bound_proof *proof) {
  tt_proof *lists = &proof->lists;
  tutti_status status = check_pairs(proof);
  for (uint32_t rank = 0; rank < lists->rank_count && status == TUTTI_OK; rank++)
    status = check_released(proof, rank);
  if (status != TUTTI_OK || proof->bound[0]->blocks != TT_CLASS_ENDS)
    return status;
  uint32_t *put = tt_arena_alloc(&lists->arena, lists->step_count, sizeof *put);
  uint32_t *seen = tt_arena_alloc(&lists->arena, lists->rank_count, sizeof *seen);
  if (lists->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", lists->step_count);
  return check_pairs_in_cells(proof, put, seen);
}

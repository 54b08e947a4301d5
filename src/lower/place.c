/* lower/place.c - where values live.
 *
 * A value that must stand in a user's buffer at the end is made there, and so are the partial results that lead to it:
 * a chain of combinations accumulates in one place. All others live in cells of tmp, reused as soon as nothing reads
 * them. A cell that a message of round t reads is written by a later round only, so that no receive ever waits for a
 * send of its own round. */
#include "lower/flow.h"

#include <assert.h>
#include <stdlib.h>

/* Whether the value is only ever an operand of its heir, so that the heir may replace it. Combinations behind its own
 * event take copies before, all but the last. */
static bool merges_into_heir(const tt_value *value) {
  bool last = value->left_uses == 1 || value->left_uses == value->copies;
  return value->event >= 0 && value->heir >= 0 && last && value->other_uses == 0;
}

static int32_t chain_head(const tt_flow *flow, int32_t tail) {
  for (int32_t left = flow->value[tail].left; left >= 0; left = flow->value[tail].left) {
    const tt_value *value = &flow->value[left];
    if (!merges_into_heir(value) || value->heir != tail || value->placed)
      break;
    tail = left;
  }
  return tail;
}

bool tt_lower_same_place(const tt_flow *flow, tt_ref a, tt_ref b) {
  uint32_t spaces[2] = {a.space, b.space};
  for (int n = 0; n < 2; n++)
    if (flow->in_place && spaces[n] == TT_SPACE_IN)
      spaces[n] = TT_SPACE_OUT;
  return spaces[0] == spaces[1] && a.index == b.index;
}

static void place_chain(tt_flow *flow, int32_t tail, tt_ref place) {
  int32_t head = chain_head(flow, tail);
  for (int32_t n = tail;; n = flow->value[n].left) {
    assert(!flow->value[n].placed);
    flow->value[n].place = place;
    flow->value[n].placed = true;
    if (n == head)
      return;
  }
}

/* Whether making the value at its final place would overwrite the rank's own input there while it is still read. */
static bool overwrites(const tt_flow *flow, const tt_final *final, int32_t number) {
  if (number < 0)
    return false;
  const tt_value *rival = &flow->value[number];
  int32_t head = chain_head(flow, final->value);
  bool sent = rival->other_uses > 0 && rival->last_other_use >= flow->value[head].made;
  bool combined = rival->left_uses > 1 || (rival->left_uses == 1 && rival->heir != head);
  return sent || combined;
}

static bool made_there(const tt_flow *flow, const tt_final *final) {
  const tt_value *value = &flow->value[final->value];
  bool used = value->other_uses > 0 || value->left_uses > 0;
  return value->event >= 0 && !value->placed && !(final->finish && used) && !overwrites(flow, final, final->rival[0]) &&
         !overwrites(flow, final, final->rival[1]);
}

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* A copy comes when nothing reads what stands there any more; own blocks are copied first. Its chain ends here. */
static void copy_final(tt_flow *flow, tt_final *final) {
  tt_value *value = &flow->value[final->value];
  if (tt_value_is_own(value))
    return;
  for (int n = 0; n < 2; n++)
    if (final->rival[n] >= 0)
      final->time = later(final->time, flow->value[final->rival[n]].last_use);
  value->last_use = later(value->last_use, final->time);
  value->other_uses++;
}

static void place_finals(tt_flow *flow) {
  for (int64_t n = 0; n < flow->final_count; n++) {
    tt_final *final = &flow->final[n];
    final->copies = !made_there(flow, final);
    if (final->copies)
      copy_final(flow, final);
    else {
      place_chain(flow, final->value, final->place);
      flow->value[final->value].finish = final->finish;
    }
  }
}

/* ---- cells of tmp ---- */

typedef struct span {
  uint32_t begin, end; /* rounds in which the cell is written first and read last */
  int32_t tail;
} span;

static int by_begin(const void *a, const void *b) {
  const span *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return x->tail < y->tail ? -1 : x->tail > y->tail;
}

/* Cells in use as a heap, the one that ends first on top. */
typedef struct busy {
  uint32_t end, cell;
} busy;

static void sift_down(busy *heap, int64_t count) {
  for (int64_t at = 0;;) {
    int64_t child = 2 * at + 1;
    if (child >= count)
      return;
    if (child + 1 < count && heap[child + 1].end < heap[child].end)
      child++;
    if (heap[at].end <= heap[child].end)
      return;
    busy other = heap[at];
    heap[at] = heap[child];
    heap[child] = other;
    at = child;
  }
}

static void sift_up(busy *heap, int64_t at) {
  while (at > 0 && heap[(at - 1) / 2].end > heap[at].end) {
    busy other = heap[at];
    heap[at] = heap[(at - 1) / 2];
    heap[(at - 1) / 2] = other;
    at = (at - 1) / 2;
  }
}

static uint32_t assign_cells(tt_flow *flow, const span *spans, int64_t count, busy *heap) {
  int64_t cells = 0;
  for (int64_t n = 0; n < count; n++) {
    uint32_t cell = (uint32_t)cells;
    assert(n == 0 || spans[n - 1].begin <= spans[n].begin);
    if (cells > 0 && heap[0].end < spans[n].begin) {
      cell = heap[0].cell;
      heap[0].end = spans[n].end;
      sift_down(heap, cells);
    } else {
      heap[cells] = (busy){spans[n].end, cell};
      sift_up(heap, cells++);
    }
    place_chain(flow, spans[n].tail, (tt_ref){TT_SPACE_TMP, cell});
  }
  return (uint32_t)cells;
}

#ifndef NDEBUG
static bool all_are_placed(const tt_flow *flow) {
  for (int64_t n = 0; n < flow->value_count; n++)
    if (!flow->value[n].placed)
      return false;
  return true;
}
#endif
bool tt_lower_place(tt_flow *flow, uint32_t *tmp_count) {
  place_finals(flow);
  span *spans = tt_arena_alloc(flow->arena, (size_t)flow->value_count + 1, sizeof *spans);
  busy *heap = tt_arena_alloc(flow->arena, (size_t)flow->value_count + 1, sizeof *heap);
  if (flow->arena->failed)
    return false;
  int64_t count = 0;
  for (int32_t n = 0; n < flow->value_count; n++)
    if (!flow->value[n].placed && !merges_into_heir(&flow->value[n]))
      spans[count++] = (span){flow->value[chain_head(flow, n)].made, flow->value[n].last_use, n};
  qsort(spans, (size_t)count, sizeof *spans, by_begin);
  *tmp_count = assign_cells(flow, spans, count, heap);
  assert(all_are_placed(flow));
  return true;
}

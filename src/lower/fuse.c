/* lower/fuse.c - how combinations are made.
 *
 * What comes and is combined at once with one value needs no place of its own: a receive that reduces makes the result.
 * Where several combinations take it (primitives that share a message, each with contributions of its own), it is
 * received first, and they are made from there, by steps of the rank alone:
 *
 *     exscan, from rank q - 1:   its sum is rank q's result;   it and rank q's own are the sum that rank q + 2 gets
 */
#include "lower/flow.h"

#include <assert.h>

static bool has_come(const tt_value *value) { return value->event >= 0 && value->left < 0; }

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* ---- which combinations a receive makes ---- */

static bool count_readers(const tt_flow *flow, int32_t *readers) {
  if (!readers)
    return false;
  for (int64_t n = 0; n < flow->value_count; n++) {
    if (flow->value[n].left >= 0)
      readers[flow->value[n].left]++;
    if (flow->value[n].right >= 0)
      readers[flow->value[n].right]++;
  }
  for (int64_t n = 0; n < flow->event_count; n++)
    if (flow->event[n].sends) {
      assert(flow->event[n].value >= 0); /* what goes is there */
      readers[flow->event[n].value]++;
    }
  for (int64_t n = 0; n < flow->final_count; n++)
    readers[flow->final[n].value]++;
  return true;
}

/* Whether `operand` is what the combination's own event brings, and for it alone. */
static bool is_received(const tt_flow *flow, int32_t operand, const tt_value *combined, const int32_t *readers) {
  return has_come(&flow->value[operand]) && flow->value[operand].event == combined->event && readers[operand] == 1;
}

static void fuse(tt_flow *flow, int32_t number, const int32_t *readers) {
  tt_value *value = &flow->value[number];
  int32_t received = value->right;
  value->reversed = !is_received(flow, value->right, value, readers);
  if (value->reversed) {
    received = value->left;
    value->left = value->right;
  }
  value->right = -1;
  flow->value[received].placed = true;
  flow->value[received].event = -1;
  assert(flow->event[value->event].value == received);
  flow->event[value->event].value = number;
}

/* ---- uses ---- */

static void use_as_left(tt_flow *flow, int32_t number) {
  const tt_value *heir = &flow->value[number];
  tt_value *used = &flow->value[heir->left];
  used->last_use = later(used->last_use, heir->made);
  used->left_uses++;
  used->copies += has_come(used) && used->event == heir->event;
  used->heir = number;
}

static void use_otherwise(tt_value *used, uint32_t time) {
  used->last_use = later(used->last_use, time);
  used->last_other_use = later(used->last_other_use, time);
  used->other_uses++;
}

static void count_uses(tt_flow *flow) {
  for (int32_t n = 0; n < flow->value_count; n++)
    if (flow->value[n].left >= 0) {
      use_as_left(flow, n);
      if (flow->value[n].right >= 0)
        use_otherwise(&flow->value[flow->value[n].right], flow->value[n].made);
    }
  for (int64_t n = 0; n < flow->event_count; n++)
    if (flow->event[n].sends)
      use_otherwise(&flow->value[flow->event[n].value], flow->event[n].time);
  for (int64_t n = 0; n < flow->final_count; n++) /* own blocks are copied */
    if (tt_value_is_own(&flow->value[flow->final[n].value]))
      use_otherwise(&flow->value[flow->final[n].value], flow->final[n].time);
}

/* Combinations behind one event take what it brings side by side. */
static bool add_local(tt_flow *flow, int32_t number, uint8_t *behind) {
  tt_value *value = &flow->value[number];
  if (value->event >= 0) {
    value->turn = behind[value->event];
    behind[value->event] = (uint8_t)(value->turn + (value->turn < TT_TURNS - 1));
  }
  int32_t *local = tt_lower_push(flow->arena, &flow->local, &flow->local_count, &flow->local_room, sizeof *flow->local);
  if (local)
    *local = number;
  return local;
}

bool tt_lower_fuse(tt_flow *flow) {
  int32_t *readers = tt_arena_alloc(flow->arena, (size_t)flow->value_count + 1, sizeof *readers);
  uint8_t *behind = tt_arena_alloc(flow->arena, (size_t)flow->event_count + 1, sizeof *behind);
  if (!behind || !count_readers(flow, readers))
    return false;
  for (int32_t n = 0; n < flow->value_count; n++) {
    const tt_value *value = &flow->value[n];
    if (value->left < 0)
      continue;
    bool combined = value->right >= 0;
    if (combined && (is_received(flow, value->right, value, readers) || is_received(flow, value->left, value, readers)))
      fuse(flow, n, readers);
    else if (!add_local(flow, n, behind))
      return false;
  }
  count_uses(flow);
  return true;
}

/* plan/print.c - a plan as text, for people, tests and golden files.
 *
 *     plan rank 0 of 2 blocks 1 parts 1 tmp 1 times 1 slice 0
 *     level 0 core
 *     lane 0 id 0 send level 0 channel 0
 *       0 t0 send ->1 b0 in.0 first last
 *     lane 1 id 0 recv level 0 channel 0
 *       0 t0 reduce <-1 b0 in.0 => out.0 first last finish 2 wait 0.0 0.1*
 *
 * A step: its number in the lane, round, kind, peer (* is every reader), block, src => dst, flags, waits as lane.step,
 * with * where the whole step is waited for. Before the plans of all ranks stands what they claim to do:
 *
 *     plans 1
 *     claim allreduce ranks 2 blocks 1
 *
 * A bound plan has more:
 *
 *       0 t0 send ->1 b0 in.0 first last via slot|read
 *     order 2 3 released 1 put 0 take 2 settle 0
 *
 * The grammar stands in docs/plan.md. */
#include "plan/names.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tt_plan_space_name[TT_SPACE_COUNT] = {"in", "out", "mid", "tmp"};
const char *const tt_plan_kind_name[TT_STEP_KIND_COUNT] = {"send", "recv", "reduce", "copy"};
const char *const tt_plan_role_name[3] = {"local", "send", "recv"};

enum { LONGEST = 160 }; /* of one put */

typedef struct text {
  char *data;
  size_t used, room;
  bool failed;
} text;

static void grow(text *out) {
  size_t room = out->room * 2 + 4096;
  char *data = realloc(out->data, room);
  out->failed = data == NULL;
  if (out->failed)
    return;
  out->data = data;
  out->room = room;
}

static void put(text *out, const char *format, ...) TT_PRINTF(2, 3);
static void put(text *out, const char *format, ...) {
  if (!out->failed && out->room - out->used < LONGEST)
    grow(out);
  if (out->failed)
    return;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(out->data + out->used, LONGEST, format, arguments);
  assert(length >= 0 && length < LONGEST);
  out->used += (size_t)length;
  va_end(arguments);
}

static void put_header(text *out, const tt_plan *plan) {
  put(out, "plan rank %" PRId64 " of %" PRId64 " blocks %u parts %u", plan->rank, plan->rank_count, plan->block_count,
      plan->part_count);
  put(out, " tmp %u times %u slice %" PRId64 "%s%s\n", plan->tmp_count, plan->time_count, plan->slice_bytes,
      plan->in_place ? " in-place" : "", plan->direct ? " direct" : "");
  for (uint32_t n = 0; n < plan->level_count; n++)
    put(out, "level %u %.16s\n", n, plan->level[n]);
}

static void put_lane(text *out, const tt_plan *plan, uint32_t number) {
  const tt_lane *lane = &plan->lane[number];
  put(out, "lane %u id %u %s level %u channel %u%s", number, lane->id, tt_plan_role_name[lane->role], lane->level,
      lane->channel, lane->published ? " published" : "");
  for (uint32_t n = 0; n < lane->reader_count; n++)
    put(out, "%s%d", n == 0 ? " readers " : " ", plan->reader[lane->first_reader + n]);
  put(out, "\n");
}

static void put_peer(text *out, const tt_step *step) {
  if (step->kind == TT_STEP_COPY)
    return;
  if (step->peer < 0)
    put(out, " ->*");
  else
    put(out, " %s%d", step->kind == TT_STEP_SEND ? "->" : "<-", step->peer);
}

static void put_refs(text *out, const tt_step *step) {
  if (step->kind != TT_STEP_RECV)
    put(out, " %s.%u", tt_plan_space_name[step->src.space], step->src.index);
  if (step->kind != TT_STEP_SEND)
    put(out, " => %s.%u", tt_plan_space_name[step->dst.space], step->dst.index);
}

static void put_waits(text *out, const tt_plan *plan, const tt_step *step) {
  for (uint32_t n = 0; n < step->wait_count; n++) {
    const tt_wait *wait = &plan->wait[step->wait_first + n];
    put(out, "%s%u.%u%s", n == 0 ? " wait " : " ", wait->lane, wait->step, wait->whole ? "*" : "");
  }
}

static void put_media(text *out, const tt_bound_step *step) {
  const char *before = " via ";
  for (int medium = 0; medium < TT_MEDIUM_COUNT; medium++)
    if (step->media & TT_MEDIA(medium)) {
      put(out, "%s%s", before, tt_medium_name[medium]);
      before = "|";
    }
  put(out, "%s", step->final ? " final" : "");
}

/* bound: NULL for a plan alone. */
static void put_step(text *out, const tt_plan *plan, const tt_step *step, uint32_t number, const tt_bound_step *bound) {
  put(out, "  %u t%u %s", number, step->time, tt_plan_kind_name[step->kind]);
  put_peer(out, step);
  put(out, " b%u", step->block);
  put_refs(out, step);
  put(out, "%s%s%s%s", step->flags & TT_STEP_LEFT ? " left" : "", step->flags & TT_STEP_FIRST ? " first" : "",
      step->flags & TT_STEP_LAST ? " last" : "", step->flags & TT_STEP_ONTO ? " onto" : "");
  if (step->finish > 0)
    put(out, " finish %u", step->finish);
  put_waits(out, plan, step);
  if (bound)
    put_media(out, bound);
  put(out, "\n");
}

char *tt_plan_claim_print(const tt_plan_claim *claim) {
  text out = {NULL, 0, 0, false};
  put(&out, "plans 1\nclaim %s ranks %" PRId64 " blocks %" PRId64, claim->collective, claim->rank_count,
      claim->block_count);
  if (claim->root >= 0)
    put(&out, " root %" PRId64, claim->root);
  put(&out, "%s%s%s\n", claim->in_place ? " in-place" : "", claim->ordered ? " ordered" : "",
      claim->reproducible ? " reproducible" : "");
  for (int64_t e = 0; e < claim->edge_count; e++)
    put(&out, "edge %" PRId64 " %d->%d\n", e, claim->from[e], claim->to[e]);
  if (!out.failed)
    return out.data;
  free(out.data);
  tt_fail(TUTTI_ERR_MEMORY, "no memory for the text of %" PRId64 " edges", claim->edge_count);
  return NULL;
}

static void put_plan(text *out, const tt_plan *plan, const tt_bound_step *bound) {
  put_header(out, plan);
  for (uint32_t n = 0; n < plan->lane_count; n++) {
    put_lane(out, plan, n);
    for (uint32_t k = 0; k < plan->lane[n].step_count; k++) {
      uint32_t step = plan->lane[n].first_step + k;
      put_step(out, plan, &plan->step[step], k, bound ? &bound[step] : NULL);
    }
  }
}

/* NULL, with the error's text, where there was no memory. */
static char *close(text *out, const tt_plan *plan) {
  if (!out->failed)
    return out->data;
  free(out->data);
  tt_fail(TUTTI_ERR_MEMORY, "no memory for the text of a plan with %u steps", plan->step_count);
  return NULL;
}

char *tt_plan_print(const tt_plan *plan) {
  text out = {NULL, 0, 0, false};
  put_plan(&out, plan, NULL);
  return close(&out, plan);
}

static void put_numbers(text *out, const char *name, const uint32_t *number, uint32_t count) {
  if (count > 0)
    put(out, "%s", name);
  for (uint32_t n = 0; n < count; n++)
    put(out, " %u", number[n]);
  if (count > 0)
    put(out, "\n");
}

static void put_images(text *out, const char *name, const tt_image_ref *image, uint32_t count) {
  if (count > 0)
    put(out, "%s", name);
  for (uint32_t n = 0; n < count; n++)
    put(out, " %s.%u", tt_plan_space_name[image[n].ref.space], image[n].ref.index);
  if (count > 0)
    put(out, "\n");
}

char *tt_bound_plan_print(const tt_bound_plan *bound) {
  text out = {NULL, 0, 0, false};
  put(&out, "bound %s\n", tt_class_name[bound->blocks]);
  put_images(&out, "widen", bound->widen, bound->widen_count);
  put_plan(&out, bound->list, bound->step);
  put_numbers(&out, "put", bound->put, bound->put_count);
  put_numbers(&out, "take", bound->take, bound->take_count);
  put_numbers(&out, "order", bound->order, bound->order_count);
  put_numbers(&out, "released", &bound->released, bound->order_count > 0);
  put_numbers(&out, "settle", bound->settle, bound->settle_count);
  put_images(&out, "narrow", bound->narrow, bound->narrow_count);
  return close(&out, bound->list);
}

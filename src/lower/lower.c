/* lower/lower.c - the compiler: composition, topology and parameters -> what all ranks share -> one rank's plan.
 *
 *     tt_lowering_create   levels of each stage, with ring(n) and folding (members.c, levels.c); is rank order kept
 *                          (facts.c)? stripe and channels cut blocks into parts
 *     tt_lower_rank        primitives that touch the rank (touch.c) -> edges (edges.c) -> values and events (flow.c,
 *                          values.c, fuse.c) -> places (place.c) -> lanes, steps (sequence.c, emit.c), waits (waits.c)
 *
 * Nothing here knows which collective it compiles: a composition has no such field. */
#include "lower/emit.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 4096

_Static_assert(PARTS <= UINT16_MAX + 1, "a part's channel has 16 bits");
/* ---- levels of stages -> levels of the plan ---- */

/* Whether level n of two stages is the same: same name, same groups around it. Streams of one plan level have one set
 * of readers. */
static bool same_level(const tt_lower_stage *a, const tt_lower_stage *b, int n) {
  if (a->rank_count != b->rank_count || memcmp(a->perm, b->perm, (size_t)a->rank_count * sizeof *a->perm) != 0)
    return false;
  for (int m = 0; m <= n; m++)
    if (m >= b->level_count || strcmp(a->level[m].name, b->level[m].name) != 0)
      return false;
  return true;
}

static int find_level(const tt_lowering *lowering, int stage, int n) {
  for (int s = 0; s < stage; s++)
    if (same_level(&lowering->stage[stage], &lowering->stage[s], n))
      return lowering->level_number[s][n];
  return -1;
}

static tutti_status number_levels(tt_lowering *lowering, int stage) {
  for (int n = 0; n < lowering->stage[stage].level_count; n++) {
    int found = find_level(lowering, stage, n);
    if (found < 0) {
      if (lowering->level_count == TT_PLAN_LEVELS)
        return tt_fail(TUTTI_ERR_PLAN, "all stages together have more than %d levels", TT_PLAN_LEVELS);
      found = lowering->level_count++;
      memcpy(lowering->level_name[found], lowering->stage[stage].level[n].name, TT_TOPO_NAME);
    }
    lowering->level_number[stage][n] = (uint16_t)found;
  }
  return TUTTI_OK;
}

/* ---- create ---- */

static tutti_status count_parts(tt_lowering *lowering) {
  tt_params *params = &lowering->params;
  if (params->stripe != 0 && params->even)
    return tt_fail(TUTTI_ERR_PLAN, "'even' deals whole blocks to members, 'stripe' cuts them; use only one of them");
  if (params->stripe == TT_STRIPE_ALL)
    params->stripe = tt_lower_most(params, lowering->topo);
  int64_t parts = (params->stripe > 0 ? params->stripe : 1) * params->channels;
  if (parts > PARTS || lowering->composition->block_count > INT32_MAX / parts)
    return tt_fail(TUTTI_ERR_PLAN, "stripe=%" PRId64 " channels=%" PRId64 " cut %" PRId64 " blocks into too many parts",
                   params->stripe, params->channels, lowering->composition->block_count);
  lowering->part_count = (uint32_t)parts;
  return TUTTI_OK;
}

/* Primitives of a stage are numbered. */
static tutti_status count_primitives(const tt_composition *composition) {
  for (int s = 0; s < composition->stage_count; s++) {
    const tt_stage *stage = &composition->stage[s];
    int64_t count = 0;
    for (int n = 0; n < stage->family_count; n++) {
      const tt_family *family = tt_ir_family(stage, n);
      if (family->count_i > INT32_MAX / family->count_j || count > INT32_MAX - family->count_i * family->count_j)
        return tt_fail(TUTTI_ERR_PLAN, "stage '%s' has more than %d primitives", stage->name, INT32_MAX);
      count += family->count_i * family->count_j;
    }
  }
  return TUTTI_OK;
}

/* How many members of a group may carry blocks that have one root. */
static int64_t carriers(const tt_lowering *lowering, int stage) {
  return lowering->params.even ? lowering->stage[stage].most : lowering->params.stripe;
}

static tutti_status resolve_stages(tt_lowering *lowering) {
  const tt_composition *composition = lowering->composition;
  for (int n = 0; n < composition->stage_count; n++) {
    tt_lower_stage *stage = &lowering->stage[n];
    tutti_status status = tt_lower_resolve(composition, n, lowering->topo, &lowering->params, &lowering->arena, stage);
    if (status == TUTTI_OK)
      status =
          tt_lower_check_order(&composition->stage[n], stage, carriers(lowering, n), lowering->params.reproducible);
    if (status == TUTTI_OK)
      status = number_levels(lowering, n);
    if (status != TUTTI_OK)
      return status;
    int64_t rounds = stage->time[0] > 0 ? stage->time[0] : stage->rank_count > 0; /* ranks alone still copy */
    lowering->stage_time[n + 1] = lowering->stage_time[n] + (uint32_t)rounds;
  }
  return TUTTI_OK;
}

tutti_status tt_lowering_create(const tt_composition *composition, const tt_topo *topo, const tt_params *params,
                                tt_lowering **lowering) {
  if (composition->rank_count != topo->rank_count)
    return tt_fail(TUTTI_ERR_PLAN, "the composition has %" PRId64 " ranks, but the topology has %" PRId64,
                   composition->rank_count, topo->rank_count);
  tt_lowering *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a lowering");
  tt_arena_init(&made->arena);
  made->composition = composition;
  made->topo = topo;
  made->params = *params;
  tutti_status status = count_parts(made);
  if (status == TUTTI_OK)
    status = count_primitives(composition);
  if (status == TUTTI_OK)
    status = resolve_stages(made);
  if (status != TUTTI_OK) {
    tt_lowering_destroy(made);
    return status;
  }
  *lowering = made;
  return TUTTI_OK;
}

void tt_lowering_destroy(tt_lowering *lowering) {
  if (!lowering)
    return;
  tt_arena_finish(&lowering->arena);
  free(lowering);
}

bool tt_lowering_relays(const tt_lowering *lowering) {
  for (int s = 0; s < lowering->composition->stage_count; s++)
    if (tt_lower_relays(&lowering->composition->stage[s], &lowering->stage[s]))
      return true;
  return false;
}

/* ---- for people ---- */

int tt_lowering_level_count(const tt_lowering *lowering, int stage) {
  assert(stage >= 0 && stage < lowering->composition->stage_count);
  return lowering->stage[stage].level_count;
}

tt_level_info tt_lowering_level(const tt_lowering *lowering, int stage, int number) {
  assert(number >= 0 && number < tt_lowering_level_count(lowering, stage));
  const tt_lower_level *level = &lowering->stage[stage].level[number];
  tt_level_info info = {.params = level->params,
                        .plan_level = lowering->level_number[stage][number],
                        .group_count = level->group_count,
                        .fewest = INT64_MAX,
                        .rounds = level->rounds,
                        .fold = level->fold,
                        .striped = level->striped,
                        .publish = level->publish && level->params.shape->direct};
  memcpy(info.name, level->name, sizeof info.name);
  for (int64_t g = 0; g < (number ? level[-1].group_count : 1); g++) {
    int64_t joined = level->first[g + 1] - level->first[g];
    info.fewest = joined < info.fewest ? joined : info.fewest;
    info.most = joined > info.most ? joined : info.most;
  }
  return info;
}

uint32_t tt_lowering_round(const tt_lowering *lowering, int stage) {
  assert(stage >= 0 && stage <= lowering->composition->stage_count);
  return lowering->stage_time[stage];
}

/* ---- one rank ---- */

static bool is_direct(const tt_lowering *lowering) {
  const tt_lower_stage *stage = &lowering->stage[0];
  return lowering->composition->stage_count == 1 && stage->level_count == 1 && lowering->part_count == 1 &&
         stage->level[0].params.shape->direct && stage->rank_count == lowering->composition->rank_count;
}

static void head_of(const tt_lowering *lowering, int64_t rank, tt_plan *plan) {
  const tt_composition *composition = lowering->composition;
  plan->rank = rank;
  plan->rank_count = composition->rank_count;
  assert(composition->block_count <= INT32_MAX / lowering->part_count);
  plan->block_count = (uint32_t)composition->block_count * lowering->part_count;
  plan->part_count = lowering->part_count;
  uint32_t rounds = lowering->stage_time[composition->stage_count];
  plan->time_count = rounds > 0 ? rounds : 1;
  plan->slice_bytes = lowering->params.slice_bytes;
  plan->in_place = composition->in_place;
  plan->direct = is_direct(lowering);
  plan->level_count = (uint32_t)lowering->level_count;
  memcpy(plan->level, lowering->level_name, sizeof plan->level);
}

tutti_status tt_lower_rank(const tt_lowering *lowering, int64_t rank, tt_plan **plan) {
  assert(rank >= 0 && rank < lowering->composition->rank_count);
  tt_plan *made;
  tutti_status status = tt_plan_create(&made);
  if (status != TUTTI_OK)
    return status;
  tt_arena scratch;
  tt_arena_init(&scratch);
  head_of(lowering, rank, made);
  tt_flow flow = {.arena = &scratch, .rank = rank, .in_place = lowering->composition->in_place};
  uint32_t tmp_count = 0;
  if (!tt_lower_flow(lowering, &flow) || !tt_lower_fuse(&flow) || !tt_lower_place(&flow, &tmp_count))
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory to lower rank %" PRId64 " of %" PRId64, rank, made->rank_count);
  else
    status = tt_lower_emit(lowering, &flow, tmp_count, made);
  assert(status != TUTTI_OK || tt_plan_check(made) == TUTTI_OK); /* what comes out is well formed */
  tt_arena_finish(&scratch);
  if (status != TUTTI_OK)
    tt_plan_destroy(made);
  else
    *plan = made;
  return status;
}

/* tune/identity.c - what a candidate comes to: whether it makes a plan, and whether another one runs alike.
 *
 * Two texts run alike if all ranks have the same steps, waits and readers, and pieces of the same length. Names of
 * levels and numbers of lanes do not matter. Of many ranks, a sample is compiled. */
#include "tune/space.h"

#include <string.h>

#define SAMPLE 8
#define ALL_RANKS 16 /* of more, a sample */

/* ---- what runs ---- */

static uint64_t hash_number(uint64_t hash, uint64_t number) { return tt_hash(hash, &number, sizeof number); }

static uint64_t hash_step(uint64_t hash, const tt_plan *plan, const tt_step *step, bool rounds) {
  const uint32_t facts[] = {step->kind,      step->flags,      (uint32_t)step->peer,   step->block,
                            step->src.space, step->src.index,  step->dst.space,        step->dst.index,
                            step->finish,    step->wait_count, rounds ? step->time : 0};
  hash = tt_hash(hash, facts, sizeof facts);
  return tt_hash(hash, &plan->wait[step->wait_first], step->wait_count * sizeof *plan->wait);
}

static uint64_t hash_plan(uint64_t hash, const tt_plan *plan, bool rounds) {
  hash = hash_number(hash, plan->block_count);
  for (uint32_t n = 0; n < plan->lane_count; n++) {
    const tt_lane *lane = &plan->lane[n];
    const uint32_t facts[] = {lane->role, lane->published, lane->step_count, lane->reader_count};
    hash = tt_hash(hash, facts, sizeof facts);
    hash = tt_hash(hash, &plan->reader[lane->first_reader], lane->reader_count * sizeof *plan->reader);
    for (uint32_t s = 0; s < lane->step_count; s++)
      hash = hash_step(hash, plan, &plan->step[lane->first_step + s], rounds);
  }
  return hash;
}

/* ---- compiling ---- */

typedef struct compiling {
  tt_arena arena;
  tt_params params;
  tt_composition composition;
  tt_lowering *lowering;
} compiling;

tutti_status tt_task_compose(const tt_problem *of, const tt_params *params, const tt_topo *topo, tt_arena *arena,
                             tt_composition *composition) {
  tt_problem problem = *of;
  const tt_topo_level *level = params->even ? tt_lower_outermost(params, topo) : NULL;
  tutti_status status = TUTTI_OK;
  if (level && level->group_of) {
    tt_owners *owners = tt_arena_alloc(arena, 1, sizeof *owners);
    status = owners ? tt_compose_owners(level->group_of, level->group_count, problem.rank_count, arena, owners)
                    : tt_fail(TUTTI_ERR_MEMORY, "no memory for a composition");
    problem.owners = owners;
  }
  return status == TUTTI_OK ? tt_compose(&problem, params->form, composition) : status;
}

bool tt_task_knows_lengths(tt_collective collective, const tt_lowering *lowering) {
  return tt_compose_info(collective).lengths == TT_LENGTHS_ALL || !tt_lowering_relays(lowering);
}

static tutti_status hash_ranks(const tt_task *task, const compiling *of, tt_structure *made) {
  int64_t ranks = task->problem.rank_count, count = ranks <= ALL_RANKS ? ranks : SAMPLE;
  for (int64_t n = 0; n < count; n++) {
    tt_plan *plan;
    tutti_status status = tt_lower_rank(of->lowering, ranks > count ? n * (ranks - 1) / (count - 1) : n, &plan);
    if (status != TUTTI_OK)
      return status;
    made->hash = hash_plan(made->hash, plan, task->bytes <= task->cells_bytes);
    made->parts = tt_ir_vector_blocks(&of->composition) * plan->part_count;
    tt_plan_destroy(plan);
  }
  return TUTTI_OK;
}

tutti_status tt_structure_make(const tt_task *task, const char *text, tt_structure *made) {
  compiling of = {.lowering = NULL};
  tt_arena_init(&of.arena);
  *made = (tt_structure){.hash = 0};
  tutti_status status = tt_params_parse(text, &of.params);
  if (status == TUTTI_OK)
    status = tt_task_compose(&task->problem, &of.params, task->topo, &of.arena, &of.composition);
  if (status == TUTTI_OK)
    status = tt_lowering_create(&of.composition, task->topo, &of.params, &of.lowering);
  if (status == TUTTI_OK && !tt_task_knows_lengths(task->problem.collective, of.lowering))
    status = tt_fail(TUTTI_ERR_PLAN, "ranks would pass on blocks whose length they do not know");
  if (status == TUTTI_OK)
    status = hash_ranks(task, &of, made);
  made->hash = hash_number(made->hash, of.params.acc_float32);
  tt_lowering_destroy(of.lowering);
  tt_arena_finish(&of.arena);
  return status;
}

/* ---- coordinates ---- */

int64_t tt_structure_block(const tt_task *task, const tt_structure *of) {
  return of->parts > 0 ? (task->bytes + of->parts - 1) / of->parts : 0;
}

uint64_t tt_structure_identity(const tt_task *task, const tt_structure *of, int64_t slice_bytes, bool single_copy) {
  int64_t block = tt_structure_block(task, of);
  int64_t slice = slice_bytes > 0 && slice_bytes < task->slot_bytes ? slice_bytes : task->slot_bytes;
  if (task->bytes <= task->cells_bytes)
    return of->hash;
  bool reads = single_copy && task->read_bytes > 0 && block >= task->read_bytes;
  return hash_number(hash_number(of->hash, reads), (uint64_t)(slice < block ? slice : block));
}

tutti_status tt_candidate_identify(const tt_task *task, const char *text, uint64_t *identity) {
  tt_structure made;
  tt_params params;
  tutti_status status = tt_structure_make(task, text, &made);
  if (status == TUTTI_OK)
    status = tt_params_parse(text, &params);
  if (status == TUTTI_OK)
    *identity = tt_structure_identity(task, &made, params.slice_bytes, params.single_copy);
  return status;
}

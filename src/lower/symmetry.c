/* lower/symmetry.c - which ranks have one plan but for the numbers in it.
 *
 * Trees are laid around their root: rotate and reflect know but distances between groups, xor only which bits differ.
 * So where all stages' outermost trees join the same equal groups with one of these, every rank is a root, and a block
 * is its root's or everyone's, moving all groups on moves all plans:
 *
 *     plan of rank g(r)  =  g(plan of rank r)      g: rotates the outermost groups, or exchanges them by bits
 *
 * up to the order of the blocks of a message, which go by number. So do peers to which a rank sends in one round. A
 * chain and halving have one in another group, and stars inside the groups stay where they are: nothing that takes time
 * depends on the order. Other trees, stripes and channels are refused. */
#include "lower/emit.h"
#include "lower/levels.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- compositions ---- */

static bool is_same(tt_affine a, tt_affine b) { return a.base == b.base && a.i == b.i && a.j == b.j; }

/* Every rank is the root of one primitive, with all ranks for ends. */
static bool has_all_roots(const tt_composition *composition, const tt_family *family) {
  bool by_i = is_same(family->root, (tt_affine){0, 1, 0}) && family->count_j == 1;
  bool by_j = is_same(family->root, (tt_affine){0, 0, 1}) && family->count_i == 1;
  return family->ends.kind == TT_ENDS_ALL && family->count_i * family->count_j == composition->rank_count &&
         (by_i || by_j);
}

/* Whether blocks move with their roots; else they stay. */
static bool blocks_move(const tt_composition *composition) {
  const tt_family *family = tt_ir_family(&composition->stage[0], 0);
  return is_same(family->block, family->root);
}

static bool is_even(const tt_composition *composition, const tt_family *family) {
  bool stays = family->block.i == 0 && family->block.j == 0;
  return has_all_roots(composition, family) &&
         (blocks_move(composition) ? is_same(family->block, family->root) : stays);
}

static tutti_status check_composition(const tt_composition *composition) {
  for (int s = 0; s < composition->stage_count; s++)
    for (int n = 0; n < composition->stage[s].family_count; n++)
      if (!is_even(composition, tt_ir_family(&composition->stage[s], n)))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "stage '%s' does not treat all ranks alike", composition->stage[s].name);
  return TUTTI_OK;
}

/* ---- levels ---- */

static tutti_status fail_level(const tt_lowering *lowering, int s, int n, const char *why) {
  return tt_fail(TUTTI_ERR_UNSUPPORTED, "stage '%s', level '%s': %s", lowering->composition->stage[s].name,
                 lowering->stage[s].level[n].name, why);
}

/* Whether groups of a level cut each unit in the same way. */
static bool cuts_alike(const tt_lower_level *level, int64_t unit_count, int64_t unit_size) {
  for (int64_t u = 0; u < unit_count; u++)
    for (int64_t m = 0; m < unit_size; m++)
      if (level->group_at[u * unit_size + m] - level->group_at[u * unit_size] !=
          level->group_at[m] - level->group_at[0])
        return false;
  return true;
}

/* Whether a rank sends to at most one other group at a time. */
static bool has_one_peer(const tt_level_params *level) {
  const char *name = tt_shape_about(level->shape)->name;
  return strcmp(name, "chain") == 0 || (strcmp(name, "nomial") == 0 && level->k == 2 && level->labelling == TT_XOR);
}

/* Blocks are dealt to members by their numbers: those of one rank's images to one member. */
static bool deals_alike(const tt_lower_stage *stage, int64_t unit_size) {
  for (int64_t at = 0; at < stage->rank_count; at++)
    if (stage->perm[at] % stage->most != stage->perm[at % unit_size] % stage->most)
      return false;
  return true;
}

static tutti_status check_stage(const tt_lowering *lowering, int s, const tt_symmetry *symmetry) {
  const tt_lower_stage *stage = &lowering->stage[s], *first = &lowering->stage[0];
  const tt_lower_level *outermost = &stage->level[0];
  if (stage->rank_count != lowering->composition->rank_count || outermost->group_count != symmetry->unit_count ||
      memcmp(stage->perm, first->perm, (size_t)stage->rank_count * sizeof *stage->perm) != 0)
    return fail_level(lowering, s, 0, "joins other groups than the first stage");
  if (outermost->fold || !has_one_peer(&outermost->params))
    return fail_level(lowering, s, 0, "only a chain, and 2-nomial,xor over a power of two of groups, treat all alike");
  if ((outermost->params.labelling == TT_XOR) != symmetry->exchanges)
    return fail_level(lowering, s, 0, "xor in one stage, but not in the other");
  for (int n = 1; n < stage->level_count; n++)
    if (!stage->level[n].params.shape->direct)
      return fail_level(lowering, s, n, "only stars are known to take one time in all groups");
  for (int n = 0; n < stage->level_count; n++)
    if (!cuts_alike(&stage->level[n], symmetry->unit_count, symmetry->unit_size))
      return fail_level(lowering, s, n, "groups differ in size or order");
  if (lowering->params.even && blocks_move(lowering->composition) && !deals_alike(stage, symmetry->unit_size))
    return fail_level(lowering, s, 0, "'even' does not deal blocks to the same members of all groups");
  return TUTTI_OK;
}

tutti_status tt_lowering_symmetry(const tt_lowering *lowering, tt_symmetry *symmetry) {
  const tt_lower_stage *first = &lowering->stage[0];
  const tt_lower_level *outermost = &first->level[0];
  tutti_status status = check_composition(lowering->composition);
  if (status != TUTTI_OK)
    return status;
  if (lowering->part_count > 1 || lowering->params.stripe > 0)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "blocks are cut by stripe or channels, or go through one rank of a group");
  if (first->rank_count == 0)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "stage '%s' has no ranks", lowering->composition->stage[0].name);
  tt_symmetry all = {.unit_count = outermost->group_count,
                     .unit_size = first->rank_count / outermost->group_count,
                     .line = first->perm,
                     .position = first->position,
                     .exchanges = outermost->params.labelling == TT_XOR,
                     .step = 1,
                     .mask = outermost->group_count - 1};
  if (all.unit_count * all.unit_size != lowering->composition->rank_count)
    return fail_level(lowering, 0, 0, "groups differ in size");
  for (int s = 0; s < lowering->composition->stage_count; s++)
    if ((status = check_stage(lowering, s, &all)) != TUTTI_OK)
      return status;
  *symmetry = all;
  return TUTTI_OK;
}

/* ---- two plans ---- */

typedef struct comparison {
  const tt_lowering *lowering;
  const tt_symmetry *symmetry;
  int64_t by;
  const tt_plan *of, *image;
} comparison;

static uint32_t block_image(const comparison *in, uint32_t block) {
  uint32_t parts = in->lowering->part_count, whole = block / parts;
  if (blocks_move(in->lowering->composition))
    whole = (uint32_t)tt_symmetry_move(in->symmetry, whole, in->by);
  return whole * parts + block % parts;
}

/* A step's kind, round and block, as a number whose sums tell sets of steps apart, but for bad luck. */
static uint64_t hash(const tt_step *step, uint32_t block) {
  uint64_t of = ((uint64_t)block << 32 | step->time) + ((uint64_t)step->kind << 28);
  of = (of ^ of >> 31) * 0x9e3779b97f4a7c15u;
  return of ^ of >> 29;
}

static bool same_message(const comparison *in, const tt_step *a, const tt_step *b) {
  int32_t peer = a->peer < 0 ? a->peer : (int32_t)tt_symmetry_move(in->symmetry, a->peer, in->by);
  return a->peer < 0 ? b->peer < 0 : peer == b->peer && a->time == b->time;
}

/* Message after message to the same peers; in each the same blocks, in any order. */
static bool same_lane(const comparison *in, const tt_lane *a, const tt_lane *b) {
  if (a->id != b->id || a->role != b->role || a->published != b->published || a->step_count != b->step_count ||
      a->reader_count != b->reader_count)
    return false;
  uint64_t sum = 0;
  for (uint32_t n = 0; n < a->step_count; n++) {
    const tt_step *x = &in->of->step[a->first_step + n], *y = &in->image->step[b->first_step + n];
    if (a->role != TT_ROLE_LOCAL && (!same_message(in, x, y) || (x->flags ^ y->flags) & TT_STEP_LAST))
      return false;
    sum += hash(x, block_image(in, x->block)) - hash(y, y->block);
    if (a->role != TT_ROLE_LOCAL && x->flags & TT_STEP_LAST && sum != 0)
      return false;
  }
  return sum == 0;
}

static bool same_plan(const comparison *in) {
  if (in->of->lane_count != in->image->lane_count || in->of->step_count != in->image->step_count)
    return false;
  for (uint32_t n = 0; n < in->of->lane_count; n++)
    if (!same_lane(in, &in->of->lane[n], &in->image->lane[n]))
      return false;
  return true;
}

tutti_status tt_lower_check_image(const tt_lowering *lowering, const tt_symmetry *symmetry, const tt_plan *of,
                                  int64_t by) {
  int64_t rank = tt_symmetry_move(symmetry, of->rank, by);
  tt_plan *image;
  tutti_status status = tt_lower_rank(lowering, rank, &image);
  if (status != TUTTI_OK)
    return status;
  comparison in = {lowering, symmetry, by, of, image};
  if (!same_plan(&in))
    status = tt_fail(TUTTI_ERR_UNSUPPORTED, "the plan of rank %" PRId64 " is not that of rank %" PRId64 " moved on",
                     rank, of->rank);
  tt_plan_destroy(image);
  return status;
}

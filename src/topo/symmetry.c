/* topo/symmetry.c - permutations of ranks, and which of them a topology does not notice.
 *
 * Each is tried on all ranks: a group has to come onto a group. Rotations by a multiple of a step form a group, and so
 * do changes of any bits of a mask, so one permutation a step or bit is enough. Costs O(ranks x levels) for each. */
#include "topo/topo.h"

#include <assert.h>

int64_t tt_symmetry_move(const tt_symmetry *symmetry, int64_t rank, int64_t by) {
  int64_t size = symmetry->unit_size, unit = symmetry->position[rank] / size, place = symmetry->position[rank] % size;
  assert(by >= 0 && by < symmetry->unit_count);
  int64_t to = symmetry->exchanges                ? unit ^ by
               : unit + by < symmetry->unit_count ? unit + by
                                                  : unit + by - symmetry->unit_count;
  return symmetry->line[to * size + place];
}

int64_t tt_symmetry_home(const tt_symmetry *symmetry, int64_t rank) {
  int64_t unit = symmetry->position[rank] / symmetry->unit_size;
  if (symmetry->exchanges)
    return unit & symmetry->mask;
  int64_t back = unit - unit % symmetry->step;
  return back ? symmetry->unit_count - back : 0;
}

int64_t tt_symmetry_order(const tt_symmetry *symmetry) {
  return symmetry->exchanges ? (int64_t)1 << __builtin_popcountll((uint64_t)symmetry->mask)
                             : symmetry->unit_count / symmetry->step;
}

int64_t tt_symmetry_unit_total(const tt_symmetry *symmetry) {
  return symmetry->unit_count / tt_symmetry_order(symmetry);
}

/* Where bits are exchanged: the number's bits at the places that the mask leaves. */
int64_t tt_symmetry_unit(const tt_symmetry *symmetry, int64_t number) {
  if (!symmetry->exchanges)
    return number;
  int64_t unit = 0;
  for (int64_t bit = 1; bit < symmetry->unit_count; bit *= 2)
    if (!(symmetry->mask & bit)) {
      unit |= number & 1 ? bit : 0;
      number >>= 1;
    }
  return unit;
}

/* ---- topologies ---- */

/* Whether what has one number has one number afterwards. image: room for numbers below `count`. */
static bool keeps(const tt_symmetry *symmetry, int64_t by, const int32_t *number_of, int64_t count, int32_t *image) {
  for (int64_t n = 0; n < count; n++)
    image[n] = -1;
  for (int64_t r = 0; r < symmetry->unit_count * symmetry->unit_size; r++) {
    assert(number_of[r] >= 0 && number_of[r] < count);
    int32_t to = number_of[tt_symmetry_move(symmetry, r, by)], *known = &image[number_of[r]];
    if (*known >= 0 && *known != to)
      return false;
    *known = to;
  }
  return true;
}

static bool keeps_all(const tt_topo *topo, const tt_symmetry *symmetry, int64_t by, int32_t *work) {
  for (int n = 0; n < topo->level_count; n++)
    if (topo->level[n].group_of && !keeps(symmetry, by, topo->level[n].group_of, topo->level[n].group_count, work))
      return false;
  return !topo->reach_of || keeps(symmetry, by, topo->reach_of, topo->rank_count, work);
}

/* The permutation with that number, of tt_symmetry_order. */
static int64_t by_number(const tt_symmetry *symmetry, int64_t number) {
  tt_symmetry others = *symmetry;
  others.mask = symmetry->unit_count - 1 - symmetry->mask;
  return symmetry->exchanges ? tt_symmetry_unit(&others, number) : number * symmetry->step;
}

/* Whether no permutation but the identity brings a group onto itself: a rank's images are in different groups. */
static bool parts(const tt_symmetry *symmetry, const tt_topo_level *level, int32_t *last) {
  if (!level->group_of)
    return true;
  for (int64_t n = 0; n < level->group_count; n++)
    last[n] = -1;
  for (int64_t n = 0; n < tt_symmetry_unit_total(symmetry); n++)
    for (int64_t m = 0; m < symmetry->unit_size; m++) {
      int32_t rank = symmetry->line[tt_symmetry_unit(symmetry, n) * symmetry->unit_size + m];
      for (int64_t g = 0; g < tt_symmetry_order(symmetry); g++) {
        int32_t group = level->group_of[tt_symmetry_move(symmetry, rank, by_number(symmetry, g))];
        if (last[group] == rank)
          return false;
        last[group] = rank;
      }
    }
  return true;
}

static bool parts_all(const tt_topo *topo, const bool *apart, const tt_symmetry *symmetry, int32_t *work) {
  for (int n = 0; n < topo->level_count; n++)
    if (apart[n] && !parts(symmetry, &topo->level[n], work))
      return false;
  return true;
}

static void find_step(const tt_topo *topo, const bool *apart, tt_symmetry *symmetry, int32_t *work) {
  for (; symmetry->step < symmetry->unit_count; symmetry->step++)
    if (symmetry->unit_count % symmetry->step == 0 && keeps_all(topo, symmetry, symmetry->step, work) &&
        parts_all(topo, apart, symmetry, work))
      return;
}

static void find_mask(const tt_topo *topo, const bool *apart, tt_symmetry *symmetry, int32_t *work) {
  int64_t allowed = symmetry->mask;
  symmetry->mask = 0;
  for (int64_t bit = 1; bit < symmetry->unit_count; bit *= 2) {
    tt_symmetry more = *symmetry;
    more.mask |= bit;
    if (allowed & bit && keeps_all(topo, symmetry, bit, work) && parts_all(topo, apart, &more, work))
      *symmetry = more;
  }
}

tutti_status tt_topo_symmetry(const tt_topo *topo, const bool *apart, tt_symmetry *symmetry) {
  assert(topo->rank_count == symmetry->unit_count * symmetry->unit_size);
  assert(!symmetry->exchanges || (symmetry->unit_count & (symmetry->unit_count - 1)) == 0);
  tt_arena scratch;
  tt_arena_init(&scratch);
  int32_t *work = tt_arena_alloc(&scratch, (size_t)topo->rank_count, sizeof *work);
  if (work && symmetry->exchanges)
    find_mask(topo, apart, symmetry, work);
  else if (work)
    find_step(topo, apart, symmetry, work);
  tt_arena_finish(&scratch);
  return work ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for a symmetry of %d ranks", (int)topo->rank_count);
}

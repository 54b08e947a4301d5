/* sim/symmetry.c - of ranks that permutations bring onto each other, one is simulated.
 *
 *     ranks 0 1 2 3 in a ring, rank 0 stands for all:    0 -> 1    is simulated as it is
 *                                                        3 -> 0    its image: so rank 0 receives what it sends itself
 *
 * A stream from s to r is known by the rank that stands for s, and by where the permutation that brings s there brings
 * r: that is whom the former's plan names. So each end finds the other from its own plan, and the levels that a packet
 * crosses are the right ones. Of a group of links that packets may wait for, all ranks are simulated, each itself or as
 * an image; other links are left out. */
#include "sim/machine.h"

#include <assert.h>
#include <inttypes.h>

/* ---- which permutations ---- */

/* The most groups one level in that a group of the level consists of. count: zeros, one for each group of the level. */
static int64_t most_subgroups(const tt_topo *topo, int level, int32_t *count) {
  const tt_topo_level *outer = &topo->level[level], *inner = &topo->level[level + 1];
  int64_t most = 0, seen = 0;
  for (int64_t r = 0; r < topo->rank_count; r++) {
    if ((inner->group_of ? (int64_t)inner->group_of[r] : r) != seen) /* groups are numbered by first appearance */
      continue;
    seen++;
    int64_t groups = ++count[outer->group_of[r]];
    most = groups > most ? groups : most;
  }
  return most;
}

/* Whether there is always a link of the level for a packet: as many as its ranks have ports, of which what is published
 * needs none, or as its groups one level in have links, which are at least as slow. */
static bool never_waits(const tt_sim_model *model, int level, int32_t *count) {
  const tt_sim_level *at = &model->level[level], *in = at + 1;
  int64_t ports = 0;
  bool publish = false;
  for (int n = 0; n <= level; n++) {
    ports += model->level[n].ports;
    publish |= model->topo->level[n].publish;
  }
  if (at->links == 0 || (!publish && at->links >= ports * model->topo->level[level].most))
    return true;
  return level + 1 < model->topo->level_count && in->links > 0 && in->beta_ns >= at->beta_ns &&
         at->links >= in->links * most_subgroups(model->topo, level, count);
}

static tutti_status no_memory(int64_t ranks) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory to simulate %" PRId64 " ranks", ranks);
}

/* waits[level]: packets may have to wait for its links. */
static tutti_status find_waits(const tt_sim_model *model, bool waits[static TT_TOPO_LEVELS]) {
  tt_arena scratch;
  tt_arena_init(&scratch);
  for (int n = 0; n < model->topo->level_count; n++) {
    int32_t *count = tt_arena_alloc(&scratch, (size_t)model->topo->level[n].group_count, sizeof *count);
    waits[n] = count && !never_waits(model, n, count);
  }
  bool failed = scratch.failed;
  tt_arena_finish(&scratch);
  return failed ? no_memory(model->topo->rank_count) : TUTTI_OK;
}

tutti_status tt_sim_symmetry(const tt_sim_model *model, const tt_symmetry *plans, tt_symmetry *symmetry) {
  bool waits[TT_TOPO_LEVELS];
  tutti_status status = find_waits(model, waits);
  tt_symmetry found = *plans;
  if (status == TUTTI_OK)
    status = tt_topo_symmetry(model->topo, waits, &found);
  if (status == TUTTI_OK)
    *symmetry = found;
  return status;
}

/* ---- the ranks that are simulated ---- */

/* Plans of ranks that stand for others have the numbers of the line's first unit. */
int64_t tt_sim_peer(const tt_sim_machine *machine, uint32_t number, int64_t peer) {
  const tt_symmetry *symmetry = machine->ranks.symmetry;
  return symmetry ? tt_symmetry_move(symmetry, peer, tt_symmetry_unit(symmetry, number / symmetry->unit_size)) : peer;
}

void tt_sim_stand_in(const tt_sim_machine *machine, int64_t source, uint32_t reader, uint32_t *number, uint32_t *to) {
  *number = (uint32_t)source;
  *to = reader;
  if (!machine->ranks.symmetry)
    return;
  int64_t by = tt_symmetry_home(machine->ranks.symmetry, source);
  *number = (uint32_t)machine->ranks.number_of[tt_symmetry_move(machine->ranks.symmetry, source, by)];
  *to = (uint32_t)tt_symmetry_move(machine->ranks.symmetry, machine->ranks.rank_of[reader], by);
}

/* Packets are whole messages: in slices, the order of a message's blocks would tell. */
static tutti_status check_lengths(const tt_sim_machine *machine, const tt_sim_call *call) {
  const tt_plan *plan = call->plan[0];
  const tt_sim_lengths *lengths = &call->lengths;
  if (machine->model->place_count > 0)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "no ranks stand for others where the model has single links or ranks");
  if (plan->slice_bytes > 0 || machine->model->slot_bytes > 0)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "no ranks stand for others where messages are cut into slices");
  int64_t first = lengths->bytes ? lengths->bytes[0] : lengths->total_bytes;
  bool equal = lengths->bytes ? first % plan->part_count == 0 : first % plan->block_count == 0;
  for (uint32_t n = 1; lengths->bytes && n < plan->block_count / plan->part_count; n++)
    equal = equal && lengths->bytes[n] == first;
  return equal ? TUTTI_OK
               : tt_fail(TUTTI_ERR_UNSUPPORTED,
                         "no ranks stand for others: a length that %u does not divide makes unequal blocks",
                         plan->block_count);
}

tutti_status tt_sim_symmetry_make(tt_sim_machine *machine, const tt_sim_call *call) {
  const tt_symmetry *symmetry = machine->ranks.symmetry;
  int64_t ranks = machine->rank_count, size = symmetry->unit_size;
  bool waits[TT_TOPO_LEVELS];
  tutti_status status = check_lengths(machine, call);
  if (status == TUTTI_OK)
    status = find_waits(machine->model, waits);
  if (status != TUTTI_OK)
    return status;
  for (uint32_t n = 0; n < machine->level_count; n++)
    machine->link.unused[n] = !waits[n];
  machine->rank_count = (uint32_t)(tt_symmetry_unit_total(symmetry) * size);
  machine->ranks.rank_of = tt_arena_alloc(&machine->arena, machine->rank_count, sizeof *machine->ranks.rank_of);
  machine->ranks.number_of = tt_arena_alloc(&machine->arena, (size_t)ranks, sizeof *machine->ranks.number_of);
  if (!machine->ranks.rank_of || !machine->ranks.number_of)
    return no_memory(machine->rank_count);
  for (int64_t r = 0; r < ranks; r++)
    machine->ranks.number_of[r] = -1;
  for (uint32_t n = 0; n < machine->rank_count; n++) {
    machine->ranks.rank_of[n] = symmetry->line[tt_symmetry_unit(symmetry, n / size) * size + n % size];
    machine->ranks.number_of[machine->ranks.rank_of[n]] = (int32_t)n;
  }
  return TUTTI_OK;
}

void tt_sim_symmetry_count(tt_sim_machine *machine) {
  int64_t by = machine->ranks.symmetry ? tt_symmetry_order(machine->ranks.symmetry) : 1;
  machine->result->simulated = machine->rank_count;
  for (uint32_t n = 0; n < machine->level_count; n++) {
    tt_sim_counts *counts = &machine->result->level[n];
    *counts = (tt_sim_counts){counts->messages * by, counts->packets * by, counts->bytes * by};
  }
}

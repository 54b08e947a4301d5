/* verify/memory.c - which memory each rank has, and where in place makes one of two. */
#include "verify/machine.h"

static bool in_exists(const tt_proof *proof, uint32_t rank, uint32_t block) {
  const tt_meaning *meaning = proof->meaning;
  uint32_t of = block / proof->part_count;
  return (meaning->layout[TT_IN] == TT_LAYOUT_ALL || of == rank) && meaning->has_in(meaning, rank, of);
}

static bool out_exists(const tt_proof *proof, uint32_t rank, uint32_t block) {
  return proof->meaning->layout[TT_OUT] == TT_LAYOUT_ALL || block / proof->part_count == rank;
}

bool tt_verify_exists(const tt_proof *proof, uint32_t rank, tt_ref ref, bool write) {
  if (ref.space == TT_SPACE_IN)
    return in_exists(proof, rank, ref.index) &&
           (!write || (proof->meaning->in_place && out_exists(proof, rank, ref.index)));
  return ref.space != TT_SPACE_OUT || out_exists(proof, rank, ref.index);
}

tt_location *tt_verify_location(const tt_machine *machine, uint32_t rank, tt_ref ref) {
  uint32_t space = ref.space == TT_SPACE_IN && machine->proof->meaning->in_place ? TT_SPACE_OUT : ref.space;
  return &machine->location[machine->first_location[rank] + (size_t)space * machine->proof->block_count + ref.index];
}

static bool holds_input(const tt_machine *machine, uint32_t rank, tt_ref ref) {
  return (ref.space == TT_SPACE_IN || (ref.space == TT_SPACE_OUT && machine->proof->meaning->in_place)) &&
         in_exists(machine->proof, rank, ref.index);
}

uint32_t tt_verify_held(tt_machine *machine, uint32_t rank, tt_ref ref) {
  tt_location *at = tt_verify_location(machine, rank, ref);
  if (at->content == TT_NONE && holds_input(machine, rank, ref))
    at->content = tt_verify_input(machine, rank, ref.index);
  return at->content;
}

static size_t count_locations(tt_machine *machine) {
  const tt_proof *proof = machine->proof;
  size_t count = 0;
  for (uint32_t rank = 0; rank < proof->rank_count; rank++) {
    machine->first_location[rank] = count;
    count += (size_t)TT_SPACE_TMP * proof->block_count + proof->plan[rank]->tmp_count;
  }
  return count;
}

/* Each step makes at most two contents, each location at most one of its rank's input. */
tutti_status tt_verify_machine_init(tt_machine *machine, tt_proof *proof) {
  tt_arena *arena = &proof->arena;
  *machine = (tt_machine){.proof = proof, .words_per_set = (proof->rank_count + 63) / 64};
  machine->first_location = tt_arena_alloc(arena, proof->rank_count, sizeof *machine->first_location);
  size_t locations = machine->first_location != NULL ? count_locations(machine) : 0;
  size_t contents = 2 * (size_t)proof->step_count + 2 * (size_t)proof->rank_count * proof->block_count;
  machine->content = tt_arena_alloc(arena, contents, sizeof *machine->content);
  machine->set = tt_arena_alloc(arena, contents * machine->words_per_set, sizeof *machine->set);
  machine->sent = tt_arena_alloc(arena, proof->step_count, sizeof *machine->sent);
  machine->location = tt_arena_alloc(arena, locations, sizeof *machine->location);
  if (arena->failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", proof->step_count);
  for (size_t n = 0; n < locations; n++)
    machine->location[n] = (tt_location){TT_NONE, {TT_NONE, TT_NONE}};
  return tt_verify_races_init(&machine->races, proof);
}

/* verify/memory.c - which memory each rank has, and where in place makes one of two. */
#include "verify/machine.h"

#include <assert.h>

static bool in_exists(const tt_proof *proof, uint32_t rank, uint32_t block) {
  return proof->meaning->has_in(proof->meaning, rank, block / proof->part_count);
}

static bool out_exists(const tt_proof *proof, uint32_t rank, uint32_t block) {
  return proof->meaning->expect(proof->meaning, rank, block / proof->part_count).kind != TT_MEANING_NOTHING;
}

bool tt_verify_exists(const tt_proof *proof, uint32_t rank, tt_ref ref, bool write) {
  if (ref.space == TT_SPACE_IN)
    return in_exists(proof, rank, ref.index) &&
           (!write || (proof->meaning->in_place && out_exists(proof, rank, ref.index)));
  return ref.space != TT_SPACE_OUT || out_exists(proof, rank, ref.index);
}

bool tt_verify_holds_input(const tt_proof *proof, uint32_t rank, tt_ref ref) {
  return (ref.space == TT_SPACE_IN || (ref.space == TT_SPACE_OUT && proof->meaning->in_place)) &&
         in_exists(proof, rank, ref.index);
}

uint32_t tt_verify_held(tt_machine *machine, uint32_t rank, tt_ref ref, uint32_t location) {
  tt_location *at = &machine->location[location];
  if (at->content == TT_NONE && tt_verify_holds_input(machine->proof, rank, ref))
    at->content = tt_verify_input(machine, rank, ref.index);
  return at->content;
}

/* ---- locations ---- */

static uint32_t *place_of(const tt_machine *machine, tt_ref ref) {
  uint32_t space = ref.space == TT_SPACE_IN && machine->proof->meaning->in_place ? TT_SPACE_OUT : ref.space;
  return &machine->place[(size_t)space * machine->proof->block_count + ref.index];
}

static bool has_src(const tt_step *step) { return step->kind != TT_STEP_RECV; }
static bool has_dst(const tt_step *step) { return step->kind != TT_STEP_SEND; }

static uint32_t number(const tt_machine *machine, tt_ref ref, uint32_t *count) {
  uint32_t *place = place_of(machine, ref);
  if (*place == TT_NONE)
    *place = (*count)++;
  return *place;
}

static void forget(const tt_machine *machine, const tt_step *step) {
  if (has_src(step))
    *place_of(machine, step->src) = TT_NONE;
  if (has_dst(step))
    *place_of(machine, step->dst) = TT_NONE;
}

/* Steps of a rank are numbered one after the other. */
static uint32_t first_step(const tt_proof *proof, uint32_t rank) {
  uint32_t lane = proof->first_lane[rank];
  return lane < proof->lane_count ? proof->lane[lane].first_step : proof->step_count;
}

static uint32_t number_locations(tt_machine *machine) {
  const tt_proof *proof = machine->proof;
  uint32_t count = 0;
  for (uint32_t rank = 0; rank < proof->rank_count; rank++) {
    uint32_t from = first_step(proof, rank), to = first_step(proof, rank + 1);
    for (uint32_t step = from; step < to; step++) {
      if (has_src(proof->step[step]))
        machine->src_at[step] = number(machine, proof->step[step]->src, &count);
      if (has_dst(proof->step[step]))
        machine->dst_at[step] = number(machine, proof->step[step]->dst, &count);
    }
    for (uint32_t step = from; step < to; step++)
      forget(machine, proof->step[step]);
  }
  return count;
}

void tt_verify_open_out(tt_machine *machine, uint32_t rank) {
  const tt_proof *proof = machine->proof;
  for (uint32_t step = first_step(proof, rank); step < first_step(proof, rank + 1); step++) {
    if (has_src(proof->step[step]))
      *place_of(machine, proof->step[step]->src) = machine->src_at[step];
    if (has_dst(proof->step[step]))
      *place_of(machine, proof->step[step]->dst) = machine->dst_at[step];
  }
}

void tt_verify_close_out(tt_machine *machine, uint32_t rank) {
  const tt_proof *proof = machine->proof;
  for (uint32_t step = first_step(proof, rank); step < first_step(proof, rank + 1); step++)
    forget(machine, proof->step[step]);
}

uint32_t tt_verify_result(tt_machine *machine, uint32_t rank, uint32_t block) {
  tt_ref out = {TT_SPACE_OUT, block};
  uint32_t location = *place_of(machine, out);
  if (location != TT_NONE)
    return tt_verify_held(machine, rank, out, location);
  if (!tt_verify_holds_input(machine->proof, rank, out))
    return TT_NONE;
  uint32_t input = tt_verify_input(machine, rank, block);
  machine->content_count--; /* there is room for one at a time */
  return input;
}

/* ---- init ---- */

static size_t count_places(const tt_proof *proof) {
  uint32_t cells = 0;
  for (uint32_t rank = 0; rank < proof->rank_count; rank++)
    cells = proof->plan[rank]->tmp_count > cells ? proof->plan[rank]->tmp_count : cells;
  return (size_t)TT_SPACE_TMP * proof->block_count + cells;
}

static bool allocate(tt_machine *machine, size_t places) {
  tt_arena *arena = &machine->proof->arena;
  size_t steps = machine->proof->step_count;
  machine->content = tt_arena_alloc(arena, 6 * steps + 1, sizeof *machine->content);
  machine->sent = tt_arena_alloc(arena, steps, sizeof *machine->sent);
  machine->location = tt_arena_alloc(arena, 2 * steps, sizeof *machine->location);
  machine->src_at = tt_arena_alloc(arena, steps, sizeof *machine->src_at);
  machine->dst_at = tt_arena_alloc(arena, steps, sizeof *machine->dst_at);
  machine->place = tt_arena_alloc(arena, places, sizeof *machine->place);
  return !arena->failed;
}

/* A step names at most two locations. It makes at most six contents: those of two inputs, of two sums as members of
 * another one, of their union, and of that finished. */
tutti_status tt_verify_machine_init(tt_machine *machine, tt_proof *proof) {
  *machine = (tt_machine){.proof = proof};
  size_t places = count_places(proof);
  if (!allocate(machine, places))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", proof->step_count);
  for (size_t n = 0; n < places; n++)
    machine->place[n] = TT_NONE;
  uint32_t locations = number_locations(machine);
  assert(locations <= 2 * (size_t)proof->step_count);
  for (uint32_t n = 0; n < locations; n++)
    machine->location[n] = (tt_location){TT_NONE, {TT_NONE, TT_NONE}};
  return tt_verify_races_init(&machine->races, proof);
}

/* verify/values.c - runs all plans once, on sets of contributions instead of numbers.
 *
 * Reductions take the union of two disjoint sets of the same block. A Kahn network gives the same values in every
 * schedule, so one run, in the order of the proof, is enough. */
#include "verify/machine.h"

static tutti_status read_place(tt_machine *machine, uint32_t step, tt_ref src, uint32_t *content) {
  const tt_proof *proof = machine->proof;
  uint32_t rank = tt_verify_rank_of(proof, step);
  if (!tt_verify_exists(proof, rank, src, false))
    return tt_verify_fail(proof, step, "it reads a block that the rank does not have");
  uint32_t held = tt_verify_held(machine, rank, src);
  if (held == TT_NONE)
    return tt_verify_fail(proof, step, "it reads what was never written");
  if (machine->content[held].block != proof->step[step]->block)
    return tt_verify_fail(proof, step, "it reads b%u instead of its own block", machine->content[held].block);
  *content = held;
  return tt_verify_read(&machine->races, step, &tt_verify_location(machine, rank, src)->accesses);
}

static tutti_status read_src(tt_machine *machine, uint32_t step, uint32_t *content) {
  return read_place(machine, step, machine->proof->step[step]->src, content);
}

static tutti_status finish(tt_machine *machine, uint32_t step, uint32_t *content) {
  uint32_t wanted = machine->proof->step[step]->finish, size = tt_verify_size(machine, *content);
  if (machine->content[*content].finished)
    return tt_verify_fail(machine->proof, step, "it finishes what is finished");
  if (wanted != size || size != machine->proof->rank_count)
    return tt_verify_fail(machine->proof, step, "it finishes %u contributions as %u; there are %u ranks", size, wanted,
                          machine->proof->rank_count);
  *content = tt_verify_finished(machine, *content);
  return TUTTI_OK;
}

static tutti_status write_dst(tt_machine *machine, uint32_t step, uint32_t content) {
  uint32_t rank = tt_verify_rank_of(machine->proof, step);
  const tt_step *at = machine->proof->step[step];
  if (!tt_verify_exists(machine->proof, rank, at->dst, true))
    return tt_verify_fail(machine->proof, step, "it writes where the rank may not");
  tutti_status status = at->finish > 0 ? finish(machine, step, &content) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  tt_location *location = tt_verify_location(machine, rank, at->dst);
  location->content = content;
  return tt_verify_write(&machine->races, step, &location->accesses);
}

/* dst = what is at `place` (op) other, or the other way round. */
static tutti_status reduce(tt_machine *machine, uint32_t step, tt_ref place, uint32_t received) {
  uint32_t own;
  tutti_status status = read_place(machine, step, place, &own);
  if (status != TUTTI_OK)
    return status;
  if (machine->content[own].finished || machine->content[received].finished)
    return tt_verify_fail(machine->proof, step, "it combines a result that is finished");
  uint32_t twice = tt_verify_shared_rank(machine, own, received);
  if (twice != TT_NONE)
    return tt_verify_fail(machine->proof, step, "the input of rank %u is combined twice", twice);
  bool left = (machine->proof->step[step]->flags & TT_STEP_LEFT) != 0;
  uint32_t made = left ? tt_verify_unite(machine, received, own) : tt_verify_unite(machine, own, received);
  return write_dst(machine, step, made);
}

static tutti_status copy(tt_machine *machine, uint32_t step) {
  uint32_t content;
  const tt_step *at = machine->proof->step[step];
  tutti_status status = read_src(machine, step, &content);
  if (status != TUTTI_OK)
    return status;
  return at->flags & TT_STEP_ONTO ? reduce(machine, step, at->dst, content) : write_dst(machine, step, content);
}

static tutti_status send(tt_machine *machine, uint32_t step) {
  const tt_proof *proof = machine->proof;
  if (tt_verify_plan_of(proof, step)->direct && proof->step[step]->src.space != TT_SPACE_IN)
    return tt_verify_fail(proof, step, "a direct plan sends nothing but in");
  return read_src(machine, step, &machine->sent[step]);
}

static tutti_status run(tt_machine *machine, uint32_t step) {
  tt_verify_tick(&machine->races, step);
  uint32_t from = machine->proof->send_of[step];
  switch (machine->proof->step[step]->kind) {
  case TT_STEP_SEND:
    return send(machine, step);
  case TT_STEP_RECV:
    return write_dst(machine, step, machine->sent[from]);
  case TT_STEP_RECV_REDUCE:
    return reduce(machine, step, machine->proof->step[step]->src, machine->sent[from]);
  default:
    return copy(machine, step);
  }
}

tutti_status tt_verify_values(tt_proof *proof) {
  tt_machine machine;
  tutti_status status = tt_verify_machine_init(&machine, proof);
  for (uint32_t n = 0; n < proof->step_count && status == TUTTI_OK; n++)
    status = run(&machine, proof->order[n]);
  return status == TUTTI_OK ? tt_verify_results(&machine) : status;
}

/* verify/values.c - runs all plans once, on sets of contributions instead of numbers.
 *
 * Reductions take the union of two disjoint sets of the same block. A Kahn network gives the same values in every
 * schedule, so one run, in the order of the proof, is enough. */
#include "verify/machine.h"

#include <assert.h>

static tutti_status read_place(tt_machine *machine, uint32_t step, tt_ref at, uint32_t location, uint32_t *content) {
  const tt_proof *proof = machine->proof;
  uint32_t rank = tt_verify_rank_of(proof, step);
  if (!tt_verify_exists(proof, rank, at, false))
    return tt_verify_fail(proof, step, "it reads a block that the rank does not have");
  uint32_t held = tt_verify_held(machine, rank, at, location);
  if (held == TT_NONE)
    return tt_verify_fail(proof, step, "it reads what was never written");
  if (machine->content[held].block != proof->step[step]->block)
    return tt_verify_fail(proof, step, "it reads b%u instead of its own block", machine->content[held].block);
  *content = held;
  return tt_verify_read(&machine->races, step, &machine->location[location].accesses);
}

static tutti_status read_src(tt_machine *machine, uint32_t step, uint32_t *content) {
  return read_place(machine, step, machine->proof->step[step]->src, machine->src_at[step], content);
}

static tutti_status finish(tt_machine *machine, uint32_t step, uint32_t *content) {
  uint32_t wanted = machine->proof->step[step]->finish, size = machine->content[*content].size;
  if (wanted == 1 && (size == 1 || machine->content[*content].finished))
    return TUTTI_OK; /* division by one */
  if (machine->content[*content].finished)
    return tt_verify_fail(machine->proof, step, "it finishes a result that is already finished");
  if (wanted != size)
    return tt_verify_fail(machine->proof, step, "it finishes %u contributions as if they were %u", size, wanted);
  *content = tt_verify_finished(machine, *content);
  return TUTTI_OK;
}

static tutti_status write_dst(tt_machine *machine, uint32_t step, uint32_t content) {
  uint32_t rank = tt_verify_rank_of(machine->proof, step);
  const tt_step *at = machine->proof->step[step];
  if (!tt_verify_exists(machine->proof, rank, at->dst, true))
    return tt_verify_fail(machine->proof, step, "it writes where the rank may not write");
  tutti_status status = at->finish > 0 ? finish(machine, step, &content) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  tt_location *location = &machine->location[machine->dst_at[step]];
  location->content = content;
  return tt_verify_write(&machine->races, step, &location->accesses);
}

/* A finished sum goes into a further one as a member of its own. */
static tutti_status as_member(tt_machine *machine, uint32_t step, uint32_t *content) {
  const tt_meaning *meaning = machine->proof->meaning;
  const tt_content *is = &machine->content[*content];
  if (!is->finished)
    return TUTTI_OK;
  int64_t n = 0;
  while (n < meaning->sum_count && !tt_verify_is_sum(is, &meaning->sum[n]))
    n++;
  if (n == meaning->sum_count)
    return tt_verify_fail(machine->proof, step, "it combines a result that is already finished");
  if (meaning->sum[n].ordered && !is->ordered)
    return tt_verify_fail(machine->proof, step, "it combines a result that is not combined in rank order");
  machine->proof->facts.ordered = machine->proof->facts.ordered && is->ordered;
  *content = tt_verify_input(machine, machine->proof->rank_count + (uint32_t)n, is->block);
  return TUTTI_OK;
}

static tutti_status check_operands(const tt_machine *machine, uint32_t step, uint32_t left, uint32_t right) {
  const tt_proof *proof = machine->proof;
  uint32_t twice = tt_verify_shared(machine, left, right);
  if (twice != TT_NONE)
    return tt_verify_fail(proof, step, "the input of %s is combined twice", tt_verify_member(proof, twice).text);
  const tt_content *a = &machine->content[left], *b = &machine->content[right];
  if (proof->meaning->ordered && a->high > b->low)
    return tt_verify_fail(proof, step, "%s is left of %s, which is not rank order",
                          tt_verify_member(proof, a->high).text, tt_verify_member(proof, b->low).text);
  if (proof->meaning->reproducible && (b->size > 1 || a->high > b->low))
    return tt_verify_fail(proof, step, "it does not combine one rank after the other: %u on the left, %u on the right",
                          a->size, b->size);
  return TUTTI_OK;
}

/* dst = what is at `place` (op) other, or the other way round. */
static tutti_status reduce(tt_machine *machine, uint32_t step, tt_ref place, uint32_t location, uint32_t other) {
  uint32_t own;
  tutti_status status = read_place(machine, step, place, location, &own);
  if (status == TUTTI_OK)
    status = as_member(machine, step, &own);
  if (status == TUTTI_OK)
    status = as_member(machine, step, &other);
  bool turned = (machine->proof->step[step]->flags & TT_STEP_LEFT) != 0;
  uint32_t left = turned ? other : own, right = turned ? own : other;
  if (status == TUTTI_OK)
    status = check_operands(machine, step, left, right);
  return status == TUTTI_OK ? write_dst(machine, step, tt_verify_unite(machine, left, right)) : status;
}

static tutti_status copy(tt_machine *machine, uint32_t step) {
  uint32_t content;
  const tt_step *at = machine->proof->step[step];
  tutti_status status = read_src(machine, step, &content);
  if (status != TUTTI_OK)
    return status;
  return at->flags & TT_STEP_ONTO ? reduce(machine, step, at->dst, machine->dst_at[step], content)
                                  : write_dst(machine, step, content);
}

static tutti_status send(tt_machine *machine, uint32_t step) {
  const tt_proof *proof = machine->proof;
  if (tt_verify_plan_of(proof, step)->direct && proof->step[step]->src.space != TT_SPACE_IN)
    return tt_verify_fail(proof, step, "a direct plan may send only from in");
  return read_src(machine, step, &machine->sent[step]);
}

static tutti_status run(tt_machine *machine, uint32_t step) {
  tt_verify_tick(&machine->races, step);
  uint32_t from = machine->proof->send_of[step];
  assert(from != TT_NONE || machine->proof->step[step]->kind == TT_STEP_SEND ||
         machine->proof->step[step]->kind == TT_STEP_COPY);
  switch (machine->proof->step[step]->kind) {
  case TT_STEP_SEND:
    return send(machine, step);
  case TT_STEP_RECV:
    return write_dst(machine, step, machine->sent[from]);
  case TT_STEP_RECV_REDUCE:
    return reduce(machine, step, machine->proof->step[step]->src, machine->src_at[step], machine->sent[from]);
  default:
    return copy(machine, step);
  }
}

tutti_status tt_verify_values(tt_proof *proof) {
  tt_machine machine;
  proof->facts.ordered = true;
  tutti_status status = tt_verify_machine_init(&machine, proof);
  for (uint32_t n = 0; n < proof->step_count && status == TUTTI_OK && !proof->arena.failed; n++)
    status = run(&machine, proof->order[n]);
  if (status == TUTTI_OK)
    status = tt_verify_results(&machine);
  return proof->arena.failed ? tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", proof->step_count) : status;
}

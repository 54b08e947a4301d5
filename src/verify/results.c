/* verify/results.c - what is in out of every rank at the end, against the meaning. */
#include "verify/machine.h"

static tutti_status check_sum(tt_machine *machine, uint32_t rank, uint32_t block, uint32_t content) {
  tt_proof *proof = machine->proof;
  uint32_t missing = tt_verify_missing_rank(machine, content);
  if (missing < proof->rank_count)
    return tt_verify_fail(proof, TT_NONE, "rank %u out.%u lacks the input of rank %u", rank, block, missing);
  if (!machine->content[content].finished && proof->rank_count > 1)
    return tt_verify_fail(proof, TT_NONE, "rank %u out.%u was never finished", rank, block);
  proof->facts.ordered = proof->facts.ordered && machine->content[content].ordered;
  return TUTTI_OK;
}

static tutti_status check_copy(const tt_machine *machine, uint32_t rank, uint32_t block, uint32_t content,
                               uint32_t source) {
  const tt_content *is = &machine->content[content];
  if (is->low != is->high)
    return tt_verify_fail(machine->proof, TT_NONE, "rank %u out.%u is combined of several ranks", rank, block);
  if (is->low != source)
    return tt_verify_fail(machine->proof, TT_NONE, "rank %u out.%u is the input of rank %u instead of %u", rank, block,
                          is->low, source);
  return TUTTI_OK;
}

static tutti_status check_result(tt_machine *machine, uint32_t rank, uint32_t block) {
  const tt_meaning *meaning = machine->proof->meaning;
  int64_t source = 0;
  tt_meaning_kind kind = meaning->expect(meaning, rank, block / machine->proof->part_count, &source);
  if (kind == TT_MEANING_NOTHING)
    return TUTTI_OK;
  uint32_t content = tt_verify_held(machine, rank, (tt_ref){TT_SPACE_OUT, block});
  if (content == TT_NONE)
    return tt_verify_fail(machine->proof, TT_NONE, "rank %u out.%u is never written", rank, block);
  return kind == TT_MEANING_SUM ? check_sum(machine, rank, block, content)
                                : check_copy(machine, rank, block, content, (uint32_t)source);
}

tutti_status tt_verify_results(tt_machine *machine) {
  tutti_status status = TUTTI_OK;
  machine->proof->facts.ordered = true;
  for (uint32_t rank = 0; rank < machine->proof->rank_count; rank++)
    for (uint32_t block = 0; block < machine->proof->block_count && status == TUTTI_OK; block++)
      status = check_result(machine, rank, block);
  return status;
}

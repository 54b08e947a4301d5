/* verify/results.c - what is in out of every rank at the end, against the meaning. */
#include "verify/machine.h"

static tutti_status check_sum(tt_machine *machine, uint32_t rank, uint32_t block, const tt_content *is,
                              const tt_expected *sum) {
  tt_proof *proof = machine->proof;
  if (!tt_verify_is_sum(is, sum)) {
    uint32_t missing = tt_verify_missing(is, sum);
    if (missing != TT_NONE)
      return tt_verify_fail(proof, TT_NONE, "rank %u out.%u lacks the input of %s", rank, block,
                            tt_verify_member(proof, missing).text);
    return tt_verify_fail(proof, TT_NONE, "rank %u out.%u also has the input of %s", rank, block,
                          tt_verify_member(proof, tt_verify_surplus(is, sum)).text);
  }
  if (!is->finished)
    return tt_verify_fail(proof, TT_NONE, "rank %u out.%u was never finished", rank, block);
  if (sum->ordered && !is->ordered)
    return tt_verify_fail(proof, TT_NONE, "rank %u out.%u is not combined in rank order", rank, block);
  proof->facts.ordered = proof->facts.ordered && is->ordered;
  return TUTTI_OK;
}

static tutti_status check_copy(const tt_machine *machine, uint32_t rank, uint32_t block, const tt_content *is,
                               uint32_t source) {
  if (is->size > 1)
    return tt_verify_fail(machine->proof, TT_NONE, "rank %u out.%u combines inputs of several ranks", rank, block);
  if (is->low != source)
    return tt_verify_fail(machine->proof, TT_NONE, "rank %u out.%u is the input of rank %u instead of %u", rank, block,
                          is->low, source);
  return TUTTI_OK;
}

static tutti_status check_result(tt_machine *machine, uint32_t rank, uint32_t block) {
  const tt_meaning *meaning = machine->proof->meaning;
  tt_expected expected = meaning->expect(meaning, rank, block / machine->proof->part_count);
  if (expected.kind == TT_MEANING_NOTHING)
    return TUTTI_OK;
  uint32_t content = tt_verify_result(machine, rank, block);
  if (content == TT_NONE)
    return tt_verify_fail(machine->proof, TT_NONE, "rank %u out.%u is never written", rank, block);
  const tt_content *is = &machine->content[content];
  return expected.kind == TT_MEANING_SUM ? check_sum(machine, rank, block, is, &expected)
                                         : check_copy(machine, rank, block, is, (uint32_t)expected.source);
}

tutti_status tt_verify_results(tt_machine *machine) {
  tutti_status status = TUTTI_OK;
  for (uint32_t rank = 0; rank < machine->proof->rank_count && status == TUTTI_OK; rank++) {
    tt_verify_open_out(machine, rank);
    for (uint32_t block = 0; block < machine->proof->block_count && status == TUTTI_OK; block++)
      status = check_result(machine, rank, block);
    tt_verify_close_out(machine, rank);
  }
  return status;
}

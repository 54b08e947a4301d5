/* verify/verify.c - the proof as a whole, and the machine that it is about.
 *
 * Machine. Each rank has lanes; a lane takes its steps in order, and each step slice by slice, 0 .. m-1, with any m,
 * equal for equal blocks. Slice s of a step may begin when the slice before it is done, when slice s of each step
 * waited for by slices is done, and when all slices of each step waited for as a whole are. A send appends a slice to
 * the stream (lane id, source, reader) and is blocked while the stream's only slot holds a slice that some reader has
 * not taken; a receive takes it. Several blocks of one message may share a slot: then readers see them after the last.
 *
 * Proof. Steps of a stream meet one to one (match.c). Nothing waits in a circle, whatever the block sizes (order.c); so
 * every run ends, and all runs give the same values. One of them is looked at (values.c): reads see written blocks of
 * the right length, reductions take each rank once and, where order counts, in rank order; results are finished once
 * and are what the meaning says, and nothing else is written to out. Within a rank, accesses to one place are ordered
 * by lanes and waits alone (races.c). Nothing here knows how plans are made. */
#include "verify/proof.h"

tutti_status tt_verify_facts(const tt_meaning *meaning, const tt_plan *const *plan, tt_facts *facts) {
  tt_proof proof = {.meaning = meaning, .plan = plan, .rank_count = (uint32_t)meaning->rank_count};
  proof.block_count = plan[0]->block_count;
  proof.part_count = plan[0]->part_count;
  tt_arena_init(&proof.arena);
  static tutti_status (*const part[])(tt_proof *) = {tt_verify_agree, tt_verify_index, tt_verify_messages,
                                                     tt_verify_match, tt_verify_order, tt_verify_values};
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < TT_COUNT(part) && status == TUTTI_OK; n++)
    status = part[n](&proof);
  if (status == TUTTI_OK)
    *facts = proof.facts;
  tt_arena_finish(&proof.arena);
  return status;
}

tutti_status tt_verify(const tt_meaning *meaning, const tt_plan *const *plan) {
  tt_facts facts;
  return tt_verify_facts(meaning, plan, &facts);
}

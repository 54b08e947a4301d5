/* verify/images.c - where a run combines in a wider type, every block of the input that a step reads is widened, and
 * every block of the output that one writes is rounded. What no step touches may be no memory of the rank's: it is
 * neither. */
#include "verify/bound.h"

enum { READ = 1, WRITTEN = 2, WIDENED = 4, NARROWED = 8, TOUCHED = 16 };

static const tt_ref *input_of(const tt_bound_proof *proof, uint32_t rank, const tt_step *step, bool onto) {
  const tt_ref *ref = onto ? &step->dst : &step->src;
  bool reads = onto ? (step->flags & TT_STEP_ONTO) != 0 : step->kind != TT_STEP_RECV;
  return reads && tt_verify_holds_input(&proof->lists, rank, *ref) ? ref : NULL;
}

static void mark_step(const tt_bound_proof *proof, uint32_t rank, const tt_step *step, uint8_t *mark) {
  for (int onto = 0; onto < 2; onto++) {
    const tt_ref *ref = input_of(proof, rank, step, onto);
    if (ref)
      mark[ref->index] |= READ;
  }
  if (step->kind != TT_STEP_RECV && step->src.space <= TT_SPACE_OUT)
    mark[step->src.index] |= TOUCHED;
  if (step->kind != TT_STEP_SEND && step->dst.space == TT_SPACE_OUT)
    mark[step->dst.index] |= WRITTEN | TOUCHED;
}

static const char *compare(uint8_t mark) {
  if (mark & READ && !(mark & WIDENED))
    return "is read, but not widened";
  if (mark & WIDENED && !(mark & TOUCHED))
    return "is widened, though no step touches it";
  if (mark & WRITTEN && !(mark & NARROWED))
    return "is written, but not rounded";
  return mark & NARROWED && !(mark & WRITTEN) ? "is rounded, though no step writes it" : NULL;
}

static tutti_status check_rank(const tt_bound_proof *proof, uint32_t rank, uint8_t *mark) {
  const tt_bound_plan *bound = proof->bound[rank];
  for (uint32_t step = proof->first_step[rank]; step < proof->first_step[rank + 1]; step++)
    mark_step(proof, rank, proof->lists.step[step], mark);
  for (uint32_t n = 0; n < bound->widen_count; n++)
    mark[bound->widen[n].block] |= WIDENED;
  for (uint32_t n = 0; n < bound->narrow_count; n++)
    mark[bound->narrow[n].block] |= bound->narrow[n].ref.space == TT_SPACE_OUT ? NARROWED : 0;
  tutti_status status = TUTTI_OK;
  for (uint32_t block = 0; block < bound->list->block_count; block++) {
    const char *wrong = status == TUTTI_OK ? compare(mark[block]) : NULL;
    if (wrong)
      status = tt_verify_fail(&proof->lists, TT_NONE, "bound plan of rank %u: b%u %s", rank, block, wrong);
    mark[block] = 0;
  }
  return status;
}

static bool has_images(const tt_bound_proof *proof) {
  for (uint32_t rank = 0; rank < proof->lists.rank_count; rank++)
    if (proof->bound[rank]->widen_count + proof->bound[rank]->narrow_count > 0)
      return true;
  return false;
}

tutti_status tt_verify_images(tt_bound_proof *proof) {
  if (!has_images(proof))
    return TUTTI_OK;
  uint8_t *mark = tt_arena_alloc(&proof->lists.arena, proof->lists.block_count, sizeof *mark);
  tutti_status status =
      mark ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u blocks", proof->lists.block_count);
  for (uint32_t rank = 0; rank < proof->lists.rank_count && status == TUTTI_OK; rank++)
    status = check_rank(proof, rank, mark);
  return status;
}

/* ir/ir.c - small questions about compositions, their check and their text form. */
#include "ir/ir.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tt_family *tt_ir_family(const tt_stage *stage, int number) {
  assert(number >= 0 && number < stage->family_count);
  return stage->list ? &stage->list[number] : &stage->family[number];
}

int64_t tt_ir_at(tt_affine form, int64_t i, int64_t j) { return form.base + form.i * i + form.j * j; }

static bool list_has(const tt_ends *ends, int64_t rank) {
  int64_t low = 0, high = ends->list_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (ends->list[middle] < rank)
      low = middle + 1;
    else
      high = middle;
  }
  return low < ends->list_count && ends->list[low] == rank;
}

bool tt_ir_has_end(const tt_family *family, int64_t i, int64_t j, int64_t rank) {
  switch (family->ends.kind) {
  case TT_ENDS_ALL:
    return true;
  case TT_ENDS_ONE:
    return tt_ir_at(family->ends.one, i, j) == rank;
  case TT_ENDS_LIST:
    return list_has(&family->ends, rank);
  case TT_ENDS_RANGE:
    return rank <= tt_ir_at(family->ends.one, i, j);
  }
  assert(false); /* ends of no kind */
  return false;
}

int64_t tt_ir_end_count(const tt_composition *composition, const tt_family *family, int64_t i, int64_t j) {
  switch (family->ends.kind) {
  case TT_ENDS_ALL:
    return composition->rank_count;
  case TT_ENDS_ONE:
    return 1;
  case TT_ENDS_LIST:
    return family->ends.list_count;
  case TT_ENDS_RANGE:
    return tt_ir_at(family->ends.one, i, j) + 1;
  }
  assert(false); /* ends of no kind */
  return 0;
}

/* ---- check ---- */

/* What users give may be too large for 64 bits. */
static bool value_in_range(tt_affine form, int64_t i, int64_t j, int64_t limit) {
  int64_t by_i, by_j, value;
  return !__builtin_mul_overflow(form.i, i, &by_i) && !__builtin_mul_overflow(form.j, j, &by_j) &&
         !__builtin_add_overflow(form.base, by_i, &value) && !__builtin_add_overflow(value, by_j, &value) &&
         value >= 0 && value < limit;
}

static bool affine_in_range(tt_affine form, const tt_family *family, int64_t limit) {
  assert(family->count_i > 0 && family->count_j > 0);
  int64_t last_i = family->count_i - 1, last_j = family->count_j - 1; /* extremes of an affine form are at corners */
  for (int corner = 0; corner < 4; corner++)
    if (!value_in_range(form, corner & 1 ? last_i : 0, corner & 2 ? last_j : 0, limit))
      return false;
  return true;
}

/* No two primitives bring a block to one place, so there are no more of them than places. */
static bool too_many(const tt_composition *composition, const tt_family *family) {
  assert(composition->rank_count <= INT32_MAX && composition->block_count <= INT32_MAX); /* their product fits */
  int64_t primitives, places = composition->rank_count * composition->block_count;
  return __builtin_mul_overflow(family->count_i, family->count_j, &primitives) || primitives > places;
}

static tutti_status check_list(const tt_ends *ends, int64_t rank_count, const char *stage, int number) {
  for (int64_t n = 0; n < ends->list_count; n++) {
    bool ascending = n == 0 || ends->list[n - 1] < ends->list[n];
    if (!ascending || ends->list[n] < 0 || ends->list[n] >= rank_count)
      return tt_fail(TUTTI_ERR_PLAN,
                     "stage '%s', family %d: ends[%" PRId64 "] is %" PRId64 "; expected ascending ranks below %" PRId64,
                     stage, number, n, ends->list[n], rank_count);
  }
  return ends->list_count > 0 ? TUTTI_OK
                              : tt_fail(TUTTI_ERR_PLAN, "stage '%s', family %d: there are no ends", stage, number);
}

tutti_status tt_ir_check_family(const tt_composition *composition, const tt_stage *stage, int number) {
  const tt_family *family = tt_ir_family(stage, number);
  if (family->count_i <= 0 || family->count_j <= 0)
    return tt_fail(TUTTI_ERR_PLAN, "stage '%s', family %d: counts %" PRId64 " x %" PRId64 " are not positive",
                   stage->name, number, family->count_i, family->count_j);
  if (too_many(composition, family))
    return tt_fail(TUTTI_ERR_PLAN,
                   "stage '%s', family %d: %" PRId64 " x %" PRId64 " primitives for %" PRId64 " blocks on %" PRId64
                   " ranks: some bring the same block to the same rank",
                   stage->name, number, family->count_i, family->count_j, composition->block_count,
                   composition->rank_count);
  if (!affine_in_range(family->root, family, composition->rank_count))
    return tt_fail(TUTTI_ERR_PLAN, "stage '%s', family %d: a root is not a rank below %" PRId64, stage->name, number,
                   composition->rank_count);
  if (!affine_in_range(family->block, family, composition->block_count))
    return tt_fail(TUTTI_ERR_PLAN, "stage '%s', family %d: a block is not below %" PRId64, stage->name, number,
                   composition->block_count);
  if (family->from >= TT_BUFFER_COUNT || family->to >= TT_BUFFER_COUNT || family->to == TT_IN)
    return tt_fail(TUTTI_ERR_PLAN, "stage '%s', family %d: invalid move from buffer %d to buffer %d", stage->name,
                   number, (int)family->from, (int)family->to);
  bool one = family->ends.kind == TT_ENDS_ONE || family->ends.kind == TT_ENDS_RANGE;
  if (one && !affine_in_range(family->ends.one, family, composition->rank_count))
    return tt_fail(TUTTI_ERR_PLAN, "stage '%s', family %d: an end is not a rank below %" PRId64, stage->name, number,
                   composition->rank_count);
  if (family->ends.kind == TT_ENDS_LIST)
    return check_list(&family->ends, composition->rank_count, stage->name, number);
  return TUTTI_OK;
}

tutti_status tt_ir_check(const tt_composition *composition) {
  if (composition->rank_count < 1 || composition->rank_count > INT32_MAX)
    return tt_fail(TUTTI_ERR_PLAN, "the composition has %" PRId64 " ranks", composition->rank_count);
  if (composition->block_count < 1 || composition->block_count > INT32_MAX)
    return tt_fail(TUTTI_ERR_PLAN, "the composition has %" PRId64 " blocks", composition->block_count);
  if (composition->stage_count < 1 || composition->stage_count > TT_STAGES)
    return tt_fail(TUTTI_ERR_PLAN, "the composition has %d stages; it may have 1 to %d", composition->stage_count,
                   TT_STAGES);
  for (int s = 0; s < composition->stage_count; s++) {
    const tt_stage *stage = &composition->stage[s];
    if (stage->family_count < 0 || (!stage->list && stage->family_count > TT_STAGE_FAMILIES))
      return tt_fail(TUTTI_ERR_PLAN, "stage '%s' has %d families; it may have 0 to %d", stage->name,
                     stage->family_count, stage->list ? INT32_MAX : TT_STAGE_FAMILIES);
    for (int n = 0; n < stage->family_count; n++) {
      tutti_status status = tt_ir_check_family(composition, stage, n);
      if (status != TUTTI_OK)
        return status;
    }
  }
  return TUTTI_OK;
}

/* ---- text ---- */

static const char *const buffer_names[TT_BUFFER_COUNT] = {"in", "out", "mid"};

/* Adds "+3i", "-i", "+2": a factor and what it multiplies. The first term has no plus. */
static void add_term(char *text, size_t size, int64_t factor, const char *name) {
  size_t used = strlen(text);
  const char *sign = factor < 0 ? "-" : used ? "+" : "";
  if (*name && (factor == 1 || factor == -1))
    snprintf(text + used, size - used, "%s%s", sign, name);
  else if (factor != 0)
    snprintf(text + used, size - used, "%s%" PRIu64 "%s", sign, factor < 0 ? -(uint64_t)factor : (uint64_t)factor,
             name);
}

/* An index that takes one value only is not written. */
static void affine_text(const tt_family *family, tt_affine form, char *text, size_t size) {
  *text = '\0';
  add_term(text, size, family->count_i > 1 ? form.i : 0, "i");
  add_term(text, size, family->count_j > 1 ? form.j : 0, "j");
  add_term(text, size, form.base, "");
  if (!*text)
    snprintf(text, size, "0");
}

static void ends_text(const tt_family *family, char *text, size_t size) {
  assert(family->ends.kind != TT_ENDS_LIST || family->ends.list_count > 0);
  const tt_ends *ends = &family->ends;
  char one[64];
  affine_text(family, ends->one, one, sizeof one);
  if (ends->kind == TT_ENDS_ALL)
    snprintf(text, size, "all");
  else if (ends->kind == TT_ENDS_ONE)
    snprintf(text, size, "{%s}", one);
  else if (ends->kind == TT_ENDS_RANGE)
    snprintf(text, size, "{0 .. %s}", one);
  else
    snprintf(text, size, "{%" PRId64 " ... %" PRId64 ": %" PRId64 " rank%s}", ends->list[0],
             ends->list[ends->list_count - 1], ends->list_count, ends->list_count == 1 ? "" : "s");
}

static void loop_text(const tt_family *family, char *text, size_t size) {
  *text = '\0';
  if (family->count_i > 1 && family->count_j > 1)
    snprintf(text, size, "for i < %" PRId64 ", j < %" PRId64 ": ", family->count_i, family->count_j);
  else if (family->count_i > 1)
    snprintf(text, size, "for i < %" PRId64 ": ", family->count_i);
  else if (family->count_j > 1)
    snprintf(text, size, "for j < %" PRId64 ": ", family->count_j);
}

static void print_family(const tt_family *family, FILE *to) {
  char root[64], block[64], ends[160], loop[64];
  affine_text(family, family->root, root, sizeof root);
  affine_text(family, family->block, block, sizeof block);
  ends_text(family, ends, sizeof ends);
  loop_text(family, loop, sizeof loop);
  bool multicast = family->primitive == TT_MULTICAST;
  fprintf(to, "  %s%s(%s, %s, block %s%s) %s -> %s\n", loop, multicast ? "M" : "R", multicast ? root : ends,
          multicast ? ends : root, block, family->ordered ? ", ordered" : "", buffer_names[family->from],
          buffer_names[family->to]);
}

static void print_composition(const tt_composition *composition, FILE *to) {
  fprintf(to, "%" PRId64 " rank%s, %" PRId64 " block%s%s\n", composition->rank_count,
          composition->rank_count == 1 ? "" : "s", composition->block_count, composition->block_count == 1 ? "" : "s",
          composition->in_place ? ", in place" : "");
  for (int s = 0; s < composition->stage_count; s++) {
    const tt_stage *stage = &composition->stage[s];
    fprintf(to, "%s%s:\n", s ? "fence\n" : "", stage->name);
    for (int n = 0; n < stage->family_count; n++)
      print_family(tt_ir_family(stage, n), to);
  }
}

char *tt_ir_print(const tt_composition *composition, tt_arena *arena) {
  char *text = NULL, *kept;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (to)
    print_composition(composition, to);
  bool written = to && fclose(to) == 0;
  kept = written ? tt_arena_alloc(arena, size + 1, 1) : NULL;
  if (kept)
    memcpy(kept, text, size + 1);
  free(text);
  arena->failed = arena->failed || !kept;
  return kept;
}

/* ---- hash ---- */

static uint64_t hash_affine(uint64_t hash, tt_affine form) {
  const int64_t facts[] = {form.base, form.i, form.j};
  return tt_hash(hash, facts, sizeof facts);
}

static uint64_t hash_family(uint64_t hash, const tt_family *family) {
  const tt_ends *ends = &family->ends;
  const int64_t facts[] = {family->primitive, family->count_i, family->count_j, ends->kind,
                           family->from,      family->to,      family->ordered};
  hash = hash_affine(hash_affine(tt_hash(hash, facts, sizeof facts), family->root), family->block);
  if (ends->kind == TT_ENDS_ONE || ends->kind == TT_ENDS_RANGE)
    return hash_affine(hash, ends->one);
  return ends->kind == TT_ENDS_LIST ? tt_hash(hash, ends->list, (size_t)ends->list_count * sizeof *ends->list) : hash;
}

uint64_t tt_ir_hash(const tt_composition *composition) {
  const int64_t facts[] = {composition->rank_count, composition->block_count, composition->in_place};
  uint64_t hash = tt_hash(0, facts, sizeof facts);
  for (int s = 0; s < composition->stage_count; s++) {
    const tt_stage *stage = &composition->stage[s];
    hash = tt_hash(hash, stage->name, strlen(stage->name) + 1);
    for (int n = 0; n < stage->family_count; n++)
      hash = hash_family(hash, tt_ir_family(stage, n));
  }
  return hash;
}

int64_t tt_ir_vector_blocks(const tt_composition *composition) {
  switch (composition->layout[TT_IN]) {
  case TT_LAYOUT_ROW:
    return composition->block_count / composition->rank_count;
  case TT_LAYOUT_TOUCHED:
    return 1;
  default:
    return composition->block_count;
  }
}

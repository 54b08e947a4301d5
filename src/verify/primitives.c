/* verify/primitives.c - the meaning of any composition, derived from its primitives alone.
 *
 * Stage after stage, what each (rank, buffer, block) holds is followed: nothing, some rank's input, or a sum. The
 * primitives of a stage take what was there before it. A value is a member, as in tt_expected, plus one; block b only
 * ever goes to block b. Costs ranks x blocks, and each primitive its ends. */
#include "verify/verify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { IN_THIS_STAGE = 1, EARLIER = 2 };

typedef struct table {
  uint32_t *now, *next; /* value of each (rank, block) before and after the stage */
  uint8_t *brought;     /* whether a primitive has brought something there, and when */
} table;

typedef struct operand {
  int64_t member, rank; /* rank: that has it */
} operand;

typedef struct reader {
  const tt_composition *of;
  tt_arena *arena;
  table table[TT_BUFFER_COUNT]; /* in place, those of in and out are the same */
  bool *has_in;                 /* of each (rank, block): a primitive takes it */
  tt_expected *sum;
  int64_t sum_count, sum_room;
  operand *operand;      /* of the sum at hand: room for one of each rank */
  int64_t *member;       /* their members */
  const tt_stage *stage; /* at hand */
  tutti_status status;
} reader;

static const char *const buffer_name[] = {"in", "out", "mid"};

static size_t index_of(const tt_composition *of, int64_t rank, int64_t block) {
  assert(rank >= 0 && rank < of->rank_count && block >= 0 && block < of->block_count);
  return (size_t)(rank * of->block_count + block);
}

static bool is_there(const tt_composition *of, tt_buffer buffer, int64_t rank, int64_t block) {
  switch (buffer == TT_MID ? TT_LAYOUT_ALL : of->layout[buffer]) {
  case TT_LAYOUT_OWN:
    return block == rank;
  case TT_LAYOUT_ROW:
    return block / of->rank_count == rank;
  case TT_LAYOUT_COLUMN:
    return block % of->rank_count == rank;
  default:
    return true;
  }
}

/* ---- memory ---- */

static void allocate_table(reader *in, tt_buffer buffer) {
  size_t count = (size_t)in->of->rank_count * (size_t)in->of->block_count;
  in->table[buffer] =
      (table){tt_arena_alloc(in->arena, count, sizeof(uint32_t)), tt_arena_alloc(in->arena, count, sizeof(uint32_t)),
              tt_arena_alloc(in->arena, count, sizeof(uint8_t))};
}

static void put_inputs(const reader *in) {
  for (int64_t rank = 0; rank < in->of->rank_count; rank++)
    for (int64_t block = 0; block < in->of->block_count; block++)
      if (is_there(in->of, TT_IN, rank, block)) {
        size_t at = index_of(in->of, rank, block);
        in->table[TT_IN].now[at] = in->table[TT_IN].next[at] = (uint32_t)rank + 1;
      }
}

static bool allocate(reader *in) {
  for (int buffer = 0; buffer < TT_BUFFER_COUNT; buffer++)
    if (buffer != TT_OUT || !in->of->in_place)
      allocate_table(in, (tt_buffer)buffer);
  in->has_in = tt_arena_alloc(in->arena, (size_t)in->of->rank_count * (size_t)in->of->block_count, sizeof(bool));
  in->operand = tt_arena_alloc(in->arena, (size_t)in->of->rank_count, sizeof *in->operand);
  in->member = tt_arena_alloc(in->arena, (size_t)in->of->rank_count, sizeof *in->member);
  if (in->arena->failed)
    return false;
  put_inputs(in);
  if (in->of->in_place)
    in->table[TT_OUT] = in->table[TT_IN];
  return true;
}

static void fail(reader *in, int64_t rank, tt_buffer buffer, int64_t block, const char *what) {
  if (in->status == TUTTI_OK)
    in->status = tt_fail(TUTTI_ERR_PLAN, "stage '%s': %s (rank %" PRId64 ", %s %" PRId64 ")", in->stage->name, what,
                         rank, buffer_name[buffer], block);
}

/* The member that stands there. */
static int64_t take(reader *in, int64_t rank, tt_buffer buffer, int64_t block) {
  size_t at = index_of(in->of, rank, block);
  const table *from = &in->table[buffer];
  bool nothing = from->now[at] == 0 || (buffer == TT_OUT && !(from->brought[at] & EARLIER));
  if (!is_there(in->of, buffer, rank, block) || nothing) {
    fail(in, rank, buffer, block, "it takes a value that is not there");
    return 0;
  }
  if (buffer == TT_IN)
    in->has_in[at] = true;
  return (int64_t)from->now[at] - 1;
}

static void bring(reader *in, int64_t rank, tt_buffer buffer, int64_t block, int64_t member) {
  size_t at = index_of(in->of, rank, block);
  table *to = &in->table[buffer];
  if (!is_there(in->of, buffer, rank, block))
    fail(in, rank, buffer, block, "it brings a block to a rank that has no place for it");
  if (to->brought[at] & IN_THIS_STAGE)
    fail(in, rank, buffer, block, "two primitives write to one place");
  to->next[at] = (uint32_t)member + 1;
  to->brought[at] |= IN_THIS_STAGE;
}

/* ---- sums ---- */

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int ascending(const void *a, const void *b) {
  const operand *one = a, *other = b;
  return one->member != other->member ? compare(one->member, other->member) : compare(one->rank, other->rank);
}

static bool is_sum_of(const tt_expected *sum, const int64_t *member, int64_t count) {
  if (!sum->list)
    return sum->last - sum->first + 1 == count && member[0] == sum->first && member[count - 1] == sum->last;
  return sum->list_count == count && memcmp(sum->list, member, (size_t)count * sizeof *member) == 0;
}

static void make_room(reader *in) {
  if (in->sum_count < in->sum_room)
    return;
  in->sum_room = 2 * in->sum_room + 8;
  tt_expected *sum = tt_arena_alloc(in->arena, (size_t)in->sum_room, sizeof *sum);
  if (sum && in->sum_count > 0)
    memcpy(sum, in->sum, (size_t)in->sum_count * sizeof *sum);
  in->sum = sum;
}

static void add_sum(reader *in, int64_t count, bool ordered) {
  assert(count > 1);
  int64_t first = in->member[0], last = in->member[count - 1], *list = NULL;
  if (last - first + 1 != count && (list = tt_arena_alloc(in->arena, (size_t)count, sizeof *list)))
    memcpy(list, in->member, (size_t)count * sizeof *list);
  make_room(in);
  if (!in->arena->failed)
    in->sum[in->sum_count++] = (tt_expected){TT_MEANING_SUM, 0, first, last, list, count, ordered};
}

/* The member that is the sum of the members at hand. */
static int64_t find_sum(reader *in, int64_t count, bool ordered) {
  int64_t n = 0;
  while (n < in->sum_count && !(in->sum[n].ordered == ordered && is_sum_of(&in->sum[n], in->member, count)))
    n++;
  if (n == in->sum_count)
    add_sum(in, count, ordered);
  return in->of->rank_count + n;
}

/* In plans, a sum as an operand is known by its members only: it must not be there both in order and in any. */
static bool has_twin(const reader *in, int64_t member) {
  int64_t number = member - in->of->rank_count;
  const tt_expected *sum = number >= 0 ? &in->sum[number] : NULL;
  for (int64_t n = 0; n < number; n++) {
    const tt_expected *other = &in->sum[n];
    bool same = (sum->list != NULL) == (other->list != NULL) && sum->first == other->first &&
                sum->last == other->last && sum->list_count == other->list_count;
    if (same && (!sum->list || memcmp(sum->list, other->list, (size_t)sum->list_count * sizeof *sum->list) == 0))
      return true;
  }
  return false;
}

static int64_t combine(reader *in, const tt_family *family, int64_t block, int64_t count) {
  int64_t sorted = 1;
  while (sorted < count && in->operand[sorted - 1].member < in->operand[sorted].member)
    sorted++;
  if (sorted < count && family->ordered)
    fail(in, in->operand[sorted].rank, family->from, block, "the operands of an ordered reduction do not ascend");
  if (sorted < count)
    qsort(in->operand, (size_t)count, sizeof *in->operand, ascending);
  for (int64_t n = 1; n < count; n++)
    if (in->operand[n - 1].member == in->operand[n].member)
      fail(in, in->operand[n].rank, family->from, block, "a value is combined twice");
  for (int64_t n = 0; n < count; n++)
    in->member[n] = in->operand[n].member;
  return in->status == TUTTI_OK ? find_sum(in, count, family->ordered) : 0;
}

/* ---- primitives ---- */

static int64_t end_at(const tt_ends *ends, int64_t i, int64_t j, int64_t n) {
  if (ends->kind == TT_ENDS_ONE)
    return tt_ir_at(ends->one, i, j);
  return ends->kind == TT_ENDS_LIST ? ends->list[n] : n;
}

static void multicast(reader *in, const tt_family *family, int64_t i, int64_t j) {
  int64_t root = tt_ir_at(family->root, i, j), block = tt_ir_at(family->block, i, j);
  int64_t member = take(in, root, family->from, block);
  int64_t count = tt_ir_end_count(in->of, family, i, j);
  for (int64_t n = 0; n < count; n++)
    bring(in, end_at(&family->ends, i, j, n), family->to, block, member);
}

static void reduction(reader *in, const tt_family *family, int64_t i, int64_t j) {
  int64_t root = tt_ir_at(family->root, i, j), block = tt_ir_at(family->block, i, j);
  int64_t count = tt_ir_end_count(in->of, family, i, j);
  for (int64_t n = 0; n < count; n++) {
    int64_t rank = end_at(&family->ends, i, j, n);
    in->operand[n] = (operand){take(in, rank, family->from, block), rank};
    if (count > 1 && has_twin(in, in->operand[n].member))
      fail(in, rank, family->from, block, "it takes a sum that is combined both in rank order and in any order");
  }
  bring(in, root, family->to, block, count > 1 ? combine(in, family, block, count) : in->operand[0].member);
}

static void run_family(reader *in, const tt_family *family) {
  for (int64_t i = 0; i < family->count_i && in->status == TUTTI_OK; i++)
    for (int64_t j = 0; j < family->count_j && in->status == TUTTI_OK; j++)
      (family->primitive == TT_MULTICAST ? multicast : reduction)(in, family, i, j);
}

static void fence(const reader *in) {
  size_t count = (size_t)in->of->rank_count * (size_t)in->of->block_count;
  for (int buffer = 0; buffer < TT_BUFFER_COUNT; buffer++) {
    const table *of = &in->table[buffer];
    memcpy(of->now, of->next, count * sizeof *of->now);
    for (size_t at = 0; at < count; at++)
      of->brought[at] = of->brought[at] ? EARLIER : 0;
  }
}

static void run(reader *in) {
  for (int s = 0; s < in->of->stage_count && in->status == TUTTI_OK; s++) {
    in->stage = &in->of->stage[s];
    for (int n = 0; n < in->stage->family_count && in->status == TUTTI_OK; n++)
      run_family(in, tt_ir_family(in->stage, n));
    fence(in);
  }
}

/* ---- the meaning ---- */

static tt_expected expect(const tt_meaning *meaning, int64_t rank, int64_t block) {
  const reader *own = meaning->own;
  size_t at = index_of(own->of, rank, block);
  if (own->table[TT_OUT].brought[at] == 0)
    return (tt_expected){.kind = TT_MEANING_NOTHING};
  int64_t member = (int64_t)own->table[TT_OUT].now[at] - 1;
  if (member < meaning->rank_count)
    return (tt_expected){.kind = TT_MEANING_COPY, .source = member};
  assert(member - meaning->rank_count < meaning->sum_count);
  return meaning->sum[member - meaning->rank_count];
}

static bool has_in(const tt_meaning *meaning, int64_t rank, int64_t block) {
  const reader *own = meaning->own;
  return own->has_in[index_of(own->of, rank, block)];
}

/* Whether all reductions are ordered, and there are any. */
static bool is_ordered(const tt_composition *of) {
  bool any = false;
  for (int s = 0; s < of->stage_count; s++)
    for (int n = 0; n < of->stage[s].family_count; n++) {
      const tt_family *family = tt_ir_family(&of->stage[s], n);
      if (family->primitive == TT_REDUCTION && !family->ordered)
        return false;
      any = any || family->primitive == TT_REDUCTION;
    }
  return any;
}

tutti_status tt_verify_primitives(const tt_composition *composition, tt_arena *arena, tt_meaning *meaning) {
  tutti_status status = tt_ir_check(composition);
  if (status != TUTTI_OK)
    return status;
  reader *own = tt_arena_alloc(arena, 1, sizeof *own);
  if (own)
    *own = (reader){.of = composition, .arena = arena};
  if (own && allocate(own))
    run(own);
  if (arena->failed)
    return tt_fail(TUTTI_ERR_MEMORY,
                   "no memory for the meaning of a composition of %" PRId64 " ranks and %" PRId64 " blocks",
                   composition->rank_count, composition->block_count);
  if (own->status == TUTTI_OK)
    *meaning = (tt_meaning){.name = "composition",
                            .rank_count = composition->rank_count,
                            .block_count = composition->block_count,
                            .in_place = composition->in_place,
                            .ordered = is_ordered(composition),
                            .expect = expect,
                            .has_in = has_in,
                            .sum = own->sum,
                            .sum_count = own->sum_count,
                            .own = own};
  return own->status;
}

/* api/start.c - requests of users' compositions: where blocks lie, checked against what this rank's plan touches. */
#include "api/composition.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define MOST_BYTES (INT64_MAX / 2)

typedef struct start {
  tutti_composition *of;
  const tt_entry *entry;
  const tutti_block_table *blocks;
  const char *at[2];          /* `in`, `out` */
  int64_t element;            /* bytes */
  int64_t *count, *offset[3]; /* of tt_buffer, as the executor takes them */
  int64_t begin[2], end[2];   /* bytes of `in` and `out` that the plan touches; none: end <= begin */
} start;

static tutti_status bad(const char *argument, int64_t block, int64_t value) {
  return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_composition_init: %s[%" PRId64 "] is %" PRId64, argument, block, value);
}

/* ---- the table ---- */

static tutti_status take_words(start *it, tt_words *words) {
  int64_t blocks = it->of->made.block_count, wanted = 4 * blocks;
  if (words->count < wanted) {
    free(words->word);
    words->word = calloc((size_t)wanted, sizeof *words->word);
    words->count = words->word ? wanted : 0;
  }
  if (!words->word)
    return tt_fail(TUTTI_ERR_MEMORY, "tutti_composition_init: no memory for a table of %" PRId64 " blocks", blocks);
  it->count = words->word;
  for (int buffer = TT_IN; buffer <= TT_MID; buffer++)
    it->offset[buffer] = words->word + (buffer + 1) * blocks;
  return TUTTI_OK;
}

static void mark(start *it, tt_ref place) {
  if (place.space <= TT_SPACE_OUT)
    it->count[place.index / it->entry->plan->part_count] = 1;
}

/* Those that this rank has a part in: of the others it need not know how long they are, unless places follow from it.
 */
static void mark_all(start *it) {
  const tt_plan *plan = it->entry->plan;
  bool packed = !it->blocks->in_offsets || !it->blocks->out_offsets;
  for (int64_t b = 0; b < it->of->made.block_count; b++)
    it->count[b] = packed;
  for (uint32_t n = 0; n < plan->step_count; n++) {
    const tt_step *step = &plan->step[n];
    it->count[step->block / plan->part_count] = 1;
    if (step->kind != TT_STEP_RECV)
      mark(it, step->src);
    if (step->kind != TT_STEP_SEND)
      mark(it, step->dst);
  }
}

static tutti_status fill(start *it) {
  const tutti_block_table *from = it->blocks;
  int64_t packed = 0, most = MOST_BYTES / it->element;
  assert(it->element > 0);
  mark_all(it);
  for (int64_t b = 0; b < it->of->made.block_count; b++) {
    int64_t count = it->count[b] ? from->counts[b] : 0;
    if (count < 0 || count > most - packed)
      return bad("counts", b, count);
    it->count[b] = count;
    it->offset[TT_IN][b] = from->in_offsets ? from->in_offsets[b] : packed;
    it->offset[TT_OUT][b] = from->out_offsets ? from->out_offsets[b] : packed;
    it->offset[TT_MID][b] = packed;
    packed += count;
  }
  return TUTTI_OK;
}

/* ---- what the plan touches ---- */

static tutti_status check_offset(const start *it, int side, int64_t block) {
  int64_t offset = it->offset[side][block], most = MOST_BYTES / it->element;
  bool fits = offset <= most - it->count[block] && offset >= -most;
  return fits ? TUTTI_OK : bad(side ? "out_offsets" : "in_offsets", block, offset);
}

/* In place says that a block lies at one place. side: whose offset is checked already. */
static tutti_status check_in_place(const start *it, int side, int64_t block) {
  tutti_status status = check_offset(it, !side, block);
  if (status != TUTTI_OK)
    return status;
  const char *in = it->at[TT_IN] + it->offset[TT_IN][block] * it->element;
  const char *out = it->at[TT_OUT] + it->offset[TT_OUT][block] * it->element;
  return in == out ? TUTTI_OK
                   : tt_fail(TUTTI_ERR_ARGUMENT,
                             "tutti_composition_init: the composition is in place, but block %" PRId64
                             " is at %p of in and at %p of out",
                             block, (const void *)in, (const void *)out);
}

static tutti_status touch(start *it, tt_ref place) {
  if (place.space > TT_SPACE_OUT)
    return TUTTI_OK;
  int side = place.space == TT_SPACE_OUT;
  int64_t block = place.index / it->entry->plan->part_count, count = it->count[block];
  assert(block < it->of->made.block_count);
  tutti_status status = check_offset(it, side, block);
  if (status == TUTTI_OK && count > 0 && it->of->made.in_place && it->at[TT_IN] && it->at[TT_OUT])
    status = check_in_place(it, side, block);
  if (status != TUTTI_OK || count == 0)
    return status;
  int64_t begin = it->offset[side][block] * it->element, end = begin + count * it->element;
  bool first = it->end[side] <= it->begin[side];
  it->begin[side] = first || begin < it->begin[side] ? begin : it->begin[side];
  it->end[side] = first || end > it->end[side] ? end : it->end[side];
  return TUTTI_OK;
}

static tutti_status touch_all(start *it) {
  const tt_plan *plan = it->entry->plan;
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; n < plan->step_count && status == TUTTI_OK; n++) {
    const tt_step *step = &plan->step[n];
    if (step->kind != TT_STEP_RECV)
      status = touch(it, step->src);
    if (status == TUTTI_OK && step->kind != TT_STEP_SEND)
      status = touch(it, step->dst);
  }
  return status;
}

static tutti_status check_buffers(const start *it) {
  const char *const *at = it->at;
  for (int side = 0; side < 2; side++)
    if (it->end[side] > it->begin[side] && !at[side])
      return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_composition_init: %s is NULL, but this rank's plan uses it",
                     side ? "out" : "in");
  bool both = it->end[0] > it->begin[0] && it->end[1] > it->begin[1];
  bool meet = both && at[0] + it->begin[0] < at[1] + it->end[1] && at[1] + it->begin[1] < at[0] + it->end[0];
  if (meet && !it->of->made.in_place)
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "tutti_composition_init: in %p and out %p overlap; call tutti_composition_set_in_place to allow it",
                   (const void *)at[0], (const void *)at[1]);
  return TUTTI_OK;
}

/* ---- blocks that are written ---- */

typedef struct stretch { /* of `out`, or of the one memory in place: bytes of a block */
  int64_t begin, end, block;
  bool written;
} stretch;

static void add_stretch(const start *it, tt_ref place, bool written, stretch *at, int64_t *count) {
  bool there = place.space == TT_SPACE_OUT || (place.space == TT_SPACE_IN && it->of->made.in_place);
  if (!there) /* the index is no block's */
    return;
  int64_t block = place.index / it->entry->plan->part_count, elements = it->count[block];
  if (elements == 0)
    return;
  int64_t begin = it->offset[TT_OUT][block] * it->element;
  at[(*count)++] = (stretch){begin, begin + elements * it->element, block, written};
}

static int compare_stretches(const void *a, const void *b) {
  const stretch *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return (x->block > y->block) - (x->block < y->block);
}

static tutti_status overlapping(const start *it, int64_t a, int64_t b) {
  return tt_fail(TUTTI_ERR_ARGUMENT,
                 "tutti_composition_init: blocks %" PRId64 " and %" PRId64
                 " overlap in out, where this rank's plan writes: %" PRId64 " elements at %" PRId64 ", %" PRId64
                 " at %" PRId64,
                 a, b, it->count[a], it->offset[TT_OUT][a], it->count[b], it->offset[TT_OUT][b]);
}

/* By beginning; far[1]: the one that ends last of those before, far[0]: of those that are written. A block may be there
 * more than once. */
static tutti_status check_stretches(const start *it, stretch *at, int64_t count) {
  const stretch *far[2] = {NULL, NULL};
  qsort(at, (size_t)count, sizeof *at, compare_stretches);
  for (int64_t n = 1; n < count; n++)
    if (at[n].block == at[n - 1].block)
      at[n].written |= at[n - 1].written;
  for (int64_t n = count - 1; n > 0; n--)
    if (at[n].block == at[n - 1].block)
      at[n - 1].written = at[n].written;
  for (int64_t n = 0; n < count; n++) {
    const stretch *before = far[at[n].written];
    if (before && before->block != at[n].block && at[n].begin < before->end)
      return overlapping(it, before->block, at[n].block);
    for (int any = !at[n].written; any < 2; any++)
      far[any] = !far[any] || at[n].end > far[any]->end ? &at[n] : far[any];
  }
  return TUTTI_OK;
}

static tutti_status check_overlap(const start *it) {
  const tt_plan *plan = it->entry->plan;
  stretch *at = malloc((2 * (size_t)plan->step_count + 1) * sizeof *at);
  if (!at)
    return tt_fail(TUTTI_ERR_MEMORY, "tutti_composition_init: no memory for %u steps", plan->step_count);
  int64_t count = 0;
  for (uint32_t n = 0; n < plan->step_count; n++) {
    const tt_step *step = &plan->step[n];
    if (step->kind != TT_STEP_RECV)
      add_stretch(it, step->src, false, at, &count);
    if (step->kind != TT_STEP_SEND)
      add_stretch(it, step->dst, true, at, &count);
  }
  assert(count <= 2 * (int64_t)plan->step_count);
  tutti_status status = check_stretches(it, at, count);
  free(at);
  return status;
}

/* ---- the request ---- */

static tutti_status check_arguments(const tutti_composition *of, const tutti_block_table *blocks, tutti_type type,
                                    tutti_op op, tutti_request **request) {
  if (!of || !blocks || !blocks->counts || !request)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_composition_init: %s is NULL",
                   !of               ? "composition"
                   : !blocks         ? "blocks"
                   : !blocks->counts ? "blocks->counts"
                                     : "request");
  if (of->comm->agree.broken != TUTTI_OK || tt_agree_poisoned(of->comm))
    return tt_agree_verdict(of->comm);
  if (tt_context_type_bytes(of->comm->context, (int32_t)type) <= 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_composition_init: type is %d", (int)type);
  return of->reduces ? tt_call_check_op(of->comm, "composition_init", (int32_t)type, (int32_t)op) : TUTTI_OK;
}

static uint64_t key_of(const tt_bound *bound) {
  uint64_t op = bound->run.moves_only ? 0 : (uint64_t)bound->said.op;
  const uint64_t facts[] = {bound->said.params, (uint64_t)tt_said_type_key(bound->said.type), op,
                            (uint64_t)bound->run.element_bytes};
  return tt_hash(2, facts, sizeof facts);
}

static void add_move(const start *it, tt_record_move *sum, int64_t block, int64_t from, int64_t to) {
  const tt_plan *plan = it->entry->plan;
  tt_record_move move = tt_record_move_of(plan->rank_count, block, from, to, it->count[block] * it->element);
  assert(from == plan->rank || to == plan->rank);
  sum->lengths += from == plan->rank ? move.lengths : -move.lengths;
  sum->pairs += from == plan->rank ? move.pairs : -move.pairs;
}

/* Both ends of a move must say the same of its block: what this rank says of those that it has a part in. */
static tt_record_move moves_of(const start *it) {
  const tt_plan *plan = it->entry->plan;
  tt_record_move sum = {0};
  for (uint32_t l = 0; l < plan->lane_count; l++) {
    const tt_lane *lane = &plan->lane[l];
    for (uint32_t n = lane->first_step; n < lane->first_step + lane->step_count; n++) {
      const tt_step *step = &plan->step[n];
      int64_t block = step->block / plan->part_count;
      if (step->kind == TT_STEP_SEND && step->peer >= 0)
        add_move(it, &sum, block, plan->rank, step->peer);
      else if (step->kind != TT_STEP_SEND && step->kind != TT_STEP_COPY)
        add_move(it, &sum, block, step->peer, plan->rank);
      for (uint32_t r = 0; step->kind == TT_STEP_SEND && step->peer < 0 && r < lane->reader_count; r++)
        add_move(it, &sum, block, plan->rank, plan->reader[lane->first_reader + r]);
    }
  }
  return sum;
}

static tt_bound bound_of(const start *it, tt_entry *entry, tutti_type type, tutti_op op) {
  tutti_context *context = it->of->comm->context;
  int32_t number = (int32_t)type;
  tt_record_move moves = moves_of(it);
  tt_bound bound = {.said = {.count = it->of->made.block_count,
                             .params = entry->hash,
                             .collective = TT_COLLECTIVE_COUNT, /* none of tutti's */
                             .type = tt_context_said_type(context, number),
                             .op = tt_context_said_op(context, (int32_t)op),
                             .lists = moves.pairs,
                             .lengths = moves.lengths},
                    .type = number,
                    .op = (int32_t)op,
                    .in_place = it->of->made.in_place,
                    .entry = entry,
                    .decision = {.source = "", .by = TT_AUTHORITY_COUNT},
                    .run = {.moves_only = !it->of->reduces,
                            .type = tt_type_is_user(number) ? TUTTI_BYTE : (tutti_type)tt_said_type_key(number),
                            .op = op,
                            .element_bytes = tt_type_is_user(number) ? it->element : 0,
                            .user_op = tt_context_user_op(context, (int32_t)op),
                            .shape = ++context->last_shape,
                            .blocks = {.kind = TT_TABLE_LISTED,
                                       .block_count = it->of->made.block_count,
                                       .count = it->count,
                                       .in_offset = it->offset[TT_IN],
                                       .out_offset = it->offset[TT_OUT],
                                       .mid_offset = it->offset[TT_MID]}}};
  int64_t last = it->of->made.block_count - 1;
  assert(last >= 0);
  bound.run.blocks.total = it->offset[TT_MID][last] + it->count[last];
  bound.said.key = key_of(&bound);
  return bound;
}

static tutti_status prepare(start *it, tutti_type type, tutti_op op, tutti_request *request) {
  tt_entry *entry;
  tutti_status status = tt_composition_entry(it->of, tt_composition_is_ordered(it->of, op), &entry);
  if (status != TUTTI_OK)
    return status;
  it->entry = entry;
  status = take_words(it, &request->words);
  if (status == TUTTI_OK)
    status = fill(it);
  if (status == TUTTI_OK)
    status = touch_all(it);
  if (status == TUTTI_OK)
    status = check_buffers(it);
  if (status == TUTTI_OK)
    status = check_overlap(it);
  if (status != TUTTI_OK)
    return status;
  request->bound = bound_of(it, entry, type, op);
  return tt_side_make(request);
}

tutti_status tutti_composition_init(tutti_composition *composition, const void *in, void *out,
                                    const tutti_block_table *blocks, tutti_type type, tutti_op op,
                                    tutti_request **request) {
  if (composition && tt_context_is_copy(composition->comm->context))
    return tt_fork_refuse(composition->comm->context, "tutti_composition_init");
  TT_HOLD(composition ? composition->comm->context : NULL);
  tutti_status status = check_arguments(composition, blocks, type, op, request);
  if (status != TUTTI_OK)
    return status;
  start it = {.of = composition,
              .blocks = blocks,
              .at = {in, out},
              .element = tt_context_type_bytes(composition->comm->context, (int32_t)type)};
  tutti_request *made = tt_request_get(composition->comm);
  status = made ? prepare(&it, type, op, made) : tt_fail(TUTTI_ERR_MEMORY, "no memory for a request");
  if (status == TUTTI_ERR_MEMORY) /* the others make it, and wait in its starts */
    status = tt_agree_break_here(composition->comm, status);
  if (status != TUTTI_OK) {
    if (made)
      tt_request_give_back(made);
    return status;
  }
  made->call = (tt_call){.in = in, .out = out, .collective = TT_COLLECTIVE_COUNT};
  made->persistent = true;
  composition->frozen = true;
  *request = made;
  return TUTTI_OK;
}

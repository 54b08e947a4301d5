/* plan/set.c - the plans of all ranks and what they claim to do together, from one text.
 *
 *     plans 1
 *     claim allreduce ranks 2 blocks 1
 *     plan rank 0 of 2 blocks 1 ...
 *     ...
 *     plan rank 1 of 2 blocks 1 ...
 *     ...
 *
 * The first line is the version of the form. Ranks ascend; that all of them are there is looked at in the end. A text
 * without a claim, as one rank's plan alone, is read as far as it says which ranks' are missing. */
#include "plan/reader.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct set_reader {
  tt_plan_reader in;
  tt_plan_set *set;
  bool has_claim;
  int64_t rank_count;       /* the claim's, else the first plan's */
  int32_t *source, *target; /* of the claim's edges */
  char missing[160];        /* ranks: "0 to 2, 4" */
  bool is_cut;              /* `missing` has no room for more */
} set_reader;

/* ---- the claim ---- */

static void read_collective(tt_plan_reader *in, tt_plan_claim *claim) {
  size_t length = strspn(in->at, "abcdefghijklmnopqrstuvwxyz-");
  if (length == 0 || length >= sizeof claim->collective)
    tt_plan_expect(in, "a collective's name");
  if (in->expected != NULL)
    return;
  memcpy(claim->collective, in->at, length);
  in->at += length;
}

static void read_claim(tt_plan_reader *in, tt_plan_claim *claim) {
  tt_plan_need(in, "plans 1");
  tt_plan_end_line(in);
  tt_plan_need(in, "claim ");
  read_collective(in, claim);
  tt_plan_need(in, " ranks ");
  claim->rank_count = (int64_t)tt_plan_number(in, 1, TT_PLAN_RANKS_MOST);
  tt_plan_need(in, " blocks ");
  claim->block_count = (int64_t)tt_plan_number(in, 0, TT_PLAN_BLOCKS_MOST);
  if (tt_plan_accept(in, " root "))
    claim->root = (int64_t)tt_plan_number(in, 0, (uint64_t)claim->rank_count - 1);
  claim->in_place = tt_plan_accept(in, " in-place");
  claim->ordered = tt_plan_accept(in, " ordered");
  claim->reproducible = tt_plan_accept(in, " reproducible");
  tt_plan_end_line(in);
}

static void read_edge(set_reader *from) {
  tt_plan_claim *claim = &from->set->claim;
  uint64_t last = (uint64_t)claim->rank_count - 1, number = (uint64_t)claim->edge_count;
  int32_t *source = from->source = tt_plan_grown(&from->set->arena, from->source, number, sizeof *source);
  int32_t *target = from->target = tt_plan_grown(&from->set->arena, from->target, number, sizeof *target);
  if (source == NULL || target == NULL) {
    tt_plan_expect(&from->in, "more memory");
    return;
  }
  claim->from = source;
  claim->to = target;
  if (tt_plan_number(&from->in, 0, INT64_MAX) != number)
    tt_plan_expect(&from->in, "the next edge's number");
  tt_plan_need(&from->in, " ");
  source[number] = (int32_t)tt_plan_number(&from->in, 0, last);
  tt_plan_need(&from->in, "->");
  target[number] = (int32_t)tt_plan_number(&from->in, 0, last);
  claim->edge_count++;
  tt_plan_end_line(&from->in);
}

static void read_head(set_reader *from) {
  tt_plan_claim *claim = &from->set->claim;
  claim->root = -1;
  from->has_claim = strncmp(from->in.at, "plan rank ", 10) != 0;
  if (!from->has_claim)
    return;
  read_claim(&from->in, claim);
  while (tt_plan_accept(&from->in, "edge "))
    read_edge(from);
  from->rank_count = claim->rank_count;
}

/* ---- plans ---- */

static int64_t last_rank(const set_reader *from) {
  return from->set->plan_count == 0 ? -1 : from->set->plan[from->set->plan_count - 1]->rank;
}

static tutti_status check_rank(const set_reader *from, const tt_plan *plan, uint64_t line) {
  if (plan->rank_count != from->rank_count)
    return tt_fail(TUTTI_ERR_PLAN,
                   "plan text, line %" PRIu64 ": the plan is of %" PRId64 " ranks, but the claim has %" PRId64, line,
                   plan->rank_count, from->rank_count);
  if (plan->rank >= plan->rank_count)
    return tt_fail(TUTTI_ERR_PLAN, "plan text, line %" PRIu64 ": rank %" PRId64 " is not one of %" PRId64, line,
                   plan->rank, plan->rank_count);
  if (plan->rank <= last_rank(from))
    return tt_fail(TUTTI_ERR_PLAN,
                   "plan text, line %" PRIu64 ": the plan of rank %" PRId64 " follows that of rank %" PRId64
                   "; ranks must ascend",
                   line, plan->rank, last_rank(from));
  return TUTTI_OK;
}

/* Keeps the plan. */
static tutti_status add_plan_take(set_reader *from, tt_plan *plan) {
  assert(plan->rank > last_rank(from) && plan->rank < from->rank_count);
  tt_plan_set *set = from->set;
  tt_plan **table = tt_plan_grown(&set->arena, set->plan, (size_t)set->plan_count, sizeof(tt_plan *));
  if (table == NULL) {
    tt_plan_destroy(plan);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " plans", set->plan_count + 1);
  }
  set->plan = table;
  set->plan[set->plan_count++] = plan;
  return TUTTI_OK;
}

static void add_missing(set_reader *from, int64_t first, int64_t last) {
  size_t used = strlen(from->missing), room = sizeof from->missing - used;
  char *end = from->missing + used;
  const char *comma = used > 0 ? ", " : "";
  if (first > last || from->is_cut)
    return;
  from->is_cut = room < 64;
  if (from->is_cut)
    snprintf(end, room, ", ...");
  else if (first == last)
    snprintf(end, room, "%s%" PRId64, comma, first);
  else
    snprintf(end, room, "%s%" PRId64 " to %" PRId64, comma, first, last);
}

static tutti_status read_plan(set_reader *from) {
  uint64_t line = from->in.line;
  tt_plan *plan;
  tutti_status status = tt_plan_read(&from->in, &plan);
  if (status != TUTTI_OK)
    return status;
  if (!from->has_claim && from->set->plan_count == 0)
    from->rank_count = plan->rank_count;
  status = from->in.expected != NULL ? tt_plan_refused(&from->in) : check_rank(from, plan, line);
  if (status != TUTTI_OK) {
    tt_plan_destroy(plan);
    return status;
  }
  add_missing(from, last_rank(from) + 1, plan->rank - 1);
  return add_plan_take(from, plan);
}

/* ---- the whole ---- */

static tutti_status check_whole(const set_reader *from, const char *end) {
  char missing[256] = "";
  if (from->missing[0] != '\0')
    snprintf(missing, sizeof missing, "the plans of ranks %s of %" PRId64 " are missing", from->missing,
             from->rank_count);
  if (from->in.at != end)
    return tt_fail(TUTTI_ERR_PLAN, "plan text, line %" PRIu64 ": a zero byte", from->in.line);
  if (!from->has_claim)
    return tt_fail(TUTTI_ERR_PLAN, "plan text, line 1: expected 'plans 1', then a claim%s%s", missing[0] ? "; " : "",
                   missing);
  return missing[0] ? tt_fail(TUTTI_ERR_PLAN, "plan text: %s", missing) : TUTTI_OK;
}

static tutti_status read_set(set_reader *from, const char *end) {
  tutti_status status = TUTTI_OK;
  read_head(from);
  while (status == TUTTI_OK && tt_plan_more(&from->in))
    status = read_plan(from);
  if (status != TUTTI_OK)
    return status;
  if (from->set->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " edges", from->set->claim.edge_count);
  if (from->in.expected != NULL)
    return tt_plan_refused(&from->in);
  add_missing(from, last_rank(from) + 1, from->rank_count - 1);
  return check_whole(from, end);
}

tutti_status tt_plan_set_parse(const char *text, size_t size, tt_plan_set **set) {
  set_reader from = {.in = {.at = text, .line = 1}, .set = calloc(1, sizeof *from.set)};
  if (from.set == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a text's plans");
  tt_arena_init(&from.set->arena);
  tutti_status status = read_set(&from, text + size);
  if (status == TUTTI_OK)
    *set = from.set;
  else
    tt_plan_set_destroy(from.set);
  return status;
}

void tt_plan_set_destroy(tt_plan_set *set) {
  if (set == NULL)
    return;
  for (int64_t n = 0; n < set->plan_count; n++)
    tt_plan_destroy(set->plan[n]);
  tt_arena_finish(&set->arena);
  free(set);
}

/* plan/parse.c - the text form back to a plan; print.c shows the form.
 *
 * Tables grow with what is there, so that memory is bounded by the text whatever its numbers say. */
#include "plan/names.h"
#include "plan/reader.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static uint32_t number16(tt_plan_reader *in) { return (uint32_t)tt_plan_number(in, 0, UINT16_MAX); }
static uint32_t number32(tt_plan_reader *in) { return (uint32_t)tt_plan_number(in, 0, UINT32_MAX); }
static int64_t number64(tt_plan_reader *in) { return (int64_t)tt_plan_number(in, 0, INT64_MAX); }
static int32_t rank_number(tt_plan_reader *in) { return (int32_t)tt_plan_number(in, 0, INT32_MAX); }

/* Nothing is written where there is no memory: what failed is in the arena, and no more is read. */
static bool has_room(tt_plan_reader *in, const void *table) {
  if (table == NULL)
    tt_plan_expect(in, "more memory");
  return table != NULL;
}

/* Tables are there, even if nothing will be in them. */
static void begin_tables(tt_plan *plan) {
  plan->lane = tt_plan_grown(&plan->arena, NULL, 0, sizeof *plan->lane);
  plan->step = tt_plan_grown(&plan->arena, NULL, 0, sizeof *plan->step);
  plan->wait = tt_plan_grown(&plan->arena, NULL, 0, sizeof *plan->wait);
  plan->reader = tt_plan_grown(&plan->arena, NULL, 0, sizeof *plan->reader);
}

static void read_header(tt_plan_reader *in, tt_plan *plan) {
  tt_plan_need(in, "plan rank ");
  plan->rank = number64(in);
  tt_plan_need(in, " of ");
  plan->rank_count = number64(in);
  tt_plan_need(in, " blocks ");
  plan->block_count = number32(in);
  tt_plan_need(in, " parts ");
  plan->part_count = number32(in);
  tt_plan_need(in, " tmp ");
  plan->tmp_count = number32(in);
  tt_plan_need(in, " times ");
  plan->time_count = number32(in);
  tt_plan_need(in, " slice ");
  plan->slice_bytes = number64(in);
  plan->in_place = tt_plan_accept(in, " in-place");
  plan->direct = tt_plan_accept(in, " direct");
  tt_plan_end_line(in);
}

static void read_level(tt_plan_reader *in, tt_plan *plan) {
  if (plan->level_count == TT_PLAN_LEVELS || number32(in) != plan->level_count)
    tt_plan_expect(in, "the next level's number");
  tt_plan_need(in, " ");
  size_t length = strcspn(in->at, " \n");
  if (length == 0 || length >= sizeof plan->level[0])
    tt_plan_expect(in, "a level's name of 1 to 15 characters");
  if (in->expected != NULL)
    return;
  memcpy(plan->level[plan->level_count++], in->at, length);
  in->at += length;
  tt_plan_end_line(in);
}

static void read_reader(tt_plan_reader *in, tt_plan *plan, tt_lane *lane) {
  int32_t *table = tt_plan_grown(&plan->arena, plan->reader, plan->reader_count, sizeof *table);
  if (!has_room(in, table))
    return;
  plan->reader = table;
  table[plan->reader_count++] = rank_number(in);
  lane->reader_count++;
}

static void read_readers(tt_plan_reader *in, tt_plan *plan, tt_lane *lane) {
  if (!tt_plan_accept(in, " readers"))
    return;
  while (tt_plan_accept(in, " "))
    read_reader(in, plan, lane);
  if (lane->reader_count == 0)
    tt_plan_expect(in, "a reader");
}

static void read_lane(tt_plan_reader *in, tt_plan *plan) {
  tt_lane *table = tt_plan_grown(&plan->arena, plan->lane, plan->lane_count, sizeof *table);
  if (!has_room(in, table))
    return;
  plan->lane = table;
  tt_lane *lane = &table[plan->lane_count];
  *lane = (tt_lane){.first_step = plan->step_count, .first_reader = plan->reader_count};
  if (number32(in) != plan->lane_count)
    tt_plan_expect(in, "the next lane's number");
  plan->lane_count++;
  tt_plan_need(in, " id ");
  lane->id = number32(in);
  tt_plan_need(in, " ");
  lane->role = (uint16_t)tt_plan_name(in, tt_plan_role_name, TT_COUNT(tt_plan_role_name), "local, send or recv");
  tt_plan_need(in, " level ");
  lane->level = (uint16_t)number16(in);
  tt_plan_need(in, " channel ");
  lane->channel = (uint16_t)number16(in);
  lane->published = tt_plan_accept(in, " published");
  read_readers(in, plan, lane);
  tt_plan_end_line(in);
}

static tt_ref read_ref(tt_plan_reader *in) {
  tt_ref ref = {0, 0};
  tt_plan_need(in, " ");
  ref.space = tt_plan_name(in, tt_plan_space_name, TT_SPACE_COUNT, "in, out, mid or tmp");
  tt_plan_need(in, ".");
  ref.index = number32(in);
  return ref;
}

static int32_t read_peer(tt_plan_reader *in, const tt_step *step) {
  if (step->kind == TT_STEP_COPY)
    return -1;
  tt_plan_need(in, step->kind == TT_STEP_SEND ? " ->" : " <-");
  return step->kind == TT_STEP_SEND && tt_plan_accept(in, "*") ? -1 : rank_number(in);
}

static uint8_t read_flags(tt_plan_reader *in) {
  int flags = tt_plan_accept(in, " left") ? TT_STEP_LEFT : 0;
  flags |= tt_plan_accept(in, " first") ? TT_STEP_FIRST : 0;
  flags |= tt_plan_accept(in, " last") ? TT_STEP_LAST : 0;
  flags |= tt_plan_accept(in, " onto") ? TT_STEP_ONTO : 0;
  return (uint8_t)flags;
}

static void read_wait(tt_plan_reader *in, tt_plan *plan) {
  tt_wait *table = tt_plan_grown(&plan->arena, plan->wait, plan->wait_count, sizeof *table);
  if (!has_room(in, table))
    return;
  plan->wait = table;
  tt_wait *wait = &table[plan->wait_count++];
  wait->lane = number32(in);
  tt_plan_need(in, ".");
  wait->step = number32(in);
  wait->whole = tt_plan_accept(in, "*");
}

static void read_waits(tt_plan_reader *in, tt_plan *plan, tt_step *step) {
  step->wait_first = plan->wait_count;
  if (!tt_plan_accept(in, " wait"))
    return;
  while (tt_plan_accept(in, " "))
    read_wait(in, plan);
  uint32_t count = plan->wait_count - step->wait_first;
  step->wait_count = (uint16_t)count;
  if (count == 0 || count > UINT16_MAX)
    tt_plan_expect(in, "1 to 65535 waits");
}

static tt_step *add_step(tt_plan_reader *in, tt_plan *plan) {
  if (plan->lane_count == 0)
    tt_plan_expect(in, "a lane before the first step");
  if (in->expected != NULL)
    return NULL;
  assert(plan->lane[plan->lane_count - 1].first_step + plan->lane[plan->lane_count - 1].step_count == plan->step_count);
  tt_step *table = tt_plan_grown(&plan->arena, plan->step, plan->step_count, sizeof *table);
  if (!has_room(in, table))
    return NULL;
  plan->step = table;
  table[plan->step_count] = (tt_step){0};
  return &table[plan->step_count++];
}

static void read_step(tt_plan_reader *in, tt_plan *plan) {
  tt_step *step = add_step(in, plan);
  if (step == NULL)
    return;
  if (number32(in) != plan->lane[plan->lane_count - 1].step_count++)
    tt_plan_expect(in, "the next step's number");
  tt_plan_need(in, " t");
  step->time = number32(in);
  tt_plan_need(in, " ");
  step->kind = (uint8_t)tt_plan_name(in, tt_plan_kind_name, TT_STEP_KIND_COUNT, "send, recv, reduce or copy");
  step->peer = read_peer(in, step);
  tt_plan_need(in, " b");
  step->block = number32(in);
  if (step->kind != TT_STEP_RECV)
    step->src = read_ref(in);
  if (step->kind != TT_STEP_SEND) {
    tt_plan_need(in, " =>");
    step->dst = read_ref(in);
  }
  step->flags = read_flags(in);
  if (tt_plan_accept(in, " finish "))
    step->finish = (uint32_t)tt_plan_number(in, 1, UINT32_MAX);
  read_waits(in, plan, step);
  tt_plan_end_line(in);
}

tutti_status tt_plan_read(tt_plan_reader *in, tt_plan **plan) {
  tutti_status status = tt_plan_create(plan);
  if (status != TUTTI_OK)
    return status;
  begin_tables(*plan);
  if (!(*plan)->arena.failed)
    read_header(in, *plan);
  while (tt_plan_accept(in, "level "))
    read_level(in, *plan);
  while (tt_plan_more(in) && strncmp(in->at, "plan ", 5) != 0) {
    if (tt_plan_accept(in, "lane "))
      read_lane(in, *plan);
    else if (tt_plan_accept(in, "  "))
      read_step(in, *plan);
    else
      tt_plan_expect(in, "a lane, a step or the end");
  }
  if (!(*plan)->arena.failed)
    return TUTTI_OK;
  tt_plan_destroy(*plan);
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for the plan that ends in line %" PRIu64, in->line);
}

tutti_status tt_plan_parse(const char *text, tt_plan **plan) {
  tt_plan_reader in = {.at = text, .line = 1};
  tt_plan *made;
  tutti_status status = tt_plan_read(&in, &made);
  if (status != TUTTI_OK)
    return status;
  if (tt_plan_more(&in))
    tt_plan_expect(&in, "the end: one plan");
  status = in.expected != NULL ? tt_plan_refused(&in) : tt_plan_check(made);
  if (status == TUTTI_OK)
    *plan = made;
  else
    tt_plan_destroy(made);
  return status;
}

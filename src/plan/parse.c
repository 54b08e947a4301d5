/* plan/parse.c - the text form back to a plan; print.c shows the form.
 *
 * The grammar is strict (single spaces, no leading zeros, one order of words), so that whatever is accepted prints back
 * to the same text. Tables are sized before by counting the characters that can begin an entry. The first error is kept
 * with its line. */
#include "plan/names.h"

#include <string.h>

typedef struct reader {
  const char *at;
  uint32_t line;
  const char *expected; /* NULL: no error so far */
  tt_plan *plan;
} reader;

static void expect(reader *in, const char *what) {
  if (in->expected == NULL)
    in->expected = what;
}

/* Takes `word` where it stands next. */
static bool take(reader *in, const char *word) {
  size_t length = strlen(word);
  if (in->expected != NULL || strncmp(in->at, word, length) != 0)
    return false;
  in->at += length;
  return true;
}

static void need(reader *in, const char *word) {
  if (!take(in, word))
    expect(in, word);
}

static uint64_t number(reader *in, uint64_t limit) {
  const char *at = in->at;
  uint64_t value = 0;
  bool fits = in->expected == NULL;
  for (; fits && *at >= '0' && *at <= '9'; at++) {
    uint64_t digit = (uint64_t)(*at - '0');
    fits = value <= (limit - digit) / 10;
    value = value * 10 + digit;
  }
  if (!fits || at == in->at || (*in->at == '0' && at - in->at > 1)) {
    expect(in, "a number in range");
    return 0;
  }
  in->at = at;
  return value;
}

static uint32_t number32(reader *in) { return (uint32_t)number(in, UINT32_MAX); }
static uint16_t number16(reader *in) { return (uint16_t)number(in, UINT16_MAX); }

static uint32_t name(reader *in, const char *const *names, uint32_t count, const char *what) {
  for (uint32_t n = 0; n < count; n++)
    if (take(in, names[n]))
      return n;
  expect(in, what);
  return 0;
}

static void end_line(reader *in) {
  need(in, "\n");
  in->line += in->expected == NULL;
}

static void read_header(reader *in) {
  tt_plan *plan = in->plan;
  need(in, "plan rank ");
  plan->rank = (int64_t)number(in, INT64_MAX);
  need(in, " of ");
  plan->rank_count = (int64_t)number(in, INT64_MAX);
  need(in, " blocks ");
  plan->block_count = number32(in);
  need(in, " parts ");
  plan->part_count = number32(in);
  need(in, " tmp ");
  plan->tmp_count = number32(in);
  need(in, " times ");
  plan->time_count = number32(in);
  need(in, " slice ");
  plan->slice_bytes = (int64_t)number(in, INT64_MAX);
  plan->in_place = take(in, " in-place");
  plan->direct = take(in, " direct");
  end_line(in);
}

static void read_level(reader *in) {
  tt_plan *plan = in->plan;
  if (plan->level_count == TT_PLAN_LEVELS || number32(in) != plan->level_count)
    expect(in, "the next level's number");
  need(in, " ");
  size_t length = strcspn(in->at, " \n");
  if (length == 0 || length >= sizeof plan->level[0])
    expect(in, "a level's name of 1 to 15 characters");
  if (in->expected != NULL)
    return;
  memcpy(plan->level[plan->level_count++], in->at, length);
  in->at += length;
  end_line(in);
}

static void read_readers(reader *in, tt_lane *lane) {
  tt_plan *plan = in->plan;
  if (!take(in, " readers"))
    return;
  while (take(in, " ")) {
    plan->reader[plan->reader_count++] = (int32_t)number(in, INT32_MAX);
    lane->reader_count++;
  }
  if (lane->reader_count == 0)
    expect(in, "a reader");
}

static void read_lane(reader *in) {
  tt_plan *plan = in->plan;
  tt_lane *lane = &plan->lane[plan->lane_count];
  *lane = (tt_lane){.first_step = plan->step_count, .first_reader = plan->reader_count};
  if (number32(in) != plan->lane_count)
    expect(in, "the next lane's number");
  plan->lane_count++;
  need(in, " id ");
  lane->id = number32(in);
  need(in, " ");
  lane->role = (uint16_t)name(in, tt_plan_role_name, TT_COUNT(tt_plan_role_name), "local, send or recv");
  need(in, " level ");
  lane->level = number16(in);
  need(in, " channel ");
  lane->channel = number16(in);
  lane->published = take(in, " published");
  read_readers(in, lane);
  end_line(in);
}

static tt_ref read_ref(reader *in) {
  tt_ref ref = {0, 0};
  need(in, " ");
  ref.space = name(in, tt_plan_space_name, TT_SPACE_COUNT, "in, out, mid or tmp");
  need(in, ".");
  ref.index = number32(in);
  return ref;
}

static int32_t read_peer(reader *in, const tt_step *step) {
  if (step->kind == TT_STEP_COPY)
    return -1;
  need(in, step->kind == TT_STEP_SEND ? " ->" : " <-");
  return step->kind == TT_STEP_SEND && take(in, "*") ? -1 : (int32_t)number(in, INT32_MAX);
}

static uint8_t read_flags(reader *in) {
  int flags = take(in, " left") ? TT_STEP_LEFT : 0;
  flags |= take(in, " first") ? TT_STEP_FIRST : 0;
  flags |= take(in, " last") ? TT_STEP_LAST : 0;
  flags |= take(in, " onto") ? TT_STEP_ONTO : 0;
  return (uint8_t)flags;
}

static void read_waits(reader *in, tt_step *step) {
  tt_plan *plan = in->plan;
  step->wait_first = plan->wait_count;
  if (!take(in, " wait"))
    return;
  while (take(in, " ")) {
    tt_wait *wait = &plan->wait[plan->wait_count++];
    wait->lane = number32(in);
    need(in, ".");
    wait->step = number32(in);
    wait->whole = take(in, "*");
  }
  uint32_t count = plan->wait_count - step->wait_first;
  step->wait_count = (uint16_t)count;
  if (count == 0 || count > UINT16_MAX)
    expect(in, "1 to 65535 waits");
}

static void read_finish(reader *in, tt_step *step) {
  if (!take(in, " finish "))
    return;
  step->finish = number32(in);
  if (step->finish == 0)
    expect(in, "a finish of 1 or more");
}

static void read_step(reader *in) {
  tt_plan *plan = in->plan;
  if (plan->lane_count == 0) {
    expect(in, "a lane before the first step");
    return;
  }
  tt_step *step = &plan->step[plan->step_count++];
  if (number32(in) != plan->lane[plan->lane_count - 1].step_count++)
    expect(in, "the next step's number");
  need(in, " t");
  step->time = number32(in);
  need(in, " ");
  step->kind = (uint8_t)name(in, tt_plan_kind_name, TT_STEP_KIND_COUNT, "send, recv, reduce or copy");
  step->peer = read_peer(in, step);
  need(in, " b");
  step->block = number32(in);
  if (step->kind != TT_STEP_RECV)
    step->src = read_ref(in);
  if (step->kind != TT_STEP_SEND) {
    need(in, " =>");
    step->dst = read_ref(in);
  }
  step->flags = read_flags(in);
  read_finish(in, step);
  read_waits(in, step);
  end_line(in);
}

static size_t count_of(const char *text, char wanted) {
  size_t count = 0;
  for (const char *at = strchr(text, wanted); at != NULL; at = strchr(at + 1, wanted))
    count++;
  return count;
}

/* Room for the most entries that the text can have: a lane or a step takes a line, a wait a dot, a reader a space. */
static bool reserve(tt_plan *plan, const char *text) {
  size_t lines = count_of(text, '\n') + 1, spaces = count_of(text, ' ') + 1;
  plan->lane = tt_arena_alloc(&plan->arena, count_of(text, 'l') + 1, sizeof *plan->lane);
  plan->step = tt_arena_alloc(&plan->arena, lines, sizeof *plan->step);
  plan->wait = tt_arena_alloc(&plan->arena, strstr(text, " wait") ? spaces : 1, sizeof *plan->wait);
  plan->reader = tt_arena_alloc(&plan->arena, strstr(text, " readers") ? spaces : 1, sizeof *plan->reader);
  return !plan->arena.failed && spaces < UINT32_MAX;
}

static void read_plan(reader *in) {
  read_header(in);
  while (take(in, "level "))
    read_level(in);
  while (in->expected == NULL && *in->at != '\0') {
    if (take(in, "lane "))
      read_lane(in);
    else if (take(in, "  "))
      read_step(in);
    else
      expect(in, "a lane, a step or the end");
  }
}

static tutti_status refused(const reader *in) {
  const char *what = strcmp(in->expected, "\n") == 0 ? "the end of the line" : in->expected;
  int shown = (int)strcspn(in->at, "\n");
  return tt_fail(TUTTI_ERR_PLAN, "plan text, line %u: expected '%s' at '%.*s'", in->line, what, shown > 40 ? 40 : shown,
                 in->at);
}

tutti_status tt_plan_parse(const char *text, tt_plan **plan) {
  reader in = {.at = text, .line = 1};
  tutti_status status = tt_plan_create(&in.plan);
  if (status != TUTTI_OK)
    return status;
  if (!reserve(in.plan, text)) {
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory for the plan in a text of %zu bytes", strlen(text));
    goto destroy_plan;
  }
  read_plan(&in);
  status = in.expected != NULL ? refused(&in) : tt_plan_check(in.plan);
  if (status != TUTTI_OK)
    goto destroy_plan;
  *plan = in.plan;
  return TUTTI_OK;
destroy_plan:
  tt_plan_destroy(in.plan);
  return status;
}

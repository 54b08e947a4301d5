/* plan/check.c - whether a plan is well formed on its own: every index in its range, every field that a step does not
 * use empty.
 *
 * What the engine and the verifier rely on before they touch anything. It says nothing about what the steps mean
 * together: that is the verifier's. The cost is one pass over the tables. */
#include "plan/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const char *check_header(const tt_plan *plan) {
  if (plan->rank_count < 1 || plan->rank_count > INT32_MAX)
    return "invalid rank count";
  if (plan->rank < 0 || plan->rank >= plan->rank_count)
    return "invalid rank";
  if (plan->part_count < 1 || plan->block_count % plan->part_count != 0)
    return "the blocks do not divide into parts";
  if (plan->slice_bytes < 0 || plan->in_place > 1 || plan->direct > 1)
    return "slice, in_place or direct has an invalid value";
  if (plan->level_count > TT_PLAN_LEVELS)
    return "there are too many levels";
  return NULL;
}

static bool is_name(const char name[16]) {
  size_t length = strnlen(name, 16);
  for (size_t n = 0; n < length; n++)
    if (!isgraph((unsigned char)name[n]))
      return false;
  return length > 0 && length < 16;
}

static const char *check_levels(const tt_plan *plan) {
  for (uint32_t n = 0; n < plan->level_count; n++)
    if (!is_name(plan->level[n]))
      return "a level's name is empty, too long or has spaces";
  return NULL;
}

static const char *check_readers(const tt_plan *plan, const tt_lane *lane) {
  if (lane->reader_count > plan->reader_count || lane->first_reader > plan->reader_count - lane->reader_count)
    return "its readers are outside the table";
  if ((lane->reader_count > 0) != (lane->published && lane->role != TT_ROLE_LOCAL))
    return "only published lanes have readers";
  const int32_t *reader = plan->reader + lane->first_reader;
  for (uint32_t n = 0; n < lane->reader_count; n++)
    if (reader[n] < 0 || reader[n] >= plan->rank_count || reader[n] == plan->rank ||
        (n > 0 && reader[n] <= reader[n - 1]))
      return "its readers must be ascending ranks other than its own";
  return NULL;
}

/* `next`: the first step that no lane before this one has. */
static const char *check_lane(const tt_plan *plan, const tt_lane *lane, uint32_t next) {
  if (lane->role > TT_ROLE_RECV || lane->published > 1)
    return "role or published has an invalid value";
  if (lane->level >= plan->level_count)
    return "its level is invalid";
  if (lane->first_step != next || lane->step_count > plan->step_count - next)
    return "its steps do not follow those of the lane before it";
  return check_readers(plan, lane);
}

static bool is_used(const tt_step *step, bool dst) {
  return dst ? step->kind != TT_STEP_SEND : step->kind != TT_STEP_RECV;
}

static const char *check_ref(const tt_plan *plan, const tt_step *step, tt_ref ref, bool used) {
  if (!used)
    return ref.space == 0 && ref.index == 0 ? NULL : "it has a reference that its kind does not use";
  if (ref.space >= TT_SPACE_COUNT)
    return "it refers to an invalid space";
  if (ref.space == TT_SPACE_TMP)
    return ref.index < plan->tmp_count ? NULL : "it refers to an invalid tmp cell";
  return ref.index == step->block ? NULL : "it refers to another block than its own";
}

static const char *check_peer(const tt_plan *plan, const tt_lane *lane, const tt_step *step) {
  static const uint16_t role_of[] = {TT_ROLE_SEND, TT_ROLE_RECV, TT_ROLE_RECV, TT_ROLE_LOCAL};
  _Static_assert(TT_COUNT(role_of) == TT_STEP_KIND_COUNT, "a role for each kind");
  bool none = step->kind == TT_STEP_COPY || (step->kind == TT_STEP_SEND && lane->published);
  if (lane->role != role_of[step->kind])
    return "its lane has another role";
  if (none)
    return step->peer == -1 ? NULL : "it has a peer";
  return step->peer >= 0 && step->peer < plan->rank_count && step->peer != plan->rank ? NULL : "its peer is invalid";
}

static const char *check_flags(const tt_step *step) {
  int allowed = step->kind == TT_STEP_COPY ? TT_STEP_ONTO : TT_STEP_FIRST | TT_STEP_LAST;
  if (step->kind == TT_STEP_RECV_REDUCE)
    allowed |= TT_STEP_LEFT;
  if ((step->flags & ~allowed) != 0)
    return "it has flags that its kind does not use";
  return step->kind == TT_STEP_SEND && step->finish > 0 ? "a send cannot finish a result" : NULL;
}

static const char *check_waits(const tt_plan *plan, const tt_step *step) {
  if (step->wait_count > plan->wait_count || step->wait_first > plan->wait_count - step->wait_count)
    return "its waits are outside the table";
  for (uint32_t n = 0; n < step->wait_count; n++) {
    const tt_wait *wait = &plan->wait[step->wait_first + n];
    if (wait->lane >= plan->lane_count || wait->step >= plan->lane[wait->lane].step_count || wait->whole > 1)
      return "it waits for an invalid step";
    if (!wait->whole && plan->step[plan->lane[wait->lane].first_step + wait->step].block != step->block)
      return "it waits for slices of another block";
  }
  return NULL;
}

static const char *check_step(const tt_plan *plan, const tt_lane *lane, const tt_step *step) {
  if (step->kind >= TT_STEP_KIND_COUNT)
    return "its kind is invalid";
  if (step->block >= plan->block_count)
    return "its block is invalid";
  if (step->time >= plan->time_count)
    return "its time is past the last round";
  const char *wrong = check_peer(plan, lane, step);
  if (wrong == NULL)
    wrong = check_flags(step);
  if (wrong == NULL)
    wrong = check_ref(plan, step, step->src, is_used(step, false));
  if (wrong == NULL)
    wrong = check_ref(plan, step, step->dst, is_used(step, true));
  return wrong != NULL ? wrong : check_waits(plan, step);
}

static tutti_status check_steps(const tt_plan *plan, uint32_t lane) {
  const tt_lane *of = &plan->lane[lane];
  for (uint32_t n = 0; n < of->step_count; n++) {
    const tt_step *step = &plan->step[of->first_step + n];
    const char *wrong = check_step(plan, of, step);
    if (wrong == NULL && n > 0 && step->time < step[-1].time)
      wrong = "its time is before that of the step before it";
    if (wrong != NULL)
      return tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 " lane %u step %u: %s", plan->rank, lane, n, wrong);
  }
  return TUTTI_OK;
}

static tutti_status check_lanes(const tt_plan *plan) {
  uint32_t next = 0;
  for (uint32_t n = 0; n < plan->lane_count; n++) {
    const char *wrong = check_lane(plan, &plan->lane[n], next);
    if (wrong != NULL)
      return tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 " lane %u: %s", plan->rank, n, wrong);
    next += plan->lane[n].step_count;
  }
  if (next != plan->step_count)
    return tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 ": %u steps, but its lanes have %u", plan->rank, plan->step_count,
                   next);
  return TUTTI_OK;
}

tutti_status tt_plan_check(const tt_plan *plan) {
  const char *wrong = check_header(plan);
  if (wrong == NULL)
    wrong = check_levels(plan);
  if (wrong != NULL)
    return tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 " of %" PRId64 ": %s", plan->rank, plan->rank_count, wrong);
  tutti_status status = check_lanes(plan);
  for (uint32_t n = 0; n < plan->lane_count && status == TUTTI_OK; n++)
    status = check_steps(plan, n);
  return status;
}

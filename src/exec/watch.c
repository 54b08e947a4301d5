/* exec/watch.c - spans of a run's time, added up by level. */
#include "exec/watch.h"

#include <assert.h>
#include <string.h>

_Static_assert(TT_SPENT_LEVELS < UINT8_MAX, "a row's number, + 1, has 8 bits");
static const char *name_of(const tt_plan *plan, uint8_t level) {
  assert(level == TT_OWN_LEVEL || level < plan->level_count);
  return level == TT_OWN_LEVEL ? "own" : plan->level[level];
}

/* The row of that name; made where there is none. NULL: there is no room. */
static tt_level_spent *find_row(tt_spent *spent, const char *name, bool far) {
  for (uint32_t n = 0; n < spent->level_count; n++)
    if (spent->level[n].far == far && strcmp(spent->level[n].name, name) == 0)
      return &spent->level[n];
  if (spent->level_count == TT_SPENT_LEVELS)
    return NULL;
  tt_level_spent *made = &spent->level[spent->level_count++];
  *made = (tt_level_spent){.far = far};
  memcpy(made->name, name, strnlen(name, sizeof made->name - 1));
  return made;
}

static tt_level_spent *row_of(tt_watch *watch, uint8_t level, bool far) {
  uint8_t *number = &watch->row[level][far];
  if (*number == 0) {
    tt_level_spent *row = find_row(watch->spent, name_of(watch->plan, level), far);
    if (!row)
      return NULL;
    *number = (uint8_t)(row - watch->spent->level + 1);
  }
  return &watch->spent->level[*number - 1];
}

void tt_watch_begin(tt_watch *watch, tt_spent *spent, const tt_plan *plan) {
  *watch = (tt_watch){.spent = spent, .plan = plan, .sent_level = TT_OWN_LEVEL, .look_ns = tt_clock_ns()};
}

void tt_watch_look(tt_watch *watch) { watch->look_ns = tt_clock_ns(); }

void tt_watch_wait(tt_watch *watch) {
  if (watch->idle_ns == 0)
    watch->idle_ns = watch->look_ns;
}

/* The span of idleness up to `now`, if there is one. */
static void end_idleness(tt_watch *watch, tt_level_spent *row, int64_t now) {
  assert(now >= watch->idle_ns); /* the clock never goes back */
  if (row && watch->idle_ns > 0)
    row->wait_ns += now - watch->idle_ns;
  watch->idle_ns = 0;
}

void tt_watch_came(tt_watch *watch, uint8_t level, bool far) {
  int64_t now = tt_clock_ns();
  tt_watch_wait(watch); /* it may have polled since the last look */
  end_idleness(watch, row_of(watch, level, far), now);
  watch->look_ns = now;
}

void tt_watch_moved(tt_watch *watch, uint8_t level, bool far) {
  int64_t now = tt_clock_ns();
  tt_level_spent *row = row_of(watch, level, far);
  end_idleness(watch, row, watch->look_ns);
  if (row)
    row->move_ns += now - watch->look_ns;
  watch->look_ns = now;
}

void tt_watch_sent(tt_watch *watch, uint8_t level, bool far) {
  tt_watch_moved(watch, level, far);
  watch->sent_level = level;
  watch->sent_far = far;
}

void tt_watch_end(tt_watch *watch) {
  if (watch->idle_ns > 0)
    end_idleness(watch, row_of(watch, watch->sent_level, watch->sent_far), tt_clock_ns());
}

/* exec/stopwatch.c - spans of a run's time, added up by level. */
#include "exec/stopwatch.h"

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

static tt_level_spent *row_of(tt_stopwatch *stopwatch, uint8_t level, bool far) {
  uint8_t *number = &stopwatch->row[level][far];
  if (*number == 0) {
    tt_level_spent *row = find_row(stopwatch->spent, name_of(stopwatch->plan, level), far);
    if (!row)
      return NULL;
    *number = (uint8_t)(row - stopwatch->spent->level + 1);
  }
  return &stopwatch->spent->level[*number - 1];
}

void tt_stopwatch_begin(tt_stopwatch *stopwatch, tt_spent *spent, const tt_plan *plan) {
  *stopwatch = (tt_stopwatch){.spent = spent, .plan = plan, .sent_level = TT_OWN_LEVEL, .look_ns = tt_clock_ns()};
}

void tt_stopwatch_look(tt_stopwatch *stopwatch) { stopwatch->look_ns = tt_clock_ns(); }

void tt_stopwatch_idle(tt_stopwatch *stopwatch) {
  if (stopwatch->idle_ns == 0)
    stopwatch->idle_ns = stopwatch->look_ns;
}

/* The span of idleness up to `now`, if there is one. */
static void end_idleness(tt_stopwatch *stopwatch, tt_level_spent *row, int64_t now) {
  assert(now >= stopwatch->idle_ns); /* the clock never goes back */
  if (row && stopwatch->idle_ns > 0)
    row->wait_ns += now - stopwatch->idle_ns;
  stopwatch->idle_ns = 0;
}

void tt_stopwatch_came(tt_stopwatch *stopwatch, uint8_t level, bool far) {
  int64_t now = tt_clock_ns();
  tt_stopwatch_idle(stopwatch); /* it may have polled since the last look */
  end_idleness(stopwatch, row_of(stopwatch, level, far), now);
  stopwatch->look_ns = now;
}

void tt_stopwatch_moved(tt_stopwatch *stopwatch, uint8_t level, bool far) {
  int64_t now = tt_clock_ns();
  tt_level_spent *row = row_of(stopwatch, level, far);
  end_idleness(stopwatch, row, stopwatch->look_ns);
  if (row)
    row->move_ns += now - stopwatch->look_ns;
  stopwatch->look_ns = now;
}

void tt_stopwatch_sent(tt_stopwatch *stopwatch, uint8_t level, bool far) {
  tt_stopwatch_moved(stopwatch, level, far);
  stopwatch->sent_level = level;
  stopwatch->sent_far = far;
}

void tt_stopwatch_end(tt_stopwatch *stopwatch) {
  if (stopwatch->idle_ns > 0)
    end_idleness(stopwatch, row_of(stopwatch, stopwatch->sent_level, stopwatch->sent_far), tt_clock_ns());
}

/* sim/clock.c - events by time, those of one time in the order in which they were made: a binary heap; and the list of
 * lanes that are to be visited now. */
#include "sim/machine.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static bool before(const tt_sim_event *a, const tt_sim_event *b) {
  return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->order < b->order);
}

static bool grow(tt_sim_clock *clock) {
  size_t room = clock->room ? 2 * clock->room : 1024;
  tt_sim_event *event = realloc(clock->event, room * sizeof *event);
  if (!event)
    return false;
  clock->event = event;
  clock->room = room;
  return true;
}

void tt_sim_later(tt_sim_machine *machine, tt_sim_event event) {
  tt_sim_clock *clock = &machine->clock;
  assert(event.time_ps >= clock->now_ps); /* nothing ends before it is begun */
  if (clock->count == clock->room && !grow(clock)) {
    machine->failed = true;
    return;
  }
  event.order = clock->order++;
  size_t at = clock->count++;
  for (size_t up; at > 0 && before(&event, &clock->event[up = (at - 1) / 2]); at = up)
    clock->event[at] = clock->event[up];
  clock->event[at] = event;
}

bool tt_sim_next(tt_sim_clock *clock, tt_sim_event *event) {
  if (clock->count == 0)
    return false;
  *event = clock->event[0];
  tt_sim_event last = clock->event[--clock->count];
  size_t at = 0;
  for (size_t down; (down = 2 * at + 1) < clock->count; at = down) {
    down += down + 1 < clock->count && before(&clock->event[down + 1], &clock->event[down]);
    if (!before(&clock->event[down], &last))
      break;
    clock->event[at] = clock->event[down];
  }
  clock->event[at] = last;
  return true;
}

void tt_sim_wake(tt_sim_machine *machine, uint32_t number) {
  tt_sim_lane *lane = &machine->lane[number];
  if (lane->awake || lane->waits || lane->works || tt_sim_is_through(lane))
    return;
  lane->awake = true;
  lane->next_awake = TT_NONE;
  if (machine->awake.first == TT_NONE)
    machine->awake.first = number;
  else
    machine->lane[machine->awake.last].next_awake = number;
  machine->awake.last = number;
}

/* A lane has nothing to do before its rank makes the call. What is sent to the rank comes nevertheless. */
void tt_sim_start(tt_sim_machine *machine, uint32_t number) {
  tt_sim_lane *lane = &machine->lane[number];
  double start_ps = lane->call->rank_ps[lane->rank];
  machine->lanes_left += !tt_sim_is_through(lane);
  if (start_ps > 0 && !tt_sim_is_through(lane)) {
    lane->works = true;
    tt_sim_later(machine, (tt_sim_event){.time_ps = start_ps, .port = TT_NONE, .lane = number, .starts = true});
  }
  tt_sim_wake(machine, number);
}

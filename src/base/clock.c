/* base/clock.c - the monotonic clock, in nanoseconds. */
#include "base/base.h"

#include <assert.h>
#include <time.h>

int64_t tt_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t tt_clock_until(int64_t timeout_ns) {
  assert(timeout_ns >= 0);
  return tt_clock_ns() + (timeout_ns < TT_CLOCK_LONGEST ? timeout_ns : TT_CLOCK_LONGEST);
}

/* tests/support/die.h - a process that is killed at a moment which it does not know, in what it does then. */
#ifndef TEST_SUPPORT_DIE_H
#define TEST_SUPPORT_DIE_H

#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* From now on the system kills this process when that time is over. */
static inline void die_in(long ns) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec when = {.it_value = {.tv_nsec = ns}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &when, NULL) != 0)
    abort();
}

#endif

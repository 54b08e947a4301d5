/* transport/tcp/watch.c - epoll and timer of a door. Events are taken one at a time, so that none can be of something
 * that the one before has ended. */
#include "transport/tcp/watch.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static bool control(const tt_tcp_watcher *watcher, int operation, tt_tcp_watch *watch, uint32_t events) {
  struct epoll_event event = {.events = events, .data = {.ptr = watch}};
  return epoll_ctl(watcher->epoll, operation, watch->fd, &event) == 0;
}

bool tt_tcp_watch_add(const tt_tcp_watcher *watcher, tt_tcp_watch *watch, uint32_t events) {
  return control(watcher, EPOLL_CTL_ADD, watch, events);
}

bool tt_tcp_watch_change(const tt_tcp_watcher *watcher, tt_tcp_watch *watch, uint32_t events) {
  return control(watcher, EPOLL_CTL_MOD, watch, events);
}

/* Explicitly: where a forked process has a copy of the descriptor, closing alone would leave it in the epoll. */
int tt_tcp_watch_end(const tt_tcp_watcher *watcher, tt_tcp_watch *watch) {
  assert(watch->fd >= 0);
  int fd = watch->fd;
  (void)control(watcher, EPOLL_CTL_DEL, watch, 0);
  watch->fd = -1;
  return fd;
}

tt_tcp_watch *tt_tcp_watcher_event(const tt_tcp_watcher *watcher) {
  struct epoll_event event;
  return epoll_wait(watcher->epoll, &event, 1, 0) > 0 ? event.data.ptr : NULL;
}

void tt_tcp_watcher_set(tt_tcp_watcher *watcher, int64_t due_ns) {
  const int64_t second = 1000000000;
  due_ns = due_ns > 0 ? due_ns : 1;                      /* 0 would be never */
  struct itimerspec timer = {.it_value = {.tv_sec = 0}}; /* never */
  if (due_ns < INT64_MAX)
    timer.it_value = (struct timespec){.tv_sec = due_ns / second, .tv_nsec = due_ns % second};
  watcher->due_ns = due_ns;
  (void)timerfd_settime(watcher->timer.fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

void tt_tcp_watcher_due(tt_tcp_watcher *watcher, int64_t due_ns) {
  if (due_ns < watcher->due_ns)
    tt_tcp_watcher_set(watcher, due_ns);
}

tutti_status tt_tcp_watcher_open(tt_tcp_watcher *watcher) {
  *watcher = (tt_tcp_watcher){.timer = {.kind = TT_TCP_TIMER, .fd = -1}, .due_ns = INT64_MAX};
  watcher->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (watcher->epoll < 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "epoll_create1 for connections failed: %s", strerror(errno));
  watcher->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  /* Told once each time it rings: nobody reads it, and setting it again makes it silent. */
  if (watcher->timer.fd < 0 || !tt_tcp_watch_add(watcher, &watcher->timer, EPOLLIN | EPOLLET))
    return tt_fail(TUTTI_ERR_SYSTEM, "a timer for connections failed: %s", strerror(errno));
  return TUTTI_OK;
}

void tt_tcp_watcher_close(tt_tcp_watcher *watcher) {
  if (watcher->timer.fd >= 0)
    close(tt_tcp_watch_end(watcher, &watcher->timer));
  if (watcher->epoll >= 0)
    close(watcher->epoll);
}

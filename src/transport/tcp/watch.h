/* transport/tcp/watch.h - the descriptors and the clock of a door: an epoll, and in it a timer that rings when
 * something is due. What an event points to begins with a tt_tcp_watch, which says what it is. */
#ifndef TT_TRANSPORT_TCP_WATCH_H
#define TT_TRANSPORT_TCP_WATCH_H

#include "base/base.h"

typedef enum tt_tcp_kind { TT_TCP_TIMER, TT_TCP_LISTENER, TT_TCP_STRANGER, TT_TCP_CALL } tt_tcp_kind;

typedef struct tt_tcp_watch {
  tt_tcp_kind kind;
  int fd; /* -1: none now */
} tt_tcp_watch;

typedef struct tt_tcp_watcher {
  int epoll;
  tt_tcp_watch timer;
  int64_t due_ns; /* when the timer rings; INT64_MAX: never */
} tt_tcp_watcher;

tutti_status tt_tcp_watcher_open(tt_tcp_watcher *watcher); /* after an error there is something to close, too */
void tt_tcp_watcher_close(tt_tcp_watcher *watcher);
/* The timer rings at that time, whatever was set before. */
void tt_tcp_watcher_set(tt_tcp_watcher *watcher, int64_t due_ns);
/* The timer rings at that time, or earlier. */
void tt_tcp_watcher_due(tt_tcp_watcher *watcher, int64_t due_ns);
/* The next thing that something has happened to; NULL: none. Does not block. */
tt_tcp_watch *tt_tcp_watcher_event(const tt_tcp_watcher *watcher);

/* events: EPOLLIN, EPOLLOUT, 0. False: errno says why. */
bool tt_tcp_watch_add(const tt_tcp_watcher *watcher, tt_tcp_watch *watch, uint32_t events);
bool tt_tcp_watch_change(const tt_tcp_watcher *watcher, tt_tcp_watch *watch, uint32_t events);
/* The descriptor, which is the caller's to close. */
int tt_tcp_watch_end(const tt_tcp_watcher *watcher, tt_tcp_watch *watch);

#endif

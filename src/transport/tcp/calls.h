/* transport/tcp/calls.h - the connections that this rank makes, from the first try to the proof or the end of patience.
 */
#ifndef TT_TRANSPORT_TCP_CALLS_H
#define TT_TRANSPORT_TCP_CALLS_H

#include "transport/tcp/arrival.h"
#include "transport/tcp/tcp.h"
#include "transport/tcp/watch.h"

typedef struct tt_tcp_calls {
  tt_tcp_watcher *watcher; /* all three borrowed */
  const tt_rail *rail;
  const unsigned char *key;
  int64_t rank;
  struct tt_tcp_call *first;
  bool short_of; /* something a connection takes, and has said so */
} tt_tcp_calls;

tutti_status tt_tcp_calls_add(tt_tcp_calls *calls, int64_t peer, int32_t rail, const struct sockaddr_storage *address,
                              int64_t timeout_ns);
/* Goes on with a call that something has happened to. True: *arrival is its connection. */
bool tt_tcp_calls_event(tt_tcp_calls *calls, tt_tcp_watch *watch, tt_tcp_arrival *arrival);
/* Does what is due. True: *arrival is a call that has failed, and more may be due. False: *due_ns is when the next will
 * be, if that is earlier than what it was. */
bool tt_tcp_calls_look(tt_tcp_calls *calls, int64_t now_ns, int64_t *due_ns, tt_tcp_arrival *arrival);
void tt_tcp_calls_end(tt_tcp_calls *calls);

/* Whether that errno says that this process or its system has too little of something, for now. */
bool tt_tcp_is_shortage(int error);
/* Such a one keeps connections of this process waiting: warns the first time. */
void tt_tcp_calls_warn(tt_tcp_calls *calls, int error);

#endif

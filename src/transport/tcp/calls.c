/* transport/tcp/calls.c - a call: connect, prove, or try again.
 *
 * A listener throws out the oldest of too many strangers, and a rank that has not proven itself yet is one of them. So
 * a connection that ends without a word is tried again after a random pause that doubles, until the call's time is
 * over. What the system or the other end says for good ends the call at once. */
#include "transport/tcp/calls.h"
#include "transport/tcp/auth.h"
#include "transport/tcp/socket.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { PAUSE_NS = 2000000, PAUSE_MAXIMUM_NS = 256000000 };

typedef struct tt_tcp_call {
  tt_tcp_watch watch;
  struct tt_tcp_call *next, **at; /* at: where the pointer to this one is */
  struct sockaddr_storage address;
  int64_t peer;
  int32_t rail;
  bool connected, over;
  int error; /* of the last try that has failed */
  int64_t until_ns;
  int64_t again_ns; /* when to try again, where there is no descriptor */
  uint32_t pause_ns;
  tt_tcp_auth auth;
} call;

bool tt_tcp_is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

void tt_tcp_calls_warn(tt_tcp_calls *calls, int error) {
  bool descriptors = error == EMFILE;
  tt_log(calls->short_of ? TT_LOG_INFO : TT_LOG_WARN, "tcp: connections to other machines are delayed: %s%s",
         strerror(error), descriptors ? "; `ulimit -n` raises the limit of a process" : "");
  calls->short_of = true;
}

static bool is_passing(int error) {
  return tt_tcp_is_shortage(error) || error == ECONNRESET || error == ECONNABORTED || error == EPIPE;
}

static void hang_up(tt_tcp_calls *calls, call *of) {
  if (of->watch.fd >= 0)
    tt_tcp_socket_close(tt_tcp_watch_end(calls->watcher, &of->watch));
}

static void forget(tt_tcp_calls *calls, call *of) {
  assert(*of->at == of);
  hang_up(calls, of);
  *of->at = of->next;
  if (of->next)
    of->next->at = of->at;
  free(of);
}

static void lose(tt_tcp_calls *calls, call *of, int error) {
  assert(error != 0);
  hang_up(calls, of);
  if (tt_tcp_is_shortage(error))
    tt_tcp_calls_warn(calls, error);
  of->error = error;
  of->over = !is_passing(error);
  of->again_ns = of->over ? 0 : tt_clock_ns() + randombytes_uniform(of->pause_ns);
  of->pause_ns = of->pause_ns < PAUSE_MAXIMUM_NS ? 2 * of->pause_ns : PAUSE_MAXIMUM_NS;
  tt_tcp_watcher_due(calls->watcher, of->over ? tt_clock_ns() : of->again_ns);
}

static void dial(tt_tcp_calls *calls, call *of) {
  assert(of->watch.fd < 0 && !of->over);
  of->connected = false;
  of->watch.fd = tt_tcp_socket_connect(&calls->rail[of->rail], &of->address);
  if (of->watch.fd < 0 || !tt_tcp_watch_add(calls->watcher, &of->watch, EPOLLOUT))
    lose(calls, of, errno);
}

static tt_tcp_verdict greet(tt_tcp_calls *calls, call *of) {
  errno = tt_tcp_socket_error(of->watch.fd);
  if (errno != 0 || !tt_tcp_watch_change(calls->watcher, &of->watch, EPOLLIN))
    return TT_TCP_LOST;
  of->connected = true;
  assert(calls->rank != of->peer && of->rail >= 0 && of->rail < TT_RAILS_MOST); /* a hello with others is refused */
  return tt_tcp_auth_call(&of->auth, of->watch.fd, calls->rank, of->peer, of->rail);
}

static tt_tcp_verdict go(tt_tcp_calls *calls, call *of) {
  return of->connected ? tt_tcp_auth_go(&of->auth, of->watch.fd, calls->key) : greet(calls, of);
}

bool tt_tcp_calls_event(tt_tcp_calls *calls, tt_tcp_watch *watch, tt_tcp_arrival *arrival) {
  assert(watch->kind == TT_TCP_CALL && watch->fd >= 0);
  call *of = (call *)(void *)watch;
  tt_tcp_verdict verdict = go(calls, of);
  if (verdict == TT_TCP_LOST || verdict == TT_TCP_WRONG)
    lose(calls, of, verdict == TT_TCP_WRONG ? EKEYREJECTED : errno);
  if (verdict != TT_TCP_PROVEN)
    return false;
  *arrival = (tt_tcp_arrival){.called = true, .peer = of->peer, .rail = of->rail};
  arrival->fd = tt_tcp_watch_end(calls->watcher, watch);
  tt_tcp_socket_tune(arrival->fd);
  forget(calls, of);
  return true;
}

static void report(tt_tcp_calls *calls, call *of, tt_tcp_arrival *arrival) {
  bool waits = of->watch.fd >= 0, taken = waits && of->connected;
  int error = waits ? ETIMEDOUT : of->error;
  *arrival = (tt_tcp_arrival){.fd = -1, .called = true, .error = error, .peer = of->peer, .rail = of->rail};
  arrival->refused = error == ECONNREFUSED || error == EKEYREJECTED;
  arrival->taken = taken;
  forget(calls, of);
}

static int64_t due_of(const call *of) {
  return of->watch.fd < 0 && of->again_ns < of->until_ns ? of->again_ns : of->until_ns;
}

bool tt_tcp_calls_look(tt_tcp_calls *calls, int64_t now_ns, int64_t *due_ns, tt_tcp_arrival *arrival) {
  int64_t earliest_ns = *due_ns;
  for (call *of = calls->first; of; of = of->next) {
    if (of->over || of->until_ns <= now_ns) {
      report(calls, of, arrival);
      return true;
    }
    if (of->watch.fd < 0 && of->again_ns <= now_ns)
      dial(calls, of);
    earliest_ns = due_of(of) < earliest_ns ? due_of(of) : earliest_ns;
  }
  *due_ns = earliest_ns;
  return false;
}

static void insert_first(tt_tcp_calls *calls, call *of) {
  of->at = &calls->first;
  of->next = calls->first;
  if (of->next)
    of->next->at = &of->next;
  calls->first = of;
}

tutti_status tt_tcp_calls_add(tt_tcp_calls *calls, int64_t peer, int32_t rail, const struct sockaddr_storage *address,
                              int64_t timeout_ns) {
  call *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to connect to rank %" PRId64, peer);
  int64_t now_ns = tt_clock_ns();
  *made = (call){.watch = {.kind = TT_TCP_CALL, .fd = -1}, .peer = peer, .rail = rail, .pause_ns = PAUSE_NS};
  made->address = *address;
  made->until_ns = timeout_ns < INT64_MAX - now_ns ? now_ns + timeout_ns : INT64_MAX;
  insert_first(calls, made);
  tt_tcp_watcher_due(calls->watcher, made->until_ns);
  dial(calls, made);
  return TUTTI_OK;
}

void tt_tcp_calls_end(tt_tcp_calls *calls) {
  while (calls->first)
    forget(calls, calls->first);
}

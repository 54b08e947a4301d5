/* transport/tcp/door.c - listeners, and strangers who have come to them; calls.c has those that this rank calls.
 *
 * A listener gives one connection at each event: whoever goes on with his proof has his turn between any two newcomers.
 * Strangers have a fixed number of places, and a newcomer takes the oldest's. What is due at a time is looked at after
 * events, so that nobody is late whose bytes have come while this rank computed. */
#include "transport/tcp/door.h"
#include "transport/tcp/auth.h"
#include "transport/tcp/calls.h"
#include "transport/tcp/socket.h"
#include "transport/tcp/watch.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { STRANGERS = 32, EVENTS = 16 }; /* unproven at a time; events of one tt_tcp_door_next that finds no arrival */

#define MS ((int64_t)1000000)
#define STRANGER_NS (5000 * MS)
#define REST_NS (100 * MS) /* of listeners, when no descriptor is free */

typedef struct stranger {
  tt_tcp_watch watch;
  int32_t rail;
  int64_t until_ns;
  tt_tcp_auth auth;
} stranger;

struct tt_tcp_door {
  tt_tcp_watcher watcher;
  int64_t rank, rail_count;
  tt_rail rail[TT_RAILS_MOST];
  tt_tcp_watch listener[TT_RAILS_MOST];
  int64_t rest_ns; /* until then listeners rest; INT64_MAX: they do not */
  stranger stranger[STRANGERS];
  tt_tcp_calls calls;
  unsigned char key[TT_TCP_KEY_BYTES];
};

/* ---- listeners ---- */

static void let_in(tt_tcp_door *door, bool in) {
  for (int64_t n = 0; n < door->rail_count; n++)
    (void)tt_tcp_watch_change(&door->watcher, &door->listener[n], in ? EPOLLIN : 0);
}

/* Who waits stays in the system's queue. */
static void rest(tt_tcp_door *door) {
  tt_tcp_calls_warn(&door->calls, errno);
  let_in(door, false);
  door->rest_ns = tt_clock_ns() + REST_NS;
  tt_tcp_watcher_due(&door->watcher, door->rest_ns);
}

static void look_at_listeners(tt_tcp_door *door, int64_t now_ns, int64_t *due_ns) {
  if (door->rest_ns <= now_ns) {
    let_in(door, true);
    door->rest_ns = INT64_MAX;
  }
  *due_ns = door->rest_ns < *due_ns ? door->rest_ns : *due_ns;
}

/* ---- strangers ---- */

static void throw_out(tt_tcp_door *door, stranger *who) {
  tt_tcp_socket_abort(tt_tcp_watch_end(&door->watcher, &who->watch));
}

/* A free place, else that of the oldest. */
static stranger *find_place(tt_tcp_door *door) {
  stranger *oldest = door->stranger;
  for (stranger *who = door->stranger; who < door->stranger + STRANGERS; who++) {
    if (who->watch.fd < 0)
      return who;
    if (who->until_ns < oldest->until_ns)
      oldest = who;
  }
  throw_out(door, oldest);
  return oldest;
}

static void admit(tt_tcp_door *door, const tt_tcp_watch *listener) {
  assert(listener >= door->listener && listener < door->listener + door->rail_count);
  int fd = tt_tcp_socket_accept(listener->fd);
  if (fd < 0) {
    if (tt_tcp_is_shortage(errno))
      rest(door);
    return;
  }
  stranger *who = find_place(door);
  who->watch.fd = fd;
  who->rail = (int32_t)(listener - door->listener);
  who->until_ns = tt_clock_ns() + STRANGER_NS;
  tt_tcp_auth_listen(&who->auth, door->rank);
  tt_tcp_watcher_due(&door->watcher, who->until_ns);
  if (!tt_tcp_watch_add(&door->watcher, &who->watch, EPOLLIN))
    throw_out(door, who);
}

static bool hear(tt_tcp_door *door, stranger *who, tt_tcp_arrival *arrival) {
  assert(who >= door->stranger && who < door->stranger + STRANGERS && who->watch.fd >= 0);
  tt_tcp_verdict verdict = tt_tcp_auth_go(&who->auth, who->watch.fd, door->key);
  if (verdict == TT_TCP_WRONG)
    tt_log(TT_LOG_DEBUG, "a caller at NIC '%.16s' has not proven that it belongs to this job",
           door->rail[who->rail].name);
  if (verdict == TT_TCP_WRONG || verdict == TT_TCP_LOST)
    throw_out(door, who);
  if (verdict != TT_TCP_PROVEN)
    return false;
  *arrival = (tt_tcp_arrival){.peer = who->auth.peer, .rail = who->rail};
  arrival->fd = tt_tcp_watch_end(&door->watcher, &who->watch);
  tt_tcp_socket_tune(arrival->fd);
  return true;
}

static void look_at_strangers(tt_tcp_door *door, int64_t now_ns, int64_t *due_ns) {
  for (stranger *who = door->stranger; who < door->stranger + STRANGERS; who++) {
    if (who->watch.fd >= 0 && who->until_ns <= now_ns)
      throw_out(door, who);
    if (who->watch.fd >= 0 && who->until_ns < *due_ns)
      *due_ns = who->until_ns;
  }
}

/* ---- going on ---- */

static bool take(tt_tcp_door *door, tt_tcp_watch *watch, tt_tcp_arrival *arrival) {
  switch (watch->kind) {
  case TT_TCP_LISTENER:
    admit(door, watch);
    return false;
  case TT_TCP_STRANGER:
    return hear(door, (stranger *)(void *)watch, arrival);
  case TT_TCP_CALL:
    return tt_tcp_calls_event(&door->calls, watch, arrival);
  default:
    assert(watch == &door->watcher.timer);
    return false; /* the timer: see look */
  }
}

static bool look(tt_tcp_door *door, int64_t now_ns, tt_tcp_arrival *arrival) {
  int64_t due_ns = INT64_MAX;
  look_at_listeners(door, now_ns, &due_ns);
  look_at_strangers(door, now_ns, &due_ns);
  if (tt_tcp_calls_look(&door->calls, now_ns, &due_ns, arrival))
    return true;
  tt_tcp_watcher_set(&door->watcher, due_ns);
  return false;
}

bool tt_tcp_door_next(tt_tcp_door *door, tt_tcp_arrival *arrival) {
  tt_tcp_watch *watch;
  for (int n = 0; n < EVENTS && (watch = tt_tcp_watcher_event(&door->watcher)) != NULL; n++)
    if (take(door, watch, arrival))
      return true;
  int64_t now_ns = tt_clock_ns();
  return door->watcher.due_ns <= now_ns && look(door, now_ns, arrival);
}

int tt_tcp_door_fd(const tt_tcp_door *door) { return door->watcher.epoll; }

tutti_status tt_tcp_door_call(tt_tcp_door *door, int64_t peer, int32_t rail, const struct sockaddr_storage *address,
                              int64_t timeout_ns) {
  assert(peer != door->rank && rail >= 0 && rail < door->rail_count);
  return tt_tcp_calls_add(&door->calls, peer, rail, address, timeout_ns);
}

/* ---- opening and closing ---- */

void tt_tcp_door_key(tt_tcp_door *door, const unsigned char key[TT_TCP_KEY_BYTES]) {
  memcpy(door->key, key, sizeof door->key);
  let_in(door, true);
}

static tutti_status check(const tt_rail *rail, int64_t rail_count) {
  if (rail_count < 1 || rail_count > TT_RAILS_MOST)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%" PRId64 " NICs are given; tcp takes 1 to %d", rail_count, TT_RAILS_MOST);
  for (int64_t n = 0; n < rail_count; n++)
    if (rail[n].address.ss_family != AF_INET && rail[n].address.ss_family != AF_INET6)
      return tt_fail(TUTTI_ERR_ARGUMENT, "the address of NIC '%.16s' is neither IPv4 nor IPv6 (family %d)",
                     rail[n].name, rail[n].address.ss_family);
  return TUTTI_OK;
}

static tutti_status open_rail(tt_tcp_door *door, int64_t n, in_port_t *port) {
  tutti_status status = tt_tcp_socket_listen(&door->rail[n], port, &door->listener[n].fd);
  if (status == TUTTI_OK && !tt_tcp_watch_add(&door->watcher, &door->listener[n], 0))
    return tt_fail(TUTTI_ERR_SYSTEM, "epoll_ctl for NIC '%.16s' failed: %s", door->rail[n].name, strerror(errno));
  return status;
}

static tt_tcp_door *create(const tt_rail *rail, int64_t rail_count, int64_t rank) {
  tt_tcp_door *door = calloc(1, sizeof *door);
  if (!door)
    return NULL;
  door->rank = rank;
  door->rail_count = rail_count;
  door->rest_ns = INT64_MAX;
  memcpy(door->rail, rail, (size_t)rail_count * sizeof *rail);
  door->calls = (tt_tcp_calls){.watcher = &door->watcher, .rail = door->rail, .key = door->key, .rank = rank};
  for (int n = 0; n < TT_RAILS_MOST; n++)
    door->listener[n] = (tt_tcp_watch){.kind = TT_TCP_LISTENER, .fd = -1};
  for (int n = 0; n < STRANGERS; n++)
    door->stranger[n].watch = (tt_tcp_watch){.kind = TT_TCP_STRANGER, .fd = -1};
  return door;
}

tutti_status tt_tcp_door_open(const tt_rail *rail, int64_t rail_count, int64_t rank, in_port_t *port,
                              tt_tcp_door **door) {
  in_port_t chosen[TT_RAILS_MOST] = {0};
  tutti_status status = check(rail, rail_count);
  if (status != TUTTI_OK)
    return status;
  if (sodium_init() < 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "libsodium finds no source of random bytes");
  tt_tcp_door *made = create(rail, rail_count, rank);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for connections");
  status = tt_tcp_watcher_open(&made->watcher);
  for (int64_t n = 0; n < rail_count && status == TUTTI_OK; n++)
    status = open_rail(made, n, &chosen[n]);
  if (status != TUTTI_OK) {
    tt_tcp_door_close(made);
    return status;
  }
  memcpy(port, chosen, (size_t)rail_count * sizeof *port);
  *door = made;
  return TUTTI_OK;
}

void tt_tcp_door_close(tt_tcp_door *door) {
  if (!door)
    return;
  tt_tcp_calls_end(&door->calls);
  for (stranger *who = door->stranger; who < door->stranger + STRANGERS; who++)
    if (who->watch.fd >= 0)
      throw_out(door, who);
  for (int n = 0; n < TT_RAILS_MOST; n++)
    if (door->listener[n].fd >= 0)
      tt_tcp_socket_close(tt_tcp_watch_end(&door->watcher, &door->listener[n]));
  tt_tcp_watcher_close(&door->watcher);
  sodium_memzero(door->key, sizeof door->key);
  free(door);
}

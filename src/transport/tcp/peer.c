/* transport/tcp/peer.c - packets to one peer: which rail takes the next one, what is acknowledged, what goes again.
 *
 *     waiting  |5|6|7|...          a rail with room takes the next packet; it is kept in `sent` of its connection
 *     rail 0   sent |1|3|          acknowledged from the front on: a connection keeps the order
 *     rail 1   sent |2|4|  fails:  what is not acknowledged goes back to `waiting`, before 5
 *
 * A small packet takes the first rail that has little to do, so that small traffic stays on one connection. A large one
 * takes the rail that will be through with it first, as far as is known. */
#include "transport/tcp/peer.h"
#include "transport/tcp/socket.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

/* Worth another connection. */
static bool is_large(size_t bytes) { return bytes >= (size_t)tt_options_get()->between.bulk_bytes; }

/* With so much in flight that even a small packet would stand behind it for long. */
static bool is_busy(size_t bytes) { return bytes >= 2 * (size_t)tt_options_get()->between.bulk_bytes; }

/* ---- connections ---- */

void tt_tcp_peer_watch(tt_tcp_pipes *pipes, tt_tcp_connection *connection, bool writes) {
  struct epoll_event event = {.events = writes ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = connection};
  if (connection->watched != writes && connection->fd >= 0 &&
      epoll_ctl(pipes->epoll, EPOLL_CTL_MOD, connection->fd, &event) == 0)
    connection->watched = writes;
}

void tt_tcp_peer_count(tt_tcp_pipes *pipes, tt_tcp_connection *connection) {
  assert(connection->moved >= connection->told_moved);
  uint64_t moved = connection->moved - connection->told_moved;
  connection->told_moved = connection->moved;
  if (connection->called)
    pipes->counts[connection->rail].sent_bytes += moved;
  else
    pipes->counts[connection->rail].received_bytes += moved;
}

static void unlink_in(tt_tcp_peer *peer, const tt_tcp_connection *connection) {
  tt_tcp_connection **at = &peer->in;
  while (*at != connection)
    at = &(*at)->next;
  *at = connection->next;
  if (peer->back == connection)
    peer->back = peer->in;
}

/* Out of its peer's sight; freed later, since events of it may be at hand. */
static void put_away(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection, bool reset) {
  assert(connection->fd >= 0 && connection->peer == peer->rank);
  tt_tcp_peer_count(pipes, connection);
  if (connection->called)
    peer->path[connection->rail].connection = NULL;
  else
    unlink_in(peer, connection);
  epoll_ctl(pipes->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
  tt_tcp_connection_close(connection, reset);
  connection->next = pipes->closed;
  pipes->closed = connection;
}

static void keep(tt_tcp_peer *peer, tt_tcp_connection *connection) {
  if (connection->called) {
    assert(!peer->path[connection->rail].connection); /* one for each rail */
    peer->path[connection->rail].connection = connection;
    return;
  }
  connection->next = peer->in;
  peer->in = peer->back = connection;
}

tutti_status tt_tcp_peer_connect(tt_tcp_pipes *pipes, const tt_tcp_arrival *arrival) {
  tt_tcp_peer *peer = tt_tcp_peer_get(pipes, arrival->peer);
  tt_tcp_connection *connection =
      peer ? tt_tcp_connection_create(arrival->fd, arrival->peer, arrival->rail, arrival->called) : NULL;
  if (!connection) {
    tt_tcp_socket_abort(arrival->fd);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a connection with rank %" PRId64, arrival->peer);
  }
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(pipes->epoll, EPOLL_CTL_ADD, connection->fd, &event) != 0) {
    int error = errno;
    tt_tcp_connection_close(connection, true);
    tt_tcp_connection_destroy(connection, &pipes->pool);
    return tt_fail(TUTTI_ERR_SYSTEM, "a connection with rank %" PRId64 " cannot be watched: %s", arrival->peer,
                   strerror(error));
  }
  keep(peer, connection);
  peer->met = true;
  return TUTTI_OK;
}

/* ---- sending ---- */

typedef struct sender {
  tt_tcp_pipes *pipes;
  tt_tcp_peer *peer;
} sender;

static void on_sent(void *user, const tt_streams_packet *packet) {
  const tt_tcp_owner *owner = &((sender *)user)->pipes->spec.owner;
  owner->sent(owner->user, packet->stream, -1);
}

/* What was acknowledged while it waited to go again need not. */
static void drop_acknowledged(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  sender of = {pipes, peer};
  while (peer->waiting.first && tt_streams_numbers_has(&peer->acknowledged, peer->waiting.first->number)) {
    tt_streams_packet *packet = tt_streams_queue_remove(&peer->waiting);
    on_sent(&of, packet);
    assert(peer->unacknowledged > 0);
    peer->unacknowledged--;
    tt_streams_pool_put(&pipes->pool, packet);
  }
}

static bool is_free(const tt_tcp_connection *connection) { return connection && !connection->full; }

static size_t in_flight(const tt_tcp_connection *connection) {
  return connection->sent.first ? tt_tcp_connection_in_flight(connection) : 0;
}

/* How long what is in flight keeps the rail busy, in bytes of a rail of 1 Gbit/s where rates are known. */
static uint64_t load_of(const tt_tcp_pipes *pipes, const tt_tcp_connection *connection) {
  int64_t rate = pipes->spec.host[pipes->spec.rank].rail[connection->rail].bits_per_second;
  uint64_t bytes = in_flight(connection);
  return rate > 1000 ? bytes * 1000000 / (uint64_t)(rate / 1000) : bytes;
}

/* The connection that takes the next packet; NULL: none has room. */
static tt_tcp_connection *choose(const tt_tcp_pipes *pipes, const tt_tcp_peer *peer, size_t bytes) {
  tt_tcp_connection *best = NULL;
  uint64_t least = UINT64_MAX;
  for (int64_t n = 0; n < pipes->spec.host[pipes->spec.rank].rail_count; n++) {
    tt_tcp_connection *connection = peer->path[tt_tcp_reach_rail(pipes, peer, n)].connection;
    if (!is_free(connection))
      continue;
    if (!peer->bulk || (!is_large(bytes) && !is_busy(in_flight(connection))))
      return connection;
    uint64_t load = load_of(pipes, connection);
    if (load < least) {
      least = load;
      best = connection;
    }
  }
  return best;
}

static tt_tcp_fate push(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection) {
  sender of = {pipes, peer};
  tt_tcp_fate fate =
      tt_tcp_connection_send(connection, &peer->waiting, (size_t)tt_options_get()->between.batch_bytes, on_sent, &of);
  tt_tcp_peer_count(pipes, connection);
  tt_tcp_peer_watch(pipes, connection, connection->full);
  return fate;
}

/* Begun packets come first: the system has said that there is room again. */
static void push_parts(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST; r++) {
    tt_tcp_connection *connection = peer->path[r].connection;
    if (!is_free(connection) || (connection->part == 0 && !connection->watched))
      continue;
    tt_tcp_fate fate = push(pipes, peer, connection);
    if (fate != TT_TCP_GOES)
      tt_tcp_peer_retire(pipes, peer, connection, fate);
  }
}

void tt_tcp_peer_dispatch(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  push_parts(pipes, peer);
  tt_tcp_connection *connection = NULL;
  while (drop_acknowledged(pipes, peer), peer->waiting.first) {
    size_t bytes = tt_streams_packet_wire_bytes(peer->waiting.first);
    peer->bulk = peer->bulk || is_large(bytes);
    connection = choose(pipes, peer, bytes);
    if (!connection)
      break;
    tt_tcp_fate fate = push(pipes, peer, connection);
    if (fate != TT_TCP_GOES)
      tt_tcp_peer_retire(pipes, peer, connection, fate);
  }
  for (int r = 0; peer->waiting.first && r < TT_RAILS_MOST; r++)
    peer->bulk = peer->bulk || peer->path[r].connection;
}

/* ---- acknowledged ---- */

static void forget_sent(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection) {
  tt_streams_queue *sent = &connection->sent;
  while (sent->first && !(sent->first == sent->last && connection->part > 0) &&
         tt_streams_numbers_has(&peer->acknowledged, sent->first->number)) {
    tt_streams_pool_put(&pipes->pool, tt_streams_queue_remove(sent));
    assert(peer->unacknowledged > 0);
    peer->unacknowledged--;
  }
}

tt_tcp_fate tt_tcp_peer_acknowledge(tt_tcp_pipes *pipes, tt_tcp_peer *peer, uint64_t first, uint64_t last) {
  if (first == 0 || first > last || last > peer->last_packet)
    return TT_TCP_WRONG;
  if (tt_streams_numbers_add(&peer->acknowledged, first, last) != TUTTI_OK)
    return TT_TCP_LACKS;
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->path[r].connection)
      forget_sent(pipes, peer, peer->path[r].connection);
  return TT_TCP_GOES;
}

/* ---- giving up ---- */

/* What the connection has sent waits again. Returns how many packets. */
static uint64_t take_back(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection) {
  const tt_tcp_owner *owner = &pipes->spec.owner;
  uint64_t count = 0;
  forget_sent(pipes, peer, connection);
  for (; connection->sent.first; count++) {
    tt_streams_packet *packet = tt_streams_queue_remove(&connection->sent);
    if (connection->sent.first || connection->part == 0)
      owner->sent(owner->user, packet->stream, 1);
    packet->head.again = 1;
    tt_streams_queue_insert(&peer->waiting, packet);
  }
  connection->part = 0;
  return count;
}

static void log_end(const tt_tcp_pipes *pipes, const tt_tcp_connection *connection, tt_tcp_fate fate) {
  const char *rail = pipes->counts[connection->rail].name;
  const char *why = connection->why     ? connection->why
                    : connection->error ? strerror(connection->error)
                                        : "closed by the other machine";
  if (fate == TT_TCP_WRONG)
    tt_log(TT_LOG_ERROR, "tcp: rank %" PRId64 " sent invalid data on rail %s (%s); the connection is closed",
           connection->peer, rail, why);
  else
    tt_log(fate == TT_TCP_BROKEN ? TT_LOG_WARN : TT_LOG_INFO, "tcp: rail %s %s rank %" PRId64 " is given up: %s", rail,
           connection->called ? "to" : "from", connection->peer, why);
}

void tt_tcp_peer_retire(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection, tt_tcp_fate fate) {
  assert(fate != TT_TCP_GOES);
  if (connection->fd < 0)
    return;
  tt_tcp_peer_drain(pipes, connection, fate == TT_TCP_ENDED);
  bool done = pipes->leaves && peer->unacknowledged == 0;
  bool expected = peer->state != TT_TCP_ALIVE || peer->leaves || done;
  if (!expected) {
    log_end(pipes, connection, fate);
    pipes->counts[connection->rail].retired++;
  }
  if (connection->called)
    pipes->counts[connection->rail].resent += take_back(pipes, peer, connection);
  else
    peer->says_all = true;
  tt_tcp_path *path = &peer->path[connection->rail];
  int64_t now_ns = tt_clock_ns(), pause_ns = TT_TCP_SECOND / 2 + (int64_t)tt_random_below(&pipes->random, 500000000);
  if (connection->called) {
    path->retired = peer->cut = true;
    path->again_ns = fate == TT_TCP_ENDED ? connection->opened_ns + pause_ns : now_ns + pause_ns;
  }
  put_away(pipes, peer, connection, !expected);
  tt_tcp_reach_lose(pipes, peer, fate);
}

static void drop_packets(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  sender of = {pipes, peer};
  while (peer->waiting.first) {
    tt_streams_packet *packet = tt_streams_queue_remove(&peer->waiting);
    on_sent(&of, packet);
    tt_streams_pool_put(&pipes->pool, packet);
  }
  peer->unacknowledged = 0;
}

/* Whoever has left closes the connections when it has heard that its packets came. */
void tt_tcp_peer_drop(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_state state) {
  assert(peer->state == TT_TCP_ALIVE && state != TT_TCP_ALIVE); /* nobody comes back, or leaves twice */
  bool dead = state == TT_TCP_DEAD;
  peer->state = state;
  peer->suspect = false;
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->path[r].connection) {
      take_back(pipes, peer, peer->path[r].connection);
      if (dead)
        put_away(pipes, peer, peer->path[r].connection, true);
    }
  while (dead && peer->in)
    put_away(pipes, peer, peer->in, true);
  drop_packets(pipes, peer);
}

/* ---- all of them ---- */

static tt_tcp_peer *make(tt_tcp_pipes *pipes, int64_t rank) {
  assert(rank >= 0 && rank < pipes->spec.rank_count && rank != pipes->spec.rank);
  tt_tcp_peer *peer = calloc(1, sizeof *peer);
  if (!peer)
    return NULL;
  peer->rank = rank;
  pipes->peer[rank] = peer;
  pipes->met[pipes->met_count++] = rank;
  return peer;
}

tt_tcp_peer *tt_tcp_peer_get(tt_tcp_pipes *pipes, int64_t rank) {
  return pipes->peer[rank] ? pipes->peer[rank] : make(pipes, rank);
}

void tt_tcp_peer_destroy(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  if (!peer)
    return;
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->path[r].connection)
      put_away(pipes, peer, peer->path[r].connection, false);
  while (peer->in)
    put_away(pipes, peer, peer->in, false);
  while (peer->waiting.first)
    tt_streams_pool_put(&pipes->pool, tt_streams_queue_remove(&peer->waiting));
  tt_streams_numbers_finish(&peer->acknowledged);
  tt_streams_numbers_finish(&peer->had);
  free(peer);
}

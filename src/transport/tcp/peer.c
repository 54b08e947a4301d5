/* transport/tcp/peer.c - letters to one peer: which rail takes the next one, what is acknowledged, what goes again.
 *
 *     waiting  |5|6|7|...          a rail with room takes the next letter; it is kept in `sent` of its link
 *     rail 0   sent |1|3|          acknowledged from the front on: a link keeps the order
 *     rail 1   sent |2|4|  fails:  what is not acknowledged goes back to `waiting`, before 5
 *
 * A small letter takes the first rail that has little to do, so that small traffic stays on one connection. A large one
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

/* With so much in flight that even a small letter would stand behind it for long. */
static bool is_busy(size_t bytes) { return bytes >= 2 * (size_t)tt_options_get()->between.bulk_bytes; }

/* ---- connections ---- */

void tt_tcp_peer_watch(tt_tcp_pipes *pipes, tt_tcp_link *link, bool writes) {
  struct epoll_event event = {.events = writes ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = link};
  if (link->watched != writes && link->fd >= 0 && epoll_ctl(pipes->epoll, EPOLL_CTL_MOD, link->fd, &event) == 0)
    link->watched = writes;
}

void tt_tcp_peer_count(tt_tcp_pipes *pipes, tt_tcp_link *link) {
  assert(link->moved >= link->told_moved);
  uint64_t moved = link->moved - link->told_moved;
  link->told_moved = link->moved;
  if (link->called)
    pipes->counts[link->rail].sent_bytes += moved;
  else
    pipes->counts[link->rail].received_bytes += moved;
}

static void unlink_in(tt_tcp_peer *peer, const tt_tcp_link *link) {
  tt_tcp_link **at = &peer->in;
  while (*at != link)
    at = &(*at)->next;
  *at = link->next;
  if (peer->back == link)
    peer->back = peer->in;
}

/* Out of its peer's sight; freed later, since events of it may be at hand. */
static void put_away(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_link *link, bool reset) {
  assert(link->fd >= 0 && link->peer == peer->rank);
  tt_tcp_peer_count(pipes, link);
  if (link->called)
    peer->way[link->rail].link = NULL;
  else
    unlink_in(peer, link);
  epoll_ctl(pipes->epoll, EPOLL_CTL_DEL, link->fd, NULL);
  tt_tcp_link_close(link, reset);
  link->next = pipes->closed;
  pipes->closed = link;
}

static void keep(tt_tcp_peer *peer, tt_tcp_link *link) {
  if (link->called) {
    assert(!peer->way[link->rail].link); /* one for each rail */
    peer->way[link->rail].link = link;
    return;
  }
  link->next = peer->in;
  peer->in = peer->back = link;
}

tutti_status tt_tcp_peer_connect(tt_tcp_pipes *pipes, const tt_tcp_arrival *arrival) {
  tt_tcp_peer *peer = tt_tcp_peer_get(pipes, arrival->peer);
  tt_tcp_link *link = peer ? tt_tcp_link_create(arrival->fd, arrival->peer, arrival->rail, arrival->called) : NULL;
  if (!link) {
    tt_tcp_socket_abort(arrival->fd);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a connection with rank %" PRId64, arrival->peer);
  }
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = link};
  if (epoll_ctl(pipes->epoll, EPOLL_CTL_ADD, link->fd, &event) != 0) {
    int error = errno;
    tt_tcp_link_close(link, true);
    tt_tcp_link_destroy(link, &pipes->pool);
    return tt_fail(TUTTI_ERR_SYSTEM, "a connection with rank %" PRId64 " cannot be watched: %s", arrival->peer,
                   strerror(error));
  }
  keep(peer, link);
  return TUTTI_OK;
}

/* ---- sending ---- */

typedef struct sender {
  tt_tcp_pipes *pipes;
  tt_tcp_peer *peer;
} sender;

static void note_sent(void *user, const tt_streams_letter *letter) {
  const tt_tcp_owner *owner = &((sender *)user)->pipes->spec.owner;
  owner->sent(owner->user, letter->stream, -1);
}

/* What was acknowledged while it waited to go again need not. */
static void drop_acknowledged(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  sender of = {pipes, peer};
  while (peer->waiting.first && tt_streams_numbers_has(&peer->acknowledged, peer->waiting.first->number)) {
    tt_streams_letter *letter = tt_streams_queue_remove(&peer->waiting);
    note_sent(&of, letter);
    assert(peer->unacknowledged > 0);
    peer->unacknowledged--;
    tt_streams_pool_give(&pipes->pool, letter);
  }
}

static bool is_free(const tt_tcp_link *link) { return link && !link->full; }

static size_t in_flight(const tt_tcp_link *link) { return link->sent.first ? tt_tcp_link_in_flight(link) : 0; }

/* How long what is in flight keeps the rail busy, in bytes of a rail of 1 Gbit/s where rates are known. */
static uint64_t load_of(const tt_tcp_pipes *pipes, const tt_tcp_link *link) {
  int64_t rate = pipes->spec.host[pipes->spec.rank].rail[link->rail].bits_per_second;
  uint64_t bytes = in_flight(link);
  return rate > 1000 ? bytes * 1000000 / (uint64_t)(rate / 1000) : bytes;
}

/* The link that takes the next letter; NULL: none has room. */
static tt_tcp_link *choose(const tt_tcp_pipes *pipes, const tt_tcp_peer *peer, size_t bytes) {
  tt_tcp_link *best = NULL;
  uint64_t least = UINT64_MAX;
  for (int64_t n = 0; n < pipes->spec.host[pipes->spec.rank].rail_count; n++) {
    tt_tcp_link *link = peer->way[tt_tcp_reach_rail(pipes, peer, n)].link;
    if (!is_free(link))
      continue;
    if (!peer->bulk || (!is_large(bytes) && !is_busy(in_flight(link))))
      return link;
    uint64_t load = load_of(pipes, link);
    if (load < least) {
      least = load;
      best = link;
    }
  }
  return best;
}

static tt_tcp_fate push(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_link *link) {
  sender of = {pipes, peer};
  tt_tcp_fate fate =
      tt_tcp_link_send(link, &peer->waiting, (size_t)tt_options_get()->between.batch_bytes, note_sent, &of);
  tt_tcp_peer_count(pipes, link);
  tt_tcp_peer_watch(pipes, link, link->full);
  return fate;
}

/* Begun letters come first: the system has said that there is room again. */
static void push_parts(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST; r++) {
    tt_tcp_link *link = peer->way[r].link;
    if (!is_free(link) || (link->part == 0 && !link->watched))
      continue;
    tt_tcp_fate fate = push(pipes, peer, link);
    if (fate != TT_TCP_GOES)
      tt_tcp_peer_retire(pipes, peer, link, fate);
  }
}

void tt_tcp_peer_dispatch(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  push_parts(pipes, peer);
  tt_tcp_link *link = NULL;
  while (drop_acknowledged(pipes, peer), peer->waiting.first) {
    size_t bytes = tt_streams_letter_wire_bytes(peer->waiting.first);
    peer->bulk = peer->bulk || is_large(bytes);
    link = choose(pipes, peer, bytes);
    if (!link)
      break;
    tt_tcp_fate fate = push(pipes, peer, link);
    if (fate != TT_TCP_GOES)
      tt_tcp_peer_retire(pipes, peer, link, fate);
  }
  for (int r = 0; peer->waiting.first && r < TT_RAILS_MOST; r++)
    peer->bulk = peer->bulk || peer->way[r].link;
}

/* ---- acknowledged ---- */

static void forget_sent(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_link *link) {
  tt_streams_queue *sent = &link->sent;
  while (sent->first && !(sent->first == sent->last && link->part > 0) &&
         tt_streams_numbers_has(&peer->acknowledged, sent->first->number)) {
    tt_streams_pool_give(&pipes->pool, tt_streams_queue_remove(sent));
    assert(peer->unacknowledged > 0);
    peer->unacknowledged--;
  }
}

tt_tcp_fate tt_tcp_peer_acknowledge(tt_tcp_pipes *pipes, tt_tcp_peer *peer, uint64_t first, uint64_t last) {
  if (first == 0 || first > last || last > peer->last_letter)
    return TT_TCP_WRONG;
  if (tt_streams_numbers_add(&peer->acknowledged, first, last) != TUTTI_OK)
    return TT_TCP_LACKS;
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->way[r].link)
      forget_sent(pipes, peer, peer->way[r].link);
  return TT_TCP_GOES;
}

/* ---- giving up ---- */

/* What the link has sent waits again. Returns how many letters. */
static uint64_t take_back(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_link *link) {
  const tt_tcp_owner *owner = &pipes->spec.owner;
  uint64_t count = 0;
  forget_sent(pipes, peer, link);
  for (; link->sent.first; count++) {
    tt_streams_letter *letter = tt_streams_queue_remove(&link->sent);
    if (link->sent.first || link->part == 0)
      owner->sent(owner->user, letter->stream, 1);
    letter->head.again = 1;
    tt_streams_queue_insert(&peer->waiting, letter);
  }
  link->part = 0;
  return count;
}

static void log_end(const tt_tcp_pipes *pipes, const tt_tcp_link *link, tt_tcp_fate fate) {
  const char *rail = pipes->counts[link->rail].name;
  const char *why = link->why ? link->why : link->error ? strerror(link->error) : "closed by the other machine";
  if (fate == TT_TCP_WRONG)
    tt_log(TT_LOG_ERROR, "tcp: rank %" PRId64 " sent invalid data on rail %s (%s); the connection is closed",
           link->peer, rail, why);
  else
    tt_log(fate == TT_TCP_BROKEN ? TT_LOG_WARN : TT_LOG_INFO, "tcp: rail %s %s rank %" PRId64 " is given up: %s", rail,
           link->called ? "to" : "from", link->peer, why);
}

void tt_tcp_peer_retire(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_link *link, tt_tcp_fate fate) {
  assert(fate != TT_TCP_GOES);
  if (link->fd < 0)
    return;
  tt_tcp_peer_drain(pipes, link);
  bool done = pipes->leaves && peer->unacknowledged == 0;
  bool expected = peer->state != TT_TCP_ALIVE || peer->leaves || done;
  if (!expected) {
    log_end(pipes, link, fate);
    pipes->counts[link->rail].retired++;
  }
  if (link->called)
    pipes->counts[link->rail].resent += take_back(pipes, peer, link);
  else
    peer->says_all = true;
  tt_tcp_way *way = &peer->way[link->rail];
  int64_t now_ns = tt_clock_ns(), pause_ns = TT_TCP_SECOND / 2 + (int64_t)tt_random_below(&pipes->random, 500000000);
  if (link->called) {
    way->retired = peer->cut = true;
    way->again_ns = fate == TT_TCP_ENDED ? link->opened_ns + pause_ns : now_ns + pause_ns;
  }
  put_away(pipes, peer, link, !expected);
  tt_tcp_reach_lose(pipes, peer, fate);
}

static void drop_letters(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  sender of = {pipes, peer};
  while (peer->waiting.first) {
    tt_streams_letter *letter = tt_streams_queue_remove(&peer->waiting);
    note_sent(&of, letter);
    tt_streams_pool_give(&pipes->pool, letter);
  }
  peer->unacknowledged = 0;
}

/* Whoever has left closes the connections when it has heard that its letters came. */
void tt_tcp_peer_drop(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_state state) {
  assert(peer->state == TT_TCP_ALIVE && state != TT_TCP_ALIVE); /* nobody comes back, or leaves twice */
  bool dead = state == TT_TCP_DEAD;
  peer->state = state;
  peer->suspect = false;
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->way[r].link) {
      take_back(pipes, peer, peer->way[r].link);
      if (dead)
        put_away(pipes, peer, peer->way[r].link, true);
    }
  while (dead && peer->in)
    put_away(pipes, peer, peer->in, true);
  drop_letters(pipes, peer);
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
    if (peer->way[r].link)
      put_away(pipes, peer, peer->way[r].link, false);
  while (peer->in)
    put_away(pipes, peer, peer->in, false);
  while (peer->waiting.first)
    tt_streams_pool_give(&pipes->pool, tt_streams_queue_remove(&peer->waiting));
  tt_streams_numbers_finish(&peer->acknowledged);
  tt_streams_numbers_finish(&peer->had);
  free(peer);
}

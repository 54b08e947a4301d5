/* transport/tcp/pipe.c - the pipes as their owner sees them: send, progress, goodbye. One epoll descriptor has all
 * connections and the door, so that a look costs one system call when nothing has happened. */
#include "transport/tcp/pipe.h"

#include "transport/tcp/peer.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 32, FLUSH_LOOK_MS = 5 };

/* ---- packets ---- */

tt_streams_pool *tt_tcp_pipes_pool(tt_tcp_pipes *pipes) { return &pipes->pool; }

tutti_status tt_tcp_pipes_send_take(tt_tcp_pipes *pipes, tt_streams_packet *packet) {
  tt_tcp_peer *peer = tt_tcp_peer_get(pipes, packet->peer);
  if (!peer) {
    tt_streams_pool_put(&pipes->pool, packet);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for data to another rank");
  }
  if (peer->state != TT_TCP_ALIVE) {
    pipes->spec.owner.sent(pipes->spec.owner.user, packet->head.stream, -1);
    tt_streams_pool_put(&pipes->pool, packet);
    return TUTTI_OK;
  }
  peer->met = peer->met || !packet->note;
  tt_streams_packet_seal(packet, ++peer->last_packet);
  tt_streams_queue_add(&peer->waiting, packet);
  peer->unacknowledged++;
  tt_tcp_peer_dispatch(pipes, peer);
  if (peer->waiting.first || peer->bulk)
    tt_tcp_reach(pipes, peer, tt_clock_ns());
  return pipes->status;
}

tutti_status tt_tcp_pipes_credit(tt_tcp_pipes *pipes, int64_t rank, uint64_t stream, uint32_t count, bool now) {
  tt_tcp_peer *peer = pipes->peer[rank];
  if (!peer || !peer->back || peer->state != TT_TCP_ALIVE)
    return TUTTI_OK;
  const tt_tcp_ack ack = {.kind = TT_TCP_RELEASED, .count = count, .first = stream};
  tutti_status status = tt_tcp_acks_add(&peer->back->acks, ack);
  if (now && status == TUTTI_OK)
    tt_tcp_peer_say(pipes, peer);
  return status;
}

/* ---- progress ---- */

static void open_door(tt_tcp_pipes *pipes) {
  tt_tcp_arrival arrival;
  while (tt_tcp_door_next(pipes->spec.door, &arrival))
    tt_tcp_reach_arrive(pipes, &arrival);
}

static void handle(tt_tcp_pipes *pipes, tt_tcp_connection *connection, uint32_t events) {
  if (connection->fd < 0)
    return;
  tt_tcp_peer *peer = pipes->peer[connection->peer];
  assert(peer); /* it is there as long as its connections are */
  if (events & EPOLLOUT)
    connection->full = false;
  if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
    tt_tcp_peer_read(pipes, peer, connection);
  if ((events & EPOLLOUT) && connection->fd >= 0) {
    if (connection->called)
      tt_tcp_peer_dispatch(pipes, peer);
    else
      tt_tcp_peer_say_on(pipes, peer, connection);
  }
  tt_tcp_peer_settle(pipes, peer);
}

static void free_closed(tt_tcp_pipes *pipes) {
  while (pipes->closed) {
    tt_tcp_connection *connection = pipes->closed;
    pipes->closed = connection->next;
    tt_tcp_connection_destroy(connection, &pipes->pool);
  }
}

/* The first that has not been told. */
static tutti_status report_death(tt_tcp_pipes *pipes, int64_t *rank) {
  assert(pipes->deaths > 0);
  for (int64_t n = 0; n < pipes->met_count; n++) {
    tt_tcp_peer *peer = pipes->peer[pipes->met[n]];
    if (peer->state != TT_TCP_DEAD || peer->reported)
      continue;
    peer->reported = true;
    pipes->deaths--;
    *rank = peer->rank;
    return tt_fail(TUTTI_ERR_PEER, "rank %" PRId64 " died: %s", peer->rank,
                   peer->refused ? "nobody listens at its address"
                                 : "its connections have ended, and it cannot be reached");
  }
  return TUTTI_OK;
}

static void move(tt_tcp_pipes *pipes) {
  struct epoll_event event[EVENTS];
  int count = epoll_wait(pipes->epoll, event, EVENTS, 0);
  int64_t now_ns = tt_clock_ns();
  bool look = tt_tcp_reach_is_time(pipes, now_ns), knocks = look;
  for (int n = 0; n < count; n++) {
    if (event[n].data.ptr)
      handle(pipes, event[n].data.ptr, event[n].events);
    else
      knocks = true;
  }
  if (knocks)
    open_door(pipes);
  if (look)
    tt_tcp_reach_look(pipes, now_ns);
  free_closed(pipes);
}

tutti_status tt_tcp_pipes_progress(tt_tcp_pipes *pipes, int64_t *rank) {
  move(pipes);
  if (pipes->status != TUTTI_OK)
    return pipes->status;
  return pipes->deaths > 0 ? report_death(pipes, rank) : TUTTI_OK;
}

int tt_tcp_pipes_dead(const tt_tcp_pipes *pipes, int64_t rank) {
  if (rank < 0 || rank >= pipes->spec.rank_count || !pipes->peer[rank])
    return 0;
  return (int)pipes->peer[rank]->state;
}

uint64_t tt_tcp_pipes_had(const tt_tcp_pipes *pipes, int64_t rank) {
  return pipes->peer[rank] ? pipes->peer[rank]->had.all : 0;
}

int tt_tcp_pipes_fd(const tt_tcp_pipes *pipes) { return pipes->epoll; }

bool tt_tcp_pipes_news(tt_tcp_pipes *pipes) {
  bool news = pipes->news;
  pipes->news = false;
  return news;
}

int64_t tt_tcp_pipes_count(const tt_tcp_pipes *pipes, tt_tcp_counts *counts) {
  int64_t count = pipes->spec.host[pipes->spec.rank].rail_count;
  memcpy(counts, pipes->counts, (size_t)count * sizeof *counts);
  return count;
}

/* ---- goodbye ---- */

static tutti_status say_goodbye(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  tutti_status status = TUTTI_OK;
  if (peer->last_packet > 0) {
    tt_streams_packet *packet = tt_streams_pool_get(&pipes->pool, 0);
    if (!packet)
      return TUTTI_ERR_MEMORY;
    packet->peer = peer->rank;
    packet->note = true;
    packet->head = (tt_streams_head){.kind = TT_STREAMS_BYE};
    status = tt_tcp_pipes_send_take(pipes, packet);
  }
  tt_tcp_peer_say_goodbye(pipes, peer);
  return status;
}

/* Whether all is in the peer's hands, or in those of its system, from which it will read it when it likes. */
static bool is_done(const tt_tcp_peer *peer) {
  if (peer->state != TT_TCP_ALIVE)
    return true;
  if (peer->waiting.first)
    return false;
  for (int r = 0; r < TT_RAILS_MOST; r++) {
    const tt_tcp_connection *connection = peer->path[r].connection;
    if (connection && (connection->part > 0 || (connection->sent.first && tt_tcp_connection_in_flight(connection) > 0)))
      return false;
  }
  for (const tt_tcp_connection *connection = peer->in; connection; connection = connection->next)
    if (connection->acks.begin < connection->acks.end || tt_tcp_connection_in_flight(connection) > 0)
      return false;
  return true;
}

static bool all_done(const tt_tcp_pipes *pipes) {
  for (int64_t n = 0; n < pipes->met_count; n++)
    if (!is_done(pipes->peer[pipes->met[n]]))
      return false;
  return true;
}

/* Of what is under way, some is for a machine that answers: its rank is there, and does not read yet. */
static bool is_answered(const tt_tcp_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST && peer->state == TT_TCP_ALIVE; r++) {
    const tt_tcp_connection *connection = peer->path[r].connection;
    if (connection && tt_tcp_connection_in_flight(connection) > 0 && !tt_tcp_connection_is_silent(connection))
      return true;
  }
  return false;
}

static bool any_answers(const tt_tcp_pipes *pipes) {
  for (int64_t n = 0; n < pipes->met_count; n++)
    if (is_answered(pipes->peer[pipes->met[n]]))
      return true;
  return false;
}

void tt_tcp_pipes_flush(tt_tcp_pipes *pipes, int64_t timeout_ns, int64_t longest_ns) {
  int64_t began_ns = tt_clock_ns();
  move(pipes);
  pipes->leaves = true;
  for (int64_t n = 0; n < pipes->met_count; n++) {
    tt_tcp_peer *peer = pipes->peer[pipes->met[n]];
    if (peer->state == TT_TCP_ALIVE && say_goodbye(pipes, peer) != TUTTI_OK)
      tt_log(TT_LOG_WARN, "tcp: no goodbye to rank %" PRId64, peer->rank);
  }
  while (!all_done(pipes)) {
    int64_t waited_ns = tt_clock_ns() - began_ns;
    if (waited_ns > timeout_ns && (waited_ns > longest_ns || !any_answers(pipes)))
      return;
    struct pollfd ready = {.fd = pipes->epoll, .events = POLLIN};
    poll(&ready, 1, FLUSH_LOOK_MS);
    move(pipes);
  }
}

/* ---- begin and end ---- */

static void name_rails(tt_tcp_pipes *pipes) {
  const tt_tcp_host *own = &pipes->spec.host[pipes->spec.rank];
  for (int64_t r = 0; r < own->rail_count; r++)
    memcpy(pipes->counts[r].name, own->rail[r].name, sizeof pipes->counts[r].name);
}

static tutti_status watch_door(tt_tcp_pipes *pipes) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  pipes->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (pipes->epoll >= 0 && epoll_ctl(pipes->epoll, EPOLL_CTL_ADD, tt_tcp_door_fd(pipes->spec.door), &event) == 0)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_SYSTEM, "no epoll descriptor for connections: %s", strerror(errno));
}

tutti_status tt_tcp_pipes_create(const tt_tcp_pipes_spec *spec, tt_tcp_pipes **pipes) {
  assert(spec->rank >= 0 && spec->rank < spec->rank_count);
  tt_tcp_pipes *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the connections of %" PRId64 " ranks", spec->rank_count);
  made->spec = *spec;
  made->epoll = -1;
  made->peer = calloc((size_t)spec->rank_count, sizeof(tt_tcp_peer *));
  made->met = calloc((size_t)spec->rank_count, sizeof *made->met);
  tt_random_init(&made->random, (uint64_t)tt_clock_ns() ^ (uint64_t)spec->rank << 48);
  name_rails(made);
  tutti_status status = made->peer && made->met
                            ? watch_door(made)
                            : tt_fail(TUTTI_ERR_MEMORY, "no memory for a list of %" PRId64 " ranks", spec->rank_count);
  if (status == TUTTI_OK)
    *pipes = made;
  else
    tt_tcp_pipes_destroy(made);
  return status;
}

void tt_tcp_pipes_destroy(tt_tcp_pipes *pipes) {
  if (!pipes)
    return;
  for (int64_t n = 0; n < pipes->met_count; n++)
    tt_tcp_peer_destroy(pipes, pipes->peer[pipes->met[n]]);
  free_closed(pipes);
  tt_streams_pool_finish(&pipes->pool);
  if (pipes->epoll >= 0)
    close(pipes->epoll);
  free(pipes->peer);
  free(pipes->met);
  free(pipes);
}

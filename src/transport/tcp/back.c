/* transport/tcp/back.c - what comes from a peer, and what is said back to it.
 *
 * Packets are acknowledged some at a time, with credits that can not wait, or when the rank leaves: a sender keeps what
 * is not acknowledged, which its credits bound, so no clock is needed. After a failure everything is said again, since
 * what was on its way back is lost with the connection. */
#include "transport/tcp/peer.h"

#include <assert.h>
#include <inttypes.h>

enum {
  OWED_PACKETS = 8,
  OWED_BYTES = 128 << 10,
  RANGES = 64,            /* of packets that are said at once: the others when those before them have come */
  TURN_BYTES = 512 << 10, /* that one connection may bring before others have their turn */
  DRAINS = 64
};

/* ---- packets that come ---- */

static tt_tcp_peer *peer_of(const tt_tcp_pipes *pipes, const tt_tcp_connection *connection) {
  return pipes->peer[connection->peer];
}

static tt_tcp_fate lacks(tt_tcp_pipes *pipes, tutti_status status) {
  pipes->status = status;
  return TT_TCP_LACKS;
}

static tt_tcp_fate begin(void *user, tt_tcp_connection *connection, const tt_streams_head *head,
                         tt_streams_packet **packet) {
  tt_tcp_pipes *pipes = user;
  assert(!connection->called); /* packets come on connections that others have called */
  tt_tcp_peer *peer = peer_of(pipes, connection);
  peer->says_all = peer->says_all || head->again;
  if (peer->leaves && head->packet > peer->goodbye) {
    connection->why = "a packet after the last one";
    return TT_TCP_WRONG;
  }
  if (tt_streams_numbers_has(&peer->had, head->packet))
    return TT_TCP_GOES;
  *packet = tt_streams_pool_get(&pipes->pool, head->bytes);
  return *packet ? TT_TCP_GOES
                 : lacks(pipes, tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRIu32 " bytes from rank %" PRId64,
                                        head->bytes, connection->peer));
}

static void set_leaving(tt_tcp_peer *peer, uint64_t last) {
  peer->leaves = true;
  peer->goodbye = last;
}

static tt_tcp_fate deliver_take(void *user, tt_tcp_connection *connection, tt_streams_packet *packet) {
  tt_tcp_pipes *pipes = user;
  tt_tcp_peer *peer = peer_of(pipes, connection);
  bool twice = tt_streams_numbers_has(&peer->had, packet->number); /* meanwhile, on another rail */
  tutti_status status = twice ? TUTTI_OK : tt_streams_numbers_add(&peer->had, packet->number, packet->number);
  if (packet->head.kind == TT_STREAMS_BYE && status == TUTTI_OK)
    set_leaving(peer, packet->number);
  pipes->news = true;
  peer->owed_packets++;
  peer->owed_bytes += packet->bytes;
  if (twice || status != TUTTI_OK || packet->head.kind == TT_STREAMS_BYE)
    tt_streams_pool_put(&pipes->pool, packet);
  else
    status = pipes->spec.owner.deliver_take(pipes->spec.owner.user, packet);
  return status != TUTTI_OK ? lacks(pipes, status) : TT_TCP_GOES;
}

/* ---- acks that come ---- */

static tt_tcp_fate ack(void *user, tt_tcp_connection *connection, tt_tcp_ack said) {
  tt_tcp_pipes *pipes = user;
  assert(connection->called);
  tt_tcp_peer *peer = peer_of(pipes, connection);
  const tt_tcp_owner *owner = &pipes->spec.owner;
  tt_tcp_fate fate = TT_TCP_GOES;
  pipes->news = true;
  switch (said.kind) {
  case TT_TCP_HAD:
    fate = tt_tcp_peer_acknowledge(pipes, peer, said.first, said.last);
    break;
  case TT_TCP_RELEASED:
    owner->released(owner->user, connection->peer, said.first, said.count);
    break;
  case TT_TCP_LEAVES:
    set_leaving(peer, said.last);
    break;
  default:
    fate = TT_TCP_WRONG;
  }
  if (fate == TT_TCP_WRONG)
    connection->why = "an ack on the way back";
  return fate;
}

/* ---- acks that go ---- */

static tutti_status add(tt_tcp_connection *connection, tt_tcp_ack_kind kind, uint64_t first, uint64_t last) {
  return tt_tcp_acks_add(&connection->acks, (tt_tcp_ack){.kind = kind, .first = first, .last = last});
}

static void add_had(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection) {
  assert(!connection->called && connection->peer == peer->rank);
  const tt_streams_numbers *had = &peer->had;
  tutti_status status = had->all > 0 ? add(connection, TT_TCP_HAD, 1, had->all) : TUTTI_OK;
  for (size_t n = 0; n < had->count && n < RANGES && status == TUTTI_OK; n++)
    status = add(connection, TT_TCP_HAD, had->range[n].first, had->range[n].last);
  peer->owed_packets = 0;
  peer->owed_bytes = 0;
  if (status != TUTTI_OK)
    pipes->status = status;
}

void tt_tcp_peer_say_on(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection) {
  tt_tcp_fate fate = tt_tcp_connection_say(connection);
  tt_tcp_peer_watch(pipes, connection, connection->full);
  if (fate != TT_TCP_GOES)
    tt_tcp_peer_retire(pipes, peer, connection, fate);
}

void tt_tcp_peer_say_again(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection) {
  if (connection->acks.begin < connection->acks.end || connection->full)
    return;
  add_had(pipes, peer, connection);
  tt_tcp_peer_say_on(pipes, peer, connection);
}

void tt_tcp_peer_say(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  tt_tcp_connection *connection = peer->back;
  if (!connection)
    return;
  if (peer->owed_packets > 0)
    add_had(pipes, peer, connection);
  tt_tcp_peer_say_on(pipes, peer, connection);
}

static void add_goodbye(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection) {
  tutti_status status = add(connection, TT_TCP_LEAVES, 0, peer->last_packet);
  if (status != TUTTI_OK)
    pipes->status = status;
}

static void say_all(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  const tt_tcp_owner *owner = &pipes->spec.owner;
  while (peer->says_all && peer->back) { /* again, where that connection fails meanwhile */
    peer->says_all = false;
    add_had(pipes, peer, peer->back);
    owner->credit_all(owner->user, peer->rank);
    if (pipes->leaves)
      add_goodbye(pipes, peer, peer->back);
    tt_tcp_peer_say(pipes, peer);
  }
}

void tt_tcp_peer_say_goodbye(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  for (tt_tcp_connection *connection = peer->in, *next; connection; connection = next) {
    next = connection->next;
    add_had(pipes, peer, connection);
    add_goodbye(pipes, peer, connection);
    tt_tcp_peer_say_on(pipes, peer, connection);
  }
}

/* ---- reading ---- */

static tt_tcp_reader reader_of(tt_tcp_pipes *pipes) {
  return (tt_tcp_reader){.begin = begin, .deliver_take = deliver_take, .ack = ack, .user = pipes};
}

static tt_tcp_fate read_connection(tt_tcp_pipes *pipes, tt_tcp_connection *connection) {
  const tt_tcp_reader reader = reader_of(pipes);
  return tt_tcp_connection_read(connection, TURN_BYTES, pipes->scratch, &reader);
}

void tt_tcp_peer_drain(tt_tcp_pipes *pipes, tt_tcp_connection *connection, bool ended) {
  for (int n = 0; ended || n < DRAINS; n++) {
    uint64_t received = connection->received;
    if (read_connection(pipes, connection) != TT_TCP_GOES || connection->received == received)
      break;
  }
}

void tt_tcp_peer_settle(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  bool left = peer->state == TT_TCP_ALIVE && tt_tcp_peer_has_left(peer);
  if (left)
    tt_tcp_peer_drop(pipes, peer, TT_TCP_LEFT);
  if (peer->says_all)
    say_all(pipes, peer);
  if (left || peer->owed_packets >= OWED_PACKETS || peer->owed_bytes >= OWED_BYTES)
    tt_tcp_peer_say(pipes, peer); /* who leaves waits for it */
  if (peer->waiting.first)
    tt_tcp_peer_dispatch(pipes, peer);
}

void tt_tcp_peer_read(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection) {
  tt_tcp_fate fate = read_connection(pipes, connection);
  if (!connection->called) {
    peer->back = connection;
    tt_tcp_peer_count(pipes, connection);
  }
  if (fate != TT_TCP_GOES)
    tt_tcp_peer_retire(pipes, peer, connection, fate);
}

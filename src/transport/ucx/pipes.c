/* transport/ucx/pipes.c - packets as active messages: ucp_am_send_nbx of head and data, which lie behind each other;
 * UCX's header has the job's key. What arrival.c has put aside is used when UCX has returned.
 *
 * Closing waits until each peer has said that it has had all, since what UCX has taken may be lost with the connection.
 */
#include "transport/ucx/pipes.h"

#include <assert.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

enum { FLUSH_LOOK_MS = 5 };

static tutti_status no_memory(int64_t rank) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for data to rank %" PRId64, rank);
}

/* ---- packets that go ---- */

/* It needs this rank no more, or never will. */
static void end_packet(tt_ucx_pipes *pipes, tt_streams_packet *packet) {
  if (packet->number > 0)
    tt_streams_add_unsent(pipes->streams, packet->stream, -1);
  tt_streams_pool_put(&pipes->pool, packet);
}

static void on_sent(void *request, ucs_status_t status, void *user) {
  tt_streams_packet *packet = user;
  tt_ucx_pipes *pipes = packet->carrier;
  (void)status; /* the endpoint's handler says more */
  assert(pipes->requests > 0 && pipes->rail[packet->rail].leaving_bytes >= packet->bytes);
  pipes->requests--;
  pipes->rail[packet->rail].leaving_bytes -= packet->bytes;
  pipes->ucp.request_free(request);
  end_packet(pipes, packet);
}

static void post_take(tt_ucx_pipes *pipes, tt_ucx_endpoint *endpoint, tt_streams_packet *packet) {
  assert(endpoint->ep && tt_ucx_endpoint_rail(endpoint) < pipes->rail_count);
  const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                     .cb.send = on_sent,
                                     .user_data = packet};
  packet->carrier = pipes;
  packet->rail = (uint8_t)tt_ucx_endpoint_rail(endpoint);
  endpoint->unflushed = true;
  ucs_status_ptr_t request =
      pipes->ucp.send(endpoint->ep, 0, &pipes->front, sizeof pipes->front, tt_streams_packet_wire(packet),
                      tt_streams_packet_wire_bytes(packet), &param);
  if (UCS_PTR_IS_PTR(request)) {
    pipes->requests++;
    pipes->rail[packet->rail].leaving_bytes += packet->bytes;
    return;
  }
  if (UCS_PTR_IS_ERR(request)) {
    endpoint->failed = UCS_PTR_STATUS(request);
    pipes->failed = true;
  }
  end_packet(pipes, packet);
}

/* number: 0 for a packet of this transport's own. */
static tutti_status send_take(tt_ucx_pipes *pipes, tt_ucx_peer *peer, tt_streams_packet *packet, uint64_t number) {
  tt_streams_packet_seal(packet, number);
  tt_ucx_endpoint *endpoint = peer->state == TT_UCX_ALIVE ? tt_ucx_peer_endpoint(peer, packet->bytes) : NULL;
  if (endpoint)
    post_take(pipes, endpoint, packet);
  else
    end_packet(pipes, packet);
  return TUTTI_OK;
}

tutti_status tt_ucx_pipes_send_take(void *user, tt_streams_packet *packet) {
  tt_ucx_pipes *pipes = user;
  tt_ucx_peer *peer = tt_ucx_peer_get(pipes, packet->peer);
  if (!peer) {
    tutti_status status = no_memory(packet->peer);
    tt_streams_pool_put(&pipes->pool, packet);
    return status;
  }
  peer->met = peer->met || !packet->note;
  return send_take(pipes, peer, packet, ++peer->last_packet);
}

static tutti_status say(tt_ucx_pipes *pipes, tt_ucx_peer *peer, const tt_streams_head *head) {
  tt_streams_packet *packet = tt_streams_pool_get(&pipes->pool, 0);
  if (!packet)
    return no_memory(peer->rank);
  packet->peer = peer->rank;
  packet->head = *head;
  return send_take(pipes, peer, packet, head->kind == TT_STREAMS_BYE ? ++peer->last_packet : 0);
}

tutti_status tt_ucx_pipes_credit(void *user, int64_t rank, uint64_t stream, uint32_t count, bool now) {
  tt_ucx_pipes *pipes = user;
  tt_ucx_peer *peer = pipes->peer[rank];
  (void)now;
  return peer ? say(pipes, peer, &(tt_streams_head){.kind = TT_UCX_CREDIT, .stream = stream, .slot = count}) : TUTTI_OK;
}

/* ---- packets that have come ---- */

static void keep_first(tt_ucx_pipes *pipes, tutti_status status) {
  if (pipes->status == TUTTI_OK)
    pipes->status = status;
}

static void take_own(tt_ucx_pipes *pipes, tt_ucx_peer *peer, tt_streams_packet *packet) {
  const tt_streams_head *head = &packet->head;
  if (head->kind == TT_UCX_CREDIT)
    tt_streams_set_released(pipes->streams, peer->rank, head->stream, head->slot);
  peer->had_goodbye = peer->had_goodbye || head->kind == TT_UCX_HAD;
  tt_streams_pool_put(&pipes->pool, packet);
}

static tutti_status take_numbered(tt_ucx_pipes *pipes, tt_ucx_peer *peer, tt_streams_packet *packet) {
  tt_streams_head *head = &packet->head;
  const char *wrong = tt_streams_head_check(head);
  if (!wrong && head->bytes != packet->bytes)
    wrong = "the packet's length";
  if (!wrong && tt_streams_numbers_has(&peer->had, head->packet))
    wrong = "the packet's number, which was used before,";
  tutti_status status = wrong ? tt_fail(TUTTI_ERR_SYSTEM, "%s from rank %" PRId64 " is wrong", wrong, peer->rank)
                              : tt_streams_numbers_add(&peer->had, head->packet, head->packet);
  if (status == TUTTI_OK && head->kind != TT_STREAMS_BYE)
    return tt_streams_deliver_take(pipes->streams, packet);
  if (status == TUTTI_OK) {
    peer->leaves = true;
    peer->goodbye = head->packet;
  }
  tt_streams_pool_put(&pipes->pool, packet);
  return status;
}

/* Who leaves waits for the answer. */
static void answer(tt_ucx_pipes *pipes, tt_ucx_peer *peer) {
  if (!peer->reached && peer->state == TT_UCX_ALIVE)
    keep_first(pipes, say(pipes, peer, &(tt_streams_head){.kind = TT_UCX_HELLO}));
  if (peer->state == TT_UCX_ALIVE && peer->leaves && peer->had.all >= peer->goodbye) {
    keep_first(pipes, say(pipes, peer, &(tt_streams_head){.kind = TT_UCX_HAD}));
    peer->state = TT_UCX_LEFT;
  }
}

static void use_all(tt_ucx_pipes *pipes) {
  while (pipes->came.first) {
    tt_streams_packet *packet = tt_streams_queue_remove(&pipes->came);
    tt_ucx_peer *peer = tt_ucx_peer_get(pipes, packet->peer);
    pipes->news = true;
    if (!peer) {
      keep_first(pipes, no_memory(packet->peer));
      tt_streams_pool_put(&pipes->pool, packet);
      continue;
    }
    peer->met = true;
    tt_streams_head_turn(&packet->head);
    packet->number = packet->head.packet;
    packet->stream = packet->head.stream;
    if (packet->head.kind >= TT_STREAMS_OWN)
      take_own(pipes, peer, packet);
    else
      keep_first(pipes, take_numbered(pipes, peer, packet));
    answer(pipes, peer);
  }
}

/* What has come is used first, the goodbye above all. */
static void move(tt_ucx_pipes *pipes) {
  tt_ucx_rails_progress(pipes);
  use_all(pipes);
  tt_ucx_peers_settle(pipes);
}

tutti_status tt_ucx_pipes_progress(tt_ucx_pipes *pipes, int64_t *rank) {
  bool died = pipes->deaths > 0; /* one look later, so that what has come with it can be used first */
  move(pipes);
  if (pipes->status != TUTTI_OK)
    return pipes->status;
  return died ? tt_ucx_peers_report(pipes, rank) : TUTTI_OK;
}

uint64_t tt_ucx_pipes_had(void *pipes, int64_t rank) {
  const tt_ucx_peer *peer = ((tt_ucx_pipes *)pipes)->peer[rank];
  return peer ? peer->had.all : 0;
}

int tt_ucx_pipes_dead(void *user, int64_t rank) {
  const tt_ucx_pipes *pipes = user;
  return rank >= 0 && rank < pipes->rank_count && pipes->peer[rank] ? (int)pipes->peer[rank]->state : 0;
}

/* ---- goodbye ---- */

static bool has_failed(const tt_ucx_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->endpoint[r].failed != UCS_OK)
      return true;
  return peer->state == TT_UCX_DEAD;
}

static bool all_done(tt_ucx_pipes *pipes) {
  bool done = true;
  for (int64_t n = 0; n < pipes->met_count; n++) {
    tt_ucx_peer *peer = pipes->peer[pipes->met[n]];
    bool over = has_failed(peer) || ((peer->had_goodbye || !peer->said_goodbye) && tt_ucx_peer_flush(peer));
    done = done && over;
  }
  return done;
}

void tt_ucx_pipes_flush(tt_ucx_pipes *pipes, int64_t timeout_ns) {
  int64_t until_ns = tt_clock_until(timeout_ns);
  move(pipes);
  for (int64_t n = 0; n < pipes->met_count; n++) {
    tt_ucx_peer *peer = pipes->peer[pipes->met[n]];
    peer->said_goodbye =
        peer->state == TT_UCX_ALIVE && say(pipes, peer, &(tt_streams_head){.kind = TT_STREAMS_BYE}) == TUTTI_OK;
  }
  while (!all_done(pipes) && tt_clock_ns() < until_ns) {
    struct pollfd ready = {.fd = tt_ucx_rails_descriptor(pipes), .events = POLLIN};
    poll(&ready, 1, FLUSH_LOOK_MS);
    move(pipes);
  }
}

void tt_ucx_pipes_finish(tt_ucx_pipes *pipes) {
  tt_ucx_peers_close(pipes);
  while (pipes->came.first)
    tt_streams_pool_put(&pipes->pool, tt_streams_queue_remove(&pipes->came));
  tt_ucx_rails_close(pipes);
  tt_streams_pool_finish(&pipes->pool);
  free(pipes->peer);
  free(pipes->met);
}

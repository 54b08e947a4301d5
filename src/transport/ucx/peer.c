/* transport/ucx/peer.c - what there is to each peer: endpoints, whether they have failed, and what waits in them.
 *
 * A flush may need the peer's progress, as long as the two are being connected, and the peer may be busy elsewhere: so
 * only closing flushes, and waits for it a short while. */
#include "transport/ucx/pipes.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_NS INT64_C(1000000) /* for a flush: much longer than one that needs this rank and its NIC takes */

int64_t tt_ucx_endpoint_rail(const tt_ucx_endpoint *endpoint) { return endpoint - endpoint->peer->endpoint; }

tt_ucx_peer *tt_ucx_peer_get(tt_ucx_pipes *pipes, int64_t rank) {
  tt_ucx_peer *peer = pipes->peer[rank];
  if (peer || !(peer = calloc(1, sizeof *peer)))
    return peer;
  assert(rank != pipes->rank && pipes->met_count < pipes->rank_count);
  peer->pipes = pipes;
  peer->rank = rank;
  for (int r = 0; r < TT_RAILS_MOST; r++)
    peer->endpoint[r].peer = peer;
  pipes->peer[rank] = peer;
  pipes->met[pipes->met_count++] = rank;
  return peer;
}

/* ---- endpoints ---- */

/* Of UCX, in a callback: seen to later. */
static void on_failure(void *user, ucp_ep_h ep, ucs_status_t status) {
  tt_ucx_endpoint *endpoint = user;
  (void)ep;
  endpoint->failed = status;
  endpoint->peer->pipes->failed = true;
}

/* As ucx.c has laid them: a count, then (length, bytes) of each rail. Rails belong together by their place. */
static const ucp_address_t *address_of(const tt_ucx_pipes *pipes, int64_t rank, int64_t rail) {
  const unsigned char *at = pipes->addresses + (size_t)rank * pipes->address_stride;
  uint32_t count, bytes;
  memcpy(&count, at, sizeof count);
  assert(le32toh(count) > 0);
  at += sizeof count;
  for (int64_t n = rail % le32toh(count); n > 0; n--) {
    memcpy(&bytes, at, sizeof bytes);
    at += sizeof bytes + le32toh(bytes);
  }
  return (const ucp_address_t *)(at + sizeof bytes);
}

static ucs_status_t open_end(tt_ucx_endpoint *endpoint) {
  assert(!endpoint->ep && endpoint->peer->state == TT_UCX_ALIVE);
  tt_ucx_peer *peer = endpoint->peer;
  tt_ucx_pipes *pipes = peer->pipes;
  int64_t rail = tt_ucx_endpoint_rail(endpoint);
  const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                  .address = address_of(pipes, peer->rank, rail),
                                  .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                  .err_handler = {.cb = on_failure, .arg = endpoint}};
  ucs_status_t status = pipes->ucp.ep_create(pipes->rail[rail].worker, &params, &endpoint->ep);
  peer->reached = peer->reached || status == UCS_OK;
  return status;
}

/* Long packets go where the least waits. */
static int64_t choose_rail(const tt_ucx_peer *peer, size_t bytes) {
  const tt_ucx_pipes *pipes = peer->pipes;
  int64_t first = pipes->first_rail ? pipes->first_rail[peer->rank] : peer->rank, chosen = first % pipes->rail_count;
  for (int64_t n = 1; bytes >= (size_t)tt_options_get()->between.bulk_bytes && n < pipes->rail_count; n++) {
    int64_t other = (first + n) % pipes->rail_count;
    if (pipes->rail[other].leaving_bytes < pipes->rail[chosen].leaving_bytes)
      chosen = other;
  }
  return chosen;
}

tt_ucx_endpoint *tt_ucx_peer_endpoint(tt_ucx_peer *peer, size_t bytes) {
  int64_t rail = choose_rail(peer, bytes);
  tt_ucx_endpoint *endpoint = &peer->endpoint[rail];
  ucs_status_t status = endpoint->ep || peer->state != TT_UCX_ALIVE ? endpoint->failed : open_end(endpoint);
  if (status == UCS_OK && endpoint->ep)
    return endpoint;
  if (!endpoint->ep)
    tt_ucx_peer_lose(peer, rail, peer->had.all > 0 ? "died: it cannot be reached" : "cannot be reached", status);
  return NULL; /* or it is seen to when all that has come is used */
}

/* Without asking the peer: it may be dead, and in UCX 1.13 over tcp both wait for each other for ever. */
static void close_end(tt_ucx_endpoint *endpoint) {
  static const ucp_request_param_t now = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
  tt_ucx_pipes *pipes = endpoint->peer->pipes;
  if (!endpoint->ep)
    return;
  ucs_status_ptr_t request = pipes->ucp.ep_close(endpoint->ep, &now);
  endpoint->ep = NULL;
  while (UCS_PTR_IS_PTR(request) && pipes->ucp.request_status(request) == UCS_INPROGRESS)
    tt_ucx_rails_progress(pipes);
  if (UCS_PTR_IS_PTR(request))
    pipes->ucp.request_free(request);
}

/* ---- who is dead ---- */

static void close_ends(tt_ucx_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST; r++)
    close_end(&peer->endpoint[r]);
}

void tt_ucx_peer_lose(tt_ucx_peer *peer, int64_t rail, const char *how, ucs_status_t why) {
  tt_ucx_pipes *pipes = peer->pipes;
  if (peer->state != TT_UCX_ALIVE)
    return;
  peer->state = peer->leaves || !peer->met ? TT_UCX_LEFT : TT_UCX_DEAD;
  pipes->deaths += peer->state == TT_UCX_DEAD;
  snprintf(peer->why, sizeof peer->why, "%s on NIC %s: %s", how, pipes->rail[rail].nic, pipes->ucp.text(why));
}

void tt_ucx_peers_settle(tt_ucx_pipes *pipes) {
  if (!pipes->failed)
    return;
  pipes->failed = false;
  for (int64_t n = 0; n < pipes->met_count; n++) {
    tt_ucx_peer *peer = pipes->peer[pipes->met[n]];
    for (int64_t r = 0; r < pipes->rail_count; r++)
      if (peer->endpoint[r].ep && peer->endpoint[r].failed != UCS_OK) {
        tt_ucx_peer_lose(peer, r, "died: its endpoint has failed", peer->endpoint[r].failed);
        close_ends(peer);
      }
  }
}

tutti_status tt_ucx_peers_report(tt_ucx_pipes *pipes, int64_t *rank) {
  assert(pipes->deaths > 0);
  for (int64_t n = 0; n < pipes->met_count; n++) {
    tt_ucx_peer *peer = pipes->peer[pipes->met[n]];
    if (peer->state != TT_UCX_DEAD || peer->reported)
      continue;
    peer->reported = true;
    pipes->deaths--;
    *rank = peer->rank;
    return tt_fail(TUTTI_ERR_PEER, "rank %" PRId64 " %s", peer->rank, peer->why);
  }
  return TUTTI_OK;
}

/* ---- what waits in UCX ---- */

static void on_flush(void *request, ucs_status_t status, void *user) {
  tt_ucx_endpoint *endpoint = user;
  tt_ucx_pipes *pipes = endpoint->peer->pipes;
  assert(endpoint->flushing && pipes->requests > 0);
  endpoint->flushing = false;
  (void)status; /* the endpoint's handler says more */
  pipes->requests--;
  pipes->ucp.request_free(request);
}

/* What is sent meanwhile sets `unflushed` again. */
static void start_flush(tt_ucx_endpoint *endpoint) {
  tt_ucx_pipes *pipes = endpoint->peer->pipes;
  const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                     .cb.send = on_flush,
                                     .user_data = endpoint};
  ucs_status_ptr_t request = pipes->ucp.ep_flush(endpoint->ep, &param);
  endpoint->unflushed = false;
  endpoint->flushed_ns = tt_clock_ns();
  endpoint->flushing = UCS_PTR_IS_PTR(request);
  pipes->requests += endpoint->flushing;
}

bool tt_ucx_peer_flush(tt_ucx_peer *peer) {
  bool done = true;
  for (int64_t r = 0; r < peer->pipes->rail_count; r++) {
    tt_ucx_endpoint *endpoint = &peer->endpoint[r];
    if (endpoint->ep && endpoint->failed == UCS_OK && endpoint->unflushed && !endpoint->flushing)
      start_flush(endpoint);
    done = done && !(endpoint->flushing && tt_clock_ns() - endpoint->flushed_ns < PATIENCE_NS);
  }
  return done;
}

/* ---- the end ---- */

void tt_ucx_peers_close(tt_ucx_pipes *pipes) {
  for (int64_t n = 0; n < pipes->met_count; n++)
    close_ends(pipes->peer[pipes->met[n]]);
  while (pipes->requests > 0 && tt_ucx_rails_progress(pipes)) {
  }
  for (int64_t n = 0; n < pipes->met_count; n++) {
    tt_streams_numbers_finish(&pipes->peer[pipes->met[n]]->had);
    free(pipes->peer[pipes->met[n]]);
  }
}

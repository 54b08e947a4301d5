/* transport/ucx/peer.c - what there is to each peer: endpoints, whether they have failed, and what waits in them.
 *
 * A flush may need the peer's progress, as long as the two are being connected, and the peer may be busy elsewhere: so
 * only closing flushes, and waits for it a short while. */
#include "transport/ucx/mail.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_NS INT64_C(1000000) /* for a flush: much longer than one that needs this rank and its NIC takes */

int64_t tt_ucx_way_rail(const tt_ucx_way *way) { return way - way->peer->way; }

tt_ucx_peer *tt_ucx_peer_get(tt_ucx_mail *mail, int64_t rank) {
  tt_ucx_peer *peer = mail->peer[rank];
  if (peer || !(peer = calloc(1, sizeof *peer)))
    return peer;
  assert(rank != mail->rank && mail->met_count < mail->rank_count);
  peer->mail = mail;
  peer->rank = rank;
  for (int r = 0; r < TT_RAILS_MOST; r++)
    peer->way[r].peer = peer;
  mail->peer[rank] = peer;
  mail->met[mail->met_count++] = rank;
  return peer;
}

/* ---- endpoints ---- */

/* Of UCX, in a callback: seen to later. */
static void note_failure(void *user, ucp_ep_h ep, ucs_status_t status) {
  tt_ucx_way *way = user;
  (void)ep;
  way->failed = status;
  way->peer->mail->failed = true;
}

/* As ucx.c has laid them: a count, then (length, bytes) of each rail. Rails belong together by their place. */
static const ucp_address_t *address_of(const tt_ucx_mail *mail, int64_t rank, int64_t rail) {
  const unsigned char *at = mail->addresses + (size_t)rank * mail->address_stride;
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

static ucs_status_t open_end(tt_ucx_way *way) {
  assert(!way->ep && way->peer->state == TT_UCX_ALIVE);
  tt_ucx_peer *peer = way->peer;
  tt_ucx_mail *mail = peer->mail;
  int64_t rail = tt_ucx_way_rail(way);
  const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                  .address = address_of(mail, peer->rank, rail),
                                  .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                  .err_handler = {.cb = note_failure, .arg = way}};
  ucs_status_t status = mail->ucp.ep_create(mail->rail[rail].worker, &params, &way->ep);
  peer->reached = peer->reached || status == UCS_OK;
  return status;
}

/* Long letters go where the least waits. */
static int64_t choose_rail(const tt_ucx_peer *peer, size_t bytes) {
  const tt_ucx_mail *mail = peer->mail;
  int64_t first = mail->first_rail ? mail->first_rail[peer->rank] : peer->rank, chosen = first % mail->rail_count;
  for (int64_t n = 1; bytes >= (size_t)tt_options_get()->between.bulk_bytes && n < mail->rail_count; n++) {
    int64_t other = (first + n) % mail->rail_count;
    if (mail->rail[other].leaving_bytes < mail->rail[chosen].leaving_bytes)
      chosen = other;
  }
  return chosen;
}

tt_ucx_way *tt_ucx_peer_way(tt_ucx_peer *peer, size_t bytes) {
  int64_t rail = choose_rail(peer, bytes);
  tt_ucx_way *way = &peer->way[rail];
  ucs_status_t status = way->ep || peer->state != TT_UCX_ALIVE ? way->failed : open_end(way);
  if (status == UCS_OK && way->ep)
    return way;
  if (!way->ep)
    tt_ucx_peer_lose(peer, rail, peer->had.all > 0 ? "died: it cannot be reached" : "cannot be reached", status);
  return NULL; /* or it is seen to when all that has come is used */
}

/* Without asking the peer: it may be dead, and in UCX 1.13 over tcp both wait for each other for ever. */
static void close_end(tt_ucx_way *way) {
  static const ucp_request_param_t now = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
  tt_ucx_mail *mail = way->peer->mail;
  if (!way->ep)
    return;
  ucs_status_ptr_t request = mail->ucp.ep_close(way->ep, &now);
  way->ep = NULL;
  while (UCS_PTR_IS_PTR(request) && mail->ucp.request_status(request) == UCS_INPROGRESS)
    tt_ucx_rails_progress(mail);
  if (UCS_PTR_IS_PTR(request))
    mail->ucp.request_free(request);
}

/* ---- who is dead ---- */

static void close_ends(tt_ucx_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST; r++)
    close_end(&peer->way[r]);
}

void tt_ucx_peer_lose(tt_ucx_peer *peer, int64_t rail, const char *how, ucs_status_t why) {
  tt_ucx_mail *mail = peer->mail;
  if (peer->state != TT_UCX_ALIVE)
    return;
  peer->state = peer->leaves ? TT_UCX_LEFT : TT_UCX_DEAD;
  mail->deaths += peer->state == TT_UCX_DEAD;
  snprintf(peer->why, sizeof peer->why, "%s on NIC %s: %s", how, mail->rail[rail].nic, mail->ucp.text(why));
}

void tt_ucx_peers_settle(tt_ucx_mail *mail) {
  if (!mail->failed)
    return;
  mail->failed = false;
  for (int64_t n = 0; n < mail->met_count; n++) {
    tt_ucx_peer *peer = mail->peer[mail->met[n]];
    for (int64_t r = 0; r < mail->rail_count; r++)
      if (peer->way[r].ep && peer->way[r].failed != UCS_OK) {
        tt_ucx_peer_lose(peer, r, "died: its endpoint has failed", peer->way[r].failed);
        close_ends(peer);
      }
  }
}

tutti_status tt_ucx_peers_report(tt_ucx_mail *mail, int64_t *rank) {
  assert(mail->deaths > 0);
  for (int64_t n = 0; n < mail->met_count; n++) {
    tt_ucx_peer *peer = mail->peer[mail->met[n]];
    if (peer->state != TT_UCX_DEAD || peer->reported)
      continue;
    peer->reported = true;
    mail->deaths--;
    *rank = peer->rank;
    return tt_fail(TUTTI_ERR_PEER, "rank %" PRId64 " %s", peer->rank, peer->why);
  }
  return TUTTI_OK;
}

/* ---- what waits in UCX ---- */

static void note_flush(void *request, ucs_status_t status, void *user) {
  tt_ucx_way *way = user;
  tt_ucx_mail *mail = way->peer->mail;
  assert(way->flushing && mail->requests > 0);
  way->flushing = false;
  (void)status; /* the endpoint's handler says more */
  mail->requests--;
  mail->ucp.request_free(request);
}

/* What is sent meanwhile sets `unflushed` again. */
static void start_flush(tt_ucx_way *way) {
  tt_ucx_mail *mail = way->peer->mail;
  const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                     .cb.send = note_flush,
                                     .user_data = way};
  ucs_status_ptr_t request = mail->ucp.ep_flush(way->ep, &param);
  way->unflushed = false;
  way->flushed_ns = tt_clock_ns();
  way->flushing = UCS_PTR_IS_PTR(request);
  mail->requests += way->flushing;
}

bool tt_ucx_peer_flush(tt_ucx_peer *peer) {
  bool done = true;
  for (int64_t r = 0; r < peer->mail->rail_count; r++) {
    tt_ucx_way *way = &peer->way[r];
    if (way->ep && way->failed == UCS_OK && way->unflushed && !way->flushing)
      start_flush(way);
    done = done && !(way->flushing && tt_clock_ns() - way->flushed_ns < PATIENCE_NS);
  }
  return done;
}

/* ---- the end ---- */

void tt_ucx_peers_close(tt_ucx_mail *mail) {
  for (int64_t n = 0; n < mail->met_count; n++)
    close_ends(mail->peer[mail->met[n]]);
  while (mail->requests > 0 && tt_ucx_rails_progress(mail)) {
  }
  for (int64_t n = 0; n < mail->met_count; n++) {
    tt_streams_numbers_finish(&mail->peer[mail->met[n]]->had);
    free(mail->peer[mail->met[n]]);
  }
}

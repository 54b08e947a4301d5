/* transport/ucx/mail.c - letters as active messages: ucp_am_send_nbx of head and data, which lie behind each other;
 * UCX's header has the job's key. What arrival.c has put aside is used when UCX has returned.
 *
 * Closing waits until each peer has said that it has had all, since what UCX has taken may be lost with the connection.
 */
#include "transport/ucx/mail.h"

#include <assert.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

enum { FLUSH_LOOK_MS = 5 };

static tutti_status no_memory(int64_t rank) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for data to rank %" PRId64, rank);
}

/* ---- letters that go ---- */

/* It needs this rank no more, or never will. */
static void end_letter(tt_ucx_mail *mail, tt_streams_letter *letter) {
  if (letter->number > 0)
    tt_streams_note_sent(mail->streams, letter->stream, -1);
  tt_streams_pool_give(&mail->pool, letter);
}

static void note_sent(void *request, ucs_status_t status, void *user) {
  tt_streams_letter *letter = user;
  tt_ucx_mail *mail = letter->post;
  (void)status; /* the endpoint's handler says more */
  assert(mail->requests > 0 && mail->rail[letter->rail].leaving_bytes >= letter->bytes);
  mail->requests--;
  mail->rail[letter->rail].leaving_bytes -= letter->bytes;
  mail->ucp.request_free(request);
  end_letter(mail, letter);
}

static void post_take(tt_ucx_mail *mail, tt_ucx_way *way, tt_streams_letter *letter) {
  assert(way->ep && tt_ucx_way_rail(way) < mail->rail_count);
  const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                     .cb.send = note_sent,
                                     .user_data = letter};
  letter->post = mail;
  letter->rail = (uint8_t)tt_ucx_way_rail(way);
  way->unflushed = true;
  ucs_status_ptr_t request =
      mail->ucp.send(way->ep, 0, &mail->front, sizeof mail->front, tt_streams_letter_wire(letter),
                     tt_streams_letter_wire_bytes(letter), &param);
  if (UCS_PTR_IS_PTR(request)) {
    mail->requests++;
    mail->rail[letter->rail].leaving_bytes += letter->bytes;
    return;
  }
  if (UCS_PTR_IS_ERR(request)) {
    way->failed = UCS_PTR_STATUS(request);
    mail->failed = true;
  }
  end_letter(mail, letter);
}

/* number: 0 for a letter of this transport's own. */
static tutti_status send_take(tt_ucx_mail *mail, tt_ucx_peer *peer, tt_streams_letter *letter, uint64_t number) {
  tt_streams_letter_seal(letter, number);
  tt_ucx_way *way = peer->state == TT_UCX_ALIVE ? tt_ucx_peer_way(peer, letter->bytes) : NULL;
  if (way)
    post_take(mail, way, letter);
  else
    end_letter(mail, letter);
  return TUTTI_OK;
}

tutti_status tt_ucx_mail_send_take(void *user, tt_streams_letter *letter) {
  tt_ucx_mail *mail = user;
  tt_ucx_peer *peer = tt_ucx_peer_get(mail, letter->peer);
  if (!peer) {
    tutti_status status = no_memory(letter->peer);
    tt_streams_pool_give(&mail->pool, letter);
    return status;
  }
  return send_take(mail, peer, letter, ++peer->last_letter);
}

static tutti_status say(tt_ucx_mail *mail, tt_ucx_peer *peer, const tt_streams_head *head) {
  tt_streams_letter *letter = tt_streams_pool_take(&mail->pool, 0);
  if (!letter)
    return no_memory(peer->rank);
  letter->peer = peer->rank;
  letter->head = *head;
  return send_take(mail, peer, letter, head->kind == TT_STREAMS_BYE ? ++peer->last_letter : 0);
}

tutti_status tt_ucx_mail_credit(void *user, int64_t rank, uint64_t stream, uint32_t count, bool now) {
  tt_ucx_mail *mail = user;
  tt_ucx_peer *peer = mail->peer[rank];
  (void)now;
  return peer ? say(mail, peer, &(tt_streams_head){.kind = TT_UCX_CREDIT, .stream = stream, .slot = count}) : TUTTI_OK;
}

/* ---- letters that have come ---- */

static void keep_first(tt_ucx_mail *mail, tutti_status status) {
  if (mail->status == TUTTI_OK)
    mail->status = status;
}

static void take_own(tt_ucx_mail *mail, tt_ucx_peer *peer, tt_streams_letter *letter) {
  const tt_streams_head *head = &letter->head;
  if (head->kind == TT_UCX_CREDIT)
    tt_streams_note_released(mail->streams, peer->rank, head->stream, head->slot);
  peer->had_goodbye = peer->had_goodbye || head->kind == TT_UCX_HAD;
  tt_streams_pool_give(&mail->pool, letter);
}

static tutti_status take_numbered(tt_ucx_mail *mail, tt_ucx_peer *peer, tt_streams_letter *letter) {
  tt_streams_head *head = &letter->head;
  const char *wrong = tt_streams_head_check(head);
  if (!wrong && head->bytes != letter->bytes)
    wrong = "the letter's length";
  if (!wrong && tt_streams_numbers_has(&peer->had, head->letter))
    wrong = "the letter's number, which was used before,";
  tutti_status status = wrong ? tt_fail(TUTTI_ERR_SYSTEM, "%s from rank %" PRId64 " is wrong", wrong, peer->rank)
                              : tt_streams_numbers_add(&peer->had, head->letter, head->letter);
  if (status == TUTTI_OK && head->kind != TT_STREAMS_BYE)
    return tt_streams_deliver_take(mail->streams, letter);
  if (status == TUTTI_OK) {
    peer->leaves = true;
    peer->goodbye = head->letter;
  }
  tt_streams_pool_give(&mail->pool, letter);
  return status;
}

/* Who leaves waits for the answer. */
static void answer(tt_ucx_mail *mail, tt_ucx_peer *peer) {
  if (!peer->reached && peer->state == TT_UCX_ALIVE)
    keep_first(mail, say(mail, peer, &(tt_streams_head){.kind = TT_UCX_HELLO}));
  if (peer->state == TT_UCX_ALIVE && peer->leaves && peer->had.all >= peer->goodbye) {
    keep_first(mail, say(mail, peer, &(tt_streams_head){.kind = TT_UCX_HAD}));
    peer->state = TT_UCX_LEFT;
  }
}

static void use_all(tt_ucx_mail *mail) {
  while (mail->came.first) {
    tt_streams_letter *letter = tt_streams_queue_remove(&mail->came);
    tt_ucx_peer *peer = tt_ucx_peer_get(mail, letter->peer);
    mail->news = true;
    if (!peer) {
      keep_first(mail, no_memory(letter->peer));
      tt_streams_pool_give(&mail->pool, letter);
      continue;
    }
    tt_streams_head_turn(&letter->head);
    letter->number = letter->head.letter;
    letter->stream = letter->head.stream;
    if (letter->head.kind >= TT_STREAMS_OWN)
      take_own(mail, peer, letter);
    else
      keep_first(mail, take_numbered(mail, peer, letter));
    answer(mail, peer);
  }
}

/* What has come is used first, the goodbye above all. */
static void move(tt_ucx_mail *mail) {
  tt_ucx_rails_progress(mail);
  use_all(mail);
  tt_ucx_peers_settle(mail);
}

tutti_status tt_ucx_mail_progress(tt_ucx_mail *mail, int64_t *rank) {
  bool died = mail->deaths > 0; /* one look later, so that what has come with it can be used first */
  move(mail);
  if (mail->status != TUTTI_OK)
    return mail->status;
  return died ? tt_ucx_peers_report(mail, rank) : TUTTI_OK;
}

uint64_t tt_ucx_mail_had(void *mail, int64_t rank) {
  const tt_ucx_peer *peer = ((tt_ucx_mail *)mail)->peer[rank];
  return peer ? peer->had.all : 0;
}

int tt_ucx_mail_dead(void *user, int64_t rank) {
  const tt_ucx_mail *mail = user;
  return rank >= 0 && rank < mail->rank_count && mail->peer[rank] ? (int)mail->peer[rank]->state : 0;
}

/* ---- goodbye ---- */

static bool has_failed(const tt_ucx_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->way[r].failed != UCS_OK)
      return true;
  return peer->state == TT_UCX_DEAD;
}

static bool all_done(tt_ucx_mail *mail) {
  bool done = true;
  for (int64_t n = 0; n < mail->met_count; n++) {
    tt_ucx_peer *peer = mail->peer[mail->met[n]];
    bool over = has_failed(peer) || ((peer->had_goodbye || !peer->said_goodbye) && tt_ucx_peer_flush(peer));
    done = done && over;
  }
  return done;
}

void tt_ucx_mail_flush(tt_ucx_mail *mail, int64_t timeout_ns) {
  int64_t until_ns = tt_clock_until(timeout_ns);
  move(mail);
  for (int64_t n = 0; n < mail->met_count; n++) {
    tt_ucx_peer *peer = mail->peer[mail->met[n]];
    peer->said_goodbye =
        peer->state == TT_UCX_ALIVE && say(mail, peer, &(tt_streams_head){.kind = TT_STREAMS_BYE}) == TUTTI_OK;
  }
  while (!all_done(mail) && tt_clock_ns() < until_ns) {
    struct pollfd ready = {.fd = tt_ucx_rails_descriptor(mail), .events = POLLIN};
    poll(&ready, 1, FLUSH_LOOK_MS);
    move(mail);
  }
}

void tt_ucx_mail_finish(tt_ucx_mail *mail) {
  tt_ucx_peers_close(mail);
  while (mail->came.first)
    tt_streams_pool_give(&mail->pool, tt_streams_queue_remove(&mail->came));
  tt_ucx_rails_close(mail);
  tt_streams_pool_finish(&mail->pool);
  free(mail->peer);
  free(mail->met);
}

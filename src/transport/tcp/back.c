/* transport/tcp/back.c - what comes from a peer, and what is said back to it.
 *
 * Letters are acknowledged some at a time, with credits that can not wait, or when the rank leaves: a sender keeps what
 * is not acknowledged, which its credits bound, so no clock is needed. After a failure everything is said again, since
 * what was on its way back is lost with the connection. */
#include "transport/tcp/peer.h"

#include <assert.h>
#include <inttypes.h>

enum {
  OWED_LETTERS = 8,
  OWED_BYTES = 128 << 10,
  RANGES = 64,            /* of letters that are said at once: the others when those before them have come */
  TURN_BYTES = 512 << 10, /* that one connection may bring before others have their turn */
  DRAINS = 64
};

/* ---- letters that come ---- */

static tt_tcp_peer *peer_of(const tt_tcp_pipes *pipes, const tt_tcp_link *link) { return pipes->peer[link->peer]; }

static tt_tcp_fate lacks(tt_tcp_pipes *pipes, tutti_status status) {
  pipes->status = status;
  return TT_TCP_LACKS;
}

static tt_tcp_fate begin(void *user, tt_tcp_link *link, const tt_streams_head *head, tt_streams_letter **letter) {
  tt_tcp_pipes *pipes = user;
  assert(!link->called); /* letters come on connections that others have called */
  tt_tcp_peer *peer = peer_of(pipes, link);
  peer->says_all = peer->says_all || head->again;
  if (peer->leaves && head->letter > peer->goodbye) {
    link->why = "a letter after the last one";
    return TT_TCP_WRONG;
  }
  if (tt_streams_numbers_has(&peer->had, head->letter))
    return TT_TCP_GOES;
  *letter = tt_streams_pool_take(&pipes->pool, head->bytes);
  return *letter ? TT_TCP_GOES
                 : lacks(pipes, tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRIu32 " bytes from rank %" PRId64,
                                        head->bytes, link->peer));
}

static void note_leaving(tt_tcp_peer *peer, uint64_t last) {
  peer->leaves = true;
  peer->goodbye = last;
}

static tt_tcp_fate deliver_take(void *user, tt_tcp_link *link, tt_streams_letter *letter) {
  tt_tcp_pipes *pipes = user;
  tt_tcp_peer *peer = peer_of(pipes, link);
  bool twice = tt_streams_numbers_has(&peer->had, letter->number); /* meanwhile, on another rail */
  tutti_status status = twice ? TUTTI_OK : tt_streams_numbers_add(&peer->had, letter->number, letter->number);
  if (letter->head.kind == TT_STREAMS_BYE && !status)
    note_leaving(peer, letter->number);
  pipes->news = true;
  peer->owed_letters++;
  peer->owed_bytes += letter->bytes;
  if (twice || status || letter->head.kind == TT_STREAMS_BYE)
    tt_streams_pool_give(&pipes->pool, letter);
  else
    status = pipes->spec.owner.deliver_take(pipes->spec.owner.user, letter);
  return status ? lacks(pipes, status) : TT_TCP_GOES;
}

/* ---- words that come ---- */

static tt_tcp_fate word(void *user, tt_tcp_link *link, tt_tcp_word said) {
  tt_tcp_pipes *pipes = user;
  assert(link->called);
  tt_tcp_peer *peer = peer_of(pipes, link);
  const tt_tcp_owner *owner = &pipes->spec.owner;
  tt_tcp_fate fate = TT_TCP_GOES;
  pipes->news = true;
  switch (said.kind) {
  case TT_TCP_HAD:
    fate = tt_tcp_peer_acknowledge(pipes, peer, said.first, said.last);
    break;
  case TT_TCP_RELEASED:
    owner->released(owner->user, link->peer, said.first, said.count);
    break;
  case TT_TCP_LEAVES:
    note_leaving(peer, said.last);
    break;
  default:
    fate = TT_TCP_WRONG;
  }
  if (fate == TT_TCP_WRONG)
    link->why = "a word on the way back";
  return fate;
}

/* ---- words that go ---- */

static tutti_status add(tt_tcp_link *link, tt_tcp_word_kind kind, uint64_t first, uint64_t last) {
  return tt_tcp_words_add(&link->words, (tt_tcp_word){.kind = kind, .first = first, .last = last});
}

static void add_had(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_link *link) {
  assert(!link->called && link->peer == peer->rank);
  const tt_streams_numbers *had = &peer->had;
  tutti_status status = had->all > 0 ? add(link, TT_TCP_HAD, 1, had->all) : TUTTI_OK;
  for (size_t n = 0; n < had->count && n < RANGES && !status; n++)
    status = add(link, TT_TCP_HAD, had->range[n].first, had->range[n].last);
  peer->owed_letters = 0;
  peer->owed_bytes = 0;
  if (status)
    pipes->status = status;
}

void tt_tcp_peer_say_on(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_link *link) {
  tt_tcp_fate fate = tt_tcp_link_say(link);
  tt_tcp_peer_watch(pipes, link, link->full);
  if (fate != TT_TCP_GOES)
    tt_tcp_peer_retire(pipes, peer, link, fate);
}

void tt_tcp_peer_say(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  tt_tcp_link *link = peer->back;
  if (!link)
    return;
  if (peer->owed_letters > 0)
    add_had(pipes, peer, link);
  tt_tcp_peer_say_on(pipes, peer, link);
}

static void add_goodbye(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_link *link) {
  tutti_status status = add(link, TT_TCP_LEAVES, 0, peer->last_letter);
  if (status)
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
  for (tt_tcp_link *link = peer->in, *next; link; link = next) {
    next = link->next;
    add_had(pipes, peer, link);
    add_goodbye(pipes, peer, link);
    tt_tcp_peer_say_on(pipes, peer, link);
  }
}

/* ---- reading ---- */

static tt_tcp_reader reader_of(tt_tcp_pipes *pipes) {
  return (tt_tcp_reader){.begin = begin, .deliver_take = deliver_take, .word = word, .user = pipes};
}

static tt_tcp_fate read_link(tt_tcp_pipes *pipes, tt_tcp_link *link) {
  const tt_tcp_reader reader = reader_of(pipes);
  return tt_tcp_link_read(link, TURN_BYTES, pipes->scratch, &reader);
}

void tt_tcp_peer_drain(tt_tcp_pipes *pipes, tt_tcp_link *link) {
  for (int n = 0; n < DRAINS; n++) {
    uint64_t received = link->received;
    if (read_link(pipes, link) != TT_TCP_GOES || link->received == received)
      break;
  }
}

void tt_tcp_peer_settle(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  bool left = peer->state == TT_TCP_ALIVE && tt_tcp_peer_has_left(peer);
  if (left)
    tt_tcp_peer_drop(pipes, peer, TT_TCP_LEFT);
  if (peer->says_all)
    say_all(pipes, peer);
  if (left || peer->owed_letters >= OWED_LETTERS || peer->owed_bytes >= OWED_BYTES)
    tt_tcp_peer_say(pipes, peer); /* who leaves waits for it */
  if (peer->waiting.first)
    tt_tcp_peer_dispatch(pipes, peer);
}

void tt_tcp_peer_read(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_link *link) {
  tt_tcp_fate fate = read_link(pipes, link);
  if (!link->called) {
    peer->back = link;
    tt_tcp_peer_count(pipes, link);
  }
  if (fate != TT_TCP_GOES)
    tt_tcp_peer_retire(pipes, peer, link, fate);
}

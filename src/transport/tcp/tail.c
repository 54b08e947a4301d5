/* transport/tcp/tail.c - what was lost with nothing behind it.
 *
 * A system tells what it lacks as soon as something comes behind that. Behind the last segment nothing comes: then the
 * sender's system asks by itself, mostly after 0.2 s. It waits as long where its own queue has dropped a segment while
 * nothing else was under way. Many that send to one at once, as in an all-to-all, meet both: 20 ms became 220. Where
 * bytes are under way and nothing has moved between two looks, what waits is pushed, and a nudge is put behind it. */
#include "transport/tcp/peer.h"

enum { NUDGES = 3 }; /* what is stuck for longer has another reason */

static struct tt_tcp_tail tail_of(const tt_tcp_connection *connection) {
  return (struct tt_tcp_tail){.sent = connection->moved - connection->received,
                              .in_flight = tt_tcp_connection_in_flight(connection),
                              .nudges = connection->tail.nudges};
}

static void look(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection) {
  struct tt_tcp_tail now = tail_of(connection);
  bool stuck = now.in_flight > 0 && now.in_flight == connection->tail.in_flight && now.sent == connection->tail.sent;
  connection->tail = now;
  connection->tail.nudges = stuck ? now.nudges + 1 : 0;
  if (!stuck || now.nudges >= NUDGES)
    return;
  tt_tcp_fate fate = TT_TCP_GOES;
  if (connection->called)
    fate = tt_tcp_connection_nudge(connection);
  else
    tt_tcp_peer_say_again(pipes, peer, connection);
  if (fate != TT_TCP_GOES)
    tt_tcp_peer_retire(pipes, peer, connection, fate);
  if (connection->fd >= 0)
    connection->tail = tail_of(connection); /* the nudge is in flight, too */
}

void tt_tcp_peer_look_at_tails(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST && peer->state == TT_TCP_ALIVE; r++)
    if (peer->path[r].connection && peer->path[r].connection->sent.first)
      look(pipes, peer, peer->path[r].connection);
  for (tt_tcp_connection *connection = peer->in, *next; connection && peer->state == TT_TCP_ALIVE; connection = next) {
    next = connection->next;
    look(pipes, peer, connection);
  }
}

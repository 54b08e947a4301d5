/* transport/tcp/reach.c - calling peers, and who is dead.
 *
 *     traffic, nothing open    the preferred rail is called; another one when that takes long
 *     much traffic             all rails are
 *     a rail has failed        it is called again now and then, as long as there is traffic
 *     all ended, no goodbye    the peer is called; nobody listens there: it is dead
 *
 * One that was only asked something, and was never reached, has left: it may have done its part through others.
 *
 * A machine that can not be reached at all, and has not closed its connections either, may come back: it is never taken
 * for dead. */
#include "transport/tcp/calls.h"
#include "transport/tcp/peer.h"
#include "transport/tcp/socket.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS (TT_TCP_SECOND / 50)
#define CONNECTIONS_NS (TT_TCP_SECOND / 5) /* between two looks at silent connections */
#define NICS_NS (TT_TCP_SECOND / 4)
#define CALL_NS                                                                                                        \
  (3 * TT_TCP_SECOND / 2) /* for an answer: TCP asks again after a second; twice as long after each call
                                           that was taken and not answered */
#define DOUBLINGS 5
#define NEXT_NS (TT_TCP_SECOND / 10)   /* then another rail is called as well */
#define ENDED_NS (3 * TT_TCP_SECOND)   /* for reaching a peer whose machine has closed its connections */
#define COUNTED_NS (TT_TCP_SECOND / 2) /* of the time between two looks */
#define REFUSED_NS TT_TCP_SECOND       /* for connections to end whose process has */

/* ---- which rail, which address ---- */

static const tt_tcp_host *own_host(const tt_tcp_pipes *pipes) { return &pipes->spec.host[pipes->spec.rank]; }

int32_t tt_tcp_reach_rail(const tt_tcp_pipes *pipes, const tt_tcp_peer *peer, int64_t n) {
  int64_t first = pipes->spec.first_rail ? pipes->spec.first_rail[peer->rank] : peer->rank;
  assert(first >= 0 && n >= 0);
  return (int32_t)((first + n) % own_host(pipes)->rail_count);
}

static const unsigned char *bytes_of(const tt_rail *rail, int32_t *bits) {
  bool six = rail->address.ss_family == AF_INET6;
  *bits = six ? 128 : 32;
  return six ? ((const struct sockaddr_in6 *)(const void *)&rail->address)->sin6_addr.s6_addr
             : (const unsigned char *)&((const struct sockaddr_in *)(const void *)&rail->address)->sin_addr;
}

/* A network of one address is none. */
static bool same_network(const tt_rail *a, const tt_rail *b) {
  int32_t bits, prefix = a->prefix_bits;
  if (a->address.ss_family != b->address.ss_family || prefix != b->prefix_bits)
    return false;
  const unsigned char *x = bytes_of(a, &bits), *y = bytes_of(b, &bits);
  if (prefix <= 0 || prefix >= bits || memcmp(x, y, (size_t)prefix / 8) != 0)
    return false;
  unsigned rest = (unsigned)prefix % 8;
  return rest == 0 || (x[prefix / 8] ^ y[prefix / 8]) >> (8 - rest) == 0;
}

/* Which of the host's rails in that network, counted from the `place`-th on and round; NULL: none. */
static const tt_rail *find_alike(const tt_tcp_host *host, const tt_rail *rail, int64_t place,
                                 bool (*alike)(const tt_rail *a, const tt_rail *b)) {
  const tt_rail *found[TT_RAILS_MOST];
  int64_t count = 0;
  for (int64_t n = 0; n < host->rail_count; n++)
    if (alike(rail, &host->rail[n]))
      found[count++] = &host->rail[n];
  return count > 0 ? found[place % count] : NULL;
}

static bool same_family(const tt_rail *a, const tt_rail *b) { return a->address.ss_family == b->address.ss_family; }

/* How many of this rank's rails before it are in its network. */
static int64_t place_in_network(const tt_tcp_host *host, const tt_rail *rail) {
  int64_t place = 0;
  for (const tt_rail *other = host->rail; other != rail; other++)
    place += same_network(rail, other);
  return place;
}

static const tt_rail *opposite(const tt_tcp_pipes *pipes, int64_t peer, int32_t rail) {
  const tt_rail *own = &own_host(pipes)->rail[rail];
  const tt_tcp_host *host = &pipes->spec.host[peer];
  const tt_rail *found = find_alike(host, own, place_in_network(own_host(pipes), own), same_network);
  return found ? found : find_alike(host, own, rail, same_family);
}

/* ---- calls ---- */

static int64_t later(tt_tcp_pipes *pipes, int64_t now_ns) {
  return now_ns + TT_TCP_SECOND / 2 + (int64_t)tt_random_below(&pipes->random, (uint64_t)TT_TCP_SECOND / 2);
}

static void call(tt_tcp_pipes *pipes, tt_tcp_peer *peer, int32_t rail, int64_t now_ns) {
  tt_tcp_path *path = &peer->path[rail];
  assert(!path->connection && !path->calling);
  const tt_rail *theirs = opposite(pipes, peer->rank, rail);
  path->again_ns = later(pipes, now_ns);
  if (!theirs)
    return;
  struct sockaddr_storage address = theirs->address;
  if (address.ss_family == AF_INET6) /* link-local: which NIC it belongs to is this machine's business */
    ((struct sockaddr_in6 *)&address)->sin6_scope_id =
        ((const struct sockaddr_in6 *)(const void *)&own_host(pipes)->rail[rail].address)->sin6_scope_id;
  int64_t patience_ns = CALL_NS << (path->taken < DOUBLINGS ? path->taken : DOUBLINGS);
  path->calling = tt_tcp_door_call(pipes->spec.door, peer->rank, rail, &address, patience_ns) == TUTTI_OK;
  path->called_ns = now_ns;
}

static bool all_down(const tt_tcp_pipes *pipes) {
  for (int64_t r = 0; r < own_host(pipes)->rail_count; r++)
    if (!pipes->down[r])
      return false;
  return true;
}

/* A first connection: one call at a time, unless it takes long. */
static bool is_patient(const tt_tcp_peer *peer, int64_t now_ns) {
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->path[r].calling && now_ns - peer->path[r].called_ns < NEXT_NS)
      return true;
  return false;
}

static bool has_path(const tt_tcp_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->path[r].connection)
      return true;
  return false;
}

static bool is_busy(const tt_tcp_peer *peer) {
  return peer->suspect || peer->refused || peer->waiting.first || peer->unacknowledged > 0;
}

void tt_tcp_reach(tt_tcp_pipes *pipes, tt_tcp_peer *peer, int64_t now_ns) {
  bool open = has_path(peer), none_up = all_down(pipes);
  if (peer->state != TT_TCP_ALIVE || !(is_busy(peer) || (peer->cut && !open)))
    return;
  for (int64_t n = 0; n < own_host(pipes)->rail_count; n++) {
    int32_t rail = tt_tcp_reach_rail(pipes, peer, n);
    const tt_tcp_path *path = &peer->path[rail];
    if (path->connection || path->calling || path->again_ns > now_ns || (pipes->down[rail] && !none_up))
      continue;
    if (open ? peer->bulk || path->retired : !is_patient(peer, now_ns))
      call(pipes, peer, rail, now_ns);
  }
}

/* ---- death ---- */

static void die(tt_tcp_pipes *pipes, tt_tcp_peer *peer) {
  assert(peer->state == TT_TCP_ALIVE);
  if (tt_tcp_peer_has_left(peer))
    return;
  if (!peer->met) {
    tt_log(TT_LOG_INFO, "tcp: rank %" PRId64 " has left: nobody listens there", peer->rank);
    tt_tcp_peer_drop(pipes, peer, TT_TCP_LEFT);
    return;
  }
  tt_log(TT_LOG_INFO, "tcp: rank %" PRId64 " is dead: %s", peer->rank,
         peer->refused ? "nobody listens there" : "its connections have ended, and it cannot be reached");
  tt_tcp_peer_drop(pipes, peer, TT_TCP_DEAD);
  pipes->deaths++;
}

static bool is_open(const tt_tcp_peer *peer) { return peer->in || has_path(peer); }

static bool all_refuse(const tt_tcp_pipes *pipes, const tt_tcp_peer *peer) {
  for (int64_t r = 0; r < own_host(pipes)->rail_count; r++)
    if (!peer->path[r].refused)
      return false;
  return true;
}

void tt_tcp_reach_lose(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_fate fate) {
  if (peer->state != TT_TCP_ALIVE || tt_tcp_peer_has_left(peer) || (pipes->leaves && peer->unacknowledged == 0))
    return;
  int64_t now_ns = tt_clock_ns();
  peer->ended = !is_open(peer) && (peer->ended || fate == TT_TCP_ENDED);
  if (!is_open(peer) && all_refuse(pipes, peer)) {
    die(pipes, peer);
    return;
  }
  if (!is_open(peer) && !peer->suspect) {
    peer->suspect = true;
    peer->suspect_ns = now_ns;
  }
  tt_tcp_reach(pipes, peer, now_ns);
}

/* Other rails are asked, too: on this one somebody in between may have refused. Connections whose process has ended
 * will end; what they still bring, a goodbye perhaps, is read before. */
static void refuse(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_path *path, int64_t now_ns) {
  if (peer->state != TT_TCP_ALIVE)
    return;
  if (!peer->refused)
    peer->refused_ns = now_ns;
  peer->refused = path->refused = true;
  path->again_ns = later(pipes, now_ns);
  if (!is_open(peer) && all_refuse(pipes, peer))
    die(pipes, peer);
  else
    tt_tcp_reach(pipes, peer, now_ns);
}

static void accept_life(tt_tcp_peer *peer) {
  peer->suspect = peer->ended = peer->refused = false;
  for (int r = 0; r < TT_RAILS_MOST; r++) {
    peer->path[r].refused = false;
    peer->path[r].taken = 0;
  }
}

/* Its process was there at the last call, and one that waits longer for its answer has not ended. */
static bool is_awaited(const tt_tcp_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->path[r].calling && peer->path[r].taken > 0)
      return true;
  return false;
}

/* A rail that does not refuse: the peer's system has taken a call there, or may take one. */
static bool may_answer(const tt_tcp_peer *peer) {
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (!peer->path[r].refused && (peer->path[r].calling || peer->path[r].taken > 0))
      return true;
  return false;
}

/* After the time in which connections of a process that has ended would have ended as well. Where some rail does not
 * refuse, one call of it may have been lost. */
static bool is_dead(const tt_tcp_pipes *pipes, tt_tcp_peer *peer, int64_t now_ns) {
  int64_t enough_ns = all_refuse(pipes, peer) ? REFUSED_NS : ENDED_NS;
  bool waited = peer->refused && now_ns - peer->refused_ns > REFUSED_NS;
  if (waited && is_open(peer))
    accept_life(peer);
  else if (waited && !may_answer(peer) && now_ns - peer->refused_ns > enough_ns)
    return true;
  return peer->suspect && peer->ended && !is_awaited(peer) && now_ns - peer->suspect_ns > ENDED_NS;
}

/* ---- arrivals ---- */

/* Once for each peer. */
static void warn_of(const tt_tcp_pipes *pipes, tt_tcp_peer *peer, const tt_tcp_arrival *arrival) {
  const tt_rail *theirs = opposite(pipes, peer->rank, arrival->rail);
  bool known = !theirs || is_open(peer) || arrival->taken || tt_tcp_is_shortage(arrival->error);
  char name[TT_TCP_NAME_BYTES];
  if (known || peer->warned)
    return;
  peer->warned = true;
  tt_tcp_socket_name(&theirs->address, name);
  tt_log(TT_LOG_WARN, "tcp: rank %" PRId64 " cannot be reached at %s from NIC %.16s: %s; this rank goes on trying",
         peer->rank, name, own_host(pipes)->rail[arrival->rail].name, strerror(arrival->error));
}

/* A peer whose system takes calls is there, and computes. A shortage here says nothing of it. */
static void fail_call(tt_tcp_pipes *pipes, tt_tcp_peer *peer, const tt_tcp_arrival *arrival) {
  assert(arrival->called && arrival->fd < 0);
  int64_t now_ns = tt_clock_ns();
  tt_tcp_path *path = &peer->path[arrival->rail];
  path->taken = arrival->taken ? path->taken + 1 : 0;
  if (arrival->taken || tt_tcp_is_shortage(arrival->error))
    peer->suspect_ns = now_ns;
  if (tt_tcp_is_shortage(arrival->error))
    peer->refused_ns = now_ns;
  if (arrival->refused) {
    refuse(pipes, peer, path, now_ns);
    return;
  }
  warn_of(pipes, peer, arrival);
  path->again_ns = later(pipes, now_ns);
  tt_tcp_reach(pipes, peer, now_ns);
}

/* One that has come in, or has been answered. */
static void welcome(tt_tcp_pipes *pipes, tt_tcp_peer *peer, const tt_tcp_arrival *arrival) {
  assert(arrival->fd >= 0 && arrival->peer == peer->rank);
  bool useless = arrival->called && (peer->state != TT_TCP_ALIVE || peer->path[arrival->rail].connection);
  if (useless || peer->state == TT_TCP_DEAD) {
    tt_tcp_socket_close(arrival->fd);
    return;
  }
  tutti_status status = tt_tcp_peer_connect(pipes, arrival);
  if (status != TUTTI_OK) {
    pipes->status = status;
    return;
  }
  accept_life(peer);
  if (arrival->called) {
    tt_tcp_peer_dispatch(pipes, peer);
    tt_tcp_reach(pipes, peer, tt_clock_ns());
    return;
  }
  peer->says_all = peer->says_all || peer->had.all > 0 || peer->had.count > 0 || pipes->leaves;
  tt_tcp_peer_settle(pipes, peer);
}

void tt_tcp_reach_arrive(tt_tcp_pipes *pipes, const tt_tcp_arrival *arrival) {
  bool known = arrival->peer >= 0 && arrival->peer < pipes->spec.rank_count && arrival->peer != pipes->spec.rank &&
               arrival->rail >= 0 && arrival->rail < own_host(pipes)->rail_count;
  tt_tcp_peer *peer = known ? tt_tcp_peer_get(pipes, arrival->peer) : NULL;
  if (known && !peer)
    pipes->status = tt_fail(TUTTI_ERR_MEMORY, "no memory for the state of rank %" PRId64, arrival->peer);
  if (peer && arrival->called)
    peer->path[arrival->rail].calling = false;
  if (peer && arrival->fd >= 0)
    welcome(pipes, peer, arrival);
  else if (peer)
    fail_call(pipes, peer, arrival);
  else if (arrival->fd >= 0)
    tt_tcp_socket_close(arrival->fd);
}

/* ---- from time to time ---- */

static void give_up(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection, const char *why) {
  connection->why = why;
  tt_tcp_peer_retire(pipes, peer, connection, TT_TCP_BROKEN);
}

static void give_up_if(tt_tcp_pipes *pipes, tt_tcp_peer *peer, tt_tcp_connection *connection,
                       bool look_at_connections) {
  if (pipes->down[connection->rail] && !all_down(pipes))
    give_up(pipes, peer, connection, "the NIC is down");
  else if (look_at_connections && tt_tcp_connection_is_silent(connection))
    give_up(pipes, peer, connection, "no answer");
}

static void look_at_peer(tt_tcp_pipes *pipes, tt_tcp_peer *peer, bool look_at_connections, int64_t now_ns) {
  for (int r = 0; r < TT_RAILS_MOST; r++)
    if (peer->path[r].connection)
      give_up_if(pipes, peer, peer->path[r].connection, look_at_connections && peer->path[r].connection->sent.first);
  for (tt_tcp_connection *connection = peer->in, *next; connection; connection = next) {
    next = connection->next;
    give_up_if(pipes, peer, connection, look_at_connections);
  }
  if (peer->state == TT_TCP_ALIVE && is_dead(pipes, peer, now_ns))
    die(pipes, peer);
  tt_tcp_peer_look_at_tails(pipes, peer);
  tt_tcp_reach(pipes, peer, now_ns);
  tt_tcp_peer_settle(pipes, peer);
}

static bool any_down(const tt_tcp_pipes *pipes) {
  for (int64_t r = 0; r < own_host(pipes)->rail_count; r++)
    if (pipes->down[r])
      return true;
  return false;
}

/* Only while something is on its way, or a NIC was down at the last look: a rank that has nothing to do with others
 * costs nothing. */
static void look_at_nics(tt_tcp_pipes *pipes, int64_t now_ns) {
  bool busy = any_down(pipes);
  for (int64_t n = 0; n < pipes->met_count && !busy; n++) {
    const tt_tcp_peer *peer = pipes->peer[pipes->met[n]];
    busy = peer->state == TT_TCP_ALIVE && is_busy(peer);
  }
  if (!busy || now_ns - pipes->nics_ns < NICS_NS)
    return;
  pipes->nics_ns = now_ns;
  for (int64_t r = 0; r < own_host(pipes)->rail_count; r++)
    pipes->down[r] = tt_tcp_nic_is_down(pipes->counts[r].name);
}

bool tt_tcp_reach_is_time(const tt_tcp_pipes *pipes, int64_t now_ns) { return now_ns - pipes->looked_ns >= LOOK_NS; }

static void shift(int64_t *since_ns, int64_t looked_ns, int64_t missed_ns) {
  if (*since_ns <= looked_ns)
    *since_ns += missed_ns;
}

/* A time in which this rank did not run is no evidence against another one, but for a part: one that looks seldom must
 * come to an end, too. */
static void forgive(tt_tcp_pipes *pipes, int64_t missed_ns) {
  for (int64_t n = 0; n < pipes->met_count; n++) {
    shift(&pipes->peer[pipes->met[n]]->suspect_ns, pipes->looked_ns, missed_ns);
    shift(&pipes->peer[pipes->met[n]]->refused_ns, pipes->looked_ns, missed_ns);
  }
}

void tt_tcp_reach_look(tt_tcp_pipes *pipes, int64_t now_ns) {
  int64_t missed_ns = now_ns - pipes->looked_ns - COUNTED_NS;
  if (missed_ns > 0)
    forgive(pipes, missed_ns);
  pipes->looked_ns = now_ns;
  look_at_nics(pipes, now_ns);
  bool look_at_connections = now_ns - pipes->connections_ns >= CONNECTIONS_NS;
  if (look_at_connections)
    pipes->connections_ns = now_ns;
  for (int64_t n = 0; n < pipes->met_count; n++)
    look_at_peer(pipes, pipes->peer[pipes->met[n]], look_at_connections, now_ns);
}

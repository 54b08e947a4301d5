/* transport/tcp/tcp.c - the table, opening and closing.
 *
 * Opening is one allgather: each rank tells where it listens, a share of the job's key, and what has gone wrong so far,
 * so that all fail together, with the text of the rank that could not. */
#include "transport/tcp/tcp.h"

#include "transport/streams/streams.h"
#include "transport/tcp/pipe.h"
#include "transport/tcp/socket.h"

#include <endian.h>
#include <inttypes.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLUSH_NS INT64_C(5000000000)
#define WAIT_NS INT64_C(20000000) /* the longest: connections are looked after in between */

enum { ADDRESS_BYTES = 16, TEXT_BYTES = 256 };

typedef struct tt_tcp {
  tt_streams streams; /* first: the table's functions take either */
  tt_tcp_host *host;  /* of each rank */
  tt_tcp_door *door;
  tt_tcp_pipes *pipes;
  int64_t longest_ns; /* for the last packets to be read, */
  const bool *broken; /* unless this is true */
} tt_tcp;

/* ---- what a rank tells, in the same bytes on every machine ---- */

typedef struct told_rail {
  unsigned char address[ADDRESS_BYTES];
  uint16_t port; /* network order */
  uint8_t six, prefix_bits;
} told_rail;

typedef struct told {
  uint32_t status, rail_count; /* little-endian */
  uint64_t network;            /* equal where an address means the same */
  unsigned char share[TT_TCP_KEY_BYTES];
  told_rail rail[TT_RAILS_MOST];
  char text[TEXT_BYTES];
} told;

_Static_assert(sizeof(told_rail) == 20 && sizeof(told) == 48 + TT_RAILS_MOST * 20 + TEXT_BYTES,
               "no padding: it is told");
_Static_assert(offsetof(tt_tcp, streams) == 0, "functions of streams take a tt_tcp");
static void tell_rail(const tt_rail *rail, in_port_t port, told_rail *to) {
  const struct sockaddr_in *four = (const void *)&rail->address;
  const struct sockaddr_in6 *six = (const void *)&rail->address;
  to->six = rail->address.ss_family == AF_INET6;
  to->prefix_bits = (uint8_t)rail->prefix_bits;
  to->port = port;
  if (to->six)
    memcpy(to->address, &six->sin6_addr, sizeof six->sin6_addr);
  else
    memcpy(to->address, &four->sin_addr, sizeof four->sin_addr);
}

static void hear_rail(const told_rail *from, tt_rail *rail) {
  struct sockaddr_in *four = (void *)&rail->address;
  struct sockaddr_in6 *six = (void *)&rail->address;
  *rail = (tt_rail){.prefix_bits = from->prefix_bits};
  rail->address.ss_family = from->six ? AF_INET6 : AF_INET;
  if (from->six) {
    memcpy(&six->sin6_addr, from->address, sizeof six->sin6_addr);
    six->sin6_port = from->port;
  } else {
    memcpy(&four->sin_addr, from->address, sizeof four->sin_addr);
    four->sin_port = from->port;
  }
}

static void tell(const tt_between_config *config, tutti_status status, const in_port_t *port, told *own) {
  memset(own, 0, sizeof *own);
  own->status = htole32((uint32_t)status);
  if (status != TUTTI_OK) {
    snprintf(own->text, sizeof own->text, "%s", tutti_last_error());
    return;
  }
  own->rail_count = htole32((uint32_t)config->rail_count);
  own->network = tt_host_network();
  randombytes_buf(own->share, sizeof own->share);
  for (int64_t r = 0; r < config->rail_count; r++)
    tell_rail(&config->rail[r], port[r], &own->rail[r]);
}

static tutti_status hear(const told *from, int64_t rank, tt_tcp_host *host) {
  uint32_t status = le32toh(from->status), count = le32toh(from->rail_count);
  if (status != TUTTI_OK)
    return tt_fail((tutti_status)status, "rank %" PRId64 ": %.*s", rank, (int)sizeof from->text, from->text);
  if (count < 1 || count > TT_RAILS_MOST)
    return tt_fail(TUTTI_ERR_SYSTEM, "rank %" PRId64 " reports %" PRIu32 " rails", rank, count);
  host->rail_count = count;
  for (uint32_t r = 0; r < count; r++)
    hear_rail(&from->rail[r], &host->rail[r]);
  return TUTTI_OK;
}

/* Of all shares: none of them alone is the key. */
static void make_key(const told *all, int64_t count, unsigned char key[TT_TCP_KEY_BYTES]) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, NULL, 0, TT_TCP_KEY_BYTES);
  for (int64_t r = 0; r < count; r++)
    crypto_generichash_update(&state, all[r].share, sizeof all[r].share);
  crypto_generichash_final(&state, key, TT_TCP_KEY_BYTES);
}

/* ---- opening ---- */

/* One of whose addresses none has that family; -1: there is none. */
static int64_t find_without(const tt_tcp *self, int family) {
  for (int64_t r = 0; r < self->streams.rank_count; r++) {
    bool has = false;
    for (int64_t n = 0; n < self->host[r].rail_count; n++)
      has = has || self->host[r].rail[n].address.ss_family == family;
    if (!has)
      return r;
  }
  return -1;
}

/* All know all addresses, so that all find the same. */
static tutti_status check_families(const tt_tcp *self) {
  int64_t six = find_without(self, AF_INET), four = find_without(self, AF_INET6);
  if (six < 0 || four < 0)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_SYSTEM,
                 "tcp: rank %" PRId64 " uses only IPv4 addresses, and rank %" PRId64
                 " only IPv6 addresses: tutti uses one address of each NIC, IPv4 before IPv6; TUTTI_NICS chooses NICs "
                 "that can reach each other",
                 four, six);
}

/* What only this rank knows. */
static void take_own(tt_tcp *self, const tt_between_config *config) {
  tt_tcp_host *own = &self->host[self->streams.rank];
  own->rail_count = config->rail_count;
  for (int64_t r = 0; r < config->rail_count; r++)
    own->rail[r] = config->rail[r];
}

static bool is_loopback(const told_rail *rail) {
  static const unsigned char one[ADDRESS_BYTES] = {[ADDRESS_BYTES - 1] = 1};
  return rail->six ? memcmp(rail->address, one, sizeof one) == 0 : rail->address[0] == 127;
}

/* Whether nothing leads from b to a: what a can be called at is b itself. */
static bool is_out_of_reach(const told *a, const told *b) {
  for (uint32_t r = 0; r < le32toh(a->rail_count); r++) {
    bool own = is_loopback(&a->rail[r]);
    for (uint32_t n = 0; n < le32toh(b->rail_count) && !own; n++)
      own = a->rail[r].six == b->rail[n].six && memcmp(a->rail[r].address, b->rail[n].address, ADDRESS_BYTES) == 0;
    if (!own)
      return false;
  }
  return true;
}

/* Of each rank and the next one that is elsewhere. All find the same. */
static tutti_status check_networks(const tt_tcp *self, const told *all) {
  int64_t count = self->streams.rank_count, next = -1;
  for (int64_t r = count - 1; r >= 0; r--) {
    next = r + 1 < count && all[r].network != all[r + 1].network ? r + 1 : next;
    bool apart = next >= 0 && all[r].network != all[next].network;
    int64_t poor = !apart                                 ? -1
                   : is_out_of_reach(&all[r], &all[next]) ? r
                   : is_out_of_reach(&all[next], &all[r]) ? next
                                                          : -1;
    if (poor >= 0) {
      char name[TT_TCP_NAME_BYTES];
      tt_tcp_socket_name(&self->host[poor].rail[0].address, name);
      return tt_fail(TUTTI_ERR_SYSTEM,
                     "tcp: ranks %" PRId64 " and %" PRId64 " are on different machines, but cannot reach each other: "
                     "rank %" PRId64 " has only loopback or the other's own address (%s); `tutti topo` says which NICs "
                     "there are, TUTTI_NICS chooses",
                     r, next, poor, name);
    }
  }
  return TUTTI_OK;
}

static tutti_status hear_all(tt_tcp *self, const tt_between_config *config, const told *all) {
  tutti_status status = TUTTI_OK;
  for (int64_t r = 0; r < self->streams.rank_count && status == TUTTI_OK; r++)
    status = hear(&all[r], r, &self->host[r]);
  if (status == TUTTI_OK) {
    take_own(self, config);
    status = check_families(self);
  }
  return status == TUTTI_OK ? check_networks(self, all) : status;
}

/* ---- between streams and pipes ---- */

static tutti_status send_take(void *pipes, tt_streams_packet *packet) { return tt_tcp_pipes_send_take(pipes, packet); }

static tutti_status credit(void *pipes, int64_t peer, uint64_t stream, uint32_t count, bool now) {
  return tt_tcp_pipes_credit(pipes, peer, stream, count, now);
}

static uint64_t had(void *pipes, int64_t peer) { return tt_tcp_pipes_had(pipes, peer); }

static int dead(void *pipes, int64_t peer) { return tt_tcp_pipes_dead(pipes, peer); }

static tt_tcp_owner owner_of(tt_tcp *self) {
  return (tt_tcp_owner){.deliver_take = tt_streams_deliver_take,
                        .sent = tt_streams_add_unsent,
                        .released = tt_streams_set_released,
                        .credit_all = tt_streams_credit_all,
                        .user = &self->streams};
}

static tutti_status open_pipes(tt_tcp *self, const tt_between_config *config) {
  const tt_tcp_pipes_spec spec = {.host = self->host,
                                  .rank = self->streams.rank,
                                  .rank_count = self->streams.rank_count,
                                  .first_rail = config->first_rail,
                                  .door = self->door,
                                  .owner = owner_of(self)};
  tutti_status status = tt_tcp_pipes_create(&spec, &self->pipes);
  if (status == TUTTI_OK)
    self->streams.carrier = (tt_streams_carrier){.name = "tcp",
                                                 .pool = tt_tcp_pipes_pool(self->pipes),
                                                 .send_take = send_take,
                                                 .credit = credit,
                                                 .had = had,
                                                 .dead = dead,
                                                 .user = self->pipes};
  return status;
}

/* `status`: what has become of this rank so far. */
static tutti_status meet(tt_tcp *self, const tt_between_config *config, const tutti_boot *boot, tutti_status status,
                         const in_port_t *port) {
  told own, *all = calloc((size_t)boot->rank_count, sizeof *all);
  unsigned char key[TT_TCP_KEY_BYTES];
  if (!all)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the addresses of %" PRId64 " ranks", boot->rank_count);
  if (status == TUTTI_OK) {
    take_own(self, config);
    status = open_pipes(self, config);
  }
  tell(config, status, port, &own);
  status = tt_streams_gather("tcp", boot, &own, all, sizeof(told), config->timeout_ns);
  if (status == TUTTI_OK)
    status = hear_all(self, config, all);
  if (status == TUTTI_OK) {
    make_key(all, boot->rank_count, key);
    tt_tcp_door_key(self->door, key);
  }
  sodium_memzero(&own, sizeof own);
  sodium_memzero(key, sizeof key);
  sodium_memzero(all, (size_t)boot->rank_count * sizeof *all);
  free(all);
  return status;
}

static tutti_status check(const tt_between_config *config) {
  tutti_status status = tt_between_check(config);
  for (int64_t r = 0; r < config->rail_count && status == TUTTI_OK; r++) {
    int family = config->rail[r].address.ss_family;
    if (family != AF_INET && family != AF_INET6)
      status = tt_fail(TUTTI_ERR_ARGUMENT, "rail[%" PRId64 "].address has family %d, which is neither IPv4 nor IPv6", r,
                       family);
  }
  return status == TUTTI_OK && sodium_init() < 0 ? tt_fail(TUTTI_ERR_SYSTEM, "no source of random bytes") : status;
}

static void close_tcp(void *given) {
  tt_tcp *self = given;
  if (!self)
    return;
  if (self->pipes)
    tt_tcp_pipes_flush(self->pipes, FLUSH_NS, self->broken && *self->broken ? FLUSH_NS : self->longest_ns);
  tt_streams_finish(&self->streams);
  tt_tcp_pipes_destroy(self->pipes);
  tt_tcp_door_close(self->door);
  free(self->host);
  free(self);
}

/* A rank that lacks something comes to the allgather all the same. */
static tutti_status open_tcp(const void *given, const tutti_boot *boot, void **opened) {
  const tt_between_config *config = given;
  in_port_t port[TT_RAILS_MOST] = {0};
  tt_tcp *self = calloc(1, sizeof *self);
  tt_tcp_host *host = calloc((size_t)boot->rank_count, sizeof *host);
  if (!self || !host) {
    free(self);
    free(host);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the addresses of %" PRId64 " ranks", boot->rank_count);
  }
  *self = (tt_tcp){
      .streams = {.rank = boot->rank, .rank_count = boot->rank_count, .window = (uint32_t)tt_options_far_slots()},
      .host = host,
      .longest_ns = config->timeout_ns,
      .broken = config->broken};
  tutti_status status = check(config);
  if (status == TUTTI_OK)
    status = tt_tcp_door_open(config->rail, config->rail_count, boot->rank, port, &self->door);
  status = meet(self, config, boot, status, port);
  if (status == TUTTI_OK)
    *opened = self;
  else
    close_tcp(self);
  return status;
}

/* ---- the rest of the table ---- */

static tutti_status progress(void *self, int64_t *peer) { return tt_tcp_pipes_progress(((tt_tcp *)self)->pipes, peer); }

static int descriptor(void *self) { return tt_tcp_pipes_fd(((tt_tcp *)self)->pipes); }

static void wait_tcp(void *self, int64_t timeout_ns) {
  struct pollfd ready = {.fd = descriptor(self), .events = POLLIN};
  int64_t most_ns = timeout_ns < WAIT_NS ? timeout_ns : WAIT_NS;
  const struct timespec time = {.tv_nsec = most_ns > 0 ? most_ns : 0};
  if (!tt_tcp_pipes_news(((tt_tcp *)self)->pipes))
    ppoll(&ready, 1, &time, NULL);
}

static int peer_dead(void *self, int64_t peer) { return tt_tcp_pipes_dead(((tt_tcp *)self)->pipes, peer); }

int64_t tt_tcp_count(void *self, tt_tcp_counts *counts) { return tt_tcp_pipes_count(((tt_tcp *)self)->pipes, counts); }

static const tutti_transport_ops table = {
    .size = sizeof(tutti_transport_ops),
    .name = "tcp",
    .open = open_tcp,
    .close = close_tcp,
    .stream_open = tt_streams_open,
    .stream_close = tt_streams_close,
    .reserve = tt_streams_reserve,
    .commit = tt_streams_commit,
    .peek = tt_streams_peek,
    .release = tt_streams_release,
    .progress = progress,
    .wait = wait_tcp,
    .peer_dead = peer_dead,
    .unreleased = tt_streams_unreleased,
    .unsent = tt_streams_unsent,
    .descriptor = descriptor,
    .forget = tt_streams_forget,
    .sent = tt_streams_sent,
};

const tutti_transport_ops *tt_tcp_ops(void) { return &table; }

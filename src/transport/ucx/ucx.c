/* transport/ucx/ucx.c - the table, opening and closing.
 *
 * Opening is two allgathers. In the first each rank tells what has gone wrong so far, so that all fail together with
 * the text of the rank that could not, a share of the job's key, and how long its addresses are; the second has these:
 * a count, then (length, bytes) of each rail's, numbers as 32-bit little-endian. */
#include "transport/ucx/pipes.h"

#include <endian.h>
#include <inttypes.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLUSH_NS INT64_C(5000000000)
#define WAIT_NS INT64_C(50000000) /* the longest: UCX looks after its connections in between */
#define ADDRESSES_BYTES 65536     /* of a rank, at most: more is an error */

enum { SHARE_BYTES = 32, TEXT_BYTES = 256 };

typedef struct tt_ucx {
  tt_streams streams; /* first: the table's functions take either */
  tt_ucx_pipes pipes;
  unsigned char *addresses;
} tt_ucx;

typedef struct told { /* little-endian */
  uint32_t status, address_bytes;
  unsigned char share[SHARE_BYTES];
  char text[TEXT_BYTES];
} told;

_Static_assert(sizeof(told) == 8 + SHARE_BYTES + TEXT_BYTES, "no padding: it is told");
_Static_assert(offsetof(tt_ucx, streams) == 0, "functions of streams take a tt_ucx");
/* ---- what a rank tells ---- */

static size_t count_bytes(const tt_ucx_pipes *pipes) {
  size_t bytes = sizeof(uint32_t);
  for (int64_t r = 0; r < pipes->rail_count; r++)
    bytes += sizeof(uint32_t) + pipes->rail[r].address_bytes;
  return bytes;
}

static void put_addresses(const tt_ucx_pipes *pipes, unsigned char *to) {
  uint32_t count = htole32((uint32_t)pipes->rail_count);
  memcpy(to, &count, sizeof count);
  to += sizeof count;
  for (int64_t r = 0; r < pipes->rail_count; r++) {
    const tt_ucx_rail *rail = &pipes->rail[r];
    uint32_t bytes = htole32((uint32_t)rail->address_bytes);
    memcpy(to, &bytes, sizeof bytes);
    memcpy(to + sizeof bytes, rail->address, rail->address_bytes);
    to += sizeof bytes + rail->address_bytes;
  }
}

static void tell(const tt_ucx_pipes *pipes, tutti_status status, told *own) {
  memset(own, 0, sizeof *own);
  own->status = htole32((uint32_t)status);
  if (status != TUTTI_OK) {
    snprintf(own->text, sizeof own->text, "%s", tutti_last_error());
    return;
  }
  randombytes_buf(own->share, sizeof own->share);
  own->address_bytes = htole32((uint32_t)count_bytes(pipes));
}

/* The longest of all ranks' addresses. */
static tutti_status hear(const told *all, int64_t count, size_t *stride) {
  *stride = 0;
  for (int64_t r = 0; r < count; r++) {
    uint32_t status = le32toh(all[r].status), bytes = le32toh(all[r].address_bytes);
    if (status != TUTTI_OK)
      return tt_fail((tutti_status)status, "rank %" PRId64 ": %.*s", r, (int)sizeof all[r].text, all[r].text);
    if (bytes > ADDRESSES_BYTES)
      return tt_fail(TUTTI_ERR_SYSTEM, "rank %" PRId64 " has UCX addresses of %" PRIu32 " bytes; the limit is %d", r,
                     bytes, ADDRESSES_BYTES);
    *stride = bytes > *stride ? bytes : *stride;
  }
  return TUTTI_OK;
}

/* Of all shares: none of them alone is the key. */
static void make_key(const told *all, int64_t count, unsigned char key[TT_UCX_KEY_BYTES]) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, NULL, 0, TT_UCX_KEY_BYTES);
  for (int64_t r = 0; r < count; r++)
    crypto_generichash_update(&state, all[r].share, sizeof all[r].share);
  crypto_generichash_final(&state, key, TT_UCX_KEY_BYTES);
}

/* ---- opening ---- */

static tutti_status gather_addresses(tt_ucx *self, const tutti_boot *boot, int64_t timeout_ns, size_t stride) {
  unsigned char *own = calloc(1, stride);
  self->addresses = calloc((size_t)boot->rank_count, stride);
  tutti_status status =
      own && self->addresses
          ? TUTTI_OK
          : tt_fail(TUTTI_ERR_MEMORY, "no memory for the addresses of %" PRId64 " ranks", boot->rank_count);
  if (status == TUTTI_OK) {
    put_addresses(&self->pipes, own);
    status = tt_streams_gather("ucx", boot, own, self->addresses, stride, timeout_ns);
  }
  self->pipes.addresses = self->addresses;
  self->pipes.address_stride = stride;
  free(own);
  return status;
}

/* `status`: what has become of this rank so far. */
static tutti_status meet(tt_ucx *self, const tt_between_config *config, const tutti_boot *boot, tutti_status status) {
  told own, *all = calloc((size_t)boot->rank_count, sizeof *all);
  size_t stride = 0;
  if (!all)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the addresses of %" PRId64 " ranks", boot->rank_count);
  tell(&self->pipes, status, &own);
  status = tt_streams_gather("ucx", boot, &own, all, sizeof own, config->timeout_ns);
  if (status == TUTTI_OK)
    status = hear(all, boot->rank_count, &stride);
  if (status == TUTTI_OK) {
    make_key(all, boot->rank_count, self->pipes.front.key);
    status = gather_addresses(self, boot, config->timeout_ns, stride);
  }
  sodium_memzero(&own, sizeof own);
  sodium_memzero(all, (size_t)boot->rank_count * sizeof *all);
  free(all);
  return status;
}

static tutti_status check(const tt_between_config *config) {
  tutti_status status = tt_between_check(config);
  return status == TUTTI_OK && sodium_init() < 0 ? tt_fail(TUTTI_ERR_SYSTEM, "no source of random bytes") : status;
}

static tutti_status open_pipes(tt_ucx *self, const tt_between_config *config, const tutti_boot *boot) {
  tt_ucx_pipes *pipes = &self->pipes;
  pipes->streams = &self->streams;
  pipes->rank = boot->rank;
  pipes->rank_count = boot->rank_count;
  pipes->first_rail = config->first_rail;
  pipes->front.from = (int64_t)htole64((uint64_t)boot->rank);
  pipes->peer = calloc((size_t)boot->rank_count, sizeof(tt_ucx_peer *));
  pipes->met = calloc((size_t)boot->rank_count, sizeof *pipes->met);
  if (!pipes->peer || !pipes->met)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a list of %" PRId64 " ranks", boot->rank_count);
  self->streams = (tt_streams){.rank = boot->rank,
                               .rank_count = boot->rank_count,
                               .window = (uint32_t)tt_options_far_slots(),
                               .carrier = {.name = "ucx",
                                           .pool = &pipes->pool,
                                           .send_take = tt_ucx_pipes_send_take,
                                           .credit = tt_ucx_pipes_credit,
                                           .had = tt_ucx_pipes_had,
                                           .dead = tt_ucx_pipes_dead,
                                           .user = pipes}};
  tutti_status status = tt_ucx_library_load(&pipes->ucp);
  return status == TUTTI_OK ? tt_ucx_rails_open(pipes, config) : status;
}

static void close_ucx(void *given) {
  tt_ucx *self = given;
  if (!self)
    return;
  if (self->addresses)
    tt_ucx_pipes_flush(&self->pipes, FLUSH_NS);
  tt_streams_finish(&self->streams);
  tt_ucx_pipes_finish(&self->pipes);
  sodium_memzero(&self->pipes.front, sizeof self->pipes.front);
  free(self->addresses);
  free(self);
}

/* A rank that lacks something comes to the allgather all the same. */
static tutti_status open_ucx(const void *given, const tutti_boot *boot, void **opened) {
  const tt_between_config *config = given;
  tt_ucx *self = calloc(1, sizeof *self);
  if (!self)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a transport");
  self->pipes.epoll = self->pipes.ready = -1;
  tutti_status status = check(config);
  if (status == TUTTI_OK)
    status = open_pipes(self, config, boot);
  status = meet(self, config, boot, status);
  if (status == TUTTI_OK)
    *opened = self;
  else
    close_ucx(self);
  return status;
}

/* ---- the rest of the table ---- */

static tutti_status progress(void *self, int64_t *peer) {
  return tt_ucx_pipes_progress(&((tt_ucx *)self)->pipes, peer);
}

static int descriptor(void *self) { return tt_ucx_rails_descriptor(&((tt_ucx *)self)->pipes); }

static void wait_ucx(void *given, int64_t timeout_ns) {
  tt_ucx_pipes *pipes = &((tt_ucx *)given)->pipes;
  int64_t most_ns = timeout_ns < WAIT_NS ? timeout_ns : WAIT_NS;
  const struct timespec time = {.tv_nsec = most_ns > 0 ? most_ns : 0};
  bool news = pipes->news;
  pipes->news = false;
  if (news) /* who progresses and then sleeps would not see it */
    return;
  struct pollfd ready = {.fd = tt_ucx_rails_descriptor(pipes), .events = POLLIN};
  ppoll(&ready, 1, &time, NULL);
}

static int peer_dead(void *self, int64_t peer) { return tt_ucx_pipes_dead(&((tt_ucx *)self)->pipes, peer); }

static const tutti_transport_ops table = {
    .size = sizeof(tutti_transport_ops),
    .name = "ucx",
    .open = open_ucx,
    .close = close_ucx,
    .stream_open = tt_streams_open,
    .stream_close = tt_streams_close,
    .reserve = tt_streams_reserve,
    .commit = tt_streams_commit,
    .peek = tt_streams_peek,
    .release = tt_streams_release,
    .progress = progress,
    .wait = wait_ucx,
    .peer_dead = peer_dead,
    .unreleased = tt_streams_unreleased,
    .unsent = tt_streams_unsent,
    .descriptor = descriptor,
    .forget = tt_streams_forget,
    .sent = tt_streams_sent,
};

const tutti_transport_ops *tt_ucx_ops(void) { return &table; }

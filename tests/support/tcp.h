/* tests/support/tcp.h - the transport tcp in processes of a job, over addresses of loopback as rails. */
#ifndef TEST_SUPPORT_TCP_H
#define TEST_SUPPORT_TCP_H

#include "support/streams.h"
#include "transport/tcp/tcp.h"

#include <arpa/inet.h>

/* 127.0.0.1, 127.0.0.2, ...: each a network of its own, so that rails belong together by place. */
static inline tt_between_config loopback(tt_rail *rail, int64_t rail_count) {
  for (int64_t r = 0; r < rail_count; r++) {
    rail[r] = (tt_rail){.prefix_bits = 32};
    snprintf(rail[r].name, sizeof rail[r].name, "test%d", (int)r);
    struct sockaddr_in *address = (void *)&rail[r].address;
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)r);
  }
  return (tt_between_config){.rail = rail, .rail_count = rail_count, .timeout_ns = 60 * SECOND};
}

static inline void *open_rank(const tutti_boot *boot, int64_t rail_count) {
  tt_rail rail[TT_RAILS_MOST];
  const tt_between_config config = loopback(rail, rail_count);
  void *self = NULL;
  tested = tt_tcp_ops();
  CHECK(tested->open(&config, boot, &self) == TUTTI_OK);
  return self;
}

/* ---- faults ---- */

static inline bool is_connection(int fd) {
  struct sockaddr_in other;
  socklen_t size = sizeof other;
  return getpeername(fd, (struct sockaddr *)&other, &size) == 0 && other.sin_family == AF_INET;
}

/* Ends one of this process's connections: in good order, or so that what is on its way is lost. */
static inline bool cut_one(tt_random *random) {
  int fd[256], count = 0;
  for (int n = 3; n < 256; n++)
    if (is_connection(n))
      fd[count++] = n;
  if (count == 0)
    return false;
  int chosen = fd[tt_random_below(random, (uint64_t)count)];
  const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
  return tt_random_below(random, 2) ? shutdown(chosen, SHUT_RDWR) == 0 : connect(chosen, &nowhere, sizeof nowhere) == 0;
}

#endif

/* transport/between.h - what every transport between machines is opened with: the NICs that carry its data. */
#ifndef TT_TRANSPORT_BETWEEN_H
#define TT_TRANSPORT_BETWEEN_H

#include "base/base.h"

#include <tutti/transport.h>

#include <netinet/in.h>

#define TT_RAILS_MOST 8

/* A NIC of this machine that is used. */
typedef struct tt_rail {
  char name[16];                   /* "eth0" */
  struct sockaddr_storage address; /* its own; the port is ignored */
  int32_t prefix_bits;             /* of its network */
  int64_t bits_per_second;         /* 0: unknown */
} tt_rail;

typedef struct tt_between_config {
  const tt_rail *rail; /* of this rank; borrowed while opening */
  int64_t rail_count;  /* 1 .. TT_RAILS_MOST */
  const char *lack;    /* why there are none, where rail_count is 0; NULL or "": nobody knows */
  /* Which rail what goes to each rank of the job begins with when all are free, modulo their number; borrowed until
   * closed. NULL: the ranks' numbers. */
  const int64_t *first_rail;
  int64_t timeout_ns; /* for opening */
  /* True: the last calls were given up, whose data may be on its way still, and closing does not wait until it is read.
   * Borrowed until closed; NULL: false. */
  const bool *broken;
} tt_between_config;

/* Whether there are rails, and not too many. */
tutti_status tt_between_check(const tt_between_config *config);

#endif

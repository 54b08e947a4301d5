/* boot/wire.h - what goes between a rank and the launcher's server: one request and one reply for each allgather. */
#ifndef TT_BOOT_WIRE_H
#define TT_BOOT_WIRE_H

#include "base/base.h"

#include <sys/socket.h>
#include <sys/un.h>

#define TT_BOOT_MAGIC 0x74757474u
#define TT_BOOT_NAME 48
#define TT_BOOT_BYTES_MAXIMUM (1u << 20) /* of one rank's contribution */

/* Followed by `bytes`: the rank's contribution. */
typedef struct tt_boot_request {
  uint32_t magic;
  uint32_t rank;
  uint64_t bytes;
  int64_t timeout_ns;
} tt_boot_request;

/* Followed by `bytes`: all contributions; after an error its text, after a timeout the missing ranks. */
typedef struct tt_boot_reply {
  uint64_t status; /* tutti_status */
  uint64_t bytes;
} tt_boot_reply;

/* Address of the abstract socket `name`. */
socklen_t tt_boot_address(const char *name, struct sockaddr_un *address);
/* Whether the process at the other end belongs to this user. */
bool tt_boot_same_user(int fd);

#endif

/* boot/wire.h - what goes between a rank and the launcher's server: one request and one reply for each allgather. */
#ifndef TT_BOOT_WIRE_H
#define TT_BOOT_WIRE_H

#include "base/base.h"

#include <sys/socket.h>
#include <sys/un.h>

#define TT_BOOT_MAGIC 0x31747574u
#define TT_BOOT_NAME 48
#define TT_BOOT_BYTES_MAXIMUM (1u << 20) /* of one rank's contribution */

/* What every process says first, in every version of tutti: the struct stays as it is, and so does the reply. */
typedef struct tt_boot_version {
  uint32_t magic;
  uint32_t wire;    /* raised whenever what goes between processes changes its form */
  char library[16]; /* TUTTI_VERSION, or as much of it as there is room for */
} tt_boot_version;

const tt_boot_version *tt_boot_version_own(void);
/* "0.1.0 (wire 1)" */
#define TT_BOOT_VERSION_TEXT 48
const char *tt_boot_version_text(const tt_boot_version *version, char text[static TT_BOOT_VERSION_TEXT]);

/* Followed by `bytes`: the rank's contribution. Version and rank come first in every version. again: how often the
 * rank was told to come again; where it was, it asks for the reply and contributes nothing. */
typedef struct tt_boot_request {
  tt_boot_version version;
  uint32_t rank;
  uint32_t again;
  uint64_t bytes;
  int64_t timeout_ns;
} tt_boot_request;

/* A reply's status: the contribution has been taken, and the reply will be there for a connection that asks for it. It
 * is followed by after how many us, 8 bytes. */
#define TT_BOOT_AGAIN 1000

/* Followed by `bytes`: all contributions, packed; after an error its text, after a timeout the missing ranks. */
typedef struct tt_boot_reply {
  uint64_t status; /* tutti_status, or TT_BOOT_AGAIN */
  uint64_t bytes;
} tt_boot_reply;

/* Packs the contribution of a rank after that of the rank before it, NULL: there is none. How many bytes that takes;
 * packed: NULL, or room for them. */
size_t tt_boot_pack(const char *mine, const char *before, size_t bytes, char *packed);
/* All ranks' contributions of `bytes` each; false: that is not what is in `packed`. */
bool tt_boot_unpack(const char *packed, size_t packed_bytes, char *all, size_t bytes, int64_t rank_count);

/* Address of the abstract socket `name`. */
socklen_t tt_boot_address(const char *name, struct sockaddr_un *address);
/* Whether the process at the other end belongs to this user. */
bool tt_boot_same_user(int fd);

#endif

/* tutti/boot.h - how ranks find each other: one allgather of bytes, which a launcher or the user supplies.
 *
 * tutti needs nothing else to start a job: every rank contributes `bytes` bytes and gets those of all ranks, in rank
 * order. tutti_context_create calls the allgather a few times; nothing calls it afterwards. */
#ifndef TUTTI_BOOT_H
#define TUTTI_BOOT_H

#include <tutti/status.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_boot {
  size_t size;        /* sizeof(tutti_boot), for later versions */
  int64_t rank;       /* 0 .. rank_count-1 */
  int64_t rank_count; /* ranks in the job, >= 1 */
  void *user;         /* passed to allgather; tutti does not touch it */
  /* Blocks until every rank has called it with the same `bytes`. mine: `bytes` bytes; all: rank_count * bytes, in rank
   * order. After timeout_ns nanoseconds (at most 2^61) it gives up, writes the names of the missing ranks to `missing`
   * (missing_size bytes, may be NULL) and returns TUTTI_ERR_TIMEOUT. Returns TUTTI_OK or an error. */
  tutti_status (*allgather)(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                            size_t missing_size);
} tutti_boot;

#ifdef __cplusplus
}
#endif
#endif

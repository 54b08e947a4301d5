/* tutti/boot.h - how ranks find each other: one allgather of bytes, supplied by a launcher or by the user.
 *
 * tutti needs nothing else to start a job: every rank contributes `size` bytes and gets everyone's, in rank order. It
 * is called a few times from tutti_context_create and never afterwards. */
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
  void *user;         /* passed back, never touched */
  /* Blocks until every rank has called it with the same `bytes`. `mine`: bytes; `all`: rank_count * bytes, in rank
   * order. `timeout_ns`, at most 2^61: give up after it and return TUTTI_ERR_TIMEOUT, with `missing` (if not NULL)
   * filled with text that names the ranks that did not come. Returns TUTTI_OK or an error. */
  tutti_status (*allgather)(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                            size_t missing_size);
} tutti_boot;

#ifdef __cplusplus
}
#endif
#endif

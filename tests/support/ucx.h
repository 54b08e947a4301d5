/* tests/support/ucx.h - the transport ucx in processes of a job, over loopback: several rails are several contexts on
 * it. UCX may use TCP alone, as between machines without an RDMA fabric, or what UCX_TLS says. */
#ifndef TEST_SUPPORT_UCX_H
#define TEST_SUPPORT_UCX_H

#include "support/streams.h"
#include "transport/ucx/ucx.h"

static inline tt_between_config loopback(tt_rail *rail, int64_t rail_count) {
  for (int64_t r = 0; r < rail_count; r++)
    rail[r] = (tt_rail){.name = "lo"};
  return (tt_between_config){.rail = rail, .rail_count = rail_count, .timeout_ns = 60 * SECOND};
}

static inline void *open_rank(const tutti_boot *boot, int64_t rail_count) {
  tt_rail rail[TT_RAILS_MOST];
  const tt_between_config config = loopback(rail, rail_count);
  void *self = NULL;
  tested = tt_ucx_ops();
  CHECK(tested->open(&config, boot, &self) == TUTTI_OK);
  return self;
}

/* Before anything of UCX is loaded. 77: UCX is not there. */
static inline int prepare_ucx(void) {
  setenv("UCX_TLS", "tcp,self", 0);
  setenv("UCX_VFS_ENABLE", "n", 0); /* a thread that stays when it is no longer used */
  setenv("UCX_MEM_EVENTS", "n", 0); /* it would patch the memory functions that the thread sanitizer has patched */
  if (!tt_ucx_ops())
    printf("skipped: tutti was built without UCX\n");
  return tt_ucx_ops() ? 0 : 77;
}

#endif

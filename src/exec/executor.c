/* exec/executor.c - which of the two executors a bound plan has. */
#include "exec/direct.h"

tutti_status tt_executor_create(const tt_bound_plan *bound, tt_link *link, tt_executor **executor) {
  tt_direct *direct;
  tt_instance *instance;
  bool in_cells = bound->blocks != TT_CLASS_STREAMS;
  tutti_status status = in_cells ? tt_direct_create(bound, link, &direct) : tt_instance_create(bound, link, &instance);
  if (status)
    return status;
  *executor = in_cells ? &direct->executor : &instance->executor;
  return TUTTI_OK;
}

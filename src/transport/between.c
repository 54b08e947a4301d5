/* transport/between.c - what is wrong with a configuration, whichever transport it is for. */
#include "transport/between.h"

#include <inttypes.h>

tutti_status tt_between_check(const tt_between_config *config) {
  if (config->rail_count < 1 && config->lack && config->lack[0])
    return tt_fail(TUTTI_ERR_SYSTEM, "no NIC reaches other machines: %s", config->lack);
  if (config->rail_count < 1)
    return tt_fail(TUTTI_ERR_SYSTEM,
                   "no NIC reaches other machines: none has a link and an address (`tutti topo` lists them)");
  if (config->rail_count > TT_RAILS_MOST)
    return tt_fail(TUTTI_ERR_ARGUMENT, "rail_count is %" PRId64 "; the limit is %d", config->rail_count, TT_RAILS_MOST);
  return TUTTI_OK;
}

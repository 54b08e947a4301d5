/* topo/nics/find.c - the NICs of this machine, or those that a file says, judged. */
#include "topo/nics/nics.h"

#include <stdio.h>

tutti_status tt_nics_find(const char *folder, tt_nic *nic, int64_t room, int64_t *count) {
  char path[4096];
  if ((size_t)snprintf(path, sizeof path, "%s/nics.txt", folder) >= sizeof path)
    return tt_fail(TUTTI_ERR_ARGUMENT, "the name of folder '%.64s...' is too long", folder);
  tutti_status status =
      folder[0] ? tt_nics_read_file(path, nic, room, count) : tt_nics_read_system("/sys/class/net", nic, room, count);
  if (status == TUTTI_OK)
    tt_nics_judge(nic, *count);
  return status;
}

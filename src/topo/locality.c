/* topo/locality.c - where the calling thread runs: its cores, and the switches above its machine. */
#include "topo/machine/machine.h"
#include "topo/switches/switches.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static tutti_status find_switches(const char *path, const char *name, tt_locality *locality) {
  tt_arena arena;
  tt_switches *switches;
  int64_t node;
  tt_arena_init(&arena);
  tutti_status status = tt_switches_read(path, &arena, &switches);
  if (status == TUTTI_OK)
    status = tt_switches_find(switches, name, &node);
  if (status == TUTTI_OK)
    tt_switches_locality(switches, node, locality);
  tt_arena_finish(&arena);
  return status;
}

tutti_status tt_topo_locality(const char *switch_file, const char *node_name, tt_locality *locality) {
  char host[256] = "";
  tt_locality found = {.node = locality->node};
  if (!node_name[0] && gethostname(host, sizeof host - 1) != 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "this machine has no name: %s", strerror(errno));
  tutti_status status = tt_machine_locality(&found);
  if (status == TUTTI_OK && switch_file[0])
    status = find_switches(switch_file, node_name[0] ? node_name : host, &found);
  if (status == TUTTI_OK)
    *locality = found;
  return status;
}

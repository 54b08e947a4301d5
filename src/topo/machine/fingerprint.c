/* topo/machine/fingerprint.c - a number for the kind of machine this is: what was measured on one of the same number
 * holds here, too.
 *
 * It is made of the processor's model, of its cores and caches as hwloc has them, and of the NICs that could be rails.
 * What a process is restricted to does not matter, nor how much memory there is. */
#include "topo/machine/machine.h"
#include "topo/nics/nics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t add_text(uint64_t hash, const char *text) { return tt_hash(hash, text, strlen(text)); }

/* What /proc/cpuinfo says of the first processor and is the same for all, always. */
static uint64_t add_model(uint64_t hash) {
  static const char *const lines[] = {"vendor_id", "model name", "CPU implementer", "CPU part", "cpu\t"};
  char line[512];
  FILE *file = fopen("/proc/cpuinfo", "re");
  while (file && fgets(line, sizeof line, file) && line[0] != '\n')
    for (size_t n = 0; n < TT_COUNT(lines); n++)
      if (strncmp(line, lines[n], strlen(lines[n])) == 0)
        hash = add_text(hash, line);
  if (file)
    fclose(file);
  return hash;
}

static uint64_t add_machine(uint64_t hash, const tt_machine *machine) {
  const int64_t counts[] = {machine->core_count, machine->numa_count, machine->l3_count, machine->package_count,
                            machine->thread_count};
  hash = tt_hash(hash, counts, sizeof counts);
  hash = tt_hash(hash, machine->l3_bytes, (size_t)machine->l3_count * sizeof *machine->l3_bytes);
  for (int64_t n = 0; n < machine->core_count; n++) {
    const int32_t place[] = {machine->core[n].package, machine->core[n].numa, machine->core[n].l3};
    hash = tt_hash(hash, place, sizeof place);
  }
  return hash;
}

static uint64_t add_nics(uint64_t hash) {
  tt_nic nic[TT_NICS_MOST];
  int64_t count = 0;
  if (tt_nics_find("", nic, TT_COUNT(nic), &count) != TUTTI_OK || tt_nics_choose("", nic, &count) != TUTTI_OK)
    return hash;
  for (int64_t n = 0; n < count; n++)
    if (nic[n].kind == TT_NIC_WIRE)
      hash = tt_hash(add_text(hash, nic[n].name), &nic[n].bits_per_second, sizeof nic[n].bits_per_second);
  return hash;
}

tutti_status tt_machine_fingerprint(char text[static TT_FINGERPRINT_TEXT]) {
  tt_arena arena;
  tt_machine *machine;
  tt_arena_init(&arena);
  tutti_status status = tt_machine_read("", &arena, &machine);
  if (status == TUTTI_OK)
    snprintf(text, TT_FINGERPRINT_TEXT, "%016" PRIx64, add_nics(add_machine(add_model(0), machine)));
  tt_arena_finish(&arena);
  return status;
}

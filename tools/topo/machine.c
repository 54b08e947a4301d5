/* tools/topo/machine.c - `tutti topo` of a machine: cores by what they share, memory, NICs, devices. */
#include "machine.h"
#include "text.h"

#include "transport/transport.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_title(topo_subject *subject) {
  const tt_machine *machine = subject->machine;
  tt_arena *arena = &subject->arena;
  printf("machine   %s%s%s, %s, %s, %s, %s\n", machine->name, machine->name[0] ? ": " : "",
         topo_count_text(arena, machine->package_count, "package", "packages"),
         topo_count_text(arena, machine->numa_count, "NUMA node", "NUMA nodes"),
         topo_count_text(arena, machine->l3_count, "L3", "L3s"),
         topo_count_text(arena, machine->core_count, "core", "cores"),
         topo_count_text(arena, machine->thread_count, "thread", "threads"));
  if (machine->usable_count < machine->thread_count)
    printf("usable    %" PRId64 " of %" PRId64 " threads\n", machine->usable_count, machine->thread_count);
  if (machine->offline_count > 0)
    printf("offline   %s\n", topo_count_text(arena, machine->offline_count, "thread", "threads"));
}

/* ---- cores ---- */

static bool share_all(const tt_machine_core *a, const tt_machine_core *b) {
  return a->package == b->package && a->numa == b->numa && a->l3 == b->l3;
}

static int by_number(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x < y ? -1 : x > y;
}

/* The cores that share all with this one, and their threads. */
typedef struct group {
  int32_t *core, *usable, *thread;
  int64_t core_count, usable_count, thread_count;
} group;

static bool gather(const tt_machine *machine, int64_t like, tt_arena *arena, group *out) {
  *out = (group){.core = tt_arena_alloc(arena, (size_t)machine->core_count, sizeof(int32_t)),
                 .usable = tt_arena_alloc(arena, (size_t)machine->core_count, sizeof(int32_t)),
                 .thread = tt_arena_alloc(arena, (size_t)machine->thread_count, sizeof(int32_t))};
  if (arena->failed)
    return false;
  for (int64_t n = 0; n < machine->core_count; n++) {
    const tt_machine_core *core = &machine->core[n];
    if (!share_all(core, &machine->core[like]))
      continue;
    out->core[out->core_count++] = (int32_t)n;
    if (core->usable)
      out->usable[out->usable_count++] = (int32_t)n;
    for (int32_t t = 0; t < core->thread_count; t++)
      out->thread[out->thread_count++] = core->thread[t];
  }
  qsort(out->thread, (size_t)out->thread_count, sizeof *out->thread, by_number);
  return true;
}

static bool is_first(const tt_machine *machine, int64_t core) {
  for (int64_t n = 0; n < core; n++)
    if (share_all(&machine->core[n], &machine->core[core]))
      return false;
  return true;
}

static void add_group(topo_subject *subject, int64_t like, topo_table *table) {
  const tt_machine *machine = subject->machine;
  const tt_machine_core *core = &machine->core[like];
  tt_arena *arena = &subject->arena;
  group of;
  if (!gather(machine, like, arena, &of))
    return;
  const tt_machine_numa *numa = core->numa >= 0 ? &machine->numa[core->numa] : NULL;
  topo_table_add(
      table,
      (const char *[]){topo_number_text(arena, core->package), topo_number_text(arena, numa ? numa->number : -1),
                       numa ? topo_bytes_text(arena, numa->memory_bytes) : "-", topo_number_text(arena, core->l3),
                       core->l3 >= 0 ? topo_bytes_text(arena, machine->l3_bytes[core->l3]) : "-",
                       topo_list_text(arena, of.core, of.core_count), topo_list_text(arena, of.thread, of.thread_count),
                       machine->usable_count < machine->thread_count ? topo_list_text(arena, of.usable, of.usable_count)
                                                                     : ""});
}

static void print_cores(topo_subject *subject) {
  const tt_machine *machine = subject->machine;
  tt_arena *arena = &subject->arena;
  bool restricted = machine->usable_count < machine->thread_count;
  topo_table table = topo_table_make(arena, (const char *[]){"package", "NUMA", "memory", "L3", "size", "cores",
                                                             "threads", restricted ? "usable cores" : "", NULL});
  for (int64_t n = 0; n < machine->core_count; n++)
    if (is_first(machine, n))
      add_group(subject, n, &table);
  for (int64_t n = 0; n < machine->numa_count; n++)
    if (machine->numa[n].core_count == 0)
      topo_table_add(&table, (const char *[]){topo_number_text(arena, machine->numa[n].package),
                                              topo_number_text(arena, machine->numa[n].number),
                                              topo_bytes_text(arena, machine->numa[n].memory_bytes), "-", "-", "none",
                                              "none", ""});
  topo_table_print(&table);
}

/* ---- distances ---- */

static void print_distances(const topo_subject *subject) {
  const tt_machine *machine = subject->machine;
  if (!machine->distance)
    return;
  printf("\nNUMA distance\n%4s", "");
  for (int64_t n = 0; n < machine->numa_count; n++)
    printf(" %4d", (int)machine->numa[n].number);
  putchar('\n');
  for (int64_t n = 0; n < machine->numa_count; n++) {
    printf("%4d", (int)machine->numa[n].number);
    for (int64_t m = 0; m < machine->numa_count; m++)
      printf(" %4" PRIu64, machine->distance[n * machine->numa_count + m]);
    putchar('\n');
  }
}

/* ---- what is attached ---- */

/* What a job here would take, and what comes after that: TUTTI_NICS is this machine's, not that of a recorded one. */
static tutti_status choose(const topo_subject *subject, tt_nic chosen[TT_NICS_MOST], int64_t *count) {
  memcpy(chosen, subject->nic, sizeof subject->nic);
  *count = subject->nic_count;
  return tt_nics_choose(subject->path[0] ? "" : tt_options_get()->nics, chosen, count);
}

static const char *rail_text(tt_arena *arena, const tt_nic *nic, const tt_nic *chosen, int64_t count) {
  for (int64_t n = 0; n < count; n++)
    if (strcmp(chosen[n].name, nic->name) == 0)
      return n < TT_RAILS_MOST ? "yes" : tt_arena_format(arena, "no: at most %d are used", TT_RAILS_MOST);
  return nic->unfit[0] ? tt_arena_format(arena, "no: it %s", nic->unfit) : "no: TUTTI_NICS does not name it";
}

static tutti_status print_nics(topo_subject *subject) {
  tt_arena *arena = &subject->arena;
  tt_nic chosen[TT_NICS_MOST];
  int64_t count;
  tutti_status status = choose(subject, chosen, &count);
  count = status == TUTTI_OK ? count : 0;
  topo_table table = topo_table_make(arena, (const char *[]){"NIC", "link", "speed", "NUMA", "address", "rail", NULL});
  for (int64_t n = 0; n < subject->nic_count; n++) {
    const tt_nic *nic = &subject->nic[n];
    char address[INET6_ADDRSTRLEN + 4];
    tt_nics_format_address(nic, address);
    const char *kept = tt_arena_format(arena, "%s", address);
    const char *why = rail_text(arena, nic, chosen, count);
    topo_table_add(&table,
                   (const char *[]){nic->name, nic->up ? "up" : "down", topo_speed_text(arena, nic->bits_per_second),
                                    topo_number_text(arena, nic->numa_node), kept ? kept : "", why ? why : ""});
  }
  topo_table_print(&table);
  return status;
}

static void print_devices(topo_subject *subject) {
  const tt_machine *machine = subject->machine;
  tt_arena *arena = &subject->arena;
  topo_table table = topo_table_make(arena, (const char *[]){"device", "kind", "package", "NUMA", NULL});
  for (int64_t n = 0; n < machine->device_count; n++) {
    const tt_machine_device *device = &machine->device[n];
    topo_table_add(
        &table, (const char *[]){device->name, device->kind, topo_number_text(arena, device->package),
                                 topo_number_text(arena, device->numa >= 0 ? machine->numa[device->numa].number : -1)});
  }
  topo_table_print(&table);
}

tutti_status topo_print_machine(topo_subject *subject) {
  print_title(subject);
  print_cores(subject);
  print_distances(subject);
  tutti_status status = print_nics(subject);
  print_devices(subject);
  return status;
}

/* tools/bench/flow.c - --nics: below a row, what each NIC has sent and received in a call, and the shares of what is
 * needed. */
#include "flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is counted ---- */

/* NULL: there are too many. */
static bench_nic_flow *find_nic(bench_host_flow *flow, const char *name) {
  int n = 0;
  while (n < flow->nic_count && strcmp(flow->nic[n].name, name) != 0)
    n++;
  if (n == BENCH_NICS)
    return NULL;
  if (n == flow->nic_count)
    memcpy(flow->nic[flow->nic_count++].name, name, BENCH_NAME);
  return &flow->nic[n];
}

static void add_host(const bench_machine *machine, const bench_flow *from, bench_host_flow *to) {
  for (int n = 0; n < machine->nic_count; n++) {
    bench_nic_flow *nic = find_nic(to, machine->nic[n].name);
    if (!nic)
      continue;
    nic->sent += from->sent[n];
    nic->received += from->received[n];
  }
}

void bench_stats_add_flow(bench_stats *stats, const bench_map *map, const bench_flow *flow) {
  if (flow && !stats->flow)
    stats->flow = calloc((size_t)map->hosts, sizeof *stats->flow);
  for (int32_t host = 0; host < map->hosts && flow && stats->flow; host++)
    add_host(bench_map_host(map, host), &flow[host], &stats->flow[host]);
}

/* ---- what is printed ---- */

/* "1.02", of what is needed; else in bytes. */
static void print_amount(double bytes, double needed) {
  char size[16];
  if (needed > 0) {
    printf(" %.2f", bytes / needed);
    return;
  }
  tt_format_bytes((int64_t)bytes, size);
  printf(" %s", size);
}

static void print_host(const bench_map *map, int32_t host, const char *library, int width, const bench_row *row,
                       const bench_host_flow *flow) {
  const bench_machine *machine = bench_map_host(map, host);
  double needed = row->bound_bytes * bench_map_machines_on(map, host), sent = 0, received = 0;
  printf("#   %-*s  %-12s", width, library, machine->name);
  for (int n = 0; n < flow->nic_count; n++) {
    const bench_nic_flow *nic = &flow->nic[n];
    printf("  %s out", nic->name);
    print_amount(nic->sent, needed);
    fputs(" in", stdout);
    print_amount(nic->received, needed);
    sent += nic->sent;
    received += nic->received;
  }
  if (flow->nic_count > 1) {
    fputs("  all out", stdout);
    print_amount(sent, needed);
    fputs(" in", stdout);
    print_amount(received, needed);
  }
  putchar('\n');
}

void bench_print_flow(const bench_job *job, const bench_row *row) {
  char size[16];
  int width = 0;
  tt_format_bytes((int64_t)row->bound_bytes, size);
  if (row->bound_bytes > 0)
    printf("#   shares of %s, which the busiest machine has to send or receive\n", size);
  for (int g = 0; g < job->group_count; g++)
    width = (int)strlen(job->group[g].launcher->name) > width ? (int)strlen(job->group[g].launcher->name) : width;
  for (int g = 0; g < job->group_count; g++)
    for (int32_t host = 0; host < job->map->hosts && row->stats[g].flow; host++)
      print_host(job->map, host, job->group[g].launcher->name, width, row, &row->stats[g].flow[host]);
}

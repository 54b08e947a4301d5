/* tools/bench/flow.c - --nics: below a row, what each NIC has sent and received in a call, and the shares of what is
 * needed. */
#include "flow.h"

#include <stdio.h>
#include <string.h>

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
                       const bench_flow *flow) {
  const bench_machine *machine = bench_map_host(map, host);
  double needed = row->bound_bytes * bench_map_machines_on(map, host), sent = 0, received = 0;
  printf("#   %-*s  %-12s", width, library, machine->name);
  for (int n = 0; n < machine->nic_count; n++) {
    printf("  %s out", machine->nic[n].name);
    print_amount(flow->sent[n], needed);
    fputs(" in", stdout);
    print_amount(flow->received[n], needed);
    sent += flow->sent[n];
    received += flow->received[n];
  }
  if (machine->nic_count > 1) {
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

/* tools/tune/load.c - see load.h. The first line of /proc/stat has the time that all processors were used, in ticks;
 * what a hypervisor took away (steal) was used by others as well. Interrupts are left out: most are of the ranks' own
 * messages.
 *
 * Ranks of one system count it once. Containers and test beds may tell them another boot id, but /proc/stat is the
 * same. */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TOLERATED 0.15      /* of a processor: what an idle system does, and the ticks */
#define APART_NS 2000000000 /* between two ranks that look at the same processors */

static bool read_used(FILE *file, tune_load *load) {
  int64_t user, nice, system, idle, wait, irq, softirq, steal;
  long ticks = sysconf(_SC_CLK_TCK);
  if (ticks <= 0 ||
      fscanf(file, "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
             &user, &nice, &system, &idle, &wait, &irq, &softirq, &steal) != 8)
    return false;
  load->used_ns = (user + nice + system + steal) * (INT64_C(1000000000) / ticks);
  return true;
}

static void read_system(tune_load *load) {
  FILE *file = fopen("/proc/stat", "re");
  char line[256];
  bool read = file && read_used(file, load);
  while (read && load->boot_s == 0 && fgets(line, sizeof line, file))
    sscanf(line, "btime %" SCNd64, &load->boot_s);
  if (file)
    fclose(file);
}

tune_load tune_load_of_rank(void) {
  struct timespec own = {.tv_sec = 0};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  tune_load load = {.own_ns = own.tv_sec * INT64_C(1000000000) + own.tv_nsec,
                    .cores = sysconf(_SC_NPROCESSORS_ONLN),
                    .time_ns = tt_clock_ns()};
  read_system(&load);
  return load;
}

/* The time of the boot follows corrections of the clock. */
static bool same_system(const tune_load *a, const tune_load *b) {
  return llabs(a->boot_s - b->boot_s) <= 1 && llabs(a->used_ns - b->used_ns) < APART_NS;
}

static bool is_first(const tune_load *of, int64_t rank) {
  for (int64_t other = 0; other < rank; other++)
    if (same_system(&of[other], &of[rank]))
      return false;
  return true;
}

tune_load tune_load_sum(const tune_load *of, int64_t ranks) {
  tune_load sum = {.time_ns = of[0].time_ns};
  for (int64_t r = 0; r < ranks; r++) {
    bool first = is_first(of, r);
    sum.own_ns += of[r].own_ns;
    sum.used_ns += first ? of[r].used_ns : 0;
    sum.cores += first ? of[r].cores : 0;
  }
  return sum;
}

double tune_load_others(const tune_load *begin, const tune_load *end) {
  double time_ns = (double)(end->time_ns - begin->time_ns);
  double others_ns = (double)((end->used_ns - begin->used_ns) - (end->own_ns - begin->own_ns));
  return time_ns > 0 && end->used_ns > 0 && others_ns > 0 ? others_ns / time_ns : 0;
}

bool tune_load_disturbs(double others, int64_t cores, int64_t ranks) {
  return others > TOLERATED && others + (double)ranks > (double)cores;
}

bool tune_load_shares_cores(int64_t ranks) { return ranks > tt_host_cores(); }

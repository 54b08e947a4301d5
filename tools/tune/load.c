/* tools/tune/load.c - see load.h. The first line of /proc/stat has the time that all processors were used, in ticks;
 * what a hypervisor took away (steal) was used by others as well. */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define TOLERATED 0.15 /* of a processor: what an idle system does, and the ticks */

static int64_t used_ns(void) {
  int64_t user = 0, nice = 0, system = 0, idle, wait, irq = 0, softirq = 0, steal = 0;
  FILE *file = fopen("/proc/stat", "r");
  if (!file)
    return 0;
  int read =
      fscanf(file, "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
             &user, &nice, &system, &idle, &wait, &irq, &softirq, &steal);
  fclose(file);
  long ticks = sysconf(_SC_CLK_TCK);
  return read == 8 && ticks > 0 ? (user + nice + system + irq + softirq + steal) * (INT64_C(1000000000) / ticks) : 0;
}

tune_load tune_load_of_rank(void) {
  struct timespec own = {.tv_sec = 0};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  return (tune_load){.host = tt_host_kernel(),
                     .used_ns = used_ns(),
                     .own_ns = own.tv_sec * INT64_C(1000000000) + own.tv_nsec,
                     .cores = sysconf(_SC_NPROCESSORS_ONLN),
                     .time_ns = tt_clock_ns()};
}

static bool is_first(const tune_load *of, int64_t rank) {
  for (int64_t other = 0; other < rank; other++)
    if (of[other].host == of[rank].host)
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

/* bench/wait.c - the floor under small calls (bench/flags.h), for 2, 4 and 8 ranks and both ways of waiting.
 *
 *     bench_wait [SECONDS]    for each line, default 0.5 */
#include "flags.h"

#include <stdio.h>

int main(int count, char **arguments) {
  double seconds = count > 1 ? atof(arguments[1]) : 0.5;
  int core[1024], cores = bench_cores(core, (int)TT_COUNT(core));
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("ranks  waiting             us a round  yields a round (rank 0), %d cores\n", cores);
  for (int ranks = 2; ranks <= 8; ranks *= 2)
    for (int way = 0; way < 2; way++) {
      bench_flags_result result = bench_flags_measure(core, cores, ranks, way == 1, seconds);
      printf("%5d  %-16s  %12.3f  %14.2f\n", ranks, way == 1 ? "neighbours first" : "in order", result.round_ns * 1e-3,
             result.yields);
    }
  return 0;
}

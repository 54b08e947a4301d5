/* bench/malloc/malloc.c - what scripts/bench_malloc.py runs: CPU time of malloc, a touch of each page, and free.
 * argv: bytes of a block; blocks that live at once; times. Prints nanoseconds for each block: of blocks that are
 * touched for the first time, and of those that are used again. Without builtins: they would drop a block that
 * nobody reads. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PAGE = 4096 };

static size_t bytes;
static int count;
static unsigned char *block[4096];

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void round_of_all(void) {
  for (int n = 0; n < count; n++) {
    block[n] = malloc(bytes);
    if (!block[n])
      exit(1);
    for (size_t at = 0; at < bytes; at += PAGE)
      block[n][at] = 1;
  }
  for (int n = 0; n < count; n++)
    free(block[n]);
}

int main(int argc, char **argv) {
  bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 1 << 20;
  count = argc > 2 ? atoi(argv[2]) : 1;
  int times = argc > 3 ? atoi(argv[3]) : 1000;
  if (count < 1 || count > 4096)
    return 2;
  double begin = now_ns();
  round_of_all();
  double first = now_ns();
  for (int n = 0; n < times; n++)
    round_of_all();
  printf("%.1f %.1f\n", (first - begin) / count, (now_ns() - first) / count / (times > 0 ? times : 1));
  return 0;
}

/* bench/mpi/heap.c - five collectives with buffers as programs have them. Rank 0 prints "collective bytes us", the
 * median of the slowest rank's times. For scripts/bench_heap.py.
 *
 *     heap kept|static|fresh|middle|late ROUNDS
 *         kept     the same buffers all the time
 *         static   the same, of the program's own arrays
 *         fresh    malloc, fill, call, free in each iteration; the time is that of all four
 *         middle   unaligned, in the middle of a larger block
 *         late     rank 0 first, the others 0.1 to 10 ms later; the time is that of all */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLLECTIVES = 5, ROUNDS_MOST = 200, BYTES_MOST = 16 << 20 };

static const char *const names[COLLECTIVES] = {"allreduce", "bcast", "allgather", "reduce_scatter", "alltoall"};
static int size, rank;
static const char *mode;

static float arrays[2][BYTES_MOST / sizeof(float)];

/* Written so that the compiler does not make a calloc of malloc and memset. */
static float *make(size_t bytes, char **block) {
  size_t room = *mode == 'm' ? 2 * bytes + 4096 : bytes;
  *block = malloc(room);
  if (!*block)
    MPI_Abort(MPI_COMM_WORLD, 1);
  memset(*block, 1, room);
  return (float *)(void *)(*block + (*mode == 'm' ? bytes / 2 / 8 * 8 + 40 : 0));
}

static void call(int collective, float *in, float *out, size_t bytes) {
  int count = (int)(bytes / sizeof(float)), part = count / size;
  switch (collective) {
  case 0:
    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    break;
  case 1:
    MPI_Bcast(rank == 0 ? in : out, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    break;
  case 2:
    MPI_Allgather(in, part, MPI_FLOAT, out, part, MPI_FLOAT, MPI_COMM_WORLD);
    break;
  case 3:
    MPI_Reduce_scatter_block(in, out, part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    break;
  default:
    MPI_Alltoall(in, part, MPI_FLOAT, out, part, MPI_FLOAT, MPI_COMM_WORLD);
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double measure(int collective, size_t bytes, int times, float *in, float *out, unsigned *seed) {
  double longest, began;
  MPI_Barrier(MPI_COMM_WORLD);
  if (*mode == 'l' && rank > 0)
    usleep(100 + (unsigned)rand_r(seed) % 9900);
  began = MPI_Wtime();
  for (int n = 0; n < times; n++) {
    char *block[2];
    bool fresh = *mode == 'f';
    float *from = fresh ? make(bytes, &block[0]) : in, *to = fresh ? make(bytes, &block[1]) : out;
    call(collective, from, to, bytes);
    if (fresh) {
      free(block[0]);
      free(block[1]);
    }
  }
  double mine = (MPI_Wtime() - began) / times * 1e6;
  MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, *mode == 'l' ? MPI_MIN : MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

int main(int argc, char **argv) {
  static double took[ROUNDS_MOST];
  unsigned seed;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  mode = argc > 1 ? argv[1] : "kept";
  seed = (unsigned)rank;
  int rounds = argc > 2 ? atoi(argv[2]) : 9;
  rounds = rounds < 1 ? 1 : rounds > ROUNDS_MOST ? ROUNDS_MOST : rounds;
  bool fixed = *mode == 's';
  if (fixed)
    memset(arrays, 1, sizeof arrays); /* what was never written is one page of zeros to all readers */
  for (int collective = 0; collective < COLLECTIVES; collective++)
    for (size_t bytes = 64 << 10; bytes <= BYTES_MOST; bytes *= 4) {
      char *block[2];
      float *in = make(bytes, &block[0]), *out = make(bytes, &block[1]);
      int times = *mode == 'l' ? 1 : (int)((4 << 20) / bytes);
      times = times < 2 ? 2 : times;
      for (int n = -1; n < rounds; n++) {
        double us = measure(collective, bytes, times, fixed ? arrays[0] : in, fixed ? arrays[1] : out, &seed);
        if (n >= 0)
          took[n] = us;
      }
      qsort(took, (size_t)rounds, sizeof *took, compare);
      if (rank == 0)
        printf("%s %zu %.2f\n", names[collective], bytes, took[rounds / 2]);
      free(block[0]);
      free(block[1]);
    }
  MPI_Finalize();
  return 0;
}

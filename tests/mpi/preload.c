/* tests/mpi/preload.c - a rank that starts others: preload [COMMAND]. Its first rank runs COMMAND by the system's
 * shell.
 *
 * With -DLATE it links no MPI: it loads this file built as a library (-DPLUGIN), which does, late and for itself alone,
 * as Python does. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LATE
int main(int argc, char **argv) {
  void *plugin = dlopen(LATE, RTLD_NOW | RTLD_LOCAL);
  int (*entry)(int, char **) = plugin ? (int (*)(int, char **))dlsym(plugin, "entry") : NULL;
  if (!entry)
    return fprintf(stderr, "%s\n", dlerror()), 1;
  return entry(argc, argv);
}
#else
#include <mpi.h>
#include <unistd.h>

#ifdef PLUGIN
#define main entry
#endif

int main(int argc, char **argv) {
  int rank, one = 1, sum = 0;
  if (chdir("/") != 0) /* the preload may have been a relative path */
    return 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && argc > 1 && system(argv[1]) != 0)
    return 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks\n", sum);
  MPI_Finalize();
  return 0;
}
#endif

/* tests/mpi/mpirun.c - says whether tutti stands in front of MPI, and the thread level that MPI_Init gives; ends with a
 * code of the caller's choice: mpirun [CODE]. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_loaded(const char *library) {
  char line[4096];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (!found && maps && fgets(line, sizeof line, maps))
    found = strstr(line, library) != NULL;
  if (maps)
    fclose(maps);
  return found;
}

int main(int argc, char **argv) {
  int rank, ranks, sum, level;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int loaded = is_loaded("/libtutti-"), kept = is_loaded("/libcmocka");
  MPI_Allreduce(MPI_IN_PLACE, &loaded, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&kept, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Query_thread(&level);
  if (rank == 0)
    printf("%d ranks, %d with tutti, %d with another, level %d\n", ranks, loaded, sum, level);
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}

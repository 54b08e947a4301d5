/* tests/mpi/start.c - writes which PMPI_ functions each rank has called in MPI_Init: start FOLDER, a file a rank. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank;
  char path[4096];
  MPI_Init(&argc, &argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void (*counted)(FILE *) = (void (*)(FILE *))dlsym(RTLD_DEFAULT, "counted");
  snprintf(path, sizeof path, "%s/%d", argc > 1 ? argv[1] : ".", rank);
  FILE *file = counted ? fopen(path, "w") : NULL;
  if (!file)
    MPI_Abort(MPI_COMM_WORLD, 1);
  counted(file);
  fclose(file);
  MPI_Finalize();
  return 0;
}

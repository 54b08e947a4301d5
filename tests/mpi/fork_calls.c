/* Children that rank 1 has forked call collectives: with tutti an error in the child, which ends it where errors are
 * fatal, and the job goes on. (An MPI alone takes the call for rank 1's, and the sums are wrong.) */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition);                                    \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)

static void be_child(void) {
  int one = 1, sum = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Request request;
  int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(code != MPI_SUCCESS && MPI_Error_string(code, text, &length) == MPI_SUCCESS);
  CHECK(strstr(text, "allreduce") && strstr(text, "is a fork of rank 1"));
  CHECK(MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
  _exit(0);
}

/* It ends, and the job does not. */
static void be_fatal_child(void) {
  MPI_Comm twin;
  int one = 1, sum;
  CHECK(MPI_Comm_dup(MPI_COMM_SELF, &twin) == MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  _exit(3);
}

static int status_of(void (*be)(void)) {
  pid_t child = fork();
  int status = 0;
  if (child == 0)
    be();
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  alarm(60);
  for (int n = 0; n < 20; n++) {
    if (n == 10 && rank == 1)
      CHECK(status_of(be_child) == 0 && status_of(be_fatal_child) == 1);
    CHECK(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == n * size);
  }
  if (rank == 0)
    puts("all is well");
  MPI_Finalize();
  return 0;
}

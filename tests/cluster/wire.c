/* tests/cluster/wire.c - preloaded beside the interposer: counts tutti's messages, and ends MPICH in an orderly way.
 *
 * tutti sends by PMPI_Isend, which the program itself never calls. wire_messages says how often.
 *
 * MPICH 4.0 on UCX 1.13 hangs in MPI_Finalize, whatever the program, where a rank sees others close their TCP
 * connections before it has begun to close its own: it then waits for ever to flush them. So nobody may be in MPI any
 * more when the first rank closes: the ranks meet at a file, WIRE_FILE, to which each appends a byte. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t messages;

int64_t wire_messages(void);
int64_t wire_messages(void) { return atomic_load_explicit(&messages, memory_order_relaxed); }

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  static int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
  atomic_fetch_add_explicit(&messages, 1, memory_order_relaxed);
  return next(data, count, type, to, tag, comm, request);
}

static void meet(const char *path, int ranks) {
  const struct timespec pause = {0, 1000000};
  struct stat file = {0};
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0 || write(fd, "", 1) != 1)
    return;
  while (fstat(fd, &file) == 0 && file.st_size % ranks != 0)
    nanosleep(&pause, NULL);
  close(fd);
}

int PMPI_Finalize(void) {
  int (*next)(void), ranks = 1;
  *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Finalize");
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  PMPI_Barrier(MPI_COMM_WORLD);
  if (getenv("WIRE_FILE"))
    meet(getenv("WIRE_FILE"), ranks);
  return next();
}

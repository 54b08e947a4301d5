/* tests/mpi/no_thread.c - no thread can be made once MPI has begun, and calls pass while others are outstanding. Linked
 * with -rdynamic. */
#include "request_sum.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static bool full;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
  return full ? EAGAIN : next(thread, attributes, run, argument);
}

int main(int argc, char **argv) {
  MPI_Comm twin;
  MPI_Init(&argc, &argv);
  full = true;
  for (int n = 0; n < 2; n++) {
    sum one = sum_create(1 << 17, MPI_COMM_WORLD);
    sum_start(&one, n);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
    sum_check(&one, n);
    sum_destroy(&one);
    MPI_Comm_free(&twin);
  }
  full = false;
  return MPI_Finalize();
}

/* tests/mpi/comm_threads.c - threads make, use and free communicators at the same time, each from one of its own.
 *
 *     comm_threads [rounds]
 *
 * Threads meet in no common order, so that two communicators that are made at once must not get one number, and none
 * may wait for another thread's. Where MPI has no MPI_THREAD_MULTIPLE, nothing is tested. */
#include "comm_check.h"

#include <pthread.h>

enum { THREADS = 3, LIVE = 4 };

typedef struct job {
  MPI_Comm parent;
  int rounds;
} job;

static MPI_Comm make(MPI_Comm parent, int n) {
  MPI_Comm made;
  int size, rank, wraps = 1;
  MPI_Comm_size(parent, &size);
  MPI_Comm_rank(parent, &rank);
  if (n % 3 == 0)
    MPI_Cart_create(parent, 1, &size, &wraps, 0, &made);
  else if (n % 3 == 1)
    MPI_Comm_split(parent, 0, -rank, &made);
  else
    MPI_Comm_dup(parent, &made);
  return made;
}

static void *run(void *of) {
  const job *mine = of;
  MPI_Comm live[LIVE];
  for (int n = 0; n < mine->rounds; n++) {
    if (n >= LIVE)
      MPI_Comm_free(&live[n % LIVE]);
    live[n % LIVE] = make(mine->parent, n);
    for (int k = 0; k < LIVE && k <= n; k++)
      check_calls(live[k], "threads");
  }
  for (int k = 0; k < LIVE && k < mine->rounds; k++)
    MPI_Comm_free(&live[k]);
  return NULL;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  job jobs[THREADS];
  pthread_t threads[THREADS];
  int count = provided == MPI_THREAD_MULTIPLE ? THREADS : 0;
  MPI_Comm first = make(MPI_COMM_WORLD, 0); /* Open MPI 4.1 loads grids at their first use, not safe from threads */
  MPI_Comm_free(&first);
  for (int t = 0; t < count; t++) {
    jobs[t].rounds = argc > 1 ? atoi(argv[1]) : 50;
    MPI_Comm_dup(MPI_COMM_WORLD, &jobs[t].parent);
  }
  for (int t = 0; t < count; t++)
    pthread_create(&threads[t], NULL, run, &jobs[t]);
  for (int t = 0; t < count; t++)
    pthread_join(threads[t], NULL);
  for (int t = 0; t < count; t++)
    MPI_Comm_free(&jobs[t].parent);
  return check_finish();
}

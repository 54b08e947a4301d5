/* tests/mpi/traps/traps.c - runs one trap; see traps.h. */
#include "traps.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const trap *const lists[] = {trap_progress, trap_blocked, trap_comms, trap_requests, trap_threads,
                                    trap_objects,  trap_misuse,  trap_types, NULL};
static const char *const kinds[] = {"ends", "threads", "", "misuse", "alone", "fatal", "fails"};

int trap_rank, trap_size;
const char *trap_program;
static atomic_int wrong;

void trap_wrong(const char *where, const char *format, ...) {
  char text[300];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (atomic_fetch_add_explicit(&wrong, 1, memory_order_relaxed) < 5)
    printf("WRONG at rank %d, %s: %s\n", trap_rank, where, text);
  fflush(stdout);
}

void trap_allreduce(MPI_Comm comm) {
  int rank, size, sum = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&(int){rank + 1}, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size + 1) / 2, "the sum over %d ranks is %d", size, sum);
}

trap_pending trap_start(MPI_Comm comm) {
  trap_pending made = {
      .comm = comm, .in = malloc(TRAP_LARGE * sizeof(double)), .out = malloc(TRAP_LARGE * sizeof(double))};
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int k = 0; k < TRAP_LARGE; k++)
    made.in[k] = k % 100 + rank;
  MPI_Iallreduce(made.in, made.out, TRAP_LARGE, MPI_DOUBLE, MPI_SUM, comm, &made.request);
  return made;
}

void trap_check(trap_pending *of) {
  int size, k = 0;
  MPI_Comm_size(of->comm, &size);
  while (k < TRAP_LARGE && of->out[k] == k % 100 * size + size * (size - 1) / 2)
    k++;
  CHECK(k == TRAP_LARGE, "element %d of the sum is %g", k, of->out[k]);
  free(of->in);
  free(of->out);
}

void trap_finish(trap_pending *of) {
  MPI_Wait(&of->request, MPI_STATUS_IGNORE);
  trap_check(of);
}

static const trap *find(const char *name) {
  for (int n = 0; lists[n] != NULL; n++)
    for (const trap *row = lists[n]; row->name != NULL; row++)
      if (strcmp(row->name, name) == 0)
        return row;
  return NULL;
}

static int print_list(void) {
  for (int n = 0; lists[n] != NULL; n++)
    for (const trap *row = lists[n]; row->name != NULL; row++)
      if (row->kind != TRAP_CHILD)
        printf("%s %d %s\n", row->name, row->ranks, kinds[row->kind]);
  return 0;
}

static void run(const trap *row) {
  if (trap_rank == 0)
    printf("%s\n", row->name);
  fflush(stdout);
  if (row->kind == TRAP_MISUSE || row->kind == TRAP_ALONE)
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  row->run();
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int count, char **words) {
  int provided, wanted = MPI_THREAD_SINGLE;
  if (count == 2 && strcmp(words[1], "--list") == 0)
    return print_list();
  for (int k = 1; k < count; k++) {
    const trap *row = find(words[k]);
    if (row == NULL) {
      fprintf(stderr, "traps: there is no '%s'\n", words[k]);
      return 2;
    }
    wanted = row->kind == TRAP_THREADS ? MPI_THREAD_MULTIPLE : wanted;
  }
  trap_program = words[0];
  MPI_Init_thread(NULL, NULL, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &trap_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &trap_size);
  CHECK(provided >= wanted, "thread level %d instead of %d", provided, wanted);
  for (int k = 1; k < count; k++)
    run(find(words[k]));
  MPI_Finalize();
  return wrong > 0;
}

/* tests/mpi/share.c - a program of MPI that uses tutti in the job that its calls run on, which move each other on:
 * share some LEVEL, where LEVEL is that of its threads. "share none LEVEL": there is no such job. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#define CHECK(true_) ((true_) ? (void)0 : fail(#true_, __LINE__))
enum { LONG = 1 << 20, TURNS = 300 };

static int rank, size;
static tutti_comm *comm;

static void fail(const char *what, int line) {
  printf("rank %d: line %d: %s: %s\n", rank, line, what, tutti_last_error());
  exit(1);
}

static tutti_context *find(void) {
  tutti_context *context = NULL;
  CHECK(tutti_context_shared(&context) == TUTTI_OK);
  return context;
}

static double *numbers(void) {
  double *made = malloc(LONG * sizeof *made);
  for (int n = 0; n < LONG; n++)
    made[n] = n + rank;
  return made;
}

static void check(const double *out) {
  for (int n = 0; n < LONG; n++)
    CHECK(out[n] == (double)n * size + size * (size - 1) / 2);
}

static void wait_for_tutti(void) { CHECK(tutti_barrier(comm) == TUTTI_OK); }

/* Others get from MPI what needs rank 0, which waits in tutti until they have it. */
static void move_mpi_on(void) {
  double *in = numbers(), *out = calloc(LONG, sizeof *out);
  MPI_Request request;
  MPI_Iallreduce(in, out, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 0)
    wait_for_tutti();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank > 0)
    wait_for_tutti();
  check(out);
  free(in);
  free(out);
}

/* The same with messages of MPI itself. */
static void move_messages_on(void) {
  double *data = numbers();
  MPI_Request request[64];
  for (int r = 1; r < size && rank == 0; r++)
    MPI_Isend(data, LONG, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &request[r - 1]);
  if (rank > 0)
    MPI_Recv(data, LONG, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wait_for_tutti();
  if (rank == 0)
    MPI_Waitall(size - 1, request, MPI_STATUSES_IGNORE);
  CHECK(data[7] == 7);
  free(data);
}

static void move_tutti_on(void) {
  double *in = numbers(), *out = calloc(LONG, sizeof *out);
  tutti_request *request;
  CHECK(tutti_allreduce_start(in, out, LONG, TUTTI_FLOAT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
  for (int r = 1; r < size && rank == 0; r++)
    MPI_Recv(NULL, 0, MPI_INT, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(tutti_wait(&request) == TUTTI_OK);
  if (rank > 0)
    MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  check(out);
  free(in);
  free(out);
}

static void *call_mpi(void *unused) {
  for (int n = 0; n < TURNS; n++) {
    int sum = 0;
    MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == n * size);
  }
  return unused;
}

static void call_both(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, call_mpi, NULL) == 0);
  for (int64_t n = 0; n < TURNS; n++) {
    int64_t sum = 0;
    CHECK(tutti_allreduce(&n, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_OK && sum == n * size);
  }
  pthread_join(thread, NULL);
}

/* Communicators of both have numbers, which must not meet. */
static void make_both(void) {
  enum { MANY = 30 };
  tutti_comm *ours[MANY];
  MPI_Comm theirs[MANY];
  for (int n = 0; n < MANY; n++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &theirs[n]);
    CHECK(tutti_comm_split(comm, 0, 0, &ours[n]) == TUTTI_OK);
  }
  for (int n = 0; n < MANY; n++) {
    int32_t one = 1, sum = 0;
    CHECK(tutti_allreduce(&one, &sum, 1, TUTTI_INT32, TUTTI_SUM, ours[n]) == TUTTI_OK && sum == size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, theirs[n]);
    CHECK(sum == size);
    MPI_Comm_free(&theirs[n]);
    tutti_comm_destroy(ours[n]);
  }
}

static int segments(void) {
  char line[500], last[100] = "", one[100];
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    if (!strstr(line, "/memfd:tutti ") || sscanf(line, "%*s %*s %*s %*s %99s", one) != 1 || strcmp(one, last) == 0)
      continue;
    strcpy(last, one);
    count++;
  }
  fclose(maps);
  return count;
}

static void use(tutti_context *context, int level) {
  CHECK(context != NULL && tutti_comm_create(context, &comm) == TUTTI_OK);
  CHECK(tutti_comm_rank(comm) == rank && tutti_comm_size(comm) == size);
  make_both();
  move_mpi_on();
  move_messages_on();
  move_tutti_on();
  if (level == MPI_THREAD_MULTIPLE)
    call_both();
  CHECK(segments() == 1);
}

int main(int argc, char **argv) {
  int level = atoi(argv[argc - 1]), provided, none = strcmp(argv[1], "none") == 0;
  CHECK(!find());
  MPI_Init_thread(&argc, &argv, level, &provided);
  CHECK(provided == level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  tutti_context *context = find();
  if (none)
    CHECK(!context);
  else
    use(context, level);
  MPI_Finalize();
  CHECK(!find());
  if (!none) {
    wait_for_tutti(); /* who has the context keeps it */
    tutti_comm_destroy(comm);
    tutti_context_destroy(context);
    CHECK(segments() == 0);
  }
  puts("all right");
  return 0;
}

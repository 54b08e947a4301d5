/* Calls on large blocks of malloc that are kept, freed and taken anew, grown and shared with forked children in
 * between: results are right, and a child's memory is its own.
 *
 *     lent N     blocks that the heap lends, and N forks while a long receive is outstanding
 *     off        the same blocks without the heap, and no forks
 *     statics    static arrays
 *     lists N    parts of a block with a gap of N elements
 *     blocks     lists of blocks that lie one behind the other */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: rank %d: CHECK(%s) failed\n", __FILE__, __LINE__, rank, #condition);                     \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)

enum { BLOCKS = 6, ROUNDS = 60, LARGE = 64 << 20 };

static int rank, size;
static unsigned seed = 11; /* the same on all ranks */

typedef struct block {
  int *in, *out;
  int count;
} block;

static void make(block *of, int count) {
  of->count = count;
  of->in = realloc(of->in, (size_t)count * sizeof(int));
  free(of->out);
  of->out = rand_r(&seed) % 2 ? calloc((size_t)count, sizeof(int)) : malloc((size_t)count * sizeof(int));
  CHECK(of->in && of->out);
}

static void fill(const block *of, int round) {
  for (int n = 0; n < of->count; n++)
    of->in[n] = round * 1000 + rank * 17 + n % 1000;
}

static void look(const block *of, int round) {
  for (int n = 0; n < of->count; n++)
    CHECK(of->out[n] == size * (round * 1000 + n % 1000) + 17 * (size * (size - 1) / 2));
}

static void sum(const block *of, int round) {
  MPI_Request request;
  fill(of, round);
  memset(of->out, 0, (size_t)of->count * sizeof(int));
  if (rand_r(&seed) % 2) {
    MPI_Allreduce(of->in, of->out, of->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else {
    MPI_Iallreduce(of->in, of->out, of->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  look(of, round);
}

/* On one rank, between calls and while one is under way. */
static void fork_one(const block *of, int round) {
  MPI_Request request;
  int status = 0;
  fill(of, round);
  MPI_Iallreduce(of->in, of->out, of->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  pid_t child = rank == round % size ? fork() : -1;
  if (child == 0) {
    usleep(2000);
    for (int n = 0; n < of->count; n++)
      CHECK(of->in[n] == round * 1000 + rank * 17 + n % 1000); /* the parent writes to its own */
    memset(of->in, 0x5a, (size_t)of->count * sizeof(int));
    _exit(0);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  look(of, round);
  memset(of->in, 0x77, (size_t)of->count * sizeof(int));
  if (child > 0)
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(of->in[of->count / 2] == 0x77777777);
}

static void expect(const char *in, char mark) {
  for (int n = 0; n < LARGE; n += 4093)
    CHECK(in[n] == mark);
  CHECK(in[LARGE - 1] == mark);
}

/* The child sees what was there before the message came, and so does its own child, which writes to its copy. The
 * parent frees the block in the end, takes it anew and writes to it: neither sees that. */
static void fork_two(char *in, const int done[2]) {
  char end;
  pid_t child = fork();
  if (child != 0)
    return;
  alarm(60);
  close(done[1]);
  pid_t grandchild = fork();
  if (grandchild == 0)
    memset(in, 'g', LARGE);
  CHECK(read(done[0], &end, 1) == 0); /* the parent is through */
  expect(in, grandchild == 0 ? 'g' : 'b');
  int status = 0;
  if (grandchild > 0)
    CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
  _exit(0);
}

/* Forks while a long receive and a sum are outstanding. */
static void fork_receiving(int round) {
  char *in = malloc(LARGE), *out = malloc(LARGE);
  int *sums = calloc(LARGE, 1), done[2] = {-1, -1}, status = 0;
  MPI_Request request[2];
  memset(in, 'b', LARGE);
  memset(out, 'a' + (char)((rank + 1) % size), LARGE);
  for (int n = 0; n < 2; n++)
    MPI_Bcast(in, LARGE, MPI_BYTE, 0, MPI_COMM_WORLD); /* then peers can read it */
  MPI_Irecv(in, LARGE, MPI_BYTE, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &request[0]);
  MPI_Iallreduce(out, sums, LARGE / (int)sizeof(int), MPI_INT, MPI_BXOR, MPI_COMM_WORLD, &request[1]);
  if (rank == round % size) {
    CHECK(pipe(done) == 0);
    usleep((unsigned)rand() % 3000);
    fork_two(in, done);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(out, LARGE, MPI_BYTE, (rank + 1) % size, 5, MPI_COMM_WORLD);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  expect(in, (char)('a' + rank));
  free(in);
  in = malloc(LARGE);
  memset(in, 'n', LARGE);
  close(done[1]);
  close(done[0]);
  CHECK(rank != round % size || (wait(&status) > 0 && status == 0));
  expect(in, 'n');
  free(in);
  free(out);
  free(sums);
}

/* Arrays that are no blocks. */
static void sum_statics(void) {
  static int in[LARGE / 16], out[LARGE / 16];
  block of = {in, out, 0};
  for (int round = 0; round < ROUNDS; round++) {
    of.in = in + rand_r(&seed) % 100;
    of.count = 20000 + (int)(rand_r(&seed) % 200000);
    sum(&of, round);
  }
  fork_one(&of, ROUNDS);
  sum(&of, ROUNDS + 1);
}

/* Parts of a block, one behind the other; gap: but for an element between the first two. */
static void scatter_lists(int gap) {
  int counts[64], offsets[64], total = 0, most = 400000 + 1000 * size;
  CHECK(size <= 64);
  for (int r = 0; r < size; r++) {
    counts[r] = 400000 + 1000 * r;
    offsets[r] = total;
    total += counts[r] + (r == 0 ? gap : 0);
  }
  int *in = malloc((size_t)total * sizeof *in), *out = malloc((size_t)most * sizeof *out);
  for (int round = 0; round < ROUNDS; round++) {
    for (int n = 0; n < total; n++)
      in[n] = n + round;
    MPI_Scatterv(in, counts, offsets, MPI_INT, out, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
    for (int n = 0; n < counts[rank]; n++)
      CHECK(out[n] == offsets[rank] + n + round);
  }
  free(in);
  free(out);
}

static int by_address(const void *a, const void *b) {
  const char *const *x = a, *const *y = b;
  return (*x > *y) - (*x < *y);
}

/* Each a block of its own, which begins where the one before ends. */
static void scatter_blocks(void) {
  enum { MANY = 64, COUNT = 1 << 18 };
  int *made[MANY], counts[MANY], offsets[MANY], first = 0, *out = malloc(COUNT * sizeof *out);
  for (int n = 0; n < MANY; n++)
    made[n] = malloc(COUNT * sizeof **made);
  qsort(made, MANY, sizeof *made, by_address);
  for (int n = 1; n < MANY && n - first < size; n++)
    first = made[n] == made[n - 1] + COUNT ? first : n;
  CHECK(first + size <= MANY);
  for (int r = 0; r < size; r++) {
    counts[r] = COUNT;
    offsets[r] = r * COUNT;
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int r = 0; r < size; r++)
      for (int n = 0; n < COUNT; n++)
        made[first + r][n] = n + r + round;
    MPI_Scatterv(made[first], counts, offsets, MPI_INT, out, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    for (int n = 0; n < COUNT; n++)
      CHECK(out[n] == n + rank + round);
  }
  for (int n = 0; n < MANY; n++)
    free(made[n]);
  free(out);
}

static void sum_blocks(bool forks) {
  static block blocks[BLOCKS];
  for (int round = 0; round < ROUNDS; round++) {
    block *of = &blocks[rand_r(&seed) % BLOCKS];
    if (!of->in || rand_r(&seed) % 4 == 0)
      make(of, 20000 + (int)(rand_r(&seed) % 200000));
    for (int n = 0; n < 3; n++)
      sum(of, round + n);
    if (forks && round % 5 == 4)
      fork_one(of, round);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *what = argc > 1 ? argv[1] : "";
  int number = argc > 2 ? atoi(argv[2]) : 0;
  bool lent = strcmp(what, "lent") == 0;
  alarm(120 + (lent ? 20 * (unsigned)number : 0));
  if (strcmp(what, "statics") == 0) {
    sum_statics();
  } else if (strcmp(what, "lists") == 0) {
    scatter_lists(number);
  } else if (strcmp(what, "blocks") == 0) {
    scatter_blocks();
  } else {
    CHECK(lent || strcmp(what, "off") == 0);
    sum_blocks(lent);
    for (int round = 0; round < number; round++)
      fork_receiving(round);
  }
  if (rank == 0)
    puts("all is well");
  MPI_Finalize();
  return 0;
}

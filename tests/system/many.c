/* A job of many ranks on one machine, for many_test.sh. many HOW: what this rank sees is printed.
 *
 *     sums     data of several collectives and lengths are checked; prints descriptors and their limit
 *     differ   the last rank calls something else than the others: all get the error
 *     part     rank 1 broadcasts with another root, and destroys the communicator like all others
 *     die      rank 5 is killed: all others get the error
 */
#include <tutti/tutti.h>

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: CHECK(%s) failed; last error: %s\n", __FILE__, __LINE__, #condition,                     \
              tutti_last_error());                                                                                     \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static int64_t rank, size;

static int64_t value(int64_t from, int64_t to, int64_t n) { return from * 1000003 + to * 4099 + n; }

static void check_allgather(tutti_comm *comm, int64_t each) {
  int64_t *in = calloc((size_t)each, sizeof *in), *out = calloc((size_t)(each * size), sizeof *out);
  for (int64_t n = 0; n < each; n++)
    in[n] = value(rank, 0, n);
  CHECK(tutti_allgather(in, out, each, TUTTI_INT64, comm) == TUTTI_OK);
  for (int64_t r = 0; r < size; r++)
    for (int64_t n = 0; n < each; n++)
      CHECK(out[r * each + n] == value(r, 0, n));
  free(in);
  free(out);
}

static void check_gather(tutti_comm *comm, int64_t each) {
  int64_t *in = calloc((size_t)each, sizeof *in), *out = calloc((size_t)(each * size), sizeof *out);
  for (int64_t n = 0; n < each; n++)
    in[n] = value(rank, 1, n);
  CHECK(tutti_gather(in, out, each, TUTTI_INT64, size / 2, comm) == TUTTI_OK);
  for (int64_t r = 0; r < size && rank == size / 2; r++)
    for (int64_t n = 0; n < each; n++)
      CHECK(out[r * each + n] == value(r, 1, n));
  free(in);
  free(out);
}

static void check_alltoall(tutti_comm *comm) {
  int64_t *in = calloc((size_t)size, sizeof *in), *out = calloc((size_t)size, sizeof *out);
  for (int64_t r = 0; r < size; r++)
    in[r] = value(rank, r, 0);
  CHECK(tutti_all_to_all(in, out, 1, TUTTI_INT64, comm) == TUTTI_OK);
  for (int64_t r = 0; r < size; r++)
    CHECK(out[r] == value(r, rank, 0));
  free(in);
  free(out);
}

static void check_allreduce(tutti_comm *comm, int64_t count) {
  int64_t *in = calloc((size_t)count, sizeof *in), *out = calloc((size_t)count, sizeof *out);
  for (int64_t n = 0; n < count; n++)
    in[n] = rank + n;
  CHECK(tutti_allreduce(in, out, count, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_OK);
  for (int64_t n = 0; n < count; n++)
    CHECK(out[n] == size * (size - 1) / 2 + size * n);
  free(in);
  free(out);
}

static int descriptors(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (folder && readdir(folder))
    count++;
  if (folder)
    closedir(folder);
  return count;
}

static void sums(tutti_comm *comm) {
  static const int64_t each[] = {1, 3, 64, 65}; /* 512 bytes a rank fit into cells, however many ranks there are */
  struct rlimit limit;
  for (size_t n = 0; n < sizeof each / sizeof *each && size * each[n] < 1 << 14; n++) {
    check_allgather(comm, each[n]);
    check_gather(comm, each[n]);
  }
  for (int n = 0; n < 70; n++) /* more than cells have lines */
    check_allreduce(comm, 1);
  check_allreduce(comm, 1000);
  if (size <= 64)
    check_alltoall(comm);
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("descriptors %d of %" PRIu64 "\n", descriptors(), (uint64_t)limit.rlim_cur);
}

static void say(tutti_status status) {
  printf("%s: %s\n", tutti_status_name(status), status == TUTTI_OK ? "" : tutti_last_error());
}

static void differ(tutti_comm *comm) {
  int64_t one = 1, sum;
  say(rank == size - 1 ? tutti_barrier(comm) : tutti_allreduce(&one, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm));
}

static void part(tutti_comm *comm) {
  int64_t data = rank;
  say(tutti_broadcast(&data, &data, 1, TUTTI_INT64, rank == 1, comm)); /* some may learn it here already */
}

static void die(tutti_comm *comm) {
  int64_t one = 1, sum;
  if (rank == 5)
    raise(SIGKILL);
  say(tutti_allreduce(&one, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm));
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(tutti_comm *comm);
  } how[] = {{"sums", sums}, {"differ", differ}, {"part", part}, {"die", die}};
  tutti_context *context;
  tutti_comm *comm;
  CHECK(argc == 2);
  CHECK(tutti_context_create(NULL, &context) == TUTTI_OK && tutti_comm_create(context, &comm) == TUTTI_OK);
  rank = tutti_comm_rank(comm);
  size = tutti_comm_size(comm);
  for (size_t h = 0; h < sizeof how / sizeof *how; h++)
    if (strcmp(argv[1], how[h].name) == 0)
      how[h].run(comm);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
  return 0;
}

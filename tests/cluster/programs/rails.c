/* tests/cluster/programs/rails.c - the same long sum again and again, on command, while cables are cut.
 *
 *     rails MEGABYTES COMMANDS ANSWERS
 *
 * COMMANDS and ANSWERS are pipes of rank 0: for each line "sum" all ranks sum vectors of float32, none of which is
 * exact, and compare every bit with what the first sum gave; then rank 0 answers "right" and the milliseconds it took.
 * "late": rank 1 comes four seconds later than the others.
 * The first sum is compared with the true one. The end of COMMANDS is the end. */
#include "join.h"

#include <math.h>
#include <unistd.h>

static int64_t count;
static float *in, *out, *first;

static float value_of(int64_t rank, int64_t index) {
  return (float)((uint32_t)(rank * 7919 + index * 31) * 2654435761u >> 8) / 3.0f;
}

static void compare_with_truth(int64_t size) {
  for (int64_t n = 0; n < count; n++) {
    double sum = 0;
    for (int64_t rank = 0; rank < size; rank++)
      sum += (double)value_of(rank, n);
    CHECK(fabs((double)first[n] - sum) <= 1e-5 * sum);
  }
}

/* How long it took. */
static int64_t sum_up(tutti_comm *comm) {
  int64_t from_ns = join_now_ns();
  memset(out, 0xff, (size_t)count * sizeof *out);
  CHECK(tutti_allreduce(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK);
  return join_now_ns() - from_ns;
}

/* What rank 0 reads, all know. */
static bool next_command(FILE *commands, tutti_comm *comm) {
  char line[64] = "";
  bool read = commands && fgets(line, sizeof line, commands);
  int32_t go_on = !read ? 0 : strcmp(line, "sum\n") == 0 ? 1 : strcmp(line, "late\n") == 0 ? 2 : 0;
  CHECK(tutti_broadcast(&go_on, &go_on, 1, TUTTI_INT32, 0, comm) == TUTTI_OK);
  if (go_on == 2 && tutti_comm_rank(comm) == 1)
    sleep(4);
  return go_on;
}

static void work(FILE *commands, FILE *answers, tutti_comm *comm) {
  sum_up(comm);
  memcpy(first, out, (size_t)count * sizeof *out);
  compare_with_truth(tutti_comm_size(comm));
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  if (answers)
    fprintf(answers, "begun\n");
  while (next_command(commands, comm)) {
    int64_t took_ns = sum_up(comm);
    CHECK(memcmp(first, out, (size_t)count * sizeof *out) == 0);
    CHECK(tutti_barrier(comm) == TUTTI_OK); /* all are right, or this one fails */
    if (answers)
      fprintf(answers, "right %.0f\n", (double)took_ns * 1e-6);
  }
}

int main(int argc, char **argv) {
  tutti_comm *comm;
  if (argc != 4)
    return 2;
  tutti_context *context = join_job();
  int64_t rank = tutti_context_rank(context);
  FILE *commands = rank == 0 ? fopen(argv[2], "r") : NULL, *answers = rank == 0 ? fopen(argv[3], "w") : NULL;
  CHECK(rank != 0 || (commands && answers));
  if (answers)
    setvbuf(answers, NULL, _IOLBF, 0);
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  count = atoll(argv[1]) * (1 << 20) / (int64_t)sizeof *in;
  in = malloc((size_t)count * sizeof *in);
  out = malloc((size_t)count * sizeof *out);
  first = malloc((size_t)count * sizeof *first);
  CHECK(in && out && first);
  for (int64_t n = 0; n < count; n++)
    in[n] = value_of(rank, n);
  work(commands, answers, comm);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
  free(first);
  free(out);
  free(in);
  return 0;
}

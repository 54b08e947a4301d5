/* scripts/followed.c - one rank of the two whose lines followed.py counts: it makes a context, a communicator and calls,
 * and writes what gcov counted after each. Argument: a folder, which gets RANK/PHASE/... */
#include <tutti/tutti.h>

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 64, EARLIER = 200, REPEATS = 20 };

void __gcov_dump(void);
void __gcov_reset(void);

static const char *folder;

/* Counts of what has run since __gcov_reset, as of that phase. */
static void write_counts(int rank, const char *phase, int number) {
  char prefix[4096];
  snprintf(prefix, sizeof prefix, "%s/%d/%s.%d", folder, rank, phase, number);
  setenv("GCOV_PREFIX", prefix, 1);
  __gcov_dump();
  __gcov_reset();
}

static tutti_status add(tutti_comm *comm) {
  static float in[COUNT], out[COUNT];
  return tutti_allreduce(in, out, COUNT, TUTTI_FLOAT32, TUTTI_SUM, comm);
}

static tutti_status follow(void) {
  tutti_context *context;
  tutti_comm *comm;
  __gcov_reset();
  tutti_status status = tutti_context_create(NULL, &context);
  if (status == TUTTI_OK)
    status = tutti_comm_create(context, &comm);
  if (status != TUTTI_OK)
    return status;
  int rank = (int)tutti_comm_rank(comm);
  write_counts(rank, "create", 0);
  status = add(comm);
  write_counts(rank, "first", 0);
  for (int n = 0; n < EARLIER && status == TUTTI_OK; n++)
    status = add(comm);
  write_counts(rank, "rest", 0);
  for (int n = 0; n < REPEATS && status == TUTTI_OK; n++) {
    status = add(comm);
    write_counts(rank, "warm", n);
  }
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
  write_counts(rank, "rest", 1);
  return status;
}

int main(int count, char **arguments) {
  folder = count > 1 ? arguments[1] : ".";
  tutti_status status = follow();
  if (status != TUTTI_OK)
    fprintf(stderr, "%s\n", tutti_last_error());
  return status == TUTTI_OK ? 0 : 1;
}

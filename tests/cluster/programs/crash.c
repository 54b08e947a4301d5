/* tests/cluster/programs/crash.c - ranks that call collectives until they get an error, and say which and when.
 *
 *     crash FOLDER [one]
 *
 * FOLDER/RANK has a line then: when, in seconds since the machine was started; the error's name; its text. Some calls
 * are long, some short, some are requests; half of them are on a communicator of every other rank, unless there is to
 * be but one: a rank that gives up waiting on one leaves the job, and who waits for it on the other cannot name the
 * lost node. */
#include "join.h"

enum { LONGEST = 1 << 20 };

static float in[LONGEST], out[LONGEST];

static tutti_status started_call(int64_t count, tutti_comm *comm) {
  tutti_request *request;
  tutti_status status = tutti_allreduce_start(in, out, count, TUTTI_FLOAT32, TUTTI_MAX, comm, &request);
  return status == TUTTI_OK ? tutti_wait(&request) : status;
}

static tutti_status one_call(int64_t number, tutti_comm *comm) {
  static const int64_t counts[] = {1, 100, 5000, LONGEST};
  int64_t count = counts[number / 8 % 4], root = number % tutti_comm_size(comm);
  switch (number % 4) {
  case 0:
    return tutti_allreduce(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, comm);
  case 1:
    return started_call(count, comm);
  case 2:
    return tutti_broadcast(out, out, count, TUTTI_FLOAT32, root, comm);
  default:
    return tutti_barrier(comm);
  }
}

static void report(const char *folder, int64_t rank, tutti_status status) {
  char path[4096];
  double at_s = (double)join_now_ns() * 1e-9;
  snprintf(path, sizeof path, "%s/%" PRId64, folder, rank);
  FILE *file = fopen(path, "w");
  CHECK(file && fprintf(file, "%.3f %s %s\n", at_s, tutti_status_name(status), tutti_last_error()) > 0);
  CHECK(fclose(file) == 0);
}

int main(int argc, char **argv) {
  tutti_comm *comm[2];
  if (argc < 2)
    return 2;
  tutti_context *context = join_job();
  int64_t rank = tutti_context_rank(context), calls = 0, comms = argc > 2 ? 1 : 2;
  tutti_status status = TUTTI_OK;
  CHECK(tutti_comm_create(context, &comm[0]) == TUTTI_OK);
  CHECK(tutti_comm_split(comm[0], rank % 2, rank, &comm[1]) == TUTTI_OK);
  while (status == TUTTI_OK) {
    status = one_call(calls, comm[calls / 4 % comms]);
    calls++;
  }
  report(argv[1], rank, status);
  tutti_comm_destroy(comm[1]);
  tutti_comm_destroy(comm[0]);
  tutti_context_destroy(context);
  return 0;
}

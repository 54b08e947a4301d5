/* tests/mpi/request_errors.c - a call that ranks make differently: whoever waits for its request is told, once, in the
 * way of the function that completes it. And one that is freed while it runs, and one that is started too late. Only
 * under tutti, since MPI's own collectives do not notice, or do not allow it, or serve it. */
#include "request_sum.h"

#include <string.h>

static double in[4], out[4];
static int early; /* the error, where others found it before this rank began */

/* Its communicator is broken afterwards: each case has its own. */
static MPI_Comm start_wrong(MPI_Request *request) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  *request = MPI_REQUEST_NULL;
  early = MPI_Iallreduce(in, out, rank == 0 ? 1 : 2, MPI_DOUBLE, MPI_SUM, comm, request);
  CHECK(early == MPI_SUCCESS || *request == MPI_REQUEST_NULL);
  return comm;
}

/* With a message beside, which is fine. */
static MPI_Comm start_both(MPI_Request request[2], int *value) {
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &request[1]);
  MPI_Request_free(&request[1]);
  MPI_Irecv(value, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &request[1]);
  return start_wrong(&request[0]);
}

static void check_told(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  CHECK(early == MPI_SUCCESS || code == MPI_SUCCESS);
  code = early != MPI_SUCCESS ? early : code;
  CHECK(code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS);
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, "rank"));
}

/* Nothing is left to be told: the next call on another communicator is fine. */
static void finish(MPI_Comm comm, MPI_Request *request, int count) {
  sum one = sum_create(3, MPI_COMM_WORLD);
  for (int n = 0; n < count; n++)
    CHECK(request[n] == MPI_REQUEST_NULL);
  if (comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
  sum_start(&one, 1);
  CHECK(MPI_Wait(&one.request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  sum_check(&one, 1);
  sum_destroy(&one);
}

static void wait_one(void) {
  MPI_Request request;
  MPI_Comm comm = start_wrong(&request);
  check_told(MPI_Wait(&request, MPI_STATUS_IGNORE));
  finish(comm, &request, 1);
}

static void test_one(void) {
  MPI_Request request;
  MPI_Comm comm = start_wrong(&request);
  int done = 0, code = MPI_SUCCESS;
  while (!done)
    code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  check_told(code);
  finish(comm, &request, 1);
}

static void wait_all(void) {
  MPI_Request request[2];
  MPI_Status status[2];
  int value = -1;
  MPI_Comm comm = start_both(request, &value);
  status[0].MPI_ERROR = status[1].MPI_ERROR = MPI_SUCCESS;
  CHECK(MPI_Waitall(2, request, status) == (early ? MPI_SUCCESS : MPI_ERR_IN_STATUS));
  check_told(status[0].MPI_ERROR);
  CHECK(status[1].MPI_ERROR == MPI_SUCCESS && value == (rank + size - 1) % size);
  finish(comm, request, 2);
}

static void wait_any(void) {
  MPI_Request request[2];
  int value = -1, index;
  MPI_Comm comm = start_both(request, &value);
  for (int left = early ? 1 : 2; left > 0; left--) {
    int code = MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    if (index == 0)
      check_told(code);
    else
      CHECK(code == MPI_SUCCESS);
  }
  finish(comm, request, 2);
}

static void test_some(void) {
  MPI_Request request[2];
  MPI_Status status[2];
  int value = -1, done, index[2], told = 0;
  MPI_Comm comm = start_both(request, &value);
  for (int left = early ? 1 : 2; left > 0; left -= done) {
    int code = MPI_Testsome(2, request, &done, index, status);
    for (int n = 0; n < done && code == MPI_ERR_IN_STATUS; n++)
      told += status[n].MPI_ERROR != MPI_SUCCESS && index[n] == 0;
  }
  CHECK(told == (early ? 0 : 1));
  finish(comm, request, 2);
}

/* While another function waits, in MPI, for something else. */
static void in_a_receive(void) {
  MPI_Request request[2];
  int value = -1;
  MPI_Comm comm = start_wrong(&request[0]);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 4, &value, 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  check_told(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  finish(comm, request, 1);
}

static int handled;

static void count_error(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  handled++;
}

static void handler_of_the_program(void) {
  MPI_Request request;
  MPI_Errhandler handler;
  MPI_Comm comm = start_wrong(&request);
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  check_told(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(handled == (early ? 0 : 1));
  MPI_Errhandler_free(&handler);
  finish(comm, &request, 1);
}

/* Its errors were returned, and those of MPI_COMM_WORLD end the job. */
static void communicator_that_is_freed(void) {
  MPI_Request request;
  MPI_Comm comm = start_wrong(&request);
  MPI_Comm_free(&comm);
  check_told(MPI_Wait(&request, MPI_STATUS_IGNORE));
  finish(MPI_COMM_NULL, &request, 1);
}

/* Its buffers may be used when a later call on the communicator is complete. */
static void freed_while_it_runs(void) {
  sum one = sum_create(100000, MPI_COMM_WORLD);
  sum_start(&one, 5);
  CHECK(MPI_Request_free(&one.request) == MPI_SUCCESS && one.request == MPI_REQUEST_NULL);
  finish(MPI_COMM_NULL, NULL, 0);
  sum_check(&one, 5);
  sum_destroy(&one);
}

/* Without having been waited for. */
static void freed_when_it_has_failed(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  early = MPI_Allreduce_init(in, out, rank == 0 ? 1 : 2, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
  if (early == MPI_SUCCESS)
    early = MPI_Start(&request);
  for (int done = early != MPI_SUCCESS; !done;)
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  check_told(request == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_Request_free(&request));
  finish(comm, &request, 1);
}

static MPI_Request late;
static bool ended;

static int start_late(MPI_Comm self, int key, void *value, void *extra) {
  (void)self, (void)key, (void)value, (void)extra;
  int class;
  for (int n = 0; n < 2; n++) {
    MPI_Error_class(n ? MPI_Startall(1, &late) : MPI_Start(&late), &class);
    CHECK(class == MPI_ERR_REQUEST);
  }
  CHECK(MPI_Request_free(&late) == MPI_SUCCESS && late == MPI_REQUEST_NULL);
  ended = true;
  return MPI_SUCCESS;
}

/* In MPI_Finalize. */
static void started_too_late(void) {
  int key;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Allreduce_init(in, out, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &late);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, start_late, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void (*const cases[])(void) = {wait_one,
                                 test_one,
                                 wait_all,
                                 wait_any,
                                 test_some,
                                 in_a_receive,
                                 handler_of_the_program,
                                 communicator_that_is_freed,
                                 freed_while_it_runs,
                                 freed_when_it_has_failed,
                                 started_too_late};
  for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
    cases[n]();
  if (rank == 0)
    printf("errors: all told\n");
  MPI_Finalize();
  return !ended;
}

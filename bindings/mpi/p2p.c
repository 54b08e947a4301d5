/* bindings/mpi/p2p.c - MPI's blocking point-to-point calls: while works are outstanding, the call's non-blocking form
 * and a wait that moves works on. With nothing outstanding they are MPI's own.
 *
 * MPI_Bsend never waits, so there is none here. MPI_Sendrecv_replace has no non-blocking form: the helper thread.
 * MPICH's MPI_Irecv from MPI_PROC_NULL tells a wrong status, so that there MPI_Recv, which does not wait then, tells
 * it. */
#include "progress.h"
#include "state.h"
#include "wait.h"

/* ---- with counts of both sizes ---- */

static int wait_for_sent(int result, MPI_Request *request) {
  return result == MPI_SUCCESS ? tt_mpi_wait(request, MPI_STATUS_IGNORE) : result;
}

#define SEND(Name, Iname, count_type)                                                                                  \
  int MPI_##Name(const void *buffer, count_type count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {            \
    MPI_Request request;                                                                                               \
    if (tt_mpi_alone())                                                                                                \
      return PMPI_##Name(buffer, count, type, to, tag, comm);                                                          \
    return wait_for_sent(PMPI_##Iname(buffer, count, type, to, tag, comm, &request), &request);                        \
  }

#define RECEIVE(Name, Iname, count_type)                                                                               \
  int MPI_##Name(void *buffer, count_type count, MPI_Datatype type, int from, int tag, MPI_Comm comm,                  \
                 MPI_Status *status) {                                                                                 \
    MPI_Request request;                                                                                               \
    if (from == MPI_PROC_NULL || tt_mpi_alone())                                                                       \
      return PMPI_##Name(buffer, count, type, from, tag, comm, status);                                                \
    int result = PMPI_##Iname(buffer, count, type, from, tag, comm, &request);                                         \
    return result == MPI_SUCCESS ? tt_mpi_wait(&request, status) : result;                                             \
  }

#define MATCHED_RECEIVE(Name, Iname, count_type)                                                                       \
  int MPI_##Name(void *buffer, count_type count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {        \
    MPI_Request request;                                                                                               \
    if (tt_mpi_alone())                                                                                                \
      return PMPI_##Name(buffer, count, type, message, status);                                                        \
    int result = PMPI_##Iname(buffer, count, type, message, &request);                                                 \
    return result == MPI_SUCCESS ? tt_mpi_wait(&request, status) : result;                                             \
  }

/* What was not sent is not received either. */
static int wait_for_both(int result, MPI_Request *sent, MPI_Request *received, MPI_Status *status) {
  if (result != MPI_SUCCESS) {
    PMPI_Cancel(received);
    PMPI_Wait(received, MPI_STATUS_IGNORE);
    return result;
  }
  result = tt_mpi_wait(sent, MPI_STATUS_IGNORE);
  int result_received = tt_mpi_wait(received, status);
  return result == MPI_SUCCESS ? result_received : result;
}

#define SEND_RECEIVE(Name, Isend, Irecv, Recv, count_type)                                                             \
  int MPI_##Name(const void *out, count_type out_count, MPI_Datatype out_type, int to, int out_tag, void *in,          \
                 count_type in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status) { \
    MPI_Request sent, received;                                                                                        \
    if (tt_mpi_alone())                                                                                                \
      return PMPI_##Name(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);    \
    int result = PMPI_##Irecv(in, in_count, in_type, from, in_tag, comm, &received);                                   \
    if (result != MPI_SUCCESS)                                                                                         \
      return result;                                                                                                   \
    result =                                                                                                           \
        wait_for_both(PMPI_##Isend(out, out_count, out_type, to, out_tag, comm, &sent), &sent, &received, status);     \
    return from == MPI_PROC_NULL && result == MPI_SUCCESS                                                              \
               ? PMPI_##Recv(in, in_count, in_type, from, in_tag, comm, status)                                        \
               : result;                                                                                               \
  }

#define REPLACE(Name, count_type)                                                                                      \
  int MPI_##Name(void *buffer, count_type count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,         \
                 MPI_Comm comm, MPI_Status *status) {                                                                  \
    tt_mpi_pass_begin();                                                                                               \
    int result = PMPI_##Name(buffer, count, type, to, out_tag, from, in_tag, comm, status);                            \
    tt_mpi_pass_end();                                                                                                 \
    return result;                                                                                                     \
  }

SEND(Send, Isend, int)
SEND(Ssend, Issend, int)
SEND(Rsend, Irsend, int)
RECEIVE(Recv, Irecv, int)
MATCHED_RECEIVE(Mrecv, Imrecv, int)
SEND_RECEIVE(Sendrecv, Isend, Irecv, Recv, int)
REPLACE(Sendrecv_replace, int)

#if MPI_VERSION >= 4
SEND(Send_c, Isend_c, MPI_Count)
SEND(Ssend_c, Issend_c, MPI_Count)
SEND(Rsend_c, Irsend_c, MPI_Count)
RECEIVE(Recv_c, Irecv_c, MPI_Count)
MATCHED_RECEIVE(Mrecv_c, Imrecv_c, MPI_Count)
SEND_RECEIVE(Sendrecv_c, Isend_c, Irecv_c, Recv_c, MPI_Count)
REPLACE(Sendrecv_replace_c, MPI_Count)
#endif

/* ---- probe ---- */

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  tt_mpi_progress();
  return PMPI_Iprobe(from, tag, comm, flag, status);
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
  tt_mpi_progress();
  return PMPI_Improbe(from, tag, comm, flag, message, status);
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
  int found = 0, result = MPI_SUCCESS;
  if (tt_mpi_alone())
    return PMPI_Probe(from, tag, comm, status);
  while (!found && result == MPI_SUCCESS && !tt_mpi_quiet())
    result = MPI_Iprobe(from, tag, comm, &found, status);
  if (found || result != MPI_SUCCESS)
    return result;
  tt_mpi_pass_begin();
  result = PMPI_Probe(from, tag, comm, status);
  tt_mpi_pass_end();
  return result;
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
  int found = 0, result = MPI_SUCCESS;
  if (tt_mpi_alone())
    return PMPI_Mprobe(from, tag, comm, message, status);
  while (!found && result == MPI_SUCCESS && !tt_mpi_quiet())
    result = MPI_Improbe(from, tag, comm, &found, message, status);
  if (found || result != MPI_SUCCESS)
    return result;
  tt_mpi_pass_begin();
  result = PMPI_Mprobe(from, tag, comm, message, status);
  tt_mpi_pass_end();
  return result;
}

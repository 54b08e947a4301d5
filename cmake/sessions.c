/* Compiles where an MPI has sessions. */
#include <mpi.h>

int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  return MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
}

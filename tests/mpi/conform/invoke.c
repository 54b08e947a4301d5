/* tests/mpi/conform/invoke.c - MPI's functions in all their forms; see call.h and invoke.inc. */
#include "../persistent.h"
#include "call.h"

#define FORM(name) name
#define COUNTS counts
#define DISPLACEMENTS displacements
#define INVOKE invoke
#include "invoke.inc"
#undef FORM
#undef COUNTS
#undef DISPLACEMENTS
#undef INVOKE

#if MPI_VERSION >= 4
#define LARGE(name) name##_c
#define FORM(name) LARGE(name)
#define COUNTS wide_counts
#define DISPLACEMENTS wide_displacements
#define INVOKE invoke_wide
#include "invoke.inc"
#else
#define invoke_wide invoke
#endif

bool invoke_has_large(void) { return MPI_VERSION >= 4; }

int call_invoke(call *made) {
  if (made->of.collective == BARRIER)
    made->ticket = comms_enter((suite_comm *)made->of.comm);
  return made->of.wide ? invoke_wide(made) : invoke(made);
}

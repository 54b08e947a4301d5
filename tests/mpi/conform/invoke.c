/* tests/mpi/conform/invoke.c - MPI's functions in all their forms; see call.h and invoke.inc. */
#include "call.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* Open MPI 4.1 has persistent collectives as an extension, MPICH 4 has MPI 4's. */
#if MPI_VERSION >= 4
#define PERSISTENT_NAME(Name) MPI_##Name##_init
#define HAS_PERSISTENT true
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PERSISTENT_NAME(Name) MPIX_##Name##_init
#define HAS_PERSISTENT true
#else
#define PERSISTENT_NAME(Name) MPI_I##Name /* not called */
#define HAS_PERSISTENT false
#endif

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

bool invoke_has_persistent(void) { return HAS_PERSISTENT; }

int call_invoke(call *made) {
  if (made->of.collective == BARRIER)
    made->ticket = comms_enter((suite_comm *)made->of.comm);
  return made->of.wide ? invoke_wide(made) : invoke(made);
}

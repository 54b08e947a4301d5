/* bindings/mpi/library.h - which MPI runs, by the name that wisdom has for it. Needs nothing but <mpi.h>: `tutti tune`
 * measures an MPI under the same name. */
#ifndef TT_MPI_LIBRARY_H
#define TT_MPI_LIBRARY_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TT_MPI_LIBRARY_TEXT = 40 };

/* "openmpi-4.1", "mpich-4.0": of the library that runs, which need not be that of the headers. "": it does not say. */
static inline void tt_mpi_library_name(char name[static TT_MPI_LIBRARY_TEXT]) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, major = 0, minor = 0;
#ifdef OPEN_MPI
  const char *kind = "openmpi";
#else
  const char *kind = "mpich";
#endif
  PMPI_Get_library_version(text, &length);
  name[0] = '\0';
  if (sscanf(text + strcspn(text, "0123456789"), "%d.%d", &major, &minor) == 2)
    snprintf(name, TT_MPI_LIBRARY_TEXT, "%s-%d.%d", kind, major, minor);
}

#endif

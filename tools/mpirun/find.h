/* tools/mpirun/find.h - which MPI a program needs, and where its launcher and tutti's library for it are. */
#ifndef TUTTI_TOOLS_MPIRUN_FIND_H
#define TUTTI_TOOLS_MPIRUN_FIND_H

#include "tools/shared/shared.h"

typedef struct mpirun_kind {
  const char *name;         /* as users write it, and as in libtutti-NAME.so */
  const char *about;        /* in messages */
  const char *libraries[2]; /* what its programs need */
  const char *version;      /* a word of what its launcher says of itself */
  const char *launchers[4]; /* in PATH; the first that is of this MPI */
  bool sets_each;           /* the launcher's options hold up to the next ":" */
} mpirun_kind;

const mpirun_kind *mpirun_kind_named(const char *name);
/* Of the first argument that is a program which needs an MPI. NULL: none of them says. */
const mpirun_kind *mpirun_kind_of_programs(char **arguments, const char **program);
/* Of a launcher, by what it says of itself. NULL: of no MPI known here, or there is none. */
const mpirun_kind *mpirun_kind_of_launcher(const char *launcher);
/* false: there is none; then `path` is where the library was looked for last. */
bool mpirun_find_launcher(const mpirun_kind *kind, char path[static TOOL_PATH]);
bool mpirun_find_library(const mpirun_kind *kind, char path[static TOOL_PATH]);

#endif

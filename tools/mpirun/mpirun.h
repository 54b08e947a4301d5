/* tools/mpirun/mpirun.h - the parts of `tutti mpirun`: which MPI, which launcher, which library. */
#ifndef TOOLS_MPIRUN_H
#define TOOLS_MPIRUN_H

#include <stdbool.h>
#include <stddef.h>

enum { MPIRUN_PATH = 4096 };

typedef struct mpirun_kind {
  const char *name;         /* as users write it, and as in libtutti-NAME.so */
  const char *about;        /* in messages */
  const char *libraries[2]; /* what its programs need */
  const char *version;      /* a word of what its launcher says of itself */
  const char *launchers[4]; /* in PATH; the first that is of this MPI */
  bool sets_each;           /* the launcher's options hold up to the next ":" */
} mpirun_kind;

extern const mpirun_kind mpirun_kinds[2];

/* All write a path or a reason to `text`, of MPIRUN_PATH bytes. */
const mpirun_kind *mpirun_kind_named(const char *name);
/* Of the first argument that is a program which needs an MPI. NULL: none of them says. */
const mpirun_kind *mpirun_kind_of_programs(char **arguments, const char **program);
/* Of a launcher, by what it says of itself. NULL: of no MPI known here, or there is none. */
const mpirun_kind *mpirun_kind_of_launcher(const char *launcher);
bool mpirun_find_launcher(const mpirun_kind *kind, char *text);
bool mpirun_find_library(const mpirun_kind *kind, char *text);
bool mpirun_find_in_path(const char *program, char *text);

/* What a command prints, of both streams; false where it could not be run. */
bool mpirun_output_of(char *const *command, char *text, size_t size);

#endif

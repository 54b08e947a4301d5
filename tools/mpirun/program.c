/* tools/mpirun/program.c - where the program stands among the arguments of an MPI's launcher, for --wrap.
 *
 * It is the first word that is a program. Values of options may look like one, as in `--map-by node` where Node.js is
 * installed: options that can have such values are listed, of Open MPI, PRRTE and MPICH. */
#include "program.h"

#include "tools/shared/shared.h"

#include <string.h>

static const struct {
  const char *name; /* without dashes: one or two are the same */
  int values;
} options[] = {
    {"x", 1},
    {"mca", 2},
    {"gmca", 2},
    {"omca", 2},
    {"pmca", 2},
    {"prtemca", 2},
    {"pmixmca", 2},
    {"tune", 1},
    {"am", 1},
    {"app", 1},
    {"host", 1},
    {"H", 1},
    {"hosts", 1},
    {"hostfile", 1},
    {"default-hostfile", 1},
    {"machinefile", 1},
    {"rankfile", 1},
    {"rf", 1},
    {"f", 1},
    {"map-by", 1},
    {"bind-to", 1},
    {"rank-by", 1},
    {"membind", 1},
    {"wdir", 1},
    {"wd", 1},
    {"path", 1},
    {"prefix", 1},
    {"stdin", 1},
    {"s", 1},
    {"output", 1},
    {"output-filename", 1},
    {"preload-files", 1},
    {"launch-agent", 1},
    {"personality", 1},
    {"runtime-options", 1},
    {"display", 1},
    {"env", 2},
    {"genv", 2},
    {"envlist", 1},
    {"genvlist", 1},
    {"iface", 1},
    {"launcher", 1},
    {"bootstrap", 1},
    {"launcher-exec", 1},
    {"bootstrap-exec", 1},
    {"rmk", 1},
    {"demux", 1},
    {"configfile", 1},
};

static int values_of(const char *word) {
  const char *name = word + strspn(word, "-");
  for (size_t o = 0; o < TT_COUNT(options); o++)
    if (strcmp(name, options[o].name) == 0)
      return options[o].values;
  return 0;
}

char **mpirun_program_of(char **arguments) {
  char path[TOOL_PATH];
  for (; *arguments != NULL && strcmp(*arguments, ":") != 0; arguments++) {
    if (**arguments != '-' && tool_find_program(*arguments, path))
      return arguments;
    for (int left = **arguments == '-' ? values_of(*arguments) : 0; left > 0 && arguments[1] != NULL; left--)
      arguments++;
  }
  return NULL;
}

/* tools/tune/against.c - `tutti tune --mpi`: becomes `tutti mpirun` with the MPI's program that measures
 * (tools/tune/mpi), which is in libexec/tutti beside bin/. */
#include "against.h"

#include "job/job.h"
#include "tools/shared/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that TUTTI_WISDOM names has to be there when the job starts. */
static tutti_status make_file(void) {
  char path[TT_WISDOM_PATH], machine[TT_MACHINE_TEXT];
  const char *given = getenv("TUTTI_WISDOM");
  tt_wisdom *empty = NULL;
  tutti_status status = tt_wisdom_find(given ? given : "", true, path, machine);
  if (status == TUTTI_OK && access(path, F_OK) != 0) {
    status = tt_wisdom_create(machine, "tutti " TUTTI_VERSION, &empty);
    if (status == TUTTI_OK)
      status = tt_wisdom_write(path, empty);
    tt_wisdom_destroy(empty);
  }
  return status;
}

/* Jobs that go by what it finds have none of these variables. */
int tune_against_mpi(const tune_options *options, int argc, char **argv) {
  static const char *const own[] = {"TUTTI_PARAMS",  "TUTTI_PROFILE",  "TUTTI_VERIFY",
                                    "TUTTI_TIMEOUT", "TUTTI_MPI_ONLY", "TUTTI_STATS"};
  static char self[TOOL_PATH], program[TOOL_PATH + 64];
  tool_words line = {.count = 0};
  int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
  tool_own_path(self);
  snprintf(program, sizeof program, "%.*s/../libexec/tutti/tune-%s",
           (int)(strrchr(self, '/') ? strrchr(self, '/') - self : 0), self, options->mpi);
  if (access(program, X_OK) != 0)
    return tool_fail("tune", EXIT_FAILURE, "there is no %s: that MPI was missing when tutti was built", program);
  if (make_file() != TUTTI_OK)
    return tool_fail("tune", EXIT_FAILURE, "%s", tutti_last_error());
  for (size_t n = 0; n < TT_COUNT(own); n++)
    unsetenv(own[n]);
  const char *const words[] = {self, "mpirun", "--mpi", options->mpi, "--always", "-n"};
  for (size_t n = 0; n < TT_COUNT(words); n++)
    tool_words_add(&line, words[n]);
  tool_words_add_number(&line, options->rank_count ? options->rank_count : cores < 2 ? 2 : cores);
  tool_words_add_all(&line, options->launch ? options->launch : "");
  tool_words_add(&line, program);
  for (int n = 1; n < argc; n++)
    tool_words_add(&line, argv[n]);
  if (!line.failed)
    execv(self, line.word);
  tool_words_finish(&line);
  return tool_fail("tune", EXIT_FAILURE, "cannot start %s", self);
}

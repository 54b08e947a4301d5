/* tools/tune/against.c - `tutti tune --mpi`: for each number of ranks, `tutti mpirun` with the MPI's program that
 * measures (tools/tune/mpi), which is in libexec/tutti beside bin/. */
#include "against.h"

#include "job/job.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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
static void forget_variables(void) {
  static const char *const own[] = {"TUTTI_PARAMS",  "TUTTI_PROFILE",  "TUTTI_VERIFY",
                                    "TUTTI_TIMEOUT", "TUTTI_MPI_ONLY", "TUTTI_STATS"};
  for (size_t n = 0; n < TT_COUNT(own); n++)
    unsetenv(own[n]);
}

static int find_program(const char *mpi, char self[static TOOL_PATH], char program[static TOOL_PATH + 64]) {
  tool_own_path(self);
  snprintf(program, TOOL_PATH + 64, "%.*s/../libexec/tutti/tune-%s",
           (int)(strrchr(self, '/') ? strrchr(self, '/') - self : 0), self, mpi);
  if (access(program, X_OK) == 0)
    return EXIT_SUCCESS;
  return tool_fail(
      "tune", EXIT_FAILURE,
      "there is no %s (that MPI was missing when tutti was built, or the Debian package libtutti-%s is not "
      "installed)",
      program, mpi);
}

/* Becomes the job of so many ranks, which has a part of the time; of options that are said twice the last counts. */
static void exec_job(const tune_options *options, int64_t ranks, int64_t budget_ns, int argc, char **argv) {
  static char self[TOOL_PATH], program[TOOL_PATH + 64];
  char budget[32];
  tool_words line = {.count = 0};
  if (find_program(options->mpi, self, program) != EXIT_SUCCESS)
    return;
  const char *const words[] = {self, "mpirun", "--mpi", options->mpi, "--always", "-n"};
  for (size_t n = 0; n < TT_COUNT(words); n++)
    tool_words_add(&line, words[n]);
  tool_words_add_number(&line, ranks);
  tool_words_add_all(&line, options->launch ? options->launch : "");
  tool_words_add(&line, program);
  for (int n = 1; n < argc; n++)
    tool_words_add(&line, argv[n]);
  snprintf(budget, sizeof budget, "--budget=%" PRId64 "ns", budget_ns);
  tool_words_add(&line, budget);
  if (!line.failed)
    execv(self, line.word);
  tool_words_finish(&line);
  tool_fail("tune", 0, "cannot start %s", self);
}

static int run_job(const tune_options *options, int64_t ranks, int64_t budget_ns, int argc, char **argv) {
  int state = 0;
  fflush(NULL);
  pid_t job = fork();
  if (job == 0) {
    exec_job(options, ranks, budget_ns, argc, argv);
    _exit(EXIT_FAILURE);
  }
  if (job < 0 || waitpid(job, &state, 0) != job || !WIFEXITED(state))
    return tool_fail("tune", EXIT_FAILURE, "the job of %" PRId64 " ranks was ended", ranks);
  return WEXITSTATUS(state);
}

/* Those of --ranks, else powers of two and -n. */
static int choose_ranks(const tune_options *options, int64_t ranks[static TUNE_RANKS]) {
  int64_t cores = sysconf(_SC_NPROCESSORS_ONLN), most = options->rank_count;
  int count = options->rank_kinds;
  most = most ? most : cores < 2 ? 2 : cores;
  memcpy(ranks, options->ranks, (size_t)count * sizeof *ranks);
  for (int64_t n = 2; n < most && options->rank_kinds == 0; n *= 2)
    ranks[count++] = n;
  if (options->rank_kinds == 0)
    ranks[count++] = most;
  return count;
}

/* Ranks that have cores of their own wait otherwise than those that share, in the MPI too: so each number of ranks has
 * a job. */
int tune_against_mpi(const tune_options *options, int argc, char **argv) {
  int64_t ranks[TUNE_RANKS];
  int count = choose_ranks(options, ranks), code = EXIT_SUCCESS;
  for (int n = 0; n < count; n++)
    if (ranks[n] < 2 || (options->rank_count && ranks[n] > options->rank_count))
      return tool_misused("tune", "--mpi needs at least 2 ranks, and --ranks no more than -n: not %" PRId64, ranks[n]);
  if (make_file() != TUTTI_OK)
    return tool_fail("tune", EXIT_FAILURE, "%s", tutti_last_error());
  forget_variables();
  for (int n = 0; n < count && code == EXIT_SUCCESS; n++)
    code = run_job(options, ranks[n], options->budget_ns / count, argc, argv);
  return code;
}

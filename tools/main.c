/* tools/main.c - the `tutti` command: a table of subcommands. */
#include "base/base.h"
#include "tools/bench/bench.h"
#include "tools/explain/explain.h"
#include "tools/info/info.h"
#include "tools/mpirun/mpirun.h"
#include "tools/plan/plan.h"
#include "tools/report/report.h"
#include "tools/run/run.h"
#include "tools/topo/topo.h"
#include "tools/tune/tune.h"
#include "tools/verify/verify.h"
#include "tools/wrap/wrap.h"

#include <tutti/tutti.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *help; /* NULL: not listed */
} command;

static const command table[] = {
    {"run", tt_tool_run, "start a program as a job of several ranks on this machine"},
    {"mpirun", tt_tool_mpirun, "run an MPI program, unchanged, with its collectives on tutti"},
    {"wrap", tt_tool_wrap, "start some ranks under another program, such as gdb, perf or valgrind"},
    {"bench", tt_tool_bench, "measure collectives, and compare them with other libraries"},
    {"tune", tt_tool_tune, "measure which parameters are fastest on this machine, for later jobs"},
    {"plan", tt_tool_plan, "show what a collective does: levels, rounds, messages; as text or picture"},
    {"explain", tt_tool_explain, "say which parameters a call runs with, who has decided that, and what else there is"},
    {"report", tt_tool_report, "write a page about what tutti tune has found, with charts and pictures"},
    {"verify", tt_tool_verify, "prove the plans of every collective, form and preset, or those in a file"},
    {"topo", tt_tool_topo, "show the machine and its NICs, or a network of switches, and where ranks are"},
    {"info", tt_tool_info, "show the version, the machine, and every option with its value"},
    {"bench-worker", tt_tool_bench_worker, NULL},
};

static void print_help(FILE *to) {
  fprintf(to, "tutti " TUTTI_VERSION " - collective communication, compiled to proven plans\n\n"
              "usage: tutti COMMAND [ARGUMENTS]\n\n");
  for (size_t c = 0; c < TT_COUNT(table); c++)
    if (table[c].help != NULL)
      fprintf(to, "  %-8s %s\n", table[c].name, table[c].help);
  fprintf(to, "\n"
              "`tutti COMMAND --help` describes a command. First steps:\n"
              "\n"
              "  tutti run -n 4 ./program\n"
              "  mpirun -n 8 --hostfile hosts ./program     on several machines; mpiexec and srun work too\n"
              "  tutti bench allreduce -n 2\n");
}

static const command *find(const char *name) {
  for (size_t c = 0; c < TT_COUNT(table); c++)
    if (strcmp(table[c].name, name) == 0)
      return &table[c];
  return NULL;
}

/* The command's own arguments; getopt begins its errors with the first of them. */
static int run(const command *chosen, int argc, char **argv) {
  char name[64];
  snprintf(name, sizeof name, "tutti %s", chosen->name);
  argv[0] = name;
  return chosen->run(argc, argv);
}

static bool is_any(const char *word, const char *a, const char *b, const char *c) {
  return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

/* Output that could not be written is a failure, too. */
static int finish(int code) {
  bool lost = fflush(stdout) != 0 || ferror(stdout);
  if (lost)
    fprintf(stderr, "tutti: cannot write to standard output\n");
  return lost && code == 0 ? 1 : code;
}

/* A parent may ignore SIGCHLD: then children could not be waited for. It may have closed an output: then the first
 * file of ours would get what is written there; so it still fails. */
static void repair_start(void) {
  signal(SIGCHLD, SIG_DFL);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
      return;
}

int main(int argc, char **argv) {
  repair_start();
  if (argc < 2) {
    print_help(stderr);
    return 2;
  }
  if (is_any(argv[1], "help", "--help", "-h")) {
    const command *about = argc > 2 ? find(argv[2]) : NULL;
    if (about != NULL)
      return finish(run(about, 2, (char *[]){argv[2], "--help", NULL}));
    print_help(stdout);
    return finish(0);
  }
  if (is_any(argv[1], "version", "--version", "-V")) {
    puts("tutti " TUTTI_VERSION);
    return finish(0);
  }
  const command *chosen = find(argv[1]);
  if (chosen != NULL)
    return finish(run(chosen, argc - 1, argv + 1));
  fprintf(stderr, "tutti: unknown command '%s'; `tutti help` lists the commands\n", argv[1]);
  return 2;
}

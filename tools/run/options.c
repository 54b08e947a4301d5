/* tools/run/options.c - the command line of `tutti run`. */
#include "options.h"

#include "tools/shared/shared.h"

#include <getopt.h> /* optind */
#include <stdio.h>
#include <string.h>

#define RANKS_MOST 4096

static const char help[] =
    "usage: tutti run -n N [OPTIONS] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Starts N processes of PROGRAM on this machine as one job: ranks 0 to N-1. On several machines mpirun, mpiexec or\n"
    "srun start it, as they are (docs/launching.md).\n"
    "\n"
    "  -n, --ranks N     how many ranks\n"
    "  -l, --label       put [rank] before every line that they print\n"
    "      --bind core   each rank on a core of its own: rank r on core r modulo the cores\n"
    "      --bind none   wherever the system puts them\n"
    "                    (default: core where there are as many cores as ranks, else none)\n"
    "      --timeout T   end the job after T: 90, 500ms, 30s (seconds unless said); exit code 124\n"
    "      --grace T     what the other ranks have to end by themselves after one has failed (3s)\n"
    "  -h, --help        this text\n"
    "\n"
    "Input goes to rank 0. Signals to `tutti run` are passed on to all ranks; a second SIGINT or SIGTERM kills them.\n"
    "When a rank fails, the others get SIGTERM after the grace period and SIGKILL 2 s later; the exit code is that\n"
    "of the first rank that failed, 128 + signal where a signal ended it. Nothing that a rank has started survives\n"
    "the job.\n"
    "\n"
    "  tutti run -n 4 --label ./train digits.csv\n"
    "  tutti run -n 2 gdb -batch -ex run -ex backtrace ./program\n";

static int take_ranks(void *to, const char *text) {
  run_options *options = to;
  if (tool_read_number(text, 1, RANKS_MOST, &options->rank_count))
    return TOOL_GO_ON;
  return tool_misused("run", "-n '%s' is no number of ranks from 1 to %d", text, RANKS_MOST);
}

static int take_bind(void *to, const char *text) {
  run_options *options = to;
  if (strcmp(text, "core") != 0 && strcmp(text, "none") != 0)
    return tool_misused("run", "--bind '%s' is neither core nor none", text);
  options->bind = text[0] == 'c' ? RUN_BIND_CORE : RUN_BIND_NONE;
  return TOOL_GO_ON;
}

static int read_time(const char *text, int64_t *time_ns) {
  if (tt_parse_time(text, time_ns) != TUTTI_OK || *time_ns < 0)
    return tool_misused("run", "'%s' is no time such as 500ms or 30s", text);
  return TOOL_GO_ON;
}

static int take_timeout(void *to, const char *text) {
  run_options *options = to;
  return read_time(text, &options->timeout_ns);
}

static int take_grace(void *to, const char *text) {
  run_options *options = to;
  return read_time(text, &options->grace_ns);
}

static int take_help(void *options, const char *value) {
  (void)options;
  (void)value;
  fputs(help, stdout);
  return TOOL_HELPED;
}

static const tool_option rows[] = {
    {"ranks", 'n', TOOL_TAKE, 0, take_ranks}, {"label", 'l', TOOL_SET, offsetof(run_options, label), NULL},
    {"bind", 0, TOOL_TAKE, 0, take_bind},     {"timeout", 0, TOOL_TAKE, 0, take_timeout},
    {"grace", 0, TOOL_TAKE, 0, take_grace},   {"help", 'h', TOOL_DO, 0, take_help},
};

int run_options_parse(int argc, char **argv, run_options *options) {
  *options = (run_options){.grace_ns = 3000000000};
  int result = tool_options_read(argc, argv, "+", rows, TT_COUNT(rows), options);
  if (result == TOOL_UNKNOWN)
    fputs("see `tutti run --help`\n", stderr);
  if (result != TOOL_GO_ON)
    return result == TOOL_HELPED ? TOOL_HELPED : TOOL_MISUSED;
  if (options->rank_count == 0)
    return tool_misused("run", "-n N is missing");
  if (optind == argc)
    return tool_misused("run", "the program is missing");
  options->program = argv + optind;
  return TOOL_GO_ON;
}

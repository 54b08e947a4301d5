/* tools/run/options.c - the command line of `tutti run`. */
#include "options.h"

#include "tools/shared/shared.h"

#include <getopt.h> /* optind */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MOST 4096

static const char help[] =
    "usage: tutti run -n N [OPTIONS] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Starts N processes of PROGRAM on this machine as one job: ranks 0 to N-1. On several machines, start the program\n"
    "with mpirun, mpiexec or srun instead (docs/launching.md).\n"
    "\n"
    "  -n, --ranks N     the number of ranks\n"
    "  -l, --label       print [rank] before every line of output\n"
    "      --bind core   bind each rank to a core: rank r to core r modulo the number of cores\n"
    "      --bind none   let the system place the ranks\n"
    "                    (default: core if there are as many cores as ranks, else none)\n"
    "      --wrap RULE   start ranks under another program: '0,4-7:gdb --args', 'all:valgrind -q';\n"
    "                    can be given several times (see `tutti wrap --help`)\n"
    "      --shared-heap  ranks read each other's large blocks of malloc where they lie: TUTTI_HEAP=on\n"
    "      --timeout T   end the job after T, with exit code 124: 90, 500ms, 30s (seconds without a unit)\n"
    "      --grace T     time that the other ranks have to end after a rank has failed (default 3s)\n"
    "  -h, --help        print this text\n"
    "\n"
    "Rank 0 gets the input. `tutti run` passes signals on to all ranks; a second SIGINT or SIGTERM kills them.\n"
    "When a rank fails, the others get SIGTERM after the grace period and SIGKILL 2 s later. The exit code is that\n"
    "of the first rank that failed, or 128 + signal if a signal ended it. Nothing that a rank has started survives\n"
    "the job. If --wrap starts rank 0 under a debugger, the debugger has the terminal, and Ctrl-C, for itself; leave\n"
    "--label out then, which would hold its prompt back. Other ranks have no input.\n"
    "\n"
    "  tutti run -n 4 --label ./train digits.csv\n"
    "  tutti run -n 4 --wrap '0:gdb --args' ./train digits.csv\n"
    "  tutti run -n 4 --wrap '1-3:gdb -batch -ex run -ex \"thread apply all backtrace\" --args' ./train digits.csv\n";

static int take_ranks(void *to, const char *text) {
  run_options *options = to;
  if (tool_read_number(text, 1, RANKS_MOST, &options->rank_count))
    return TOOL_GO_ON;
  return tool_misused("run", "-n '%s' is not a number from 1 to %d", text, RANKS_MOST);
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
    return tool_misused("run", "'%s' is not a time such as 500ms or 30s", text);
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

static int take_wrap(void *to, const char *rule) {
  run_options *options = to;
  if (wrap_add(&options->wraps, rule) == TUTTI_OK)
    return TOOL_GO_ON;
  return tool_misused("run", "--wrap %s", tutti_last_error());
}

static int take_heap(void *options, const char *value) {
  (void)options;
  (void)value;
  tool_heap_want();
  return TOOL_GO_ON;
}

static int take_help(void *options, const char *value) {
  (void)options;
  (void)value;
  fputs(help, stdout);
  return TOOL_HELPED;
}

static const tool_option rows[] = {
    {"ranks", 'n', TOOL_TAKE, 0, take_ranks},  {"label", 'l', TOOL_SET, offsetof(run_options, label), NULL},
    {"bind", 0, TOOL_TAKE, 0, take_bind},      {"timeout", 0, TOOL_TAKE, 0, take_timeout},
    {"grace", 0, TOOL_TAKE, 0, take_grace},    {"wrap", 0, TOOL_TAKE, 0, take_wrap},
    {"shared-heap", 0, TOOL_DO, 0, take_heap}, {"help", 'h', TOOL_DO, 0, take_help},
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
  if (wrap_check(&options->wraps, options->rank_count) != TUTTI_OK)
    return tool_misused("run", "--wrap %s", tutti_last_error());
  options->program = argv + optind;
  return TOOL_GO_ON;
}

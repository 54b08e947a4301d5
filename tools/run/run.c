/* tools/run/run.c - `tutti run`: a program as a job of several ranks on this machine.
 *
 * Each rank is a process with TUTTI_BOOT, TUTTI_RANK and TUTTI_SIZE in its environment; the launcher serves the
 * allgather by which they find each other (boot/server.c) and sees to it that the job ends as a whole and leaves
 * nothing behind. */
#include "run.h"
#include "tools/tools.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define RANKS_MAXIMUM 4096
#define OWN_DESCRIPTORS 32
#define LINKS_LEAST 64
#define USAGE 2

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
    "      --timeout T   end the job after T, with exit code 124: 90, 500ms, 30s (seconds without a unit)\n"
    "      --grace T     time that the other ranks have to end after a rank has failed (default 3s)\n"
    "  -h, --help        print this text\n"
    "\n"
    "Rank 0 gets the input. `tutti run` passes signals on to all ranks; a second SIGINT or SIGTERM kills them.\n"
    "When a rank fails, the others get SIGTERM after the grace period and SIGKILL 2 s later. The exit code is that\n"
    "of the first rank that failed, or 128 + signal if a signal ended it. Nothing that a rank has started survives\n"
    "the job.\n"
    "\n"
    "  tutti run -n 4 --label ./train digits.csv\n"
    "  tutti run -n 2 gdb -batch -ex run -ex backtrace ./program\n";

static int usage_error(const char *format, const char *value) {
  fputs("tutti run: ", stderr);
  fprintf(stderr, format, value);
  fputs("; see `tutti run --help`\n", stderr);
  return USAGE;
}

static int parse_count(const char *text, int64_t *count) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < 1 || value > RANKS_MAXIMUM)
    return usage_error("-n '%s' is not a number from 1 to 4096", text);
  *count = value;
  return 0;
}

static int parse_bind(const char *text, run_bind *bind) {
  if (strcmp(text, "core") != 0 && strcmp(text, "none") != 0)
    return usage_error("--bind '%s' is neither core nor none", text);
  *bind = text[0] == 'c' ? RUN_BIND_CORE : RUN_BIND_NONE;
  return 0;
}

static int parse_time(const char *text, int64_t *time_ns) {
  if (tt_parse_time(text, time_ns) != TUTTI_OK || *time_ns < 0)
    return usage_error("'%s' is not a time such as 500ms or 30s", text);
  return 0;
}

static int parse_option(int option, const char *value, run_options *options) {
  switch (option) {
  case 'n':
    return parse_count(value, &options->rank_count);
  case 'l':
    options->label = true;
    return 0;
  case 'b':
    return parse_bind(value, &options->bind);
  case 't':
    return parse_time(value, &options->timeout_ns);
  case 'g':
    return parse_time(value, &options->grace_ns);
  default: /* getopt has said what is wrong */
    fputs("see `tutti run --help`\n", stderr);
    return USAGE;
  }
}

/* 0, an exit code, or -1: the help was asked for. */
static int parse(int argc, char **argv, run_options *options) {
  static const struct option table[] = {
      {"ranks", required_argument, NULL, 'n'},
      {"label", no_argument, NULL, 'l'},
      {"bind", required_argument, NULL, 'b'},
      {"timeout", required_argument, NULL, 't'},
      {"grace", required_argument, NULL, 'g'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  int option, code = 0;
  while (code == 0 && (option = getopt_long(argc, argv, "+n:lh", table, NULL)) != -1)
    code = option == 'h' ? -1 : parse_option(option, optarg, options);
  if (code != 0)
    return code;
  if (options->rank_count == 0)
    return usage_error("%s", "-n N is missing");
  if (optind == argc)
    return usage_error("%s", "the program is missing");
  options->program = argv + optind;
  return 0;
}

static void catch_signals(run_job *job) {
  static const int caught[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
  sigset_t set;
  sigemptyset(&set);
  for (size_t c = 0; c < TT_COUNT(caught); c++)
    sigaddset(&set, caught[c]);
  sigprocmask(SIG_BLOCK, &set, &job->signals_mask);
  job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Pipes of each rank, and a connection as far as the launcher may have so many; it allows itself what it can. */
static bool find_room(run_job *job) {
  const run_options *options = job->options;
  rlim_t ranks = (rlim_t)options->rank_count, pipes = options->label ? 2 * ranks : 0;
  rlim_t wanted = pipes + ranks + OWN_DESCRIPTORS;
  rlim_t needed = ranks < LINKS_LEAST ? wanted : pipes + LINKS_LEAST + OWN_DESCRIPTORS;
  getrlimit(RLIMIT_NOFILE, &job->descriptors);
  struct rlimit limit = job->descriptors;
  if (limit.rlim_cur < wanted)
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  job->links = (int64_t)(limit.rlim_cur - pipes - OWN_DESCRIPTORS);
  if (limit.rlim_cur >= needed && setrlimit(RLIMIT_NOFILE, &limit) == 0)
    return true;
  fprintf(stderr, "tutti run: %lld ranks%s need %llu descriptors here, the limit is %llu (ulimit -Hn)\n",
          (long long)options->rank_count, options->label ? " with --label" : "", (unsigned long long)needed,
          (unsigned long long)job->descriptors.rlim_max);
  return false;
}

static void kill_ranks(const run_job *job) {
  for (int64_t r = 0; r < job->options->rank_count; r++)
    if (job->rank[r].pid > 0)
      kill(job->rank[r].pid, SIGKILL);
}

static int run_ranks(run_job *job) {
  if (!run_note_others(job)) {
    fputs("tutti run: no memory\n", stderr);
    return 1;
  }
  for (int64_t r = 0; r < job->options->rank_count; r++) {
    int code = run_start(job, r);
    if (code != 0) {
      kill_ranks(job);
      run_sweep(job);
      return code;
    }
  }
  if (job->options->timeout_ns > 0)
    job->timeout_ns = tt_clock_ns() + job->options->timeout_ns;
  run_watch(job);
  run_sweep(job);
  return job->code;
}

/* Who failed after the first. */
static void say_others(const run_job *job) {
  const char *between = "tutti run: failed after it:";
  bool any = false;
  for (int64_t r = 0; r < job->options->rank_count; r++)
    if (job->rank[r].failed && r != job->first && job->first >= 0) {
      fprintf(stderr, "%s rank %lld", any ? "," : between, (long long)r);
      any = true;
    }
  if (any)
    fputc('\n', stderr);
}

/* A job whose output is lost has failed: as a writer into a closed pipe does, or with a word where nobody else says it.
 */
static int check_output(const run_job *job, int code) {
  if (job->lost != 0 && job->lost != EPIPE)
    fprintf(stderr, "tutti run: cannot write the output: %s\n", strerror(job->lost));
  if (job->lost == 0 || code != 0)
    return code;
  return job->lost == EPIPE ? RUN_BY_SIGNAL + SIGPIPE : 1;
}

static int run_job_of(const run_options *options) {
  run_job job = {.options = options, .first = -1};
  if (!find_room(&job))
    return 1;
  job.rank = calloc((size_t)options->rank_count, sizeof *job.rank);
  if (job.rank == NULL || tt_boot_server_open(options->rank_count, job.links, &job.server) != TUTTI_OK) {
    fprintf(stderr, "tutti run: %s\n", job.rank == NULL ? "no memory" : tutti_last_error());
    free(job.rank);
    return 1;
  }
  for (int64_t r = 0; r < options->rank_count; r++)
    job.rank[r].stream[0].from = job.rank[r].stream[1].from = -1;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  catch_signals(&job);
  int code = check_output(&job, run_ranks(&job));
  say_others(&job);
  for (int64_t r = 0; r < options->rank_count; r++)
    for (int s = 0; s < 2; s++)
      run_stream_close(&job.rank[r].stream[s]);
  close(job.signals);
  tt_boot_server_close(job.server);
  free(job.other);
  free(job.rank);
  return code;
}

int tt_tool_run(int argc, char **argv) {
  run_options options = {.grace_ns = 3000000000};
  int code = parse(argc, argv, &options);
  if (code < 0)
    fputs(help, stdout);
  return code < 0 ? 0 : code > 0 ? code : run_job_of(&options);
}

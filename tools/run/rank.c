/* tools/run/rank.c - starting one rank: environment, core, input and output, and an end with the launcher's. */
#include "rank.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { CANNOT_START = 126, NOT_FOUND = 127 };

bool run_binds(const run_options *options) {
  cpu_set_t cores;
  if (options->bind != RUN_BIND_AUTO)
    return options->bind == RUN_BIND_CORE;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 && options->rank_count <= CPU_COUNT(&cores);
}

/* To the rank-th of the cores that the launcher may use, modulo their number. */
static void bind_core(int64_t rank) {
  cpu_set_t cores, own;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0)
    return;
  int64_t left = rank % CPU_COUNT(&cores);
  for (size_t core = 0; core < CPU_SETSIZE; core++)
    if (CPU_ISSET(core, &cores) && left-- == 0) {
      CPU_ZERO(&own);
      CPU_SET(core, &own);
      sched_setaffinity(0, sizeof own, &own);
    }
}

static void set_number(const char *name, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  setenv(name, text, 1);
}

static void set_input(void) {
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    close(nothing);
  }
}

/* The child's part; tells errno through `report` if it fails. */
static void become(const run_job *job, int64_t rank, char **program, pid_t launcher, const int *output, int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) /* it died before it could matter */
    _exit(1);
  if (job->apart && rank != 0)
    setpgid(0, 0);
  setenv("TUTTI_BOOT", tt_boot_server_address(job->server), 1);
  set_number("TUTTI_RANK", rank);
  set_number("TUTTI_SIZE", job->options->rank_count);
  if (run_binds(job->options))
    bind_core(rank);
  if (rank != 0)
    set_input();
  for (int s = 0; s < 2; s++)
    if (output[s] >= 0)
      dup2(output[s], STDOUT_FILENO + s);
  sigprocmask(SIG_SETMASK, &job->signals_mask, NULL);
  setrlimit(RLIMIT_NOFILE, &job->descriptors);
  execvp(program[0], program);
  int error = errno;
  _exit(write(report, &error, sizeof error) == sizeof error ? CANNOT_START : NOT_FOUND);
}

static int say_error(const char *what, int error) {
  fprintf(stderr, "tutti run: %s: %s\n", what, strerror(error));
  return error == ENOENT ? NOT_FOUND : CANNOT_START;
}

/* Waits until the child runs its program or says why it cannot. */
static int await_start(int report, const char *program) {
  int error = 0;
  ssize_t count;
  do
    count = read(report, &error, sizeof error);
  while (count < 0 && errno == EINTR);
  return count == sizeof error ? say_error(program, error) : 0;
}

static int start_with(run_job *job, int64_t rank, char **program, const int *output) {
  int report[2];
  pid_t launcher = getpid();
  if (pipe2(report, O_CLOEXEC) != 0)
    return say_error("pipe2", errno);
  pid_t pid = fork();
  int error = errno;
  if (pid == 0)
    become(job, rank, program, launcher, output, report[1]);
  close(report[1]);
  int code = pid < 0 ? say_error("fork", error) : await_start(report[0], program[0]);
  close(report[0]);
  if (pid > 0 && code == 0) {
    job->rank[rank].pid = pid;
    job->running++;
  }
  return code;
}

/* Its program, or another that runs it. */
static int start_wrapped(run_job *job, int64_t rank, const int *output) {
  tt_arena arena;
  tt_arena_init(&arena);
  char **program = wrap_command(&job->options->wraps, rank, job->options->program, &arena);
  int code = program != NULL ? start_with(job, rank, program, output) : say_error("--wrap", ENOMEM);
  tt_arena_finish(&arena);
  return code;
}

int run_start(run_job *job, int64_t rank) {
  int output[2] = {-1, -1}, code = 0;
  for (int s = 0; s < 2; s++) {
    run_stream *stream = &job->rank[rank].stream[s];
    run_output *to = &job->output[job->one_output ? 0 : s];
    if (job->options->label && run_stream_open(stream, rank, to, &output[s]) != 0)
      code = say_error("pipe2", errno);
  }
  if (code == 0)
    code = start_wrapped(job, rank, output);
  for (int s = 0; s < 2; s++)
    if (output[s] >= 0)
      close(output[s]);
  return code;
}

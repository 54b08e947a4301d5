/* tools/run/run.c - `tutti run`: a program as a job of several ranks on this machine.
 *
 * Each rank is a process with TUTTI_BOOT, TUTTI_RANK and TUTTI_SIZE in its environment; the launcher serves the
 * allgather by which they find each other (boot/server.c) and sees to it that the job ends as a whole and leaves
 * nothing behind. */
#include "run.h"
#include "loop.h"
#include "rank.h"
#include "say.h"
#include "sweep.h"

#include "tools/shared/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_DESCRIPTORS 32
#define LINKS_LEAST 64

/* What is ignored stays so. */
static void catch_signals(run_job *job) {
  static const int caught[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  for (size_t c = 0; c < TT_COUNT(caught); c++)
    if (!tool_ignores(caught[c]))
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
  job->connections = (int64_t)(limit.rlim_cur - pipes - OWN_DESCRIPTORS);
  if (limit.rlim_cur >= needed && setrlimit(RLIMIT_NOFILE, &limit) == 0)
    return true;
  fprintf(stderr,
          "tutti run: %" PRId64 " ranks%s need %" PRIu64 " descriptors here, the limit is %" PRIu64 " (ulimit -Hn)\n",
          options->rank_count, options->label ? " with --label" : "", (uint64_t)needed,
          (uint64_t)job->descriptors.rlim_max);
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
    job->timeout_ns = tt_clock_until(job->options->timeout_ns);
  run_watch(job);
  run_sweep(job);
  return job->code;
}

/* Who failed after the first. */
static void say_others(run_job *job) {
  char *ranks = NULL;
  size_t size = 0;
  FILE *list = job->first >= 0 ? open_memstream(&ranks, &size) : NULL;
  for (int64_t r = 0; r < job->options->rank_count && list != NULL; r++)
    if (job->rank[r].failed && r != job->first)
      fprintf(list, "%s rank %" PRId64, ftell(list) > 0 ? "," : "", r);
  if (list != NULL)
    fclose(list);
  if (size > 0)
    run_say(job, "tutti run: failed after it:%s\n", ranks);
  free(ranks);
}

/* A job whose output is lost has failed: as a writer into a closed pipe does, or with a word where nobody else says it.
 */
static int check_output(run_job *job, int code) {
  if (job->lost != 0 && job->lost != EPIPE)
    run_say(job, "tutti run: cannot write the output: %s\n", strerror(job->lost));
  if (job->lost == 0 || code != 0)
    return code;
  return job->lost == EPIPE ? RUN_BY_SIGNAL + SIGPIPE : 1;
}

static bool is_one_output(void) {
  struct stat out, error;
  return (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_RDONLY && fstat(STDOUT_FILENO, &out) == 0 &&
         fstat(STDERR_FILENO, &error) == 0 && out.st_dev == error.st_dev && out.st_ino == error.st_ino;
}

static int run_job_of(const run_options *options) {
  bool apart = wrap_of(&options->wraps, 0) != NULL && isatty(STDIN_FILENO);
  run_job job = {.options = options,
                 .output = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}},
                 .one_output = is_one_output(),
                 .first = -1,
                 .apart = apart};
  if (!find_room(&job))
    return 1;
  job.rank = calloc((size_t)options->rank_count, sizeof *job.rank);
  if (job.rank == NULL || tt_boot_server_open(options->rank_count, job.connections, &job.server) != TUTTI_OK) {
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
  run_say_rest(&job);
  for (int64_t r = 0; r < options->rank_count; r++)
    for (int s = 0; s < 2; s++)
      run_stream_close(&job.rank[r].stream[s]);
  close(job.signals);
  tt_boot_server_close(job.server);
  free(job.other);
  free(job.rank);
  return code;
}

/* For all ranks, behind what they preload anyway. */
static void preload_heap(void) {
  char heap[TOOL_PATH], *both;
  const char *before = getenv("LD_PRELOAD");
  if (!tool_heap_wanted("run", heap))
    return;
  bool alone = !before || !*before;
  if (asprintf(&both, "%s%s%s", alone ? "" : before, alone ? "" : ":", heap) >= 0) {
    setenv("LD_PRELOAD", both, 1);
    free(both);
  }
}

int tt_tool_run(int argc, char **argv) {
  run_options options;
  int result = run_options_parse(argc, argv, &options);
  if (result == TOOL_GO_ON)
    preload_heap();
  if (result != TOOL_MISUSED)
    result = result == TOOL_GO_ON ? run_job_of(&options) : EXIT_SUCCESS;
  wrap_finish(&options.wraps);
  return result;
}

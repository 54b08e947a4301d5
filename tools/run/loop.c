/* tools/run/loop.c - watching over the ranks: their output, their ends, signals, and the end of the job.
 *
 *     a rank fails -> the others have `grace` to end by themselves -> SIGTERM -> 2 s -> SIGKILL
 *
 * No part of a turn of the loop goes on for as long as a rank likes, or whoever reads the output. */
#include "loop.h"
#include "say.h"
#include "sweep.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORCE_NS 2000000000
#define TWICE_NS 10000000 /* sooner it is once: `timeout` signals the launcher and then its group */

enum { TIMED_OUT = 124, OWN_DESCRIPTORS = 3 };

/* "was ended by signal 9 (Killed)"; returns the exit code. */
static int describe(int status, char *text, size_t size) {
  if (WIFSIGNALED(status)) {
    int number = WTERMSIG(status);
    snprintf(text, size, "was ended by signal %d (%s)", number, strsignal(number));
    return RUN_BY_SIGNAL + number;
  }
  snprintf(text, size, "exited with code %d", WEXITSTATUS(status));
  return WEXITSTATUS(status);
}

static void signal_all(const run_job *job, int number) {
  for (int64_t r = 0; r < job->options->rank_count; r++)
    if (job->rank[r].pid > 0)
      kill(job->rank[r].pid, number);
}

/* ---- output ---- */

static void pass_rank(run_job *job, int64_t rank) {
  for (int s = 0; s < 2; s++) {
    int error = run_stream_pass(&job->rank[rank].stream[s]);
    job->lost = job->lost != 0 ? job->lost : error;
  }
}

/* ---- ends ---- */

static void first_failure(run_job *job, int64_t rank, const char *how, int code) {
  if (job->code != 0)
    return;
  job->code = code;
  job->first = rank;
  if (job->running > 0) {
    job->term_ns = tt_clock_until(job->options->grace_ns);
    run_say(job, "tutti run: rank %" PRId64 " %s; the others have %g s to end\n", rank, how,
            (double)job->options->grace_ns / 1e9);
  } else {
    run_say(job, "tutti run: rank %" PRId64 " %s\n", rank, how);
  }
}

static void rank_ended(run_job *job, int64_t rank, int status) {
  char how[96];
  int code = describe(status, how, sizeof how);
  job->rank[rank].pid = 0;
  job->rank[rank].failed = code != 0 && !job->stopped;
  job->running--;
  pass_rank(job, rank);
  tt_boot_server_lose(job->server, rank, how);
  if (code != 0)
    first_failure(job, rank, how, code);
}

static void reap(run_job *job) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    run_forget_other(job, pid);
    for (int64_t r = 0; r < job->options->rank_count; r++)
      if (job->rank[r].pid == pid)
        rank_ended(job, r, status);
  }
}

/* ---- signals ---- */

/* What the terminal sends goes to the ranks without our help: they are in the same process group. But of its end it
 * tells the session's leader alone, which may be the launcher. Or only rank 0 is in the group, and as long as it runs,
 * SIGINT is a word to its debugger: no other rank shall end by it. */
static bool is_passed_on(const run_job *job, const struct signalfd_siginfo *info) {
  return info->ssi_code != SI_KERNEL || info->ssi_signo == SIGHUP || job->apart;
}

static bool is_for_debugger(const run_job *job, const struct signalfd_siginfo *info) {
  return job->apart && job->rank[0].pid > 0 && info->ssi_code == SI_KERNEL && info->ssi_signo == SIGINT;
}

/* Who says it twice means it. */
static void be_told_to_end(run_job *job) {
  int64_t now_ns = tt_clock_ns();
  if (job->ending_ns == 0)
    job->ending_ns = now_ns;
  else if (now_ns - job->ending_ns >= TWICE_NS)
    signal_all(job, SIGKILL);
}

static void take_signals(run_job *job) {
  struct signalfd_siginfo info;
  while (read(job->signals, &info, sizeof info) == sizeof info) {
    int number = (int)info.ssi_signo;
    if (number == SIGCHLD || number == SIGPIPE || is_for_debugger(job, &info))
      continue;
    if (is_passed_on(job, &info))
      signal_all(job, number);
    if (number == SIGINT || number == SIGTERM)
      be_told_to_end(job);
  }
  reap(job);
}

/* ---- time ---- */

static void say_running(run_job *job) {
  char *ranks = NULL;
  size_t size;
  FILE *list = open_memstream(&ranks, &size);
  for (int64_t r = 0; r < job->options->rank_count && list != NULL; r++)
    if (job->rank[r].pid > 0)
      fprintf(list, " rank %" PRId64, r);
  if (list != NULL)
    fclose(list);
  run_say(job, "tutti run: not finished after %g s; still running:%s\n", (double)job->options->timeout_ns / 1e9,
          ranks != NULL ? ranks : " (no memory to say which)");
  free(ranks);
}

static bool is_due(int64_t *at_ns, int64_t now_ns) {
  bool due = *at_ns != 0 && now_ns >= *at_ns;
  if (due)
    *at_ns = 0;
  return due;
}

static void check_time(run_job *job) {
  int64_t now_ns = tt_clock_ns();
  if (is_due(&job->timeout_ns, now_ns)) {
    say_running(job);
    job->code = job->code != 0 ? job->code : TIMED_OUT;
    job->term_ns = now_ns;
  }
  if (is_due(&job->term_ns, now_ns)) {
    job->stopped = true;
    signal_all(job, SIGTERM);
    signal_all(job, SIGCONT); /* a stopped one could not end */
    job->kill_ns = now_ns + FORCE_NS;
  }
  if (is_due(&job->kill_ns, now_ns))
    signal_all(job, SIGKILL);
}

static int64_t sooner(int64_t a_ns, int64_t b_ns) { return a_ns == 0 || (b_ns != 0 && b_ns < a_ns) ? b_ns : a_ns; }

static int wait_ms(const run_job *job) {
  int64_t next_ns = sooner(sooner(job->timeout_ns, job->term_ns), job->kill_ns);
  if (next_ns == 0)
    return -1;
  int64_t left_ms = (next_ns - tt_clock_ns()) / 1000000 + 1;
  return left_ms < 0 ? 0 : left_ms > 1000000 ? 1000000 : (int)left_ms;
}

/* ---- the loop ---- */

static nfds_t collect(const run_job *job, struct pollfd *fds) {
  nfds_t count = OWN_DESCRIPTORS;
  fds[0] = (struct pollfd){.fd = job->signals, .events = POLLIN};
  fds[1] = (struct pollfd){.fd = tt_boot_server_fd(job->server), .events = POLLIN};
  fds[2] = (struct pollfd){.fd = job->said != NULL ? STDERR_FILENO : -1, .events = POLLOUT};
  for (int64_t r = 0; r < job->options->rank_count; r++)
    for (int s = 0; s < 2; s++) {
      const run_stream *stream = &job->rank[r].stream[s];
      if (stream->from >= 0)
        fds[count++] = stream->waits ? (struct pollfd){.fd = stream->to->fd, .events = POLLOUT}
                                     : (struct pollfd){.fd = stream->from, .events = POLLIN};
    }
  return count;
}

/* In turn: where there is little room, the first has it all. */
static void pass_output(run_job *job) {
  int64_t count = job->options->rank_count;
  for (int64_t r = 0; r < count; r++)
    pass_rank(job, (job->turn + r) % count);
  job->turn = (job->turn + 1) % count;
}

void run_watch(run_job *job) {
  struct pollfd *fds = calloc(OWN_DESCRIPTORS + 2 * (size_t)job->options->rank_count, sizeof *fds);
  if (fds == NULL) {
    signal_all(job, SIGKILL);
    run_say(job, "tutti run: no memory\n");
    job->code = 1;
    return;
  }
  while (job->running > 0) {
    nfds_t count = collect(job, fds);
    if (poll(fds, count, wait_ms(job)) > 0) {
      if (fds[1].revents)
        tt_boot_server_serve(job->server);
      run_say_more(job);
      if (count > OWN_DESCRIPTORS)
        pass_output(job);
      if (fds[0].revents)
        take_signals(job);
    }
    check_time(job);
  }
  free(fds);
}

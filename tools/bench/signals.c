/* tools/bench/signals.c - signals are read from a descriptor, in the same poll as what ranks say: nothing happens
 * behind the back of the code. */
#include "signals.h"
#include "launch.h"
#include "say.h"

#include "tools/shared/shared.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

int bench_signals_open(bench_job *job) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  sigset_t set;
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* ranks that their launcher leaves behind become this process's */
  sigemptyset(&set);
  for (size_t n = 0; n < TT_COUNT(ends); n++)
    if (!tool_ignores(ends[n]))
      sigaddset(&set, ends[n]);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, NULL);
  job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return job->signals >= 0 ? 0 : bench_fail("signalfd: %s", strerror(errno));
}

static int launcher_ended(bench_group *group, int status) {
  group->pid = 0;
  if (WIFSIGNALED(status))
    bench_fail("%s: its launcher was ended by %s", group->launcher->name, strsignal(WTERMSIG(status)));
  else
    bench_fail("%s: its launcher ended with exit code %d", group->launcher->name, WEXITSTATUS(status));
  return bench_launch_show_output(group);
}

static int reap(bench_job *job) {
  int status;
  for (int g = 0; g < job->group_count; g++)
    if (job->group[g].pid > 0 && waitpid(job->group[g].pid, &status, WNOHANG) > 0)
      return launcher_ended(&job->group[g], status);
  return 0;
}

int bench_signals_read(bench_job *job) {
  struct signalfd_siginfo signal;
  while (read(job->signals, &signal, sizeof signal) == (ssize_t)sizeof signal) {
    job->interrupted = signal.ssi_signo != SIGCHLD;
    if (job->interrupted)
      return bench_fail("interrupted (%s), ending all ranks", strsignal((int)signal.ssi_signo));
    if (reap(job) != 0)
      return -1;
  }
  return 0;
}

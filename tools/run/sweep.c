/* tools/run/sweep.c - the end of a job: nothing that its ranks have started survives it, and no output is lost.
 *
 * The launcher is the reaper of whatever ranks leave behind: processes that they have started and not waited for are
 * its children by then. It may have had children before, of the program that has become the launcher: `server & exec
 * tutti run ...`. */
#include "sweep.h"

#include "say.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define SWEEP_NS 1000000000
#define LAST_NS 5000000000 /* what SIGKILL has not ended by then hangs in the kernel */

static pid_t parent_of(const char *pid) {
  char path[300], text[512];
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  FILE *file = fopen(path, "re");
  size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file != NULL)
    fclose(file);
  text[length] = '\0';
  int parent = 0;
  const char *rest = strrchr(text, ')');
  return rest != NULL && sscanf(rest + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* 0: there are no more. */
static pid_t next_child(DIR *processes) {
  struct dirent *entry;
  while (processes != NULL && (entry = readdir(processes)) != NULL)
    if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getpid())
      return atoi(entry->d_name);
  return 0;
}

static bool add_other(run_job *job, pid_t pid) {
  pid_t *other = realloc(job->other, (job->other_count + 1) * sizeof *other);
  if (other == NULL)
    return false;
  job->other = other;
  job->other[job->other_count++] = pid;
  return true;
}

bool run_note_others(run_job *job) {
  if (waitpid(-1, NULL, WNOHANG) < 0) /* the usual: there are none */
    return true;
  DIR *processes = opendir("/proc");
  pid_t pid;
  bool noted = true;
  while (noted && (pid = next_child(processes)) != 0)
    noted = add_other(job, pid);
  if (processes != NULL)
    closedir(processes);
  return noted;
}

static bool is_other(const run_job *job, pid_t pid) {
  for (size_t o = 0; o < job->other_count; o++)
    if (job->other[o] == pid)
      return true;
  return false;
}

/* It has ended: what gets its number next may be a rank's. */
void run_forget_other(run_job *job, pid_t pid) {
  for (size_t o = 0; o < job->other_count; o++)
    if (job->other[o] == pid)
      job->other[o] = 0;
}

/* false: there are none. number 0: only looks. */
static bool signal_children(const run_job *job, int number) {
  DIR *processes = opendir("/proc");
  pid_t pid;
  bool any = false;
  while ((pid = next_child(processes)) != 0)
    if (!is_other(job, pid))
      any = kill(pid, number) == 0 || errno != ESRCH || any;
  if (processes != NULL)
    closedir(processes);
  return any;
}

/* It is another user's, or hangs in the kernel. */
static void say_left(run_job *job) {
  DIR *processes = opendir("/proc");
  pid_t pid;
  while ((pid = next_child(processes)) != 0)
    if (!is_other(job, pid))
      run_say(job, "tutti run: process %d, which a rank has left behind, could not be ended\n", (int)pid);
  if (processes != NULL)
    closedir(processes);
}

static void drain_output(run_job *job) {
  for (int64_t r = 0; r < job->options->rank_count; r++)
    for (int s = 0; s < 2; s++) {
      int error = run_stream_drain(&job->rank[r].stream[s]);
      job->lost = job->lost != 0 ? job->lost : error;
    }
}

void run_sweep(run_job *job) {
  int64_t kill_ns = tt_clock_ns() + SWEEP_NS, last_ns = kill_ns + LAST_NS;
  bool told = false;
  pid_t pid;
  while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
    run_forget_other(job, pid);
    if (pid > 0)
      continue;
    bool force = tt_clock_ns() >= kill_ns;
    if (!signal_children(job, force ? SIGKILL : told ? 0 : SIGTERM) || tt_clock_ns() >= last_ns) {
      say_left(job);
      break;
    }
    told = true;
    struct pollfd ready = {.fd = job->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&ready, 1, force ? 10 : (int)(SWEEP_NS / 1000000)) > 0 && read(job->signals, &info, sizeof info) < 0)
      break;
  }
  drain_output(job);
}

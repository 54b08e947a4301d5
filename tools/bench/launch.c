/* tools/bench/launch.c - starts and ends the ranks of a library through its own launcher.
 *
 * A launcher is a process group of its own, so that Ctrl-C reaches only the driver, which then ends everything in
 * order. It gets SIGTERM should the driver die. Ranks are known by pidfd, which cannot name another process by mistake.
 */
#include "launch.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLITE_MS 10000
#define FORCED_MS 3000
#define ENDING_MS 1000

static int add_launcher(tool_words *line, const bench_launcher *launcher, const char *self) {
  char path[TOOL_PATH];
  if (!launcher->program[0])
    return tool_words_add(line, self), 0;
  for (size_t i = 0; i < TT_COUNT(launcher->program) && launcher->program[i]; i++)
    if (tool_find_program(launcher->program[i], path))
      return tool_words_add(line, launcher->program[i]), 0;
  fprintf(stderr, "tutti bench: %s is left out, because %s is not in PATH\n", launcher->name, launcher->program[0]);
  return 1;
}

static int find_self(char path[static TOOL_PATH]) {
  tool_own_path(path);
  return path[0] ? 0 : bench_fail("/proc/self/exe: %s", strerror(errno));
}

/* Workers of others are in libexec/tutti beside bin/. */
static int find_worker(const bench_launcher *launcher, char path[static 2 * TOOL_PATH]) {
  char self[TOOL_PATH];
  if (find_self(self) != 0)
    return -1;
  if (!launcher->kind->worker)
    return snprintf(path, 2 * TOOL_PATH, "%s", self), 0;
  *strrchr(self, '/') = '\0';
  snprintf(path, 2 * TOOL_PATH, "%s/../libexec/tutti/%s", self, launcher->kind->worker);
  if (access(path, X_OK) == 0)
    return 0;
  fprintf(
      stderr,
      "tutti bench: %s is left out, because there is no %s (that MPI was missing when tutti was built, or the Debian "
      "package libtutti-%s is not installed)\n",
      launcher->name, path, strchr(launcher->kind->worker, '-') + 1);
  return 1;
}

int bench_launch_add_worker(tool_words *line, const bench_launcher *launcher) {
  char path[2 * TOOL_PATH];
  int result = find_worker(launcher, path);
  if (result == 0)
    tool_words_add(line, path);
  if (result == 0 && !launcher->kind->worker)
    tool_words_add(line, "bench-worker");
  return result;
}

static void print_command(const tool_words *line, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < line->count && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", line->word[i]);
}

static int make_command(const bench_job *job, bench_group *group, tool_words *line) {
  const bench_launcher *launcher = group->launcher;
  char self[TOOL_PATH];
  int result = find_self(self);
  if (result == 0)
    result = add_launcher(line, launcher, self);
  if (result != 0)
    return result;
  tool_words_add_all(line, launcher->arguments);
  if (group->rank_count > job->core_count)
    tool_words_add_all(line, launcher->kind->yielding);
  tool_words_add(line, "-n");
  tool_words_add_number(line, group->rank_count);
  if (launcher->more)
    tool_words_add_all(line, launcher->more);
  print_command(line, group->command, sizeof group->command);
  if ((result = bench_launch_add_worker(line, launcher)) != 0)
    return result;
  tool_words_add(line, job->address);
  tool_words_add_number(line, group->number);
  tool_words_add(line, launcher->kind->rank_variable);
  return line->failed ? bench_fail("no memory for a command line") : 0;
}

static void become(const bench_job *job, char *const *argument, int output, int errors) {
  sigset_t none;
  sigemptyset(&none);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (job->descriptors.rlim_max > 0)
    setrlimit(RLIMIT_NOFILE, &job->descriptors);
  int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execvp(argument[0], argument);
  dprintf(STDERR_FILENO, "%s: %s\n", argument[0], strerror(errno));
  _exit(127);
}

int bench_launch_start(const bench_job *job, bench_group *group, char *const *argument, int output) {
  group->output = memfd_create("tutti-bench-output", MFD_CLOEXEC);
  if (group->output < 0)
    return bench_fail("memfd_create: %s", strerror(errno));
  group->pid = fork();
  if (group->pid < 0)
    return bench_fail("fork: %s", strerror(errno));
  if (group->pid == 0)
    become(job, argument, output >= 0 ? output : group->output, group->output);
  setpgid(group->pid, group->pid);
  return 0;
}

static int make_ranks(bench_group *group) {
  group->rank = calloc((size_t)group->rank_count, sizeof *group->rank);
  if (!group->rank)
    return bench_fail("no memory for %" PRId64 " ranks", group->rank_count);
  for (int64_t r = 0; r < group->rank_count; r++)
    group->rank[r] = (bench_rank){-1, -1};
  return 0;
}

int bench_launch(bench_job *job, bench_group *group) {
  tool_words line = {.count = 0};
  int result = make_command(job, group, &line);
  if (result == 0)
    result = make_ranks(group);
  if (result == 0)
    result = bench_launch_start(job, group, line.word, -1);
  tool_words_finish(&line);
  return result;
}

int bench_launch_show_output(const bench_group *group) {
  char text[2049];
  off_t end = lseek(group->output, 0, SEEK_END);
  off_t start = end > 2048 ? end - 2048 : 0;
  ssize_t length = pread(group->output, text, sizeof text - 1, start);
  if (length > 0)
    fprintf(stderr, "its last output:\n%.*s%s", (int)length, text, text[length - 1] == '\n' ? "" : "\n");
  return -1;
}

/* Whether the process has ended within the time. */
static bool ended(int pidfd, int timeout_ms) {
  struct pollfd one = {.fd = pidfd, .events = POLLIN};
  return pidfd < 0 || poll(&one, 1, timeout_ms) > 0;
}

const char *bench_launch_ending(bench_group *group, char text[64]) {
  int status, pidfd = group->pid > 0 ? pidfd_open(group->pid, 0) : -1;
  snprintf(text, 64, "its output is closed");
  if (pidfd >= 0 && ended(pidfd, ENDING_MS) && waitpid(group->pid, &status, WNOHANG) == group->pid) {
    group->pid = 0;
    if (WIFSIGNALED(status))
      snprintf(text, 64, "%s", strsignal(WTERMSIG(status)));
    else
      snprintf(text, 64, "exit code %d", WEXITSTATUS(status));
  }
  if (pidfd >= 0)
    close(pidfd);
  return text;
}

bool bench_launch_end(bench_group *group, bool success) {
  bool ended_itself = false;
  int pidfd = group->pid > 0 ? pidfd_open(group->pid, 0) : -1;
  if (pidfd < 0)
    return true;
  ended_itself = ended(pidfd, success ? POLITE_MS : 0);
  if (!ended_itself) {
    kill(-group->pid, SIGTERM);
    if (!ended(pidfd, FORCED_MS))
      kill(-group->pid, SIGKILL);
  }
  waitpid(group->pid, NULL, 0);
  close(pidfd);
  group->pid = 0;
  return ended_itself;
}

static void end_rank(bench_rank *rank) {
  if (rank->connection >= 0)
    close(rank->connection);
  if (rank->pidfd < 0)
    return;
  if (!ended(rank->pidfd, 100))
    pidfd_send_signal(rank->pidfd, SIGKILL, NULL, 0);
  close(rank->pidfd);
}

void bench_launch_end_group(bench_group *group, bool success) {
  static const bench_command stop = {.verb = BENCH_STOP};
  for (int64_t r = 0; success && r < group->rank_count; r++)
    send(group->rank[r].connection, &stop, sizeof stop, MSG_NOSIGNAL);
  bench_launch_end(group, success);
  for (int64_t r = 0; group->rank && r < group->rank_count; r++)
    end_rank(&group->rank[r]);
  if (group->output > 0)
    close(group->output);
  free(group->rank);
}

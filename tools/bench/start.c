/* tools/bench/start.c - starts the ranks of every library on this machine: the cores, the socket that ranks connect to,
 * and the groups.
 *
 * The socket is in the abstract namespace (nothing to unlink) and takes ranks of the same user only. */
#include "start.h"
#include "group.h"
#include "launch.h"
#include "say.h"
#include "signals.h"

#include "bench/cores.h"
#include "bench/flags.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_NS (60 * INT64_C(1000000000))
#define FLAGS_SECONDS 0.2
#define OWN_DESCRIPTORS 32

/* A connection and a pidfd of each rank; this process allows itself what it can. */
static int find_room(bench_job *job) {
  int64_t ranks = job->options->ranks.count, libraries = job->options->library.count;
  rlim_t needed = (rlim_t)(2 * ranks * libraries) + OWN_DESCRIPTORS;
  getrlimit(RLIMIT_NOFILE, &job->descriptors);
  struct rlimit limit = job->descriptors;
  limit.rlim_cur = limit.rlim_cur < needed ? needed : limit.rlim_cur;
  if (limit.rlim_cur <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0)
    return 0;
  return bench_fail("%" PRId64 " ranks of each library need %" PRIu64 " descriptors here, the limit is %" PRIu64
                    " (ulimit -Hn)",
                    ranks, (uint64_t)needed, (uint64_t)limit.rlim_max);
}

/* The kernel chooses a free name. */
static int open_listener(bench_job *job) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  socklen_t size = sizeof name;
  job->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (job->listener < 0 || bind(job->listener, (struct sockaddr *)&name, sizeof name.sun_family) != 0 ||
      listen(job->listener, 1024) != 0 || getsockname(job->listener, (struct sockaddr *)&name, &size) != 0)
    return bench_fail("socket for the ranks: %s", strerror(errno));
  size_t length = size - offsetof(struct sockaddr_un, sun_path) - 1;
  snprintf(job->address, sizeof job->address, "%.*s", (int)length, name.sun_path + 1);
  return 0;
}

/* Whether the other end is a process of this user; opens it. */
static bool same_user(int connection, int *pidfd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
    return false;
  *pidfd = pidfd_open(peer.pid, 0);
  return *pidfd >= 0;
}

static bool fits(const bench_job *job, const bench_hello *hello) {
  return hello->magic == BENCH_MAGIC && hello->group >= 0 && hello->group < job->group_count && hello->rank >= 0 &&
         hello->rank < job->group[hello->group].rank_count && job->group[hello->group].rank[hello->rank].connection < 0;
}

/* Takes one connection; returns how many ranks that makes, 0 for a stranger's. */
static int admit(bench_job *job) {
  struct timeval limit = {.tv_sec = 5};
  bench_hello hello = {0};
  int pidfd = -1;
  int connection = accept4(job->listener, NULL, NULL, SOCK_CLOEXEC);
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (!same_user(connection, &pidfd) || recv(connection, &hello, sizeof hello, 0) != (ssize_t)sizeof hello ||
      !fits(job, &hello)) {
    close(connection);
    close(pidfd);
    return 0;
  }
  bench_welcome welcome = {job->core[hello.rank % job->core_count]};
  job->group[hello.group].rank[hello.rank] = (bench_rank){connection, pidfd};
  send(connection, &welcome, sizeof welcome, MSG_NOSIGNAL);
  return 1;
}

static int nobody_came(const bench_job *job) {
  for (int g = 0; g < job->group_count; g++)
    for (int64_t r = 0; r < job->group[g].rank_count; r++)
      if (job->group[g].rank[r].connection < 0) {
        bench_fail("%s: rank %" PRId64 " did not start within 60 s", job->group[g].launcher->name, r);
        return bench_launch_show_output(&job->group[g]);
      }
  return -1;
}

static int admit_all(bench_job *job) {
  int64_t missing = job->group_count * job->options->ranks.count;
  int64_t deadline_ns = tt_clock_ns() + START_NS;
  while (missing > 0) {
    struct pollfd events[2] = {{.fd = job->listener, .events = POLLIN}, {.fd = job->signals, .events = POLLIN}};
    int64_t left_ns = deadline_ns - tt_clock_ns();
    if (left_ns <= 0)
      return nobody_came(job);
    bench_progress("starting: %" PRId64 " ranks are missing", missing);
    if (poll(events, 2, (int)(left_ns / 1000000) + 1) < 0)
      continue;
    if (events[1].revents != 0 && bench_signals_read(job) != 0)
      return -1;
    if (events[0].revents != 0)
      missing -= admit(job);
  }
  return 0;
}

static int await_ready(bench_job *job, bench_group *group) {
  bench_answer answer;
  if (bench_group_collect(job, group, group->rank_count, &answer) != 0)
    return -1;
  memcpy(group->version, answer.text, sizeof group->version);
  return 0;
}

static int launch_all(bench_job *job) {
  for (int i = 0; i < job->options->library.count; i++) {
    bench_group *group = &job->group[job->group_count];
    *group = (bench_group){
        .launcher = job->options->library.at[i], .number = job->group_count, .rank_count = job->options->ranks.count};
    int result = bench_launch(job, group);
    job->group_count += result <= 0;
    if (result < 0 || (result > 0 && i == 0))
      return -1;
  }
  return 0;
}

int bench_start(const bench_options *options, bench_job *job) {
  *job = (bench_job){.options = options, .listener = -1, .signals = -1};
  job->core_count = bench_cores(job->core, (int)TT_COUNT(job->core));
  if (options->ranks.core_count > 0 && options->ranks.core_count < job->core_count)
    job->core_count = options->ranks.core_count;
  if (job->core_count == 0 || find_room(job) != 0 || bench_signals_open(job) != 0 || open_listener(job) != 0 ||
      launch_all(job) != 0 || admit_all(job) != 0)
    return -1;
  for (int g = 0; g < job->group_count; g++)
    if (await_ready(job, &job->group[g]) != 0)
      return -1;
  int ranks = (int)options->ranks.count;
  job->flags_ns = bench_flags_measure(job->core, job->core_count, ranks, true, FLAGS_SECONDS).round_ns;
  return 0;
}

void bench_start_end(bench_job *job, bool success) {
  for (int g = 0; g < job->group_count; g++)
    bench_launch_end_group(&job->group[g], success);
  while (waitpid(-1, NULL, WNOHANG) > 0)
    ;
  if (job->listener >= 0)
    close(job->listener);
  if (job->signals >= 0)
    close(job->signals);
}

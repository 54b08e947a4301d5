/* tools/bench/group.c - talks to the ranks of a group: one command to each, one answer from each, whoever is first.
 *
 * A rank that fails may leave the others waiting inside their library for ever, so after the first failure the others
 * have a few seconds only. */
#include "group.h"
#include "launch.h"
#include "say.h"
#include "signals.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ANSWER_NS (120 * INT64_C(1000000000))
#define GRACE_NS (3 * INT64_C(1000000000))

static int rank_lost(bench_group *group, int64_t rank, const bench_answer *answer) {
  if (answer->result == BENCH_FAILED)
    return bench_fail("%s: %s", group->launcher->name, answer->text);
  bench_fail("%s: rank %" PRId64 " ended unexpectedly", group->launcher->name, rank);
  return bench_launch_show_output(group);
}

static int no_answer(const bench_group *group, const struct pollfd *waiting, int64_t rank_count,
                     const bench_answer *answer) {
  char missing[256] = "";
  size_t used = 0;
  if (answer->result == BENCH_FAILED)
    return bench_fail("%s: %s", group->launcher->name, answer->text);
  for (int64_t r = 0; r < rank_count && used < sizeof missing - 8; r++)
    if (waiting[r].fd >= 0)
      used += (size_t)snprintf(missing + used, sizeof missing - used, " %" PRId64, r);
  return bench_fail("%s: no answer within %d s from rank%s", group->launcher->name, (int)(ANSWER_NS / 1000000000),
                    missing);
}

/* Takes the answers that are there; each rank that has answered leaves the poll set. */
static int take_answers(bench_group *group, struct pollfd *waiting, int64_t rank_count, bench_answer *answer) {
  static bench_reply reply;
  int taken = 0;
  for (int64_t r = 0; r < rank_count; r++) {
    if (waiting[r].fd < 0 || waiting[r].revents == 0)
      continue;
    if (recv(waiting[r].fd, &reply, sizeof reply, 0) != (ssize_t)sizeof reply)
      return rank_lost(group, r, answer);
    bench_answer_add(answer, &reply);
    waiting[r].fd = -1;
    taken++;
  }
  return taken;
}

static int collect(bench_job *job, bench_group *group, struct pollfd *waiting, int64_t rank_count,
                   bench_answer *answer) {
  int64_t deadline_ns = tt_clock_ns() + ANSWER_NS;
  for (int64_t left = rank_count; left > 0;) {
    int64_t left_ns = deadline_ns - tt_clock_ns();
    if (left_ns <= 0)
      return no_answer(group, waiting, rank_count, answer);
    if (poll(waiting, (nfds_t)rank_count + 1, (int)(left_ns / 1000000) + 1) < 0 && errno != EINTR)
      return bench_fail("poll: %s", strerror(errno));
    int taken = take_answers(group, waiting, rank_count, answer);
    if (taken < 0 || (waiting[rank_count].revents != 0 && bench_signals_read(job) != 0))
      return -1;
    left -= taken;
    if (answer->result == BENCH_FAILED && deadline_ns > tt_clock_ns() + GRACE_NS)
      deadline_ns = tt_clock_ns() + GRACE_NS;
  }
  return answer->result == BENCH_FAILED ? bench_fail("%s: %s", group->launcher->name, answer->text) : 0;
}

int bench_group_collect(bench_job *job, bench_group *group, int64_t rank_count, bench_answer *answer) {
  struct pollfd *waiting = calloc((size_t)rank_count + 1, sizeof *waiting);
  if (!waiting)
    return bench_fail("no memory for %" PRId64 " ranks", rank_count);
  memset(answer, 0, sizeof *answer);
  for (int64_t r = 0; r < rank_count; r++)
    waiting[r] = (struct pollfd){.fd = group->rank[r].connection, .events = POLLIN};
  waiting[rank_count] = (struct pollfd){.fd = job->signals, .events = POLLIN};
  int result = collect(job, group, waiting, rank_count, answer);
  free(waiting);
  return result;
}

int bench_group_ask(bench_job *job, bench_group *group, const bench_command *command, int64_t rank_count,
                    bench_answer *answer) {
  for (int64_t r = 0; r < rank_count; r++)
    send(group->rank[r].connection, command, sizeof *command,
         MSG_NOSIGNAL); /* a lost rank shows when its answer is read */
  return bench_group_collect(job, group, rank_count, answer);
}

/* tests/support/job.h - a job of forked processes with a boot of their own, for tests.
 *
 * Rank 0 is the hub of an allgather over socket pairs. A child reports by its exit code: CHECK prints where it failed
 * and exits, so that asserts of the test framework stay in the parent. */
#ifndef TEST_SUPPORT_JOB_H
#define TEST_SUPPORT_JOB_H

#include <tutti/boot.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: CHECK(%s) failed; last error: %s\n", __FILE__, __LINE__, #condition,                     \
              tutti_last_error());                                                                                     \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)

#define JOB_RANKS 16

typedef struct job_boot {
  tutti_boot boot;
  int fd[JOB_RANKS]; /* rank 0: to each other rank; others: fd[0] to rank 0 */
} job_boot;

/* 0: all moved; else TUTTI_ERR_TIMEOUT or TUTTI_ERR_PEER. */
static inline tutti_status job_move(int fd, void *bytes, size_t size, int timeout_ms, int write_it) {
  for (size_t done = 0; done < size;) {
    struct pollfd ready = {.fd = fd, .events = write_it ? POLLOUT : POLLIN};
    if (poll(&ready, 1, timeout_ms) == 0)
      return TUTTI_ERR_TIMEOUT;
    ssize_t moved = write_it ? send(fd, (char *)bytes + done, size - done, MSG_NOSIGNAL)
                             : recv(fd, (char *)bytes + done, size - done, 0);
    if (moved <= 0)
      return TUTTI_ERR_PEER;
    done += (size_t)moved;
  }
  return TUTTI_OK;
}

static inline tutti_status job_allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns,
                                         char *missing, size_t missing_size) {
  job_boot *job = user;
  int64_t rank = job->boot.rank, count = job->boot.rank_count;
  int timeout_ms = (int)(timeout_ns / 1000000) + 1;
  memcpy((char *)all + (size_t)rank * bytes, mine, bytes);
  tutti_status status = TUTTI_OK;
  if (rank != 0) {
    status = job_move(job->fd[0], (char *)all + (size_t)rank * bytes, bytes, timeout_ms, 1);
    return status != TUTTI_OK ? status : job_move(job->fd[0], all, bytes * (size_t)count, timeout_ms, 0);
  }
  for (int64_t r = 1; r < count && status == TUTTI_OK; r++) {
    status = job_move(job->fd[r], (char *)all + (size_t)r * bytes, bytes, timeout_ms, 0);
    if (status != TUTTI_OK && missing != NULL)
      snprintf(missing, missing_size, "%" PRId64, r);
  }
  for (int64_t r = 1; r < count && status == TUTTI_OK; r++)
    status = job_move(job->fd[r], all, bytes * (size_t)count, timeout_ms, 1);
  return status;
}

typedef struct job {
  int count;
  pid_t pid[JOB_RANKS];
} job;

typedef void (*job_body)(const tutti_boot *boot, void *argument);

/* Starts `count` processes that each run `body` and exit with 0 when it returns. */
static inline job job_start(int count, job_body body, void *argument) {
  int pair[JOB_RANKS][2];
  job started = {.count = count};
  for (int r = 1; r < count; r++)
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair[r]) != 0)
      abort();
  for (int r = 0; r < count; r++) {
    started.pid[r] = fork();
    if (started.pid[r] != 0)
      continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    job_boot own = {.boot = {sizeof own.boot, r, count, NULL, job_allgather}};
    own.boot.user = &own;
    for (int s = 1; s < count; s++) {
      own.fd[r == 0 ? s : 0] = r == 0 ? pair[s][0] : s == r ? pair[s][1] : own.fd[0];
      if (r != 0)
        close(pair[s][0]);
      if (r != s)
        close(pair[s][1]);
    }
    body(&own.boot, argument);
    fflush(NULL);
    _exit(0);
  }
  for (int r = 1; r < count; r++) {
    close(pair[r][0]);
    close(pair[r][1]);
  }
  return started;
}

/* Waits for all; returns how many did not exit with 0. */
static inline int job_wait(const job *started) {
  int failed = 0;
  for (int r = 0; r < started->count; r++) {
    int status = 0;
    while (waitpid(started->pid[r], &status, 0) < 0 && errno == EINTR)
      ;
    failed += status != 0;
  }
  return failed;
}

static inline int job_run(int count, job_body body, void *argument) {
  job started = job_start(count, body, argument);
  return job_wait(&started);
}

#endif

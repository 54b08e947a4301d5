/* tests/cluster/programs/join.h - how ranks of these programs find each other.
 *
 * Those that `bed.sh start` has started meet at files, so that no launcher stands between them that ends all when a
 * node dies. All others ask their launcher. A rank that fails a CHECK ends with status 1. */
#ifndef TEST_CLUSTER_JOIN_H
#define TEST_CLUSTER_JOIN_H

#include "support/job.h"

#include <tutti/tutti.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline int64_t join_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Whether all have come: a byte of each at the file's beginning. missing: the first that has not. */
static inline bool join_all_came(int fd, char *came, int64_t count, char *missing, size_t missing_size) {
  memset(came, 0, (size_t)count);
  CHECK(pread(fd, came, (size_t)count, 0) >= 0);
  const char *absent = memchr(came, 0, (size_t)count);
  if (absent && missing)
    snprintf(missing, missing_size, "%d", (int)(absent - came));
  return !absent;
}

/* One file for each allgather: who has come, then what everyone has brought. */
static inline tutti_status join_allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns,
                                          char *missing, size_t missing_size) {
  static int turn;
  const struct timespec pause = {.tv_nsec = 1000000};
  const tutti_boot *boot = user;
  char path[4096], *came = malloc((size_t)boot->rank_count);
  int64_t until_ns = join_now_ns() + timeout_ns;
  snprintf(path, sizeof path, "%s/%d", getenv("BED_MEET"), turn++);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && came);
  CHECK(pwrite(fd, mine, bytes, (off_t)(boot->rank_count + boot->rank * (int64_t)bytes)) == (ssize_t)bytes);
  CHECK(pwrite(fd, "x", 1, (off_t)boot->rank) == 1);
  bool complete;
  while (!(complete = join_all_came(fd, came, boot->rank_count, missing, missing_size)) && join_now_ns() < until_ns)
    nanosleep(&pause, NULL);
  size_t total = bytes * (size_t)boot->rank_count;
  CHECK(!complete || pread(fd, all, total, (off_t)boot->rank_count) == (ssize_t)total);
  close(fd);
  free(came);
  return complete ? TUTTI_OK : TUTTI_ERR_TIMEOUT;
}

static inline tutti_context *join_job(void) {
  static tutti_boot boot = {.size = sizeof boot, .user = &boot, .allgather = join_allgather};
  tutti_context_options options;
  tutti_context *context;
  tutti_context_options_init(&options);
  if (getenv("BED_RANK")) {
    boot.rank = atoll(getenv("BED_RANK"));
    boot.rank_count = atoll(getenv("BED_SIZE"));
    options.boot = &boot;
  }
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  return context;
}

#endif

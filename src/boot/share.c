/* boot/share.c - one conversation with the launcher for all contexts of a process, those at once and those one after
 * the other.
 *
 * It ends when the process exits: launchers take no second beginning, or MPI in the same process could not begin after
 * tutti's end (Open MPI's PMIx), and a process that goes without a word counts as crashed. */
#include "boot/launcher.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
  pthread_mutex_t lock;
  const tt_boot_shared *launcher; /* NULL: not begun */
  pid_t process;                  /* that has begun it: what is forked from it does not end it */
  int64_t rank, rank_count;
} job = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void end(void) {
  if (job.process == getpid())
    job.launcher->end();
}

static tutti_status join(const tt_boot_shared *launcher, int64_t timeout_ns) {
  if (job.launcher != NULL)
    return TUTTI_OK;
  tutti_status status = launcher->begin(timeout_ns, &job.rank, &job.rank_count);
  if (status != TUTTI_OK)
    return status;
  job.launcher = launcher;
  job.process = getpid();
  atexit(end);
  return TUTTI_OK;
}

static tutti_status allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  (void)user;
  pthread_mutex_lock(&job.lock);
  tutti_status status =
      job.launcher->allgather(mine, all, bytes, timeout_ns, missing, missing != NULL ? missing_size : 0);
  pthread_mutex_unlock(&job.lock);
  return status;
}

static void close_shared(tt_boot *boot) { free(boot); }

tutti_status tt_boot_share(const tt_boot_shared *launcher, int64_t timeout_ns, tt_boot **boot) {
  tt_boot *made = malloc(sizeof *made);
  if (made == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the connection to the launcher");
  pthread_mutex_lock(&job.lock);
  tutti_status status = join(launcher, timeout_ns);
  pthread_mutex_unlock(&job.lock);
  if (status != TUTTI_OK) {
    free(made);
    return status;
  }
  made->boot = (tutti_boot){sizeof made->boot, job.rank, job.rank_count, made, allgather};
  made->close = close_shared;
  *boot = made;
  return TUTTI_OK;
}

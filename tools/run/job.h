/* tools/run/job.h - a job and its ranks. */
#ifndef TUTTI_TOOLS_RUN_JOB_H
#define TUTTI_TOOLS_RUN_JOB_H

#include "options.h"
#include "stream.h"

#include "boot/boot.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { RUN_BY_SIGNAL = 128 }; /* exit codes of what a signal has ended: this and its number */

typedef struct run_rank {
  pid_t pid;            /* 0: ended */
  bool failed;          /* by itself */
  run_stream stream[2]; /* stdout, stderr */
} run_rank;

typedef struct run_job {
  const run_options *options;
  tt_boot_server *server;
  run_rank *rank;
  run_output output[2]; /* the launcher's, for labelled lines */
  bool one_output;      /* both are the first, as with 2>&1: lines are kept whole over both */
  int64_t running;
  int64_t turn; /* rank whose output is looked at first */
  pid_t *other; /* children of before the job, which it leaves alone; 0: ended */
  size_t other_count;
  int signals;                          /* signalfd */
  sigset_t signals_mask;                /* of before, for the ranks */
  struct rlimit descriptors;            /* likewise */
  int64_t connections;                  /* of ranks to the server, at most */
  int code;                             /* of the first failure */
  int64_t first;                        /* rank of it, -1: none */
  char *said;                           /* by the launcher, for which there was no room yet; NULL: nothing */
  int lost;                             /* errno: labelled output could not be written; 0: all of it was */
  bool apart;                           /* rank 0 has the terminal, and its SIGINT, for itself: it may be gdb */
  bool stopped;                         /* SIGTERM was sent: what fails from now on is our doing */
  int64_t ending_ns;                    /* when SIGINT or SIGTERM came first; 0: not yet */
  int64_t term_ns, kill_ns, timeout_ns; /* when to do it; 0: not */
} run_job;

#endif

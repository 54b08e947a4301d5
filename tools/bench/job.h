/* tools/bench/job.h - the ranks of each library, as their driver sees them. */
#ifndef TUTTI_TOOLS_BENCH_JOB_H
#define TUTTI_TOOLS_BENCH_JOB_H

#include "options.h"

#include "bench/map.h"

#include <sys/resource.h>
#include <sys/types.h>

typedef struct bench_rank {
  int connection; /* socket; -1: not there yet */
  int pidfd;      /* of the worker */
} bench_rank;

typedef struct bench_group {
  const bench_launcher *launcher;
  int number;
  int64_t rank_count;
  pid_t pid;                /* of the launcher; 0: gone */
  int output;               /* what launcher and ranks print; memfd */
  int stuck_count;          /* of jobs of the user's launchers: ended by force after their last word */
  char command[1024];       /* as a person would type it */
  char version[BENCH_TEXT]; /* library and version, as rank 0 says */
  char lack[BENCH_TEXT];    /* what it has said last that it has not */
  bench_rank *rank;
} bench_group;

typedef struct bench_job {
  const bench_options *options;
  bool interrupted;          /* by a signal: nothing more is to be started */
  int listener, signals;     /* socket the ranks connect to; signalfd of SIGINT, SIGTERM, SIGHUP, SIGCHLD */
  struct rlimit descriptors; /* of this process at first, and of what it starts; 0: nothing was changed */
  char address[32];
  int core_count;
  int core[1024]; /* numbers of the cores that this process may use; rank r runs on core[r mod core_count] */
  int group_count;
  bench_group group[BENCH_GROUPS];
  double flags_ns;      /* a bare exchange of flags between as many ranks: bench/flags.h; 0: not known */
  const bench_map *map; /* of ranks that a launcher of the user's has started; NULL: they are this program's, here */
} bench_job;

#endif

/* tools/run/run.h - the parts of `tutti run`: options, ranks, their output, and the loop that watches over them. */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "base/base.h"
#include "boot/boot.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { RUN_BY_SIGNAL = 128 }; /* exit codes of what a signal has ended: this and its number */

typedef enum run_bind { RUN_BIND_AUTO, RUN_BIND_CORE, RUN_BIND_NONE } run_bind;

typedef struct run_options {
  int64_t rank_count;
  bool label;
  run_bind bind;
  int64_t timeout_ns; /* 0: none */
  int64_t grace_ns;   /* what the others have after a rank failed */
  char **program;     /* with arguments, ends with NULL */
} run_options;

/* One of a rank's outputs under --label: whole lines are passed on. */
typedef struct run_stream {
  int from; /* pipe; -1: closed */
  int to;
  bool waits; /* for room at `to` */
  int64_t rank;
  char *text; /* lines that wait, an unfinished one */
  size_t used, room;
} run_stream;

typedef struct run_rank {
  pid_t pid;            /* 0: ended */
  bool failed;          /* by itself */
  run_stream stream[2]; /* stdout, stderr */
} run_rank;

typedef struct run_job {
  const run_options *options;
  tt_boot_server *server;
  run_rank *rank;
  int64_t running;
  int64_t turn; /* rank whose output is looked at first */
  pid_t *other; /* children of before the job, which it leaves alone; 0: ended */
  size_t other_count;
  int signals;                          /* signalfd */
  sigset_t signals_mask;                /* of before, for the ranks */
  struct rlimit descriptors;            /* likewise */
  int64_t links;                        /* of ranks to the server, at most */
  int code;                             /* of the first failure */
  int64_t first;                        /* rank of it, -1: none */
  int lost;                             /* errno: labelled output could not be written; 0: all of it was */
  bool stopped;                         /* SIGTERM was sent: what fails from now on is our doing */
  int ending;                           /* signals that ended it so far */
  int64_t term_ns, kill_ns, timeout_ns; /* when to do it; 0: not */
} run_job;

/* rank.c */
int run_start(run_job *job, int64_t rank); /* 0, or the exit code of a job that cannot start; says why */
bool run_binds(const run_options *options);

/* output.c */
int run_stream_open(run_stream *stream, int64_t rank, int to, int *write_end);
/* Passes on a pipeful at most, as far as there is room for it; at its end the stream is closed. errno where that could
 * not be written, else 0. */
int run_stream_pass(run_stream *stream);
/* Passes on what is there when no rank writes any more; waits for room. */
int run_stream_drain(run_stream *stream);
void run_stream_close(run_stream *stream);

/* loop.c */
void run_watch(run_job *job); /* until every rank has ended */
/* "rank 2 was killed by signal 9 (Killed)" without the rank; returns the exit code */
int run_describe(int status, char *text, size_t size);

/* sweep.c */
bool run_note_others(run_job *job); /* before the first rank; false: no memory */
void run_forget_other(run_job *job, pid_t pid);
void run_sweep(run_job *job); /* ends what ranks have left behind, passes on the rest of their output */

#endif

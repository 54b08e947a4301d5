/* tests/mpi/traps/traps.h - legal programs that trap interposers, and illegal ones that must fail well. Needs no tutti.
 *
 *     traps --list     name, ranks, what the job does
 *     traps NAME...    runs those, one after the other; they are of one kind
 *
 * A trap returns, and has told CHECK what is wrong. One that hangs is found by the time limit of who runs it; the last
 * name that was printed is its. */
#ifndef TEST_MPI_TRAPS_H
#define TEST_MPI_TRAPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum trap_kind {
  TRAP_ENDS,
  TRAP_THREADS, /* ends; needs MPI_THREAD_MULTIPLE */
  TRAP_CHILD,   /* what a trap starts: not listed */
  TRAP_MISUSE,  /* MPI_ERRORS_RETURN: ranks get an error that names them and their calls, and abort with code 40 */
  TRAP_ALONE,   /* the same, but rank 1 differs from itself: it is named, with what it sends and receives */
  TRAP_FATAL,   /* the same, and MPI aborts the job */
  TRAP_FAILS    /* MPI aborts the job, in its own words */
} trap_kind;

typedef struct trap {
  const char *name;
  int ranks;
  trap_kind kind;
  void (*run)(void);
} trap;

/* Each file has a list, which ends with a row without name. */
extern const trap trap_progress[], trap_blocked[], trap_comms[], trap_requests[], trap_threads[], trap_misuse[],
    trap_objects[], trap_types[];

extern int trap_rank, trap_size; /* in MPI_COMM_WORLD */
extern const char *trap_program; /* how to start it again */

/* Says what, and makes the job fail. */
#define CHECK(right, ...) ((right) ? (void)0 : trap_wrong(__func__, __VA_ARGS__))
void trap_wrong(const char *where, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a call of misuse has returned, or will in the next one: prints it and aborts the job. */
void trap_expect_error(int code);

/* An allreduce of `count` ranks' numbers on a communicator, blocking; checks it. */
void trap_allreduce(MPI_Comm comm);

/* A large non-blocking one, with its buffers. trap_finish: waits and checks. */
enum { TRAP_LARGE = 200000 };
typedef struct trap_pending {
  MPI_Comm comm;
  MPI_Request request;
  double *in, *out;
} trap_pending;
trap_pending trap_start(MPI_Comm comm);
void trap_finish(trap_pending *pending);
void trap_check(trap_pending *pending); /* it is complete */

#endif

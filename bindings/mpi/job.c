/* bindings/mpi/job.c - MPI_Init and MPI_Finalize, or the beginning and end of a program that has only sessions
 * (session.c): tutti's context, made through MPI.
 *
 * All that decides whether calls are served is agreed on here: what the environment says on any rank, and whether tutti
 * could start on all of them. If it could not, the program runs on MPI's own collectives and rank 0 says why. */
#include "job.h"

#include "boot.h"
#include "comm.h"
#include "error.h"
#include "idup.h"
#include "lock.h"
#include "machine.h"
#include "progress.h"
#include "request.h"
#include "settings.h"
#include "state.h"
#include "stats.h"
#include "transport.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_NS INT64_C(10000000000)

static tutti_boot boot;

/* ---- what the ranks want ---- */

static int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

/* What each rank tells all others first. */
typedef struct hello {
  uint64_t off, always, statistics, threads, single, serialized, without, tcp, joined, strange;
  tt_mpi_machine machine;
} hello;

/* A program that has a libtutti.so.0 of its own has loaded it first, so that this library is over that one. It may be
 * so old that it does not say its version. And a program with libtutti.a in it, whose names it exports, is in the way
 * of some functions of the library. */
#pragma weak tutti_version
#pragma weak tutti_context_create
static bool is_strange(void) {
  void *library = dlopen("libtutti.so.0", RTLD_LAZY | RTLD_NOLOAD);
  bool whole = library && dlsym(library, "tutti_context_create") == (void *)(uintptr_t)tutti_context_create;
  if (library)
    dlclose(library);
  return !whole || !tutti_version || strcmp(tutti_version(), TUTTI_VERSION) != 0;
}

static hello own_hello(MPI_Comm over, int required, int provided) {
  const tt_mpi_settings settings = tt_mpi_settings_read(rank_in(over) == 0);
  hello own;
  memset(&own, 0, sizeof own);
  own.off = settings.off;
  own.always = settings.always || settings.only != UINT64_MAX; /* who names collectives has chosen himself */
  own.statistics = settings.statistics != NULL;
  own.threads = required == MPI_THREAD_MULTIPLE && provided == MPI_THREAD_MULTIPLE;
  own.single = provided != MPI_THREAD_MULTIPLE;
  own.serialized = provided == MPI_THREAD_SERIALIZED;
  own.without = ~settings.only;
  own.tcp = settings.tcp;
  own.joined = tt_mpi.world != MPI_COMM_NULL && over != tt_mpi.world; /* though tutti may not have started */
  own.strange = is_strange();
  own.machine = tt_mpi_machine_own();
  return own;
}

/* Ranks without tutti never come, and rank 0 may be one. */
static void await_hellos(MPI_Request *request, int rank) {
  if (tt_mpi_boot_wait_within(request, LATE_NS))
    return;
  if (rank <= 1)
    fprintf(stderr, "tutti: rank %d waits in %s for others; do some run without tutti's library in LD_PRELOAD?\n", rank,
            tt_mpi.session ? "its first communicator of a session" : "MPI_Init");
  tt_mpi_boot_wait(request);
}

static hello *gather_hellos(MPI_Comm over, int required, int provided, int size) {
  hello own = own_hello(over, required, provided), *all = calloc((size_t)size, sizeof *all);
  MPI_Request request;
  if (!all)
    tt_mpi_out_of_memory();
  PMPI_Iallgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, over, &request);
  await_hellos(&request, rank_in(over));
  return all;
}

static bool same_machine(const hello *a, const hello *b) {
  return memcmp(&a->machine, &b->machine, sizeof a->machine) == 0;
}

/* What all ranks come to: what one of them wants, all get. */
typedef struct agreement {
  hello some;
  bool nodes;
  int64_t node; /* this rank's machine, by the lowest rank that is on it */
} agreement;

/* With messages of MPI the helper thread (progress.c) would call MPI beside the program. */
static void leave_messages(agreement *met, bool says) {
  if (!met->nodes || !met->some.single || met->some.tcp)
    return;
  met->some.tcp = 1;
  if (says && !met->some.off)
    fprintf(stderr, "tutti: connections of tutti's own between machines (TUTTI_MPI_TRANSPORT=tcp): for messages of MPI "
                    "it would have to give MPI_THREAD_MULTIPLE, which the program may ask for\n");
}

static agreement agree_hellos(MPI_Comm over, int required, int provided) {
  int rank = rank_in(over), size;
  PMPI_Comm_size(over, &size);
  hello *all = gather_hellos(over, required, provided, size);
  agreement met = {.some = all[0]};
  for (int r = 1; r < size; r++) {
    met.some.off |= all[r].off;
    met.some.always |= all[r].always;
    met.some.statistics |= all[r].statistics;
    met.some.threads |= all[r].threads;
    met.some.single |= all[r].single;
    met.some.serialized |= all[r].serialized;
    met.some.without |= all[r].without;
    met.some.tcp |= all[r].tcp;
    met.some.joined |= all[r].joined;
    met.some.strange |= all[r].strange;
    met.nodes |= !same_machine(&all[r], &all[0]);
  }
  while (!same_machine(&all[met.node], &all[rank]))
    met.node++;
  free(all);
  return met;
}

/* NULL: nothing is in the way. */
static const char *why_off(const agreement *met, bool says) {
  if (met->some.off)
    return "TUTTI_MPI=off";
  if (!met->some.strange)
    return NULL;
  if (says)
    fprintf(stderr,
            "tutti: MPI's own collectives run: the program brings another libtutti than that of version " TUTTI_VERSION
            ", which is in front of MPI\n");
  return "another libtutti in the program";
}

static void apply(const agreement *met) {
  tt_mpi.statistics = met->some.statistics != 0;
  tt_mpi.threads = met->some.threads != 0;
  tt_mpi.always = met->some.always != 0;
  tt_mpi.only = ~met->some.without;
  tt_mpi.tcp = met->some.tcp != 0;
  tt_mpi.nodes = met->nodes;
}

/* 0: not said. */
static long number_of(const char *name) {
  const char *value = getenv(name);
  return value ? strtol(value, NULL, 10) : 0;
}

/* As the launchers of Open MPI, MPICH and Slurm tell each rank. */
static bool seems_to_span_machines(void) {
  static const char *const pairs[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                         {"PMI_SIZE", "MPI_LOCALNRANKS"}};
  for (size_t n = 0; n < sizeof pairs / sizeof pairs[0]; n++)
    if (number_of(pairs[n][1]) > 0 && number_of(pairs[n][0]) > number_of(pairs[n][1]))
      return true;
  return number_of("SLURM_STEP_NUM_NODES") > 1;
}

/* By the user. Open MPI 5.0 ends a program that asks for another one. */
static bool is_level_set(void) { return getenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL") || getenv("OMPI_MPI_THREAD_LEVEL"); }

int tt_mpi_thread_level(int required) {
  const tt_mpi_settings settings = tt_mpi_settings_read(false);
  return !settings.off && !settings.tcp && !is_level_set() && seems_to_span_machines() ? MPI_THREAD_MULTIPLE : required;
}

/* ---- MPI_Init ---- */

static void open_private(void) {
  MPI_Request request;
  if (tt_mpi.session) {
    PMPI_Comm_split(tt_mpi.world, rank_in(tt_mpi.world), 0, &tt_mpi.self);
  } else {
    PMPI_Comm_idup(MPI_COMM_WORLD, &tt_mpi.world, &request);
    PMPI_Comm_dup(MPI_COMM_SELF, &tt_mpi.self);
    tt_mpi_boot_wait(&request);
  }
  PMPI_Comm_set_errhandler(tt_mpi.world, MPI_ERRORS_RETURN);
  PMPI_Comm_set_errhandler(tt_mpi.self, MPI_ERRORS_RETURN);
  PMPI_Comm_group(tt_mpi.world, &tt_mpi.world_group);
}

static void close_private(void) {
  if (tt_mpi.self != MPI_COMM_NULL) {
    PMPI_Group_free(&tt_mpi.world_group);
    PMPI_Comm_free(&tt_mpi.self);
  }
  PMPI_Comm_free(&tt_mpi.world);
}

static tutti_status create_context(int64_t node, tutti_context **context) {
  tutti_context_options options;
  tutti_context_options_init(&options);
  boot = tt_mpi_boot();
  boot.user = &boot;
  options.boot = &boot;
  bool messages = tt_mpi.nodes && !tt_mpi.tcp;
  options.idle = messages ? NULL : tt_mpi_idle; /* that transport moves MPI on as well */
  if (messages) {
    options.transport = tt_mpi_transport();
    options.transport_config = &tt_mpi.world;
    options.node = node;
  }
  return tutti_context_create(&options, context);
}

/* Ranks that failed have not begun every allgather of the others on tt_mpi.world. A session has no other communicator:
 * there a blocking call, which MPIs keep apart from those that are started. */
static int lowest(int mine, MPI_Comm over) {
  int first;
  MPI_Request request;
  if (tt_mpi.session) {
    PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, over);
    return first;
  }
  PMPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, over, &request);
  tt_mpi_boot_wait(&request);
  return first;
}

/* Whether all ranks have come so far; if not, rank 0 says what kept the first that has not. */
static bool agree_status(MPI_Comm over, tutti_status status) {
  char why[400] = "";
  int rank = (int)boot.rank, size = (int)boot.rank_count, first = lowest(status == TUTTI_OK ? size : rank, over);
  if (first == size)
    return true;
  if (first == rank)
    snprintf(why, sizeof why, "%s", tutti_last_error());
  PMPI_Bcast(why, sizeof why, MPI_CHAR, first, over);
  if (rank == 0)
    fprintf(stderr, "tutti: MPI's own collectives run: %s\n", why);
  return false;
}

/* Others ask for it for the first time: until here nobody but MPI's callers was in tutti. */
static void hold(int begins) {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  if (!begins) {
    tt_mpi_unlock();
    return;
  }
  tt_mpi_lock();
  if (level != MPI_THREAD_MULTIPLE)
    tt_mpi_idle_restrict();
}

/* With other users of tutti in this process. Messages of MPI end with it, but they need not; a session's ranks need not
 * be all; and where threads may take turns at MPI nobody knows whose it is while one waits in tutti (tt_mpi_idle).
 * Ranks may differ in their levels. */
static bool may_share(const agreement *met) {
  bool messages = tt_mpi.nodes && !tt_mpi.tcp;
  return !messages && !tt_mpi.session && !met->some.serialized;
}

static void mark_fork(void) { tt_mpi.forked = true; }

bool tt_mpi_begin(MPI_Comm over, int required, int provided) {
  agreement met = agree_hellos(over, required, provided);
  if (met.some.joined)
    return false;
  leave_messages(&met, rank_in(over) == 0);
  apply(&met);
  tt_mpi.off = why_off(&met, rank_in(over) == 0);
  if (tt_mpi.off)
    return true;
  tutti_context *context = NULL;
  tt_mpi_idle_begin();
  open_private();
  if (!agree_status(over, create_context(met.node, &context))) {
    tutti_context_destroy(context);
    tt_mpi.off = "tutti could not start";
    return true;
  }
  tt_mpi.context = context;
  pthread_atfork(NULL, NULL, mark_fork);
  tt_mpi_comm_begin();
  if (may_share(&met))
    tutti_context_share(context, hold);
  return true;
}

/* ---- MPI_Finalize ---- */

#ifdef TT_MPI_SESSIONS
enum { SESSIONS = 1 };
#else
enum { SESSIONS = 0 };
#endif

/* Between machines whoever waits for this rank hears that it is through with its calls, and gets what has still to be
 * sent on, only while it is in tutti: not yet in MPI. An error, of a rank that died, is for who waits. */
static void linger(void) {
  int64_t ranks = tutti_context_size(tt_mpi.context);
  int64_t *all = malloc((size_t)ranks * sizeof *all);
  tutti_comm *comm = NULL;
  if (!all)
    tt_mpi_out_of_memory();
  for (int64_t r = 0; r < ranks; r++)
    all[r] = r;
  if (tutti_comm_create_group(tt_mpi.context, TT_MPI_LAST_NUMBER, ranks, all, &comm) == TUTTI_OK)
    (void)tutti_barrier(comm);
  tutti_comm_destroy(comm);
  free(all);
}

/* Who makes a communicator of a session finds all its ranks with tutti, or all without. */
static void leave_together(void) {
  MPI_Request request;
  linger();
  if (tt_mpi.nodes) { /* without naps: MPICH over UCX's TCP may hang where ranks end at different times */
    PMPI_Barrier(tt_mpi.world);
    return;
  }
  PMPI_Ibarrier(tt_mpi.world, &request);
  tt_mpi_boot_wait(&request);
}

static void leave(void) {
  tt_mpi_request_end();
  tt_mpi_comm_end(); /* others need not wait for this rank on them */
  tt_mpi_comm_idup_end();
  if (tt_mpi.nodes || SESSIONS)
    leave_together();
}

void tt_mpi_end(void) {
  if (tt_mpi.context)
    leave();
  if (tt_mpi.statistics)
    tt_mpi_stats_print();
  if (tt_mpi.context) {
    tt_mpi_idle_end();
    tutti_context_share(NULL, NULL);
    tutti_context_destroy(tt_mpi.context);
  }
  if (tt_mpi.world != MPI_COMM_NULL)
    close_private();
  tt_mpi.context = NULL;
  tt_mpi.off = "before MPI_Init or after MPI_Finalize";
  tt_mpi.statistics = false;
  tt_mpi.ended = true;
}

/* bindings/mpi/state.c - MPI_Init and MPI_Finalize, or the beginning and end of a program that has only sessions
 * (session.c): tutti's context, made through MPI.
 *
 * All that decides whether calls are served is agreed on here: what the environment says on any rank, and whether tutti
 * could start on all of them. If it could not, the program runs on MPI's own collectives and rank 0 says why. */
#include "boot.h"
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tt_mpi_state tt_mpi = {.off = "before MPI_Init or after MPI_Finalize", .self = MPI_COMM_NULL, .world = MPI_COMM_NULL};

static tutti_boot boot;

/* ---- what the ranks want ---- */

static int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

enum { OFF, STATISTICS, THREADS, WITHOUT, TCP, JOINED, WISHES };

/* What one rank wants, all get. */
static void agree_wishes(MPI_Comm over, bool threads, uint64_t all[WISHES]) {
  const tt_mpi_settings settings = tt_mpi_settings_read(rank_in(over) == 0);
  uint64_t wish[WISHES] = {settings.off, settings.statistics != NULL, threads, ~settings.only,
                           settings.tcp, tt_mpi.context != NULL};
  PMPI_Allreduce(wish, all, WISHES, MPI_UINT64_T, MPI_BOR, over);
}

static void apply_wishes(const uint64_t all[WISHES]) {
  tt_mpi.statistics = all[STATISTICS] != 0;
  tt_mpi.threads = all[THREADS] != 0;
  tt_mpi.only = ~all[WITHOUT];
  tt_mpi.tcp = all[TCP] != 0;
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

int tt_mpi_thread_level(int required) {
  const tt_mpi_settings settings = tt_mpi_settings_read(false);
  return !settings.off && !settings.tcp && seems_to_span_machines() ? MPI_THREAD_MULTIPLE : required;
}

/* ---- MPI_Init ---- */

static void open_private(void) {
  if (tt_mpi.session) {
    PMPI_Comm_split(tt_mpi.world, rank_in(tt_mpi.world), 0, &tt_mpi.self);
  } else {
    PMPI_Comm_dup(MPI_COMM_WORLD, &tt_mpi.world);
    PMPI_Comm_dup(MPI_COMM_SELF, &tt_mpi.self);
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

static tutti_status create_context(tutti_context **context) {
  tutti_context_options options;
  tutti_context_options_init(&options);
  int64_t node = tt_mpi_boot_node(&tt_mpi.nodes);
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

/* Whether all ranks have come so far; if not, rank 0 says what kept the first that has not. */
static bool agree_status(tutti_status status) {
  char why[400] = "";
  int rank = (int)boot.rank, size = (int)boot.rank_count, mine = status == TUTTI_OK ? size : rank, first;
  PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, tt_mpi.world);
  if (first == size)
    return true;
  if (first == rank)
    snprintf(why, sizeof why, "%s", tutti_last_error());
  PMPI_Bcast(why, sizeof why, MPI_CHAR, first, tt_mpi.world);
  if (rank == 0)
    fprintf(stderr, "tutti: MPI's own collectives run: %s\n", why);
  return false;
}

/* MPI_Init of a program that has sessions already, for which tutti has joined. */
static void begin_joined(void) {
#ifdef TT_MPI_SESSIONS
  tt_mpi_session_comm_made(MPI_COMM_WORLD);
#endif
  if (tt_mpi.context)
    tt_mpi_comm_made(MPI_COMM_SELF);
}

void tt_mpi_begin(MPI_Comm over, int required, int provided) {
  uint64_t all[WISHES];
  agree_wishes(over, required == MPI_THREAD_MULTIPLE && provided == MPI_THREAD_MULTIPLE, all);
  if (all[JOINED]) {
    begin_joined();
    return;
  }
  apply_wishes(all);
  if (all[OFF]) {
    tt_mpi.off = "TUTTI_MPI=off";
    return;
  }
  tutti_context *context = NULL;
  open_private();
  if (!agree_status(create_context(&context))) {
    tutti_context_destroy(context);
    tt_mpi.off = "tutti could not start";
    return;
  }
  tt_mpi.context = context;
  tt_mpi.off = NULL;
  tt_mpi_comm_begin();
}

/* ---- MPI_Finalize ---- */

/* What others wait for may still have to be sent on; and who makes a communicator of a session finds all its ranks with
 * tutti, or all without. */
#ifdef TT_MPI_SESSIONS
enum { SESSIONS = 1 };
#else
enum { SESSIONS = 0 };
#endif

void tt_mpi_end(void) {
  if (tt_mpi.context)
    tt_mpi_request_end();
  if (tt_mpi.statistics)
    tt_mpi_stats_print();
  if (tt_mpi.context) {
    if (tt_mpi.nodes || SESSIONS)
      PMPI_Barrier(tt_mpi.world);
    tt_mpi_comm_end();
    tutti_context_destroy(tt_mpi.context);
  }
  if (tt_mpi.world != MPI_COMM_NULL)
    close_private();
  tt_mpi.context = NULL;
  tt_mpi.off = "before MPI_Init or after MPI_Finalize";
  tt_mpi.statistics = false;
}

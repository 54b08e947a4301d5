/* boot/open.c - which launcher has started this process: the first row of a table whose variable is in the environment.
 *
 * Some launchers start processes and tell them nothing, or inside another launcher's job, whose variables count: then
 * each would be a job of one, and a warning says so. */
#include "boot/launcher.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct launcher {
  const char *variable; /* tells of it */
  const char *commands; /* set it */
  tutti_status (*open)(int64_t timeout_ns, tt_boot **boot);
} launcher;

static const launcher table[] = {
    {"TUTTI_BOOT", "tutti run", tt_boot_open_run},
    {"PMIX_RANK", "mpirun, prterun and srun --mpi=pmix", tt_boot_open_pmix},
    {"PMI_FD", "mpiexec and srun --mpi=pmi2", tt_boot_open_pmi},
};

/* Where these say more than one task, somebody meant a job. advice: where there is no launcher; NULL: then they may be
 * left of a job that the process was taken out of. */
static const struct {
  const char *variable, *advice;
} sizes[] = {
    {"SLURM_STEP_NUM_TASKS",
     "srun offers no PMI, so each task is a job of its own; use --mpi=pmix or --mpi=pmi2 for one job"},
    {"PMI_SIZE", "PMI_FD is not set, so each process is a job of its own"},
    {"MPI_LOCALNRANKS", "PMI_FD is not set (mpiexec -pmi-port?), so each process is a job of its own"},
    {"OMPI_COMM_WORLD_SIZE", NULL},
    {"WORLD_SIZE", NULL},
};

static bool is_set(const char *variable) {
  const char *text = getenv(variable);
  return text != NULL && text[0] != '\0';
}

static const launcher *find(void) {
  for (size_t row = 0; row < TT_COUNT(table); row++)
    if (is_set(table[row].variable))
      return &table[row];
  return NULL;
}

/* found: NULL, or the launcher that says so, which may be the outer one of two. */
static void warn_of_one(const launcher *found) {
  for (size_t row = 0; row < TT_COUNT(sizes); row++) {
    const char *text = getenv(sizes[row].variable);
    if (text == NULL || strtoll(text, NULL, 10) < 2 || (found == NULL && sizes[row].advice == NULL))
      continue;
    if (found == NULL)
      tt_log(TT_LOG_WARN, "%s is %s, but %s", sizes[row].variable, text, sizes[row].advice);
    else
      tt_log(TT_LOG_WARN,
             "%s is %s, but by %s, which %s set, this is a job of one rank: unset %s if that is an outer job",
             sizes[row].variable, text, found->variable, found->commands, found->variable);
    return;
  }
}

/* Of the process that is the launcher's rank; 0: none yet. What is only forked from it has the same environment. A
 * number alone: pairs with nothing. */
static _Atomic pid_t owner;

static tutti_status refuse_forked(void) {
  pid_t first = atomic_load_explicit(&owner, memory_order_relaxed);
  if (first == 0 || first == getpid())
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_SYSTEM, "this process was forked from process %d, which is the launcher's rank", first);
}

tutti_status tt_boot_open(int64_t timeout_ns, tt_boot **boot) {
  const launcher *found = find();
  if (found == NULL) {
    warn_of_one(NULL);
    return tt_boot_open_alone(timeout_ns, boot);
  }
  tutti_status status = refuse_forked();
  if (status == TUTTI_OK)
    status = found->open(timeout_ns, boot);
  if (status != TUTTI_OK)
    return status;
  atomic_store_explicit(&owner, getpid(), memory_order_relaxed);
  if ((*boot)->boot.rank_count == 1)
    warn_of_one(found);
  tt_log(TT_LOG_INFO, "rank %" PRId64 " of %" PRId64 ", from %s, which %s set", (*boot)->boot.rank,
         (*boot)->boot.rank_count, found->variable, found->commands);
  return TUTTI_OK;
}

const tutti_boot *tt_boot_get(const tt_boot *boot) { return &boot->boot; }

void tt_boot_close(tt_boot *boot) {
  if (boot != NULL)
    boot->close(boot);
}

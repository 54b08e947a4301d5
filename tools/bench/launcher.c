/* tools/bench/launcher.c - the libraries that can be measured, and what starts their ranks. */
#include "launcher.h"

#include "base/base.h"

#include <string.h>

static const bench_kind own = {.rank_variable = "TUTTI_RANK", .yielding = ""};
static const bench_kind openmpi = {.worker = "peer-openmpi",
                                   .rank_variable = "OMPI_COMM_WORLD_RANK",
                                   .yielding = "--oversubscribe --mca mpi_yield_when_idle 1",
                                   .yields = "OMPI_MCA_mpi_yield_when_idle=1"};
static const bench_kind mpich = {
    .worker = "peer-mpich", .rank_variable = "PMI_RANK", .yielding = "-genv BENCH_YIELD 1", .yields = "BENCH_YIELD=1"};

static const bench_launcher table[] = {
    {.name = "tutti", .kind = &own, .arguments = "run", .launch = BENCH_LAUNCH},
    {.name = "openmpi",
     .kind = &openmpi,
     .program = {"mpirun.openmpi"},
     .arguments = "--allow-run-as-root --bind-to none",
     .launch = BENCH_LAUNCH_OPENMPI},
    {.name = "mpich",
     .kind = &mpich,
     .program = {"mpiexec.mpich", "mpiexec.hydra"},
     .arguments = "-bind-to none",
     .launch = BENCH_LAUNCH_MPICH},
    {.name = "openmpi+tutti",
     .kind = &openmpi,
     .arguments = "mpirun --mpi openmpi --allow-run-as-root --bind-to none",
     .launch = BENCH_LAUNCHES},
    {.name = "mpich+tutti", .kind = &mpich, .arguments = "mpirun --mpi mpich -bind-to none", .launch = BENCH_LAUNCHES},
    {.name = "reproducible", .kind = &own, .arguments = "run", .launch = BENCH_LAUNCH, .params = "reproducible"},
};

const bench_launcher *bench_launcher_find(const char *name) {
  for (size_t i = 0; i < TT_COUNT(table); i++)
    if (strcmp(table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

/* tools/bench/libraries.c - the libraries that can be measured: a table, variants that the user names, and the
 * launchers of his that start them. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

static const bench_launcher table[] = {
    {.name = "tutti", .arguments = "run", .yielding = "", .rank_variable = "TUTTI_RANK", .launch = BENCH_LAUNCH},
    {.name = "openmpi",
     .program = {"mpirun.openmpi"},
     .arguments = "--allow-run-as-root --bind-to none",
     .yielding = "--oversubscribe --mca mpi_yield_when_idle 1",
     .worker = "peer-openmpi",
     .yields = "OMPI_MCA_mpi_yield_when_idle=1",
     .rank_variable = "OMPI_COMM_WORLD_RANK",
     .launch = BENCH_LAUNCH_OPENMPI},
    {.name = "mpich",
     .program = {"mpiexec.mpich", "mpiexec.hydra"},
     .arguments = "-bind-to none",
     .yielding = "-genv BENCH_YIELD 1",
     .worker = "peer-mpich",
     .yields = "BENCH_YIELD=1",
     .rank_variable = "PMI_RANK",
     .launch = BENCH_LAUNCH_MPICH},
    {.name = "openmpi+tutti",
     .arguments = "mpirun --mpi openmpi --allow-run-as-root --bind-to none",
     .yielding = "--oversubscribe --mca mpi_yield_when_idle 1",
     .worker = "peer-openmpi",
     .yields = "OMPI_MCA_mpi_yield_when_idle=1",
     .rank_variable = "OMPI_COMM_WORLD_RANK",
     .launch = BENCH_LAUNCHES},
    {.name = "mpich+tutti",
     .arguments = "mpirun --mpi mpich -bind-to none",
     .yielding = "-genv BENCH_YIELD 1",
     .worker = "peer-mpich",
     .yields = "BENCH_YIELD=1",
     .rank_variable = "PMI_RANK",
     .launch = BENCH_LAUNCHES},
    {.name = "reproducible",
     .arguments = "run",
     .yielding = "",
     .rank_variable = "TUTTI_RANK",
     .params = "reproducible",
     .launch = BENCH_LAUNCH},
};

const bench_launcher *bench_launcher_find(const char *name) {
  for (size_t i = 0; i < TT_COUNT(table); i++)
    if (strcmp(table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

/* ---- of the options ---- */

static int add(bench_options *options, const bench_launcher *launcher) {
  for (int i = 0; i < options->library_count; i++)
    if (strcmp(options->library[i]->name, launcher->name) == 0)
      return bench_fail("library '%s' is given twice", launcher->name);
  if (options->library_count == BENCH_GROUPS)
    return bench_fail("more than %d libraries", BENCH_GROUPS);
  options->library[options->library_count++] = launcher;
  return 0;
}

static int add_named(bench_options *options, const char *name) {
  const bench_launcher *launcher = bench_launcher_find(name);
  if (!launcher)
    return bench_fail("unknown library '%s'; libraries are tutti, openmpi and mpich", name);
  return add(options, launcher);
}

static int add_list(bench_options *options, const char *list) {
  char copy[256], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", list);
  for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    if (add_named(options, name) != 0)
      return -1;
  return 0;
}

/* "openmpi:han=--mca coll_han_priority 100": that library, with more arguments for its launcher. */
static int add_variant(bench_options *options, const char *text) {
  size_t base = strcspn(text, ":"), name = strcspn(text, "=");
  bench_variant *variant = &options->variant[options->variant_count];
  if (options->variant_count == BENCH_GROUPS)
    return bench_fail("more than %d libraries", BENCH_GROUPS);
  if (text[name] != '=' || name <= base + 1 || name >= sizeof variant->name)
    return bench_fail("--against: '%s' is not LIBRARY:NAME=ARGUMENTS", text);
  snprintf(variant->name, sizeof variant->name, "%.*s", (int)base, text);
  const bench_launcher *of = bench_launcher_find(variant->name);
  if (!of)
    return bench_fail("--against: unknown library '%s'; libraries are tutti, openmpi and mpich", variant->name);
  snprintf(variant->name, sizeof variant->name, "%.*s", (int)name, text);
  variant->launcher = *of;
  variant->launcher.name = variant->name;
  variant->launcher.more = text + name + 1;
  options->variant_count++;
  return add(options, &variant->launcher);
}

static bool is_variant(const char *text) { return text[strcspn(text, ":,=")] == ':'; }

int bench_libraries_add(bench_options *options, const char *text) {
  return is_variant(text) ? add_variant(options, text) : add_list(options, text);
}

/* ---- launchers of the user's ---- */

const char *bench_libraries_launch(const bench_options *options, const bench_launcher *launcher) {
  const char *own = launcher->launch < BENCH_LAUNCHES ? options->launch[launcher->launch] : NULL;
  return own ? own : launcher->launch < BENCH_LAUNCHES ? options->launch[BENCH_LAUNCH] : NULL;
}

static int check_levels(const bench_options *options) {
  if (options->levels && options->overlap)
    return bench_fail("--levels: it does not apply to calls beside computation; leave out --overlap");
  if (options->levels && options->library[0]->worker)
    return bench_fail("--levels: it works only for tutti, not for --library %s", options->library[0]->name);
  return 0;
}

int bench_libraries_check(const bench_options *options) {
  if (check_levels(options) != 0)
    return -1;
  if (!options->launched)
    return 0;
  if (options->overlap)
    return bench_fail("--overlap does not work with --launch");
  if (options->ranks_given)
    return bench_fail("-n %lld: --launch gives the number of ranks; leave out -n", (long long)options->rank_count);
  if (options->core_count > 0)
    return bench_fail("--cores %d: --launch places the ranks; leave out --cores", options->core_count);
  for (int i = 0; i < options->library_count; i++)
    if (!bench_libraries_launch(options, options->library[i]))
      return bench_fail("%s: it has no launcher; add for example --launch 'mpirun -n 8'", options->library[i]->name);
  return 0;
}

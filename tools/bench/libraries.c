/* tools/bench/libraries.c - the libraries that the user names, variants of them, and the launchers of his that start
 * them. */
#include "libraries.h"
#include "say.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int add(bench_options *options, const bench_launcher *launcher) {
  for (int i = 0; i < options->library.count; i++)
    if (strcmp(options->library.at[i]->name, launcher->name) == 0)
      return bench_fail("library '%s' is given twice", launcher->name);
  if (options->library.count == BENCH_GROUPS)
    return bench_fail("more than %d libraries", BENCH_GROUPS);
  options->library.at[options->library.count++] = launcher;
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
  bench_variant *variant = &options->library.variant[options->library.variant_count];
  if (options->library.variant_count == BENCH_GROUPS)
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
  options->library.variant_count++;
  return add(options, &variant->launcher);
}

static bool is_variant(const char *text) { return text[strcspn(text, ":,=")] == ':'; }

static int add_all(bench_options *options) {
  const bench_library_options *named = &options->library;
  if (add_list(options, named->measured) != 0)
    return -1;
  for (int i = 0; i < named->against_count; i++)
    if ((is_variant(named->against[i]) ? add_variant : add_list)(options, named->against[i]) != 0)
      return -1;
  return named->reproducible ? add_list(options, "reproducible") : 0;
}

/* ---- launchers of the user's ---- */

const char *bench_libraries_launch(const bench_options *options, const bench_launcher *launcher) {
  const char *own = launcher->launch < BENCH_LAUNCHES ? options->launch.command[launcher->launch] : NULL;
  return own ? own : launcher->launch < BENCH_LAUNCHES ? options->launch.command[BENCH_LAUNCH] : NULL;
}

static int check_levels(const bench_options *options) {
  if (options->levels && options->call.overlap)
    return bench_fail("--levels: it does not apply to calls beside computation; leave out --overlap");
  if (options->levels && options->library.at[0]->kind->worker)
    return bench_fail("--levels: it works only for tutti, not for --library %s", options->library.at[0]->name);
  return 0;
}

static int check(const bench_options *options) {
  if (check_levels(options) != 0)
    return -1;
  if (!options->launch.given)
    return 0;
  if (options->call.overlap)
    return bench_fail("--overlap does not work with --launch");
  if (options->ranks.given)
    return bench_fail("-n %" PRId64 ": --launch gives the number of ranks; leave out -n", options->ranks.count);
  if (options->ranks.core_count > 0)
    return bench_fail("--cores %d: --launch places the ranks; leave out --cores", options->ranks.core_count);
  for (int i = 0; i < options->library.count; i++)
    if (!bench_libraries_launch(options, options->library.at[i]))
      return bench_fail("%s: it has no launcher; add for example --launch 'mpirun -n 8'", options->library.at[i]->name);
  return 0;
}

int bench_libraries_find(bench_options *options) { return add_all(options) == 0 ? check(options) : -1; }

/* tools/mpirun/mpirun.c - `tutti mpirun`: an MPI program, unchanged, with its collectives on tutti.
 *
 * Replaces itself by the MPI's own launcher, told to preload libtutti-openmpi.so or libtutti-mpich.so into the ranks
 * (docs/mpi.md). Everything but its own options is passed on. */
#include "mpirun.h"
#include "find.h"
#include "program.h"

#include "tools/wrap/wrap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_FOUND 127

static const char help[] =
    "usage: tutti mpirun [OPTIONS] ARGUMENTS OF MPIRUN\n"
    "\n"
    "Runs an unchanged MPI program through its MPI's own mpirun, with its collectives on tutti.\n"
    "\n"
    "      --mpi openmpi|mpich   the MPI of the program (default: the MPI that the program needs; if it does not say,\n"
    "                            as with scripts, the MPI of the mpirun in PATH)\n"
    "      --mpirun PATH         the launcher to use (default: TUTTI_MPIRUN, else the MPI's mpirun in PATH)\n"
    "      --stats               report at the end what ran on tutti and what passed through: TUTTI_STATS=1\n"
    "      --only LIST           run only these collectives on tutti, such as allreduce,bcast: TUTTI_MPI_ONLY\n"
    "      --off                 pass everything through to MPI, to compare with: TUTTI_MPI=off\n"
    "      --always              run on tutti also what was measured to be faster on MPI: TUTTI_MPI=always\n"
    "      --shared-heap         ranks of a machine read each other's large blocks of malloc where they lie:\n"
    "                            TUTTI_HEAP=on (docs/memory.md says what that costs)\n"
    "      --wrap RULE           start ranks under another program: '0,4-7:gdb --args', 'all:valgrind -q';\n"
    "                            can be given several times (see `tutti wrap --help`)\n"
    "      --show                print the command instead of running it\n"
    "  -h, --help                print this text\n"
    "\n"
    "Options come first; everything after them goes to the launcher, whose exit code `tutti mpirun` returns.\n"
    "Variables with names that begin with TUTTI_ reach all ranks, and so does ASAN_OPTIONS, which programs with the\n"
    "address sanitizer need. The libraries in LD_PRELOAD are loaded before tutti's.\n"
    "\n"
    "  tutti mpirun -n 8 ./app\n"
    "  tutti mpirun --stats -n 8 --hostfile nodes python3 train.py\n"
    "  tutti mpirun --wrap '0,3:valgrind -q' -n 4 ./app\n";

typedef struct mpirun_options {
  const mpirun_kind *kind; /* NULL: to be found out */
  const char *launcher;    /* NULL: the same */
  wrap_list wraps;         /* ranks that start under another program */
  bool show;
  char **rest;
} mpirun_options;

/* ---- options ---- */

/* The value of --NAME VALUE or --NAME=VALUE; NULL: another argument, or no value. */
static const char *value_of(const char *name, char ***argument) {
  size_t length = strlen(name);
  const char *word = **argument;
  if (strncmp(word, name, length) != 0 || (word[length] != '=' && word[length] != '\0'))
    return NULL;
  return word[length] == '=' ? word + length + 1 : (*argument)[1] ? *++*argument : NULL;
}

static int set_kind(const char *name, mpirun_options *options) {
  options->kind = mpirun_kind_named(name);
  return options->kind ? 0 : tool_misused("mpirun", "--mpi '%s' is neither openmpi nor mpich", name);
}

static int add_wrap(const char *rule, mpirun_options *options) {
  return wrap_add(&options->wraps, rule) == TUTTI_OK ? 0 : tool_misused("mpirun", "--wrap %s", tutti_last_error());
}

/* 0: taken; an exit code; -1: help; -2: not one of ours. */
static int parse_one(char ***argument, mpirun_options *options) {
  static const struct {
    const char *word, *name, *value;
  } variables[] = {{"--stats", "TUTTI_STATS", "1"}, {"--off", "TUTTI_MPI", "off"}, {"--always", "TUTTI_MPI", "always"}};
  const char *word = **argument, *value;
  for (size_t v = 0; v < TT_COUNT(variables); v++)
    if (strcmp(word, variables[v].word) == 0)
      return setenv(variables[v].name, variables[v].value, 1) != 0;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    return -1;
  if (strcmp(word, "--shared-heap") == 0)
    return tool_heap_want(), 0;
  if (strcmp(word, "--show") == 0)
    return options->show = true, 0;
  if ((value = value_of("--mpi", argument)))
    return set_kind(value, options);
  if ((value = value_of("--mpirun", argument)))
    return options->launcher = value, 0;
  if ((value = value_of("--wrap", argument)))
    return add_wrap(value, options);
  if ((value = value_of("--only", argument)))
    return setenv("TUTTI_MPI_ONLY", value, 1) != 0;
  return -2;
}

static int parse(char **argument, mpirun_options *options) {
  int code = 0;
  for (; *argument && (code = parse_one(&argument, options)) == 0; argument++)
    ;
  options->rest = argument;
  if (code == -2)
    code = 0;
  return code == 0 && !*argument ? tool_misused("mpirun", "the program is missing") : code;
}

/* ---- which MPI, which launcher ---- */

/* A launcher that was named must be there, and of the program's MPI. */
static int check_named(mpirun_options *options, const char *program, char *launcher) {
  if (!tool_find_program(options->launcher, launcher))
    return tool_fail("mpirun", NOT_FOUND, "launcher '%s' not found", options->launcher);
  const mpirun_kind *kind = mpirun_kind_of_launcher(options->launcher);
  if (kind && options->kind && kind != options->kind)
    return tool_fail("mpirun", NOT_FOUND, "%s is a program of %s, but %s is the launcher of %s", program,
                     options->kind->about, options->launcher, kind->about);
  if (!kind && !options->kind)
    return tool_fail("mpirun", NOT_FOUND,
                     "cannot tell which MPI the launcher %s belongs to; add --mpi openmpi or --mpi mpich",
                     options->launcher);
  options->kind = options->kind ? options->kind : kind;
  return 0;
}

static int choose(mpirun_options *options, char *launcher) {
  const char *program = "this";
  if (!options->kind)
    options->kind = mpirun_kind_of_programs(options->rest, &program);
  if (options->launcher)
    return check_named(options, program, launcher);
  if (!options->kind)
    options->kind = mpirun_kind_of_launcher("mpirun");
  if (!options->kind)
    return tool_fail("mpirun", NOT_FOUND,
                     "cannot tell which MPI the program needs, and there is no mpirun of Open MPI or MPICH in PATH; "
                     "add --mpi and --mpirun");
  if (!mpirun_find_launcher(options->kind, launcher))
    return tool_fail("mpirun", NOT_FOUND, "there is no launcher of %s in PATH; name one with --mpirun",
                     options->kind->about);
  return 0;
}

/* Every part of the launcher's arguments must have a program, as far as --wrap has to find it. */
static int check_wraps(const mpirun_options *options) {
  char **part = options->wraps.count > 0 ? options->rest : NULL;
  while (part) {
    if (!mpirun_program_of(part))
      return tool_fail(
          "mpirun", NOT_FOUND,
          "--wrap: none of the launcher's arguments is a program here; write `tutti wrap '%s' --` before yours",
          options->wraps.rule[0]);
    while (*part && strcmp(*part, ":") != 0)
      part++;
    part = *part ? part + 1 : NULL;
  }
  return 0;
}

/* A file of programs in place of one: the ranks would not get what build adds. */
static int check_file(const mpirun_options *options) {
  char **program = mpirun_program_of(options->rest);
  for (char **argument = options->rest; options->kind->sets_each && *argument && argument != program; argument++)
    if (strcmp(*argument, "--app") == 0 || strcmp(*argument, "-app") == 0)
      return tool_misused("mpirun", "Open MPI ignores all options beside %s; write program : program", *argument);
  return 0;
}

/* ---- the command ---- */

/* The three as one, of the heap. NULL: no memory, and the list has failed. */
static char *join(tool_words *list, const char *first, const char *between, const char *last) {
  char *all = NULL;
  if (asprintf(&all, "%s%s%s", first, between, last) >= 0)
    return all;
  list->failed = true;
  return NULL;
}

static void add_variable(tool_words *list, const mpirun_kind *kind, const char *name, const char *value) {
  if (kind->sets_each) {
    char *both = join(list, name, "=", value);
    tool_words_add(list, "-x");
    tool_words_add(list, both ? both : "");
    free(both);
  } else {
    tool_words_add(list, "-genv");
    tool_words_add(list, name);
    tool_words_add(list, value);
  }
}

/* A variable that is a list: what it is so far, and `last`. */
static void add_longer(tool_words *list, const mpirun_kind *kind, const char *name, const char *last) {
  const char *before = getenv(name);
  bool alone = !before || !*before;
  char *value = join(list, alone ? "" : before, alone ? "" : ":", last);
  add_variable(list, kind, name, value ? value : "");
  free(value);
}

/* What every rank gets. Programs with the address sanitizer would end at once, as its own library is no longer the
 * first of all. It may be the second here: none of its names is in ours. */
static void add_variables(tool_words *list, const mpirun_kind *kind, const char *library) {
  extern char **environ;
  char name[256];
  add_longer(list, kind, "LD_PRELOAD", library);
  add_longer(list, kind, "ASAN_OPTIONS", "verify_asan_link_order=0");
  for (char **variable = environ; *variable; variable++) {
    size_t length = strcspn(*variable, "=");
    if (strncmp(*variable, "TUTTI_", 6) != 0 || length >= sizeof name)
      continue;
    snprintf(name, sizeof name, "%.*s", (int)length, *variable);
    add_variable(list, kind, name, *variable + length + 1);
  }
}

/* Before a program: `tutti wrap`, which decides on each rank. */
static void add_wraps(tool_words *list, const wrap_list *wraps) {
  char self[TOOL_PATH];
  tool_own_path(self);
  tool_words_add(list, *self ? self : "tutti");
  tool_words_add(list, "wrap");
  for (size_t r = 0; r < wraps->count; r++)
    tool_words_add(list, wraps->rule[r]);
  tool_words_add(list, "--");
}

static char **program_to_wrap(const mpirun_options *options, char **arguments) {
  return options->wraps.count > 0 ? mpirun_program_of(arguments) : NULL;
}

static void build(const mpirun_options *options, const char *launcher, const char *library, tool_words *list) {
  char **program = program_to_wrap(options, options->rest);
  tool_words_add(list, launcher);
  add_variables(list, options->kind, library);
  for (char **argument = options->rest; *argument; argument++) {
    if (argument == program)
      add_wraps(list, &options->wraps);
    tool_words_add(list, *argument);
    if (strcmp(*argument, ":") != 0)
      continue;
    program = program_to_wrap(options, argument + 1);
    if (options->kind->sets_each)
      add_variables(list, options->kind, library);
  }
}

/* As a shell reads it. */
static void show_word(const char *word) {
  bool plain = *word && word[strcspn(word, " \t\n\"'\\;&|$<>()`*?[]{}!#~")] == '\0';
  if (plain) {
    fputs(word, stdout);
    return;
  }
  putchar('\'');
  for (; *word; word++)
    if (*word == '\'')
      fputs("'\\''", stdout);
    else
      putchar(*word);
  putchar('\'');
}

static int show(const tool_words *list) {
  for (size_t w = 0; w < list->count; w++) {
    show_word(list->word[w]);
    putchar(w + 1 < list->count ? ' ' : '\n');
  }
  return 0;
}

/* Open MPI's says it at length, but not where the option goes here. Versions read other variables. */
static bool is_root_allowed(const mpirun_options *options) {
  static const char *const variables[] = {"OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"};
  for (size_t n = 0; n < TT_COUNT(variables); n++)
    if (getenv(variables[n]))
      return true;
  for (char **argument = options->rest; *argument; argument++)
    if (strcmp(*argument, "--allow-run-as-root") == 0)
      return true;
  return false;
}

static void say_root(const mpirun_options *options) {
  if (geteuid() == 0 && strcmp(options->kind->name, "openmpi") == 0 && !is_root_allowed(options))
    fputs("tutti mpirun: Open MPI does not start programs as root unless you allow it. Add --allow-run-as-root after "
          "the options of tutti mpirun, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n",
          stderr);
}

/* Only where it fails, it returns. */
static int become(const mpirun_options *options, const char *launcher, const tool_words *list) {
  if (list->failed)
    return tool_fail("mpirun", EXIT_FAILURE, "no memory");
  if (options->show)
    return show(list);
  say_root(options);
  execv(launcher, list->word);
  return tool_fail("mpirun", NOT_FOUND, "%s: %s", launcher, strerror(errno));
}

/* The MPI's library, and the heap's before it where that is wanted. */
static void add_heap(char *library) {
  char heap[TOOL_PATH], both[2 * TOOL_PATH];
  if (tool_heap_wanted("mpirun", heap) && snprintf(both, sizeof both, "%s:%s", heap, library) < TOOL_PATH)
    strcpy(library, both);
}

static int run(mpirun_options *options) {
  char launcher[TOOL_PATH], library[TOOL_PATH];
  tool_words list = {.count = 0};
  int code = choose(options, launcher);
  if (code == 0)
    code = check_file(options);
  if (code == 0)
    code = check_wraps(options);
  if (code != 0)
    return code;
  if (!mpirun_find_library(options->kind, library))
    return tool_fail("mpirun", NOT_FOUND,
                     "there is no %s (%s was missing when tutti was built, or the Debian package libtutti-%s is not "
                     "installed)",
                     library, options->kind->about, options->kind->name);
  if (!tool_can_preload("mpirun", library))
    return NOT_FOUND;
  add_heap(library);
  build(options, launcher, library, &list);
  code = become(options, launcher, &list);
  tool_words_finish(&list);
  return code;
}

int tt_tool_mpirun(int argc, char **argv) {
  (void)argc;
  mpirun_options options = {.launcher = getenv("TUTTI_MPIRUN")};
  int code = parse(argv + 1, &options);
  if (code == 0)
    code = run(&options);
  else if (code < 0)
    fputs(help, stdout);
  wrap_finish(&options.wraps);
  return code < 0 ? 0 : code;
}

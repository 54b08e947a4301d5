/* tools/mpirun/find.c - which MPI a program or a launcher belongs to, and where its launcher and library are.
 *
 * A program says by the libraries it needs: the system's loader lists them without running it. A launcher says by its
 * --version. */
#include "find.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const mpirun_kind kinds[] = {
    {.name = "openmpi",
     .about = "Open MPI",
     .libraries = {"libmpi.so.40 "},
     .version = "Open",
     .launchers = {"mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi"},
     .sets_each = true},
    {.name = "mpich",
     .about = "MPICH",
     .libraries = {"libmpich.so.12 ", "libmpi.so.12 "},
     .version = "HYDRA",
     .launchers = {"mpirun", "mpiexec", "mpiexec.mpich", "mpiexec.hydra"}},
};

const mpirun_kind *mpirun_kind_named(const char *name) {
  for (size_t k = 0; k < TT_COUNT(kinds); k++)
    if (strcmp(kinds[k].name, name) == 0)
      return &kinds[k];
  return NULL;
}

/* ---- what others say ---- */

static size_t read_all(int from, char *text, size_t size) {
  size_t used = 0;
  for (ssize_t got; used + 1 < size && (got = read(from, text + used, size - 1 - used)) > 0;)
    used += (size_t)got;
  text[used] = '\0';
  return used;
}

/* Of both streams; false where the command could not be run. */
static bool output_of(char *const *command, char *text, size_t size) {
  int ends[2], status;
  pid_t child;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  int failed = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed == 0)
    read_all(ends[0], text, size);
  close(ends[0]);
  return failed == 0 && waitpid(child, &status, 0) == child;
}

/* The loader that a dynamic program names; none: a script, or linked statically. */
static bool loader_of(const char *program, char *text) {
  Elf64_Ehdr header;
  Elf64_Phdr part = {.p_type = PT_NULL};
  int file = open(program, O_RDONLY | O_CLOEXEC);
  bool good = file >= 0 && pread(file, &header, sizeof header, 0) == sizeof header &&
              memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64;
  for (int p = 0; good && part.p_type != PT_INTERP && p < header.e_phnum; p++)
    good = pread(file, &part, sizeof part, (off_t)header.e_phoff + p * header.e_phentsize) == sizeof part;
  good = good && part.p_type == PT_INTERP && part.p_filesz < TOOL_PATH &&
         pread(file, text, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz;
  if (file >= 0)
    close(file);
  return good;
}

static bool needs(const mpirun_kind *kind, const char *libraries) {
  for (size_t l = 0; l < TT_COUNT(kind->libraries) && kind->libraries[l]; l++)
    if (strstr(libraries, kind->libraries[l]))
      return true;
  return false;
}

static const mpirun_kind *kind_of_program(char *program) {
  char loader[TOOL_PATH], libraries[1 << 16];
  if (!loader_of(program, loader) ||
      !output_of((char *const[]){loader, "--list", program, NULL}, libraries, sizeof libraries))
    return NULL;
  for (size_t k = 0; k < TT_COUNT(kinds); k++)
    if (needs(&kinds[k], libraries))
      return &kinds[k];
  return NULL;
}

const mpirun_kind *mpirun_kind_of_programs(char **arguments, const char **program) {
  char path[TOOL_PATH];
  for (; *arguments; arguments++) {
    const mpirun_kind *kind = **arguments != '-' && tool_find_program(*arguments, path) ? kind_of_program(path) : NULL;
    if (kind)
      return *program = *arguments, kind;
  }
  return NULL;
}

const mpirun_kind *mpirun_kind_of_launcher(const char *launcher) {
  char path[TOOL_PATH], about[TOOL_PATH];
  if (!tool_find_program(launcher, path) || !output_of((char *const[]){path, "--version", NULL}, about, sizeof about))
    return NULL;
  for (size_t k = 0; k < TT_COUNT(kinds); k++)
    if (strstr(about, kinds[k].version))
      return &kinds[k];
  return NULL;
}

bool mpirun_find_launcher(const mpirun_kind *kind, char path[static TOOL_PATH]) {
  for (size_t l = 0; l < TT_COUNT(kind->launchers); l++)
    if (mpirun_kind_of_launcher(kind->launchers[l]) == kind)
      return tool_find_program(kind->launchers[l], path);
  return false;
}

bool mpirun_find_library(const mpirun_kind *kind, char path[static TOOL_PATH]) {
  char name[64];
  snprintf(name, sizeof name, "libtutti-%s.so", kind->name);
  return tool_find_library(name, path);
}

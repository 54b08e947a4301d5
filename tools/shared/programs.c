/* tools/shared/programs.c - programs that commands start: where they are, and their command lines. */
#include "shared.h"

#include "transport/shm/offer.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where they are ---- */

void tool_own_path(char path[static TOOL_PATH]) {
  ssize_t length = readlink("/proc/self/exe", path, TOOL_PATH - 1);
  path[length > 0 ? length : 0] = '\0';
}

static bool is_program(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

bool tool_find_program(const char *program, char path[static TOOL_PATH]) {
  const char *folders = getenv("PATH");
  if (strchr(program, '/'))
    return snprintf(path, TOOL_PATH, "%s", program) < TOOL_PATH && is_program(path);
  folders = folders ? folders : "/usr/bin:/bin";
  for (size_t length; folders += strspn(folders, ":"), *folders; folders += length) {
    length = strcspn(folders, ":");
    if (length < TOOL_PATH && snprintf(path, TOOL_PATH, "%.*s/%s", (int)length, folders, program) < TOOL_PATH &&
        is_program(path))
      return true;
  }
  return false;
}

/* From the command's folder: where it is installed, and in the build folder. */
bool tool_find_library(const char *name, char path[static TOOL_PATH]) {
  static const char *const folders[] = {TUTTI_LIBRARIES, "../lib"};
  char self[TOOL_PATH], near[TOOL_PATH + 128], real[PATH_MAX];
  tool_own_path(self);
  char *slash = strrchr(self, '/');
  if (slash)
    *slash = '\0';
  for (size_t f = 0; f < TT_COUNT(folders); f++) {
    snprintf(near, sizeof near, "%s/%s/%s", self, folders[f], name);
    if (realpath(near, real))
      return snprintf(path, TOOL_PATH, "%s", real) < TOOL_PATH;
  }
  snprintf(path, TOOL_PATH, "%.4000s", near);
  return false;
}

bool tool_can_preload(const char *command, const char *path) {
  if (!strpbrk(path, " :"))
    return true;
  tool_fail(command, 0, "the loader cannot preload %s: its path has a space or a colon", path);
  return false;
}

void tool_heap_want(void) {
  unsigned modes;
  if (tt_heap_read_modes(getenv("TUTTI_HEAP"), &modes) && modes == 0)
    setenv("TUTTI_HEAP", "on", 1);
}

bool tool_heap_wanted(const char *command, char path[static TOOL_PATH]) {
  const char *wanted = getenv("TUTTI_HEAP");
  unsigned modes;
  if (!tt_heap_read_modes(wanted, &modes))
    tool_fail(command, 0, "TUTTI_HEAP '%s' is " TT_HEAP_NEITHER ": it is off", wanted);
  if (modes == 0)
    return false;
  if (tool_find_library("tutti/libtutti-heap.so", path))
    return tool_can_preload(command, path);
  tool_fail(command, 0, "TUTTI_HEAP: there is no %s", path);
  return false;
}

/* ---- command lines ---- */

/* Room for one more word, and NULL behind it. */
static bool make_room(tool_words *list) {
  if (list->count + 2 <= list->room)
    return true;
  size_t room = 2 * list->room + 64;
  char **word = realloc(list->word, room * sizeof *word);
  if (word) {
    list->word = word;
    list->room = room;
  }
  return word != NULL;
}

void tool_words_add(tool_words *list, const char *word) {
  char *copy = make_room(list) ? strdup(word) : NULL;
  list->failed = list->failed || !copy;
  if (!copy)
    return;
  list->word[list->count++] = copy;
  list->word[list->count] = NULL;
}

void tool_words_add_all(tool_words *list, const char *words) {
  for (size_t length; words += strspn(words, " "), *words; words += length) {
    length = strcspn(words, " ");
    char *word = strndup(words, length);
    list->failed = list->failed || !word;
    if (word)
      tool_words_add(list, word);
    free(word);
  }
}

void tool_words_add_number(tool_words *list, int64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, number);
  tool_words_add(list, text);
}

void tool_words_add_job(tool_words *list, const char *command, int64_t ranks, int argc, char **argv) {
  char self[TOOL_PATH];
  tool_own_path(self);
  tool_words_add(list, self);
  tool_words_add(list, "run");
  tool_words_add(list, "-n");
  tool_words_add_number(list, ranks);
  tool_words_add(list, self);
  tool_words_add(list, command);
  for (int n = 1; n < argc; n++)
    tool_words_add(list, argv[n]);
}

void tool_words_finish(tool_words *list) {
  for (size_t n = 0; n < list->count; n++)
    free(list->word[n]);
  free(list->word);
  *list = (tool_words){.count = 0};
}

/* ---- whether this process is one of a job ---- */

bool tool_ignores(int signal) {
  struct sigaction is;
  return sigaction(signal, NULL, &is) == 0 && is.sa_handler == SIG_IGN;
}

bool tool_is_set(const char *variable) {
  const char *text = getenv(variable);
  return text && text[0] != '\0';
}

/* Launchers that the library finds by itself, and one that may have told it nothing. */
bool tool_is_rank(int64_t *rank) {
  static const char *const ranks[] = {"TUTTI_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
  bool started =
      tool_is_set("TUTTI_BOOT") || tool_is_set("PMIX_RANK") || tool_is_set("PMI_FD") || (tasks && atoi(tasks) > 1);
  *rank = 0;
  for (size_t i = 0; started && i < TT_COUNT(ranks); i++)
    if (tool_is_set(ranks[i]))
      return *rank = atoll(getenv(ranks[i])), true;
  return started;
}

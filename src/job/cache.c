/* job/cache.c - files of the cache. Several processes may write one at once: each writes a new file, which takes its
 * name, and who renames last is as right as the others. Nothing here is an error: what cannot be kept is made again. */
#include "job/cache.h"

#include "topo/machine/machine.h"

#include <tutti/tutti.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool tt_cache_folder(char folder[static TT_CACHE_PATH]) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int size = cache && *cache == '/' ? snprintf(folder, TT_CACHE_PATH, "%s/tutti", cache)
             : home && *home == '/' ? snprintf(folder, TT_CACHE_PATH, "%s/.cache/tutti", home)
                                    : -1;
  return size > 0 && size < TT_CACHE_PATH - 64;
}

static void replace(const char *path, bool (*put)(FILE *file, const char *path, const void *what), const void *what) {
  char name[TT_CACHE_PATH + 32];
  snprintf(name, sizeof name, "%s.XXXXXX", path);
  int fd = mkostemp(name, O_CLOEXEC);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (!file) {
    if (fd >= 0 && close(fd) == 0)
      unlink(name);
    return;
  }
  bool good = put(file, path, what) && fchmod(fd, 0644) == 0;
  if (fclose(file) != 0 || !good || rename(name, path) != 0)
    unlink(name);
}

/* ---- the machine ---- */

enum { MACHINES = 1024 }; /* that are remembered: a home may be that of a cluster */

typedef struct known {
  uint64_t host;
  char machine[TT_MACHINE_TEXT];
} known;

/* Of a file's lines "<host> <machine>", the next one. */
static bool read_machine(FILE *file, known *next) {
  return fscanf(file, "%16" SCNx64 " %16[0-9a-f]", &next->host, next->machine) == 2 &&
         strlen(next->machine) == TT_MACHINE_TEXT - 1;
}

/* What was found out since the last boot. */
static bool recall_machine(const char *path, known *wanted) {
  known found;
  FILE *file = fopen(path, "re");
  bool right = false;
  while (file && !right && read_machine(file, &found))
    right = found.host == wanted->host;
  if (file)
    fclose(file);
  if (right)
    *wanted = found;
  return right;
}

/* The newest first; of the others, those that were there. */
static bool put_machines(FILE *file, const char *path, const void *what) {
  const known *newest = what;
  known other;
  FILE *before = fopen(path, "re");
  bool good = fprintf(file, "%016" PRIx64 " %s\n", newest->host, newest->machine) > 0;
  for (int n = 1; before && good && n < MACHINES && read_machine(before, &other); n++)
    good = other.host == newest->host || fprintf(file, "%016" PRIx64 " %s\n", other.host, other.machine) > 0;
  if (before)
    fclose(before);
  return good;
}

/* By hwloc's variables. */
static bool is_pretended(void) {
  static const char *const names[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_COMPONENTS", "HWLOC_FSROOT"};
  bool found = false;
  for (size_t n = 0; n < TT_COUNT(names); n++)
    found = found || getenv(names[n]);
  return found;
}

/* What it is made of may differ between namespaces too: each sees NICs of its own. */
tutti_status tt_cache_machine(const char *folder, char machine[static TT_MACHINE_TEXT]) {
  char path[TT_CACHE_PATH + 16];
  known now = {.host = tt_host()};
  bool kept = *folder && !is_pretended();
  snprintf(path, sizeof path, "%s/machine", folder);
  tutti_status status = TUTTI_OK;
  if (!kept || !recall_machine(path, &now)) {
    status = tt_machine_fingerprint(now.machine);
    if (status == TUTTI_OK && kept)
      replace(path, put_machines, &now);
  }
  memcpy(machine, now.machine, TT_MACHINE_TEXT);
  return status;
}

/* ---- packed wisdom ---- */

#define FILES 64 /* at most: each user has few kinds of jobs */

/* A file: the line, a hash of the numbers, the numbers. */

/* false: it is not there. */
static bool name_file(const char *path, char text[static 96]) {
  struct stat at;
  bool there = stat(path, &at) == 0;
  if (!there)
    snprintf(text, 96, "-");
  else
    snprintf(text, 96, "%jd.%jd.%jd.%09ld", (intmax_t)at.st_ino, (intmax_t)at.st_size, (intmax_t)at.st_mtim.tv_sec,
             at.st_mtim.tv_nsec);
  return there;
}

void tt_cache_find(uint64_t job, const char *wisdom, const char *lessons, tt_cache_entry *entry) {
  char folder[TT_CACHE_PATH], of_wisdom[96], of_lessons[96];
  bool any = name_file(wisdom, of_wisdom);
  any = name_file(lessons, of_lessons) || any;
  *entry->line = '\0';
  if (!any || !tt_cache_folder(folder))
    return;
  int number = (int)(tt_hash(job, wisdom, strlen(wisdom)) % FILES);
  snprintf(entry->file, sizeof entry->file, "%s/packed-%02d", folder, number);
  snprintf(entry->line, sizeof entry->line, "tutti-packed %d %s %016" PRIx64 " %s %s %s %s\n", TT_NUMBERS_VERSION,
           TUTTI_VERSION, job, of_wisdom, of_lessons, wisdom, lessons);
}

static bool read_numbers(FILE *file, size_t bytes, int64_t **numbers) {
  uint64_t hash;
  *numbers = bytes % sizeof **numbers == 0 ? malloc(bytes + 1) : NULL;
  bool right = *numbers && fread(&hash, sizeof hash, 1, file) == 1 && fread(*numbers, 1, bytes, file) == bytes &&
               tt_hash(0, *numbers, bytes) == hash;
  if (!right) {
    free(*numbers);
    *numbers = NULL;
  }
  return right;
}

bool tt_cache_recall(const tt_cache_entry *entry, int64_t **numbers, int64_t *count) {
  char line[sizeof entry->line];
  struct stat at;
  FILE *file = *entry->line ? fopen(entry->file, "re") : NULL;
  if (!file)
    return false;
  off_t before = (off_t)(strlen(entry->line) + sizeof(uint64_t));
  bool right = fgets(line, sizeof line, file) && strcmp(line, entry->line) == 0 && fstat(fileno(file), &at) == 0 &&
               at.st_size >= before && read_numbers(file, (size_t)(at.st_size - before), numbers);
  fclose(file);
  if (right)
    *count = (at.st_size - before) / (off_t)sizeof **numbers;
  return right;
}

typedef struct packed {
  const char *line;
  const int64_t *numbers;
  size_t count;
} packed;

static bool put_packed(FILE *file, const char *path, const void *what) {
  const packed *is = what;
  uint64_t hash = tt_hash(0, is->numbers, is->count * sizeof *is->numbers);
  (void)path;
  return fputs(is->line, file) >= 0 && fwrite(&hash, sizeof hash, 1, file) == 1 &&
         (is->count == 0 || fwrite(is->numbers, sizeof *is->numbers, is->count, file) == is->count);
}

void tt_cache_keep(const tt_cache_entry *entry, const int64_t *numbers, int64_t count) {
  if (*entry->line)
    replace(entry->file, put_packed, &(packed){entry->line, numbers, (size_t)count});
}

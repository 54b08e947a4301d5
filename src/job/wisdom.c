/* job/wisdom.c - finds the wisdom of this machine. Most users have none: then this is one look for a folder. */
#include "job/wisdom.h"

#include "topo/machine/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the cache ---- */

/* false: this user has none. */
static bool cache_folder(char folder[static TT_WISDOM_PATH]) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int size = cache && *cache == '/' ? snprintf(folder, TT_WISDOM_PATH, "%s/tutti", cache)
             : home && *home == '/' ? snprintf(folder, TT_WISDOM_PATH, "%s/.cache/tutti", home)
                                    : -1;
  return size > 0 && size < TT_WISDOM_PATH - 64;
}

/* ---- the machine ---- */

/* What was found out since the last boot: "<boot> <machine>". */
static bool recall_machine(const char *path, uint64_t boot, char machine[static TT_MACHINE_TEXT]) {
  uint64_t of_boot = 0;
  char found[TT_MACHINE_TEXT] = "";
  FILE *file = fopen(path, "re");
  bool read = file && fscanf(file, "%16" SCNx64 " %16[0-9a-f]", &of_boot, found) == 2;
  if (file)
    fclose(file);
  if (!read || of_boot != boot || strlen(found) != TT_MACHINE_TEXT - 1)
    return false;
  memcpy(machine, found, TT_MACHINE_TEXT);
  return true;
}

/* Several processes may do so at once: who renames last is as right as the others. */
static void keep_machine(const char *path, uint64_t boot, const char *machine) {
  char name[TT_WISDOM_PATH + 32];
  snprintf(name, sizeof name, "%s.XXXXXX", path);
  int fd = mkstemp(name);
  if (fd < 0)
    return;
  bool good = dprintf(fd, "%016" PRIx64 " %s\n", boot, machine) > 0 && fchmod(fd, 0644) == 0;
  if (close(fd) != 0 || !good || rename(name, path) != 0)
    unlink(name);
}

static tutti_status find_machine(const char *folder, char machine[static TT_MACHINE_TEXT]) {
  char path[TT_WISDOM_PATH + 16];
  uint64_t boot = tt_host_processes();
  snprintf(path, sizeof path, "%s/machine", folder);
  if (*folder && recall_machine(path, boot, machine))
    return TUTTI_OK;
  tutti_status status = tt_machine_fingerprint(machine);
  if (status == TUTTI_OK && *folder)
    keep_machine(path, boot, machine);
  return status;
}

/* ---- the file ---- */

static bool is_off(const char *option) { return strcmp(option, "off") == 0; }

/* Two levels are all that this makes. */
static void make_folder(const char *folder) {
  char above[TT_WISDOM_PATH];
  snprintf(above, sizeof above, "%s", folder);
  *strrchr(above, '/') = '\0';
  mkdir(above, 0777);
  mkdir(folder, 0777);
}

tutti_status tt_wisdom_find(const char *option, bool make, char path[static TT_WISDOM_PATH],
                            char machine[static TT_MACHINE_TEXT]) {
  char folder[TT_WISDOM_PATH] = "";
  bool cached = cache_folder(folder);
  if (is_off(option))
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "TUTTI_WISDOM is off");
  if (strlen(option) >= TT_WISDOM_PATH)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "TUTTI_WISDOM: a path of %zu letters is too long", strlen(option));
  if (!cached && !*option)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "this user has no home: set TUTTI_WISDOM to the path of a file");
  if (make && cached)
    make_folder(folder);
  cached = cached && access(folder, F_OK) == 0;
  if (!cached && !*option)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "there is no folder %s", folder);
  tutti_status status = find_machine(cached ? folder : "", machine);
  if (status == TUTTI_OK && *option)
    snprintf(path, TT_WISDOM_PATH, "%s", option);
  else if (status == TUTTI_OK)
    snprintf(path, TT_WISDOM_PATH, "%.*s/%s/wisdom.json", TT_WISDOM_PATH - 64, folder, machine);
  return status;
}

static tutti_status check_machine(const tt_wisdom *wisdom, const char *path, const char *machine) {
  if (strcmp(wisdom->machine, machine) == 0)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: measured on machine %s, and this is %s", path, wisdom->machine, machine);
}

/* None is used, and the last error says why. */
static tutti_status go_without(tt_wisdom_found *found, bool wrong) {
  tt_wisdom_destroy(found->wisdom);
  found->wisdom = NULL;
  found->wrong = wrong;
  snprintf(found->why, sizeof found->why, "%s", tutti_last_error());
  tt_fail_clear();
  return TUTTI_OK;
}

tutti_status tt_wisdom_load(tt_wisdom_found *found) {
  char machine[TT_MACHINE_TEXT];
  const char *option = tt_options_get()->choice.wisdom;
  bool named = *option != '\0';
  *found = (tt_wisdom_found){.wisdom = NULL};
  tutti_status status = tt_wisdom_find(option, false, found->path, machine);
  if (status == TUTTI_OK && !named && access(found->path, F_OK) != 0)
    status = tt_fail(TUTTI_ERR_UNSUPPORTED, "there is no file %s", found->path);
  if (status != TUTTI_OK)
    return go_without(found, false);
  status = tt_wisdom_read(found->path, &found->wisdom);
  if (status == TUTTI_OK)
    status = check_machine(found->wisdom, found->path, machine);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  if (status == TUTTI_ERR_ARGUMENT && named)
    return status;
  return go_without(found, true);
}

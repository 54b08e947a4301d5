/* job/wisdom.c - finds the wisdom of this machine, and the lessons beside it. Most users have none: then this is one
 * look for a folder. */
#include "job/wisdom.h"

#include "job/cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Real machines would go by what was measured on pretended ones: both have the same fingerprint. A topology of the
 * user's has levels that others lack. */
static tutti_status refuse_pretended(void) {
  static const char *const names[] = {"TUTTI_NODES", "TUTTI_GROUPS", "TUTTI_TOPOLOGY"};
  for (size_t n = 0; n < TT_COUNT(names); n++) {
    const char *value = getenv(names[n]);
    if (value && *value)
      return tt_fail(TUTTI_ERR_UNSUPPORTED,
                     "%s pretends machines, and jobs on real ones would use what is measured now: unset it, or set "
                     "TUTTI_WISDOM to the path of a file of its own",
                     names[n]);
  }
  return TUTTI_OK;
}

tutti_status tt_wisdom_find(const char *option, bool make, char path[static TT_WISDOM_PATH],
                            char machine[static TT_MACHINE_TEXT]) {
  char folder[TT_WISDOM_PATH] = "";
  bool cached = tt_cache_folder(folder);
  if (is_off(option))
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "TUTTI_WISDOM is off");
  if (strlen(option) >= TT_WISDOM_PATH)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "TUTTI_WISDOM: a path of %zu letters is too long", strlen(option));
  if (!cached && !*option)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "this user has no home: set TUTTI_WISDOM to the path of a file");
  if (make && !*option && refuse_pretended() != TUTTI_OK)
    return TUTTI_ERR_UNSUPPORTED;
  if (cached && (make || *option)) /* what the machine is should be found out once */
    make_folder(folder);
  cached = cached && access(folder, F_OK) == 0;
  if (!cached && !*option)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "there is no folder %s", folder);
  tutti_status status = tt_cache_machine(cached ? folder : "", machine);
  if (status == TUTTI_OK && *option)
    snprintf(path, TT_WISDOM_PATH, "%s", option);
  else if (status == TUTTI_OK)
    snprintf(path, TT_WISDOM_PATH, "%.*s/%s/wisdom.json", TT_WISDOM_PATH - 64, folder, machine);
  return status;
}

static tutti_status check_machine(const char *measured, const char *path, const char *machine) {
  if (strcmp(measured, machine) == 0)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: measured on machine %s, and this is %s", path, measured, machine);
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

static tutti_status load_wisdom(tt_wisdom_found *found, char machine[static TT_MACHINE_TEXT]) {
  const char *option = tt_options_get()->choice.wisdom;
  bool named = *option != '\0';
  tutti_status status = tt_wisdom_find(option, false, found->path, machine);
  if (status == TUTTI_OK && !named && access(found->path, F_OK) != 0)
    status = tt_fail(TUTTI_ERR_UNSUPPORTED, "there is no file %s", found->path);
  if (status != TUTTI_OK)
    return go_without(found, named && !is_off(option));
  status = tt_wisdom_read(found->path, &found->wisdom);
  if (status == TUTTI_OK)
    status = check_machine(found->wisdom->machine, found->path, machine);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  if (status == TUTTI_ERR_ARGUMENT && named)
    return status;
  return go_without(found, true);
}

const char *tt_wisdom_insists(void) {
  const tt_options *options = tt_options_get();
  return *options->choice.params    ? "TUTTI_PARAMS"
         : *options->choice.profile ? "TUTTI_PROFILE"
         : options->verify          ? "TUTTI_VERIFY"
         : options->timeout_ns > 0  ? "TUTTI_TIMEOUT"
                                    : NULL;
}

/* ---- files beside it ---- */

void tt_wisdom_beside(const char *wisdom, const char *name, char path[static TT_WISDOM_PATH + 32]) {
  const char *slash = strrchr(wisdom, '/'), *file = slash ? slash + 1 : wisdom;
  size_t length = strlen(file), stem = length > 5 && strcmp(file + length - 5, ".json") == 0 ? length - 5 : length;
  bool usual = strcmp(file, "wisdom.json") == 0;
  snprintf(path, TT_WISDOM_PATH + 32, "%.*s%s%s", (int)(file - wisdom) + (usual ? 0 : (int)stem), wisdom,
           usual ? "" : ".", name);
}

void tt_lessons_path(const char *wisdom, char path[static TT_WISDOM_PATH + 32]) {
  tt_wisdom_beside(wisdom, "learned.json", path);
}

void tt_lessons_path_of_all(const char *wisdom, char path[static TT_WISDOM_PATH + 32]) {
  tt_wisdom_beside(wisdom, "learned.all.json", path);
}

/* ---- lessons ---- */

/* Nobody names this file: one that is wrong is left alone. */
static void load_lessons(tt_wisdom_found *found, const char *machine) {
  char path[TT_WISDOM_PATH + 32];
  tt_lessons_path(found->path, path);
  if (!*found->path || access(path, F_OK) != 0)
    return;
  tutti_status status = tt_lessons_read(path, &found->lessons);
  if (status == TUTTI_OK)
    status = check_machine(tt_lessons_machine(found->lessons), path, machine);
  if (status == TUTTI_OK)
    return;
  snprintf(found->lessons_why, sizeof found->lessons_why, "%s", tutti_last_error());
  tt_fail_clear();
  tt_lessons_destroy(found->lessons);
  found->lessons = NULL;
}

tutti_status tt_wisdom_infer(tt_wisdom_found *found, const tt_region *shape, int64_t count) {
  tutti_status status = TUTTI_OK;
  if (!found->lessons)
    return TUTTI_OK;
  if (!found->wisdom)
    status = tt_wisdom_create(tt_lessons_machine(found->lessons), "", &found->wisdom);
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++)
    status = tt_lessons_infer(found->lessons, &shape[n], found->wisdom);
  return status;
}

/* ---- both ---- */

tutti_status tt_wisdom_load(tt_wisdom_found *found) {
  char machine[TT_MACHINE_TEXT] = "";
  *found = (tt_wisdom_found){.wisdom = NULL};
  tutti_status status = load_wisdom(found, machine);
  if (status == TUTTI_OK)
    load_lessons(found, machine);
  return status;
}

void tt_wisdom_found_finish(tt_wisdom_found *found) {
  tt_wisdom_destroy(found->wisdom);
  tt_lessons_destroy(found->lessons);
  free(found->numbers);
  found->wisdom = NULL;
  found->lessons = NULL;
  found->numbers = NULL;
}

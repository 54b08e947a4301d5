/* tools/regret/chooser.c - see chooser.h. A row of the table is all that a new one needs. */
#include "chooser.h"

#include "job/job.h"

#include <string.h>

struct regret_kind {
  const char *name;
  tutti_status (*open)(const char *file, regret_chooser *chooser); /* NULL: there is nothing to open */
  tt_choice (*ask)(const regret_chooser *chooser, const tutti_comm *comm, const tt_region *region);
};

/* As a call does. */
static tt_choice choose(tt_authorities *of, const tt_region *region) {
  tt_dispatch winners;
  if (of->wisdom)
    tt_dispatch_make(of->wisdom, region, &winners);
  of->dispatch = of->wisdom ? &winners : NULL;
  return tt_choose(of, region, false);
}

static tt_choice ask_job(const regret_chooser *chooser, const tutti_comm *comm, const tt_region *region) {
  (void)chooser;
  return choose(&(tt_authorities){.params = tt_options_get()->choice.params,
                                  .wisdom = comm->context->wisdom,
                                  .profile = comm->context->profile},
                region);
}

static tutti_status open_profile(const char *file, regret_chooser *chooser) {
  return tt_profile_open(file, &chooser->profile);
}

/* Where it knows nothing the shipped profile decides, as in a job. */
static tutti_status open_wisdom(const char *file, regret_chooser *chooser) {
  tutti_status status = tt_wisdom_read(file, &chooser->wisdom);
  return status == TUTTI_OK ? tt_profile_open(NULL, &chooser->profile) : status;
}

static tt_choice ask_files(const regret_chooser *chooser, const tutti_comm *comm, const tt_region *region) {
  (void)comm;
  return choose(&(tt_authorities){.params = "", .wisdom = chooser->wisdom, .profile = chooser->profile}, region);
}

static const regret_kind kinds[] = {
    {"job", NULL, ask_job},
    {"shipped", open_profile, ask_files},
    {"profile", open_profile, ask_files},
    {"wisdom", open_wisdom, ask_files},
};

/* The file's name without folders and ending. */
static void set_name(const char *text, regret_chooser *chooser) {
  const char *slash = strrchr(text, '/'), *name = slash ? slash + 1 : text, *end = strrchr(name, '.');
  snprintf(chooser->name, sizeof chooser->name, "%.*s", (int)(end ? end - name : (ptrdiff_t)strlen(name)), name);
}

tutti_status regret_chooser_open(const char *kind, const char *file, regret_chooser *chooser) {
  size_t row = 0;
  while (strcmp(kinds[row].name, kind) != 0)
    row++;
  *chooser = (regret_chooser){.kind = &kinds[row]};
  set_name(file ? file : kind, chooser);
  return kinds[row].open ? kinds[row].open(file, chooser) : TUTTI_OK;
}

void regret_chooser_close(regret_chooser *chooser) {
  tt_profile_close(chooser->profile);
  tt_wisdom_destroy(chooser->wisdom);
}

tt_choice regret_chooser_ask(const regret_chooser *chooser, const tutti_comm *comm, const tt_region *region) {
  return chooser->kind->ask(chooser, comm, region);
}

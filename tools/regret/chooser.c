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

static tutti_status open_lessons(const char *file, regret_chooser *chooser) {
  tutti_status status = tt_lessons_read(file, &chooser->lessons);
  return status == TUTTI_OK ? tt_profile_open(NULL, &chooser->profile) : status;
}

/* As a job asks them: at powers of two. Where they say nothing, the shipped profile decides. */
static tt_choice ask_lessons(const regret_chooser *chooser, bool model, const tt_region *region) {
  tt_region at = *region;
  at.bytes = tt_dispatch_bytes(tt_dispatch_bucket(region->bytes) / 2 * 2);
  for (int64_t n = 0; n < chooser->lessons->count; n++) {
    const tt_lesson *lesson = &chooser->lessons->lesson[n];
    const char *text =
        lesson->collective == at.collective ? tt_lesson_ask(lesson, model ? TT_TEACHER_MODEL : lesson->by, &at) : NULL;
    if (text && *text)
      return (tt_choice){.by = model ? TT_BY_MODEL : TT_BY_LEARNED, .text = text, .source = ""};
  }
  return choose(&(tt_authorities){.params = "", .profile = chooser->profile}, region);
}

static tt_choice ask_learned(const regret_chooser *chooser, const tutti_comm *comm, const tt_region *region) {
  (void)comm;
  return ask_lessons(chooser, false, region);
}

static tt_choice ask_model(const regret_chooser *chooser, const tutti_comm *comm, const tt_region *region) {
  (void)comm;
  return ask_lessons(chooser, true, region);
}

static const regret_kind kinds[] = {
    {"job", NULL, ask_job},
    {"shipped", open_profile, ask_files},
    {"profile", open_profile, ask_files},
    {"wisdom", open_wisdom, ask_files},
    {"learned", open_lessons, ask_learned},
    {"model", open_lessons, ask_model},
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
  set_name(file && kinds[row].open != open_lessons ? file : kind, chooser);
  return kinds[row].open ? kinds[row].open(file, chooser) : TUTTI_OK;
}

void regret_chooser_close(regret_chooser *chooser) {
  tt_profile_close(chooser->profile);
  tt_wisdom_destroy(chooser->wisdom);
  tt_lessons_destroy(chooser->lessons);
}

tt_choice regret_chooser_ask(const regret_chooser *chooser, const tutti_comm *comm, const tt_region *region) {
  return chooser->kind->ask(chooser, comm, region);
}

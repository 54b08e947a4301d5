/* tools/regret/chooser.h - who may say with which parameters a call runs. */
#ifndef TUTTI_TOOLS_REGRET_CHOOSER_H
#define TUTTI_TOOLS_REGRET_CHOOSER_H

#include "result.h"

#include "job/comm.h"
#include "tune/lessons.h"

typedef struct regret_kind regret_kind;

typedef struct regret_chooser {
  const regret_kind *kind;
  char name[REGRET_NAME];
  tt_profile *profile;
  tt_wisdom *wisdom;   /* NULL: none */
  tt_lessons *lessons; /* NULL: none */
} regret_chooser;

/* kind: "job": what this job has; "shipped": the shipped profile; "profile", "wisdom": of a file; "learned": the
 * lessons in a file, wisdom aside; "model": what the simulator says there. file: NULL where the kind needs none.
 * regret_chooser_close is called afterwards in any case. */
tutti_status regret_chooser_open(const char *kind, const char *file, regret_chooser *chooser);
void regret_chooser_close(regret_chooser *chooser);
/* comm: a placed one without parameters of its own. The text lives as long as both. */
tt_choice regret_chooser_ask(const regret_chooser *chooser, const tutti_comm *comm, const tt_region *region);

#endif

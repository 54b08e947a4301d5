/* tools/explain/outside.c - see outside.h. What decides is what bindings/mpi/faster.c and rank 0's context go by. */
#include "outside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BARRIER_BYTES = 8 }; /* as measured */

static bool is_known(const explain_outside *found, int count, const char *library) {
  for (int n = 0; n < count; n++)
    if (strcmp(found[n].row->library, library) == 0)
      return true;
  return false;
}

/* Of the variables of an MPI program, and of the call. */
static void find_why(const explain_question *question, char why[static 200]) {
  const char *mpi = getenv("TUTTI_MPI"), *only = getenv("TUTTI_MPI_ONLY"), *variable = tt_wisdom_insists();
  variable = mpi && strcmp(mpi, "always") == 0 ? "TUTTI_MPI=always" : only && *only ? "TUTTI_MPI_ONLY" : variable;
  if (variable)
    snprintf(why, 200, "%s is set", variable);
  else if (question->task.problem.ordered)
    snprintf(why, 200, "the operator is the program's own");
}

int explain_outside_find(const explain_question *question, explain_outside found[static EXPLAIN_LIBRARIES]) {
  const tt_wisdom *wisdom = question->found.wisdom;
  tt_region call = question->region;
  int count = 0;
  if (call.collective == TT_BARRIER)
    call.bytes = BARRIER_BYTES;
  for (int64_t n = 0; wisdom && n < wisdom->outside_count && count < EXPLAIN_LIBRARIES; n++) {
    const char *library = wisdom->outside[n].library;
    const tt_outside *row = is_known(found, count, library) ? NULL : tt_outside_find(wisdom, library, &call);
    if (!row)
      continue;
    found[count] = (explain_outside){.row = row};
    if (row->wins)
      find_why(question, found[count].why);
    found[count].passes = row->wins && !*found[count].why;
    count++;
  }
  return count;
}

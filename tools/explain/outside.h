/* tools/explain/outside.h - what programs of other libraries would do with the call: `tutti tune --mpi` has measured
 * where the library itself is faster. */
#ifndef TUTTI_TOOLS_EXPLAIN_OUTSIDE_H
#define TUTTI_TOOLS_EXPLAIN_OUTSIDE_H

#include "question.h"

enum { EXPLAIN_LIBRARIES = 16 };

typedef struct explain_outside {
  const tt_outside *row; /* by which such a call goes */
  bool passes;           /* through to the library */
  char why[200];         /* it does not, although the row would have it; "": as the row says */
} explain_outside;

/* Of each library of which something near the call was measured, as they stand in the file; of too many, the first.
 * Returns how many there are. */
int explain_outside_find(const explain_question *question, explain_outside found[static EXPLAIN_LIBRARIES]);

#endif

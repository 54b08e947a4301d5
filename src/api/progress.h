/* api/progress.h - one thread at a time in a context: the program's, or the one that moves requests on meanwhile.
 *
 * Without TUTTI_PROGRESS=thread there is no second one, and holding a context costs a look at a pointer. */
#ifndef TT_API_PROGRESS_H
#define TT_API_PROGRESS_H

#include <tutti/context.h>

#include <stdbool.h>

typedef struct tt_progress tt_progress;

/* Starts the thread where the options say so. */
tutti_status tt_progress_start(tutti_context *context);
void tt_progress_stop(tutti_context *context); /* it is gone when this returns; accepts one without */
/* There are outstanding requests now. The context is held. */
void tt_progress_post(const tutti_context *context);

void tt_progress_lock(tt_progress *progress);
void tt_progress_unlock(tt_progress *progress);
static inline tt_progress *tt_hold(tt_progress *progress) {
  if (progress)
    tt_progress_lock(progress);
  return progress;
}

static inline void tt_release(tt_progress *const *progress) {
  if (*progress)
    tt_progress_unlock(*progress);
}

/* In files that include api.h. Holds the context until the end of the block; again where this thread holds it already.
 */
#define TT_HOLD(context)                                                                                               \
  tt_progress *const held __attribute__((cleanup(tt_release), unused)) = tt_hold(tt_progress_of(context))

#endif

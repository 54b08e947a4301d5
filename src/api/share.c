/* api/share.c - the context that parts of this process share which do not know each other, such as what stands in front
 * of MPI and a package for Python: one job and one set of memory for all of them. It ends when the last of them has
 * destroyed it. */
#include "api/api.h"

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and of all contexts' `holds` */
static tutti_context *shared;                            /* NULL: none */
static void (*hold_others)(int begins);                  /* its owner's, until it has a thread; NULL: none */

/* Nobody holds a context that has no thread, so nobody may be in one of its calls. */
static tutti_status start_thread(tutti_context *context) {
  if (hold_others)
    hold_others(1);
  tutti_status status = tutti_context_progress(context);
  if (hold_others)
    hold_others(0);
  if (status == TUTTI_OK)
    hold_others = NULL;
  return status;
}

/* A fork of a process is no rank, so there is no context for it to share. */
static tutti_status take(tutti_context **context) {
  tutti_context *found = shared && !tt_context_is_copy(shared) ? shared : NULL;
  tutti_status status = found ? start_thread(found) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  if (found)
    found->holds++;
  *context = found;
  return TUTTI_OK;
}

tutti_status tutti_context_shared(tutti_context **context) {
  if (!context)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_shared: context is NULL");
  pthread_mutex_lock(&lock);
  tutti_status status = take(context);
  pthread_mutex_unlock(&lock);
  return status;
}

tutti_status tutti_context_share(tutti_context *context, void (*hold)(int begins)) {
  if (context && tt_context_is_copy(context))
    return tt_fork_refuse(context, "tutti_context_share");
  pthread_mutex_lock(&lock);
  shared = context;
  hold_others = hold;
  pthread_mutex_unlock(&lock);
  return TUTTI_OK;
}

bool tt_context_let_go(tutti_context *context) {
  pthread_mutex_lock(&lock);
  bool last = context->holds == 0;
  if (last && shared == context)
    shared = NULL;
  if (!last)
    context->holds--;
  pthread_mutex_unlock(&lock);
  return last;
}

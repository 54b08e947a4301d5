/* api/share.c - the context that parts of this process share which do not know each other, such as what stands in front
 * of MPI and a package for Python: one job and one set of memory for all of them. It ends when the last of them has
 * destroyed it. */
#include "api/api.h"

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER; /* over start_thread, which may wait for a call to end */
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER;          /* of what follows, and of all contexts' `holds`; for moments */
static tutti_context *shared;           /* NULL: none */
static void (*hold_others)(int begins); /* its owner's, until it has a thread; NULL: none */

/* Nobody holds a context that has no thread, so nobody may be in one of its calls. */
static tutti_status start_thread(tutti_context *context) {
  pthread_mutex_lock(&lock);
  void (*hold)(int begins) = hold_others;
  pthread_mutex_unlock(&lock);
  if (hold)
    hold(1);
  tutti_status status = tutti_context_progress(context);
  if (hold)
    hold(0);
  pthread_mutex_lock(&lock);
  if (status == TUTTI_OK && hold == hold_others)
    hold_others = NULL;
  pthread_mutex_unlock(&lock);
  return status;
}

/* A fork of a process is no rank, so there is no context for it to share. NULL: there is none. */
static tutti_context *take(void) {
  pthread_mutex_lock(&lock);
  tutti_context *found = shared && !tt_context_is_copy(shared) ? shared : NULL;
  if (found)
    found->holds++;
  pthread_mutex_unlock(&lock);
  return found;
}

tutti_status tutti_context_shared(tutti_context **context) {
  if (!context)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_shared: context is NULL");
  tutti_context *found = take();
  if (found) {
    pthread_mutex_lock(&starting);
    tutti_status status = start_thread(found);
    pthread_mutex_unlock(&starting);
    if (status != TUTTI_OK) {
      tutti_context_destroy(found);
      return status;
    }
  }
  *context = found;
  return TUTTI_OK;
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

/* job/fork.c - is this the process that has joined the job, or a fork of it?
 *
 * A fork has a copy of all that its parent has, and the same shared memory: its calls would be taken for its parent's.
 * So each process has a mark, in a page that the kernel gives to a fork empty (however it was forked), and a context
 * remembers the one of the process that has made it: a look at a context costs two loads. A child of vfork is no fork
 * before it has called exec; it shares its parent's memory and must not call tutti. */
#include "job/context.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint64_t *page; /* this process's mark; 0: it has none yet. Numbers alone: both pair with nothing */
static _Atomic uint64_t last;  /* the greatest that this process or one before it had */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void) { atomic_store_explicit(page, 0, memory_order_relaxed); }

static void open_page(void) {
  void *made = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return;
  page = made;
  madvise(made, sizeof *page, MADV_WIPEONFORK);
  pthread_atfork(NULL, NULL, forget); /* where the kernel, or an emulator, does not know that advice */
}

tutti_status tt_fork_join(tutti_context *context) {
  pthread_once(&once, open_page);
  if (!page)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a page");
  uint64_t none = 0, mine = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  if (!atomic_compare_exchange_strong_explicit(page, &none, mine, memory_order_relaxed, memory_order_relaxed))
    mine = none;
  context->process.id = getpid();
  context->process.mark = mine;
  context->process.mark_here = page;
  return TUTTI_OK;
}

tutti_status tt_fork_refuse(const tutti_context *context, const char *function) {
  return tt_fail(TUTTI_ERR_UNSUPPORTED,
                 "%s: this process (%d) is a fork of rank %" PRId64
                 " of the job (process %d), and only that rank can call it; a fork may exec a program, or create a "
                 "context of its own with another boot",
                 function, getpid(), context->rank, context->process.id);
}

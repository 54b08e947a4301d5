/* wait/contention.c - programs that are not the job's and compute on cores that its ranks wait on.
 *
 * A core that is given away (sched_yield) to another rank comes back soon; one that such a program takes, only after
 * milliseconds, whereas who sleeps is let in as soon as he is woken. So where there are such programs nobody yields.
 *
 * They are found by what they take: a core that was given away was gone for long, again and again, and in that time the
 * ranks of this machine together have used less of the cores than they could. What one rank finds goes for all here.
 * Where ranks wait for other machines they use little in any case: calls between machines take no part in this. */
#include "wait/wait.h"

#include <assert.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define YIELDS_A_MEASURE 16
#define GONE_NS 1000000    /* a core */
#define WINDOW_NS 10000000 /* over which use is compared, at least */
#define WINDOW_A_PROCESS_NS 50000
#define STALE_NS 500000000 /* and at most */
#define FIRST_NS 20000000  /* how long nobody yields; then twice that, and so on */
#define LONGEST_NS 1000000000
#define USED 50 /* percent: with less, others have had the rest */

static int64_t used_by(int64_t process) {
  clockid_t clock;
  struct timespec used;
  bool known = clock_getcpuclockid((pid_t)process, &clock) == 0 && clock_gettime(clock, &used) == 0;
  return known ? used.tv_sec * INT64_C(1000000000) + used.tv_nsec : 0;
}

static int64_t used_by_all(const tt_contention *contention) {
  int64_t sum = 0;
  for (int64_t n = 0; n < contention->process_count; n++)
    sum += used_by(contention->process[n]);
  return sum;
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* process: sorted here; ranks may be threads of one. */
tutti_status tt_contention_open(tt_contention *contention, int64_t *process, int64_t count) {
  cpu_set_t set;
  assert(count > 0 && !contention->process);
  contention->process = malloc((size_t)count * sizeof *contention->process);
  if (!contention->process)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the numbers of %" PRId64 " processes", count);
  qsort(process, (size_t)count, sizeof *process, compare);
  for (int64_t n = 0; n < count; n++)
    if (n == 0 || process[n] != process[n - 1])
      contention->process[contention->process_count++] = process[n];
  int64_t cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  contention->cores = cores < contention->process_count ? cores : contention->process_count;
  assert(contention->cores > 0 && contention->process_count <= count);
  contention->news = &contention->own_news;
  return TUTTI_OK;
}

void tt_contention_close(tt_contention *contention) { free(contention->process); }

/* The longer the more often it was so just before: a program that runs once costs little. */
static void expect(tt_contention_news *news, int64_t now) {
  int64_t until = atomic_load_explicit(&news->until_ns, memory_order_relaxed);
  int64_t last = atomic_load_explicit(&news->for_ns, memory_order_relaxed);
  int64_t next = last == 0 || now - until > STALE_NS ? FIRST_NS : last < LONGEST_NS ? 2 * last : last;
  atomic_store_explicit(&news->for_ns, next, memory_order_relaxed);
  atomic_store_explicit(&news->until_ns, now + next, memory_order_relaxed);
}

static void sample(tt_contention *contention, int64_t window, int64_t now) {
  tt_contention_news *news = contention->news;
  int64_t used = used_by_all(contention), more = used - news->used_ns;
  news->used_ns = used;
  atomic_store_explicit(&news->sampled_ns, now, memory_order_relaxed);
  if (window < STALE_NS && more < contention->cores * window / 100 * USED)
    expect(news, now);
}

/* A core has come back late. One rank looks for all of this machine. */
static void compare_use(tt_contention *contention, int64_t now) {
  tt_contention_news *news = contention->news;
  int64_t least = contention->process_count * WINDOW_A_PROCESS_NS;
  least = least > WINDOW_NS ? least : WINDOW_NS;
  if (now - atomic_load_explicit(&news->sampled_ns, memory_order_relaxed) < least ||
      atomic_exchange_explicit(&news->taken, 1, memory_order_acquire) != 0)
    return;
  /* Another may have been faster. */
  int64_t window = now - atomic_load_explicit(&news->sampled_ns, memory_order_relaxed);
  if (window >= least)
    sample(contention, window, now);
  atomic_store_explicit(&news->taken, 0, memory_order_release);
}

bool tt_contention_measure(tt_contention *contention) {
  int64_t began = tt_clock_ns();
  sched_yield();
  int64_t now = tt_clock_ns();
  bool late = now - began >= GONE_NS;
  if (late)
    compare_use(contention, now);
  return late;
}

void tt_contention_yield(tt_contention *contention) {
  if (contention->yields++ % YIELDS_A_MEASURE != 0)
    sched_yield();
  else if (tt_contention_measure(contention))
    contention->yields = 0; /* the next one is measured, too */
}

/* boot/pmix.c - the launcher's store by PMIx: mpirun and prterun (Open MPI), srun --mpi=pmix.
 *
 * An allgather is a put, a fence that collects what all have put, and a get for each rank. libpmix is loaded when a
 * launcher offers PMIx, so that nothing else needs it. It counts references: a program that uses it too, or MPI does,
 * is not disturbed. Calls that wait for others are its non-blocking ones, under our own clock: servers differ in
 * whether they keep PMIX_TIMEOUT. After a fence in vain, each rank's data is asked for: who has put none has not come.
 */
#include "boot/launcher.h"
#include "boot/wire.h"

#ifdef TT_PMIX

#include <assert.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pmix.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000
#define ROLL_CALL_NS (2 * (int64_t)SECOND_NS) /* for finding out who is missing */
#define IN_TURN_NS ((int64_t)SECOND_NS)       /* more than it takes to get what is there */

/* ---- the library ---- */

typedef struct library {
  __typeof__(&PMIx_Init) init;
  __typeof__(&PMIx_Finalize) finalize;
  __typeof__(&PMIx_Put) put;
  __typeof__(&PMIx_Commit) commit;
  __typeof__(&PMIx_Fence_nb) fence;
  __typeof__(&PMIx_Get) get_now;
  __typeof__(&PMIx_Get_nb) get;
  __typeof__(&PMIx_Error_string) text;
} library;

static const struct {
  const char *name;
  size_t offset;
} symbols[] = {
    {"PMIx_Init", offsetof(library, init)},      {"PMIx_Finalize", offsetof(library, finalize)},
    {"PMIx_Put", offsetof(library, put)},        {"PMIx_Commit", offsetof(library, commit)},
    {"PMIx_Fence_nb", offsetof(library, fence)}, {"PMIx_Get", offsetof(library, get_now)},
    {"PMIx_Get_nb", offsetof(library, get)},     {"PMIx_Error_string", offsetof(library, text)},
};

/* It stays loaded: it has threads, and may have callbacks to make. */
static tutti_status load(library *loaded) {
  void *handle = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL)
    return tt_fail(TUTTI_ERR_SYSTEM, "a launcher with PMIx set PMIX_RANK, but PMIx cannot be loaded: %s", dlerror());
  for (size_t s = 0; s < TT_COUNT(symbols); s++) {
    void *symbol = dlsym(handle, symbols[s].name);
    if (symbol == NULL)
      return tt_fail(TUTTI_ERR_SYSTEM, "libpmix.so.2 has no %s", symbols[s].name);
    memcpy((char *)loaded + symbols[s].offset, &symbol, sizeof symbol);
  }
  return TUTTI_OK;
}

/* The process's conversation. */
static struct {
  library lib;
  pmix_proc_t self;
  int64_t rank_count;
  uint64_t round_count; /* allgathers so far: a part of keys, since what was put stays */
} job;

static tutti_status fail(const char *call, pmix_status_t status) {
  return tt_fail(TUTTI_ERR_SYSTEM, "%s failed: %s", call, job.lib.text(status));
}

/* ---- waiting for callbacks ---- */

typedef enum answer_state { ABSENT, HERE, WRONG } answer_state;

struct wait;
typedef struct answer {
  struct wait *wait;
  pmix_proc_t of;
  answer_state state;
} answer;

/* What calls and their callbacks, in a thread of the library, share. Callbacks may come after the caller has given up:
 * whoever is last frees it. The library reads key and info until the callback. */
typedef struct wait {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int64_t users;        /* the caller, and each callback to come */
  pmix_status_t status; /* of the fence; of the last get in vain */
  pmix_key_t key;
  pmix_info_t info[2];
  size_t bytes;
  char *all; /* rank_count * bytes */
  answer answer[];
} wait;

static wait *wait_create(uint64_t round, size_t bytes) {
  size_t rank_count = (size_t)job.rank_count;
  wait *made = calloc(1, sizeof *made + rank_count * (sizeof made->answer[0] + bytes));
  if (made == NULL)
    return NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&made->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&made->lock, NULL);
  made->users = 1;
  made->bytes = bytes;
  made->all = (char *)&made->answer[rank_count];
  snprintf(made->key, sizeof made->key, "tutti.%" PRIu64, round);
  return made;
}

static void enter(wait *shared) {
  pthread_mutex_lock(&shared->lock);
  assert(shared->users > 0);
  shared->users++;
  pthread_mutex_unlock(&shared->lock);
}

static void leave(wait *shared) {
  pthread_mutex_lock(&shared->lock);
  assert(shared->users > 0);
  bool last = --shared->users == 0;
  pthread_cond_signal(&shared->changed);
  pthread_mutex_unlock(&shared->lock);
  if (!last)
    return;
  pthread_cond_destroy(&shared->changed);
  pthread_mutex_destroy(&shared->lock);
  free(shared);
}

/* Until all callbacks have come; false: some have not. */
static bool await(wait *shared, int64_t until_ns) {
  struct timespec until = {.tv_sec = until_ns / SECOND_NS, .tv_nsec = until_ns % SECOND_NS};
  int late = 0;
  pthread_mutex_lock(&shared->lock);
  while (shared->users > 1 && late == 0)
    late = pthread_cond_timedwait(&shared->changed, &shared->lock, &until);
  bool all = shared->users == 1;
  pthread_mutex_unlock(&shared->lock);
  return all;
}

/* ---- put, fence, get ---- */

/* One byte more than asked for, so that there is a value where nothing is asked for. */
static tutti_status put(const char *key, const void *mine, size_t bytes) {
  pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
  char *copy = calloc(1, bytes + 1);
  if (copy == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for an allgather of %zu bytes", bytes);
  memcpy(copy, mine, bytes);
  value.data.bo.bytes = copy;
  value.data.bo.size = bytes + 1;
  pmix_status_t status = job.lib.put(PMIX_GLOBAL, key, &value);
  free(copy);
  if (status != PMIX_SUCCESS)
    return fail("PMIx_Put", status);
  status = job.lib.commit();
  return status == PMIX_SUCCESS ? TUTTI_OK : fail("PMIx_Commit", status);
}

static void set_info(pmix_info_t *info, const char *key, pmix_value_t value) {
  memset(info, 0, sizeof *info);
  snprintf(info->key, sizeof info->key, "%s", key);
  info->value = value;
}

static pmix_value_t seconds_until(int64_t until_ns) {
  int64_t left = (until_ns - tt_clock_ns()) / SECOND_NS + 1;
  return (pmix_value_t){.type = PMIX_INT, .data.integer = left < 1 ? 1 : left > 1000000 ? 1000000 : (int)left};
}

static void fence_done(pmix_status_t status, void *user) {
  wait *shared = user;
  pthread_mutex_lock(&shared->lock);
  shared->status = status;
  pthread_mutex_unlock(&shared->lock);
  leave(shared);
}

static pmix_status_t start_fence(wait *shared, int64_t until_ns) {
  pmix_proc_t all = job.self;
  all.rank = PMIX_RANK_WILDCARD;
  set_info(&shared->info[0], PMIX_COLLECT_DATA, (pmix_value_t){.type = PMIX_BOOL, .data.flag = true});
  set_info(&shared->info[1], PMIX_TIMEOUT, seconds_until(until_ns));
  enter(shared);
  pmix_status_t status = job.lib.fence(&all, 1, shared->info, TT_COUNT(shared->info), fence_done, shared);
  if (status != PMIX_SUCCESS) /* no callback comes */
    leave(shared);
  return status;
}

/* PMIX_SUCCESS, PMIX_ERR_TIMEOUT by our clock or the server's, or why it is in vain. */
static pmix_status_t fence(int64_t until_ns) {
  wait *shared = wait_create(0, 0);
  if (shared == NULL)
    return PMIX_ERR_NOMEM;
  pmix_status_t status = start_fence(shared, until_ns);
  if (status == PMIX_OPERATION_SUCCEEDED)
    status = PMIX_SUCCESS;
  else if (status == PMIX_SUCCESS)
    status = await(shared, until_ns) ? shared->status : PMIX_ERR_TIMEOUT;
  leave(shared);
  return status;
}

static void got(pmix_status_t status, pmix_value_t *value, void *user) {
  answer *to = user;
  wait *shared = to->wait;
  pthread_mutex_lock(&shared->lock);
  assert(to >= shared->answer && to < shared->answer + job.rank_count);
  if (status != PMIX_SUCCESS) {
    shared->status = status;
  } else if (value == NULL || value->type != PMIX_BYTE_OBJECT || value->data.bo.size != shared->bytes + 1) {
    to->state = WRONG;
  } else {
    memcpy(shared->all + (size_t)(to - shared->answer) * shared->bytes, value->data.bo.bytes, shared->bytes);
    to->state = HERE;
  }
  pthread_mutex_unlock(&shared->lock);
  leave(shared);
}

/* Whose data is there until then has it in shared->all. False: not everybody's was answered for. in_turn: one after the
 * other, as long as that is fast: libpmix 5.0 reads memory that it has freed where several are under way. */
static bool get_all(wait *shared, bool in_turn, int64_t until_ns) {
  set_info(&shared->info[0], PMIX_TIMEOUT, seconds_until(until_ns));
  for (int64_t r = 0; r < job.rank_count; r++) {
    answer *to = &shared->answer[r];
    *to = (answer){.wait = shared, .of = job.self};
    to->of.rank = (pmix_rank_t)r;
    enter(shared);
    pmix_status_t status = job.lib.get(&to->of, shared->key, shared->info, 1, got, to);
    if (status != PMIX_SUCCESS)
      got(status, NULL, to);
    in_turn = in_turn && await(shared, tt_clock_ns() + IN_TURN_NS);
  }
  return await(shared, until_ns);
}

/* ---- the allgather ---- */

static pmix_status_t status_of(wait *shared) {
  pthread_mutex_lock(&shared->lock); /* callbacks may still come */
  pmix_status_t status = shared->status;
  pthread_mutex_unlock(&shared->lock);
  return status;
}

/* The ranks in that state, in `text`; false: none. */
static bool list(wait *shared, answer_state state, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  pthread_mutex_lock(&shared->lock);
  for (int64_t r = 0; r < job.rank_count && used + 24 < size; r++)
    if (shared->answer[r].state == state)
      used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, used > 0 ? ", " : "", r);
  pthread_mutex_unlock(&shared->lock);
  return used > 0;
}

static tutti_status fail_join(const char *ranks, char *missing, size_t size) {
  if (size > 0)
    snprintf(missing, size, "%s", ranks);
  return tt_fail(TUTTI_ERR_TIMEOUT, "these ranks have not joined: %s", ranks);
}

/* Everyone's data, or who has none: the fence of PMIx 5 succeeds although a rank has ended without it. */
static tutti_status take_all(wait *shared, void *all, int64_t until_ns, char *missing, size_t size) {
  char ranks[200];
  bool answered = get_all(shared, true, until_ns);
  if (list(shared, WRONG, ranks, sizeof ranks))
    return tt_fail(TUTTI_ERR_MISMATCH, "rank %u contributes another number of bytes than ranks %s", job.self.rank,
                   ranks);
  bool absent = list(shared, ABSENT, ranks, sizeof ranks);
  pmix_status_t status = status_of(shared);
  if (absent && (!answered || status == PMIX_ERR_TIMEOUT)) /* by our clock or the server's */
    return fail_join(ranks, missing, size);
  if (absent)
    return tt_fail(TUTTI_ERR_PEER, "PMIx has no data of ranks %s (%s)", ranks, job.lib.text(status));
  memcpy(all, shared->all, shared->bytes * (size_t)job.rank_count);
  return TUTTI_OK;
}

static tutti_status fail_fence(wait *shared, pmix_status_t status, char *missing, size_t size) {
  char ranks[200];
  get_all(shared, false, tt_clock_ns() + ROLL_CALL_NS);
  bool known = list(shared, ABSENT, ranks, sizeof ranks);
  if (status != PMIX_ERR_TIMEOUT)
    return tt_fail(TUTTI_ERR_PEER, "PMIx_Fence failed: %s%s%s", job.lib.text(status),
                   known ? "; no data from ranks " : "", ranks);
  return fail_join(known ? ranks : "unknown (all have arrived, but the fence has not ended)", missing, size);
}

static tutti_status allgather(const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  int64_t until_ns = tt_clock_until(timeout_ns);
  if (bytes > TT_BOOT_BYTES_MAXIMUM)
    return tt_fail(TUTTI_ERR_ARGUMENT, "allgather of %zu bytes a rank; the limit is %u", bytes, TT_BOOT_BYTES_MAXIMUM);
  wait *shared = wait_create(job.round_count++, bytes);
  if (shared == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for an allgather of %zu bytes", bytes);
  tutti_status status = put(shared->key, mine, bytes);
  if (status == TUTTI_OK) {
    pmix_status_t met = fence(until_ns);
    status = met == PMIX_SUCCESS ? take_all(shared, all, until_ns, missing, missing_size)
                                 : fail_fence(shared, met, missing, missing_size);
  }
  leave(shared);
  return status;
}

/* ---- beginning and end ---- */

static tutti_status find_size(void) {
  pmix_proc_t all = job.self;
  pmix_value_t *value = NULL;
  all.rank = PMIX_RANK_WILDCARD;
  pmix_status_t status = job.lib.get_now(&all, PMIX_JOB_SIZE, NULL, 0, &value);
  if (status != PMIX_SUCCESS)
    return fail("PMIx_Get of the job's size", status);
  job.rank_count = value->type == PMIX_UINT32 ? value->data.uint32 : 0;
  free(value);
  if (job.self.rank >= job.rank_count)
    return tt_fail(TUTTI_ERR_SYSTEM, "PMIx reports rank %u of a job of %" PRId64, job.self.rank, job.rank_count);
  return TUTTI_OK;
}

static void end(void) { job.lib.finalize(NULL, 0); }

/* Speaks with this machine's server only, which limits that by itself. */
static tutti_status begin(int64_t timeout_ns, int64_t *rank, int64_t *rank_count) {
  (void)timeout_ns;
  tutti_status status = load(&job.lib);
  if (status != TUTTI_OK)
    return status;
  pmix_status_t met = job.lib.init(&job.self, NULL, 0);
  if (met != PMIX_SUCCESS)
    return tt_fail(TUTTI_ERR_SYSTEM,
                   "PMIx_Init failed: %s (PMIX_RANK is %s; is the launcher that set it still running?)",
                   job.lib.text(met), getenv("PMIX_RANK"));
  status = find_size();
  if (status != TUTTI_OK)
    end();
  *rank = job.self.rank;
  *rank_count = job.rank_count;
  return status;
}

tutti_status tt_boot_open_pmix(int64_t timeout_ns, tt_boot **boot) {
  static const tt_boot_shared launcher = {begin, allgather, end};
  return tt_boot_share(&launcher, timeout_ns, boot);
}

#else

tutti_status tt_boot_open_pmix(int64_t timeout_ns, tt_boot **boot) {
  (void)timeout_ns;
  (void)boot;
  return tt_fail(TUTTI_ERR_SYSTEM, "a launcher with PMIx set PMIX_RANK, but this tutti was built without PMIx (install "
                                   "libpmix-dev, build with -DTUTTI_PMIX=ON)");
}

#endif

/* transport/shm/shm.c - the shared memory transport's table, opening and closing, progress. */
#include "transport/shm/bell.h"
#include "transport/shm/join.h"
#include "transport/shm/self.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOOK_CALLS 1024u       /* of progress, between two looks at the clock */
#define SLEEP_NS 50000000      /* the longest: deaths are noticed in between */
#define SLEEP_A_RANK_NS 200000 /* or longer where ranks are many: one notices for all */
#define BUDGET_BYTES (4 << 20) /* of slots, between all pairs of a job */

static uint64_t power_of_two(uint64_t value) {
  uint64_t power = 1;
  while (power < value)
    power *= 2;
  return power;
}

static uint64_t first_set(uint64_t a, uint64_t b, uint64_t c) { return a != 0 ? a : b != 0 ? b : c; }

/* 32 KiB: larger ones are no faster, and those of a pair stay in a core's L2. ranks: that share a segment. */
static uint64_t default_slot_bytes(int64_t ranks, uint64_t slot_count) {
  uint64_t pairs = (uint64_t)ranks * (uint64_t)(ranks > 1 ? ranks - 1 : 1);
  uint64_t bytes = 32 << 10;
  while (bytes > 16 << 10 && bytes * slot_count * pairs > BUDGET_BYTES)
    bytes /= 2;
  return bytes;
}

static void choose_slots(tt_shm *self, const tt_shm_config *config, int64_t ranks) {
  const tt_options *options = tt_options_get();
  self->slot_count = power_of_two(first_set(config->slot_count, (uint64_t)options->slot_count, 4));
  assert((self->slot_count & (self->slot_count - 1)) == 0); /* streams take slots in turn by a mask */
  self->slot_bytes =
      first_set(config->slot_bytes, (uint64_t)options->slot_bytes, default_slot_bytes(ranks, self->slot_count));
}

static void show_rank(tt_shm *self) {
  tt_shm_rank *rank = tt_shm_rank_of(self, self->rank);
  int64_t now_ns = tt_clock_ns();
  rank->pid = getpid();
  tt_shm_heap_show(rank);
  rank->probe_address = (uint64_t)(uintptr_t)self->probe;
  rank->probe = *self->probe = tt_hash((uint64_t)rank->pid ^ (uint64_t)self->rank << 32, &now_ns, sizeof now_ns);
  if (!tt_shm_bell_register())
    atomic_store_explicit(&self->segment->head->no_membarrier, 1, memory_order_relaxed);
  atomic_store_explicit(&rank->state, TT_SHM_JOINED, memory_order_release);
}

/* A fork gets none of it, so that it is not taken for the rank. NULL: no memory. */
static uint64_t *make_probe(void) {
  void *made = mmap(NULL, TT_SHM_PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return NULL;
  madvise(made, TT_SHM_PROBE_BYTES, MADV_WIPEONFORK);
  return made;
}

static void free_probe(uint64_t *probe) {
  if (probe != NULL)
    munmap(probe, TT_SHM_PROBE_BYTES);
}

static void free_self(tt_shm *self) {
  tt_shm_heap_close(self);
  if (self->bell >= 0)
    close(self->bell);
  free_probe(self->probe);
  free(self);
}

/* ranks: that share the segment. threads: all of them are this process's. */
static tutti_status make_self(tt_shm_segment *segment, const tt_shm_config *config, int64_t rank, int64_t ranks,
                              bool threads, tt_shm **self) {
  tt_shm *made = calloc(1, sizeof *made);
  int64_t rank_count = segment->head->rank_count;
  uint64_t *probe = make_probe();
  if (made == NULL || probe == NULL) {
    free(made);
    free_probe(probe);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the shared memory transport of %" PRId64 " ranks", rank_count);
  }
  *made = (tt_shm){.segment = segment, .rank = rank, .rank_count = rank_count, .probe = probe, .bell = -1};
  tt_shm_kept_init(made);
  tt_shm_rank_of(made, rank)->fd = -1;
  if ((config->descriptors && (made->bell = tt_shm_bell_open(tt_shm_rank_of(made, rank))) < 0) ||
      (!threads && tt_shm_life_begin(made) != TUTTI_OK)) {
    free_self(made);
    return TUTTI_ERR_SYSTEM;
  }
  choose_slots(made, config, ranks);
  show_rank(made);
  *self = made;
  return TUTTI_OK;
}

static void leave(tt_shm *self) {
  while (self->streams != NULL)
    tt_shm_stream_close(self, self->streams);
  tt_shm_cells_finish(self);
  tt_shm_kept_finish(self);
  tt_shm_life_end(self); /* rings nobody: who waits in vain looks around, and most wait for others */
}

static void close_self(void *self) {
  tt_shm *shm = self;
  if (shm == NULL)
    return;
  leave(shm);
  tt_shm_unmap(shm->segment);
  free_self(shm);
}

/* Of the ranks that have joined by now. */
static bool has_twins(const tt_shm *self) {
  bool has = false;
  for (int64_t r = 0; r < self->rank_count && !has; r++)
    has = r != self->rank && tt_shm_is_own(self, r);
  return has;
}

static uint64_t segment_bytes(const tt_shm_config *config) {
  uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  return power_of_two(config->bytes != 0 ? config->bytes : 4 * memory);
}

static bool wants_remote(const tt_shm_config *config) {
  return config->cma > 0 || (config->cma == 0 && tt_options_get()->cma);
}

/* What ranks can do with each other's memory, by one exchange. */
static tutti_status find_each_other(tt_shm *self, const tt_shm_config *config, const tt_shm_meeting *meeting) {
  tt_shm_finding mine = {0}, *all;
  if (!meeting->remote && !meeting->heap)
    return TUTTI_OK;
  if (meeting->remote)
    tt_shm_remote_try(self, config, &mine);
  if (meeting->heap)
    tt_shm_heap_map(self, &mine);
  all = calloc((size_t)self->rank_count, sizeof *all);
  tutti_status status = all ? tt_shm_allgather(meeting, &mine, all, sizeof mine)
                            : tt_fail(TUTTI_ERR_MEMORY, "no memory to ask %" PRId64 " ranks", self->rank_count);
  if (status == TUTTI_OK && meeting->remote)
    tt_shm_remote_open(self, all);
  if (status == TUTTI_OK && meeting->heap)
    tt_shm_heap_open(self, all);
  free(all);
  return status;
}

static tutti_status open_self(const void *given, const tutti_boot *boot, void **self) {
  tt_shm_config config = {0};
  if (given != NULL)
    config = *(const tt_shm_config *)given;
  int64_t timeout_ns = config.timeout_ns > 0 ? config.timeout_ns : tt_options_get()->create_timeout_ns;
  tt_shm_meeting meeting;
  tt_shm_segment *segment = NULL;
  tt_shm *made = NULL;
  tutti_status status =
      tt_shm_meet(boot, config.head_of, segment_bytes(&config), wants_remote(&config), timeout_ns, &meeting);
  if (status != TUTTI_OK)
    return status;
  status = tt_shm_join(&meeting, &segment);
  if (status == TUTTI_OK)
    segment->timeout_ns = timeout_ns;
  if (status == TUTTI_OK && meeting.remote)
    tt_shm_remote_permit();
  if (status == TUTTI_OK)
    status = make_self(segment, &config, boot->rank, meeting.member_count, false, &made);
  status = tt_shm_confirm(&meeting, status);
  if (made != NULL)
    made->twins = has_twins(made);
  if (status == TUTTI_OK)
    status = find_each_other(made, &config, &meeting);
  if (status != TUTTI_OK && made != NULL)
    close_self(made);
  else if (status != TUTTI_OK)
    tt_shm_unmap(segment);
  if (status == TUTTI_OK)
    *self = made;
  return status;
}

static tutti_status make_threads(const tt_shm_config *config, tt_shm_segment *segment, void **self) {
  tutti_status status = TUTTI_OK;
  for (int64_t r = 0; r < segment->head->rank_count && status == TUTTI_OK; r++) {
    tt_shm *made = NULL;
    status = make_self(segment, config, r, segment->head->rank_count, true, &made);
    if (status == TUTTI_OK)
      atomic_fetch_add_explicit(&segment->users, 1, memory_order_relaxed);
    if (status == TUTTI_OK && wants_remote(config))
      tt_shm_remote_open_threads(made, config);
    self[r] = made;
  }
  return status;
}

tutti_status tt_shm_open_threads(const tt_shm_config *given, int64_t rank_count, void **self) {
  tt_shm_config config = given != NULL ? *given : (tt_shm_config){0};
  uint64_t bytes = segment_bytes(&config);
  void *base = NULL;
  int fd = -1;
  tt_shm_segment *segment = NULL;
  tutti_status status = tt_shm_reserve(&bytes, &base);
  if (status == TUTTI_OK)
    status = tt_shm_create(bytes, rank_count, &fd);
  if (status == TUTTI_OK)
    status = tt_shm_map_take(fd, base, bytes, bytes, &segment);
  else if (base)
    munmap(base, bytes);
  if (status == TUTTI_OK)
    status = tt_shm_head_init(segment, rank_count);
  if (status == TUTTI_OK)
    status = make_threads(&config, segment, self);
  tt_shm_unmap(segment); /* the ranks have their own use of it */
  return status;
}

static tutti_status progress(void *self, int64_t *peer) {
  tt_shm *shm = self;
  if (++shm->calls % LOOK_CALLS == 0)
    tt_shm_peers_look(shm);
  if (__builtin_expect(atomic_load_explicit(&shm->segment->head->deaths, memory_order_acquire) == 0, 1))
    return TUTTI_OK;
  int64_t dead = tt_shm_peer_first_dead(shm);
  if (dead < 0)
    return TUTTI_OK;
  *peer = dead;
  return tt_shm_peer_fail(shm, dead);
}

static int64_t sleep_of(const tt_shm *self, int64_t timeout_ns) {
  int64_t longest_ns = self->rank_count * SLEEP_A_RANK_NS;
  longest_ns = longest_ns > SLEEP_NS ? longest_ns : SLEEP_NS;
  return timeout_ns < longest_ns ? timeout_ns : longest_ns;
}

static void wait_self(void *self, int64_t timeout_ns) {
  tt_shm *shm = self;
  tt_shm_sleep(shm->segment->head, tt_shm_rank_of(shm, shm->rank), sleep_of(shm, timeout_ns));
  tt_shm_peers_look(shm);
}

void tt_shm_wait_on(void *self, int descriptor, int64_t timeout_ns) {
  tt_shm *shm = self;
  if (shm->bell < 0)
    wait_self(self, timeout_ns);
  else
    tt_shm_sleep_on(shm->segment->head, tt_shm_rank_of(shm, shm->rank), shm->bell, descriptor,
                    sleep_of(shm, timeout_ns));
  tt_shm_peers_look(shm);
}

static const tutti_transport_ops table = {
    .size = sizeof(tutti_transport_ops),
    .name = "shm",
    .publish = 1,
    .open = open_self,
    .close = close_self,
    .stream_open = tt_shm_stream_open,
    .stream_close = tt_shm_stream_close,
    .reserve = tt_shm_reserve_slot,
    .commit = tt_shm_commit,
    .peek = tt_shm_peek,
    .release = tt_shm_release,
    .progress = progress,
    .wait = wait_self,
    .peer_dead = tt_shm_peer_dead,
    .wake = tt_shm_wake_rank,
    .cells_open = tt_shm_cells_open,
    .cells_close = tt_shm_cells_close,
    .alloc = tt_shm_alloc,
    .free = tt_shm_free,
    .refer = tt_shm_refer,
    .refer_least = tt_shm_refer_least,
    .unreleased = tt_shm_unreleased,
    .fetch = tt_shm_fetch,
    .sent = tt_shm_sent,
    .lending = tt_shm_lending,
    .use = tt_shm_use,
};

const tutti_transport_ops *tt_shm_ops(void) { return &table; }

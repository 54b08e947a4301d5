/* transport/shm/join.c - how ranks come to map one segment: two allgathers around the passing of a descriptor.
 *
 * Every rank reserves address space and tells how much it got, on which machine it is, and where it listens, if it is
 * the first of its node. That one then makes the segment and passes it. A failing rank takes part in the rest, so that
 * all learn why. */
#include "transport/shm/join.h"

#include "transport/shm/self.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LAYOUT 6u /* of the segment, and of how ranks join: another number, another library */

typedef struct result {
  int64_t status;
  char text[192];
} result;

typedef struct hello {
  result result;
  uint64_t layout, machine, bytes, remote, heap;
  char name[TT_SHM_PASS_NAME];
} hello;

static int64_t head_of(const tt_shm_meeting *meeting, int64_t rank) {
  return meeting->head_of != NULL ? meeting->head_of[rank] : 0;
}

static bool is_member(const tt_shm_meeting *meeting, int64_t rank) {
  return head_of(meeting, rank) == head_of(meeting, meeting->boot->rank);
}

static bool is_head(const tt_shm_meeting *meeting) {
  return head_of(meeting, meeting->boot->rank) == meeting->boot->rank;
}

static result result_of(tutti_status status) {
  result own = {.status = (int64_t)status};
  if (status != TUTTI_OK)
    strncpy(own.text, tutti_last_error(), sizeof own.text - 1);
  return own;
}

static tutti_status fail_remote(int64_t rank, int64_t own, const result *remote) {
  if (rank == own)
    return (tutti_status)remote->status; /* its text stands */
  return tt_fail((tutti_status)remote->status, "rank %" PRId64 ": %s", rank, remote->text);
}

tutti_status tt_shm_allgather(const tt_shm_meeting *meeting, const void *mine, void *all, size_t bytes) {
  const tutti_boot *boot = meeting->boot;
  int64_t left_ns = meeting->until_ns - tt_clock_ns();
  char missing[200] = "";
  tutti_status status =
      boot->allgather(boot->user, mine, all, bytes, left_ns > 0 ? left_ns : 1, missing, sizeof missing);
  if (status == TUTTI_ERR_TIMEOUT)
    return tt_fail(status, "these ranks did not join the shared memory job in time: %s",
                   missing[0] != '\0' ? missing : "?");
  return status;
}

static tutti_status check_hellos(const tt_shm_meeting *meeting, const hello *all) {
  const tutti_boot *boot = meeting->boot;
  for (int64_t r = 0; r < boot->rank_count; r++)
    if (all[r].result.status != TUTTI_OK)
      return fail_remote(r, boot->rank, &all[r].result);
  for (int64_t r = 1; r < boot->rank_count; r++) {
    int64_t head = head_of(meeting, r);
    if (all[r].machine != all[head].machine)
      return tt_fail(TUTTI_ERR_UNSUPPORTED,
                     "rank %" PRId64 " and rank %" PRId64
                     " are on different machines, in different containers, or belong to different users",
                     r, head);
    if (all[r].layout != all[head].layout)
      return tt_fail(TUTTI_ERR_MISMATCH,
                     "rank %" PRId64 " and rank %" PRId64 " use different versions of tutti (segment %" PRIu64
                     " and %" PRIu64 ")",
                     r, head, all[r].layout, all[head].layout);
  }
  return TUTTI_OK;
}

static void end(tt_shm_meeting *meeting) {
  if (meeting->base != NULL)
    munmap(meeting->base, meeting->reserved);
  if (meeting->socket >= 0)
    close(meeting->socket);
  meeting->base = NULL;
  meeting->socket = -1;
}

static tutti_status prepare(tt_shm_meeting *meeting) {
  tutti_status status = tt_shm_reserve(&meeting->reserved, &meeting->base);
  if (status == TUTTI_OK && meeting->member_count > 1)
    status = tt_shm_pass_open(is_head(meeting), meeting->member_count, meeting->name, &meeting->socket);
  return status;
}

/* Where some have one and others have not, nobody uses it. */
static void agree_on_heap(tt_shm_meeting *meeting, const hello *all) {
  int64_t without = -1, with = -1, ranks = meeting->boot->rank_count;
  for (int64_t r = ranks - 1; r >= 0; r--)
    *(all[r].heap ? &with : &without) = r;
  meeting->heap = without < 0;
  if (!meeting->heap && with >= 0 && meeting->boot->rank == 0)
    tt_log(TT_LOG_WARN,
           "TUTTI_HEAP: rank %" PRId64 " has no heap that others can map, as rank %" PRId64 " has: no rank's is used",
           without, with);
}

/* What the ranks have in common. */
static void agree(tt_shm_meeting *meeting, const hello *all) {
  meeting->bytes = UINT64_MAX;
  meeting->remote = true;
  for (int64_t r = 0; r < meeting->boot->rank_count; r++) {
    if (is_member(meeting, r) && all[r].bytes < meeting->bytes)
      meeting->bytes = all[r].bytes;
    meeting->remote &= all[r].remote != 0;
  }
  agree_on_heap(meeting, all);
  memcpy(meeting->name, all[head_of(meeting, meeting->boot->rank)].name, sizeof meeting->name);
  assert(meeting->bytes <= meeting->reserved);
}

static void count_members(tt_shm_meeting *meeting) {
  for (int64_t r = 0; r < meeting->boot->rank_count; r++)
    meeting->member_count += is_member(meeting, r);
}

tutti_status tt_shm_meet(const tutti_boot *boot, const int64_t *heads, uint64_t bytes, bool remote, int64_t timeout_ns,
                         tt_shm_meeting *meeting) {
  *meeting = (tt_shm_meeting){
      .boot = boot, .head_of = heads, .until_ns = tt_clock_until(timeout_ns), .reserved = bytes, .socket = -1};
  count_members(meeting);
  assert(meeting->member_count > 0); /* this rank is one */
  hello *all = calloc((size_t)boot->rank_count, sizeof *all);
  if (all == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to meet %" PRId64 " ranks", boot->rank_count);
  hello mine = {.result = result_of(prepare(meeting)),
                .layout = LAYOUT,
                .machine = tt_host(),
                .remote = remote,
                .heap = tt_shm_heap_is_here()};
  mine.bytes = meeting->reserved;
  memcpy(mine.name, meeting->name, sizeof mine.name);
  tutti_status status = tt_shm_allgather(meeting, &mine, all, sizeof mine);
  if (status == TUTTI_OK)
    status = check_hellos(meeting, all);
  agree(meeting, all);
  free(all);
  if (status != TUTTI_OK)
    end(meeting);
  return status;
}

static tutti_status map_take(tt_shm_meeting *meeting, int fd, tt_shm_segment **segment) {
  assert(meeting->base != NULL && fd >= 0);
  void *base = meeting->base;
  meeting->base = NULL;
  return tt_shm_map_take(fd, base, meeting->reserved, meeting->bytes, segment);
}

static tutti_status serve(const tt_shm_meeting *meeting, int fd) {
  int64_t rank_count = meeting->boot->rank_count;
  bool *awaited = calloc((size_t)rank_count, sizeof *awaited);
  if (awaited == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to pass the shared segment to %" PRId64 " ranks", rank_count);
  for (int64_t r = 0; r < rank_count; r++)
    awaited[r] = is_member(meeting, r) && r != meeting->boot->rank;
  tutti_status status = tt_shm_pass_serve(meeting->socket, fd, awaited, rank_count, meeting->until_ns);
  free(awaited);
  return status;
}

static tutti_status make(tt_shm_meeting *meeting, tt_shm_segment **segment) {
  int64_t rank_count = meeting->boot->rank_count;
  int fd = -1;
  tutti_status status = tt_shm_create(meeting->bytes, rank_count, &fd);
  if (status == TUTTI_OK)
    status = map_take(meeting, fd, segment);
  if (status == TUTTI_OK)
    status = tt_shm_head_init(*segment, rank_count);
  return status == TUTTI_OK ? serve(meeting, (*segment)->file.fd) : status;
}

tutti_status tt_shm_join(tt_shm_meeting *meeting, tt_shm_segment **segment) {
  tt_shm_segment *made = NULL;
  tutti_status status = TUTTI_OK;
  int fd = -1;
  if (is_head(meeting))
    status = make(meeting, &made);
  else
    status = tt_shm_pass_fetch(meeting->socket, meeting->name, meeting->boot->rank, meeting->until_ns, &fd);
  if (status == TUTTI_OK && fd >= 0)
    status = map_take(meeting, fd, &made);
  if (status != TUTTI_OK) {
    tt_shm_unmap(made);
    end(meeting); /* who still waits for the first rank sees its socket close */
    return status;
  }
  *segment = made;
  return TUTTI_OK;
}

tutti_status tt_shm_confirm(tt_shm_meeting *meeting, tutti_status status) {
  const tutti_boot *boot = meeting->boot;
  end(meeting);
  result mine = result_of(status);
  result *all = calloc((size_t)boot->rank_count, sizeof *all);
  if (all == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to join %" PRId64 " ranks", boot->rank_count);
  meeting->until_ns += 1000000000; /* for those that learn of another's timeout */
  tutti_status told = tt_shm_allgather(meeting, &mine, all, sizeof mine);
  for (int64_t r = 0; r < boot->rank_count && told == TUTTI_OK; r++)
    if (all[r].status != TUTTI_OK)
      told = fail_remote(r, boot->rank, &all[r]);
  free(all);
  return told;
}

/* transport/shm/join.c - how ranks come to map one segment: two allgathers around the passing of a descriptor.
 *
 * Every rank reserves address space and tells how much it got, on which machine it is, and where rank 0 listens. Rank 0
 * then makes the segment and passes it. A failing rank takes part in the rest, so that all learn why. */
#include "transport/shm/join.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LAYOUT 2u /* of the segment: another number, another library */

typedef struct result {
  int64_t status;
  char text[192];
} result;

typedef struct hello {
  result result;
  uint64_t layout, machine, bytes, remote;
  char name[TT_SHM_PASS_NAME];
} hello;

/* The machine, and the namespaces in which pids and abstract sockets mean the same. Takes no descriptor. */
static uint64_t machine_number(void) {
  struct utsname names = {0};
  uname(&names);
  uint64_t number = tt_hash(0, names.nodename, strlen(names.nodename));
  struct stat space;
  if (stat("/proc/self/ns/pid", &space) == 0)
    number = tt_hash(number, &space.st_ino, sizeof space.st_ino);
  if (stat("/proc/self/ns/net", &space) == 0)
    number = tt_hash(number, &space.st_ino, sizeof space.st_ino);
  return number;
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
  return tt_fail((tutti_status)remote->status, "rank %lld: %s", (long long)rank, remote->text);
}

static tutti_status allgather(const tt_shm_meeting *meeting, const void *mine, void *all, size_t bytes) {
  int64_t left_ns = meeting->until_ns - tt_clock_ns();
  char missing[200] = "";
  const tutti_boot *boot = meeting->boot;
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
    if (all[r].machine != all[0].machine)
      return tt_fail(TUTTI_ERR_UNSUPPORTED, "rank %lld and rank 0 are on different machines or in different containers",
                     (long long)r);
    if (all[r].layout != all[0].layout)
      return tt_fail(TUTTI_ERR_MISMATCH, "rank %lld and rank 0 use different versions of tutti (segment %llu and %llu)",
                     (long long)r, (unsigned long long)all[r].layout, (unsigned long long)all[0].layout);
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
  if (status == TUTTI_OK && meeting->boot->rank_count > 1)
    status = tt_shm_pass_open(meeting->boot->rank, meeting->boot->rank_count, meeting->name, &meeting->socket);
  return status;
}

tutti_status tt_shm_meet(const tutti_boot *boot, uint64_t bytes, bool remote, int64_t timeout_ns,
                         tt_shm_meeting *meeting) {
  *meeting = (tt_shm_meeting){.boot = boot, .until_ns = tt_clock_ns() + timeout_ns, .reserved = bytes, .socket = -1};
  hello *all = calloc((size_t)boot->rank_count, sizeof *all);
  if (all == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to meet %lld ranks", (long long)boot->rank_count);
  hello mine = {.result = result_of(prepare(meeting)), .layout = LAYOUT, .machine = machine_number(), .remote = remote};
  mine.bytes = meeting->reserved;
  memcpy(mine.name, meeting->name, sizeof mine.name);
  tutti_status status = allgather(meeting, &mine, all, sizeof mine);
  if (status == TUTTI_OK)
    status = check_hellos(meeting, all);
  meeting->bytes = UINT64_MAX;
  meeting->remote = true;
  for (int64_t r = 0; r < boot->rank_count; r++) {
    meeting->bytes = all[r].bytes < meeting->bytes ? all[r].bytes : meeting->bytes;
    meeting->remote &= all[r].remote != 0;
  }
  memcpy(meeting->name, all[0].name, sizeof meeting->name);
  free(all);
  if (status != TUTTI_OK)
    end(meeting);
  return status;
}

static tutti_status map_take(tt_shm_meeting *meeting, int fd, tt_shm_segment **segment) {
  void *base = meeting->base;
  meeting->base = NULL;
  return tt_shm_map_take(fd, base, meeting->reserved, meeting->bytes, segment);
}

static tutti_status make(tt_shm_meeting *meeting, tt_shm_segment **segment) {
  int64_t rank_count = meeting->boot->rank_count;
  int fd = -1;
  tutti_status status = tt_shm_create(meeting->bytes, rank_count, &fd);
  if (status == TUTTI_OK)
    status = map_take(meeting, fd, segment);
  if (status == TUTTI_OK)
    status = tt_shm_head_init(*segment, rank_count);
  if (status == TUTTI_OK && rank_count > 1)
    status = tt_shm_pass_serve(meeting->socket, (*segment)->fd, rank_count, meeting->until_ns);
  return status;
}

tutti_status tt_shm_join(tt_shm_meeting *meeting, tt_shm_segment **segment) {
  tt_shm_segment *made = NULL;
  tutti_status status = TUTTI_OK;
  int fd = -1;
  if (meeting->boot->rank == 0)
    status = make(meeting, &made);
  else
    status = tt_shm_pass_fetch(meeting->socket, meeting->name, meeting->boot->rank, meeting->until_ns, &fd);
  if (status == TUTTI_OK && fd >= 0)
    status = map_take(meeting, fd, &made);
  if (status != TUTTI_OK) {
    tt_shm_unmap(made);
    end(meeting); /* who still waits for rank 0 sees its socket close */
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
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to join %lld ranks", (long long)boot->rank_count);
  meeting->until_ns += 1000000000; /* for those that learn of another's timeout */
  tutti_status told = allgather(meeting, &mine, all, sizeof mine);
  for (int64_t r = 0; r < boot->rank_count && told == TUTTI_OK; r++)
    if (all[r].status != TUTTI_OK)
      told = fail_remote(r, boot->rank, &all[r]);
  free(all);
  return told;
}

/* A machine that gives too little: descriptors, address space, file sizes, memory, folders. Ranks get errors that name
 * the rank with the lack, or do without; none crashes or hangs. */
#include "fault/fault.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define LIMITED 1
#define NS_PER_S 1000000000ll

typedef struct limit {
  int resource;
  rlim_t value;
  int rank; /* -1: all */
} limit;

static void lower(int resource, rlim_t value) {
  struct rlimit now;
  CHECK(getrlimit((__rlimit_resource_t)resource, &now) == 0);
  now.rlim_cur = value < now.rlim_max ? value : now.rlim_max;
  CHECK(setrlimit((__rlimit_resource_t)resource, &now) == 0);
}

/* Everything once: small and large calls, a split, shared memory. */
static tutti_status use(tutti_context *context, tutti_comm *comm) {
  static int32_t in[1 << 16], out[1 << 16];
  tutti_comm *part = NULL;
  void *memory = NULL;
  tutti_status status = tutti_allreduce(in, out, 4, TUTTI_INT32, TUTTI_SUM, comm);
  if (status == TUTTI_OK)
    status = tutti_allreduce(in, out, 1 << 16, TUTTI_INT32, TUTTI_SUM, comm);
  if (status == TUTTI_OK)
    status = tutti_comm_split(comm, 0, -tutti_comm_rank(comm), &part);
  if (status == TUTTI_OK)
    status = tutti_barrier(part);
  if (status == TUTTI_OK && (status = tutti_alloc(context, 100000, &memory)) == TUTTI_OK)
    tutti_free(context, memory);
  if (status != TUTTI_OK)
    tutti_comm_abort(comm, tutti_last_error());
  tutti_comm_destroy(part);
  return status;
}

static void live_with(const tutti_boot *boot, void *argument) {
  const limit *of = argument;
  tutti_context_options options;
  tutti_context *context = NULL;
  tutti_comm *comm = NULL;
  alarm(HANG_S);
  tutti_context_options_init(&options);
  options.boot = boot;
  options.timeout_ns = 5 * NS_PER_S;
  if (of->rank < 0 || of->rank == boot->rank)
    lower(of->resource, of->value);
  tutti_status status = tutti_context_create(&options, &context);
  if (status == TUTTI_OK)
    status = tutti_comm_create(context, &comm);
  if (status == TUTTI_OK)
    status = use(context, comm);
  report(boot, status);
  leave_all(context, comm);
}

/* All ranks come to the same: it works, or an error that names the rank. Returns whether it works. */
static bool live_or_fail(const limit *of) {
  char name[32];
  run_job(3, live_with, (void *)(uintptr_t)of);
  snprintf(name, sizeof name, "rank %d", of->rank);
  for (int r = 0; r < 3 && outcomes[0].status != TUTTI_OK; r++) {
    assert_int_not_equal(outcomes[r].status, TUTTI_OK);
    assert_true(outcomes[r].text[0] != '\0');
    if (of->rank >= 0 && r != of->rank)
      assert_non_null(strstr(outcomes[r].text, name));
  }
  for (int r = 1; r < 3 && outcomes[0].status == TUTTI_OK; r++)
    assert_outcome(r, TUTTI_OK, "");
  return outcomes[0].status == TUTTI_OK;
}

static void test_too_few_descriptors(void **state) {
  (void)state;
  for (int rank = -1; rank < 2; rank++) {
    int failed = 0;
    rlim_t value = 1;
    while (!live_or_fail(&(limit){RLIMIT_NOFILE, value++, rank}))
      failed++;
    assert_true(failed > 0 && failed < 64);
  }
}

/* ---- a death when no descriptor is free ---- */

static void die_unseen(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  meet_before_death(boot);
  if (boot->rank == LIMITED)
    raise(SIGKILL);
  lower(RLIMIT_NOFILE, 0);
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void test_death_is_seen_without_a_free_descriptor(void **state) {
  (void)state;
  job started = start_job(3, die_unseen, NULL);
  for (int r = 0; r < 3; r++) /* the dead one stays a zombie until the others have ended */
    if (r != LIMITED)
      assert_int_equal(waitpid(started.pid[r], NULL, 0), started.pid[r]);
  assert_int_equal(job_wait(&started), 1);
  for (int r = 0; r < 3; r++)
    if (r != LIMITED)
      assert_outcome(r, TUTTI_ERR_PEER, "rank 1 of the job");
}

/* ---- sizes ---- */

static void test_too_little_address_space(void **state) {
  (void)state;
  if (SANITIZED) {
    print_message("skipped: the address sanitizer needs more address space than any limit\n");
    skip();
  }
  rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE), pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_int_equal(fscanf(file, "%lu", &pages), 1);
  fclose(file);
  bool small = live_or_fail(&(limit){RLIMIT_AS, pages * page + (8 << 20), LIMITED});
  assert_false(small);
  assert_true(live_or_fail(&(limit){RLIMIT_AS, pages * page + (512 << 20), LIMITED}));
}

static void test_too_small_files(void **state) {
  (void)state;
  for (int rank = -1; rank < 2; rank++) {
    live_or_fail(&(limit){RLIMIT_FSIZE, 0, rank});
    live_or_fail(&(limit){RLIMIT_FSIZE, 1 << 20, rank});
    assert_true(live_or_fail(&(limit){RLIMIT_FSIZE, 256 << 20, rank}));
  }
}

/* ---- folders ---- */

static void hide_folders(const tutti_boot *boot, void *argument) {
  CHECK(own_mounts());
  CHECK(mount("none", "/tmp", "tmpfs", MS_RDONLY, NULL) == 0);
  CHECK(mount("none", "/dev", "tmpfs", MS_RDONLY, NULL) == 0);
  CHECK(open("/tmp/x", O_CREAT | O_RDWR, 0600) < 0 && access("/dev/shm", F_OK) != 0);
  live_with(boot, argument);
}

static void test_tmp_unwritable_and_dev_shm_missing(void **state) {
  (void)state;
  if (!own_folders) {
    print_message("skipped: no mount namespace is permitted\n");
    skip();
  }
  limit none = {RLIMIT_CORE, 0, -1};
  run_job(4, hide_folders, &none);
  for (int r = 0; r < 4; r++)
    assert_outcome(r, TUTTI_OK, "");
}

/* ---- memory ---- */

typedef struct group {
  char path[128], tasks[160];
} group;

static bool write_text(const char *folder, const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  if (fd >= 0)
    close(fd);
  return done;
}

/* A chroot may have no cgroups to be seen: they are mounted where only this test sees them. */
static void mount_groups(void) {
  if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0 || access("/sys/fs/cgroup/memory", F_OK) == 0)
    return;
  if (own_folders && mount("cgroup", "/sys/fs/cgroup", "cgroup", 0, "memory") != 0)
    (void)!mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL);
}

static bool make_group(group *of, const char *bytes) {
  static const char *const roots[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup", "/sys/fs/cgroup"};
  static const char *const limits[] = {"memory.limit_in_bytes", "memory.max", "memory.limit_in_bytes"};
  mount_groups();
  for (size_t n = 0; n < sizeof roots / sizeof *roots; n++) {
    snprintf(of->path, sizeof of->path, "%s/tutti-test-%d", roots[n], getpid());
    snprintf(of->tasks, sizeof of->tasks, "%s/cgroup.procs", of->path);
    if (mkdir(of->path, 0700) == 0 && write_text(of->path, limits[n], bytes))
      return true;
    rmdir(of->path);
  }
  return false;
}

static void live_in_group(const tutti_boot *boot, void *argument) {
  const group *of = argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  void *memory = NULL;
  char pid[16];
  snprintf(pid, sizeof pid, "%d", getpid());
  if (boot->rank == LIMITED)
    CHECK(write_text(of->path, "cgroup.procs", pid));
  tutti_status status = tutti_barrier(comm);
  for (int n = 0; n < 16 && boot->rank == LIMITED && status == TUTTI_OK; n++)
    status = tutti_alloc(context, 8 << 20, &memory);
  if (status != TUTTI_OK)
    tutti_comm_abort(comm, tutti_last_error());
  report(boot, status == TUTTI_OK ? tutti_barrier(comm) : status);
  leave_all(context, comm);
}

static void test_too_little_memory(void **state) {
  (void)state;
  group of;
  if (!make_group(&of, "33554432")) {
    print_message("skipped: no memory cgroup can be made\n");
    skip();
  }
  job started = start_job(3, live_in_group, &of);
  int failed = job_wait(&started);
  assert_int_equal(rmdir(of.path), 0);
  if (failed > 0) { /* the kernel has killed the limited one, and no other */
    assert_int_equal(failed, 1);
    assert_int_equal(outcomes[LIMITED].status, -1);
  } else {
    assert_outcome(LIMITED, TUTTI_ERR_MEMORY, "fallocate");
  }
  for (int r = 0; r < 3; r += 2)
    assert_outcome(r, failed > 0 ? TUTTI_ERR_PEER : TUTTI_ERR_ABORTED, "rank 1");
  print_message("the kernel %s\n", failed > 0 ? "killed the rank" : "refused the memory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_too_few_descriptors),
      FAULT_TEST(test_death_is_seen_without_a_free_descriptor),
      FAULT_TEST(test_too_little_address_space),
      FAULT_TEST(test_too_small_files),
      FAULT_TEST(test_tmp_unwritable_and_dev_shm_missing),
      FAULT_TEST(test_too_little_memory),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}

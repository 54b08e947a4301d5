/* The shared memory transport between processes: opening, order and content, sleeping and waking, death, low limits. */
#include "support/job.h"
#include "transport/shm/self.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cmocka.h>

#define SECOND ((int64_t)1000000000)

#if defined(__has_feature)
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HAS(address_sanitizer) || HAS(thread_sanitizer)
enum { SANITIZED = 1 }; /* its own address space is beyond any limit */
#else
enum { SANITIZED = 0 };
#endif

static void *open_rank(const tutti_boot *boot, const tt_shm_config *config) {
  void *self = NULL;
  CHECK(tt_shm_ops()->open(config, boot, &self) == TUTTI_OK);
  return self;
}

static tutti_stream *open_end(void *self, uint64_t id, int64_t source, const int64_t *readers, int64_t count) {
  tutti_stream_spec spec = {.id = id, .source = source, .readers = readers, .reader_count = count};
  tutti_stream *stream = NULL;
  CHECK(tt_shm_ops()->stream_open(self, &spec, &stream) == TUTTI_OK);
  return stream;
}

static void send_bytes(void *self, tutti_stream *stream, const void *bytes, size_t size, uint64_t call) {
  tutti_slot_header *header;
  void *data;
  size_t room = 0;
  while (room == 0) {
    CHECK(tt_shm_ops()->reserve(self, stream, &header, &data, &room) == TUTTI_OK);
    if (room == 0)
      tt_shm_ops()->wait(self, SECOND);
  }
  header->call = call;
  memcpy(data, bytes, size);
  CHECK(tt_shm_ops()->commit(self, stream, size) == TUTTI_OK);
}

static size_t receive_bytes(void *self, tutti_stream *stream, void *bytes, uint64_t call) {
  const tutti_slot_header *header = NULL;
  const void *data;
  size_t size;
  while (header == NULL) {
    CHECK(tt_shm_ops()->peek(self, stream, &header, &data, &size) == TUTTI_OK);
    if (header == NULL)
      tt_shm_ops()->wait(self, SECOND);
  }
  CHECK(header->call == call);
  memcpy(bytes, data, size);
  CHECK(tt_shm_ops()->release(self, stream) == TUTTI_OK);
  return size;
}

enum { SLOTS = 3000 };

static size_t make_message(uint64_t seed, uint64_t number, unsigned char *bytes) {
  tt_random random;
  tt_random_init(&random, seed + number);
  size_t size = tt_random_below(&random, 16384);
  for (size_t b = 0; b < size; b++)
    bytes[b] = (unsigned char)(tt_random_next(&random) >> 56);
  return size;
}

/* Rank 0 publishes to all others, and each other sends to rank 0. */
static void move_random(const tutti_boot *boot, void *argument) {
  (void)argument;
  static unsigned char bytes[16384], wanted[16384];
  static const int64_t others[] = {1, 2, 3};
  const int64_t zero = 0;
  void *self = open_rank(boot, NULL);
  tutti_stream *down = open_end(self, 5, 0, others, 3), *up[4] = {NULL};
  for (int64_t r = 1; r < 4; r++)
    if (boot->rank == 0 || boot->rank == r)
      up[r] = open_end(self, 6, r, &zero, 1);
  for (uint64_t n = 0; n < SLOTS; n++) {
    size_t size = make_message(0, n, wanted);
    if (boot->rank == 0)
      send_bytes(self, down, wanted, size, n);
    else
      CHECK(receive_bytes(self, down, bytes, n) == size && memcmp(bytes, wanted, size) == 0);
    for (int64_t r = 1; r < 4; r++) {
      size = make_message((uint64_t)r << 32, n, wanted);
      if (boot->rank == r)
        send_bytes(self, up[r], wanted, size, n);
      else if (boot->rank == 0)
        CHECK(receive_bytes(self, up[r], bytes, n) == size && memcmp(bytes, wanted, size) == 0);
    }
  }
  tt_shm_ops()->close(self);
}

static void test_random_slots_arrive_whole_and_in_order(void **state) {
  (void)state;
  assert_int_equal(job_run(4, move_random, NULL), 0);
}

enum { WAKES = 100000 };

/* Two ranks answer each other and sleep whenever they wait. */
static void sleep_and_wake(const tutti_boot *boot, void *argument) {
  (void)argument;
  int64_t one = 1, zero = 0;
  uint64_t number = 0;
  void *self = open_rank(boot, NULL);
  tutti_stream *there = open_end(self, 1, 0, &one, 1), *back = open_end(self, 1, 1, &zero, 1);
  for (uint64_t n = 0; n < WAKES; n++) {
    if (boot->rank == 0)
      send_bytes(self, there, &n, sizeof n, n);
    CHECK(receive_bytes(self, boot->rank == 0 ? back : there, &number, n) == sizeof number && number == n);
    if (boot->rank == 1)
      send_bytes(self, back, &n, sizeof n, n);
  }
  tt_shm_ops()->close(self);
}

static void test_sleepers_are_woken(void **state) {
  (void)state;
  assert_int_equal(job_run(2, sleep_and_wake, NULL), 0);
}

/* Rank 2 is killed when the others are about to wait for it. */
static void wait_for_the_dead(const tutti_boot *boot, void *argument) {
  int descriptors = *(int *)argument;
  void *self = open_rank(boot, NULL);
  int64_t zero = 0, two = 2, peer = -1;
  tutti_stream *stream = boot->rank == 0   ? open_end(self, 1, 2, &zero, 1)
                         : boot->rank == 1 ? open_end(self, 2, 1, &two, 1)
                                           : NULL;
  if (boot->rank == 2)
    raise(SIGKILL);
  while (!descriptors && open("/dev/null", O_RDONLY) >= 0)
    ;
  const tutti_slot_header *header;
  const void *data;
  size_t bytes;
  while (tt_shm_ops()->progress(self, &peer) == TUTTI_OK)
    tt_shm_ops()->wait(self, SECOND);
  CHECK(peer == 2 && strstr(tutti_last_error(), "rank 2") != NULL);
  CHECK(tt_shm_ops()->peer_dead(self, 2) && tt_shm_ops()->peer_dead(self, 1 - boot->rank) != 1);
  if (boot->rank == 0)
    CHECK(tt_shm_ops()->peek(self, stream, &header, &data, &bytes) == TUTTI_ERR_PEER);
  tt_shm_ops()->close(self);
}

static void test_killed_rank_is_seen_dead(void **state) {
  (void)state;
  int descriptors = 1;
  job started = job_start(3, wait_for_the_dead, &descriptors); /* rank 2 stays a zombie until job_wait comes to it */
  assert_int_equal(job_wait(&started), 1);
}

static void *reap(void *argument) {
  waitpid(*(pid_t *)argument, NULL, 0);
  return NULL;
}

static void test_killed_rank_is_seen_dead_without_descriptors(void **state) {
  (void)state;
  int descriptors = 0;
  job started = job_start(3, wait_for_the_dead, &descriptors);
  reap(&started.pid[2]);
  started.count = 2;
  assert_int_equal(job_wait(&started), 0);
}

/* ---- what else ends a rank ---- */

/* Until rank 2 is known to be dead; a minute is too long. */
static void await_death(void *self) {
  int64_t until_ns = tt_clock_ns() + 60 * SECOND, peer = -1;
  while (tt_shm_ops()->progress(self, &peer) == TUTTI_OK && tt_clock_ns() < until_ns)
    tt_shm_ops()->wait(self, SECOND / 10);
  CHECK(peer == 2);
}

/* argument: a pipe of which nobody has closed the writing end before the others have found it. */
static void run_another_program(const tutti_boot *boot, void *argument) {
  const int *open_end = argument;
  tt_shm *self = open_rank(boot, NULL);
  if (boot->rank == 2) {
    dup2(open_end[0], STDIN_FILENO);
    execlp("cat", "cat", (char *)NULL);
    _exit(127);
  }
  await_death(self);
  CHECK(kill(tt_shm_rank_of(self, 2)->pid, 0) == 0); /* the process is there */
  tt_shm_ops()->close(self);
}

static void test_rank_that_runs_another_program_is_dead(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  job started = job_start(3, run_another_program, ends);
  job others = started;
  others.count = 2;
  assert_int_equal(job_wait(&others), 0);
  kill(started.pid[2], SIGKILL);
  reap(&started.pid[2]);
  close(ends[0]);
  close(ends[1]);
}

/* Its child has all that it had, and lives on until the pipe is closed. */
static void leave_a_child(const tutti_boot *boot, void *argument) {
  const int *open_end = argument;
  char byte;
  tt_shm *self = open_rank(boot, NULL);
  close(open_end[1]);
  if (boot->rank == 2) {
    if (fork() == 0) {
      CHECK(read(open_end[0], &byte, 1) == 0);
      _exit(0);
    }
    raise(SIGKILL);
  }
  await_death(self);
  tt_shm_ops()->close(self);
}

static void test_child_that_outlives_a_rank_does_not_keep_it_alive(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  job started = job_start(3, leave_a_child, ends);
  assert_int_equal(job_wait(&started), 1);
  close(ends[0]);
  close(ends[1]);
}

/* ---- programs that close descriptors which they have not opened ---- */

typedef enum ending { IS_KILLED, RUNS_ANOTHER_PROGRAM, LEAVES } ending;

typedef struct loss {
  bool all;         /* else it opens the segment's file again, and closes that */
  ending ending;    /* of rank 2 */
  bool thread_ends; /* its first one: another goes on */
  bool strict;      /* the system lets nobody read another's memory */
  int pipe[2];      /* who has seen it alive for long writes a byte */
} loss;

typedef struct loser {
  const loss *how;
  tt_shm *self;
} loser;

/* By the state of a process of which only other threads are left. */
static void await_end_of_first_thread(void) {
  char path[32], facts[256] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
  for (const char *state = NULL; !state || strncmp(state, ") Z", 3) != 0; sched_yield()) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0 && read(file, facts, sizeof facts - 1) > 0);
    close(file);
    state = strrchr(facts, ')');
  }
}

/* As the ptrace scope or a container may. Emulators of a system have no filters. */
static void forbid_reading(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Returns a file of the program's that has all the numbers of closed ones. */
static int close_all(void) {
  char name[] = "/tmp/tutti-XXXXXX";
  for (int fd = 3; fd < 256; fd++)
    close(fd);
  int file = mkstemp(name);
  CHECK(file == 3 && unlink(name) == 0 && write(file, "unharmed", 8) == 8);
  for (int n = 0; n < 64; n++)
    CHECK(dup(file) >= 0);
  return file;
}

static void open_and_close_segment(void) {
  char path[64], target[64];
  int found = 0;
  for (int fd = 3; fd < 64; fd++) {
    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    if (strstr(target, "memfd:tutti") && ++found)
      close(open(path, O_RDONLY));
  }
  CHECK(found > 0);
}

static void check_file(int file) {
  char content[9];
  CHECK(lseek(file, 0, SEEK_END) == 8 && pread(file, content, 9, 0) == 8 && memcmp(content, "unharmed", 8) == 0);
}

static void use_memory(tt_shm *self) {
  void *memory[3];
  for (int n = 0; n < 3; n++) {
    CHECK(tt_shm_ops()->alloc(self, (size_t)1 << 20, &memory[n]) == TUTTI_OK);
    memset(memory[n], 1, (size_t)1 << 20);
  }
  for (int n = 0; n < 3; n++)
    tt_shm_ops()->free(self, memory[n]);
}

/* Rank 2. */
static void *lose_and_end(void *argument) {
  const loser *own = argument;
  char byte;
  int file = -1;
  if (own->how->thread_ends)
    await_end_of_first_thread();
  if (own->how->all)
    file = close_all();
  else
    open_and_close_segment();
  use_memory(own->self);
  for (int n = 0; n < 2; n++)
    CHECK(read(STDIN_FILENO, &byte, 1) == 1);
  if (own->how->ending == IS_KILLED)
    raise(SIGKILL);
  if (own->how->ending == RUNS_ANOTHER_PROGRAM)
    execlp("cat", "cat", (char *)NULL);
  tt_shm_ops()->close(own->self);
  if (file >= 0)
    check_file(file);
  _exit(own->how->ending != LEAVES);
}

static void watch_loser(tt_shm *self, const loss *how) {
  int64_t peer = -1;
  for (int n = 0; n < 4; n++) { /* each sleeps longer than the time between two looks */
    tt_shm_ops()->wait(self, SECOND);
    CHECK(tt_shm_ops()->progress(self, &peer) == TUTTI_OK);
  }
  if (self->remote && !how->strict) { /* also where only its other threads are left */
    unsigned char data[64];
    CHECK(tt_shm_remote_read(self, 2, tt_shm_rank_of(self, 2)->probe_address, data, sizeof data) == TUTTI_OK);
  }
  CHECK(write(STDOUT_FILENO, "x", 1) == 1);
  if (how->ending != LEAVES)
    await_death(self);
  while (how->ending == LEAVES && tt_shm_ops()->peer_dead(self, 2) != 2)
    tt_shm_ops()->wait(self, SECOND / 10);
}

/* Rank 1 looks without descriptors, too. Rank 2's first thread may end, and what is on its stack with it. */
static void lose_descriptors(const tutti_boot *boot, void *argument) {
  static loss kept;
  static loser own;
  const loss *how = &kept;
  pthread_t thread;
  kept = *(const loss *)argument;
  alarm(60);
  if (how->strict)
    forbid_reading();
  own = (loser){.how = how, .self = open_rank(boot, NULL)};
  dup2(how->pipe[0], STDIN_FILENO);
  dup2(how->pipe[1], STDOUT_FILENO);
  if (boot->rank == 2) {
    CHECK(pthread_create(&thread, NULL, lose_and_end, &own) == 0);
    if (how->thread_ends)
      pthread_exit(NULL);
    pthread_join(thread, NULL);
  }
  int file = boot->rank == 1 && how->all ? close_all() : -1;
  watch_loser(own.self, how);
  tt_shm_ops()->close(own.self);
  if (file >= 0)
    check_file(file);
}

static void run_loss(loss how) {
  assert_int_equal(pipe2(how.pipe, O_CLOEXEC), 0);
  job started = job_start(3, lose_descriptors, &how), others = started;
  others.count = 2;
  assert_int_equal(job_wait(&others), 0);
  int status = 0;
  if (how.ending == RUNS_ANOTHER_PROGRAM)
    kill(started.pid[2], SIGKILL);
  assert_int_equal(waitpid(started.pid[2], &status, 0), started.pid[2]);
  assert_true(how.ending == LEAVES ? status == 0 : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  close(how.pipe[0]);
  close(how.pipe[1]);
}

static void test_rank_that_loses_its_descriptors_lives_until_it_ends(void **state) {
  (void)state;
  for (int n = 0; n < 8; n++)
    for (ending how = IS_KILLED; how <= LEAVES; how++)
      run_loss((loss){.all = n & 1, .ending = how, .thread_ends = n & 2, .strict = n & 4});
}

/* ---- ranks that are threads ---- */

enum { TWINS = 3 }; /* in the first of two processes */

/* An allgather between TWINS threads and another process: one of them speaks for all. */
typedef struct twin_boot {
  tutti_boot boot;
  struct twin_house *house;
} twin_boot;

typedef struct twin_house {
  job_boot *job; /* of two processes */
  pthread_barrier_t barrier;
  char mine[TWINS + 1][512], all[2][(TWINS + 1) * 512];
  const int *pipe;
} twin_house;

static tutti_status twins_allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns,
                                    char *missing, size_t missing_size) {
  twin_boot *own = user;
  twin_house *house = own->house;
  bool speaks = own->boot.rank == 0 || own->boot.rank == TWINS;
  CHECK(bytes <= sizeof house->mine[0]);
  memcpy(house->mine[own->boot.rank], mine, bytes);
  if (own->boot.rank < TWINS)
    pthread_barrier_wait(&house->barrier);
  if (speaks)
    CHECK(job_allgather(house->job, house->mine, house->all, sizeof house->mine, timeout_ns, missing, missing_size) ==
          TUTTI_OK);
  if (own->boot.rank < TWINS)
    pthread_barrier_wait(&house->barrier);
  for (int64_t r = 0; r <= TWINS; r++)
    memcpy((char *)all + (size_t)r * bytes, house->all[r == TWINS] + (size_t)r * 512, bytes);
  return TUTTI_OK;
}

static twin_boot boot_of(twin_house *house, int64_t rank) {
  return (twin_boot){.boot = {sizeof(tutti_boot), rank, TWINS + 1, NULL, twins_allgather}, .house = house};
}

/* Rank 0 leaves, rank 1 after it; rank 2 when the other process has looked. */
static void *live_as_twin(void *argument) {
  twin_boot *own = argument;
  char byte;
  own->boot.user = own;
  void *self = open_rank(&own->boot, NULL);
  pthread_barrier_wait(&own->house->barrier);
  if (own->boot.rank == 0)
    tt_shm_ops()->close(self);
  pthread_barrier_wait(&own->house->barrier);
  if (own->boot.rank == 2)
    CHECK(read(own->house->pipe[0], &byte, 1) == 1);
  if (own->boot.rank != 0)
    tt_shm_ops()->close(self);
  return NULL;
}

static void look_at_twins(twin_house *house) {
  twin_boot own = boot_of(house, TWINS);
  own.boot.user = &own;
  tt_shm *self = open_rank(&own.boot, NULL);
  int64_t peer;
  while (tt_shm_ops()->peer_dead(self, 0) == 0 || tt_shm_ops()->peer_dead(self, 1) == 0)
    tt_shm_ops()->wait(self, SECOND);
  for (int n = 0; n < 4; n++) { /* each sleeps longer than the time between two looks */
    tt_shm_ops()->wait(self, SECOND);
    CHECK(tt_shm_ops()->progress(self, &peer) == TUTTI_OK);
    CHECK(tt_shm_ops()->peer_dead(self, 0) == 2 && tt_shm_ops()->peer_dead(self, 2) == 0);
  }
  CHECK(write(house->pipe[1], "x", 1) == 1);
  tt_shm_ops()->close(self);
}

static void house_twins(const tutti_boot *boot, void *argument) {
  twin_house house = {.job = boot->user, .pipe = argument};
  pthread_t thread[TWINS];
  twin_boot own[TWINS];
  if (boot->rank == 1) {
    look_at_twins(&house);
    return;
  }
  int before = dup(0);
  pthread_barrier_init(&house.barrier, NULL, TWINS);
  for (int64_t r = 0; r < TWINS; r++) {
    own[r] = boot_of(&house, r);
    CHECK(pthread_create(&thread[r], NULL, live_as_twin, &own[r]) == 0);
  }
  for (int64_t r = 0; r < TWINS; r++)
    pthread_join(thread[r], NULL);
  CHECK(dup(0) == before + 1); /* none is left open */
}

static void test_thread_that_leaves_does_not_take_others_for_dead(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  assert_int_equal(job_run(2, house_twins, ends), 0);
  close(ends[0]);
  close(ends[1]);
}

/* argument: a pipe with a byte in it once rank 0 has stopped. */
static void stop_and_go(const tutti_boot *boot, void *argument) {
  const int *stopped = argument;
  int64_t one = 1, peer;
  uint64_t number = 1;
  char byte;
  alarm(60);
  void *self = open_rank(boot, NULL);
  tutti_stream *stream = open_end(self, 1, 0, &one, 1);
  if (boot->rank == 0) {
    raise(SIGSTOP);
    send_bytes(self, stream, &number, sizeof number, 1);
  } else {
    CHECK(read(stopped[0], &byte, 1) == 1);
    for (int n = 0; n < 4; n++) { /* each sleeps longer than the time between two looks */
      tt_shm_ops()->wait(self, SECOND);
      CHECK(tt_shm_ops()->progress(self, &peer) == TUTTI_OK && !tt_shm_ops()->peer_dead(self, 0));
    }
    kill(tt_shm_rank_of(self, 0)->pid, SIGCONT);
    receive_bytes(self, stream, &number, 1);
  }
  tt_shm_ops()->close(self);
}

static void test_stopped_rank_is_not_dead(void **state) {
  (void)state;
  int stopped[2], status = 0, failed = 0;
  assert_int_equal(pipe(stopped), 0);
  job started = job_start(2, stop_and_go, stopped);
  waitpid(started.pid[0], &status, WUNTRACED);
  assert_true(WIFSTOPPED(status));
  assert_int_equal(write(stopped[1], "x", 1), 1);
  waitpid(started.pid[1], &failed, 0);
  kill(started.pid[0], SIGCONT); /* where rank 1 has failed before it did */
  started.count = 1;
  assert_int_equal(job_wait(&started), 0);
  assert_int_equal(failed, 0);
  close(stopped[0]);
  close(stopped[1]);
}

static void stay_away(const tutti_boot *boot, void *argument) {
  (void)argument;
  if (boot->rank == 2) {
    pause();
    return;
  }
  tt_shm_config config = {.timeout_ns = 3 * SECOND};
  void *self = NULL;
  tutti_status status = tt_shm_ops()->open(&config, boot, &self);
  CHECK(status != TUTTI_OK && self == NULL);
  if (boot->rank == 0)
    CHECK(status == TUTTI_ERR_TIMEOUT && strstr(tutti_last_error(), "2") != NULL);
}

static void test_timeout_names_the_missing_rank(void **state) {
  (void)state;
  job started = job_start(3, stay_away, NULL);
  pid_t missing = started.pid[2];
  started.count = 2;
  assert_int_equal(job_wait(&started), 0);
  kill(missing, SIGKILL);
  reap(&missing);
}

/* All are there for two allgathers. */
static tutti_status lose_the_third(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns,
                                   char *missing, size_t missing_size) {
  static int calls;
  if (++calls < 3)
    return job_allgather(user, mine, all, bytes, timeout_ns, missing, missing_size);
  snprintf(missing, missing_size, "17");
  return TUTTI_ERR_TIMEOUT;
}

static void miss_the_third(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_boot lossy = *boot;
  void *self = NULL;
  lossy.allgather = lose_the_third;
  CHECK(tt_shm_ops()->open(NULL, &lossy, &self) == TUTTI_ERR_TIMEOUT && self == NULL);
  CHECK(strstr(tutti_last_error(), "these ranks did not join the shared memory job in time: 17") != NULL);
}

static void test_timeout_at_the_end_names_the_missing_rank(void **state) {
  (void)state;
  assert_int_equal(job_run(2, miss_the_third, NULL), 0);
}

static void limit_memory(const tutti_boot *boot, void *argument) {
  rlim_t bytes = *(rlim_t *)argument;
  struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  if (boot->rank == 1)
    setrlimit(RLIMIT_AS, &limit);
  void *self = NULL, *memory;
  tutti_status status = tt_shm_ops()->open(NULL, boot, &self);
  if (bytes < 16 << 20) {
    CHECK(status == TUTTI_ERR_MEMORY && strstr(tutti_last_error(), "address space") != NULL);
    return;
  }
  CHECK(status == TUTTI_OK && ((tt_shm *)self)->segment->bytes <= bytes / 4);
  CHECK(tt_shm_ops()->alloc(self, bytes, &memory) == TUTTI_ERR_MEMORY);
  tt_shm_ops()->close(self);
}

/* An emulator may ignore the limit. */
static void need_limits(const tutti_boot *boot, void *argument) {
  (void)boot, (void)argument;
  struct rlimit limit = {.rlim_cur = 1 << 30, .rlim_max = 1 << 30};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  _exit(mmap(NULL, (size_t)1 << 31, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED);
}

static void test_limited_address_space_is_respected_or_reported(void **state) {
  (void)state;
  if (SANITIZED)
    skip();
  if (job_run(1, need_limits, NULL) != 0) {
    print_message("SKIPPED: address space is not limited here\n");
    skip();
  }
  rlim_t enough = (rlim_t)1 << 30, too_little = 12 << 20;
  assert_int_equal(job_run(3, limit_memory, &enough), 0);
  assert_int_equal(job_run(3, limit_memory, &too_little), 0);
}

/* From now on what is mapped is locked. limit: 0: what this process has. */
static void lock_all(rlim_t limit) {
  struct rlimit of = {.rlim_cur = limit, .rlim_max = limit};
  if (limit > 0)
    CHECK(setrlimit(RLIMIT_MEMLOCK, &of) == 0 && (geteuid() != 0 || seteuid(65534) == 0)); /* root has none */
  CHECK(mlockall(MCL_FUTURE) == 0);
}

static uint64_t locked_bytes(void) {
  char line[200];
  uint64_t kib = UINT64_MAX;
  FILE *status = fopen("/proc/self/status", "r");
  CHECK(status != NULL);
  while (fgets(line, sizeof line, status) && sscanf(line, "VmLck: %" SCNu64, &kib) != 1)
    ;
  fclose(status);
  CHECK(kib < UINT64_MAX);
  return kib << 10;
}

static void make_locked(const tutti_boot *boot, void *argument) {
  (void)boot;
  rlim_t limit = *(rlim_t *)argument;
  uint64_t wanted = 64 << 20, bytes = wanted;
  void *base;
  int fd;
  tt_shm_segment *segment;
  struct stat file;
  lock_all(limit);
  tutti_status status = tt_shm_reserve(&bytes, &base);
  if (limit > 0) {
    CHECK(status == TUTTI_ERR_MEMORY && strstr(tutti_last_error(), "ulimit -l") != NULL);
    return;
  }
  CHECK(status == TUTTI_OK && bytes == wanted && locked_bytes() < wanted / 4);
  CHECK(tt_shm_create(bytes, 1, &fd) == TUTTI_OK);
  CHECK(tt_shm_map_take(fd, base, bytes, bytes, &segment) == TUTTI_OK && locked_bytes() < wanted / 4);
  CHECK(fstat(fd, &file) == 0 && (uint64_t)file.st_blocks * 512 < wanted / 4);
  tt_shm_unmap(segment);
}

/* This user may lock too little; or an emulator or a sanitizer ignores it. */
static void need_locks(const tutti_boot *boot, void *argument) {
  (void)boot;
  rlim_t limit = *(rlim_t *)argument;
  lock_all(limit);
  void *made = mmap(NULL, 128 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  _exit((made == MAP_FAILED) != (limit > 0));
}

static void test_locked_memory_is_respected_or_reported(void **state) {
  (void)state;
  rlim_t limits[] = {0, 8 << 20};
  for (size_t n = 0; n < TT_COUNT(limits); n++) {
    if (job_run(1, need_locks, &limits[n]) != 0) {
      print_message("SKIPPED: memory cannot be locked so here\n");
      skip();
    }
    assert_int_equal(job_run(1, make_locked, &limits[n]), 0);
  }
}

static void exhaust_descriptors(const tutti_boot *boot, void *argument) {
  (void)argument;
  while (boot->rank == 1 && open("/dev/null", O_RDONLY) >= 0)
    ;
  void *self = NULL;
  CHECK(tt_shm_ops()->open(NULL, boot, &self) == TUTTI_ERR_SYSTEM);
  CHECK(strstr(tutti_last_error(), "socket") != NULL);
}

static void test_exhausted_descriptors_are_everyones_error(void **state) {
  (void)state;
  assert_int_equal(job_run(2, exhaust_descriptors, NULL), 0);
}

static void open_often(const tutti_boot *boot, void *argument) {
  (void)argument;
  for (int n = 0; n < 50; n++)
    tt_shm_ops()->close(open_rank(boot, NULL));
  int fd = dup(0);
  CHECK(fd < 20);
}

static void test_jobs_can_be_opened_again_and_leave_no_descriptor(void **state) {
  (void)state;
  assert_int_equal(job_run(3, open_often, NULL), 0);
  assert_int_equal(job_run(1, open_often, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_slots_arrive_whole_and_in_order),
      cmocka_unit_test(test_sleepers_are_woken),
      cmocka_unit_test(test_killed_rank_is_seen_dead),
      cmocka_unit_test(test_killed_rank_is_seen_dead_without_descriptors),
      cmocka_unit_test(test_rank_that_runs_another_program_is_dead),
      cmocka_unit_test(test_child_that_outlives_a_rank_does_not_keep_it_alive),
      cmocka_unit_test(test_rank_that_loses_its_descriptors_lives_until_it_ends),
      cmocka_unit_test(test_thread_that_leaves_does_not_take_others_for_dead),
      cmocka_unit_test(test_stopped_rank_is_not_dead),
      cmocka_unit_test(test_timeout_names_the_missing_rank),
      cmocka_unit_test(test_timeout_at_the_end_names_the_missing_rank),
      cmocka_unit_test(test_limited_address_space_is_respected_or_reported),
      cmocka_unit_test(test_locked_memory_is_respected_or_reported),
      cmocka_unit_test(test_exhausted_descriptors_are_everyones_error),
      cmocka_unit_test(test_jobs_can_be_opened_again_and_leave_no_descriptor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

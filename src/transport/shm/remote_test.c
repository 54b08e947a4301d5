/* Reading other processes' memory: whole, agreed by all ranks, and errors where a process or its memory is gone.
 * Skipped where the system does not let processes do so. */
#include "support/job.h"
#include "transport/shm/self.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cmocka.h>

#define SECOND ((int64_t)1000000000)
#define LONG_BYTES ((size_t)1100 << 10) /* worth while everywhere */

static const tt_shm_config wanted = {.cma = 1};
static const tutti_transport_ops *ops;

static tt_shm *open_rank(const tutti_boot *boot, const tt_shm_config *config) {
  void *self = NULL;
  CHECK(ops->open(config, boot, &self) == TUTTI_OK);
  return self;
}

/* From rank 0 to all others. */
static tutti_stream *open_down(tt_shm *self, uint64_t id) {
  static const int64_t others[] = {1, 2};
  tutti_stream_spec spec = {.id = id, .source = 0, .readers = others, .reader_count = self->rank_count - 1};
  tutti_stream *stream = NULL;
  CHECK(ops->stream_open(self, &spec, &stream) == TUTTI_OK);
  return stream;
}

static void reserve(tt_shm *self, tutti_stream *stream) {
  tutti_slot_header *header;
  void *data;
  size_t room = 0;
  while (room == 0) {
    CHECK(ops->reserve(self, stream, &header, &data, &room) == TUTTI_OK);
    if (room == 0)
      ops->wait(self, SECOND);
  }
}

/* Data and bytes of the next slot. */
static const void *await(tt_shm *self, tutti_stream *stream, size_t *bytes) {
  const tutti_slot_header *header = NULL;
  const void *data = NULL;
  while (header == NULL) {
    CHECK(ops->peek(self, stream, &header, &data, bytes) == TUTTI_OK);
    if (header == NULL)
      ops->wait(self, SECOND);
  }
  return data;
}

static unsigned char byte_of(size_t message, size_t n) { return (unsigned char)((message + 1) * 31 + n * 7 + n / 251); }

/* ---- what works ---- */

static void need_permission(const tutti_boot *boot, void *argument) {
  (void)argument;
  tt_shm *self = open_rank(boot, &wanted);
  bool remote = self->remote;
  ops->close(self);
  _exit(remote ? 0 : 3);
}

static void skip_unless_permitted(void) {
  ops = tt_shm_ops();
  if (job_run(2, need_permission, NULL) == 0)
    return;
  print_message("SKIPPED: this system does not let processes read each other's memory\n");
  skip();
}

enum { MESSAGES = 50 };

static void write_messages(tt_shm *self, tutti_stream *stream, unsigned char *memory) {
  for (size_t m = 0; m < MESSAGES; m++) {
    while (ops->unreleased(self, stream) > 0)
      ops->wait(self, SECOND);
    for (size_t n = 0; n < LONG_BYTES; n++)
      memory[n] = byte_of(m, n);
    reserve(self, stream);
    CHECK(ops->refer(self, stream, memory, LONG_BYTES - m, 1) == TUTTI_OK);
  }
  while (ops->unreleased(self, stream) > 0)
    ops->wait(self, SECOND);
}

static void read_messages(tt_shm *self, tutti_stream *stream, unsigned char *memory) {
  for (size_t m = 0; m < MESSAGES; m++) {
    size_t bytes = 0;
    CHECK(await(self, stream, &bytes) == NULL && bytes == LONG_BYTES - m);
    size_t first = bytes / 3;
    CHECK(ops->fetch(self, stream, 0, memory, first) == TUTTI_OK);
    CHECK(ops->fetch(self, stream, first, memory + first, bytes - first) == TUTTI_OK);
    for (size_t n = 0; n < bytes; n++)
      CHECK(memory[n] == byte_of(m, n));
    CHECK(ops->release(self, stream) == TUTTI_OK);
  }
}

static void move_messages(const tutti_boot *boot, void *argument) {
  (void)argument;
  tt_shm *self = open_rank(boot, &wanted);
  tutti_stream *stream = open_down(self, 1);
  unsigned char *memory = malloc(LONG_BYTES);
  CHECK(memory != NULL && self->remote);
  if (boot->rank == 0)
    write_messages(self, stream, memory);
  else
    read_messages(self, stream, memory);
  free(memory);
  ops->close(self);
}

static void test_long_messages_are_read_where_they_lie(void **state) {
  (void)state;
  skip_unless_permitted();
  assert_int_equal(job_run(3, move_messages, NULL), 0);
}

/* ---- what all ranks have to agree on ---- */

/* Makes process_vm_readv fail in this process. false: the system, or an emulator of it, has no filters. */
static bool forbid(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void need_filters(const tutti_boot *boot, void *argument) {
  (void)boot, (void)argument;
  _exit(!forbid());
}

static void refuse(const tutti_boot *boot, void *argument) {
  bool forbids = *(bool *)argument;
  tt_shm_config unwanted = {.cma = -1};
  if (forbids && boot->rank == 1)
    CHECK(forbid());
  tt_shm *self = open_rank(boot, !forbids && boot->rank == 1 ? &unwanted : &wanted);
  CHECK(!self->remote && ops->refer_least(self) == SIZE_MAX);
  tutti_stream *stream = open_down(self, 1);
  static unsigned char memory[LONG_BYTES];
  if (boot->rank == 0) {
    reserve(self, stream);
    CHECK(ops->refer(self, stream, memory, LONG_BYTES, 1) == TUTTI_ERR_UNSUPPORTED);
  }
  ops->close(self);
}

static void test_all_ranks_copy_where_one_may_not_read(void **state) {
  (void)state;
  bool forbids = true;
  if (job_run(1, need_filters, NULL) != 0) {
    print_message("SKIPPED: no system call can be forbidden here\n");
    skip();
  }
  ops = tt_shm_ops();
  assert_int_equal(job_run(3, refuse, &forbids), 0);
}

static void test_all_ranks_copy_where_one_does_not_want_to_read(void **state) {
  (void)state;
  bool forbids = false;
  ops = tt_shm_ops();
  assert_int_equal(job_run(3, refuse, &forbids), 0);
}

/* From which length on each rank of three refers. */
static void ask_all(const tutti_boot *boot, const tt_shm_config *config, uint64_t *all) {
  tt_shm *self = open_rank(boot, config);
  uint64_t least = ops->refer_least(self);
  char missing[100];
  CHECK(boot->allgather(boot->user, &least, all, sizeof least, 60 * SECOND, missing, sizeof missing) == TUTTI_OK);
  ops->close(self);
}

/* Rank 2 says that ranks share cores: what is too short for it is so for all. */
static void measure(const tutti_boot *boot, void *argument) {
  (void)argument;
  tt_shm_config config = wanted;
  uint64_t all[3];
  config.crowded = boot->rank == 2;
  ask_all(boot, &config, all);
  CHECK(all[0] >= 32 << 10 && all[0] <= LONG_BYTES && all[1] == all[0] && all[2] == all[0]);
}

/* Rank 2 is alone on its node and has nobody to measure with. */
static void measure_apart(const tutti_boot *boot, void *argument) {
  (void)argument;
  static const int64_t head_of[] = {0, 0, 2};
  tt_shm_config config = wanted;
  uint64_t all[3];
  config.head_of = head_of;
  ask_all(boot, &config, all);
  CHECK(all[0] > 0 && all[0] == all[1] && all[2] == 0);
}

static void test_all_ranks_refer_from_the_same_length_on(void **state) {
  (void)state;
  skip_unless_permitted();
  assert_int_equal(job_run(3, measure, NULL), 0);
  assert_int_equal(job_run(3, measure_apart, NULL), 0);
}

/* ---- what is gone ---- */

static void die_before_it_is_read(const tutti_boot *boot, void *argument) {
  (void)argument;
  static unsigned char memory[LONG_BYTES];
  tt_shm *self = open_rank(boot, &wanted);
  tutti_stream *stream = open_down(self, 1);
  if (boot->rank == 0) {
    reserve(self, stream);
    CHECK(ops->refer(self, stream, memory, LONG_BYTES, 1) == TUTTI_OK);
    raise(SIGKILL);
  }
  size_t bytes;
  while (ops->peer_dead(self, 0) != 1)
    ops->wait(self, SECOND);
  CHECK(await(self, stream, &bytes) == NULL);
  CHECK(ops->fetch(self, stream, 0, memory, bytes) == TUTTI_ERR_PEER && strstr(tutti_last_error(), "rank 0") != NULL);
  ops->close(self);
}

static void test_dead_writer_is_an_error(void **state) {
  (void)state;
  skip_unless_permitted();
  assert_int_equal(job_run(2, die_before_it_is_read, NULL), 1);
}

/* argument: a pipe that nobody writes to. The number of the process stays, its memory does not. */
static void run_another_program(const tutti_boot *boot, void *argument) {
  const int *open_end = argument;
  static unsigned char memory[LONG_BYTES];
  size_t bytes;
  char program[64];
  tt_shm *self = open_rank(boot, &wanted);
  tutti_stream *stream = open_down(self, 1);
  if (boot->rank == 0) {
    reserve(self, stream);
    CHECK(ops->refer(self, stream, memory, LONG_BYTES, 1) == TUTTI_OK);
    dup2(open_end[0], STDIN_FILENO);
    execlp("cat", "cat", (char *)NULL);
    _exit(127);
  }
  CHECK(await(self, stream, &bytes) == NULL);
  snprintf(program, sizeof program, "/proc/%d/comm", tt_shm_rank_of(self, 0)->pid);
  for (char name[16] = ""; strcmp(name, "cat\n") != 0;) {
    FILE *file = fopen(program, "r");
    CHECK(file != NULL && fgets(name, sizeof name, file) != NULL);
    fclose(file);
  }
  CHECK(ops->fetch(self, stream, 0, memory, bytes) == TUTTI_ERR_PEER && strstr(tutti_last_error(), "rank 0") != NULL);
  kill(tt_shm_rank_of(self, 0)->pid, SIGKILL);
  ops->close(self);
}

static void test_writer_that_runs_another_program_is_an_error(void **state) {
  (void)state;
  skip_unless_permitted();
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  assert_int_equal(job_run(2, run_another_program, ends), 1);
  close(ends[0]);
  close(ends[1]);
}

/* The writer takes the memory's end, or all of it, away before it says that it can be read. */
static void unmap_before_it_is_read(const tutti_boot *boot, void *argument) {
  size_t left = *(size_t *)argument, bytes;
  tt_shm *self = open_rank(boot, &wanted);
  tutti_stream *stream = open_down(self, 1), *go = open_down(self, 2);
  unsigned char *memory = mmap(NULL, LONG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  if (boot->rank == 0) {
    reserve(self, stream);
    CHECK(ops->refer(self, stream, memory, LONG_BYTES, 1) == TUTTI_OK);
    CHECK(munmap(memory + left, LONG_BYTES - left) == 0);
    reserve(self, go);
    CHECK(ops->commit(self, go, 8) == TUTTI_OK);
    while (ops->unreleased(self, go) > 0)
      ops->wait(self, SECOND);
  } else {
    await(self, go, &bytes);
    CHECK(await(self, stream, &bytes) == NULL);
    CHECK(ops->fetch(self, stream, 0, memory, bytes) == TUTTI_ERR_SYSTEM &&
          strstr(tutti_last_error(), "rank 0") != NULL);
    CHECK(ops->release(self, go) == TUTTI_OK);
  }
  ops->close(self);
}

static void test_memory_that_is_gone_is_an_error(void **state) {
  (void)state;
  skip_unless_permitted();
  size_t left[] = {0, 64 << 10};
  for (size_t n = 0; n < sizeof left / sizeof *left; n++)
    assert_int_equal(job_run(2, unmap_before_it_is_read, &left[n]), 0);
}

static void misuse(const tutti_boot *boot, void *argument) {
  (void)argument;
  static unsigned char memory[LONG_BYTES];
  const size_t few = 64;
  size_t bytes;
  tt_shm *self = open_rank(boot, &wanted);
  tutti_stream *stream = open_down(self, 1);
  if (boot->rank == 0) {
    reserve(self, stream);
    CHECK(ops->refer(self, stream, memory, LONG_BYTES, 0) == TUTTI_ERR_UNSUPPORTED); /* not said: anywhere */
    CHECK(ops->refer(self, stream, memory, few, 1) == TUTTI_ERR_UNSUPPORTED);        /* not worth it */
    CHECK(ops->commit(self, stream, few) == TUTTI_OK);
    reserve(self, stream);
    CHECK(ops->refer(self, stream, memory, LONG_BYTES, 1) == TUTTI_OK);
    while (ops->unreleased(self, stream) > 0)
      ops->wait(self, SECOND);
  } else {
    CHECK(await(self, stream, &bytes) != NULL);
    CHECK(ops->fetch(self, stream, 0, memory, bytes) == TUTTI_ERR_ARGUMENT);
    CHECK(ops->release(self, stream) == TUTTI_OK);
    CHECK(await(self, stream, &bytes) == NULL);
    CHECK(ops->fetch(self, stream, 1, memory, LONG_BYTES) == TUTTI_ERR_ARGUMENT);
    CHECK(ops->fetch(self, stream, LONG_BYTES, memory, 0) == TUTTI_OK);
    CHECK(ops->release(self, stream) == TUTTI_OK);
  }
  ops->close(self);
}

static void test_fetch_stays_within_what_was_referred_to(void **state) {
  (void)state;
  skip_unless_permitted();
  assert_int_equal(job_run(2, misuse, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_messages_are_read_where_they_lie),
      cmocka_unit_test(test_all_ranks_copy_where_one_may_not_read),
      cmocka_unit_test(test_all_ranks_copy_where_one_does_not_want_to_read),
      cmocka_unit_test(test_all_ranks_refer_from_the_same_length_on),
      cmocka_unit_test(test_dead_writer_is_an_error),
      cmocka_unit_test(test_writer_that_runs_another_program_is_an_error),
      cmocka_unit_test(test_memory_that_is_gone_is_an_error),
      cmocka_unit_test(test_fetch_stays_within_what_was_referred_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

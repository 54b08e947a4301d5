/* bench/loop.h - the measuring loop of a worker, the same text for tutti and for both MPIs.
 *
 * A library gives six functions; everything that is timed, filled and compared is here, so that what differs between
 * two libraries is the library. A batch is: the library's barrier, clock, `calls` calls, clock. Roots rotate over all
 * calls.
 *
 * Values: element i of rank r is ((i mod P) * (2r + 3)) mod P with P = 1021 prime: they depend on rank and index, shift
 * by every power of two, and sums of them over thousands of ranks are exact in float32. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include "protocol.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BENCH_PERIOD 1021

typedef struct bench_point {
  const bench_command *command;
  int32_t rank, size;
  int64_t count;      /* elements of a call: of the vector, or of one rank's part */
  float *in, *out;    /* room for the whole vector each */
  uint64_t next_root; /* calls so far, not reduced */
} bench_point;

/* What a library has to offer. Each returns a bench_result and, on failure, writes the reason into text. */
typedef struct bench_library {
  int (*open)(int32_t *rank, int32_t *size, char *text); /* text: name and version */
  int (*prepare)(const bench_point *point, char *text);  /* parameters, requests */
  int (*call)(const bench_point *point, int root, char *text);
  int (*barrier)(char *text);
  void *(*alloc)(size_t bytes); /* NULL: the library has no allocator of its own */
  void (*free)(void *memory);
  void (*close)(void);
} bench_library;

static int64_t bench_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- values ---- */

static float bench_value(int64_t rank, int64_t index) {
  return (float)(index % BENCH_PERIOD * ((2 * rank + 3) % BENCH_PERIOD) % BENCH_PERIOD);
}

/* One period of rank's values, or of the sum over all ranks (rank = -1). */
static void bench_values(int32_t rank, int32_t size, float value[BENCH_PERIOD]) {
  for (int64_t i = 0; i < BENCH_PERIOD; i++) {
    value[i] = rank >= 0 ? bench_value(rank, i) : 0;
    for (int64_t r = 0; rank < 0 && r < size; r++)
      value[i] += bench_value(r, i);
  }
}

/* Elements `first`.. of a vector: written, or compared; the first that differs, or -1. */
static int64_t bench_fill(float *data, int64_t count, const float value[BENCH_PERIOD]) {
  for (int64_t i = 0, at = 0; i < count; i++, at = at + 1 == BENCH_PERIOD ? 0 : at + 1)
    data[i] = value[at];
  return count;
}

static int64_t bench_compare(const float *data, int64_t first, int64_t count, const float value[BENCH_PERIOD]) {
  for (int64_t i = 0, at = first % BENCH_PERIOD; i < count; i++, at = at + 1 == BENCH_PERIOD ? 0 : at + 1)
    if (data[i] != value[at])
      return i;
  return -1;
}

/* ---- a point's buffers ---- */

static int64_t bench_count(const bench_command *command, int32_t size) {
  int64_t count = command->bytes / (int64_t)sizeof(float);
  return command->collective == BENCH_ALLGATHER || command->collective == BENCH_REDUCE_SCATTER ? count / size : count;
}

static void *bench_memory(const bench_library *library, const bench_command *command) {
  size_t bytes = command->bytes > 0 ? (size_t)command->bytes : 64;
  if (command->shared && library->alloc)
    return library->alloc(bytes);
  void *memory = NULL;
  return posix_memalign(&memory, 4096, bytes) ? NULL : memory;
}

static void bench_release(const bench_library *library, const bench_command *command, void *memory) {
  if (command->shared && library->alloc && memory)
    library->free(memory);
  else
    free(memory);
}

static int bench_prepare(const bench_library *library, bench_point *point, char *text) {
  float value[BENCH_PERIOD];
  point->count = bench_count(point->command, point->size);
  point->next_root = 0;
  point->in = bench_memory(library, point->command);
  point->out = bench_memory(library, point->command);
  if (!point->in || !point->out)
    return snprintf(text, BENCH_TEXT, "no memory for two buffers of %lld bytes", (long long)point->command->bytes),
           BENCH_FAILED;
  int64_t elements = point->command->bytes / (int64_t)sizeof(float);
  bench_values(point->rank, point->size, value);
  bench_fill(point->in, elements, value);
  memset(point->out, 0, (size_t)point->command->bytes);
  return library->prepare(point, text);
}

static int bench_wrong(const bench_point *point, const float *at, int64_t index, float expected, char *text) {
  snprintf(text, BENCH_TEXT, "rank %d: element %lld is %.9g, expected %.9g", point->rank,
           (long long)(at - point->out) + index, (double)at[index], (double)expected);
  return BENCH_WRONG_DATA;
}

/* Compares `count` elements at `at` with elements first.. of rank's values (-1: the sum). */
static int bench_check_part(const bench_point *point, const float *at, int32_t rank, int64_t first, char *text) {
  float value[BENCH_PERIOD];
  bench_values(rank, point->size, value);
  int64_t wrong = bench_compare(at, first, point->count, value);
  return wrong < 0 ? BENCH_OK : bench_wrong(point, at, wrong, value[(first + wrong) % BENCH_PERIOD], text);
}

static int bench_check(const bench_point *point, char *text) {
  int32_t last_root = (int32_t)((point->next_root - 1) % (uint64_t)point->size);
  int result = BENCH_OK;
  switch (point->command->collective) {
  case BENCH_ALLREDUCE:
    return bench_check_part(point, point->out, -1, 0, text);
  case BENCH_BROADCAST:
    return point->rank == last_root ? BENCH_OK : bench_check_part(point, point->out, last_root, 0, text);
  case BENCH_REDUCE_SCATTER:
    return bench_check_part(point, point->out, -1, point->rank * point->count, text);
  case BENCH_ALLGATHER:
    for (int32_t r = 0; r < point->size && result == BENCH_OK; r++)
      result = bench_check_part(point, point->out + r * point->count, r, 0, text);
    return result;
  default:
    return BENCH_OK;
  }
}

/* ---- what is timed ---- */

static int bench_batch(const bench_library *library, bench_point *point, int64_t calls, int64_t *elapsed_ns,
                       char *text) {
  uint64_t size = (uint64_t)point->size;
  int root = (int)(point->next_root % size);
  int result = library->barrier(text);
  int64_t start_ns = bench_clock_ns();
  for (int64_t i = 0; i < calls && result == BENCH_OK; i++) {
    result = library->call(point, root, text);
    root = root + 1 == point->size ? 0 : root + 1;
  }
  *elapsed_ns = bench_clock_ns() - start_ns;
  point->next_root += (uint64_t)calls;
  return result;
}

/* A first batch, shorter and not timed, brings code and data back into the caches. */
static int bench_run(const bench_library *library, bench_point *point, const bench_command *command,
                     bench_reply *reply) {
  int64_t ignored;
  if (command->check)
    memset(point->out, 0xA5, (size_t)command->bytes);
  int result = bench_batch(library, point, command->calls / 8 + 1, &ignored, reply->text);
  for (; result == BENCH_OK && reply->batches < command->batches; reply->batches++)
    result = bench_batch(library, point, command->calls, &reply->batch_ns[reply->batches], reply->text);
  if (result == BENCH_OK && command->check)
    result = bench_check(point, reply->text);
  return result;
}

/* The bound: every core that is told so copies the vector at the same time. */
static int bench_copy(bench_point *point, const bench_command *command, bench_reply *reply) {
  while (bench_clock_ns() < command->start_ns)
    ;
  for (; reply->batches < command->batches; reply->batches++) {
    int64_t start_ns = bench_clock_ns();
    for (int64_t i = 0; i < command->calls; i++) {
      memcpy(point->out, point->in, (size_t)command->bytes);
      __asm__ volatile("" ::: "memory");
    }
    reply->batch_ns[reply->batches] = bench_clock_ns() - start_ns;
  }
  return BENCH_OK;
}

/* ---- the worker ---- */

/* `address`: name of the driver's socket in the abstract namespace. Returns the socket, or -1. */
static int bench_connect(const char *address) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int link = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  size_t length = strnlen(address, sizeof name.sun_path - 1);
  memcpy(name.sun_path + 1, address, length);
  socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
  if (link >= 0 && connect(link, (const struct sockaddr *)&name, bytes) == 0)
    return link;
  perror("tutti bench worker: the driver's socket");
  return -1;
}

/* The next packet; 0 when the driver is gone. */
static int bench_receive(int link, void *packet, size_t bytes) {
  ssize_t got;
  do
    got = recv(link, packet, bytes, 0);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)bytes;
}

static int bench_send(int link, const void *packet, size_t bytes) {
  return send(link, packet, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static void bench_release_both(const bench_library *library, bench_point *point, const bench_command *command) {
  bench_release(library, command, point->in);
  bench_release(library, command, point->out);
  point->in = point->out = NULL;
}

static void bench_obey(const bench_library *library, bench_point *point, bench_command *current,
                       const bench_command *command, bench_reply *reply) {
  if (command->verb == BENCH_PREPARE) {
    bench_release_both(library, point, current);
    *current = *command;
    reply->result = bench_prepare(library, point, reply->text);
  } else if (command->verb == BENCH_COPY) {
    reply->result = bench_copy(point, command, reply);
  } else {
    reply->result = bench_run(library, point, command, reply);
  }
}

/* Reads commands until the driver says stop (returns 1) or is gone (returns 0). */
static int bench_serve(const bench_library *library, int link, bench_point *point) {
  static bench_command current, command;
  static bench_reply reply;
  point->command = &current;
  while (bench_receive(link, &command, sizeof command)) {
    if (command.verb == BENCH_STOP)
      return bench_release_both(library, point, &current), 1;
    memset(&reply, 0, sizeof reply);
    bench_obey(library, point, &current, &command, &reply);
    if (!bench_send(link, &reply, sizeof reply))
      return 0;
  }
  return 0;
}

static void bench_bind(int32_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/* argv: program, address, group, and the environment variable in which the launcher put the rank. */
static int bench_worker_main(const bench_library *library, int argc, char **argv) {
  const char *rank = argc == 4 ? getenv(argv[3]) : NULL;
  bench_point point = {0};
  bench_reply ready = {0};
  bench_welcome welcome;
  if (!rank)
    return fprintf(stderr, "tutti bench worker: started by `tutti bench` only\n"), 2;
  bench_hello hello = {BENCH_MAGIC, atoi(argv[2]), atoi(rank)};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int link = bench_connect(argv[1]);
  if (link < 0 || !bench_send(link, &hello, sizeof hello) || !bench_receive(link, &welcome, sizeof welcome))
    return 1;
  bench_bind(welcome.cpu);
  ready.result = library->open(&point.rank, &point.size, ready.text);
  if (!bench_send(link, &ready, sizeof ready) || !bench_serve(library, link, &point))
    _exit(1); /* a library whose peers may be gone does not leave politely */
  library->close();
  return 0;
}

#endif

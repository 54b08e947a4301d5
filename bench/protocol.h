/* bench/protocol.h - what `tutti bench` and its workers say to each other.
 *
 * The driver starts one group of ranks a library and keeps it alive. Each rank connects to the driver's Unix socket
 * (SOCK_SEQPACKET, one message a packet), so an idle rank sleeps in read() whatever its library would do while it
 * waits:
 *
 *     worker   hello          ready          reply          reply
 *     driver          welcome        command        command        stop
 *
 * A worker whose driver is gone reads the end of the stream and exits. */
#ifndef BENCH_PROTOCOL_H
#define BENCH_PROTOCOL_H

#include <stdint.h>

#define BENCH_MAGIC 0x54555454u
#define BENCH_BATCHES 64 /* most batches a command */
#define BENCH_TEXT 512

typedef enum bench_collective {
  BENCH_ALLREDUCE,
  BENCH_BROADCAST,
  BENCH_ALLGATHER,
  BENCH_REDUCE_SCATTER,
  BENCH_BARRIER,
  BENCH_COLLECTIVE_COUNT
} bench_collective;

typedef enum bench_result {
  BENCH_OK,
  BENCH_WRONG_DATA, /* a check found a wrong element */
  BENCH_NO_PLAN,    /* the parameters make no plan for this collective; the library still works */
  BENCH_FAILED      /* anything else; the group is of no more use */
} bench_result;

typedef struct bench_hello {
  uint32_t magic;
  int32_t group, rank;
} bench_hello;

typedef struct bench_welcome {
  int32_t cpu; /* where this rank runs, set before its library starts */
} bench_welcome;

typedef enum bench_verb {
  BENCH_PREPARE, /* new buffers, filled; parameters set */
  BENCH_RUN,     /* batches of the collective, a library barrier before each */
  BENCH_COPY,    /* batches of memcpy, all that were told start at start_ns; no library call */
  BENCH_STOP
} bench_verb;

typedef enum bench_mode { BENCH_BLOCKING, BENCH_PERSISTENT } bench_mode;

typedef struct bench_command {
  int32_t verb;       /* bench_verb */
  int32_t collective; /* bench_collective */
  int32_t mode;       /* bench_mode */
  int32_t shared;     /* buffers from the library's own allocator */
  int32_t check;      /* wipe what is written before the first batch, compare it after the last */
  int32_t batches;    /* <= BENCH_BATCHES */
  int64_t calls;      /* in a batch */
  int64_t bytes;      /* of the whole vector */
  int64_t start_ns;   /* monotonic clock; BENCH_COPY */
  char params[BENCH_TEXT];
} bench_command;

typedef struct bench_reply {
  int32_t result; /* bench_result */
  int32_t batches;
  int64_t batch_ns[BENCH_BATCHES];
  char text[BENCH_TEXT]; /* an error, or at first the library and its version */
} bench_reply;

#endif

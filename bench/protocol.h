/* bench/protocol.h - what `tutti bench` and its workers say to each other.
 *
 * The driver starts one group of ranks a library and keeps it alive. Each rank connects to the driver's Unix socket
 * (SOCK_SEQPACKET, one message a packet), so an idle rank sleeps in read() whatever its library would do while it
 * waits:
 *
 *     worker   hello          ready          reply          reply
 *     driver          welcome        command        command        stop
 *
 * A worker whose driver is gone reads the end of the stream and exits. Of tutti's headers a worker uses names only. */
#ifndef BENCH_PROTOCOL_H
#define BENCH_PROTOCOL_H

#include "levels.h"

#include "compose/compose.h"

#include <tutti/types.h>

#include <stdint.h>
#include <string.h>

#define BENCH_MAGIC 0x54555455u
#define BENCH_BATCHES 64 /* most batches a command */
#define BENCH_TEXT 512
#define BENCH_RAN 256
#define BENCH_PIECES 32 /* of the computation of an overlapped call */

typedef enum bench_result {
  BENCH_OK,
  BENCH_WRONG_DATA, /* a check found a wrong element */
  BENCH_NO_PLAN,    /* the parameters make no plan for this collective; the library still works */
  BENCH_LACKS,      /* the library has no such type or operator; it still works */
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
  BENCH_WATCH,   /* the same, noting where the time goes: a little slower */
  BENCH_COPY,    /* batches of memcpy, all that were told start at start_ns; no library call */
  BENCH_STOP
} bench_verb;

typedef enum bench_mode { BENCH_BLOCKING, BENCH_PERSISTENT, BENCH_NONBLOCKING } bench_mode;

/* What a call of a nonblocking batch is made of: it is posted, computed beside, tested, and waited for. */
typedef enum bench_part { BENCH_POST = 1, BENCH_COMPUTE = 2, BENCH_TEST = 4 } bench_part;

typedef struct bench_command {
  int32_t verb;       /* bench_verb */
  int32_t collective; /* tt_collective */
  int32_t type, op;   /* tutti_type, tutti_op */
  int32_t sparse;     /* of all-to-allv and -w: bench/layout.h */
  int32_t mode;       /* bench_mode */
  int32_t parts;      /* bench_part, of nonblocking batches */
  int32_t apart;      /* a barrier before each call, which is not timed */
  int32_t shared;     /* buffers from the library's own allocator */
  int32_t check;      /* wipe what is written before the first batch, compare it after the last */
  int32_t batches;    /* <= BENCH_BATCHES */
  int32_t cores;      /* that ranks share: rank r runs on core r mod cores */
  int32_t sharing;    /* ranks on a core, at most */
  int64_t calls;      /* in a batch */
  int64_t bounded;    /* BENCH_COPY: calls in a batch of what is bounded */
  int64_t bytes;      /* the stated size */
  int64_t steps;      /* of computation, a call */
  int64_t start_ns;   /* monotonic clock; BENCH_COPY */
  double delay;       /* by this share of their time calls are made longer; 0: not */
  char params[BENCH_TEXT];
} bench_command;

/* What the library says of the call that it made last; empty: nothing. */
typedef struct bench_ran {
  char params[BENCH_RAN];
  char media[64]; /* by which the rank sent: "lent+slot" */
} bench_ran;

typedef struct bench_reply {
  int32_t result; /* bench_result */
  int32_t batches;
  int64_t elapsed_ns; /* since the point began; in jobs without a driver */
  int64_t batch_ns[BENCH_BATCHES];
  int64_t begin_ns[BENCH_BATCHES]; /* where all ranks have one clock and a batch is a call that is apart; else 0 */
  bench_spent spent;               /* where it was asked for */
  bench_ran ran;                   /* in the batches */
  char text[BENCH_TEXT];           /* an error, or at first the library and its version */
} bench_reply;

/* What all ranks have replied. */
typedef struct bench_answer {
  int result; /* the worst bench_result */
  int batch_count;
  int64_t elapsed_ns;                /* the longest */
  int64_t slowest_ns[BENCH_BATCHES]; /* of each batch, the longest time over the ranks; or, where begin_ns says when
                                      * it began, from the first rank's beginning to the last one's end */
  int64_t first_ns[BENCH_BATCHES];   /* the first one's beginning; 0: unknown */
  bench_levels levels;               /* of those that say it */
  bench_ran ran;                     /* the media of all ranks */
  char text[BENCH_TEXT];             /* of the first rank with that result that has one */
} bench_answer;

/* Adds those words of `media` that are not there yet. */
static inline void bench_ran_add(bench_ran *all, const bench_ran *more) {
  const char *media = more->media;
  if (!all->params[0])
    memcpy(all->params, more->params, sizeof all->params);
  for (size_t length; *media; media += length + (media[length] == '+')) {
    char word[sizeof all->media];
    size_t used = strlen(all->media);
    length = strcspn(media, "+");
    snprintf(word, sizeof word, "%.*s", (int)length, media);
    if (!strstr(all->media, word))
      snprintf(all->media + used, sizeof all->media - used, "%s%s", used ? "+" : "", word);
  }
}

static inline void bench_answer_add_batch(bench_answer *answer, const bench_reply *reply, int b) {
  int64_t begin_ns = reply->begin_ns[b], first_ns = answer->first_ns[b];
  int64_t last_ns = first_ns + answer->slowest_ns[b], end_ns = begin_ns + reply->batch_ns[b];
  answer->first_ns[b] = first_ns == 0 || begin_ns < first_ns ? begin_ns : first_ns;
  answer->slowest_ns[b] = (end_ns > last_ns ? end_ns : last_ns) - answer->first_ns[b];
}

static inline void bench_answer_add(bench_answer *answer, const bench_reply *reply) {
  if (reply->result > answer->result || answer->text[0] == '\0') {
    answer->result = reply->result > answer->result ? reply->result : answer->result;
    memcpy(answer->text, reply->text, sizeof answer->text);
  }
  bench_levels_add(&answer->levels, &reply->spent);
  bench_ran_add(&answer->ran, &reply->ran);
  answer->batch_count = reply->batches;
  answer->elapsed_ns = reply->elapsed_ns > answer->elapsed_ns ? reply->elapsed_ns : answer->elapsed_ns;
  for (int b = 0; b < reply->batches; b++)
    bench_answer_add_batch(answer, reply, b);
}

#endif

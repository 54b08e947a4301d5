/* bench/loop.h - the measuring loop of a worker, the same text for tutti and for both MPIs.
 *
 * A library gives a few functions; everything that is timed, filled and compared is here, so that what differs between
 * two libraries is the library. A batch is: the library's barrier, clock, `calls` calls, clock. Ranks that only send in
 * a call may run ahead to the next; calls that are apart have a barrier each. Roots rotate over all that is timed. Who
 * gives what to whom is in layout.h, which values that are in values.h. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include "layout.h"
#include "place.h"
#include "protocol.h"
#include "spin.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_point {
  const bench_command *command;
  int32_t rank, size;
  bench_problem problem;
  bench_layout layout;
  size_t element_bytes;
  size_t out_bytes; /* of that buffer */
  void *copy[2];    /* of the copy bound: from, to */
  size_t copy_bytes;
  void *in, *out;
  uint64_t next_root;                /* timed calls so far, not reduced */
  bench_spinner spin;                /* where calls are to be longer */
  int64_t watched_calls, watched_ns; /* so far, and what they took */
} bench_point;

/* out[i] = left[i] (op) right[i]; out may be left. past: past the caches. */
typedef void bench_kernel(const void *left, const void *right, void *out, size_t count, bool past);

/* What a library has to offer. Each returns a bench_result and, on failure, writes the reason into text. */
typedef struct bench_library {
  int (*open)(int32_t *rank, int32_t *size, char *text); /* text: name and version */
  int (*prepare)(const bench_point *point, char *text);  /* parameters, requests */
  int (*call)(const bench_point *point, int root, char *text);
  int (*post)(const bench_point *point, int root, char *text); /* the non-blocking call, one at a time */
  int (*test)(char *text);
  int (*wait)(char *text);
  int (*barrier)(char *text);
  void (*release)(void);        /* what prepare has made, before the buffers go; NULL: nothing */
  void *(*alloc)(size_t bytes); /* NULL: the library has no allocator of its own */
  void (*free)(void *memory);
  /* The kernel that combines operands of that type, for the bound; NULL: it has none that can be called. */
  bench_kernel *(*kernel)(int32_t type, int32_t op);
  void (*close)(void);
  /* Notes where the time of calls goes, from now on or no longer; and gives what it has noted since it gave it last.
   * Both NULL: the library cannot tell. */
  int (*watch)(bool on, char *text);
  void (*spent)(bench_spent *spent);
  void (*ran)(bench_ran *ran); /* of the last call; NULL: the library does not say */
  /* Of jobs that are no driver's (ranks.h): every rank's bytes, in the order of ranks, to every rank. */
  int (*gather)(const void *mine, void *all, size_t bytes, char *text);
  /* The NICs that the library uses, with commas, and the part of its host that this rank belongs to. NULL: all that
   * lead to other machines; hosts are not divided. */
  void (*place)(int32_t rank, int32_t size, char nics[BENCH_LIST], int64_t *part);
} bench_library;

/* ---- a point's buffers ---- */

static inline void *bench_memory(const bench_library *library, const bench_point *point, size_t bytes) {
  if (point->command->shared && library->alloc)
    return library->alloc(bytes);
  void *memory = NULL;
  return posix_memalign(&memory, 4096, bytes) ? NULL : memory;
}

static inline void bench_release(const bench_library *library, const bench_command *command, void *memory) {
  if (command->shared && library->alloc && memory)
    library->free(memory);
  else
    free(memory);
}

static inline void bench_release_all(const bench_library *library, bench_point *point) {
  if (library->release)
    library->release();
  bench_release(library, point->command, point->in);
  bench_release(library, point->command, point->out);
  bench_layout_finish(&point->layout);
  for (int side = 0; side < 2; side++) {
    free(point->copy[side]);
    point->copy[side] = NULL;
  }
  point->in = point->out = NULL;
  point->layout = (bench_layout){0};
}

static inline bench_arithmetic bench_arithmetic_of(const bench_point *point) {
  bool sums = bench_form_of(point->command->collective).sums;
  return (bench_arithmetic){(tutti_type)point->command->type, sums ? point->command->op : BENCH_MOVED, point->size};
}

static inline bool bench_make_room(const bench_library *library, bench_point *point) {
  const bench_command *command = point->command;
  const bench_layout *layout = &point->layout;
  point->element_bytes = bench_types[command->type].size;
  point->problem = bench_problem_of((tt_collective)command->collective, point->size, command->sparse,
                                    command->bytes / (int64_t)point->element_bytes);
  if (!bench_layout_init(&point->problem, point->rank, &point->layout))
    return false;
  size_t in_bytes = (size_t)(layout->in_elements > 0 ? layout->in_elements : 1) * point->element_bytes;
  point->out_bytes = (size_t)(layout->out_elements > 0 ? layout->out_elements : 1) * point->element_bytes;
  point->in = bench_memory(library, point, in_bytes); /* as long as the call says, as those of programs are */
  point->out = bench_memory(library, point, point->out_bytes);
  return point->in && point->out;
}

static inline int bench_prepare(const bench_library *library, bench_point *point, char *text) {
  static bench_period period;
  bench_arithmetic with = bench_arithmetic_of(point);
  point->next_root = 0;
  if (!bench_make_room(library, point))
    return snprintf(text, BENCH_TEXT, "no memory for buffers, one of them of %zu bytes", point->out_bytes),
           BENCH_FAILED;
  bench_period_make(&with, point->rank, point->rank, &period);
  bench_fill(point->in, point->layout.in_elements, &period);
  memset(point->out, 0, point->out_bytes);
  if (point->command->delay > 0)
    point->spin = bench_spinner_make();
  return library->prepare(point, text);
}

/* ---- what has to be there ---- */

static inline int bench_wrong(const bench_point *point, int64_t at, bench_number expected, char *text) {
  const unsigned char *element = (const unsigned char *)point->out + (size_t)at * point->element_bytes;
  int used = snprintf(text, BENCH_TEXT, "rank %d: element %" PRId64 " is", point->rank, at);
  for (size_t b = point->element_bytes; b-- > 0;)
    used += snprintf(text + used, BENCH_TEXT - (size_t)used, "%s%02x", b + 1 == point->element_bytes ? " 0x" : "",
                     element[b]);
  snprintf(text + used, BENCH_TEXT - (size_t)used, ", expected %.9Lg", expected.value);
  return BENCH_WRONG_DATA;
}

/* Compares `count` elements at `at` with elements `begin`.. of a rank's vector, or of what several come to. */
static inline int bench_check_block(const bench_point *point, int64_t at, int64_t count, int32_t first, int32_t last,
                                    int64_t begin, char *text) {
  static bench_period period;
  bench_arithmetic with = bench_arithmetic_of(point);
  bench_period_make(&with, first, last, &period);
  int64_t wrong = bench_compare((const char *)point->out + (size_t)at * point->element_bytes, begin, count, &period);
  if (wrong < 0)
    return BENCH_OK;
  return bench_wrong(point, at + wrong, bench_result_of(&with, first, last, begin + wrong), text);
}

/* The block or vector that all ranks, one of them, or the first of them have made. */
static inline int bench_check_one(const bench_point *point, int32_t root, char *text) {
  const bench_form form = bench_form_of(point->command->collective);
  tt_sources from = tt_compose_sources(form.sum, point->rank, point->size, root);
  bool passes = form.from_root && form.cut == BENCH_WHOLE && point->rank == root; /* its `in` is all it has */
  if (from.first > from.last || passes || point->layout.out_elements == 0)
    return BENCH_OK;
  int32_t first = (int32_t)from.first;
  return bench_check_block(point, 0, point->layout.out_elements, first, (int32_t)from.last,
                           bench_block_begin(&point->problem, first, point->rank), text);
}

static inline int bench_check_peers(const bench_point *point, char *text) {
  const bench_layout *layout = &point->layout;
  int result = BENCH_OK;
  for (int32_t n = 0; n < layout->peers && result == BENCH_OK; n++) {
    int32_t peer = bench_peer(&point->problem, point->rank, n);
    if (layout->out_count[n] > 0)
      result = bench_check_block(point, layout->out_offset[n], layout->out_count[n], peer, peer,
                                 bench_block_begin(&point->problem, peer, point->rank), text);
  }
  return result;
}

static inline int bench_check(const bench_point *point, char *text) {
  const bench_form form = bench_form_of(point->command->collective);
  int32_t last_root = (int32_t)((point->next_root - 1) % (uint64_t)point->size);
  if (form.to_root && point->rank != last_root)
    return BENCH_OK;
  if (form.cut == BENCH_WHOLE || form.cut == BENCH_BY_TARGET)
    return bench_check_one(point, last_root, text);
  return bench_check_peers(point, text);
}

/* ---- what is timed ---- */

/* One overlapped call; with only some of its parts, what each of them takes. */
static inline int bench_overlap(const bench_library *library, const bench_point *point, const bench_command *command,
                                int root, char *text) {
  int result = command->parts & BENCH_POST ? library->post(point, root, text) : BENCH_OK;
  for (int n = 0; n < BENCH_PIECES && result == BENCH_OK && command->parts & BENCH_COMPUTE; n++) {
    bench_compute(command->steps / BENCH_PIECES);
    if (command->parts & BENCH_TEST && n + 1 < BENCH_PIECES)
      result = library->test(text);
  }
  return result == BENCH_OK && command->parts & BENCH_POST ? library->wait(text) : result;
}

static inline int bench_one(const bench_library *library, const bench_point *point, const bench_command *command,
                            int root, char *text) {
  int result = command->mode == BENCH_NONBLOCKING ? bench_overlap(library, point, command, root, text)
                                                  : library->call(point, root, text);
  if (point->spin.steps > 0)
    bench_spin(point->spin.steps);
  return result;
}

static inline int bench_watch(const bench_library *library, const bench_command *command, bool on, char *text) {
  return command->verb == BENCH_WATCH && library->watch ? library->watch(on, text) : BENCH_OK;
}

typedef struct bench_time {
  int64_t begin_ns, elapsed_ns; /* begin: of the last call, where calls are apart */
} bench_time;

/* Each call on its own: no rank goes on to the next one before all have come. */
static inline int bench_batch_apart(const bench_library *library, const bench_point *point,
                                    const bench_command *command, int root, int64_t calls, bench_time *time,
                                    char *text) {
  int result = BENCH_OK;
  *time = (bench_time){0};
  for (int64_t i = 0; i < calls && result == BENCH_OK; i++) {
    result = library->barrier(text);
    if (result == BENCH_OK)
      result = bench_watch(library, command, true, text);
    time->begin_ns = bench_clock_ns();
    if (result == BENCH_OK)
      result = bench_one(library, point, command, root, text);
    time->elapsed_ns += bench_clock_ns() - time->begin_ns;
    if (result == BENCH_OK)
      result = bench_watch(library, command, false, text);
    root = root + 1 == point->size ? 0 : root + 1;
  }
  return result;
}

static inline int bench_batch_together(const bench_library *library, const bench_point *point,
                                       const bench_command *command, int root, int64_t calls, bench_time *time,
                                       char *text) {
  int result = library->barrier(text);
  if (result == BENCH_OK)
    result = bench_watch(library, command, true, text);
  int64_t start_ns = bench_clock_ns();
  for (int64_t i = 0; i < calls && result == BENCH_OK; i++) {
    result = bench_one(library, point, command, root, text);
    root = root + 1 == point->size ? 0 : root + 1;
  }
  *time = (bench_time){.elapsed_ns = bench_clock_ns() - start_ns};
  return result == BENCH_OK ? bench_watch(library, command, false, text) : result;
}

static inline int bench_batch_of(const bench_library *library, const bench_point *point, const bench_command *command,
                                 int root, int64_t calls, bench_time *time, char *text) {
  return (command->apart ? bench_batch_apart : bench_batch_together)(library, point, command, root, calls, time, text);
}

/* What has to come behind each call, after so many calls without it. A chain of messages goes from each call to the
 * next on some rank, and every rank spins, so a batch gets longer by one spin a call; where ranks share a core by all
 * of theirs, one after another. */
static inline double bench_delay_ns(const bench_command *command, int64_t elapsed_ns, int64_t calls) {
  return command->delay * (double)elapsed_ns / (double)calls / (double)command->sharing;
}

/* A batch with a delay, behind the same calls without it, which say how long they are. */
static inline int bench_batch_delayed(const bench_library *library, bench_point *point, const bench_command *command,
                                      int root, int64_t calls, bench_time *time, char *text) {
  bench_command plain = *command;
  bench_time without;
  plain.verb = BENCH_RUN;
  int result = bench_batch_of(library, point, &plain, root, calls, &without, text);
  if (result != BENCH_OK)
    return result;
  bench_spinner_set(&point->spin, bench_delay_ns(command, without.elapsed_ns, calls));
  result = bench_batch_of(library, point, command, root, calls, time, text);
  point->spin.steps = 0;
  if (result == BENCH_OK && without.elapsed_ns > 0)
    bench_spinner_learn(&point->spin, ((double)time->elapsed_ns / (double)without.elapsed_ns - 1) / command->delay);
  return result;
}

static inline int bench_batch(const bench_library *library, bench_point *point, const bench_command *command,
                              int64_t calls, bench_time *time, char *text) {
  int root = (int)(point->next_root % (uint64_t)point->size);
  if (command->mode != BENCH_NONBLOCKING || command->parts & BENCH_POST)
    point->next_root += (uint64_t)calls;
  int result = command->delay > 0 ? bench_batch_delayed(library, point, command, root, calls, time, text)
                                  : bench_batch_of(library, point, command, root, calls, time, text);
  point->watched_calls += calls;
  point->watched_ns += time->elapsed_ns;
  return result;
}

/* What the library has noted in the batches since it was asked last. */
static inline void bench_take_spent(const bench_library *library, bench_point *point, const bench_command *command,
                                    bench_spent *spent) {
  memset(spent, 0, sizeof *spent);
  if (command->verb == BENCH_WATCH && library->spent) {
    library->spent(spent);
    spent->rank = point->rank;
    spent->calls = point->watched_calls;
    spent->call_ns = point->watched_ns;
  }
  point->watched_calls = point->watched_ns = 0;
}

/* A first batch, shorter and not timed, brings code and data back into the caches. It takes no root's turn. */
static inline int bench_run(const bench_library *library, bench_point *point, const bench_command *command,
                            bench_reply *reply) {
  bench_time time;
  uint64_t first_root = point->next_root;
  int result = bench_batch(library, point, command, command->calls / 8 + 1, &time, reply->text);
  bench_take_spent(library, point, command, &reply->spent);
  point->next_root = first_root;
  if (command->check) /* what is compared has been written since */
    memset(point->out, 0xA5, point->out_bytes);
  for (; result == BENCH_OK && reply->batches < command->batches; reply->batches++) {
    result = bench_batch(library, point, command, command->calls, &time, reply->text);
    reply->batch_ns[reply->batches] = time.elapsed_ns;
    reply->begin_ns[reply->batches] =
        command->calls == 1 && command->mode != BENCH_NONBLOCKING ? time.begin_ns : 0; /* parts are compared */
  }
  bench_take_spent(library, point, command, &reply->spent);
  if (library->ran)
    library->ran(&reply->ran);
  if (result == BENCH_OK && command->check) /* who checks would take the cores of ranks that are not done */
    result = library->barrier(reply->text);
  if (result == BENCH_OK && command->check)
    result = bench_check(point, reply->text);
  return result;
}

#endif

/* bench/copy.h - the copy bound: what the cores do in a call at the least, without any library. */
#ifndef BENCH_COPY_H
#define BENCH_COPY_H

#include "loop.h"

/* Memory of its own for every byte, as the ranks have: what they share is no larger than the caches only if theirs is.
 * Both begin on a page, as theirs do: a copy to a little behind that, modulo a page, takes up to 27 times as long. */
static inline bool bench_make_copy_room(bench_point *point, size_t bytes) {
  if (point->copy[0] && point->copy_bytes >= bytes)
    return true;
  for (int side = 0; side < 2; side++) {
    void *memory = NULL;
    free(point->copy[side]);
    point->copy[side] = posix_memalign(&memory, 4096, bytes) ? NULL : memory;
    if (point->copy[side])
      memset(point->copy[side], side, bytes);
  }
  point->copy_bytes = bytes;
  return point->copy[0] && point->copy[1];
}

enum {
  BENCH_BOUND_PIECE = 4096,    /* bytes of a result: it stays in the nearest cache while all operands come to it */
  BENCH_BOUND_LARGE = 16 << 20 /* bytes, from which on results go past the caches */
};

/* Elements that a core combines and copies in a call: `combined` operands of others, as many of each other rank, with
 * its own. */
typedef struct bench_bound {
  size_t own, combined, copied;
} bench_bound;

/* What has to come to a rank in a call. Of calls with a root, the mean over a batch: they overlap, and while one root
 * copies so does another, in the next call. A batch of one call has root 0; any other one would take as long or longer.
 */
static inline int64_t bench_batch_moved(const bench_problem *of, int32_t rank, int64_t calls) {
  const bench_form form = bench_form_of(of->collective);
  int64_t moved = 0;
  if (!form.from_root && !form.to_root)
    return bench_moved(of, rank, 0);
  for (int32_t root = 0; root < of->ranks && root < calls; root++)
    moved += bench_moved(of, rank, root) * ((calls - root - 1) / of->ranks + 1);
  return moved / calls;
}

static inline bench_bound bench_bound_of(const bench_point *point, const bench_command *command, bool combines) {
  bench_bound bound = {0, 0, 0};
  for (int32_t rank = point->rank; rank < point->size; rank += command->cores) {
    int64_t combined = combines ? bench_operands(&point->problem, rank, 0) : 0;
    bound.combined += (size_t)combined;
    bound.copied += (size_t)(bench_batch_moved(&point->problem, rank, command->bounded) - combined);
  }
  bound.own = point->size > 1 ? bound.combined / (size_t)(point->size - 1) : 0;
  bound.combined = bound.own * (size_t)(point->size - 1);
  return bound;
}

/* Its own operand lies first, those of the others behind it, and then what is copied. */
static inline void bench_combine_all(const bench_point *point, const bench_bound *bound, bench_kernel *kernel,
                                     bool large) {
  const unsigned char *in = point->copy[0];
  unsigned char *out = point->copy[1];
  size_t bytes = point->element_bytes, piece = BENCH_BOUND_PIECE / bytes;
  for (size_t at = 0; at < bound->own; at += piece) {
    size_t count = bound->own - at < piece ? bound->own - at : piece;
    for (size_t from = at + bound->own; from < bound->own + bound->combined; from += bound->own)
      kernel(from == at + bound->own ? in + at * bytes : out + at * bytes, in + from * bytes, out + at * bytes, count,
             large && from == at + bound->combined);
  }
}

/* The bound: every core that is told so combines and copies at the same time what has to come to its ranks. */
static inline int bench_copy(const bench_library *library, bench_point *point, const bench_command *command,
                             bench_reply *reply) {
  bench_kernel *kernel = library->kernel ? library->kernel(command->type, command->op) : NULL;
  bench_bound bound = bench_bound_of(point, command, kernel != NULL);
  size_t before = (bound.own + bound.combined) * point->element_bytes, bytes = bound.copied * point->element_bytes;
  if (!bench_make_copy_room(point, before + bytes))
    return snprintf(reply->text, BENCH_TEXT, "no memory to copy %zu bytes", before + bytes), BENCH_FAILED;
  while (bench_clock_ns() < command->start_ns)
    ;
  for (; reply->batches < command->batches; reply->batches++) {
    int64_t start_ns = bench_clock_ns();
    for (int64_t i = 0; i < command->calls; i++) {
      bench_combine_all(point, &bound, kernel, before + bytes >= BENCH_BOUND_LARGE);
      memcpy((unsigned char *)point->copy[1] + before, (unsigned char *)point->copy[0] + before, bytes);
      __asm__ volatile("" ::: "memory");
    }
    reply->batch_ns[reply->batches] = bench_clock_ns() - start_ns;
  }
  return BENCH_OK;
}

#endif

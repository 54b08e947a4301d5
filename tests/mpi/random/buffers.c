/* tests/mpi/random/buffers.c - memory around what a call may touch, three times: for tutti, for MPI, and as it was. */
#include "random.h"

#define ELEMENTS 16384 /* a quarter of them before the middle */

buffer make_buffer(const element *of, stream *from) {
  int64_t extent = extent_of(of->type), middle = extent * (ELEMENTS / 4);
  buffer made = {.of = of, .bytes = extent * ELEMENTS};
  for (int n = 0; n < 3; n++)
    made.memory[n] = malloc((size_t)made.bytes);
  for (int64_t n = 0; n < ELEMENTS; n++)
    fill_element(made.memory[0] + n * extent, of, from);
  memcpy(made.memory[1], made.memory[0], (size_t)made.bytes);
  memcpy(made.memory[2], made.memory[0], (size_t)made.bytes);
  made.mine = made.memory[0] + middle;
  made.theirs = made.memory[1] + middle;
  made.before = made.memory[2] + middle;
  return made;
}

void free_buffer(buffer *of) {
  for (int n = 0; n < 3; n++)
    free(of->memory[n]);
}

void forget(buffer *of, int64_t begin) {
  int64_t from = of->theirs - of->memory[1] + begin;
  memcpy(of->memory[1] + from, of->memory[0] + from, (size_t)(of->bytes - from));
}

void compare(const char *what, const buffer *of) {
  int64_t extent = extent_of(of->of->type);
  for (int64_t at = 0; at < of->bytes; at += extent)
    for (int n = 0; n < 2; n++)
      clear_padding(of->memory[n] + at, of->of);
  if (memcmp(of->memory[0], of->memory[1], (size_t)of->bytes) == 0)
    return;
  int64_t n = 0;
  while (of->memory[0][n] == of->memory[1][n])
    n++;
  printf("rank %d of %d, %s: %s: byte %ld is %d instead of %d, was %d\n", rank, size, trial, what,
         (long)(of->memory[0] + n - of->mine), of->memory[0][n], of->memory[1][n], of->memory[2][n]);
  failures++;
}

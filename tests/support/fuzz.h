/* tests/support/fuzz.h - a parser gets every file of a corpus, and many texts made of them by small changes.
 *
 * A corpus is a folder of texts, each with what a parser treats specially. Changes are drawn from TUTTI_TEST_SEED,
 * which is printed; TUTTI_TEST_LONG makes fifty times as many. What is looked for are crashes, hangs and what
 * sanitizers find. */
#ifndef TESTS_SUPPORT_FUZZ_H
#define TESTS_SUPPORT_FUZZ_H

#include "base/base.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FUZZ_FILES = 64, FUZZ_BYTES = 4096, FUZZ_ROUNDS = 2000 };

typedef struct fuzz_text {
  char *bytes; /* of just that size, so that a read behind the end is seen */
  size_t size;
} fuzz_text;

static inline fuzz_text fuzz_copy(const char *bytes, size_t size) {
  fuzz_text text = {.bytes = malloc(size ? size : 1), .size = size};
  if (!text.bytes)
    abort();
  memcpy(text.bytes, bytes, size);
  return text;
}

/* Returns how many; exits where there are none: then the test would test nothing. */
static inline int fuzz_read(const char *folder, fuzz_text file[static FUZZ_FILES]) {
  char path[512], bytes[FUZZ_BYTES];
  const char *source = getenv("TUTTI_SOURCE");
  int count = 0;
  snprintf(path, sizeof path, "%s/tests/fuzz/%s", source ? source : ".", folder);
  DIR *names = opendir(path);
  size_t length = strlen(path);
  for (const struct dirent *name; names && count < FUZZ_FILES && (name = readdir(names));) {
    snprintf(path + length, sizeof path - length, "/%s", name->d_name);
    FILE *in = name->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (!in)
      continue;
    file[count++] = fuzz_copy(bytes, fread(bytes, 1, sizeof bytes, in));
    fclose(in);
  }
  if (names)
    closedir(names);
  if (count == 0) {
    fprintf(stderr, "there is no corpus in tests/fuzz/%s\n", folder);
    exit(1);
  }
  return count;
}

/* Puts `piece` in place of `old` bytes at `at`, as far as there is room. Returns the new size. */
static inline size_t fuzz_put(char bytes[static FUZZ_BYTES], size_t size, size_t at, size_t old, const char *piece,
                              size_t length) {
  length = length < FUZZ_BYTES - (size - old) ? length : FUZZ_BYTES - (size - old);
  memmove(bytes + at + length, bytes + at + old, size - at - old);
  memcpy(bytes + at, piece, length);
  return size - old + length;
}

/* Removes the line at `at`, or puts it a second time to where `to` is. */
static inline size_t fuzz_line(char bytes[static FUZZ_BYTES], size_t size, size_t at, size_t to, bool remove) {
  char line[FUZZ_BYTES];
  size_t length = 0;
  while (at > 0 && bytes[at - 1] != '\n')
    at--;
  while (at + length < size && (length == 0 || bytes[at + length - 1] != '\n'))
    length++;
  if (remove)
    return fuzz_put(bytes, size, at, length, "", 0);
  memcpy(line, bytes + at, length);
  while (to > 0 && bytes[to - 1] != '\n')
    to--;
  return fuzz_put(bytes, size, to, 0, line, length);
}

/* One change of bytes, in place: flips, removes, doubles a piece, brings a piece of another file; removes a line, or
 * puts it elsewhere, too. Returns the new size. */
static inline size_t fuzz_change(char bytes[static FUZZ_BYTES], size_t size, const fuzz_text *other,
                                 tt_random *random) {
  static const char special[] = "[]-,=#\\\n \t0789\xff";
  size_t at = tt_random_below(random, size + 1), piece = tt_random_below(random, 24);
  switch (tt_random_below(random, 7)) {
  case 0:
    if (at < size)
      bytes[at] = special[tt_random_below(random, sizeof special)];
    return size;
  case 1:
    if (at < size)
      bytes[at] ^= (char)(1 << tt_random_below(random, 8));
    return size;
  case 2:
    piece = piece < size - at ? piece : size - at;
    memmove(bytes + at, bytes + at + piece, size - at - piece);
    return size - piece;
  case 3:
    piece = piece < size - at ? piece : size - at;
    piece = piece < FUZZ_BYTES - size ? piece : FUZZ_BYTES - size;
    memmove(bytes + at + piece, bytes + at, size - at);
    return size + piece;
  case 4:
    return fuzz_line(bytes, size, at, 0, true);
  case 5:
    return fuzz_line(bytes, size, at, tt_random_below(random, size + 1), false);
  default:
    piece = piece < other->size ? piece : other->size;
    piece = piece < FUZZ_BYTES - size ? piece : FUZZ_BYTES - size;
    memmove(bytes + at + piece, bytes + at, size - at);
    memcpy(bytes + at, other->bytes + tt_random_below(random, other->size - piece + 1), piece);
    return size + piece;
  }
}

static inline void fuzz_one(const fuzz_text *file, int count, tt_random *random,
                            void (*parse)(const char *bytes, size_t size)) {
  char bytes[FUZZ_BYTES];
  const fuzz_text *from = &file[tt_random_below(random, (uint64_t)count)];
  size_t size = from->size;
  memcpy(bytes, from->bytes, size);
  for (uint64_t changes = 1 + tt_random_below(random, 6); changes > 0; changes--)
    size = fuzz_change(bytes, size, &file[tt_random_below(random, (uint64_t)count)], random);
  fuzz_text text = fuzz_copy(bytes, size);
  parse(text.bytes, text.size);
  free(text.bytes);
}

static inline void fuzz_run(const char *folder, void (*parse)(const char *bytes, size_t size)) {
  fuzz_text file[FUZZ_FILES];
  const char *given = getenv("TUTTI_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
  int count = fuzz_read(folder, file), rounds = getenv("TUTTI_TEST_LONG") ? FUZZ_ROUNDS * 50 : FUZZ_ROUNDS;
  tt_random random;
  printf("%s: %d files, %d changed ones, TUTTI_TEST_SEED=%" PRIu64 "\n", folder, count, rounds, seed);
  fflush(stdout);
  for (int n = 0; n < count; n++)
    parse(file[n].bytes, file[n].size);
  tt_random_init(&random, seed);
  for (int n = 0; n < rounds; n++)
    fuzz_one(file, count, &random, parse);
  for (int n = 0; n < count; n++)
    free(file[n].bytes);
}

#endif

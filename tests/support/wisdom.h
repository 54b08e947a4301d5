/* tests/support/wisdom.h - a wisdom file that is right, and the ways in which one may be wrong: bytes and lines
 * changed, numbers about which programs are wrong, texts that are huge or deep or no parameters, parameters that make
 * no plan or an extreme one, another machine, another version, cut off.
 *
 * Whoever reads such a file refuses it, or leaves it alone, or uses what is still right in it. */
#ifndef TESTS_SUPPORT_WISDOM_H
#define TESTS_SUPPORT_WISDOM_H

#include "support/fuzz.h"

#include "compose/compose.h"

enum { WISDOM_BYTES = 1 << 20, WISDOM_DEEP = 5000, WISDOM_HUGE = 200000 };

/* Of 4 ranks on one node, and of others, in the order of files. Every winner makes a plan. Returns the size. */
static inline size_t wisdom_write(const char *machine, char *bytes) {
  static const struct {
    tt_collective collective;
    int ranks, nodes;
    long size;
    const char *params;
  } winners[] = {{TT_ALLREDUCE, 4, 1, 64, "recursive-doubling"},
                 {TT_ALLREDUCE, 4, 1, 16384, "form=split [2:star/core:chain] slice=8K"},
                 {TT_ALLREDUCE, 4, 1, 262144, "ring channels=2"},
                 {TT_BROADCAST, 4, 1, 256, "binomial"},
                 {TT_BROADCAST, 4, 1, 65536, "[core:chain] slice=16K"},
                 {TT_ALLGATHER, 4, 1, 8192, "[2:star/core:star] stripe=all"},
                 {TT_ALLGATHER, 8, 2, 8192, "[node:chain/core:star]"},
                 {TT_REDUCE, 4, 1, 4096, "[core:2-nomial]"}};
  size_t size = (size_t)sprintf(
      bytes, "{\"tutti-wisdom\": 1, \"machine\": \"%s\", \"about\": \"tutti, a test\", \"winners\": [", machine);
  for (size_t n = 0; n < TT_COUNT(winners); n++)
    size +=
        (size_t)sprintf(bytes + size,
                        "%s\n  {\"collective\": \"%s\", \"ranks\": %d, \"nodes\": %d, \"ranks_per_node\": 4, \"nics\": "
                        "1, \"bytes\": %ld, \"params\": \"%s\", \"ns\": 1234, \"rules_ns\": 2345}",
                        n ? "," : "", tt_compose_info(winners[n].collective).name, winners[n].ranks, winners[n].nodes,
                        winners[n].size, winners[n].params);
  return size + (size_t)sprintf(bytes + size,
                                "\n],\n\"outside\": [\n  {\"collective\": \"scan\", \"ranks\": 4, \"nodes\": 1, "
                                "\"ranks_per_node\": 4, \"nics\": 1, \"bytes\": 64, \"library\": \"openmpi-4.1\", "
                                "\"wins\": true, \"ns\": 700, \"tutti_ns\": 900}\n]}\n");
}

/* Puts `length` letters in place of `old` bytes at `at`. Returns the new size; the old one where there is no room. */
static inline size_t wisdom_put(char *bytes, size_t size, size_t at, size_t old, const char *piece, size_t length) {
  if (size - old + length > WISDOM_BYTES)
    return size;
  memmove(bytes + at + length, bytes + at + old, size - at - old);
  memcpy(bytes + at, piece, length);
  return size - old + length;
}

/* Where the value of some member begins, and its length: a number, or a string with its quotes. false: there is none */
static inline bool wisdom_find(const char *bytes, size_t size, bool string, tt_random *random, size_t *at,
                               size_t *length) {
  size_t found = 0, from = size > 0 ? tt_random_below(random, size) : 0;
  for (size_t turn = 0; turn < size && found == 0; turn++) {
    size_t n = (from + turn) % size;
    if (n + 2 < size && bytes[n] == ':' && bytes[n + 1] == ' ' && (bytes[n + 2] == '"') == string &&
        bytes[n + 2] != '[')
      found = n + 2;
  }
  if (found == 0)
    return false;
  *at = found;
  *length = 1;
  while (found + *length < size && (string ? bytes[found + *length] != '"' : !strchr(",}", bytes[found + *length])))
    ++*length;
  *length += string && found + *length < size;
  return true;
}

/* A value becomes one of so many. */
static inline size_t wisdom_change_value(char *bytes, size_t size, bool string, tt_random *random,
                                         const char *const *values, size_t count) {
  size_t at, length;
  const char *value = values[tt_random_below(random, count)];
  return wisdom_find(bytes, size, string, random, &at, &length)
             ? wisdom_put(bytes, size, at, length, value, strlen(value))
             : size;
}

static inline size_t wisdom_change_number(char *bytes, size_t size, tt_random *random) {
  static const char *const hostile[] = {"-1",
                                        "0",
                                        "1",
                                        "-0",
                                        "1e3",
                                        "0.5",
                                        "2147483647",
                                        "2147483648",
                                        "9223372036854775806",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "18446744073709551616",
                                        "1e999",
                                        "true",
                                        "null",
                                        "\"4\"",
                                        "{}",
                                        "[4]",
                                        "nan",
                                        ""};
  return wisdom_change_value(bytes, size, false, random, hostile, TT_COUNT(hostile));
}

static inline size_t wisdom_change_string(char *bytes, size_t size, tt_random *random) {
  static const char *const hostile[] = {"\"\"",
                                        "\"ffffffffffffffff\"",
                                        "\"../../etc/passwd\"",
                                        "\"linear\\u0000\"",
                                        "\"\\ud800\"",
                                        "\"\xff\xfe\"",
                                        "\"%s%n%s%n\"",
                                        "7",
                                        "null",
                                        "[\"linear\"]",
                                        "\"[rack:star/core:star]\"",
                                        "\"[core:exchange]\"",
                                        "\"scan\"",
                                        "\"two-level-ring\"",
                                        "\"form=none linear\"",
                                        "\"[core:9999-nomial]\"",
                                        "\"linear linear ring\"",
                                        "\"linear slice=1\"",
                                        "\"[core:chain] slice=3\"",
                                        "\"ring channels=64\"",
                                        "\"[4096:star/core:chain] stripe=4096 ring=4096\"",
                                        "\"linear slice=1024G\"",
                                        "\"[2:star/2:star/2:star/2:star/2:star/2:star/core:star]\"",
                                        "\"reproducible acc=f32 single-copy\"",
                                        "\"[core:star] even stripe=all\"",
                                        "\"channels=-1\""};
  return wisdom_change_value(bytes, size, true, random, hostile, TT_COUNT(hostile));
}

/* A value becomes a huge text, or brackets in brackets. */
static inline size_t wisdom_change_size(char *bytes, size_t size, tt_random *random) {
  static char huge[WISDOM_HUGE + 2], deep[2 * WISDOM_DEEP];
  size_t at, length;
  bool is_deep = tt_random_below(random, 2) == 0;
  memset(huge, 'a', sizeof huge);
  huge[0] = huge[sizeof huge - 1] = '"';
  memset(deep, '[', WISDOM_DEEP);
  memset(deep + WISDOM_DEEP, ']', WISDOM_DEEP);
  if (!wisdom_find(bytes, size, tt_random_below(random, 2) == 0, random, &at, &length))
    return size;
  return is_deep ? wisdom_put(bytes, size, at, length, deep, sizeof deep)
                 : wisdom_put(bytes, size, at, length, huge, sizeof huge);
}

/* The whole head: another version, another machine. */
static inline size_t wisdom_change_head(char *bytes, size_t size, tt_random *random) {
  static const char *const heads[] = {"{\"tutti-wisdom\": 2, ",
                                      "{\"tutti-wisdom\": -1, ",
                                      "{\"tutti-wisdom\": \"1\", ",
                                      "{",
                                      "[",
                                      "{\"tutti-wisdom\": 1, \"tutti-wisdom\": 1, "};
  const char *head = heads[tt_random_below(random, TT_COUNT(heads))], *end = memchr(bytes, ',', size);
  size_t old = end ? (size_t)(end - bytes) + 1 : 0;
  return wisdom_put(bytes, size, 0, old, head, strlen(head));
}

/* One change. `bytes` has room for WISDOM_BYTES. Returns the new size. */
static inline size_t wisdom_change(char *bytes, size_t size, tt_random *random) {
  static char small[FUZZ_BYTES];
  fuzz_text other = {.bytes = bytes, .size = size};
  switch (tt_random_below(random, 12)) {
  case 0:
  case 1:
  case 2:
    return wisdom_change_number(bytes, size, random);
  case 3:
  case 4:
  case 5:
    return wisdom_change_string(bytes, size, random);
  case 6:
    return wisdom_change_size(bytes, size, random);
  case 7:
    return wisdom_change_head(bytes, size, random);
  case 8:
    return tt_random_below(random, size + 1); /* cut off */
  case 9:
    if (size > 0)
      bytes[tt_random_below(random, size)] = '\0';
    return size;
  default:
    if (size > FUZZ_BYTES)
      return size;
    memcpy(small, bytes, size);
    size = fuzz_change(small, size, &other, random);
    memcpy(bytes, small, size);
    return size;
  }
}

#endif

/* base/random.c - numbers that a seed repeats, and a hash of bytes. Neither is meant to withstand an attacker.
 *
 * The generator is splitmix64 (Steele, Lea, Flood 2014). The hash takes eight bytes at a time with one multiplication,
 * because keys of calls are hashed before each small message; its value depends on the byte order of the machine. */
#include "base/base.h"

#include <assert.h>
#include <string.h>

static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

void tt_random_init(tt_random *random, uint64_t seed) { random->state = seed; }

uint64_t tt_random_next(tt_random *random) {
  random->state += 0x9e3779b97f4a7c15u;
  return mix(random->state);
}

uint64_t tt_random_below(tt_random *random, uint64_t limit) {
  assert(limit > 0);
  uint64_t reject =
      (UINT64_MAX - limit + 1) % limit; /* 2^64 mod limit: refusing that many makes all results equally likely */
  uint64_t value = tt_random_next(random);
  while (value < reject)
    value = tt_random_next(random);
  return value % limit;
}

void tt_random_shuffle(tt_random *random, void *items, int64_t count, size_t bytes) {
  unsigned char *byte = items;
  for (int64_t n = count - 1; n > 0; n--) {
    unsigned char *one = byte + (size_t)n * bytes, *other = byte + tt_random_below(random, (uint64_t)n + 1) * bytes;
    for (size_t k = 0; k < bytes; k++) {
      unsigned char kept = one[k];
      one[k] = other[k];
      other[k] = kept;
    }
  }
}

static uint64_t absorb(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

uint64_t tt_hash(uint64_t seed, const void *bytes, size_t size) {
  const unsigned char *next = bytes;
  uint64_t hash = mix(seed + size);
  for (size_t left = size; left > 0;) {
    uint64_t word = 0;
    size_t taken = left < sizeof word ? left : sizeof word;
    memcpy(&word, next, taken);
    hash = absorb(hash, word);
    next += taken;
    left -= taken;
  }
  return mix(hash);
}

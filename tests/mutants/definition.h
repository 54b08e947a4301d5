/* tests/mutants/definition.h - what out of a rank is by its meaning, in numbers: the interpreter and the engine's runs
 * are compared with it.
 *
 * A number has two faces: a sum, which shows what was combined and how often it was finished, and a function x -> a x +
 * b, whose composition does not commute, which shows in which order. */
#ifndef TEST_MUTANTS_DEFINITION_H
#define TEST_MUTANTS_DEFINITION_H

#include "verify/verify.h"

typedef struct element {
  uint64_t sum, a, b;
} element;

static inline element combined(element left, element right) {
  return (element){left.sum + right.sum, left.a * right.a, left.a * right.b + left.b};
}

/* An average of whole numbers that divide. */
static inline element finished(element value, uint32_t contributions) {
  value.sum /= contributions;
  return value;
}

static inline uint64_t scramble(uint64_t value) { return (value ^ value >> 29) * 0xbf58476d1ce4e5b9u + 1; }

/* 840 divides by 1 .. 8; averages of averages of averages stay whole. */
static inline element input_number(uint32_t rank, uint32_t block, uint32_t slice) {
  uint64_t seed = scramble(scramble(rank + 1) + block * 1024 + slice);
  return (element){(scramble(seed) >> 36) * 840 * 840 * 840, scramble(seed + 1) | 1, scramble(seed + 2)};
}

static inline element member_number(const tt_meaning *meaning, int64_t member, uint32_t block, uint32_t slice);

static inline element sum_number(const tt_meaning *meaning, const tt_expected *sum, uint32_t block, uint32_t slice) {
  int64_t count = sum->list ? sum->list_count : sum->last - sum->first + 1;
  element all = member_number(meaning, sum->list ? sum->list[0] : sum->first, block, slice);
  for (int64_t n = 1; n < count; n++)
    all = combined(all, member_number(meaning, sum->list ? sum->list[n] : sum->first + n, block, slice));
  return finished(all, (uint32_t)count);
}

static inline element member_number(const tt_meaning *meaning, int64_t member, uint32_t block, uint32_t slice) {
  if (member < meaning->rank_count)
    return input_number((uint32_t)member, block, slice);
  return sum_number(meaning, &meaning->sum[member - meaning->rank_count], block, slice);
}

static inline element expected_number(const tt_meaning *meaning, const tt_expected *of, uint32_t block,
                                      uint32_t slice) {
  return of->kind == TT_MEANING_COPY ? member_number(meaning, of->source, block, slice)
                                     : sum_number(meaning, of, block, slice);
}

#endif

/* verify/content.c - sets of contributions: made once, never changed, named by number.
 *
 * Most sets are ranges, and need no more than their ends. */
#include "verify/machine.h"

#include <assert.h>

static uint32_t add(tt_machine *machine, tt_content content) {
  assert(machine->content_count <= 6 * (size_t)machine->proof->step_count); /* memory.c says why */
  machine->content[machine->content_count] = content;
  return machine->content_count++;
}

/* Members 64 n .. 64 n + 63, as bits. */
static uint64_t word_of(const tt_content *of, uint32_t n) {
  uint32_t first = of->low / 64, last = of->high / 64;
  if (n < first || n > last)
    return 0;
  if (of->word != NULL)
    return of->word[n - first];
  uint64_t from = n == first ? ~UINT64_C(0) << of->low % 64 : ~UINT64_C(0);
  return n == last ? from & ~UINT64_C(0) >> (63 - of->high % 64) : from;
}

static bool has(const tt_content *of, uint32_t member) { return (word_of(of, member / 64) >> member % 64 & 1) != 0; }

uint32_t tt_verify_input(tt_machine *machine, uint32_t member, uint32_t block) {
  return add(machine, (tt_content){.block = block, .low = member, .high = member, .size = 1, .ordered = true});
}

uint32_t tt_verify_unite(tt_machine *machine, uint32_t left, uint32_t right) {
  const tt_content *a = &machine->content[left], *b = &machine->content[right];
  assert(a->block == b->block && tt_verify_shared(machine, left, right) == TT_NONE);
  tt_content made = {.block = a->block,
                     .low = a->low < b->low ? a->low : b->low,
                     .high = a->high > b->high ? a->high : b->high,
                     .size = a->size + b->size,
                     .ordered = a->ordered && b->ordered && a->high < b->low};
  if (made.size <= made.high - made.low) {
    uint32_t first = made.low / 64, count = made.high / 64 - first + 1;
    uint64_t *word = tt_arena_alloc(&machine->proof->arena, count, sizeof *word);
    for (uint32_t n = 0; n < count && word != NULL; n++)
      word[n] = word_of(a, first + n) | word_of(b, first + n);
    made.word = word;
  }
  return add(machine, made);
}

uint32_t tt_verify_finished(tt_machine *machine, uint32_t content) {
  uint32_t made = add(machine, machine->content[content]);
  machine->content[made].finished = true;
  return made;
}

uint32_t tt_verify_shared(const tt_machine *machine, uint32_t a, uint32_t b) {
  const tt_content *one = &machine->content[a], *other = &machine->content[b];
  uint32_t from = one->low > other->low ? one->low : other->low, to = one->high < other->high ? one->high : other->high;
  for (uint32_t n = from / 64; from <= to && n <= to / 64; n++) {
    uint64_t both = word_of(one, n) & word_of(other, n);
    if (both != 0)
      return n * 64 + (uint32_t)__builtin_ctzll(both);
  }
  return TT_NONE;
}

/* ---- against what is expected ---- */

static int64_t sum_size(const tt_expected *sum) {
  return sum->list != NULL ? sum->list_count : sum->last - sum->first + 1;
}

static uint32_t member_of(const tt_expected *sum, int64_t n) {
  return (uint32_t)(sum->list != NULL ? sum->list[n] : sum->first + n);
}

uint32_t tt_verify_missing(const tt_content *content, const tt_expected *sum) {
  for (int64_t n = 0; n < sum_size(sum); n++)
    if (!has(content, member_of(sum, n)))
      return member_of(sum, n);
  return TT_NONE;
}

/* Both ascend. */
uint32_t tt_verify_surplus(const tt_content *content, const tt_expected *sum) {
  int64_t n = 0, size = sum_size(sum);
  for (uint32_t member = content->low; member <= content->high; member++) {
    while (n < size && member_of(sum, n) < member)
      n++;
    if (has(content, member) && (n == size || member_of(sum, n) != member))
      return member;
  }
  return TT_NONE;
}

bool tt_verify_is_sum(const tt_content *content, const tt_expected *sum) {
  int64_t size = sum_size(sum);
  assert(size > 1);
  if (content->size != size || content->low != member_of(sum, 0) || content->high != member_of(sum, size - 1))
    return false;
  return sum->list == NULL || tt_verify_missing(content, sum) == TT_NONE;
}

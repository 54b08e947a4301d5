/* verify/content.c - sets of contributions: made once, never changed, named by number. */
#include "verify/machine.h"

#include <string.h>

static uint64_t *set_of(const tt_machine *machine, uint32_t content) {
  return machine->set + (size_t)content * machine->words_per_set;
}

static uint32_t add(tt_machine *machine, tt_content content) {
  machine->content[machine->content_count] = content;
  return machine->content_count++;
}

uint32_t tt_verify_input(tt_machine *machine, uint32_t rank, uint32_t block) {
  uint32_t made = add(machine, (tt_content){block, rank, rank, true, false});
  set_of(machine, made)[rank / 64] = UINT64_C(1) << rank % 64;
  return made;
}

uint32_t tt_verify_unite(tt_machine *machine, uint32_t left, uint32_t right) {
  const tt_content *a = &machine->content[left], *b = &machine->content[right];
  uint32_t made = add(machine, (tt_content){.block = a->block,
                                            .low = a->low < b->low ? a->low : b->low,
                                            .high = a->high > b->high ? a->high : b->high,
                                            .ordered = a->ordered && b->ordered && a->high + 1 == b->low});
  for (uint32_t n = 0; n < machine->words_per_set; n++)
    set_of(machine, made)[n] = set_of(machine, left)[n] | set_of(machine, right)[n];
  return made;
}

uint32_t tt_verify_finished(tt_machine *machine, uint32_t content) {
  uint32_t made = add(machine, machine->content[content]);
  machine->content[made].finished = true;
  memcpy(set_of(machine, made), set_of(machine, content), machine->words_per_set * sizeof(uint64_t));
  return made;
}

uint32_t tt_verify_size(const tt_machine *machine, uint32_t content) {
  uint32_t size = 0;
  for (uint32_t n = 0; n < machine->words_per_set; n++)
    size += (uint32_t)__builtin_popcountll(set_of(machine, content)[n]);
  return size;
}

uint32_t tt_verify_shared_rank(const tt_machine *machine, uint32_t a, uint32_t b) {
  for (uint32_t n = 0; n < machine->words_per_set; n++) {
    uint64_t both = set_of(machine, a)[n] & set_of(machine, b)[n];
    if (both != 0)
      return n * 64 + (uint32_t)__builtin_ctzll(both);
  }
  return TT_NONE;
}

uint32_t tt_verify_missing_rank(const tt_machine *machine, uint32_t content) {
  uint32_t rank = 0;
  while (rank < machine->proof->rank_count && (set_of(machine, content)[rank / 64] >> rank % 64 & 1) != 0)
    rank++;
  return rank;
}

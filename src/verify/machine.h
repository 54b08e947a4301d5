/* verify/machine.h - memory of all ranks, holding sets of contributions instead of numbers.
 *
 * A content is which ranks' input of one block has gone into a value: a set of ranks. Contents never change; a
 * location, a cell of tmp included, holds the number of one. */
#ifndef TT_VERIFY_MACHINE_H
#define TT_VERIFY_MACHINE_H

#include "verify/races.h"

typedef struct tt_content {
  uint32_t block;
  uint32_t low, high; /* lowest and highest rank in the set */
  bool ordered;       /* adjacent ranges of ranks were combined, left before right */
  bool finished;
} tt_content;

typedef struct tt_location {
  uint32_t content; /* TT_NONE: nothing */
  tt_accesses accesses;
} tt_location;

typedef struct tt_machine {
  tt_proof *proof;
  tt_races races;
  tt_content *content;
  uint64_t *set; /* of each content: words_per_set words */
  uint32_t content_count, words_per_set;
  uint32_t *sent; /* content of each send */
  tt_location *location;
  size_t *first_location; /* of each rank */
} tt_machine;

tutti_status tt_verify_machine_init(tt_machine *machine, tt_proof *proof);

/* memory.c: whether the rank has that memory; in may be written only where it is aliased by out. */
bool tt_verify_exists(const tt_proof *proof, uint32_t rank, tt_ref ref, bool write);
tt_location *tt_verify_location(const tt_machine *machine, uint32_t rank, tt_ref ref);
/* What a location holds, the rank's input included; TT_NONE where nothing was ever written. */
uint32_t tt_verify_held(tt_machine *machine, uint32_t rank, tt_ref ref);

/* content.c */
uint32_t tt_verify_input(tt_machine *machine, uint32_t rank, uint32_t block);
uint32_t tt_verify_unite(tt_machine *machine, uint32_t left, uint32_t right);
uint32_t tt_verify_finished(tt_machine *machine, uint32_t content);
uint32_t tt_verify_size(const tt_machine *machine, uint32_t content);
uint32_t tt_verify_shared_rank(const tt_machine *machine, uint32_t a, uint32_t b); /* TT_NONE: the sets are disjoint */
uint32_t tt_verify_missing_rank(const tt_machine *machine, uint32_t content);      /* rank_count: none */

/* results.c: out of every rank against the meaning. */
tutti_status tt_verify_results(tt_machine *machine);

#endif

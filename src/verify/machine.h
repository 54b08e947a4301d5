/* verify/machine.h - memory of all ranks, holding sets of contributions instead of numbers.
 *
 * A content is what has gone into a value: a set of members, as in tt_expected, of one block. Contents never change; a
 * location, a cell of tmp included, holds the number of one. Only places that steps name are locations. */
#ifndef TT_VERIFY_MACHINE_H
#define TT_VERIFY_MACHINE_H

#include "verify/races.h"

typedef struct tt_content {
  uint32_t block;
  uint32_t low, high;   /* lowest and highest member */
  uint32_t size;        /* members */
  const uint64_t *word; /* a bit for each member, words low / 64 .. high / 64; NULL: all of low .. high */
  bool ordered;         /* each combination had all members of the left operand below all of the right one */
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
  uint32_t content_count;
  uint32_t *sent; /* content of each send */
  tt_location *location;
  uint32_t *src_at, *dst_at; /* of each step: its locations */
  uint32_t *place;           /* of one rank's places: its locations; TT_NONE: none */
} tt_machine;

tutti_status tt_verify_machine_init(tt_machine *machine, tt_proof *proof);

/* memory.c: whether the rank has that memory; in may be written only where it is aliased by out. */
bool tt_verify_exists(const tt_proof *proof, uint32_t rank, tt_ref ref, bool write);
/* Whether the rank's input is there at the start. */
bool tt_verify_holds_input(const tt_proof *proof, uint32_t rank, tt_ref ref);
/* What a location of that place holds, the rank's input included; TT_NONE where nothing was ever written. */
uint32_t tt_verify_held(tt_machine *machine, uint32_t rank, tt_ref ref, uint32_t location);
/* Makes out's places of one rank known (or forgets them again), and what is there at the end. */
void tt_verify_open_out(tt_machine *machine, uint32_t rank);
void tt_verify_close_out(tt_machine *machine, uint32_t rank);
uint32_t tt_verify_result(tt_machine *machine, uint32_t rank, uint32_t block);

/* content.c */
uint32_t tt_verify_input(tt_machine *machine, uint32_t member, uint32_t block);
uint32_t tt_verify_unite(tt_machine *machine, uint32_t left, uint32_t right);
uint32_t tt_verify_finished(tt_machine *machine, uint32_t content);
uint32_t tt_verify_shared(const tt_machine *machine, uint32_t a, uint32_t b); /* a member; TT_NONE: disjoint */
/* The first member that a content lacks, or has too many; TT_NONE where there is none. */
uint32_t tt_verify_missing(const tt_content *content, const tt_expected *sum);
uint32_t tt_verify_surplus(const tt_content *content, const tt_expected *sum);
bool tt_verify_is_sum(const tt_content *content, const tt_expected *sum);

/* results.c: out of every rank against the meaning. */
tutti_status tt_verify_results(tt_machine *machine);

#endif

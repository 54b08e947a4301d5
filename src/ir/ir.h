/* ir/ir.h - compositions: what moves, as families of multicasts and reductions between fences.
 *
 *   M(root, ends, block)   root's block to every rank of ends
 *   R(ends, root, block)   that block of all ranks in ends, combined, to root
 *
 * A family is "for i in 0..count_i-1, for j in 0..count_j-1", with root and block affine in (i, j). A stage is what
 * stands between two fences. Nothing here says which collective it is, and nothing has a length: a block is a number.
 */
#ifndef TT_IR_IR_H
#define TT_IR_IR_H

#include "base/base.h"

/* Where a block lives. In and out are the user's; mid is scratch of the composition's own, with room for every block.
 */
typedef enum tt_buffer { TT_IN, TT_OUT, TT_MID, TT_BUFFER_COUNT } tt_buffer;

/* What a rank holds of the user's buffer. ALL: every block. OWN: only block number `rank`, at its beginning. Where
 * blocks are a square, number i * rank_count + j: ROW: those with i = rank, by j; COLUMN: those with j = rank, by i.
 * TOUCHED: those that a primitive takes from it there or brings there. */
typedef enum tt_layout { TT_LAYOUT_ALL, TT_LAYOUT_OWN, TT_LAYOUT_ROW, TT_LAYOUT_COLUMN, TT_LAYOUT_TOUCHED } tt_layout;

typedef struct tt_affine {
  int64_t base, i, j; /* base + i * I + j * J */
} tt_affine;

typedef enum tt_primitive { TT_MULTICAST, TT_REDUCTION } tt_primitive;
typedef enum tt_ends_kind { TT_ENDS_ALL, TT_ENDS_ONE, TT_ENDS_LIST, TT_ENDS_RANGE } tt_ends_kind;

typedef struct tt_ends {
  tt_ends_kind kind;
  tt_affine one;       /* ONE: the rank; RANGE: the last one, of 0, 1, ..., one */
  const int64_t *list; /* LIST: ascending ranks, the same for every (i, j) */
  int64_t list_count;
} tt_ends;

typedef struct tt_family {
  tt_primitive primitive;
  int64_t count_i, count_j;
  tt_affine root, block;
  tt_ends ends;
  tt_buffer from, to;
  bool ordered; /* reductions: operands are combined in rank order; else in any order */
} tt_family;

#define TT_STAGE_FAMILIES 4
#define TT_STAGES 8
#define TT_STAGE_NAME 24

typedef struct tt_stage {
  char name[TT_STAGE_NAME]; /* what parameters call it: "scatter"; free text, no pass reads a meaning into it */
  int family_count;
  tt_family family[TT_STAGE_FAMILIES];
  const tt_family *list; /* all of them, where they are more than `family` holds; borrowed; else NULL */
} tt_stage;

typedef struct tt_composition {
  int64_t rank_count;
  int64_t block_count;
  tt_layout layout[2]; /* of TT_IN and TT_OUT */
  bool in_place;       /* (in, b) and (out, b) are the same memory for every block b */
  int stage_count;     /* run in this order, a fence between each two */
  tt_stage stage[TT_STAGES];
} tt_composition;

/* Family `number` of the stage. */
const tt_family *tt_ir_family(const tt_stage *stage, int number);
/* Of how many of the composition's blocks the vector consists that a call is told to be so long: all; of a row, what
 * one rank has; between neighbors, what goes over one edge. */
int64_t tt_ir_vector_blocks(const tt_composition *composition);
/* Value of an affine form. */
int64_t tt_ir_at(tt_affine form, int64_t i, int64_t j);
/* Whether `rank` is in the ends of primitive (i, j). */
bool tt_ir_has_end(const tt_family *family, int64_t i, int64_t j, int64_t rank);
int64_t tt_ir_end_count(const tt_composition *composition, const tt_family *family, int64_t i, int64_t j);
/* Whether every rank, block and count is in its range; names the stage, family and value where not. */
tutti_status tt_ir_check(const tt_composition *composition);
/* The same of one family. */
tutti_status tt_ir_check_family(const tt_composition *composition, const tt_stage *stage, int number);
/* The text form, for people: one line a family. */
char *tt_ir_print(const tt_composition *composition, tt_arena *arena);
/* Equal for equal compositions, whatever they have been made from; else different but by bad luck. */
uint64_t tt_ir_hash(const tt_composition *composition);

#endif

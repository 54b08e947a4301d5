/* tutti/composition.h - collectives of your own, from the primitives that tutti's are made of.
 *
 *   M(root, ends, block)   multicast: root's block to every rank of ends
 *   R(ends, root, block)   reduction: that block of all ranks of ends, combined, to root
 *
 * A composition is stages, one after the other; what a stage moves may read what earlier ones brought. It is compiled
 * with parameters (docs/plan.md), can be proven, printed and drawn, and then started as often as you like:
 *
 *   tutti_composition_create(comm, 1, &of);                           // one block
 *   tutti_composition_stage(of, "reduce");
 *   tutti_composition_reduce(of, upper, 4, 0, 0, TUTTI_IN, TUTTI_OUT);   // ranks 4..7 -> rank 0
 *   tutti_composition_set_params(of, "[core:2-nomial]");
 *   tutti_composition_init(of, in, out, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request);
 *   tutti_request_start(request); tutti_wait(&request);
 *
 * Every rank of the communicator makes the same composition with the same calls: it says what all ranks do, so a rank
 * that takes no part makes it too. The primitives of a stage take what was there before it, and no two of them bring to
 * one place. All functions but tutti_composition_init's requests are local. Threads and errors: as in tutti.h. */
#ifndef TUTTI_COMPOSITION_H
#define TUTTI_COMPOSITION_H

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_composition tutti_composition;

/* In and out are the user's, in blocks; mid is scratch of the composition's own, with room for every block. */
typedef enum tutti_buffer { TUTTI_IN, TUTTI_OUT, TUTTI_MID } tutti_buffer;

/* Blocks are numbered 0 .. block_count - 1; block_count >= 1, times the ranks of comm at most 2^26. comm must outlive
 * the composition. */
TUTTI_API tutti_status tutti_composition_create(tutti_comm *comm, int64_t block_count, tutti_composition **composition);
/* Its requests must have been destroyed. Accepts NULL. */
TUTTI_API void tutti_composition_destroy(tutti_composition *composition);

/* Begins a stage: what follows may read what stages before it have brought. The name is what parameters call it: a
 * letter, then letters, digits and '-', at most 23. At most 8 stages. */
TUTTI_API tutti_status tutti_composition_stage(tutti_composition *composition, const char *name);

/* Adds M(root, ends, block) to the stage. ends: ascending ranks, copied; NULL: all ranks. Brings the block from buffer
 * `from` of the root to buffer `to` of the ends; `to` is not TUTTI_IN. */
TUTTI_API tutti_status tutti_composition_multicast(tutti_composition *composition, int64_t root, const int64_t *ends,
                                                   int64_t end_count, int64_t block, tutti_buffer from,
                                                   tutti_buffer to);
/* Adds R(ends, root, block) to the stage; the root need not be among the ends. */
TUTTI_API tutti_status tutti_composition_reduce(tutti_composition *composition, const int64_t *ends, int64_t end_count,
                                                int64_t root, int64_t block, tutti_buffer from, tutti_buffer to);

/* base + i * I + j * J */
typedef struct tutti_affine {
  int64_t base, i, j;
} tutti_affine;

typedef enum tutti_ends_kind {
  TUTTI_ENDS_ALL,
  TUTTI_ENDS_ONE,  /* the rank `one` */
  TUTTI_ENDS_LIST, /* the ranks of `list`, ascending, for every (i, j) */
  TUTTI_ENDS_RANGE /* ranks 0 .. one */
} tutti_ends_kind;

/* Many primitives at once: for i in 0 .. count_i - 1, for j in 0 .. count_j - 1. Reductions of one family to several
 * roots share partial results where they can; this is how recursive doubling comes about. */
typedef struct tutti_family {
  int reduces; /* 0: multicasts */
  int64_t count_i, count_j;
  tutti_affine root, block;
  tutti_ends_kind ends;
  tutti_affine one;
  const int64_t *list; /* copied */
  int64_t list_count;
  tutti_buffer from, to;
  int ordered; /* operands are combined in rank order, even where the operator commutes */
} tutti_family;

TUTTI_API tutti_status tutti_composition_add(tutti_composition *composition, const tutti_family *family);

/* (in, block b) and (out, block b) are the same memory on every rank that has both. */
TUTTI_API tutti_status tutti_composition_set_in_place(tutti_composition *composition, int in_place);
/* Parameters, as in tutti_comm_set_params; without them "linear". TUTTI_ERR_PLAN says what does not fit. */
TUTTI_API tutti_status tutti_composition_set_params(tutti_composition *composition, const char *text);

/* Makes the plans of all ranks and proves that they do what the primitives say, without deadlock or race: those that
 * tutti_composition_init makes for that operator, which is in rank order where it does not commute. op matters only
 * where something is reduced. TUTTI_ERR_PLAN names rank, lane, step and reason. */
TUTTI_API tutti_status tutti_composition_verify(tutti_composition *composition, tutti_op op);
/* The composition and this rank's plan as text; all ranks' plans as an SVG picture. To be freed with free(). */
TUTTI_API tutti_status tutti_composition_print(tutti_composition *composition, char **text);
TUTTI_API tutti_status tutti_composition_draw(tutti_composition *composition, char **svg);

/* Where blocks lie, in elements; arrays of block_count each, borrowed until the request is destroyed. Only those of
 * blocks that this rank reads, writes or forwards matter. A block that is written overlaps no other one. Where both
 * ends of a move do not say the same count, all ranks have TUTTI_ERR_MISMATCH, at the latest when all have come to the
 * call. */
typedef struct tutti_block_table {
  const int64_t *counts;
  const int64_t *in_offsets, *out_offsets; /* NULL: block after block */
} tutti_block_table;

/* A persistent request (tutti/requests.h): all ranks make it, in the same order as their other calls, and start it when
 * they like. The first one freezes the composition: nothing more can be added. type and op as in tutti_allreduce; op
 * matters only where something is reduced. */
TUTTI_API tutti_status tutti_composition_init(tutti_composition *composition, const void *in, void *out,
                                              const tutti_block_table *blocks, tutti_type type, tutti_op op,
                                              tutti_request **request);

#ifdef __cplusplus
}
#endif
#endif

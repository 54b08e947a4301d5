/* tutti/composition.h - your own collectives, from the primitives that the built-in ones are made of.
 *
 *   M(root, ends, block)   multicast: the root's block goes to every rank of ends
 *   R(ends, root, block)   reduction: that block of all ranks of ends is combined on the root
 *
 * A composition is a list of stages. A stage may read what earlier stages brought. tutti compiles the composition with
 * parameters (docs/plan.md); it can prove, print and draw the plans, and start them any number of times:
 *
 *   tutti_composition_create(comm, 1, &of);                           // one block
 *   tutti_composition_stage(of, "reduce");
 *   tutti_composition_reduce(of, upper, 4, 0, 0, TUTTI_IN, TUTTI_OUT);   // ranks 4..7 -> rank 0
 *   tutti_composition_set_params(of, "[core:2-nomial]");
 *   tutti_composition_init(of, in, out, &blocks, TUTTI_FLOAT32, TUTTI_SUM, &request);
 *   tutti_request_start(request); tutti_wait(&request);
 *
 * Every rank of the communicator makes the same composition with the same calls, even a rank that takes no part: the
 * composition says what all ranks do. The primitives of a stage read what was there before the stage, and no two of
 * them write to the same place. All functions are local; only the requests of tutti_composition_init communicate.
 * Threads and errors: as in tutti/tutti.h. */
#ifndef TUTTI_COMPOSITION_H
#define TUTTI_COMPOSITION_H

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_composition tutti_composition;

/* TUTTI_IN and TUTTI_OUT are the user's buffers, in blocks. TUTTI_MID is scratch that tutti allocates, with room for
 * every block. */
typedef enum tutti_buffer { TUTTI_IN, TUTTI_OUT, TUTTI_MID } tutti_buffer;

/* Makes an empty composition of blocks 0 .. block_count - 1. block_count >= 1; block_count * ranks of comm <= 2^26.
 * comm must outlive the composition. */
TUTTI_API tutti_status tutti_composition_create(tutti_comm *comm, int64_t block_count, tutti_composition **composition);
/* Frees the composition; its requests must have been destroyed before. Accepts NULL. */
TUTTI_API void tutti_composition_destroy(tutti_composition *composition);

/* Begins a stage, which may read what earlier stages brought. Parameters refer to it by its name: a letter, then
 * letters, digits and '-', at most 23 characters. At most 8 stages. */
TUTTI_API tutti_status tutti_composition_stage(tutti_composition *composition, const char *name);

/* Adds M(root, ends, block) to the stage: brings the block from buffer `from` of the root to buffer `to` of the ends.
 * ends: end_count ascending ranks, copied; NULL: all ranks. `to` must not be TUTTI_IN. */
TUTTI_API tutti_status tutti_composition_multicast(tutti_composition *composition, int64_t root, const int64_t *ends,
                                                   int64_t end_count, int64_t block, tutti_buffer from,
                                                   tutti_buffer to);
/* Adds R(ends, root, block) to the stage: combines the block in `from` of all ends into `to` of the root. Arguments as
 * above. The root need not be one of the ends. */
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
  TUTTI_ENDS_RANGE /* the ranks 0 .. one */
} tutti_ends_kind;

/* Many primitives at once: for i in 0 .. count_i - 1, for j in 0 .. count_j - 1. Reductions of one family to several
 * roots share partial results where they can; that is what makes recursive doubling. */
typedef struct tutti_family {
  int reduces; /* 0: multicasts */
  int64_t count_i, count_j;
  tutti_affine root, block;
  tutti_ends_kind ends;
  tutti_affine one;
  const int64_t *list; /* copied */
  int64_t list_count;
  tutti_buffer from, to;
  int ordered; /* 1: combine operands in rank order even if the operator commutes */
} tutti_family;

/* Adds the primitives of a family to the stage. */
TUTTI_API tutti_status tutti_composition_add(tutti_composition *composition, const tutti_family *family);

/* in_place = 1: (in, block b) and (out, block b) are the same memory on every rank that has both. */
TUTTI_API tutti_status tutti_composition_set_in_place(tutti_composition *composition, int in_place);
/* Sets the parameters, as in tutti_comm_set_params; the default is "linear". TUTTI_ERR_PLAN: the text says what does
 * not fit. */
TUTTI_API tutti_status tutti_composition_set_params(tutti_composition *composition, const char *text);

/* Makes the plans of all ranks, as tutti_composition_init makes them for op, and proves that they do what the
 * primitives say, without deadlock or race. An op that does not commute combines in rank order; a composition without
 * reductions ignores op. TUTTI_ERR_PLAN: the text names rank, lane, step and reason. */
TUTTI_API tutti_status tutti_composition_verify(tutti_composition *composition, tutti_op op);
/* Prints the composition and this rank's plan as text, or draws all ranks' plans as SVG. Free the result with free().
 */
TUTTI_API tutti_status tutti_composition_print(tutti_composition *composition, char **text);
TUTTI_API tutti_status tutti_composition_draw(tutti_composition *composition, char **svg);

/* Where blocks lie, in elements. Each array has block_count entries and is borrowed until the request is destroyed.
 * Only the blocks that this rank reads, writes or forwards matter, and where offsets are NULL the counts of all. In
 * place, a rank passes NULL for a buffer that it does not have. A block that is written must not overlap another
 * block. If sender and receiver of a block pass different counts, all ranks get TUTTI_ERR_MISMATCH, at the latest when
 * all have come to the call. */
typedef struct tutti_block_table {
  const int64_t *counts;
  const int64_t *in_offsets, *out_offsets; /* NULL: one block after the other */
} tutti_block_table;

/* Makes a persistent request (tutti/requests.h). All ranks make it, in the same order among their other calls, and
 * start it when they like. The first request freezes the composition: nothing more can be added. type and op as in
 * tutti_allreduce; a composition without reductions ignores op. */
TUTTI_API tutti_status tutti_composition_init(tutti_composition *composition, const void *in, void *out,
                                              const tutti_block_table *blocks, tutti_type type, tutti_op op,
                                              tutti_request **request);

#ifdef __cplusplus
}
#endif
#endif

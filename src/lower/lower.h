/* lower/lower.h - (composition, topology, parameters, rank) -> that rank's plan. Pure; knows no collective.
 *
 * A tt_lowering holds what all ranks share (resolved levels, group tables); tt_lower_rank makes one rank's plan from
 * it. */
#ifndef TT_LOWER_LOWER_H
#define TT_LOWER_LOWER_H

#include "ir/ir.h"
#include "plan/plan.h"
#include "topo/topo.h"

typedef struct tt_shape tt_shape; /* a row of the table of shapes (lower/shape.h) */
typedef enum tt_labelling { TT_ROTATE, TT_XOR, TT_REFLECT, TT_LABELLING_COUNT } tt_labelling;
typedef enum tt_order { TT_NEAR, TT_FAR, TT_ORDER_COUNT } tt_order;

typedef struct tt_level_params {
  char name[TT_TOPO_NAME]; /* a level of the topology; a number: groups of as many neighbors inside the level before */
  const tt_shape *shape;
  int k;                       /* of shapes that have one, else 2 */
  tt_labelling labelling : 16; /* narrow, since lowering goes from level to level all the time */
  tt_order order : 16;
} tt_level_params;

typedef struct tt_stage_params {
  char stage[TT_STAGE_NAME]; /* "": every stage without its own */
  int level_count;
  tt_level_params level[TT_TOPO_LEVELS];
} tt_stage_params;

/* What a row says of its shape. */
typedef struct tt_shape_info {
  const char *name;    /* in parameters, where a shape with k is written k, '-', name: "2-nomial" */
  const char *tree;    /* for people: the tree over labels 0 .. f-1 */
  const char *rounds;  /* for people: how many over f groups */
  int k_least, k_most; /* 0: it has no k */
  unsigned labellings; /* a bit 1 << labelling for each that it can have */
  bool has_order;      /* near and far are different trees */
} tt_shape_info;

const tt_shape *const *tt_shape_table(size_t *count);
const tt_shape_info *tt_shape_about(const tt_shape *shape);

enum { TT_SHAPE_TEXT = 32 };
void tt_shape_print(const tt_level_params *level, char text[static TT_SHAPE_TEXT]); /* "star", "2-nomial" */
const char *tt_labelling_name(tt_labelling labelling);
const char *tt_order_name(tt_order order);

#define TT_STRIPE_ALL (-1) /* as many as the largest group that a stage begins with has members */

/* Parameters. Text form and grammar: docs/plan.md. */
typedef struct tt_params {
  char form[2 * TT_STAGE_NAME]; /* of the composition, for whoever makes it; "": the first */
  int stage_count;              /* 0: one level "core", star */
  tt_stage_params stage[TT_STAGES + 1];
  int64_t stripe;      /* 0: a primitive's own place represents it in each group; s: parts through s members */
  bool even;           /* block b is carried by member b modulo m of each group, m the most members of one */
  int64_t ring;        /* 0, or virtual nodes of the outermost chain */
  int64_t channels;    /* >= 1 */
  int64_t slice_bytes; /* 0: as large as a slot */
  bool reproducible;   /* stages that reduce are flat stars in rank order, whatever else is said of them */
  bool acc_float32; /* float16 and bfloat16 keep partial results in float32 from rank to rank; the plan is the same */
  bool single_copy; /* blocks are read where they lie, in other processes too; the plan is the same */
} tt_params;

void tt_params_init(tt_params *params);
/* Text or the name of a preset, or a preset followed by more text ("ring channels=2"). */
tutti_status tt_params_parse(const char *text, tt_params *params);
void tt_params_print(const tt_params *params, char *text, size_t size);

/* The outermost level of the topology that some stage begins with; NULL: none does. */
const tt_topo_level *tt_lower_outermost(const tt_params *params, const tt_topo *topo);

typedef struct tt_preset {
  const char *name;
  const char *text;
  const char *help;
} tt_preset;
const tt_preset *tt_preset_table(size_t *count);

typedef struct tt_lowering tt_lowering;
/* Borrows composition and topo until destroyed. TUTTI_ERR_PLAN where parameters do not fit, or do not keep the rank
 * order that the composition asks for, saying which and why: the same on all ranks. */
tutti_status tt_lowering_create(const tt_composition *composition, const tt_topo *topo, const tt_params *params,
                                tt_lowering **lowering);
void tt_lowering_destroy(tt_lowering *lowering);
tutti_status tt_lower_rank(const tt_lowering *lowering, int64_t rank, tt_plan **plan);
/* Whether some rank may pass on a block that neither begins nor ends there; equal on all ranks, and cheap. Such a rank
 * must know the block's length. */
bool tt_lowering_relays(const tt_lowering *lowering);

/* Permutations of ranks that map plans onto plans, whose messages have the same blocks in any order. The line is the
 * lowering's. TUTTI_ERR_UNSUPPORTED where none is known, saying why. */
tutti_status tt_lowering_symmetry(const tt_lowering *lowering, tt_symmetry *symmetry);
/* Whether a permutation maps the plan onto that of the rank to which it moves the plan's: TUTTI_ERR_UNSUPPORTED. */
tutti_status tt_lower_check_image(const tt_lowering *lowering, const tt_symmetry *symmetry, const tt_plan *of,
                                  int64_t by);

/* What parameters came to at one level of one stage, after the passes that add levels; for people. */
typedef struct tt_level_info {
  char name[TT_TOPO_NAME]; /* with ".ring" or ".pair" where a pass has added it */
  tt_level_params params;
  int plan_level; /* its number in plans */
  int64_t group_count;
  int64_t fewest, most; /* groups that a tree of this level joins */
  int64_t rounds;
  bool fold, striped, publish; /* publish: a tree's root may */
} tt_level_info;

int tt_lowering_level_count(const tt_lowering *lowering, int stage);
tt_level_info tt_lowering_level(const tt_lowering *lowering, int stage, int level);
/* Round in which a stage begins; the number of all rounds for stage = stage_count. */
uint32_t tt_lowering_round(const tt_lowering *lowering, int stage);

#endif

/* lower/shape.h - tree shapes over labels 0..f-1, and labellings between labels and groups.
 *
 * The tree's root has label 0. A label v > 0 has a parent and a round in which the parent sends to it; rounds grow
 * along every path. A shape is a file shape_NAME.c with a row of functions, which answer in closed form
 * (docs/adding-a-shape.md), and a line of the table below. */
#ifndef TT_LOWER_SHAPE_H
#define TT_LOWER_SHAPE_H

#include "lower/lower.h"

#include <assert.h>

/* The table. Parameters, proofs, pictures and documentation go through it in this order. */
#define TT_SHAPES(row) row(star) row(chain) row(nomial) row(ary) row(planted) row(exchange) row(postal)

/* One level's tree over f groups. */
typedef struct tt_tree {
  const tt_level_params *level;
  int64_t f;
  bool backward; /* rotate, exchange: labels advance against the groups' order */
} tt_tree;

/* Labels first, first + stride, ... */
typedef struct tt_subset {
  int64_t first, stride, count;
} tt_subset;

/* Where a reduction has, whenever something comes, a run of groups to which that is next. */
typedef enum tt_order_kept {
  TT_KEPT_NOWHERE,
  TT_KEPT_FROM_END, /* where labels follow the groups from one end: those below a label are a run, late rounds first */
  TT_KEPT_ANYWHERE  /* whatever group the root is in */
} tt_order_kept;

/* Labels are from 0 to f - 1, and a parent's is lower. What may be NULL says what then holds. */
struct tt_shape {
  tt_shape_info info;
  bool direct; /* the root sends to every other label itself, all in one round */
  bool line;   /* labels come one after the other: each sends to the next one only */

  int64_t (*parent)(const tt_tree *tree, int64_t v); /* v > 0 */
  int64_t (*round)(const tt_tree *tree, int64_t v);  /* v > 0. NULL: one less than its depth */
  int64_t (*rounds)(const tt_tree *tree);            /* all rounds are below it; f > 1. NULL: f - 1 has the last */
  /* Children of v: *child is -1 first; false when there are no more. Ascending labels. */
  bool (*next_child)(const tt_tree *tree, int64_t v, int64_t *child);
  /* Whether u is v or below it; the child of v on the way down to u, u below v. NULL: found by going up from u. */
  bool (*is_under)(const tt_tree *tree, int64_t v, int64_t u);
  int64_t (*toward)(const tt_tree *tree, int64_t v, int64_t u);

  /* v and the labels below it, where they are a strided range for every v. NULL: they are not; next_row has them. */
  tt_subset (*below)(const tt_tree *tree, int64_t v);
  /* Goes on from first .. last, the labels of one depth below some v, to those of the next; false where there are none.
   * Labels grow with the depth. NULL: below has them. */
  bool (*next_row)(const tt_tree *tree, int64_t *first, int64_t *last);

  /* Which of a parent's branches (lanes that go on side by side) leads to v > 0. NULL: there is one. */
  int64_t (*branch)(const tt_tree *tree, int64_t v);
  /* Why it cannot be laid over f > 1 groups with this labelling; NULL where it can. NULL: it always can. */
  const char *(*misfit)(const tt_tree *tree);
  /* A labelling of its own: the label of a group where the root is in group `home`, and back. NULL: rotate, xor or
   * reflect. */
  int64_t (*label)(const tt_tree *tree, int64_t group, int64_t home);
  int64_t (*group)(const tt_tree *tree, int64_t v, int64_t home);

  bool (*shares)(const tt_tree *tree);               /* tt_shape_shares, f > 1. NULL: false */
  tt_order_kept (*keeps_order)(const tt_tree *tree); /* of reductions of several rounds. NULL: nowhere */
};

#define TT_SHAPE_DECLARE(name) extern const tt_shape tt_shape_##name;
TT_SHAPES(TT_SHAPE_DECLARE)
#undef TT_SHAPE_DECLARE

#define TT_ANY_LABELLING ((1U << TT_LABELLING_COUNT) - 1)
#define TT_K_MOST 4096 /* of shapes that do not mind */

/* ---- the tree (shape.c) ---- */

static inline int64_t tt_shape_parent(const tt_tree *tree, int64_t v) {
  assert(v > 0 && v < tree->f);
  int64_t parent = tree->level->shape->parent(tree, v);
  assert(parent >= 0 && parent < v);
  return parent;
}
static inline bool tt_shape_next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  return tree->level->shape->next_child(tree, v, child);
}

int64_t tt_shape_round(const tt_tree *tree, int64_t v);
int64_t tt_shape_rounds(const tt_tree *tree);
bool tt_shape_is_under(const tt_tree *tree, int64_t v, int64_t u);
int64_t tt_shape_toward(const tt_tree *tree, int64_t v, int64_t u);
int64_t tt_shape_branch(const tt_tree *tree, int64_t v);
const char *tt_shape_misfit(const tt_tree *tree);
/* v and those below it; stride 0 where they are no strided range. */
tt_subset tt_shape_below(const tt_tree *tree, int64_t v);
/* v and the labels below it, each once: begin with u = v; f when there are no more. */
int64_t tt_shape_next_below(const tt_tree *tree, int64_t v, int64_t u);

/* ---- labels over groups (label.c) ---- */

int64_t tt_shape_label(const tt_tree *tree, int64_t group, int64_t home);
int64_t tt_shape_group(const tt_tree *tree, int64_t v, int64_t home);

/* The groups below v (v included) as first, first + stride, ..., around: equal for equal sets, whatever the root. Where
 * there is no strided form, numbers that are unique to (home, v), with stride 0. */
tt_subset tt_shape_subset(const tt_tree *tree, int64_t v, int64_t home);

/* Whether one of the groups 0 .. count - 1 is below v (v included). */
bool tt_shape_meets(const tt_tree *tree, int64_t v, int64_t home, int64_t count);

/* Whether ranks reduce in the same order whatever the root, so that one partial result serves the trees of several
 * roots. */
bool tt_shape_shares(const tt_tree *tree);

/* Whether what comes in each round of a reduction is next to what is there, in the order of the groups: with the root
 * in group `home`; in any group. */
bool tt_shape_keeps_order(const tt_tree *tree, int64_t home);
bool tt_shape_always_keeps_order(const tt_tree *tree);

#endif

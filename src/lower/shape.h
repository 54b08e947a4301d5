/* lower/shape.h - tree shapes over labels 0..f-1 and labellings between labels and groups, all in closed form.
 *
 * The tree's root has label 0. A label v > 0 has a parent and a round in which the parent sends to it; rounds grow
 * along every path. The labels below v are a strided range where the shape has one (docs/adding-a-shape.md). */
#ifndef TT_LOWER_SHAPE_H
#define TT_LOWER_SHAPE_H

#include "lower/lower.h"

/* One level's tree over f groups. */
typedef struct tt_tree {
  const tt_level_params *level;
  int64_t f;
  bool backward; /* rotate, exchange: labels advance against the groups' order */
} tt_tree;

/* ---- the tree (shape.c) ---- */

int64_t tt_shape_parent(const tt_tree *tree, int64_t v);
int64_t tt_shape_round(const tt_tree *tree, int64_t v); /* of v > 0 */
int64_t tt_shape_rounds(const tt_tree *tree);           /* all rounds are below it */
/* Children of v: call with *child = -1 first; false when there are no more. Ascending labels. */
bool tt_shape_next_child(const tt_tree *tree, int64_t v, int64_t *child);
/* Whether u is v or below it, and the child of v on the way down to u (u below v, u != v). */
bool tt_shape_is_under(const tt_tree *tree, int64_t v, int64_t u);
int64_t tt_shape_toward(const tt_tree *tree, int64_t v, int64_t u);
/* v and the labels below it, each once: begin with u = v; f when there are no more. */
int64_t tt_shape_next_below(const tt_tree *tree, int64_t v, int64_t u);
/* K-ary and planted: labels of one depth below a label are a run. Goes on from one to the next; false where it is
 * empty.
 */
bool tt_shape_next_row(const tt_tree *tree, int64_t *first, int64_t *last);
/* Which of a parent's ways (lanes that go on side by side) leads to v: the child's number in k-ary trees, else 0. */
int64_t tt_shape_way(const tt_tree *tree, int64_t v);
/* Why the shape cannot be laid over f groups with this labelling; NULL where it can. */
const char *tt_shape_misfit(const tt_tree *tree);

/* Labels first, first + stride, ...; stride 0: the shape has no strided form. Of v and those below it. */
typedef struct tt_subset {
  int64_t first, stride, count;
} tt_subset;
tt_subset tt_shape_below(const tt_tree *tree, int64_t v);

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

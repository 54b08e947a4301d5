/* job/shapes.c - which shapes the communicators of a job may have: for these, rank 0 asks what was learned before
 * anybody makes one. Of a small job all; of a large one those that programs make. */
#include "job/context.h"
#include "job/wisdom.h"

#include <stdlib.h>

#define EACH 16 /* ranks of a job of which all shapes are listed */

/* Of what plans take for nodes. */
static int64_t node_of(const tutti_context *context, int64_t rank) {
  return context->machine.groups    ? context->machine.groups[rank]
         : context->machine.head_of ? context->machine.head_of[rank]
                                    : 0;
}

static int by_number(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* each: the ranks of the largest. 0: no memory. */
static int64_t count_nodes(const tutti_context *context, int64_t *each) {
  int64_t *node = malloc((size_t)context->size * sizeof *node), nodes = 0, run = 0;
  *each = 0;
  for (int64_t r = 0; node && r < context->size; r++)
    node[r] = node_of(context, r);
  if (node)
    qsort(node, (size_t)context->size, sizeof *node, by_number);
  for (int64_t r = 0; node && r < context->size; r++) {
    bool first = r == 0 || node[r] != node[r - 1];
    run = first ? 1 : run + 1;
    nodes += first;
    *each = run > *each ? run : *each;
  }
  free(node);
  return nodes;
}

typedef struct list {
  const tutti_context *context;
  tt_region *shape;
  int64_t count;
} list;

static void add(list *of, int64_t ranks, int64_t nodes, int64_t each) {
  if (of->count < TT_SHAPES && ranks > 1)
    of->shape[of->count++] = (tt_region){
        .rank_count = ranks, .node_count = nodes, .ranks_per_node = each, .nic_count = of->context->machine.nic_count};
}

/* Nodes, and ranks on one of them; the others have at least one. */
static void add_all(list *of, int64_t nodes, int64_t each) {
  for (int64_t n = 1; n <= nodes; n++)
    for (int64_t e = 1; e <= each; e++)
      for (int64_t ranks = e + n - 1; ranks <= n * e && ranks <= of->context->size; ranks++)
        if (ranks < of->context->size || n < nodes || e < each)
          add(of, ranks, n, e);
}

/* One rank of each node; and inside a node powers of two, and all. */
static void add_usual(list *of, int64_t nodes, int64_t each) {
  if (nodes > 1 && each > 1)
    add(of, nodes, nodes, 1);
  for (int64_t ranks = 2; ranks < each; ranks *= 2)
    add(of, ranks, 1, ranks);
  if (nodes > 1)
    add(of, each, 1, each);
}

int64_t tt_shapes_list(const tutti_context *context, tt_region shape[static TT_SHAPES]) {
  list of = {.context = context, .shape = shape};
  int64_t each, nodes = count_nodes(context, &each);
  if (nodes == 0)
    return 0;
  add(&of, context->size, nodes, each); /* first: there may not be room for all */
  (context->size <= EACH ? add_all : add_usual)(&of, nodes, each);
  return of.count;
}

/* verify/scc.h - strongly connected components of a graph that is given by its predecessors. */
#ifndef TT_VERIFY_SCC_H
#define TT_VERIFY_SCC_H

#include "base/base.h"

/* Where the walk over a node's predecessors stands: the graph's own, zero before the first. */
typedef struct tt_cursor {
  uint32_t member, edge;
  bool begun;
} tt_cursor;

typedef struct tt_precedence {
  const void *context;
  uint32_t node_count;
  uint32_t (*before)(const void *context, uint32_t node, tt_cursor *cursor); /* next predecessor; UINT32_MAX: no more */
} tt_precedence;

typedef struct tt_components {
  uint32_t count;
  uint32_t *component; /* of each node; never lower than that of a predecessor */
  uint32_t *order;     /* nodes by component */
} tt_components;

/* False where memory is exhausted. The result lives in the arena. */
bool tt_verify_components(const tt_precedence *graph, tt_arena *arena, tt_components *components);
/* A shortest path from `to` back to `from`, along predecessors inside their component: path[0] = to, the last one =
 * from. Returns its length; nodes past `room` are left out. The two must be in one component. */
uint32_t tt_verify_path(const tt_precedence *graph, const tt_components *components, tt_arena *arena, uint32_t to,
                        uint32_t from, uint32_t *path, uint32_t room);

#endif

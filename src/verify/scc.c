/* verify/scc.c - Tarjan's algorithm (1972) over predecessors, without recursion: chains of steps are long.
 *
 * Walking to predecessors, a component is complete only after all that it needs, so the order in which components come
 * out is an order in which the nodes can run. Linear in nodes and edges. */
#include "verify/scc.h"

#include <assert.h>

typedef struct frame {
  uint32_t node;
  tt_cursor cursor;
} frame;

typedef struct search {
  const tt_precedence *graph;
  tt_components *out;
  uint32_t *index, *low; /* index: order of discovery from 1; 0: not found yet */
  uint32_t *open;        /* nodes whose component is not complete */
  frame *frame;
  uint32_t found, open_count, depth, done;
} search;

static void enter(search *in, uint32_t node) {
  assert(in->index[node] == 0 && in->depth < in->graph->node_count);
  in->index[node] = in->low[node] = ++in->found;
  in->open[in->open_count++] = node;
  in->frame[in->depth++] = (frame){node, {0, 0, false}};
}

static void lower(search *in, uint32_t node, uint32_t value) {
  if (value < in->low[node])
    in->low[node] = value;
}

static void close_component(search *in, uint32_t root) {
  uint32_t node;
  do {
    node = in->open[--in->open_count];
    in->out->component[node] = in->out->count;
    in->out->order[in->done++] = node;
  } while (node != root);
  in->out->count++;
}

static void leave(search *in) {
  uint32_t node = in->frame[--in->depth].node;
  if (in->low[node] == in->index[node])
    close_component(in, node);
  if (in->depth > 0)
    lower(in, in->frame[in->depth - 1].node, in->low[node]);
}

static void visit(search *in, uint32_t root) {
  enter(in, root);
  while (in->depth > 0) {
    frame *top = &in->frame[in->depth - 1];
    uint32_t before = in->graph->before(in->graph->context, top->node, &top->cursor);
    if (before == UINT32_MAX)
      leave(in);
    else if (in->index[before] == 0)
      enter(in, before);
    else if (in->out->component[before] == UINT32_MAX)
      lower(in, top->node, in->index[before]);
  }
}

bool tt_verify_components(const tt_precedence *graph, tt_arena *arena, tt_components *components) {
  uint32_t count = graph->node_count;
  *components = (tt_components){0, tt_arena_alloc(arena, count, sizeof(uint32_t)),
                                tt_arena_alloc(arena, count, sizeof(uint32_t))};
  search in = {.graph = graph,
               .out = components,
               .index = tt_arena_alloc(arena, count, sizeof(uint32_t)),
               .low = tt_arena_alloc(arena, count, sizeof(uint32_t)),
               .open = tt_arena_alloc(arena, count, sizeof(uint32_t)),
               .frame = tt_arena_alloc(arena, count, sizeof(frame))};
  if (arena->failed)
    return false;
  for (uint32_t node = 0; node < count; node++)
    components->component[node] = UINT32_MAX;
  for (uint32_t node = 0; node < count; node++)
    if (in.index[node] == 0)
      visit(&in, node);
  return true;
}

/* Breadth first; came[node]: the node that it was found from. Queue and came share one table. */
static void spread(const tt_precedence *graph, const tt_components *components, uint32_t to, uint32_t from,
                   uint32_t *came, uint32_t *queue) {
  uint32_t head = 0, tail = 0;
  queue[tail++] = to;
  while (head < tail && came[from] == UINT32_MAX) {
    uint32_t node = queue[head++];
    tt_cursor cursor = {0, 0, false};
    for (uint32_t before; (before = graph->before(graph->context, node, &cursor)) != UINT32_MAX;)
      if (components->component[before] == components->component[to] && came[before] == UINT32_MAX) {
        came[before] = node;
        queue[tail++] = before;
      }
  }
}

uint32_t tt_verify_path(const tt_precedence *graph, const tt_components *components, tt_arena *arena, uint32_t to,
                        uint32_t from, uint32_t *path, uint32_t room) {
  uint32_t *came = tt_arena_alloc(arena, graph->node_count, sizeof *came);
  uint32_t *queue = tt_arena_alloc(arena, graph->node_count + 1u, sizeof *queue);
  if (arena->failed)
    return 0;
  for (uint32_t n = 0; n < graph->node_count; n++)
    came[n] = UINT32_MAX;
  spread(graph, components, to, from, came, queue);
  uint32_t length = 1;
  for (uint32_t node = from; node != to || length == 1; node = came[node], length++)
    if (came[node] == UINT32_MAX)
      return 0;
  uint32_t node = from;
  for (uint32_t at = length; at-- > 0; node = came[node])
    if (at < room)
      path[at] = node;
  return length;
}

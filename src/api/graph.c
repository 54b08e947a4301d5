/* api/graph.c - graphs over a communicator: every rank gives its own edges and gets all of them, or knows them all.
 *
 * An edge is given twice, by its source and by its destination. Both lists, sorted, must be the same; an edge's number
 * is its place in them, so that the n-th of several between two ranks is the same one on both. Every rank checks all of
 * it, so that all get the same error. */
#include "api/api.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What each rank says first. */
typedef struct head {
  int64_t missing; /* 0, or 1: sources is NULL, 2: destinations */
  int64_t in_count, out_count;
} head;

_Static_assert(sizeof(head) == 3 * sizeof(int64_t), "heads are exchanged as words");

/* One end of an edge. */
typedef struct end {
  int64_t from, to;
  int64_t place; /* in the list of the rank that gave it */
} end;

typedef struct ends { /* of all ranks */
  tt_arena arena;
  head *of;              /* each rank */
  int64_t *count, *list; /* of each rank: how many; all ranks' sources and destinations, rank by rank */
  int64_t total, in_count, out_count;
  end *in, *out; /* sorted */
} ends;

/* ---- collecting ---- */

static tutti_status no_memory(tutti_comm *comm) {
  return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for a graph", comm->rank);
}

static tutti_status bad_head(int64_t rank, const head *of) {
  if (of->missing)
    return tt_fail(TUTTI_ERR_ARGUMENT, "a graph: rank %" PRId64 ": %s is NULL", rank,
                   of->missing == 1 ? "sources" : "destinations");
  bool in = of->in_count < 0 || of->in_count > INT32_MAX;
  return tt_fail(TUTTI_ERR_ARGUMENT, "a graph: rank %" PRId64 ": %s is %" PRId64, rank, in ? "in_count" : "out_count",
                 in ? of->in_count : of->out_count);
}

static bool allocate_heads(const tutti_comm *comm, ends *all) {
  all->of = tt_arena_alloc(&all->arena, (size_t)comm->size, sizeof *all->of);
  all->count = tt_arena_alloc(&all->arena, (size_t)comm->size, sizeof *all->count);
  return !all->arena.failed;
}

/* How many edges each rank has. */
static tutti_status add_heads(const tutti_comm *comm, ends *all) {
  for (int64_t r = 0; r < comm->size; r++) {
    const head *of = &all->of[r];
    if (of->missing || of->in_count < 0 || of->out_count < 0 || of->in_count > INT32_MAX || of->out_count > INT32_MAX)
      return bad_head(r, of);
    all->count[r] = of->in_count + of->out_count;
    all->in_count += of->in_count;
    all->out_count += of->out_count;
    all->total += all->count[r];
  }
  return TUTTI_OK;
}

static tutti_status collect_heads(tutti_comm *comm, const head *mine, ends *all) {
  if (!allocate_heads(comm, all))
    return no_memory(comm);
  tutti_status status =
      tt_comm_exchange(comm, (const int64_t *)mine, (int64_t *)all->of, sizeof *mine / sizeof(int64_t));
  return status == TUTTI_OK ? add_heads(comm, all) : status;
}

static void copy_ranks(int64_t *to, const int64_t *from, int64_t count) {
  if (count > 0)
    memcpy(to, from, (size_t)count * sizeof *to);
}

static bool allocate_ends(ends *all) {
  all->list = tt_arena_alloc(&all->arena, (size_t)all->total, sizeof *all->list);
  all->in = tt_arena_alloc(&all->arena, (size_t)all->in_count, sizeof *all->in);
  all->out = tt_arena_alloc(&all->arena, (size_t)all->out_count, sizeof *all->out);
  return !all->arena.failed;
}

static tutti_status collect_lists(tutti_comm *comm, const int64_t *sources, const int64_t *destinations, ends *all) {
  const head *own = &all->of[comm->rank];
  int64_t *mine = tt_arena_alloc(&all->arena, (size_t)all->count[comm->rank], sizeof *mine);
  if (!allocate_ends(all))
    return no_memory(comm);
  copy_ranks(mine, sources, own->in_count);
  copy_ranks(mine + own->in_count, destinations, own->out_count);
  return tt_comm_exchangev(comm, mine, all->list, all->count);
}

/* What the two above come to, where it is known already. */
static tutti_status take_edges(tutti_comm *comm, const int64_t *in_counts, const int64_t *out_counts,
                               const int64_t *edges, ends *all) {
  if (!allocate_heads(comm, all))
    return no_memory(comm);
  for (int64_t r = 0; r < comm->size; r++)
    all->of[r] = (head){.in_count = in_counts[r], .out_count = out_counts[r]};
  tutti_status status = add_heads(comm, all);
  if (status != TUTTI_OK)
    return status;
  if (all->total > 0 && !edges)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_graph_create_known: edges is NULL");
  if (!allocate_ends(all))
    return no_memory(comm);
  copy_ranks(all->list, edges, all->total);
  return TUTTI_OK;
}

/* ---- both ends of every edge ---- */

static tutti_status check_ranks(const tutti_comm *comm, int64_t rank, const char *what, const int64_t *list,
                                int64_t count) {
  for (int64_t n = 0; n < count; n++)
    if (list[n] < 0 || list[n] >= comm->size)
      return tt_fail(TUTTI_ERR_ARGUMENT, "a graph: rank %" PRId64 ": %s[%" PRId64 "] is %" PRId64, rank, what, n,
                     list[n]);
  return TUTTI_OK;
}

static int by_ranks(const void *a, const void *b) {
  const end *x = a, *y = b;
  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  if (x->to != y->to)
    return x->to < y->to ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static tutti_status sort_ends(const tutti_comm *comm, ends *all) {
  const int64_t *list = all->list;
  end *in = all->in, *out = all->out;
  for (int64_t r = 0; r < comm->size; r++) {
    tutti_status status = check_ranks(comm, r, "sources", list, all->of[r].in_count);
    if (status == TUTTI_OK)
      status = check_ranks(comm, r, "destinations", list + all->of[r].in_count, all->of[r].out_count);
    if (status != TUTTI_OK)
      return status;
    for (int64_t n = 0; n < all->of[r].in_count; n++)
      *in++ = (end){*list++, r, n};
    for (int64_t n = 0; n < all->of[r].out_count; n++)
      *out++ = (end){r, *list++, n};
  }
  assert(in == all->in + all->in_count && out == all->out + all->out_count && list == all->list + all->total);
  qsort(all->in, (size_t)all->in_count, sizeof *in, by_ranks);
  qsort(all->out, (size_t)all->out_count, sizeof *out, by_ranks);
  return TUTTI_OK;
}

static int64_t count_edges(const end *list, int64_t count, const end *like) {
  int64_t found = 0;
  for (int64_t n = 0; n < count; n++)
    found += list[n].from == like->from && list[n].to == like->to;
  return found;
}

static tutti_status bad_edge(const ends *all, const end *edge) {
  return tt_fail(TUTTI_ERR_ARGUMENT,
                 "a graph: rank %" PRId64 " has rank %" PRId64 " among its destinations %" PRId64
                 " times, but is among the sources of that rank %" PRId64 " times",
                 edge->from, edge->to, count_edges(all->out, all->out_count, edge),
                 count_edges(all->in, all->in_count, edge));
}

static tutti_status match_ends(const ends *all) {
  for (int64_t e = 0; e < all->in_count || e < all->out_count; e++) {
    bool has_in = e < all->in_count, has_out = e < all->out_count;
    if (!has_in || (has_out && (all->out[e].from < all->in[e].from ||
                                (all->out[e].from == all->in[e].from && all->out[e].to < all->in[e].to))))
      return bad_edge(all, &all->out[e]);
    if (!has_out || all->out[e].from != all->in[e].from || all->out[e].to != all->in[e].to)
      return bad_edge(all, &all->in[e]);
  }
  return TUTTI_OK;
}

/* ---- the graph ---- */

static bool allocate(tutti_graph *graph, int64_t edge_count) {
  tt_arena *arena = &graph->arena;
  int64_t selves = graph->in_count < graph->out_count ? graph->in_count : graph->out_count;
  graph->in_edge = tt_arena_alloc(arena, (size_t)graph->in_count, sizeof *graph->in_edge);
  graph->out_edge = tt_arena_alloc(arena, (size_t)graph->out_count, sizeof *graph->out_edge);
  graph->self_in = tt_arena_alloc(arena, (size_t)selves, sizeof *graph->self_in);
  graph->self_out = tt_arena_alloc(arena, (size_t)selves, sizeof *graph->self_out);
  graph->from = tt_arena_alloc(arena, (size_t)edge_count, sizeof *graph->from);
  graph->to = tt_arena_alloc(arena, (size_t)edge_count, sizeof *graph->to);
  return !arena->failed;
}

static void fill(tutti_graph *graph, const ends *all) {
  int64_t rank = graph->comm->rank;
  assert(all->in_count == all->out_count);
  for (int64_t e = 0; e < all->out_count; e++) {
    const end *in = &all->in[e], *out = &all->out[e];
    assert(in->from == out->from && in->to == out->to); /* match_ends */
    graph->from[e] = (int32_t)out->from;
    graph->to[e] = (int32_t)out->to;
    if (out->from == rank)
      graph->out_edge[out->place] = e;
    if (in->to == rank)
      graph->in_edge[in->place] = e;
    if (out->from == rank && in->to == rank) {
      graph->self_out[graph->self_count] = out->place;
      graph->self_in[graph->self_count++] = in->place;
    }
  }
}

static void free_graph(tutti_graph *graph) {
  tt_arena_finish(&graph->arena);
  free(graph);
}

static tutti_status make(tutti_comm *comm, const ends *all, tutti_graph **graph) {
  tutti_graph *made = calloc(1, sizeof *made);
  if (!made)
    return no_memory(comm);
  made->comm = comm;
  made->number = ++comm->graphs.last;
  made->in_count = all->of[comm->rank].in_count;
  made->out_count = all->of[comm->rank].out_count;
  tt_arena_init(&made->arena);
  bool fits = allocate(made, all->out_count);
  if (fits)
    fill(made, all);
  made->all = (tt_graph){.rank_count = comm->size, .edge_count = all->out_count, .from = made->from, .to = made->to};
  if (!fits || tt_compose_graph(&made->all, &made->arena) != TUTTI_OK) {
    free_graph(made);
    return no_memory(comm);
  }
  assert(made->self_count <= made->in_count && made->self_count <= made->out_count);
  made->next = comm->graphs.list;
  comm->graphs.list = made;
  *graph = made;
  return TUTTI_OK;
}

/* status: of the collecting. */
static tutti_status create(tutti_comm *comm, tutti_status status, ends *all, tutti_graph **graph) {
  if (status == TUTTI_OK)
    status = sort_ends(comm, all);
  if (status == TUTTI_OK)
    status = match_ends(all);
  if (status == TUTTI_OK)
    status = make(comm, all, graph);
  tt_arena_finish(&all->arena);
  return status;
}

tutti_status tutti_graph_create(tutti_comm *comm, int64_t in_count, const int64_t *sources, int64_t out_count,
                                const int64_t *destinations, tutti_graph **graph) {
  if (!comm || !graph)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_graph_create: %s is NULL", comm ? "graph" : "comm");
  if (tt_context_is_copy(comm->context))
    return tt_fork_refuse(comm->context, "tutti_graph_create");
  TT_HOLD(comm->context);
  if (tt_agree_prepare(comm) != TUTTI_OK) /* before anything fails that the others should hear of */
    return tt_agree_verdict(comm);
  const head mine = {in_count > 0 && !sources ? 1 : out_count > 0 && !destinations ? 2 : 0, in_count, out_count};
  ends all = {.total = 0};
  tt_arena_init(&all.arena);
  tutti_status status = collect_heads(comm, &mine, &all);
  if (status == TUTTI_OK)
    status = collect_lists(comm, sources, destinations, &all);
  return create(comm, status, &all, graph);
}

tutti_status tutti_graph_create_known(tutti_comm *comm, const int64_t *in_counts, const int64_t *out_counts,
                                      const int64_t *edges, tutti_graph **graph) {
  if (!comm || !graph || !in_counts || !out_counts)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_graph_create_known: %s is NULL",
                   !comm    ? "comm"
                   : !graph ? "graph"
                            : "in_counts or out_counts");
  if (tt_context_is_copy(comm->context))
    return tt_fork_refuse(comm->context, "tutti_graph_create_known");
  TT_HOLD(comm->context);
  if (tt_agree_prepare(comm) != TUTTI_OK)
    return tt_agree_verdict(comm);
  ends all = {.total = 0};
  tt_arena_init(&all.arena);
  return create(comm, take_edges(comm, in_counts, out_counts, edges, &all), &all, graph);
}

/* ---- its end ---- */

/* Those that calls still known to ranks may be told of (lengths.c) stay, unless all go. */
static void free_ended(tutti_comm *comm, bool all) {
  tutti_graph **at = &comm->graphs.list;
  while (*at) {
    tutti_graph *graph = *at;
    assert(!graph->ended || graph->last_number <= comm->calls.last_number);
    if (graph->ended && (all || comm->calls.last_number - graph->last_number >= TT_RECORDS)) {
      *at = graph->next;
      free_graph(graph);
    } else
      at = &graph->next;
  }
}

void tt_comm_free_graphs(tutti_comm *comm) { free_ended(comm, true); }

void tutti_graph_destroy(tutti_graph *graph) {
  if (!graph || tt_context_is_copy(graph->comm->context))
    return;
  tutti_comm *comm = graph->comm;
  TT_HOLD(comm->context);
  tt_recall_forget_graph(comm, graph); /* it leans on entries */
  tt_entry_forget(comm, graph);
  graph->ended = true;
  graph->last_number = comm->calls.last_number;
  free_ended(comm, false);
}

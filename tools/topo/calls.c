/* tools/topo/calls.c - the calls that ranks are placed for: one collective, or those of a job's statistics.
 *
 * The file of TUTTI_STATS (docs/mpi.md) has, for each collective, all ranks' calls and bytes, and how many calls ran
 * with which parameters. So calls of one collective are taken to be equally long, and to be made by all ranks. */
#include "calls.h"

#include "api/api.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define USUAL "1M"

/* ---- one collective ---- */

static tutti_status read_one(const topo_place_options *options, tt_arena *arena, topo_calls *calls) {
  const char *size = options->size ? options->size : USUAL;
  calls->call = tt_arena_alloc(arena, 1, sizeof *calls->call);
  if (!calls->call)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a call");
  *calls->call = (topo_call){
      .problem = options->plan->problem, .params = options->plan->params[0] ? options->plan->params : NULL, .count = 1};
  int64_t bytes;
  if (tt_parse_bytes(size, &bytes) != TUTTI_OK || bytes < 1 || bytes > PLAN_BYTES_MOST)
    return tt_fail(TUTTI_ERR_ARGUMENT, "--place: '%s' is not a size from 1 to 1024G, such as 8, 64K, 1M or 2G", size);
  calls->call->bytes = bytes;
  calls->count = 1;
  calls->rank_count = options->plan->problem.rank_count;
  calls->title =
      tt_arena_format(arena, "%s of %s, %" PRId64 " ranks", options->plan->collective, size, calls->rank_count);
  return TUTTI_OK;
}

/* ---- statistics ---- */

typedef struct reader {
  const topo_place_options *options;
  tt_arena *arena;
  topo_calls *calls;
  int64_t room;
} reader;

static tt_collective collective_of(const char *name) {
  static const struct {
    const char *mpi, *ours;
  } other[] = {{"bcast", "broadcast"},
               {"reduce_scatter_block", "reduce-scatter"},
               {"reduce_scatter", "reduce-scatter"},
               {"alltoall", "all-to-all"},
               {"alltoallv", "all-to-all"},
               {"alltoallw", "all-to-all"},
               {"allgatherv", "allgather"},
               {"gatherv", "gather"},
               {"scatterv", "scatter"},
               {"neighbor_allgather", "neighbor-allgather"},
               {"neighbor_allgatherv", "neighbor-allgather"},
               {"neighbor_alltoall", "neighbor-all-to-all"},
               {"neighbor_alltoallv", "neighbor-all-to-all"},
               {"neighbor_alltoallw", "neighbor-all-to-all"}};
  for (size_t n = 0; n < TT_COUNT(other); n++)
    if (strcmp(other[n].mpi, name) == 0)
      return tt_compose_find(other[n].ours);
  return tt_compose_find(name);
}

/* n of a call: each rank counts what it gives or gets, whichever is more. Of a gather the root counts all of the
 * vector, the others a block each; of neighbors' calls an edge is what n is. */
static int64_t length(const reader *in, tt_collective collective, double bytes_a_call) {
  double ranks = (double)in->calls->rank_count, share = ranks;
  if (collective == TT_GATHER || collective == TT_SCATTER)
    share = 2 - 1 / ranks;
  else if (tt_compose_info(collective).has_graph)
    share = (double)in->options->plan->graph.edge_count;
  return (int64_t)fmax(1, fmin(bytes_a_call / share, PLAN_BYTES_MOST));
}

static void leave_out(reader *in, const char *name, const char *why) {
  topo_calls *calls = in->calls;
  calls->left_out =
      tt_arena_format(in->arena, "%s%s%s (%s)", calls->left_out, calls->left_out[0] ? ", " : "", name, why);
}

static void add(reader *in, topo_call call) {
  topo_calls *calls = in->calls;
  if (calls->count == in->room) {
    topo_call *more = tt_arena_alloc(in->arena, 2 * (size_t)in->room + 16, sizeof *more);
    if (!more)
      return;
    if (calls->count > 0)
      memcpy(more, calls->call, (size_t)calls->count * sizeof *more);
    calls->call = more;
    in->room = 2 * in->room + 16;
  }
  calls->call[calls->count++] = call;
}

static void read_collective(reader *in, const char *name, double served, double bytes, json_t *params) {
  double ranks = (double)in->calls->rank_count;
  tt_collective collective = collective_of(name);
  topo_call call = {.problem = {.collective = collective, .rank_count = in->calls->rank_count}};
  size_t n;
  json_t *line;
  const char *why = NULL;
  if (collective == TT_COLLECTIVE_COUNT)
    why = "unknown";
  else if (served <= 0)
    why = "no call ran on tutti";
  else if (tt_compose_info(collective).has_graph && !in->options->plan->problem.graph)
    why = "needs --graph";
  else if (tt_compose_info(collective).has_graph && in->options->plan->graph.edge_count == 0)
    why = "its graph has no edges";
  if (why) {
    leave_out(in, name, why);
    return;
  }
  if (tt_compose_info(collective).has_graph)
    call.problem.graph = in->options->plan->problem.graph;
  call.bytes = collective == TT_BARRIER ? 1 : length(in, collective, bytes / (served / ranks));
  json_array_foreach(params, n, line) {
    const char *text = json_string_value(json_object_get(line, "text"));
    call.params = text && text[0] ? tt_arena_format(in->arena, "%s", text) : NULL;
    call.count = (double)json_integer_value(json_object_get(line, "calls")) / ranks;
    if (call.count > 0)
      add(in, call);
  }
}

static tutti_status not_statistics(const char *path) {
  return tt_fail(TUTTI_ERR_ARGUMENT,
                 "%s is no file of statistics; TUTTI_STATS=FILE of a job with tutti mpirun makes one", path);
}

static tutti_status read_root(reader *in, json_t *root) {
  const char *path = in->options->stats;
  int64_t ranks = json_integer_value(json_object_get(root, "ranks")), given = in->options->plan->problem.rank_count;
  json_t *list = json_object_get(root, "collectives"), *row;
  size_t n;
  if (ranks < 1 || !json_is_array(list))
    return not_statistics(path);
  if (given != ranks)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s is of %" PRId64 " ranks, but %" PRId64 " are to be placed; use -n %" PRId64,
                   path, ranks, given, ranks);
  in->calls->rank_count = ranks;
  json_array_foreach(list, n, row) {
    const char *name = json_string_value(json_object_get(row, "name"));
    if (!name)
      return not_statistics(path);
    read_collective(in, name, json_number_value(json_object_get(row, "served")),
                    json_number_value(json_object_get(row, "bytes")), json_object_get(row, "params"));
  }
  if (in->arena->failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the statistics");
  in->calls->title = tt_arena_format(in->arena, "collectives of %s, %" PRId64 " ranks", path, ranks);
  return in->calls->count > 0 ? TUTTI_OK
                              : tt_fail(TUTTI_ERR_ARGUMENT, "%s: no collective can be placed for: %s", path,
                                        in->calls->left_out[0] ? in->calls->left_out : "there is none");
}

static tutti_status load(const char *path, json_t **root) {
  json_error_t error;
  *root = json_load_file(path, 0, &error);
  return *root ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "--stats: %s: %s", path, error.text);
}

tutti_status topo_stats_ranks(const char *path, int64_t *rank_count) {
  json_t *root;
  tutti_status status = load(path, &root);
  if (status != TUTTI_OK)
    return status;
  *rank_count = json_integer_value(json_object_get(root, "ranks"));
  json_decref(root);
  return *rank_count > 0 ? TUTTI_OK : not_statistics(path);
}

static tutti_status read_statistics(const topo_place_options *options, tt_arena *arena, topo_calls *calls) {
  reader in = {.options = options, .arena = arena, .calls = calls};
  json_t *root;
  tutti_status status = load(options->stats, &root);
  if (status != TUTTI_OK)
    return status;
  status = read_root(&in, root);
  json_decref(root);
  return status;
}

tutti_status topo_calls_make(const topo_place_options *options, tt_arena *arena, topo_calls *calls) {
  *calls = (topo_calls){.left_out = ""};
  return options->stats ? read_statistics(options, arena, calls) : read_one(options, arena, calls);
}

/* tools/verify/grid.c - the grid of cases: axes, their values, and the walk over them. */
#include "cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const int64_t rank_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 32, 64};
static const int64_t stripes[] = {0, 1, 3};
static const int64_t channel_counts[] = {1, 2};

/* ---- maps ---- */

enum { MAP_FLAT, MAP_EQUAL, MAP_UNEVEN, MAP_INTERLEAVED, MAPS };
static const char *const map_names[MAPS] = {"flat", "equal", "uneven", "interleaved"};

/* Node of a rank: equal ones of 4 (fewer in the last), uneven ones of 1, 2, 3, 4, 5, 1, ... and interleaved ones in
 * turn. */
static int64_t node_of(int map, int64_t rank, int64_t rank_count) {
  switch (map) {
  case MAP_EQUAL:
    return rank / 4;
  case MAP_UNEVEN: {
    int64_t node = 0;
    for (int64_t left = rank; left >= node % 5 + 1; node++)
      left -= node % 5 + 1;
    return node;
  }
  case MAP_INTERLEAVED:
    return rank % (rank_count / 3 + 1);
  default:
    return 0;
  }
}

const char *tt_case_map_name(const tt_case *one) { return map_names[one->at[TT_AXIS_MAP]]; }

/* ---- roots and graphs ---- */

enum { ROOTS = 4 };

/* Root 0, the last, the first rank of the last node (a leader) and one that is none. */
static int64_t root_of(int at, int64_t rank_count) {
  int64_t last = rank_count - 1, leader = rank_count / 4 * 4 < rank_count ? rank_count / 4 * 4 : last / 2;
  const int64_t roots[ROOTS] = {0, last, leader, last / 3};
  return roots[at];
}

enum { GRAPH_RING, GRAPH_GRID, GRAPH_SERVER, GRAPH_ALL, GRAPHS };

/* Whether there is an edge. A ring; a torus of rows of 4 (the last one may be shorter); rank 0 with all others, both
 * ways; every rank to every rank, itself included. */
static bool has_edge(int graph, int64_t from, int64_t to, int64_t ranks) {
  int64_t next = (from + 1) % ranks, before = (from + ranks - 1) % ranks;
  switch (graph) {
  case GRAPH_RING:
    return to == next;
  case GRAPH_GRID:
    return to == next || to == before || to == (from + 4) % ranks || from == (to + 4) % ranks;
  case GRAPH_SERVER:
    return (from == 0) != (to == 0);
  default:
    return true;
  }
}

tutti_status tt_case_graph(const tt_case *one, tt_arena *arena, tt_graph *graph) {
  int64_t ranks = one->problem.rank_count, count = 0;
  int32_t *from = tt_arena_alloc(arena, (size_t)(ranks * ranks), sizeof *from);
  int32_t *to = tt_arena_alloc(arena, (size_t)(ranks * ranks), sizeof *to);
  for (int64_t edge = 0; edge < ranks * ranks && !arena->failed; edge++)
    if (has_edge(one->at[TT_AXIS_ROOT], edge / ranks, edge % ranks, ranks)) {
      from[count] = (int32_t)(edge / ranks);
      to[count++] = (int32_t)(edge % ranks);
    }
  *graph = (tt_graph){.rank_count = ranks, .edge_count = count, .from = from, .to = to};
  return tt_compose_graph(graph, arena);
}

/* ---- axes ---- */

/* Its compositions are those of another collective: of the one whose counts do not differ from rank to rank. */
static bool has_twin(tt_collective collective) {
  const char *name = tt_compose_info(collective).name;
  char last = name[strlen(name) - 1];
  return last == 'v' || last == 'w' || collective == TT_NEIGHBOR_ALL_TO_ALL;
}

static int rank_count_choices(int64_t max_ranks) {
  int count = 0;
  while (count < (int)TT_COUNT(rank_counts) && rank_counts[count] <= max_ranks)
    count++;
  return count;
}

static int choices(const tt_case *one, tt_axis axis) {
  tt_collective_info info = tt_compose_info(one->problem.collective);
  bool square = info.in == TT_LAYOUT_ROW, pairs = square || (info.has_graph && one->at[TT_AXIS_ROOT] == GRAPH_ALL);
  bool thin = pairs && one->problem.rank_count > 32;
  size_t presets;
  switch (axis) {
  case TT_AXIS_IN_PLACE:
    return square || info.has_graph ? 1 : 2;
  case TT_AXIS_ORDER:
    return info.reduces && one->problem.collective != TT_BARRIER ? TT_ORDER_KINDS : 1;
  case TT_AXIS_CHANNELS:
    return has_twin(one->problem.collective) || thin ? 1 : TT_COUNT(channel_counts);
  case TT_AXIS_STRIPE:
    return has_twin(one->problem.collective) || thin ? 1 : TT_COUNT(stripes);
  case TT_AXIS_MAP:
    return thin ? MAP_EQUAL + 1 : MAPS;
  case TT_AXIS_ROOT:
    return info.has_root ? ROOTS : info.has_graph ? GRAPHS : 1;
  case TT_AXIS_PRESET:
    tt_preset_table(&presets);
    return (int)presets;
  default:
    return rank_count_choices(one->max_ranks);
  }
}

/* "1..17, 24, 32, 64 ranks" */
static void print_rank_counts(int64_t max_ranks) {
  int count = rank_count_choices(max_ranks), row = 1;
  while (row < count && rank_counts[row] == row + 1)
    row++;
  printf(row > 1 ? "1..%d" : "%d", row);
  for (; row < count; row++)
    printf(", %" PRId64, rank_counts[row]);
  fputs(count > 1 ? " ranks" : " rank", stdout);
}

void tt_case_print_axes(int64_t max_ranks) {
  size_t presets;
  tt_preset_table(&presets);
  printf("every form x %zu presets x ", presets);
  print_rank_counts(max_ranks);
  puts(
      " x roots 0, last, a leader, a non-leader\n"
      "  x maps flat, equal, uneven, interleaved x stripe 0, 1, 3 x channels 1, 2 x in place no, yes\n"
      "  x operands combined in any order, in rank order, reproducibly (where it reduces)\n"
      "neighbor collectives: a ring, a torus, one rank with all, all with all, in place of roots\n"
      "stripe 0 and channels 1 only: counts of each rank (...v, ...w) and neighbor-all-to-all, whose compositions are\n"
      "  those of their twins; and all-to-all, or neighbors all with all, of 64 ranks (4096 blocks), on two maps\n");
}

static void place(tt_case *one) {
  const tt_preset *preset;
  size_t presets;
  tt_collective_info info = tt_compose_info(one->problem.collective);
  one->problem.rank_count = rank_counts[one->at[TT_AXIS_RANKS]];
  one->problem.root = info.has_root ? root_of(one->at[TT_AXIS_ROOT], one->problem.rank_count) : 0;
  one->problem.in_place = one->at[TT_AXIS_IN_PLACE];
  one->problem.ordered = one->at[TT_AXIS_ORDER] == TT_ORDER_RANKS;
  preset = &tt_preset_table(&presets)[one->at[TT_AXIS_PRESET]];
  tt_params_init(&one->params);
  if (tt_params_parse(preset->text, &one->params) != TUTTI_OK)
    tt_log(TT_LOG_ERROR, "preset %s: %s", preset->name, tutti_last_error());
  one->params.stripe = stripes[one->at[TT_AXIS_STRIPE]];
  one->params.channels = channel_counts[one->at[TT_AXIS_CHANNELS]];
  one->params.reproducible = one->at[TT_AXIS_ORDER] == TT_ORDER_REPRODUCIBLE;
  one->level_count = 1;
  for (int64_t r = 0; r < one->problem.rank_count; r++)
    one->group_of[0][r] = node_of(one->at[TT_AXIS_MAP], r, one->problem.rank_count);
}

bool tt_case_first(tt_case *one, tt_collective collective, const char *form, int64_t max_ranks) {
  memset(one, 0, sizeof *one);
  one->problem.collective = collective;
  one->form = form;
  one->max_ranks = max_ranks;
  place(one);
  return max_ranks >= 1;
}

bool tt_case_next(tt_case *one) {
  int axis = 0;
  while (axis < TT_AXES && one->at[axis] + 1 >= choices(one, (tt_axis)axis))
    one->at[axis++] = 0;
  if (axis == TT_AXES)
    return false;
  one->at[axis]++;
  place(one);
  return true;
}

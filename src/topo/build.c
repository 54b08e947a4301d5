/* topo/build.c - a topology from where all ranks run: levels of switches, nodes, and what is inside them.
 *
 * A level's group is what is inside one group of the level before it and has one number there; so levels nest whatever
 * the numbers are. A machine may have several NUMA nodes in a package, or several packages in a NUMA node: the level
 * with fewer groups stands outside. */
#include "topo/topo.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INNER = 3, MOST = TT_TOPO_SWITCHES + 1 + INNER };

typedef struct candidate {
  char name[TT_TOPO_NAME];
  int64_t *group_of; /* of each rank: the first rank of its group */
  int64_t group_count;
} candidate;

typedef struct keyed {
  int64_t outer;
  uint64_t number;
  int64_t rank;
} keyed;

typedef struct builder {
  tt_arena *arena; /* of what is needed while building */
  const tt_locality *locality;
  int64_t rank_count;
  keyed *work;
  int64_t *node_of; /* first rank of each rank's node */
  candidate level[MOST];
  int count;
} builder;

static int by_group(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  if (x->outer != y->outer)
    return x->outer < y->outer ? -1 : 1;
  if (x->number != y->number)
    return x->number < y->number ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Parts each group of `outer` by the ranks' numbers, which stand in work[rank].number. NULL: no memory. */
static candidate divide(builder *b, const int64_t *outer, const char *name) {
  assert(strlen(name) < TT_TOPO_NAME);
  candidate level = {.group_of = tt_arena_alloc(b->arena, (size_t)b->rank_count, sizeof *level.group_of)};
  strcpy(level.name, name);
  for (int64_t r = 0; r < b->rank_count; r++) {
    b->work[r].outer = outer ? outer[r] : 0;
    b->work[r].rank = r;
  }
  qsort(b->work, (size_t)b->rank_count, sizeof *b->work, by_group);
  for (int64_t n = 0, first = 0; n < b->rank_count && level.group_of; n++) {
    if (n == 0 || b->work[n].outer != b->work[first].outer || b->work[n].number != b->work[first].number) {
      first = n;
      level.group_count++;
    }
    level.group_of[b->work[n].rank] = b->work[first].rank;
  }
  return level;
}

/* ---- switches and nodes ---- */

static bool find_nodes(builder *b) {
  for (int64_t r = 0; r < b->rank_count; r++)
    b->work[r].number = b->locality[r].node;
  b->node_of = divide(b, NULL, "node").group_of;
  return b->node_of;
}

static int count_switches(const builder *b) {
  int most = 0;
  for (int64_t r = 0; r < b->rank_count; r++) {
    int count = b->locality[b->node_of[r]].switch_count;
    most = count > most ? count : most;
  }
  return most < TT_TOPO_SWITCHES ? most : TT_TOPO_SWITCHES;
}

/* The switch at this depth; below a node's last one, that one: paths may have different lengths. */
static uint64_t switch_at(const tt_locality *locality, int depth) {
  int last = locality->switch_count - 1;
  return last < 0 ? 0 : locality->switch_of[depth < last ? depth : last];
}

/* A node is never parted: what its first rank says of switches holds. */
static bool add_switches(builder *b) {
  assert(b->count == 0); /* switches are outside all else */
  int depths = count_switches(b);
  for (int depth = 0; depth < depths; depth++) {
    char name[TT_TOPO_NAME] = "switch";
    if (depths - depth > 1)
      strcat(name, (char[]){(char)('0' + depths - depth), '\0'});
    for (int64_t r = 0; r < b->rank_count; r++)
      b->work[r].number = switch_at(&b->locality[b->node_of[r]], depth);
    b->level[b->count] = divide(b, depth ? b->level[depth - 1].group_of : NULL, name);
    if (!b->level[b->count++].group_of)
      return false;
  }
  return true;
}

static bool add_nodes(builder *b) {
  assert(b->count <= TT_TOPO_SWITCHES);
  for (int64_t r = 0; r < b->rank_count; r++)
    b->work[r].number = b->locality[r].node;
  b->level[b->count] = divide(b, b->count ? b->level[b->count - 1].group_of : NULL, "node");
  return b->level[b->count++].group_of;
}

/* ---- inside a node ---- */

static const struct {
  const char *name;
  size_t offset;
} inner[INNER] = {{"package", offsetof(tt_locality, package)},
                  {"numa", offsetof(tt_locality, numa)},
                  {"l3", offsetof(tt_locality, l3)}};

static uint64_t inner_number(const tt_locality *locality, int kind) {
  const void *number = (const char *)locality + inner[kind].offset;
  return (uint64_t)(*(const int32_t *)number);
}

static candidate divide_inner(builder *b, const int64_t *outer, int kind) {
  for (int64_t r = 0; r < b->rank_count; r++)
    b->work[r].number = inner_number(&b->locality[r], kind);
  return divide(b, outer, inner[kind].name);
}

static bool add_inner(builder *b) {
  assert(b->count > 0 && b->count <= MOST - INNER && strcmp(b->level[b->count - 1].name, "node") == 0);
  int order[INNER] = {0, 1, 2};
  int64_t groups[INNER];
  const int64_t *outer = b->level[b->count - 1].group_of;
  for (int n = 0; n < INNER; n++)
    groups[n] = divide_inner(b, outer, n).group_count;
  for (int n = 1; n < INNER; n++)
    for (int m = n; m > 0 && groups[order[m]] < groups[order[m - 1]]; m--) {
      int swapped = order[m];
      order[m] = order[m - 1];
      order[m - 1] = swapped;
    }
  for (int n = 0; n < INNER; n++) {
    b->level[b->count] = divide_inner(b, b->level[b->count - 1].group_of, order[n]);
    if (!b->level[b->count++].group_of)
      return false;
  }
  return !b->arena->failed;
}

/* ---- which of them stay ---- */

static bool is_node(const candidate *level) { return strcmp(level->name, "node") == 0; }

static void leave_out(builder *b, int number) {
  assert(number >= 0 && number < b->count && !is_node(&b->level[number]));
  memmove(&b->level[number], &b->level[number + 1], (size_t)(b->count - number - 1) * sizeof *b->level);
  b->count--;
}

/* Nested levels with equally many groups have the same. */
static void keep_what_separates(builder *b) {
  int64_t nodes = 0, within = b->rank_count;
  for (int n = 0; n < b->count; n++)
    nodes = is_node(&b->level[n]) ? b->level[n].group_count : nodes;
  for (int n = b->count - 1; n >= 0; n--) {
    const candidate *level = &b->level[n];
    int64_t groups = level->group_count;
    if (!is_node(level) && (groups == 1 || groups == within || groups == nodes))
      leave_out(b, n);
    else
      within = groups;
  }
}

/* Without "core", which has no map. */
static void keep_what_fits(builder *b) {
  while (b->count > TT_TOPO_LEVELS - 1) {
    int least = -1;
    double least_ratio = 0;
    for (int n = 0; n < b->count; n++) {
      int64_t within = n + 1 < b->count ? b->level[n + 1].group_count : b->rank_count;
      double ratio = (double)within / (double)b->level[n].group_count;
      if (!is_node(&b->level[n]) && (least < 0 || ratio < least_ratio)) {
        least = n;
        least_ratio = ratio;
      }
    }
    assert(least >= 0); /* the node is not alone */
    leave_out(b, least);
  }
}

static tutti_status no_memory(int64_t rank_count) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for a topology of %" PRId64 " ranks", rank_count);
}

static tutti_status build(builder *b, tt_arena *arena, tt_topo **topo) {
  b->work = tt_arena_alloc(b->arena, (size_t)b->rank_count, sizeof *b->work);
  tt_topo *built = tt_topo_flat(arena, b->rank_count);
  if (!b->work || !built || !find_nodes(b) || !add_switches(b) || !add_nodes(b) || !add_inner(b))
    return no_memory(b->rank_count);
  keep_what_separates(b);
  keep_what_fits(b);
  assert(b->count < TT_TOPO_LEVELS); /* with room for "core" */
  for (int n = 0; n < b->count; n++) {
    tutti_status status = tt_topo_add(built, arena, b->level[n].name, b->level[n].group_of);
    if (status != TUTTI_OK)
      return status;
  }
  *topo = built;
  return TUTTI_OK;
}

tutti_status tt_topo_build(tt_arena *arena, const tt_locality *locality, int64_t rank_count, tt_topo **topo) {
  assert(rank_count > 0);
  tt_arena scratch;
  tt_arena_init(&scratch);
  builder b = {.arena = &scratch, .locality = locality, .rank_count = rank_count};
  tutti_status status = build(&b, arena, topo);
  tt_arena_finish(&scratch);
  return status;
}

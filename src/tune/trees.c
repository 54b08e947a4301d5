/* tune/trees.c - which trees are worth a try: chains of levels, each with a shape.
 *
 *     levels    core | node/core | l3/core | node/l3/core ...      those of the machine that separate ranks
 *               4/core | 8/2/core | node/4/2/core ...              and sizes behind them: a node's ranks as 2 x 2 x 2
 *     shapes    of "core" alone: every row of the table of shapes, with k, labelling and order
 *               of several levels: the usual ones; the more levels, the fewer
 *
 * What a shape cannot be on this machine, the compiler says. */
#include "tune/trees.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN_LEVELS 4 /* of a tree */
#define SIZE_MOST 4096 /* of groups, in parameters */

typedef struct known_shape {
  const char *text;
  bool usual, pairs; /* as in tt_tree_text */
} known_shape;

/* Shapes of a level around others, and inside them. */
static const known_shape outer[] = {
    {"star", true, true},         {"chain", true, true},      {"chain,reflect", true, true},
    {"2-nomial,xor", true, true}, {"2-nomial", true, true},   {"2-nomial,far", false, false},
    {"2-planted", true, false},   {"2-ary", false, false},    {"4-nomial", false, false},
    {"8-nomial", false, false},   {"16-nomial", false, false}};
static const char *const inner[] = {"star", "chain", "2-nomial,xor"};

/* The same where operands combine in rank order. */
static const known_shape ordered_outer[] = {{"star", true, true},
                                            {"chain", true, true},
                                            {"chain,reflect", true, true},
                                            {"2-nomial,xor,far", true, true},
                                            {"2-nomial,reflect,far", true, true},
                                            {"2-nomial,far", false, false},
                                            {"4-nomial,xor,far", false, false}};
static const char *const ordered_inner[] = {"star", "chain", "2-nomial,xor,far"};

_Static_assert(TT_COUNT(inner) == TT_COUNT(ordered_inner), "one for the other");

typedef struct maker {
  tt_trees *trees;
  tt_arena *arena;
  const known_shape *outer;
  size_t outer_count;
  const char *const *inner;
} maker;

static const known_shape *find_known(const maker *of, const char *shape) {
  for (size_t n = 0; n < of->outer_count; n++)
    if (strcmp(of->outer[n].text, shape) == 0)
      return &of->outer[n];
  return NULL;
}

static tt_tree_text *add(const maker *of) {
  tt_trees *trees = of->trees;
  if (trees->count == trees->room) {
    int room = 2 * trees->room + 64;
    tt_tree_text *larger = tt_arena_alloc(of->arena, (size_t)room, sizeof *larger);
    if (!larger)
      return NULL;
    if (trees->count > 0)
      memcpy(larger, trees->tree, (size_t)trees->count * sizeof *larger);
    trees->tree = larger;
    trees->room = room;
  }
  return &trees->tree[trees->count++];
}

/* ---- flat trees ---- */

static void add_flat(const maker *of, const tt_level_params *level, int64_t ranks) {
  char shape[TT_SHAPE_TEXT], full[TT_TREE_TEXT];
  tt_shape_print(level, shape);
  snprintf(full, sizeof full, "%s%s%s%s", shape, level->labelling == TT_ROTATE ? "" : ",",
           level->labelling == TT_ROTATE ? "" : tt_labelling_name(level->labelling),
           level->order == TT_FAR ? ",far" : "");
  tt_tree_text *tree = add(of);
  if (!tree)
    return;
  const known_shape *known = find_known(of, full);
  *tree = (tt_tree_text){
      .usual = known && known->usual, .pairs = known && known->pairs, .level_count = 1, .groups = ranks, .most = 1};
  snprintf(tree->text, sizeof tree->text, "core:%.80s", full);
}

static void add_labellings(const maker *of, tt_level_params *level, int64_t ranks) {
  const tt_shape_info *info = tt_shape_about(level->shape);
  for (int labelling = 0; labelling < TT_LABELLING_COUNT; labelling++)
    for (int order = TT_NEAR; order <= (info->has_order ? TT_FAR : TT_NEAR); order++) {
      level->labelling = (tt_labelling)labelling;
      level->order = (tt_order)order;
      if (info->labellings >> labelling & 1)
        add_flat(of, level, ranks);
    }
}

/* k: the powers of two and 3, up to as many as there are ranks. */
static void add_all_flat(const maker *of, int64_t ranks) {
  static const int degrees[] = {2, 3, 4, 8, 16, 32, 64};
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  for (size_t n = 0; n < count; n++) {
    const tt_shape_info *info = tt_shape_about(shapes[n]);
    for (size_t d = 0; d < TT_COUNT(degrees) && (info->k_most || d == 0); d++) {
      tt_level_params level = {.name = "core", .shape = shapes[n], .k = degrees[d]};
      bool fits = degrees[d] >= info->k_least && degrees[d] <= info->k_most && (degrees[d] <= ranks || d == 0);
      if (!info->k_most || fits)
        add_labellings(of, &level, ranks);
    }
  }
}

/* ---- trees of several levels ---- */

typedef struct chain {
  char name[CHAIN_LEVELS][TT_TOPO_NAME]; /* of its levels, from the outermost */
  int count;
  int number, sizes;    /* sizes: levels that the machine does not have */
  int64_t groups, most; /* of the outermost level, and ranks of its largest group */
  bool of_size;         /* as in tt_tree_text */
} chain;

/* The outermost level has one shape, the next one another, those behind it are stars. */
static void add_tree(const maker *of, const chain *levels, const known_shape *first, const char *second) {
  tt_tree_text *tree = add(of);
  if (!tree)
    return;
  bool plain = levels->sizes <= 1 && strcmp(second, "star") == 0;
  *tree = (tt_tree_text){.usual = first->usual && plain,
                         .pairs = first->pairs && plain,
                         .chain = levels->number,
                         .level_count = levels->count,
                         .groups = levels->groups,
                         .most = levels->most,
                         .of_size = levels->of_size};
  int used = 0;
  for (int n = 0; n < levels->count; n++)
    used += snprintf(tree->text + used, sizeof tree->text - (size_t)used, "%s%s:%s", n ? "/" : "", levels->name[n],
                     n == 0   ? first->text
                     : n == 1 ? second
                              : "star");
}

/* Two levels: each shape with each. Three: the usual ones. With several sizes: stars inside the usual ones. */
static void add_shapes(const maker *of, const chain *levels) {
  size_t inner_count = levels->sizes <= 1 ? TT_COUNT(inner) : 1;
  for (size_t f = 0; f < of->outer_count; f++) {
    const known_shape *first = &of->outer[f];
    bool fits = atoi(first->text) <= 4 || atoi(first->text) <= levels->groups;
    for (size_t s = 0; fits && s < inner_count && (levels->count == 2 || first->usual); s++)
      add_tree(of, levels, first, of->inner[s]);
  }
}

/* ---- chains of levels ---- */

static void put_name(chain *of, const char *name) { snprintf(of->name[of->count++], TT_TOPO_NAME, "%s", name); }

/* A power of two, or a part of the whole. */
static bool is_size(int64_t size, int64_t most) { return (size & (size - 1)) == 0 || most % size == 0; }

/* Behind what there is of the chain: core, and core in groups of each size, and so on inside those. most: ranks of the
 * innermost group. */
static void end_chain(const maker *of, const chain *begun, int64_t ranks, int64_t most) {
  if (begun->count > 0) {
    chain whole = *begun;
    put_name(&whole, "core");
    whole.number = ++of->trees->chain_count;
    add_shapes(of, &whole);
  }
  for (int size = 2; size <= SIZE_MOST && size * 2 <= most && begun->count + 1 < CHAIN_LEVELS; size++) {
    if (!is_size(size, most))
      continue;
    chain longer = *begun;
    char name[TT_TOPO_NAME];
    if (longer.count == 0) {
      longer.groups = (ranks + size - 1) / size;
      longer.most = size;
      longer.of_size = true;
    }
    snprintf(name, sizeof name, "%d", size);
    put_name(&longer, name);
    longer.sizes++;
    end_chain(of, &longer, ranks, size);
  }
}

static bool separates(const tt_topo *topo, int level) {
  const tt_topo_level *at = &topo->level[level];
  return at->group_of && at->group_count > 1 && at->group_count < topo->rank_count;
}

static void add_levels(const maker *of, const tt_topo *topo) {
  for (int a = 0; a < topo->level_count; a++) {
    if (!separates(topo, a))
      continue;
    chain one = {.groups = topo->level[a].group_count, .most = topo->level[a].most};
    put_name(&one, topo->level[a].name);
    end_chain(of, &one, topo->rank_count, topo->level[a].most);
    for (int b = a + 1; b < topo->level_count; b++)
      if (separates(topo, b)) {
        chain two = one;
        put_name(&two, topo->level[b].name);
        end_chain(of, &two, topo->rank_count, topo->level[b].most);
      }
  }
}

void tt_trees_make(const tt_topo *topo, bool ordered, tt_arena *arena, tt_trees *trees) {
  const chain none = {.count = 0};
  *trees = (tt_trees){.count = 0};
  maker of = {.trees = trees,
              .arena = arena,
              .outer = ordered ? ordered_outer : outer,
              .outer_count = ordered ? TT_COUNT(ordered_outer) : TT_COUNT(outer),
              .inner = ordered ? ordered_inner : inner};
  add_all_flat(&of, topo->rank_count);
  end_chain(&of, &none, topo->rank_count, topo->rank_count);
  add_levels(&of, topo);
}

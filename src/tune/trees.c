/* tune/trees.c - which trees are worth a try: chains of levels, each with a shape.
 *
 *     levels    core | node/core | l3/core | node/l3/core ...      those of the machine that separate ranks
 *               4/core | node/4/core ...                           and one of a size, in powers of two
 *     shapes    of "core" alone: every row of the table of shapes, with k, labelling and order
 *               of several levels: the usual ones
 *
 * What a shape cannot be on this machine, the compiler says. */
#include "tune/trees.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Shapes of a level around others, and inside them. The first ones are the usual. */
static const char *const outer[] = {"star",         "chain",    "chain,reflect", "2-nomial,xor",
                                    "2-nomial,far", "2-nomial", "4-nomial"};
static const char *const inner[] = {"star", "chain", "2-nomial,xor"};
static const char *const usual[] = {"star", "chain", "chain,reflect", "2-nomial,xor", "2-nomial"};

static bool is_usual(const char *shape) {
  for (size_t n = 0; n < TT_COUNT(usual); n++)
    if (strcmp(usual[n], shape) == 0)
      return true;
  return false;
}

static tt_tree_text *add(tt_trees *trees, tt_arena *arena) {
  if (trees->count == trees->room) {
    int room = 2 * trees->room + 64;
    tt_tree_text *larger = tt_arena_alloc(arena, (size_t)room, sizeof *larger);
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

static void add_flat(tt_trees *trees, tt_arena *arena, const tt_level_params *level, int64_t ranks) {
  char shape[TT_SHAPE_TEXT], full[TT_TREE_TEXT];
  tt_shape_print(level, shape);
  snprintf(full, sizeof full, "%s%s%s%s", shape, level->labelling == TT_ROTATE ? "" : ",",
           level->labelling == TT_ROTATE ? "" : tt_labelling_name(level->labelling),
           level->order == TT_FAR ? ",far" : "");
  tt_tree_text *tree = add(trees, arena);
  if (!tree)
    return;
  *tree = (tt_tree_text){.usual = is_usual(full), .level_count = 1, .groups = ranks, .most = 1};
  snprintf(tree->text, sizeof tree->text, "core:%.80s", full);
}

static void add_labellings(tt_trees *trees, tt_arena *arena, tt_level_params *level, int64_t ranks) {
  const tt_shape_info *info = tt_shape_about(level->shape);
  for (int labelling = 0; labelling < TT_LABELLING_COUNT; labelling++)
    for (int order = TT_NEAR; order <= (info->has_order ? TT_FAR : TT_NEAR); order++) {
      level->labelling = (tt_labelling)labelling;
      level->order = (tt_order)order;
      if (info->labellings >> labelling & 1)
        add_flat(trees, arena, level, ranks);
    }
}

/* k: the powers of two and 3, up to 8 and to as many as there are ranks. */
static void add_all_flat(tt_trees *trees, tt_arena *arena, int64_t ranks) {
  static const int degrees[] = {2, 3, 4, 8};
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  for (size_t n = 0; n < count; n++) {
    const tt_shape_info *info = tt_shape_about(shapes[n]);
    for (size_t d = 0; d < TT_COUNT(degrees) && (info->k_most || d == 0); d++) {
      tt_level_params level = {.name = "core", .shape = shapes[n], .k = degrees[d]};
      bool fits = degrees[d] >= info->k_least && degrees[d] <= info->k_most && (degrees[d] <= ranks || d == 0);
      if (!info->k_most || fits)
        add_labellings(trees, arena, &level, ranks);
    }
  }
}

/* ---- trees of several levels ---- */

typedef struct chain {
  char name[3][TT_TOPO_NAME]; /* of its levels, from the outermost */
  int count;
  int64_t groups, most; /* of the outermost level, and ranks of its largest group */
  bool of_size;         /* as in tt_tree_text */
} chain;

static void add_tree(tt_trees *trees, tt_arena *arena, const chain *of, const char *first, const char *second,
                     const char *last) {
  tt_tree_text *tree = add(trees, arena);
  if (!tree)
    return;
  *tree = (tt_tree_text){.usual = is_usual(first) && is_usual(second) && strcmp(last, "star") == 0,
                         .level_count = of->count,
                         .groups = of->groups,
                         .most = of->most,
                         .of_size = of->of_size};
  if (of->count == 2)
    snprintf(tree->text, sizeof tree->text, "%s:%s/%s:%s", of->name[0], first, of->name[1], last);
  else
    snprintf(tree->text, sizeof tree->text, "%s:%s/%s:%s/%s:%s", of->name[0], first, of->name[1], second, of->name[2],
             last);
}

static void add_shapes(tt_trees *trees, tt_arena *arena, const chain *of) {
  for (size_t f = 0; f < TT_COUNT(outer); f++)
    for (size_t l = 0; l < TT_COUNT(inner); l++)
      if (of->count == 2)
        add_tree(trees, arena, of, outer[f], "star", inner[l]);
      else if (is_usual(outer[f]))
        add_tree(trees, arena, of, outer[f], inner[l], "star");
}

/* ---- chains of levels ---- */

static void put_name(chain *of, const char *name) { snprintf(of->name[of->count++], TT_TOPO_NAME, "%s", name); }

/* Behind what there is of the chain: core, and core in groups of each size. most: ranks of the innermost group. */
static void end_chain(tt_trees *trees, tt_arena *arena, const chain *begun, int64_t ranks, int64_t most) {
  if (begun->count > 0) {
    chain whole = *begun;
    put_name(&whole, "core");
    add_shapes(trees, arena, &whole);
  }
  for (int64_t size = 2; size * 2 <= most && begun->count < 2; size *= 2) {
    chain of = *begun;
    char name[TT_TOPO_NAME];
    if (of.count == 0) {
      of.groups = (ranks + size - 1) / size;
      of.most = size;
      of.of_size = true;
    }
    snprintf(name, sizeof name, "%" PRId64, size);
    put_name(&of, name);
    put_name(&of, "core");
    add_shapes(trees, arena, &of);
  }
}

static bool separates(const tt_topo *topo, int level) {
  const tt_topo_level *at = &topo->level[level];
  return at->group_of && at->group_count > 1 && at->group_count < topo->rank_count;
}

void tt_trees_make(const tt_topo *topo, tt_arena *arena, tt_trees *trees) {
  const chain none = {.count = 0};
  *trees = (tt_trees){.count = 0};
  add_all_flat(trees, arena, topo->rank_count);
  end_chain(trees, arena, &none, topo->rank_count, topo->rank_count);
  for (int a = 0; a < topo->level_count; a++) {
    if (!separates(topo, a))
      continue;
    chain one = {.groups = topo->level[a].group_count, .most = topo->level[a].most};
    put_name(&one, topo->level[a].name);
    end_chain(trees, arena, &one, topo->rank_count, topo->level[a].most);
    for (int b = a + 1; b < topo->level_count; b++)
      if (separates(topo, b)) {
        chain two = one;
        put_name(&two, topo->level[b].name);
        end_chain(trees, arena, &two, topo->rank_count, topo->level[b].most);
      }
  }
}

/* tune/space.c - all that a call could run with: subspaces times coordinates.
 *
 *     subspaces      form x the trees of each stage (trees.c) x stripe, even, ring
 *     coordinates    channels x slice x single-copy
 *
 * and the presets. The compiler is the mask: what it refuses is counted and left out. Texts that run alike are one
 * candidate. */
#include "tune/space.h"
#include "tune/trees.h"

#include <stdio.h>
#include <string.h>

#define TEXT 512 /* of a candidate; trees have at most 127 letters */
#define CHANNELS_MOST 4
#define CHANNELS_SLICED 2  /* up to so many with slices of every length */
#define CHANNEL_BYTES 4096 /* of a block: what is shorter is not cut for channels */
#define SLICE_LEAST 8192
#define STRIPED_LEVELS 2 /* of trees up to so many, parts go through any number of members */

typedef struct maker {
  const tt_task *task;
  tt_candidates *space;
  tt_trees trees;
  tt_index found; /* identity -> number of its candidate, from 1 */
  int64_t room, left_out_room;
} maker;

/* ---- candidates ---- */

/* Room for one more; the old place is the arena's. NULL: no memory. */
static void *make_room(tt_arena *arena, void *list, int64_t count, int64_t *room, size_t size) {
  if (count < *room)
    return list;
  *room = 2 * *room + 256;
  void *larger = tt_arena_alloc(arena, (size_t)*room, size);
  if (larger && count > 0)
    memcpy(larger, list, (size_t)count * size);
  return larger;
}

static void leave_out(maker *of, const char *text, int64_t like, const char *why) {
  tt_candidates *space = of->space;
  tt_left_out left = {.text = tt_arena_format(&space->arena, "%s", text), .like = like};
  if (why)
    left.why = tt_arena_format(&space->arena, "%s", why);
  tt_left_out *list =
      make_room(&space->arena, space->left_out, space->left_out_count, &of->left_out_room, sizeof *list);
  if (space->arena.failed)
    return;
  space->left_out = list;
  space->left_out[space->left_out_count++] = left;
}

/* It makes no plan, as the last error says. */
static void refuse(maker *of, const char *text) {
  of->space->refused++;
  leave_out(of, text, -1, tutti_last_error());
}

static void add(maker *of, const char *text, uint64_t identity) {
  tt_candidates *space = of->space;
  uint64_t key = identity ? identity : 1;
  uintptr_t found = (uintptr_t)tt_index_find(&of->found, key);
  if (found > 0) {
    leave_out(of, text, (int64_t)found - 1, NULL);
    return;
  }
  const char *kept = tt_arena_format(&space->arena, "%s", text);
  tt_candidate *list = make_room(&space->arena, space->candidate, space->count, &of->room, sizeof *list);
  if (space->arena.failed || !tt_index_set(&of->found, key, (void *)(uintptr_t)(space->count + 1))) {
    space->arena.failed = true;
    return;
  }
  space->candidate = list;
  space->candidate[space->count++] = (tt_candidate){kept, identity};
}

/* ---- coordinates ---- */

static void add_point(maker *of, const char *text, const tt_structure *structure, int64_t slice_bytes, bool reads) {
  char full[TEXT + 64], slice[32] = "", size[16];
  tt_format_bytes(slice_bytes, size);
  if (slice_bytes > 0)
    snprintf(slice, sizeof slice, " slice=%s", size);
  snprintf(full, sizeof full, "%s%s%s", text, slice, reads ? " single-copy" : "");
  of->space->tried++;
  add(of, full, tt_structure_identity(of->task, structure, slice_bytes, reads));
}

/* Blocks that are read where they lie are not cut. */
static void add_points(maker *of, const char *text, const tt_structure *structure, bool slices) {
  add_point(of, text, structure, 0, false);
  if (of->task->read_bytes > 0)
    add_point(of, text, structure, 0, true);
  for (int64_t slice = of->task->slot_bytes / 2; slices && slice >= SLICE_LEAST; slice /= 2)
    add_point(of, text, structure, slice, false);
}

static bool is_memory(tutti_status status) { return status == TUTTI_ERR_MEMORY; }

/* usual: worth all of the coordinates. */
static tutti_status add_structure(maker *of, const char *text, bool usual) {
  char full[TEXT];
  for (int channels = 1; channels <= (usual ? CHANNELS_MOST : 1); channels *= 2) {
    tt_structure structure;
    snprintf(full, sizeof full, channels > 1 ? "%s channels=%d" : "%s", text, channels);
    tutti_status status = tt_structure_make(of->task, full, &structure);
    if (is_memory(status))
      return status;
    if (status != TUTTI_OK) {
      of->space->tried++;
      refuse(of, full);
      return TUTTI_OK;
    }
    if (channels > 1 && tt_structure_block(of->task, &structure) < CHANNEL_BYTES)
      break;
    add_points(of, full, &structure, usual && channels <= CHANNELS_SLICED);
  }
  return TUTTI_OK;
}

/* ---- subspaces ---- */

/* Who represents a group: its parts through one member, two, ... all of them; each block through a member of its own.
 */
static tutti_status add_stripes(maker *of, const char *text, const tt_tree_text *tree) {
  char full[TEXT];
  int64_t most = tree->level_count > 1 && tree->level_count <= STRIPED_LEVELS ? tree->most : 0;
  tutti_status status = add_structure(of, text, tree->usual);
  for (int64_t stripe = 1; stripe < most && status == TUTTI_OK; stripe *= 2) {
    snprintf(full, sizeof full, "%s stripe=%d", text, (int)stripe);
    status = add_structure(of, full, tree->usual);
  }
  static const char *const others[] = {"stripe=all", "even"};
  for (size_t n = 0; n < TT_COUNT(others) && tree->level_count > 1 && status == TUTTI_OK; n++) {
    snprintf(full, sizeof full, "%s %s", text, others[n]);
    status = add_structure(of, full, tree->usual);
  }
  return status;
}

static tutti_status add_rings(maker *of, const char *text, const tt_tree_text *tree) {
  char full[TEXT + 16];
  tutti_status status = add_stripes(of, text, tree);
  bool rings = tree->level_count > 1 && !tree->of_size;
  for (int ring = 2; ring < tree->groups && rings && status == TUTTI_OK; ring *= 2) {
    snprintf(full, sizeof full, "%s ring=%d", text, ring);
    status = add_structure(of, full, tree->usual);
  }
  return status;
}

static tutti_status add_pair(maker *of, const tt_composition *composition, const char *form, int first, int second) {
  char text[TEXT];
  const tt_tree_text *tree = &of->trees.tree[first];
  snprintf(text, sizeof text, "form=%s %s[%s] %s[%s]", form, composition->stage[0].name, tree->text,
           composition->stage[1].name, of->trees.tree[second].text);
  return add_stripes(of, text, tree);
}

static bool are_pair(const tt_tree_text *first, const tt_tree_text *second) {
  return first->pairs && second->pairs && !first->of_size && first->chain == second->chain;
}

/* Two stages: each with one of the usual trees over the same levels. */
static tutti_status add_pairs(maker *of, const tt_composition *composition, const char *form) {
  tutti_status status = TUTTI_OK;
  for (int a = 0; a < of->trees.count; a++)
    for (int b = 0; b < of->trees.count && status == TUTTI_OK; b++)
      if (a != b && are_pair(&of->trees.tree[a], &of->trees.tree[b]))
        status = add_pair(of, composition, form, a, b);
  return status;
}

static tutti_status add_form(maker *of, const char *form) {
  tt_composition composition;
  tt_problem problem = of->task->problem;
  tutti_status status = tt_compose(&problem, form, &composition);
  for (int n = 0; n < of->trees.count && status == TUTTI_OK; n++) {
    char text[TEXT];
    snprintf(text, sizeof text, "form=%s [%s]", form, of->trees.tree[n].text);
    status = add_rings(of, text, &of->trees.tree[n]);
  }
  return status == TUTTI_OK && composition.stage_count == 2 ? add_pairs(of, &composition, form) : status;
}

/* By their names, and first: they say most to a person. */
static tutti_status add_presets(maker *of) {
  size_t count;
  const tt_preset *presets = tt_preset_table(&count);
  for (size_t n = 0; n < count; n++) {
    uint64_t identity;
    tutti_status status = tt_candidate_identify(of->task, presets[n].name, &identity);
    if (is_memory(status))
      return status;
    of->space->tried++;
    if (status == TUTTI_OK)
      add(of, presets[n].name, identity);
    else
      refuse(of, presets[n].name);
  }
  return TUTTI_OK;
}

/* Whether some operands combine in rank order. */
static bool is_ordered(const tt_problem *problem) {
  tt_composition composition;
  if (tt_compose(problem, "", &composition) != TUTTI_OK)
    return false;
  for (int s = 0; s < composition.stage_count; s++)
    for (int f = 0; f < composition.stage[s].family_count; f++)
      if (tt_ir_family(&composition.stage[s], f)->ordered)
        return true;
  return false;
}

tutti_status tt_candidates_make(const tt_task *task, tt_candidates *space) {
  maker of = {.task = task, .space = space};
  tt_collective_info info = tt_compose_info(task->problem.collective);
  *space = (tt_candidates){.count = 0};
  tt_arena_init(&space->arena);
  tt_trees_make(task->topo, is_ordered(&task->problem), &space->arena, &of.trees);
  tutti_status status = add_presets(&of);
  for (int n = 0; n < info.form_count && status == TUTTI_OK; n++)
    status = add_form(&of, info.form[n]);
  tt_index_finish(&of.found);
  return space->arena.failed || is_memory(status) ? tt_fail(TUTTI_ERR_MEMORY, "no memory for candidates") : status;
}

void tt_candidates_finish(tt_candidates *space) { tt_arena_finish(&space->arena); }

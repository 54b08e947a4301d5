/* compose/compose.c - the collectives as compositions: the first stage of the flow, and the only place that knows them.
 *
 * A form is a list of stages; each stage is one family, a row of the table below. In a stage "all" means every rank,
 * "root" the collective's root (0 where it has none) and "each" the rank that owns the block:
 *
 *     scatter         for j: M(root, {j}, block j)        gather          for j: M(j, {root}, block j)
 *     allgather       for j: M(j, all, block j)           broadcast       for j: M(root, all, block j)
 *     reduce-scatter  for j: R(all, j, block j)           reduce          for j: R(all, root, block j)
 *     allreduce       for j: R(all, j, block 0)           all-to-all      for i, j: M(i, {j}, block ij)
 *     scan            for j: R({0..j}, j, block 0)        exscan          for j > 0: R({0..j-1}, j, block 0)
 *
 * Collectives whose counts differ from rank to rank have the same compositions: a block has no length here. */
#include "compose/compose.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum part { SCATTER, GATHER, ALLGATHER, BROADCAST, REDUCE_SCATTER, REDUCE, ALLREDUCE, ALL_TO_ALL, SCAN, EXSCAN };

/* Which rank is the root and which ranks the ends of primitive i (and j) are. */
enum who { ROOT, EACH, ALL, NEXT, OTHER, UP_TO };

static const struct {
  const char *name;
  tt_primitive primitive;
  enum who root, ends;
} parts[] = {
    [SCATTER] = {"scatter", TT_MULTICAST, ROOT, EACH},
    [GATHER] = {"gather", TT_MULTICAST, EACH, ROOT},
    [ALLGATHER] = {"allgather", TT_MULTICAST, EACH, ALL},
    [BROADCAST] = {"broadcast", TT_MULTICAST, ROOT, ALL},
    [REDUCE_SCATTER] = {"reduce-scatter", TT_REDUCTION, EACH, ALL},
    [REDUCE] = {"reduce", TT_REDUCTION, ROOT, ALL},
    [ALLREDUCE] = {"allreduce", TT_REDUCTION, EACH, ALL},
    [ALL_TO_ALL] = {"all-to-all", TT_MULTICAST, EACH, OTHER},
    [SCAN] = {"scan", TT_REDUCTION, EACH, UP_TO},
    [EXSCAN] = {"exscan", TT_REDUCTION, NEXT, UP_TO},
};

_Static_assert(TT_COUNT(parts) == EXSCAN + 1, "a row for each part");
struct step {
  enum part part;
  tt_buffer from, to;
};

/* Into which blocks a form cuts the vector. */
enum cut { WHOLE, SPLIT, SQUARE };

#define FORMS 4

struct form {
  const char *name;
  enum cut cut; /* into a single block, one for each rank, one for each pair of ranks */
  int step_count;
  struct step step[2]; /* in the order they run */
};

/* What collectives with equal compositions share. */
struct kind {
  bool has_root, reduces, has_graph;
  tt_layout in, out;
  struct form form[FORMS];
};

static const struct kind allreduce = {
    .reduces = true,
    .form = {{"one", WHOLE, 1, {{ALLREDUCE, TT_IN, TT_OUT}}},
             {"allgather.reduce-scatter", SPLIT, 2, {{REDUCE_SCATTER, TT_IN, TT_OUT}, {ALLGATHER, TT_OUT, TT_OUT}}},
             {"broadcast.reduce", WHOLE, 2, {{REDUCE, TT_IN, TT_OUT}, {BROADCAST, TT_OUT, TT_OUT}}}}};
static const struct kind broadcast = {
    .has_root = true,
    .form = {{"one", WHOLE, 1, {{BROADCAST, TT_IN, TT_OUT}}},
             {"allgather.scatter", SPLIT, 2, {{SCATTER, TT_IN, TT_OUT}, {ALLGATHER, TT_OUT, TT_OUT}}}}};
static const struct kind allgather = {
    .in = TT_LAYOUT_OWN,
    .form = {{"one", SPLIT, 1, {{ALLGATHER, TT_IN, TT_OUT}}},
             {"broadcast.gather", SPLIT, 2, {{GATHER, TT_IN, TT_OUT}, {BROADCAST, TT_OUT, TT_OUT}}}}};
static const struct kind reduce_scatter = {
    .reduces = true,
    .out = TT_LAYOUT_OWN,
    .form = {{"one", SPLIT, 1, {{REDUCE_SCATTER, TT_IN, TT_OUT}}},
             {"scatter.reduce", SPLIT, 2, {{REDUCE, TT_IN, TT_MID}, {SCATTER, TT_MID, TT_OUT}}}}};
static const struct kind barrier = {
    .reduces = true,
    .form = {{"one", WHOLE, 1, {{ALLREDUCE, TT_IN, TT_OUT}}},
             {"broadcast.reduce", WHOLE, 2, {{REDUCE, TT_IN, TT_OUT}, {BROADCAST, TT_OUT, TT_OUT}}}}};
static const struct kind reduce = {
    .has_root = true,
    .reduces = true,
    .form = {{"one", WHOLE, 1, {{REDUCE, TT_IN, TT_OUT}}},
             {"gather.reduce-scatter", SPLIT, 2, {{REDUCE_SCATTER, TT_IN, TT_MID}, {GATHER, TT_MID, TT_OUT}}}}};
static const struct kind gather = {
    .has_root = true, .in = TT_LAYOUT_OWN, .form = {{"one", SPLIT, 1, {{GATHER, TT_IN, TT_OUT}}}}};
static const struct kind scatter = {
    .has_root = true, .out = TT_LAYOUT_OWN, .form = {{"one", SPLIT, 1, {{SCATTER, TT_IN, TT_OUT}}}}};
static const struct kind all_to_all = {
    .in = TT_LAYOUT_ROW, .out = TT_LAYOUT_COLUMN, .form = {{"one", SQUARE, 1, {{ALL_TO_ALL, TT_IN, TT_OUT}}}}};
static const struct kind scan = {.reduces = true, .form = {{"one", WHOLE, 1, {{SCAN, TT_IN, TT_OUT}}}}};
static const struct kind exscan = {.reduces = true, .form = {{"one", WHOLE, 1, {{EXSCAN, TT_IN, TT_OUT}}}}};
static const struct kind neighbor = {
    .has_graph = true, .in = TT_LAYOUT_TOUCHED, .out = TT_LAYOUT_TOUCHED, .form = {{"one", WHOLE, 0, {{0}}}}};

#define TT_COLLECTIVE(id, function, name, kind, lengths, in, out, operands, ...)                                       \
  [TT_##id] = {name, &kind, TT_LENGTHS_##lengths, {in, out}, TT_OPERANDS_##operands},
static const struct row {
  const char *name;
  const struct kind *kind;
  tt_lengths lengths;
  tt_side side[2]; /* TT_IN, TT_OUT */
  tt_operands operands;
} collectives[TT_COLLECTIVE_COUNT] = {
#include "compose/collectives.inc"
};

tt_operands tt_compose_operands(tt_collective collective) {
  assert((size_t)collective < TT_COLLECTIVE_COUNT);
  return collectives[collective].operands;
}

tt_side tt_compose_side(tt_collective collective, tt_buffer side) {
  assert((size_t)collective < TT_COLLECTIVE_COUNT && (side == TT_IN || side == TT_OUT));
  return collectives[collective].side[side];
}

static int form_count(tt_collective collective) {
  int count = 0;
  while (count < FORMS && collectives[collective].kind->form[count].name)
    count++;
  return count;
}

tt_collective_info tt_compose_info(tt_collective collective) {
  tt_collective_info info = {.name = NULL};
  _Static_assert(TT_COUNT(info.form) == FORMS, "room for the name of each form");
  if ((int)collective < 0 || collective >= TT_COLLECTIVE_COUNT)
    return info;
  const struct kind *kind = collectives[collective].kind;
  info = (tt_collective_info){.name = collectives[collective].name,
                              .has_root = kind->has_root,
                              .reduces = kind->reduces,
                              .has_graph = kind->has_graph,
                              .lengths = collectives[collective].lengths,
                              .in = kind->in,
                              .out = kind->out,
                              .form_count = form_count(collective)};
  for (int n = 0; n < info.form_count; n++)
    info.form[n] = kind->form[n].name;
  return info;
}

tt_collective tt_compose_find(const char *name) {
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    if (strcmp(collectives[c].name, name) == 0)
      return (tt_collective)c;
  return TT_COLLECTIVE_COUNT;
}

static tt_affine affine_of(enum who who, int64_t root) {
  switch (who) {
  case ROOT:
    return (tt_affine){root, 0, 0};
  case NEXT:
    return (tt_affine){1, 1, 0};
  case OTHER:
    return (tt_affine){0, 0, 1};
  default:
    return (tt_affine){0, 1, 0};
  }
}

static tt_ends ends_of(enum who who, int64_t root) {
  if (who == ALL)
    return (tt_ends){.kind = TT_ENDS_ALL};
  return (tt_ends){.kind = who == UP_TO ? TT_ENDS_RANGE : TT_ENDS_ONE, .one = affine_of(who, root)};
}

static tt_affine block_of(enum cut cut, int64_t rank_count) {
  if (cut == SQUARE)
    return (tt_affine){0, rank_count, 1};
  return (tt_affine){0, cut == SPLIT, 0};
}

static void add_stage(tt_composition *composition, const struct step *step, enum cut cut, const tt_problem *problem) {
  assert(composition->stage_count < TT_STAGES);
  tt_stage *stage = &composition->stage[composition->stage_count++];
  enum who root = parts[step->part].root, ends = parts[step->part].ends;
  int64_t ranks = composition->rank_count;
  bool loops = cut != WHOLE || root != ROOT;
  assert(strlen(parts[step->part].name) < sizeof stage->name);
  strcpy(stage->name, parts[step->part].name);
  stage->family[0] = (tt_family){
      .primitive = parts[step->part].primitive,
      .count_i = loops ? ranks - (root == NEXT) : 1,
      .count_j = ends == OTHER ? ranks : 1,
      .root = affine_of(root, problem->root),
      .block = block_of(cut, ranks),
      .ends = ends_of(ends, problem->root),
      .from = step->from,
      .to = step->to,
      .ordered = parts[step->part].primitive == TT_REDUCTION && (problem->ordered || ends == UP_TO),
  };
  stage->family_count = stage->family[0].count_i > 0;
}

/* Owners are told in no rank order. */
static bool has_owners(const tt_problem *problem, const struct form *form) {
  const struct step *first = &form->step[0];
  bool free = form->step_count == 2 && first->part == REDUCE_SCATTER && form->step[1].part == ALLGATHER;
  return problem->owners && free && !problem->ordered;
}

static void take_owners(tt_composition *composition, const tt_owners *owners) {
  assert(owners->rank_count == composition->rank_count && composition->stage_count == (int)TT_COUNT(owners->family));
  composition->block_count = owners->block_count;
  for (int n = 0; n < composition->stage_count; n++) {
    composition->stage[n].family_count = owners->family_count;
    composition->stage[n].list = owners->family[n];
  }
}

static void add_graph(tt_composition *composition, const tt_graph *graph) {
  assert(graph->rank_count == composition->rank_count && graph->edge_count <= INT32_MAX);
  assert(graph->family || graph->edge_count == 0); /* tt_compose_graph has made them */
  tt_stage *stage = &composition->stage[composition->stage_count++];
  strcpy(stage->name, "exchange");
  stage->family_count = (int)graph->edge_count;
  stage->list = graph->family;
}

tutti_status tt_compose_graph(tt_graph *graph, tt_arena *arena) {
  tt_family *family = tt_arena_alloc(arena, (size_t)graph->edge_count, sizeof *family);
  if (!family && graph->edge_count > 0)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a graph of %" PRId64 " edges", graph->edge_count);
  for (int64_t e = 0; e < graph->edge_count; e++)
    family[e] = (tt_family){.primitive = TT_MULTICAST,
                            .count_i = 1,
                            .count_j = 1,
                            .root = {graph->from[e], 0, 0},
                            .block = {e, 0, 0},
                            .ends = {.kind = TT_ENDS_ONE, .one = {graph->to[e], 0, 0}},
                            .from = TT_IN,
                            .to = TT_OUT};
  graph->family = family;
  return TUTTI_OK;
}

static const struct form *find_form(tt_collective collective, const char *name) {
  const struct form *forms = collectives[collective].kind->form;
  bool any = !name || !*name, split = !any && strcmp(name, "split") == 0;
  for (int n = 0; n < form_count(collective); n++)
    if (any || (split ? forms[n].cut == SPLIT : strcmp(forms[n].name, name) == 0))
      return &forms[n];
  return split ? &forms[0] : NULL;
}

int64_t tt_compose_vector(tt_collective collective, int64_t count, int64_t rank_count) {
  bool each = tt_compose_side(collective, TT_IN).unit == TT_EACH_RANK ||
              tt_compose_side(collective, TT_OUT).unit == TT_EACH_RANK;
  return count * (each ? rank_count : 1);
}

const char *tt_compose_form(tt_collective collective, const char *name) {
  const struct form *form = find_form(collective, name);
  return form ? form->name : NULL;
}

static tutti_status no_form(tt_collective collective, const char *name) {
  char known[160] = "";
  for (int n = 0; n < form_count(collective); n++) {
    strcat(known, n ? ", " : "");
    strcat(known, collectives[collective].kind->form[n].name);
  }
  return tt_fail(TUTTI_ERR_PLAN, "%s has no form '%s'; it has %s", collectives[collective].name, name, known);
}

static int64_t block_count(const tt_problem *problem, const struct form *form) {
  int64_t ranks = problem->rank_count;
  if (problem->graph)
    return problem->graph->edge_count > 0 ? problem->graph->edge_count : 1;
  return form->cut == SQUARE ? ranks * ranks : form->cut == SPLIT ? ranks : 1;
}

tutti_status tt_compose(const tt_problem *problem, const char *form_name, tt_composition *composition) {
  tt_collective collective = problem->collective;
  const struct form *form = find_form(collective, form_name);
  if (!form)
    return no_form(collective, form_name);
  if (collectives[collective].kind->has_graph != (problem->graph != NULL))
    return tt_fail(TUTTI_ERR_PLAN, "%s %s a graph", collectives[collective].name,
                   problem->graph ? "does not use" : "needs");
  assert(!problem->owners || problem->owners->rank_count == problem->rank_count);
  memset(composition, 0, sizeof *composition);
  composition->rank_count = problem->rank_count;
  composition->block_count = block_count(problem, form);
  composition->layout[TT_IN] = collectives[collective].kind->in;
  composition->layout[TT_OUT] = collectives[collective].kind->out;
  composition->in_place = problem->in_place;
  for (int n = 0; n < form->step_count; n++)
    add_stage(composition, &form->step[n], form->cut, problem);
  if (has_owners(problem, form))
    take_owners(composition, problem->owners);
  if (problem->graph)
    add_graph(composition, problem->graph);
  return tt_ir_check(composition);
}

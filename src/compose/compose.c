/* compose/compose.c - the collectives as compositions: the first stage of the flow, and the only place that knows them.
 *
 * A form is a list of stages; each stage is one family, a row of the table below. In a stage "all" means every rank,
 * "root" the collective's root (0 where it has none) and "each" the rank that owns the block:
 *
 *     scatter         for j: M(root, {j}, block j)        gather          for j: M(j, {root}, block j)
 *     allgather       for j: M(j, all, block j)           broadcast       for j: M(root, all, block j)
 *     reduce-scatter  for j: R(all, j, block j)           reduce          for j: R(all, root, block j)
 *     allreduce       for j: R(all, j, block 0)
 */
#include "compose/compose.h"

#include <string.h>

enum part { SCATTER, GATHER, ALLGATHER, BROADCAST, REDUCE_SCATTER, REDUCE, ALLREDUCE };

/* Which rank is the root and which rank the ends of primitive j are. */
enum who { ROOT, EACH, ALL };

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
};

struct step {
  enum part part;
  tt_buffer from, to;
};

struct form {
  const char *name;
  bool split; /* blocks: one for each rank; else a single one */
  int step_count;
  struct step step[2]; /* in the order they run */
};

#define FORMS 4

static const struct {
  const char *name;
  bool has_root, reduces;
  tt_layout in, out;
  struct form form[FORMS];
} collectives[TT_COLLECTIVE_COUNT] = {
    [TT_ALLREDUCE] =
        {"allreduce",
         false,
         true,
         TT_LAYOUT_ALL,
         TT_LAYOUT_ALL,
         {{"one", false, 1, {{ALLREDUCE, TT_IN, TT_OUT}}},
          {"allgather.reduce-scatter", true, 2, {{REDUCE_SCATTER, TT_IN, TT_OUT}, {ALLGATHER, TT_OUT, TT_OUT}}},
          {"broadcast.reduce", false, 2, {{REDUCE, TT_IN, TT_OUT}, {BROADCAST, TT_OUT, TT_OUT}}}}},
    [TT_BROADCAST] = {"broadcast",
                      true,
                      false,
                      TT_LAYOUT_ALL,
                      TT_LAYOUT_ALL,
                      {{"one", false, 1, {{BROADCAST, TT_IN, TT_OUT}}},
                       {"allgather.scatter", true, 2, {{SCATTER, TT_IN, TT_OUT}, {ALLGATHER, TT_OUT, TT_OUT}}}}},
    [TT_ALLGATHER] = {"allgather",
                      false,
                      false,
                      TT_LAYOUT_OWN,
                      TT_LAYOUT_ALL,
                      {{"one", true, 1, {{ALLGATHER, TT_IN, TT_OUT}}},
                       {"broadcast.gather", true, 2, {{GATHER, TT_IN, TT_OUT}, {BROADCAST, TT_OUT, TT_OUT}}}}},
    [TT_REDUCE_SCATTER] = {"reduce-scatter",
                           false,
                           true,
                           TT_LAYOUT_ALL,
                           TT_LAYOUT_OWN,
                           {{"one", true, 1, {{REDUCE_SCATTER, TT_IN, TT_OUT}}},
                            {"scatter.reduce", true, 2, {{REDUCE, TT_IN, TT_MID}, {SCATTER, TT_MID, TT_OUT}}}}},
    [TT_BARRIER] = {"barrier",
                    false,
                    true,
                    TT_LAYOUT_ALL,
                    TT_LAYOUT_ALL,
                    {{"one", false, 1, {{ALLREDUCE, TT_IN, TT_OUT}}},
                     {"broadcast.reduce", false, 2, {{REDUCE, TT_IN, TT_OUT}, {BROADCAST, TT_OUT, TT_OUT}}}}},
};

static int form_count(tt_collective collective) {
  int count = 0;
  while (count < FORMS && collectives[collective].form[count].name)
    count++;
  return count;
}

tt_collective_info tt_compose_info(tt_collective collective) {
  tt_collective_info info = {.name = NULL};
  if ((int)collective < 0 || collective >= TT_COLLECTIVE_COUNT)
    return info;
  info = (tt_collective_info){collectives[collective].name,
                              collectives[collective].has_root,
                              collectives[collective].reduces,
                              form_count(collective),
                              {NULL}};
  for (int n = 0; n < info.form_count; n++)
    info.form[n] = collectives[collective].form[n].name;
  return info;
}

tt_collective tt_compose_find(const char *name) {
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    if (strcmp(collectives[c].name, name) == 0)
      return (tt_collective)c;
  return TT_COLLECTIVE_COUNT;
}

static tt_affine affine_of(enum who who, int64_t root) {
  return who == EACH ? (tt_affine){0, 1, 0} : (tt_affine){root, 0, 0};
}

static void add_stage(tt_composition *composition, const struct step *step, const struct form *form, int64_t root) {
  tt_stage *stage = &composition->stage[composition->stage_count++];
  bool loops = form->split || parts[step->part].root == EACH;
  strcpy(stage->name, parts[step->part].name);
  stage->family_count = 1;
  stage->family[0] = (tt_family){
      .primitive = parts[step->part].primitive,
      .count_i = loops ? composition->rank_count : 1,
      .count_j = 1,
      .root = affine_of(parts[step->part].root, root),
      .block = {0, form->split, 0},
      .ends = {.kind = parts[step->part].ends == ALL ? TT_ENDS_ALL : TT_ENDS_ONE,
               .one = affine_of(parts[step->part].ends, root)},
      .from = step->from,
      .to = step->to,
  };
}

static const struct form *find_form(tt_collective collective, const char *name) {
  const struct form *forms = collectives[collective].form;
  bool any = !name || !*name, split = !any && strcmp(name, "split") == 0;
  for (int n = 0; n < form_count(collective); n++)
    if (any || (split ? forms[n].split : strcmp(forms[n].name, name) == 0))
      return &forms[n];
  return split ? &forms[0] : NULL;
}

const char *tt_compose_form(tt_collective collective, const char *name) {
  const struct form *form = find_form(collective, name);
  return form ? form->name : NULL;
}

static tutti_status no_form(tt_collective collective, const char *name) {
  char known[160] = "";
  for (int n = 0; n < form_count(collective); n++) {
    strcat(known, n ? ", " : "");
    strcat(known, collectives[collective].form[n].name);
  }
  return tt_fail(TUTTI_ERR_PLAN, "%s has no form '%s'; it has %s", collectives[collective].name, name, known);
}

tutti_status tt_compose(const tt_problem *problem, const char *form_name, tt_composition *composition) {
  tt_collective collective = problem->collective;
  const struct form *form = find_form(collective, form_name);
  if (!form)
    return no_form(collective, form_name);
  memset(composition, 0, sizeof *composition);
  composition->rank_count = problem->rank_count;
  composition->block_count = form->split ? problem->rank_count : 1;
  composition->layout[TT_IN] = collectives[collective].in;
  composition->layout[TT_OUT] = collectives[collective].out;
  composition->in_place = problem->in_place;
  for (int n = 0; n < form->step_count; n++)
    add_stage(composition, &form->step[n], form, problem->root);
  return tt_ir_check(composition);
}

/* tools/explain/question.c - asks what a call asks: the same wisdom, profile and options, the same functions.
 *
 * A rank of a job has its topology and NICs from all ranks together; here the command line has the ranks and nodes, and
 * nodes are as this machine is. */
#include "question.h"

#include "call/call.h"
#include "dtype/dtype.h"
#include "tools/tune/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the call ---- */

/* A call's blocks are whole elements, and where each rank has one they are equally long. */
static int64_t bytes_of(const explain_options *options) {
  const tt_problem *problem = &options->plan.problem;
  tt_collective collective = problem->collective;
  if (collective == TT_BARRIER)
    return (int64_t)sizeof(int32_t); /* its token */
  bool even = tt_compose_side(collective, TT_IN).length == TT_BY_COUNT &&
              tt_compose_side(collective, TT_OUT).length == TT_BY_COUNT;
  int64_t element = (int64_t)tt_dtype_type(options->type)->size;
  int64_t least = element * (even ? tt_compose_vector(collective, 1, problem->rank_count) : 1);
  return (options->length + least - 1) / least * least;
}

/* No slice is longer than a slot, whose length may be set otherwise. */
static tutti_status model_slots(explain_question *question) {
  char given[PLAN_MODEL];
  memcpy(given, question->options->plan.model, sizeof given);
  int length = snprintf(question->plan.model, PLAN_MODEL, "slot=%" PRId64 ";%s", question->task.slot_bytes, given);
  return length < PLAN_MODEL ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "the model is too long");
}

static tutti_status open_call(explain_question *question) {
  const explain_options *options = question->options;
  tutti_status status = plan_work_open(&question->plan, tt_choose_fallback().text, &question->work);
  if (status != TUTTI_OK)
    return status;
  const tt_topo *topo = question->work.topo;
  int64_t bytes = bytes_of(options), nics = options->nics >= 0 ? options->nics : tt_machine_nics(NULL);
  tt_problem *problem = &question->plan.problem;
  problem->in_place = problem->in_place && !tt_call_copies(&(tt_call){.collective = problem->collective});
  int64_t cores = options->cores > 0 ? options->cores : tt_host_cores();
  question->region = tt_region_of(topo, problem->collective, bytes, nics, tt_host_l2_bytes(), cores);
  question->task = tune_task_of(problem, topo, options->apart && question->region.node_count > 1, bytes);
  return model_slots(question);
}

/* ---- who decides ---- */

/* What lessons say, wisdom aside. */
static tt_choice ask_lessons(explain_question *question, tt_authority by, bool ordered) {
  tt_wisdom alone = *question->found.wisdom;
  tt_authorities of = {.params = "", .wisdom = &alone, .dispatch = &question->behind};
  alone.count = 0;
  tt_dispatch_make(&alone, &question->region, &question->behind);
  return tt_choose_by(&of, by, &question->region, ordered);
}

static void ask(explain_question *question) {
  bool ordered = question->task.problem.ordered;
  const tt_wisdom *wisdom = question->found.wisdom;
  const tt_authorities *of = &question->authorities;
  question->authorities = (tt_authorities){.set = question->options->set,
                                           .params = tt_options_get()->choice.params,
                                           .wisdom = wisdom,
                                           .dispatch = wisdom ? &question->dispatch : NULL,
                                           .profile = question->profile};
  if (wisdom)
    tt_dispatch_make(wisdom, &question->region, &question->dispatch);
  for (tt_authority by = TT_BY_PROGRAM; by < TT_AUTHORITY_COUNT; by++)
    question->said[by] = wisdom && (by == TT_BY_LEARNED || by == TT_BY_MODEL)
                             ? ask_lessons(question, by, ordered)
                             : tt_choose_by(of, by, &question->region, ordered);
  if (question->found.why[0])
    question->said[TT_BY_WISDOM].why = question->found.why;
  if (question->found.lessons_why[0])
    question->said[TT_BY_LEARNED].why = question->said[TT_BY_MODEL].why = question->found.lessons_why;
  question->choice = tt_choose(of, &question->region, ordered);
}

tutti_status explain_compiles(const explain_question *question, const char *text, uint64_t *identity) {
  return tt_candidate_identify(&question->task, text, identity);
}

static tutti_status find_reasons(explain_question *question) {
  tutti_status status = TUTTI_OK;
  for (tt_authority by = TT_BY_PROGRAM; by < TT_AUTHORITY_COUNT && status == TUTTI_OK; by++) {
    uint64_t identity;
    if (question->said[by].text)
      status = explain_compiles(question, question->said[by].text, &identity);
    if (status != TUTTI_ERR_PLAN)
      continue;
    snprintf(question->reason[by], sizeof question->reason[by], "%s", tutti_last_error());
    status = TUTTI_OK;
  }
  return status;
}

static void find_what_runs(explain_question *question) {
  tt_authority by = question->choice.by;
  if (!question->reason[by][0])
    question->runs = question->choice.text;
  else
    question->runs = tt_authority_insists(by) ? NULL : tt_choose_fallback().text;
}

/* ---- the whole ---- */

tutti_status explain_question_open(const explain_options *options, explain_question *question) {
  *question = (explain_question){.options = options, .plan = options->plan};
  tutti_status status = tt_profile_open(tt_options_get()->choice.profile, &question->profile);
  if (status == TUTTI_OK)
    status = tt_wisdom_load(&question->found);
  if (status == TUTTI_OK)
    status = open_call(question);
  if (status == TUTTI_OK)
    status = tt_wisdom_infer(&question->found, &question->region, 1);
  if (status != TUTTI_OK)
    return status;
  ask(question);
  status = find_reasons(question);
  find_what_runs(question);
  return status;
}

void explain_question_close(explain_question *question) {
  if (question->work.options)
    plan_work_close(&question->work);
  tt_wisdom_found_finish(&question->found);
  tt_profile_close(question->profile);
}

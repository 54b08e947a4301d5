/* tests/support/question.h - what the verifier is asked about a composed problem. */
#ifndef TEST_SUPPORT_QUESTION_H
#define TEST_SUPPORT_QUESTION_H

#include "compose/compose.h"
#include "verify/verify.h"

static inline tt_question question_of(const tt_problem *problem, const tt_composition *composition) {
  tt_question question = {.collective = tt_compose_info(problem->collective).name,
                          .rank_count = problem->rank_count,
                          .block_count = composition->block_count,
                          .root = problem->root,
                          .in_place = problem->in_place,
                          .ordered = problem->ordered};
  if (problem->graph) {
    question.edge_count = problem->graph->edge_count;
    question.from = problem->graph->from;
    question.to = problem->graph->to;
  }
  return question;
}

#endif

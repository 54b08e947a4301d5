/* tools/explain/question.h - who decides about a call, and what runs. */
#ifndef TUTTI_TOOLS_EXPLAIN_QUESTION_H
#define TUTTI_TOOLS_EXPLAIN_QUESTION_H

#include "options.h"

#include "job/job.h"
#include "tools/plan/work.h"

typedef struct explain_question {
  const explain_options *options;
  plan_options plan; /* theirs, with slices as a job has them */
  plan_work work;    /* of the topology */
  tt_authorities authorities;
  tt_task task;
  tt_region region;
  tt_wisdom_found found;
  tt_dispatch dispatch; /* of wisdom, and behind it of lessons; */
  tt_dispatch behind;   /* of lessons alone */
  tt_profile *profile;
  tt_choice said[TT_AUTHORITY_COUNT];   /* by each of them */
  tt_choice choice;                     /* of the strongest: it decides */
  char reason[TT_AUTHORITY_COUNT][300]; /* why what it says makes no plan here; "": it makes one, or it says nothing */
  const char *runs;                     /* parameters; NULL: the call is an error */
} explain_question;

/* explain_question_close is called afterwards in any case. An error where a job would not start, or no memory. */
tutti_status explain_question_open(const explain_options *options, explain_question *question);
void explain_question_close(explain_question *question);

/* Whether the text makes a plan for the call; TUTTI_ERR_PLAN, with the reason as the last error. */
tutti_status explain_compiles(const explain_question *question, const char *text, uint64_t *identity);

#endif

/* tools/explain/answer.h - the answer in words. */
#ifndef TUTTI_TOOLS_EXPLAIN_ANSWER_H
#define TUTTI_TOOLS_EXPLAIN_ANSWER_H

#include "question.h"

void explain_answer_print(const explain_question *question);

#endif

/* tools/explain/explain.c - `tutti explain`: which parameters a call runs with, and why. */
#include "explain.h"
#include "answer.h"
#include "question.h"

#include <stdio.h>
#include <stdlib.h>

static tutti_status explain(const explain_options *options) {
  static explain_question question;
  tutti_status status = explain_question_open(options, &question);
  if (status == TUTTI_OK)
    explain_answer_print(&question);
  explain_question_close(&question);
  return status;
}

int tt_tool_explain(int argc, char **argv) {
  explain_options options;
  int parsed = explain_options_parse(argc, argv, &options);
  int code = parsed == TOOL_GO_ON || parsed == TOOL_HELPED ? EXIT_SUCCESS : TOOL_MISUSED;
  if (parsed == TOOL_GO_ON && explain(&options) != TUTTI_OK)
    code = tool_fail("explain", EXIT_FAILURE, "%s", tutti_last_error());
  explain_options_finish(&options);
  return code;
}

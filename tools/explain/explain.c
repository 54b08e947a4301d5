/* tools/explain/explain.c - `tutti explain`: which parameters a call runs with, and why. */
#include "explain.h"
#include "answer.h"
#include "json.h"
#include "question.h"
#include "rows.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

static tutti_status print_rows(const explain_question *question) {
  explain_rows rows;
  tutti_status status = explain_rows_make(question, &rows);
  if (status == TUTTI_OK && question->options->json)
    status = explain_json_print(question, &rows);
  else if (status == TUTTI_OK)
    explain_table_print(&rows);
  explain_rows_finish(&rows);
  return status;
}

/* Words come at once, before the candidates are simulated. */
static tutti_status print(const explain_question *question) {
  const explain_options *options = question->options;
  if (!options->json) {
    explain_answer_print(question);
    fflush(stdout);
  }
  if (!options->brief)
    return print_rows(question);
  return options->json ? explain_json_print(question, NULL) : TUTTI_OK;
}

static tutti_status explain(const explain_options *options) {
  static explain_question question;
  tutti_status status = explain_question_open(options, &question);
  if (status == TUTTI_OK)
    status = print(&question);
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

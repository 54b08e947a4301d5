/* tools/explain/answer.c - who decides and what runs, in a sentence or two; then what each authority says, and what
 * programs of other libraries do. */
#include "answer.h"
#include "outside.h"

#include "dtype/dtype.h"
#include "tools/plan/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "allreduce of 16 ranks on 4 nodes, 2 ranks a core, 1M of float32, sum" */
static void print_call(const explain_question *question) {
  const explain_options *options = question->options;
  const tt_problem *problem = &options->plan.problem;
  tt_collective_info info = tt_compose_info(problem->collective);
  char title[160], size[16];
  plan_title(&question->work, title, sizeof title);
  tt_format_bytes(question->task.bytes, size);
  printf("%s", title);
  if (tt_region_share(&question->region) > 1)
    printf(", %" PRId64 " ranks a core", tt_region_share(&question->region));
  bool barrier = problem->collective == TT_BARRIER;
  if (!barrier)
    printf(", %s of %s", size, tt_dtype_type(options->type)->name);
  if (info.reduces && !barrier)
    printf(", %s", problem->ordered ? "an operator that does not commute" : tt_dtype_op(options->op)->name);
  puts("\n");
}

/* "wisdom (PATH:12)" */
static void format_authority(const tt_choice *choice, char *text, size_t size) {
  snprintf(text, size, "%s%s%s%s", tt_authority_name(choice->by), *choice->source ? " (" : "", choice->source,
           *choice->source ? ")" : "");
}

static void print_decision(const explain_question *question) {
  const tt_choice *choice = &question->choice;
  const char *reason = question->reason[choice->by];
  char who[4300];
  format_authority(choice, who, sizeof who);
  if (!question->runs)
    printf("The call is an error: %s says '%s', which makes no plan here: %s.\n", who, choice->text, reason);
  else if (reason[0])
    printf("It runs with '%s': %s chooses '%s', which makes no plan here: %s.\n", question->runs, who, choice->text,
           reason);
  else if (choice->by == TT_BY_NOBODY)
    printf("It runs with '%s': nobody chooses anything else.\n", question->runs);
  else
    printf("It runs with '%s': %s decides.\n", question->runs, who);
}

/* Stronger ones said nothing; weaker ones are overruled. */
static void print_authority(const explain_question *question, tt_authority by) {
  const tt_choice *said = &question->said[by];
  const char *reason = question->reason[by];
  bool decides = by == question->choice.by;
  printf("  %-22s ", tt_authority_name(by));
  if (!said->text) {
    printf("says nothing: %s\n", said->why);
    return;
  }
  printf("%s '%s'%s%s", decides ? "decides:" : "would run", said->text, *said->source ? ", " : "", said->source);
  if (*reason)
    printf("; it makes no plan: %s", reason);
  puts(decides ? "" : "; it is overruled");
}

/* "openmpi-4.1            its programs pass the call through: 700 ns there, 900 ns on tutti, PATH:12" */
static void print_outside(const explain_question *question, const explain_outside *of) {
  const tt_outside *row = of->row;
  char theirs[32], ours[32];
  tool_format_time((double)row->time_ns, theirs);
  tool_format_time((double)row->tutti_ns, ours);
  printf("  %-22s %s: %s there, %s on tutti, %s:%" PRId64 "%s%s\n", row->library,
         of->passes ? "its programs pass the call through" : "its programs run it on tutti", theirs, ours,
         question->found.wisdom->path, row->line, *of->why ? "; " : "", of->why);
}

void explain_answer_print(const explain_question *question) {
  if (*tt_options_get()->topology)
    puts("TUTTI_TOPOLOGY is set: a job has levels inside and above its nodes that are not known here\n");
  print_call(question);
  print_decision(question);
  putchar('\n');
  for (tt_authority by = TT_BY_PROGRAM; by < TT_AUTHORITY_COUNT; by++)
    print_authority(question, by);
  explain_outside found[EXPLAIN_LIBRARIES];
  int count = explain_outside_find(question, found);
  for (int n = 0; n < count; n++)
    print_outside(question, &found[n]);
}

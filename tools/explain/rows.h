/* tools/explain/rows.h - all that the call could run with, and what is known of it. */
#ifndef TUTTI_TOOLS_EXPLAIN_ROWS_H
#define TUTTI_TOOLS_EXPLAIN_ROWS_H

#include "question.h"

typedef struct explain_row {
  const char *text;
  uint64_t identity;
  int64_t candidate;   /* its number in the space; -1: it is not there */
  double time_ns;      /* predicted; negative: too many steps to simulate */
  int64_t measured_ns; /* 0: not measured, or not known any more */
  bool runs;
} explain_row;

/* The fastest by prediction first, those without one last. A row's number is its place, from 1. */
typedef struct explain_rows {
  const explain_question *question;
  tt_candidates space;
  explain_row *row;
  int64_t count;
  int64_t *place;          /* of each candidate of the space */
  const explain_row *runs; /* NULL: the call is an error */
  const tt_winner *winner; /* that measured times are of; NULL: none */
  char model[PLAN_MODEL];
} explain_rows;

/* explain_rows_finish is called afterwards in any case. Compiles and simulates each candidate, which may take long, and
 * says how far it is where stderr is a terminal. */
tutti_status explain_rows_make(const explain_question *question, explain_rows *rows);
void explain_rows_finish(explain_rows *rows);

enum { EXPLAIN_WHY = 400 };
/* Why it does not run: "x 1.80 predicted". */
void explain_row_why(const explain_rows *rows, const explain_row *row, char why[static EXPLAIN_WHY]);
/* The same of a text that is no candidate: "runs like #3". */
void explain_left_out_why(const explain_rows *rows, const tt_left_out *left, char why[static EXPLAIN_WHY]);

#endif

/* tools/explain/rows.c - the space of the call, each candidate with its predicted time and what wisdom has measured.
 *
 * Of a measurement, wisdom keeps two times: the winner's, and that of what the profile chose. */
#include "rows.h"

#include "tools/shared/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROGRESS_NS 100000000

/* ---- the candidates ---- */

static explain_row *find_row(const explain_rows *rows, uint64_t identity) {
  for (int64_t n = 0; n < rows->count; n++)
    if (rows->row[n].identity == identity)
      return &rows->row[n];
  return NULL;
}

/* What runs is a row even where the space does not have it, and has the name that its authority gives it. */
static tutti_status add_what_runs(explain_rows *rows) {
  const explain_question *question = rows->question;
  uint64_t identity;
  if (!question->runs)
    return TUTTI_OK;
  tutti_status status = explain_compiles(question, question->runs, &identity);
  if (status != TUTTI_OK)
    return status;
  explain_row *row = find_row(rows, identity);
  if (!row) {
    row = &rows->row[rows->count++];
    *row = (explain_row){.identity = identity, .candidate = -1};
  }
  row->text = question->runs;
  row->runs = true;
  return TUTTI_OK;
}

static tutti_status list(explain_rows *rows) {
  tutti_status status = tt_candidates_make(&rows->question->task, &rows->space);
  size_t room = (size_t)rows->space.count + 1;
  rows->row = calloc(room, sizeof *rows->row);
  rows->place = calloc(room, sizeof *rows->place);
  if (status == TUTTI_OK && (!rows->row || !rows->place))
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu candidates", room);
  if (status != TUTTI_OK)
    return status;
  for (; rows->count < rows->space.count; rows->count++) {
    const tt_candidate *of = &rows->space.candidate[rows->count];
    rows->row[rows->count] = (explain_row){.text = of->text, .identity = of->identity, .candidate = rows->count};
  }
  return add_what_runs(rows);
}

/* ---- predicted ---- */

static void say_progress(int64_t done, int64_t count, int64_t *last_ns) {
  int64_t now_ns = tt_clock_ns();
  if (!isatty(STDERR_FILENO) || (done < count && now_ns - *last_ns < PROGRESS_NS))
    return;
  *last_ns = now_ns;
  if (done < count)
    fprintf(stderr, "\r\033[Kcandidate %" PRId64 " of %" PRId64 "\r", done + 1, count);
  else
    fputs("\r\033[K", stderr);
}

static tutti_status simulate(explain_rows *rows, explain_row *row) {
  plan_work work;
  tutti_status status = plan_work_open(&rows->question->plan, row->text, &work);
  if (status == TUTTI_OK)
    status = plan_work_lower(&work, PLAN_SIMULATED);
  if (status == TUTTI_OK) {
    tt_sim_model_print(&work.model, rows->model, sizeof rows->model);
    status = plan_work_cost(&work, rows->question->task.bytes, &row->time_ns);
  }
  if (status == TUTTI_ERR_UNSUPPORTED) {
    row->time_ns = -1;
    status = TUTTI_OK;
  }
  plan_work_close(&work);
  return status;
}

static tutti_status predict(explain_rows *rows) {
  tutti_status status = TUTTI_OK;
  int64_t last_ns = tt_clock_ns();
  for (int64_t n = 0; n < rows->count && status == TUTTI_OK; n++) {
    say_progress(n, rows->count, &last_ns);
    status = simulate(rows, &rows->row[n]);
  }
  say_progress(rows->count, rows->count, &last_ns);
  return status;
}

static int by_time(const void *a, const void *b) {
  const explain_row *x = a, *y = b;
  if ((x->time_ns < 0) != (y->time_ns < 0))
    return x->time_ns < 0 ? 1 : -1;
  if (x->time_ns != y->time_ns)
    return x->time_ns < y->time_ns ? -1 : 1;
  if (x->runs != y->runs)
    return x->runs ? -1 : 1;
  return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

static void sort(explain_rows *rows) {
  qsort(rows->row, (size_t)rows->count, sizeof *rows->row, by_time);
  for (int64_t n = 0; n < rows->count; n++) {
    if (rows->row[n].candidate >= 0)
      rows->place[rows->row[n].candidate] = n;
    if (rows->row[n].runs)
      rows->runs = &rows->row[n];
  }
}

/* ---- measured ---- */

static void set_measured(explain_rows *rows, const char *text, int64_t time_ns) {
  uint64_t identity;
  explain_row *row = NULL;
  if (explain_compiles(rows->question, text, &identity) == TUTTI_OK)
    row = find_row(rows, identity);
  if (row && row->measured_ns == 0)
    row->measured_ns = time_ns;
}

/* The rules were measured in a job, which knows its caches and cores; wisdom's file does not. */
static void find_measured(explain_rows *rows) {
  const explain_question *question = rows->question;
  const tt_winner *winner = question->said[TT_BY_WISDOM].winner;
  if (!winner)
    return;
  rows->winner = winner;
  set_measured(rows, winner->text, winner->time_ns);
  tt_region region = winner->region;
  region.l2_bytes = question->region.l2_bytes;
  region.core_count = question->region.core_count;
  tt_choice rule = tt_choose_by(&question->authorities, TT_BY_PROFILE, &region, false);
  set_measured(rows, rule.text ? rule.text : tt_choose_fallback().text, winner->rules_ns);
}

/* ---- why ---- */

static void format_ratio(const explain_rows *rows, const explain_row *row, char why[static EXPLAIN_WHY]) {
  const explain_row *to = rows->runs ? rows->runs : &rows->row[0];
  if (row->time_ns < 0 || to->time_ns <= 0) {
    snprintf(why, EXPLAIN_WHY, "%s", row->time_ns < 0 ? "too many steps to simulate" : "nobody chose it");
    return;
  }
  double ratio = row->time_ns / to->time_ns;
  snprintf(why, EXPLAIN_WHY, ratio < 10 ? "x %.2f predicted%s" : "x %.1f predicted%s", ratio,
           !rows->runs                          ? ", to the fastest"
           : row->time_ns < rows->runs->time_ns ? "; predictions do not decide"
                                                : "");
}

void explain_row_why(const explain_rows *rows, const explain_row *row, char why[static EXPLAIN_WHY]) {
  int64_t of = rows->runs ? rows->runs->measured_ns : 0;
  if (row == rows->runs)
    snprintf(why, EXPLAIN_WHY, "runs");
  else if (row->measured_ns > 0 && of > 0) {
    double slower = (double)row->measured_ns / (double)of - 1;
    snprintf(why, EXPLAIN_WHY, "measured %.0f %% %s", 100 * (slower < 0 ? -slower : slower),
             slower < 0 ? "faster" : "slower");
  } else
    format_ratio(rows, row, why);
}

void explain_left_out_why(const explain_rows *rows, const tt_left_out *left, char why[static EXPLAIN_WHY]) {
  if (left->why)
    snprintf(why, EXPLAIN_WHY, "does not compile: %s", left->why);
  else
    snprintf(why, EXPLAIN_WHY, "runs like #%" PRId64, rows->place[left->like] + 1);
}

/* ---- the whole ---- */

tutti_status explain_rows_make(const explain_question *question, explain_rows *rows) {
  *rows = (explain_rows){.question = question};
  tutti_status status = list(rows);
  if (status == TUTTI_OK)
    status = predict(rows);
  if (status != TUTTI_OK)
    return status;
  sort(rows);
  find_measured(rows);
  return TUTTI_OK;
}

void explain_rows_finish(explain_rows *rows) {
  tt_candidates_finish(&rows->space);
  free(rows->row);
  free(rows->place);
}

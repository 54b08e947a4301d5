/* tools/explain/json.c - see json.h. Times are ns; what is not known is null.
 *
 *   {"collective": "allreduce", "bytes": 1048576, ..., "authority": "profile", "source": "default.json:15",
 *    "chosen": "ring", "runs": "ring", "reason": "", "authorities": [...],
 *    "outside": [...], "model": "...", "candidates": [...], "left_out": [...]} */
#include "json.h"
#include "outside.h"

#include "dtype/dtype.h"
#include "tools/shared/json.h"

#include <stdio.h>
#include <stdlib.h>

static tutti_status no_memory(void) { return tt_fail(TUTTI_ERR_MEMORY, "no memory for JSON"); }

static json_t *text_or_null(const char *text) { return text ? tool_json_text(text) : json_null(); }

static json_t *number_or_null(double number, bool known) { return known ? json_real(number) : json_null(); }

/* ---- who decides ---- */

static json_t *authorities_of(const explain_question *question) {
  json_t *list = json_array();
  for (tt_authority by = TT_BY_PROGRAM; by < TT_AUTHORITY_COUNT; by++) {
    const tt_choice *said = &question->said[by];
    json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o, s:o}", "authority", tt_authority_name(by), "params",
                                          text_or_null(said->text), "source",
                                          tool_json_text(said->source ? said->source : ""), "why",
                                          text_or_null(said->why), "reason", tool_json_text(question->reason[by])));
  }
  return list;
}

static json_t *outside_of(const explain_question *question) {
  explain_outside found[EXPLAIN_LIBRARIES];
  int count = explain_outside_find(question, found);
  json_t *list = json_array();
  for (int n = 0; n < count; n++) {
    const tt_outside *row = found[n].row;
    json_array_append_new(list, json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:s}", "library", row->library, "passes",
                                          found[n].passes, "ns", (json_int_t)row->time_ns, "tutti_ns",
                                          (json_int_t)row->tutti_ns, "bytes", (json_int_t)row->region.bytes, "line",
                                          (json_int_t)row->line, "why", found[n].why));
  }
  return list;
}

/* NULL: no memory. */
static json_t *call_of(const explain_question *question) {
  const tt_region *region = &question->region;
  const tt_choice *choice = &question->choice;
  return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "collective",
                   tt_compose_info(region->collective).name, "bytes", (json_int_t)question->task.bytes, "ranks",
                   (json_int_t)region->rank_count, "nodes", (json_int_t)region->node_count, "ranks_per_node",
                   (json_int_t)region->ranks_per_node, "nics", (json_int_t)region->nic_count, "cores",
                   (json_int_t)region->core_count, "type", tt_dtype_type(question->options->type)->name, "ordered",
                   question->task.problem.ordered, "authority", tt_authority_name(choice->by), "source",
                   tool_json_text(choice->source), "chosen", tool_json_text(choice->text), "runs",
                   text_or_null(question->runs), "reason", tool_json_text(question->reason[choice->by]), "authorities",
                   authorities_of(question), "outside", outside_of(question));
}

/* ---- what else there is ---- */

static json_t *candidates_of(const explain_rows *rows) {
  json_t *list = json_array();
  char why[EXPLAIN_WHY];
  for (int64_t n = 0; n < rows->count; n++) {
    const explain_row *row = &rows->row[n];
    explain_row_why(rows, row, why);
    json_array_append_new(list,
                          json_pack("{s:s, s:b, s:o, s:o, s:s}", "params", row->text, "runs", row == rows->runs,
                                    "predicted_ns", number_or_null(row->time_ns, row->time_ns >= 0), "measured_ns",
                                    number_or_null((double)row->measured_ns, row->measured_ns > 0), "why", why));
  }
  return list;
}

static json_t *left_out_of(const explain_rows *rows) {
  json_t *list = json_array();
  char why[EXPLAIN_WHY];
  for (int64_t n = 0; n < rows->space.left_out_count; n++) {
    explain_left_out_why(rows, &rows->space.left_out[n], why);
    json_array_append_new(list, json_pack("{s:s, s:s}", "params", rows->space.left_out[n].text, "why", why));
  }
  return list;
}

static bool add_rows(json_t *to, const explain_rows *rows) {
  bool good = json_object_set_new(to, "model", json_string(rows->model)) == 0 &&
              json_object_set_new(to, "candidates", candidates_of(rows)) == 0;
  if (good && rows->winner)
    good = json_object_set_new(to, "measured_bytes", json_integer(rows->winner->region.bytes)) == 0;
  return good && json_object_set_new(to, "left_out", left_out_of(rows)) == 0;
}

tutti_status explain_json_print(const explain_question *question, const explain_rows *rows) {
  json_t *answer = call_of(question);
  bool good = answer && (!rows || add_rows(answer, rows));
  char *text = good ? json_dumps(answer, JSON_INDENT(1) | JSON_PRESERVE_ORDER) : NULL;
  if (text)
    puts(text);
  free(text);
  json_decref(answer);
  return text ? TUTTI_OK : no_memory();
}

/* tools/explain/json.h - the answer for programs. */
#ifndef TUTTI_TOOLS_EXPLAIN_JSON_H
#define TUTTI_TOOLS_EXPLAIN_JSON_H

#include "rows.h"

/* rows NULL: only who decides. */
tutti_status explain_json_print(const explain_question *question, const explain_rows *rows);

#endif

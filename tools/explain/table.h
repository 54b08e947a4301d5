/* tools/explain/table.h - the candidates as a table for people. */
#ifndef TUTTI_TOOLS_EXPLAIN_TABLE_H
#define TUTTI_TOOLS_EXPLAIN_TABLE_H

#include "rows.h"

void explain_table_print(const explain_rows *rows);

#endif

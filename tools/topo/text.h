/* tools/topo/text.h - tables and short texts of `tutti topo`. */
#ifndef TUTTI_TOOLS_TOPO_TEXT_H
#define TUTTI_TOOLS_TOPO_TEXT_H

#include "base/base.h"

enum { TOPO_COLUMNS = 8 };

/* ---- tables: columns are as wide as what is in them; the head stands out on a terminal ---- */

typedef struct topo_row {
  struct topo_row *next;
  const char *cell[TOPO_COLUMNS];
} topo_row;

typedef struct topo_table {
  tt_arena *arena;
  int column_count;
  topo_row *first, *last;
} topo_table;

/* head: so many names; NULL at the end. Cells are kept, not copied. */
topo_table topo_table_make(tt_arena *arena, const char *const *head);
void topo_table_add(topo_table *table, const char *const *cell);
void topo_table_print(const topo_table *table); /* an empty line before it; nothing where it has no rows */

/* ---- texts, in the arena; "" where there is no memory ---- */

/* "-" for what is less than 0 */
const char *topo_number_text(tt_arena *arena, int64_t number);
/* "0-7,16-30:2": ascending numbers. */
const char *topo_list_text(tt_arena *arena, const int32_t *number, int64_t count);
const char *topo_bytes_text(tt_arena *arena, int64_t bytes);
const char *topo_speed_text(tt_arena *arena, int64_t bits_per_second);
/* "node[0-7],login": of names in this order. */
const char *topo_names_text(tt_arena *arena, const char *const *name, int64_t count);
const char *topo_count_text(tt_arena *arena, int64_t count, const char *one, const char *many); /* "1 core" */

#endif

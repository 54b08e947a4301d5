/* tools/export/table.h - which lengths have which winner, for each size of communicator: as jobs of tutti look
 * it up. */
#ifndef TUTTI_TOOLS_EXPORT_TABLE_H
#define TUTTI_TOOLS_EXPORT_TABLE_H

#include "algorithm.h"

#include <stdio.h>

enum { EXPORT_GROUPS = 64 };

/* Communicators of one size. Other libraries do not tell on how many nodes: of several shapes, that of most nodes. */
typedef struct export_group {
  tt_region shape;
  tt_dispatch dispatch;
} export_group;

typedef struct export_table {
  const tt_wisdom *wisdom;
  const char *library; /* for people */
  export_group *group; /* ranks ascend */
  int group_count;
} export_table;

/* A counterpart: a row of a library's table. Rows of a collective stand together, the most general first. */
typedef struct export_row {
  tt_collective collective;
  export_algorithm algorithm;
  const char *name; /* as the library calls it */
  int number;       /* and numbers it */
  bool same;        /* else it is the nearest that there is */
} export_row;

/* Lengths from `begin` up to the next span's begin run with `row`; NULL: the library decides. */
typedef struct export_span {
  int64_t begin;
  const export_row *row;
  int64_t slice_bytes;
} export_span;

/* In the arena. TUTTI_ERR_ARGUMENT where the wisdom has no winner of two ranks or more. */
tutti_status export_table_make(const tt_wisdom *wisdom, const char *library, tt_arena *arena, export_table *table);
/* The first begins at 0. Neighbors differ. */
void export_spans(const export_table *table, const export_group *group, tt_collective collective,
                  const export_row *rows, size_t row_count, export_span span[static TT_BUCKETS], int *count);
/* On stderr: winners without counterpart, and shapes that are left out. */
void export_say_gaps(const export_table *table, const export_row *rows, size_t row_count);

#endif

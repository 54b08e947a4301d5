/* tools/export/table.c - see table.h. */
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- communicators ---- */

static bool is_same_shape(const tt_region *a, const tt_region *b) {
  return a->rank_count == b->rank_count && a->node_count == b->node_count && a->ranks_per_node == b->ranks_per_node &&
         (a->node_count == 1 || a->nic_count == b->nic_count);
}

/* Its place: ranks ascend. */
static void add_group(export_table *table, const tt_region *shape) {
  int at = 0;
  while (at < table->group_count && table->group[at].shape.rank_count < shape->rank_count)
    at++;
  bool there = at < table->group_count && table->group[at].shape.rank_count == shape->rank_count;
  if (there && table->group[at].shape.node_count >= shape->node_count)
    return;
  if (!there && table->group_count == EXPORT_GROUPS) {
    fprintf(stderr, "tutti tune: --export: %" PRId64 " ranks are left out: there are more than %d numbers of ranks\n",
            shape->rank_count, EXPORT_GROUPS);
    return;
  }
  if (!there)
    memmove(&table->group[at + 1], &table->group[at], (size_t)(table->group_count++ - at) * sizeof *table->group);
  table->group[at].shape = *shape;
}

tutti_status export_table_make(const tt_wisdom *wisdom, const char *library, tt_arena *arena, export_table *table) {
  *table = (export_table){.wisdom = wisdom, .library = library};
  table->group = tt_arena_alloc(arena, EXPORT_GROUPS + 1, sizeof *table->group);
  if (!table->group)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for winners");
  for (int64_t n = 0; n < wisdom->count; n++)
    if (wisdom->winner[n].region.rank_count > 1)
      add_group(table, &wisdom->winner[n].region);
  for (int g = 0; g < table->group_count; g++)
    tt_dispatch_make(wisdom, &table->group[g].shape, &table->group[g].dispatch);
  return table->group_count > 0
             ? TUTTI_OK
             : tt_fail(TUTTI_ERR_ARGUMENT, "%s has no winner of two ranks or more; run `tutti tune`", wisdom->path);
}

/* ---- counterparts ---- */

static const export_row *find_row(const export_row *rows, size_t count, tt_collective collective,
                                  export_algorithm algorithm) {
  const export_row *first = NULL;
  for (size_t n = 0; n < count; n++) {
    if (rows[n].collective != collective)
      continue;
    if (rows[n].algorithm == algorithm)
      return &rows[n];
    first = first ? first : &rows[n];
  }
  return first;
}

/* The span's row; whether the library does the same. */
static bool find_counterpart(const tt_winner *winner, const export_row *rows, size_t row_count, export_span *span) {
  export_choice choice;
  if (!export_choose(winner, &choice))
    return false;
  span->row = find_row(rows, row_count, winner->region.collective, choice.algorithm);
  span->slice_bytes = choice.slice_bytes;
  return span->row && span->row->same && span->row->algorithm == choice.algorithm && choice.plain;
}

/* ---- lengths ---- */

/* Of a bucket: the first length in it. Two for each power of two. */
static int64_t begin_of(int bucket) {
  return bucket < 2 ? 0 : bucket % 2 == 0 ? INT64_C(1) << bucket / 2 : INT64_C(3) << (bucket / 2 - 1);
}

static const tt_winner *winner_at(const export_table *table, const export_group *group, tt_collective collective,
                                  int bucket) {
  int32_t number = group->dispatch.winner[collective][bucket];
  return number < 0 ? NULL : &table->wisdom->winner[number];
}

/* A barrier has no length. */
static void span_of_barrier(const export_table *table, const export_group *group, const export_row *rows,
                            size_t row_count, export_span *span) {
  const tt_winner *winner = NULL;
  for (int b = 0; b < TT_BUCKETS && !winner; b++)
    winner = winner_at(table, group, TT_BARRIER, b);
  if (winner)
    find_counterpart(winner, rows, row_count, span);
}

/* Two ideas may have one counterpart. */
static bool is_same_rule(const export_span *a, const export_span *b) {
  bool both = a->row && b->row;
  return (both ? strcmp(a->row->name, b->row->name) == 0 : a->row == b->row) && a->slice_bytes == b->slice_bytes;
}

void export_spans(const export_table *table, const export_group *group, tt_collective collective,
                  const export_row *rows, size_t row_count, export_span span[static TT_BUCKETS], int *count) {
  *count = 1;
  span[0] = (export_span){.begin = 0};
  if (collective == TT_BARRIER)
    span_of_barrier(table, group, rows, row_count, &span[0]);
  for (int b = 0; b < TT_BUCKETS - 2 && collective != TT_BARRIER; b++) {
    const tt_winner *winner = winner_at(table, group, collective, b);
    export_span next = {.begin = begin_of(b)}, *last = &span[*count - 1];
    if (winner)
      find_counterpart(winner, rows, row_count, &next);
    if (is_same_rule(&next, last))
      continue;
    if (next.begin > last->begin)
      span[(*count)++] = next;
    else
      *last = next;
  }
}

/* ---- what is lost ---- */

static const export_group *group_of(const export_table *table, int64_t ranks) {
  for (int g = 0; g < table->group_count; g++)
    if (table->group[g].shape.rank_count == ranks)
      return &table->group[g];
  return NULL;
}

static void say_gap(const export_table *table, const tt_winner *winner, const export_row *rows, size_t row_count) {
  const tt_region *region = &winner->region;
  const export_group *group = group_of(table, region->rank_count);
  export_span span = {.row = NULL};
  export_choice choice;
  char bytes[16], call[96];
  if (!group)
    return;
  tt_format_bytes(region->bytes, bytes);
  snprintf(call, sizeof call, "%s %s, %" PRId64 " ranks", tt_compose_info(region->collective).name, bytes,
           region->rank_count);
  if (!is_same_shape(region, &group->shape)) {
    fprintf(stderr, "%s on %" PRId64 " node%s: left out; %s tells communicators by their ranks alone\n", call,
            region->node_count, region->node_count == 1 ? "" : "s", table->library);
    return;
  }
  bool exact = find_counterpart(winner, rows, row_count, &span);
  if (!export_choose(winner, &choice))
    fprintf(stderr, "%s: left out; this version of tutti does not know '%s' (%s)\n", call, winner->text,
            winner->source);
  else if (!span.row)
    fprintf(stderr, "%s: left out; %s has no rules for it\n", call, table->library);
  else if (!exact)
    fprintf(stderr, "%s: '%s' has no counterpart; nearest is %s\n", call, winner->text, span.row->name);
}

void export_say_gaps(const export_table *table, const export_row *rows, size_t row_count) {
  for (int64_t n = 0; n < table->wisdom->count; n++)
    say_gap(table, &table->wisdom->winner[n], rows, row_count);
}

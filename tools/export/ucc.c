/* tools/export/ucc.c - a configuration file of UCC, with one line:
 *
 *     UCC_TL_UCP_TUNE = COLLECTIVE:BEGIN-END:[RANKS-RANKS]:@ALGORITHM#...
 *
 * What it does not name, UCC chooses. */
#include "write.h"

#include <inttypes.h>

/* As `ucc_info -A` names them. */
static const export_row rows[] = {
    {TT_ALLREDUCE, EXPORT_DOUBLING, "knomial", 0, true},
    {TT_ALLREDUCE, EXPORT_RABENSEIFNER, "sra_knomial", 0, true},
    {TT_ALLREDUCE, EXPORT_RING, "sra_knomial", 0, false},
    {TT_ALLREDUCE, EXPORT_SEGMENTED_RING, "sra_knomial", 0, false},
    {TT_BROADCAST, EXPORT_BINOMIAL, "knomial", 0, true},
    {TT_BROADCAST, EXPORT_KNOMIAL, "knomial", 0, true},
    {TT_BROADCAST, EXPORT_SPLIT_BINARY, "dbt", 0, true},
    {TT_BROADCAST, EXPORT_BINARY, "dbt", 0, false},
    {TT_BROADCAST, EXPORT_SCATTER_DOUBLING, "sag_knomial", 0, true},
    {TT_BROADCAST, EXPORT_SCATTER_RING, "sag_knomial", 0, false},
    {TT_REDUCE, EXPORT_BINOMIAL, "knomial", 0, true},
    {TT_REDUCE, EXPORT_KNOMIAL, "knomial", 0, true},
    {TT_REDUCE, EXPORT_SPLIT_BINARY, "dbt", 0, true},
    {TT_REDUCE, EXPORT_BINARY, "dbt", 0, false},
    {TT_ALLGATHER, EXPORT_DOUBLING, "knomial", 0, true},
    {TT_ALLGATHER, EXPORT_RING, "ring", 0, true},
    {TT_ALLGATHER, EXPORT_EXCHANGE, "neighbor", 0, true},
    {TT_ALLGATHER, EXPORT_BRUCK, "bruck", 0, true},
    {TT_REDUCE_SCATTER, EXPORT_RING, "ring", 0, true},
    {TT_REDUCE_SCATTER, EXPORT_DOUBLING, "knomial", 0, true},
    {TT_ALL_TO_ALL, EXPORT_LINEAR, "pairwise", 0, true},
    {TT_ALL_TO_ALL, EXPORT_BRUCK, "bruck", 0, true},
};

static const struct {
  tt_collective collective;
  const char *name;
} collectives[] = {{TT_ALLREDUCE, "allreduce"},
                   {TT_BROADCAST, "bcast"},
                   {TT_REDUCE, "reduce"},
                   {TT_ALLGATHER, "allgather"},
                   {TT_REDUCE_SCATTER, "reduce_scatter"},
                   {TT_ALL_TO_ALL, "alltoall"}};

static void write_end(FILE *file, const export_span *next) {
  if (next)
    fprintf(file, "%" PRId64, next->begin);
  else
    fputs("inf", file);
}

static void write_group(const export_table *table, const export_group *group, int n, FILE *file, bool *first) {
  export_span span[TT_BUCKETS];
  int count;
  export_spans(table, group, collectives[n].collective, rows, TT_COUNT(rows), span, &count);
  for (int s = 0; s < count; s++) {
    if (!span[s].row)
      continue;
    fprintf(file, "%s%s:%" PRId64 "-", *first ? "" : "#", collectives[n].name, span[s].begin);
    write_end(file, s + 1 < count ? &span[s + 1] : NULL);
    fprintf(file, ":[%" PRId64 "-%" PRId64 "]:@%s", group->shape.rank_count, group->shape.rank_count,
            span[s].row->name);
    *first = false;
  }
}

tutti_status export_write_ucc(const export_table *table, FILE *file) {
  bool first = true;
  fprintf(file, "# Written by `tutti tune --export ucc`, for UCC 1.x: UCC_CONFIG_FILE names this file, or set the\n"
                "# variable in the environment. It follows the documentation of UCC and has not been run.\n"
                "UCC_TL_UCP_TUNE = ");
  for (int n = 0; n < (int)TT_COUNT(collectives); n++)
    for (int g = 0; g < table->group_count; g++)
      write_group(table, &table->group[g], n, file, &first);
  fputc('\n', file);
  export_say_gaps(table, rows, TT_COUNT(rows));
  return TUTTI_OK;
}

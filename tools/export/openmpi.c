/* tools/export/openmpi.c - a rule file of Open MPI's coll_tuned, version 4.1:
 *
 *     collectives { collective, sizes of communicators { size, lengths { length, algorithm, fan, segment } } }
 *
 * A size holds from there on, and so does a length; algorithm 0 leaves the choice to Open MPI. */
#include "write.h"

#include <inttypes.h>

/* As `ompi_info --param coll tuned --level 9` names and numbers them. */
static const export_row rows[] = {
    {TT_ALLREDUCE, EXPORT_DOUBLING, "recursive_doubling", 3, true},
    {TT_ALLREDUCE, EXPORT_RING, "ring", 4, true},
    {TT_ALLREDUCE, EXPORT_SEGMENTED_RING, "segmented_ring", 5, true},
    {TT_ALLREDUCE, EXPORT_RABENSEIFNER, "rabenseifner", 6, true},
    {TT_ALLREDUCE, EXPORT_TWO_STEPS, "nonoverlapping", 2, true},
    {TT_ALLREDUCE, EXPORT_BINARY, "nonoverlapping", 2, false},
    {TT_BROADCAST, EXPORT_BINOMIAL, "binomial", 6, true},
    {TT_BROADCAST, EXPORT_LINEAR, "basic_linear", 1, true},
    {TT_BROADCAST, EXPORT_CHAIN, "pipeline", 3, true},
    {TT_BROADCAST, EXPORT_SPLIT_BINARY, "split_binary_tree", 4, false},
    {TT_BROADCAST, EXPORT_BINARY, "binary_tree", 5, true},
    {TT_BROADCAST, EXPORT_KNOMIAL, "knomial", 7, true},
    {TT_BROADCAST, EXPORT_SCATTER_DOUBLING, "scatter_allgather", 8, true},
    {TT_BROADCAST, EXPORT_SCATTER_RING, "scatter_allgather_ring", 9, true},
    {TT_REDUCE, EXPORT_BINOMIAL, "binomial", 5, true},
    {TT_REDUCE, EXPORT_LINEAR, "linear", 1, true},
    {TT_REDUCE, EXPORT_CHAIN, "pipeline", 3, true},
    {TT_REDUCE, EXPORT_BINARY, "binary", 4, true},
    {TT_REDUCE, EXPORT_SPLIT_BINARY, "binary", 4, false},
    {TT_REDUCE, EXPORT_RABENSEIFNER, "rabenseifner", 7, true},
    {TT_ALLGATHER, EXPORT_BRUCK, "bruck", 2, true},
    {TT_ALLGATHER, EXPORT_LINEAR, "linear", 1, false},
    {TT_ALLGATHER, EXPORT_DOUBLING, "recursive_doubling", 3, true},
    {TT_ALLGATHER, EXPORT_RING, "ring", 4, true},
    {TT_ALLGATHER, EXPORT_EXCHANGE, "neighbor", 5, true},
    {TT_ALLGATHER, EXPORT_TWO_STEPS, "linear", 1, true},
    {TT_ALL_TO_ALL, EXPORT_BRUCK, "modified_bruck", 3, true},
    {TT_ALL_TO_ALL, EXPORT_LINEAR, "linear", 1, true},
    {TT_ALL_TO_ALL, EXPORT_RING, "pairwise", 2, false},
    {TT_REDUCE_SCATTER, EXPORT_RING, "ring", 3, true},
    {TT_REDUCE_SCATTER, EXPORT_DOUBLING, "recursive_halving", 2, true},
    {TT_REDUCE_SCATTER, EXPORT_BRUCK, "butterfly", 4, false},
    {TT_REDUCE_SCATTER, EXPORT_TWO_STEPS, "non-overlapping", 1, true},
    {TT_BARRIER, EXPORT_DOUBLING, "recursive_doubling", 3, true},
    {TT_BARRIER, EXPORT_BRUCK, "bruck", 4, true},
    {TT_BARRIER, EXPORT_RING, "double_ring", 2, false},
    {TT_BARRIER, EXPORT_TWO_STEPS, "tree", 6, false},
    {TT_GATHER, EXPORT_BINOMIAL, "binomial", 2, true},
    {TT_GATHER, EXPORT_LINEAR, "basic_linear", 1, true},
    {TT_SCATTER, EXPORT_BINOMIAL, "binomial", 2, true},
    {TT_SCATTER, EXPORT_LINEAR, "basic_linear", 1, true},
    {TT_SCAN, EXPORT_DOUBLING, "recursive_doubling", 2, true},
    {TT_SCAN, EXPORT_BRUCK, "recursive_doubling", 2, true},
    {TT_SCAN, EXPORT_RING, "linear", 1, true},
    {TT_EXSCAN, EXPORT_DOUBLING, "recursive_doubling", 2, true},
    {TT_EXSCAN, EXPORT_BRUCK, "recursive_doubling", 2, true},
    {TT_EXSCAN, EXPORT_RING, "linear", 1, true},
};

/* Open MPI's numbers, ascending. */
static const struct {
  tt_collective collective;
  int number;
} collectives[] = {{TT_ALLGATHER, 0},       {TT_ALLREDUCE, 2}, {TT_ALL_TO_ALL, 3}, {TT_BARRIER, 6},
                   {TT_BROADCAST, 7},       {TT_EXSCAN, 8},    {TT_GATHER, 9},     {TT_REDUCE, 11},
                   {TT_REDUCE_SCATTER, 12}, {TT_SCAN, 14},     {TT_SCATTER, 15}};

/* Its number of processes is not that of any group. */
static void write_no_rule(FILE *file, int64_t ranks) { fprintf(file, "%" PRId64 " 1\n0 0 0 0\n", ranks); }

static void write_group(const export_table *table, const export_group *group, tt_collective collective, FILE *file) {
  export_span span[TT_BUCKETS];
  int count;
  export_spans(table, group, collective, rows, TT_COUNT(rows), span, &count);
  fprintf(file, "%" PRId64 " %d # ranks, lengths\n", group->shape.rank_count, count);
  for (int s = 0; s < count; s++)
    fprintf(file, "%" PRId64 " %d 0 %" PRId64 " # %s\n", span[s].begin, span[s].row ? span[s].row->number : 0,
            span[s].slice_bytes, span[s].row ? span[s].row->name : "as Open MPI decides");
}

/* Whether the size behind a group has no rules. */
static bool ends(const export_table *table, int group) {
  return group + 1 == table->group_count ||
         table->group[group + 1].shape.rank_count > table->group[group].shape.rank_count + 1;
}

static void write_collective(const export_table *table, int n, FILE *file) {
  int sizes = 1 + table->group_count;
  for (int g = 0; g < table->group_count; g++)
    sizes += ends(table, g);
  fprintf(file, "\n%d # %s\n%d\n", collectives[n].number, tt_compose_info(collectives[n].collective).name, sizes);
  write_no_rule(file, 1);
  for (int g = 0; g < table->group_count; g++) {
    write_group(table, &table->group[g], collectives[n].collective, file);
    if (ends(table, g))
      write_no_rule(file, table->group[g].shape.rank_count + 1);
  }
}

tutti_status export_write_openmpi(const export_table *table, FILE *file) {
  fprintf(file, "# Written by `tutti tune --export openmpi`, for Open MPI 4.1:\n"
                "#   mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE\n"
                "# Open MPI also uses these rules for operators that do not commute.\n");
  fprintf(file, "%zu # collectives\n", TT_COUNT(collectives));
  for (int n = 0; n < (int)TT_COUNT(collectives); n++)
    write_collective(table, n, file);
  export_say_gaps(table, rows, TT_COUNT(rows));
  return TUTTI_OK;
}

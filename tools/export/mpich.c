/* tools/export/mpich.c - a file of MPICH 4.0's collective selection: a tree of conditions in JSON, the first that holds
 * in each object counts, and an algorithm at each leaf.
 *
 *     collective / kind of communicator / size of communicator / length / what the algorithm needs / algorithm
 *
 * Such a file replaces all of MPICH's own rules, so it has some for what was not measured (mpich_rest.inc). */
#include "write.h"

#include <inttypes.h>
#include <stdlib.h>

#define A(name) "{\"algorithm=MPIR_" name "\":{}}"
#define IF(condition, yes, other, no) "{\"" condition "\":" yes ",\"" other "\":" no "}"
#define POW2(yes, no) IF("comm_size=pow2", yes, "comm_size=any", no)
#define COMMUTES(yes, no) IF("is_commutative=yes", yes, "is_commutative=no", no)
#define LONGER(length, shorter, longer) IF("total_msg_size<=" length, shorter, "total_msg_size=any", longer)
/* One element for each rank of a power of two, and MPI's own operators. */
#define CUT(yes, no) IF("is_op_built_in=yes", IF("count<pow2", no, "count=any", yes), "is_op_built_in=no", no)
#define MOVED(yes, in_place) IF("is_sendbuf_inplace=yes", in_place, "is_sendbuf_inplace=no", yes)

enum {
  ALLREDUCE_DOUBLING,
  ALLREDUCE_CUT,
  BCAST_BINOMIAL,
  BCAST_DOUBLING,
  BCAST_RING,
  REDUCE_BINOMIAL,
  REDUCE_CUT,
  ALLGATHER_BRUCK,
  ALLGATHER_DOUBLING,
  ALLGATHER_RING,
  ALLTOALL_BRUCK,
  ALLTOALL_SCATTERED,
  ALLTOALL_PAIRWISE,
  SCATTER_HALVING,
  SCATTER_PAIRWISE,
  SCATTER_BLOCK_HALVING,
  SCATTER_BLOCK_PAIRWISE
};

#define DOUBLING A("Allreduce_intra_recursive_doubling")
#define BINOMIAL A("Reduce_intra_binomial")
#define IN_PLACE A("Alltoall_intra_pairwise_sendrecv_replace")
#define NO_ORDER A("Reduce_scatter_intra_recursive_doubling")
#define NO_ORDER_BLOCK A("Reduce_scatter_block_intra_recursive_doubling")

static const char *const leaf[] = {
    [ALLREDUCE_DOUBLING] = DOUBLING,
    [ALLREDUCE_CUT] = CUT(A("Allreduce_intra_reduce_scatter_allgather"), DOUBLING),
    [BCAST_BINOMIAL] = A("Bcast_intra_binomial"),
    [BCAST_DOUBLING] =
        POW2(A("Bcast_intra_scatter_recursive_doubling_allgather"), A("Bcast_intra_scatter_ring_allgather")),
    [BCAST_RING] = A("Bcast_intra_scatter_ring_allgather"),
    [REDUCE_BINOMIAL] = BINOMIAL,
    [REDUCE_CUT] = CUT(A("Reduce_intra_reduce_scatter_gather"), BINOMIAL),
    [ALLGATHER_BRUCK] = A("Allgather_intra_brucks"),
    [ALLGATHER_DOUBLING] = POW2(A("Allgather_intra_recursive_doubling"), A("Allgather_intra_brucks")),
    [ALLGATHER_RING] = A("Allgather_intra_ring"),
    [ALLTOALL_BRUCK] = MOVED(A("Alltoall_intra_brucks"), IN_PLACE),
    [ALLTOALL_SCATTERED] = MOVED(A("Alltoall_intra_scattered"), IN_PLACE),
    [ALLTOALL_PAIRWISE] = MOVED(A("Alltoall_intra_pairwise"), IN_PLACE),
    [SCATTER_HALVING] = COMMUTES(A("Reduce_scatter_intra_recursive_halving"), NO_ORDER),
    [SCATTER_PAIRWISE] = COMMUTES(A("Reduce_scatter_intra_pairwise"), NO_ORDER),
    [SCATTER_BLOCK_HALVING] = COMMUTES(A("Reduce_scatter_block_intra_recursive_halving"), NO_ORDER_BLOCK),
    [SCATTER_BLOCK_PAIRWISE] = COMMUTES(A("Reduce_scatter_block_intra_pairwise"), NO_ORDER_BLOCK)};

static const export_row rows[] = {
    {TT_ALLREDUCE, EXPORT_DOUBLING, "recursive_doubling", ALLREDUCE_DOUBLING, true},
    {TT_ALLREDUCE, EXPORT_RABENSEIFNER, "reduce_scatter_allgather", ALLREDUCE_CUT, true},
    {TT_ALLREDUCE, EXPORT_RING, "reduce_scatter_allgather", ALLREDUCE_CUT, false},
    {TT_ALLREDUCE, EXPORT_SEGMENTED_RING, "reduce_scatter_allgather", ALLREDUCE_CUT, false},
    {TT_BROADCAST, EXPORT_BINOMIAL, "binomial", BCAST_BINOMIAL, true},
    {TT_BROADCAST, EXPORT_SCATTER_DOUBLING, "scatter_recursive_doubling_allgather", BCAST_DOUBLING, true},
    {TT_BROADCAST, EXPORT_SCATTER_RING, "scatter_ring_allgather", BCAST_RING, true},
    {TT_BROADCAST, EXPORT_CHAIN, "scatter_ring_allgather", BCAST_RING, false},
    {TT_REDUCE, EXPORT_BINOMIAL, "binomial", REDUCE_BINOMIAL, true},
    {TT_REDUCE, EXPORT_RABENSEIFNER, "reduce_scatter_gather", REDUCE_CUT, true},
    {TT_REDUCE, EXPORT_CHAIN, "reduce_scatter_gather", REDUCE_CUT, false},
    {TT_ALLGATHER, EXPORT_BRUCK, "brucks", ALLGATHER_BRUCK, true},
    {TT_ALLGATHER, EXPORT_DOUBLING, "recursive_doubling", ALLGATHER_DOUBLING, true},
    {TT_ALLGATHER, EXPORT_RING, "ring", ALLGATHER_RING, true},
    {TT_ALLGATHER, EXPORT_EXCHANGE, "ring", ALLGATHER_RING, false},
    {TT_ALL_TO_ALL, EXPORT_LINEAR, "scattered", ALLTOALL_SCATTERED, true},
    {TT_ALL_TO_ALL, EXPORT_BRUCK, "brucks", ALLTOALL_BRUCK, true},
    {TT_ALL_TO_ALL, EXPORT_RING, "pairwise", ALLTOALL_PAIRWISE, false},
    {TT_REDUCE_SCATTER, EXPORT_DOUBLING, "recursive_halving", SCATTER_HALVING, true},
    {TT_REDUCE_SCATTER, EXPORT_LINEAR, "pairwise", SCATTER_PAIRWISE, true},
    {TT_REDUCE_SCATTER, EXPORT_RING, "pairwise", SCATTER_PAIRWISE, false},
};

/* A collective with rules by length. `length`: MPICH's word for it, that of one block where per_block. */
static const struct {
  tt_collective collective;
  const char *name, *length, *inter;
  int shift; /* of its leaves from those of the rows */
  bool per_block;
  const char *usual; /* where nothing was measured */
} tuned[] = {
    {TT_ALLREDUCE, "allreduce", "avg_msg_size", "Allreduce_inter_reduce_exchange_bcast", 0, false,
     CUT(IF("avg_msg_size<=2048", DOUBLING, "avg_msg_size=any", A("Allreduce_intra_reduce_scatter_allgather")),
         DOUBLING)},
    {TT_BROADCAST, "bcast", "avg_msg_size", "Bcast_inter_remote_send_local_bcast", 0, false,
     IF("avg_msg_size<=12288", A("Bcast_intra_binomial"), "avg_msg_size=any", A("Bcast_intra_scatter_ring_allgather"))},
    {TT_REDUCE, "reduce", "avg_msg_size", "Reduce_inter_local_reduce_remote_send", 0, false,
     CUT(IF("avg_msg_size<=2048", BINOMIAL, "avg_msg_size=any", A("Reduce_intra_reduce_scatter_gather")), BINOMIAL)},
    {TT_ALLGATHER, "allgather", "total_msg_size", "Allgather_inter_local_gather_remote_bcast", 0, false,
     LONGER("81920", A("Allgather_intra_brucks"), A("Allgather_intra_ring"))},
    {TT_ALL_TO_ALL, "alltoall", "avg_msg_size", "Alltoall_inter_pairwise_exchange", 0, true,
     MOVED(IF("avg_msg_size<=32768", A("Alltoall_intra_scattered"), "avg_msg_size=any", A("Alltoall_intra_pairwise")),
           IN_PLACE)},
    {TT_REDUCE_SCATTER, "reduce_scatter", "total_msg_size", "Reduce_scatter_inter_remote_reduce_local_scatter", 0,
     false,
     COMMUTES(LONGER("524288", A("Reduce_scatter_intra_recursive_halving"), A("Reduce_scatter_intra_pairwise")),
              NO_ORDER)},
    {TT_REDUCE_SCATTER, "reduce_scatter_block", "total_msg_size",
     "Reduce_scatter_block_inter_remote_reduce_local_scatter", SCATTER_BLOCK_HALVING - SCATTER_HALVING, false,
     COMMUTES(
         LONGER("524288", A("Reduce_scatter_block_intra_recursive_halving"), A("Reduce_scatter_block_intra_pairwise")),
         NO_ORDER_BLOCK)}};

static const struct {
  const char *name, *rules;
} rest[] = {
#define SAME(name, all) {name, all},
#define KINDS(name, intra, inter) {name, IF("comm_type=intra", intra, "comm_type=inter", inter)},
#include "mpich_rest.inc"
#undef SAME
#undef KINDS
};

static const char *leaf_of(int n, const export_span *span) {
  return span->row ? leaf[span->row->number + tuned[n].shift] : tuned[n].usual;
}

/* MPICH reads lengths as int. */
static void write_lengths(const export_table *table, const export_group *group, int n, FILE *file) {
  export_span span[TT_BUCKETS];
  int count;
  int64_t blocks = tuned[n].per_block ? group->shape.rank_count : 1;
  export_spans(table, group, tuned[n].collective, rows, TT_COUNT(rows), span, &count);
  fputc('{', file);
  int s = 0;
  for (; s + 1 < count && (span[s + 1].begin - 1) / blocks < INT32_MAX; s++)
    fprintf(file, "\n   \"%s<=%" PRId64 "\":%s,", tuned[n].length, (span[s + 1].begin - 1) / blocks,
            leaf_of(n, &span[s]));
  fprintf(file, "\n   \"%s=any\":%s}", tuned[n].length, leaf_of(n, &span[s]));
}

static void write_tuned(const export_table *table, int n, FILE *file) {
  int64_t below = 1; /* sizes up to here have their rules */
  fprintf(file, " \"collective=%s\":{\"comm_type=intra\":{", tuned[n].name);
  for (int g = 0; g < table->group_count; g++) {
    int64_t ranks = table->group[g].shape.rank_count;
    if (below < ranks - 1 || g == 0)
      fprintf(file, "\n  \"comm_size<=%" PRId64 "\":%s,", ranks - 1, tuned[n].usual);
    fprintf(file, "\n  \"comm_size<=%" PRId64 "\":", ranks);
    write_lengths(table, &table->group[g], n, file);
    fputc(',', file);
    below = ranks;
  }
  fprintf(file, "\n  \"comm_size=any\":%s},\n  \"comm_type=inter\":{\"algorithm=MPIR_%s\":{}}},\n", tuned[n].usual,
          tuned[n].inter);
}

static void write_all(const export_table *table, FILE *file) {
  fputs("{\n", file);
  for (int n = 0; n < (int)TT_COUNT(tuned); n++)
    write_tuned(table, n, file);
  for (size_t n = 0; n < TT_COUNT(rest); n++)
    fprintf(file, " \"collective=%s\":%s%s\n", rest[n].name, rest[n].rules, n + 1 < TT_COUNT(rest) ? "," : "");
  fputs("}\n", file);
}

/* MPICH maps the file and reads up to a zero: what fills its last page. There is none in a file of whole pages. */
tutti_status export_write_mpich(const export_table *table, FILE *file) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (!memory)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the rules");
  write_all(table, memory);
  bool whole = fclose(memory) == 0;
  if (whole)
    fprintf(file, "%s%s", text, size % 4096 == 0 ? "\n" : "");
  free(text);
  export_say_gaps(table, rows, TT_COUNT(rows));
  return whole ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for the rules");
}

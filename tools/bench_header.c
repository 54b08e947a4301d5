/* tools/bench_header.c - the comment lines above the table: what is measured, in which units, against which limits. */
#include "bench.h"

#include "../bench/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether any collective that was asked for has such a form. */
typedef bool (*property)(const bench_form *form);

static bool is_uneven(const bench_form *form) { return form->uneven && !form->neighbor; }
static bool is_typed(const bench_form *form) { return form->typed; }
static bool is_by_pair(const bench_form *form) { return form->cut == BENCH_BY_PAIR; }
static bool is_neighbor(const bench_form *form) { return form->neighbor; }
static bool sums(const bench_form *form) { return form->sum != BENCH_NO_SUM; }

static bool any(const bench_options *options, property has) {
  for (int c = 0; c < options->collective_count; c++)
    if (has(&bench_forms[options->collective[c]]))
      return true;
  return false;
}

static bool any_sparse(const bench_options *options) {
  for (int c = 0; c < options->collective_count; c++)
    if (options->sparse && (options->collective[c] == TT_ALL_TO_ALLV || options->collective[c] == TT_ALL_TO_ALLW))
      return true;
  return false;
}

static int64_t busy_cores(const bench_job *job) {
  return job->core_count < job->options->rank_count ? job->core_count : job->options->rank_count;
}

static void print_setting(const bench_job *job) {
  const bench_options *options = job->options;
  int64_t ranks = options->rank_count, cores = busy_cores(job);
  bool combines = any(options, sums);
  printf("# %lld rank%s on %lld core%s (rank r on core r mod %d), %s%s%s, roots rotate%s%s%s\n", (long long)ranks,
         ranks == 1 ? "" : "s", (long long)cores, cores == 1 ? "" : "s", job->core_count,
         tutti_type_name(options->type), combines ? ", " : "", combines ? tutti_op_name(options->op) : "",
         options->mode == BENCH_PERSISTENT ? ", persistent calls" : "",
         options->apart ? ", a barrier before each call" : "", options->shared_memory ? ", tutti_alloc" : "");
  const char *progress = getenv("TUTTI_PROGRESS");
  if (options->overlap && progress)
    printf("# TUTTI_PROGRESS=%s\n", progress);
}

/* What a size is of, and how it is cut. */
static void print_sizes(const bench_options *options) {
  int32_t ranks = (int32_t)options->rank_count, rows = bench_grid_rows(ranks), neighbor[4];
  if (options->per_pair)
    puts("# size     bytes of one block, such as one rank has for another; of the vector where it is not cut");
  else
    puts("# size     bytes of the whole vector, as in nccl-tests: all ranks' parts together in allgather, gather, "
         "scatter, ...");
  if (any(options, is_by_pair) && !options->per_pair)
    puts("#          all-to-all: of each rank's vector, its blocks for all ranks together");
  if (any(options, is_neighbor))
    printf("# neighbor a grid of %d x %d ranks, closed around: %d neighbor%s each\n", rows, ranks / rows,
           bench_neighbors(ranks, 0, neighbor), bench_neighbors(ranks, 0, neighbor) == 1 ? "" : "s");
  if (any(options, is_uneven))
    puts("# v        uneven blocks, the same in all libraries: rank r's is r + 1 of p (p + 1) / 2 shares, as far as "
         "whole\n#          elements go; from rank r to rank s that of rank (r + s) mod p");
  if (any_sparse(options))
    puts("# sparse   all-to-allv, -w: ranks r + 1 and r + 2 get one and two thirds of rank r's vector, the others "
         "nothing");
  if (any(options, is_typed))
    puts("# w        as v, every second block of bytes instead of elements");
}

static void print_columns(const bench_job *job) {
  const char *name = job->group[0].launcher->name;
  printf("# us       a call of %s, slowest rank: median and 99th percentile over batches of at least 50 us\n"
         "# GB/s     size / time; bus: times nccl-tests' factor\n"
         "# copy us  the copy bound: %lld core%s memcpy at once the blocks and operands that have to come to their "
         "ranks\n"
         "# share    copy us / us\n",
         name, (long long)busy_cores(job), busy_cores(job) == 1 ? "" : "s");
  if (job->group_count > 1)
    printf("# x        time of the other library / time of %s: median over interleaved pairs, the other one asleep\n",
           name);
}

static void print_overlap_columns(void) {
  printf("# tests    of the library between the %d pieces of the computation\n"
         "# us       post and wait; the computation alone; both. Slowest rank, medians\n"
         "# hidden   (call + computation - both) / the shorter of them: median over rounds\n",
         BENCH_PIECES);
}

static void print_legend(const bench_job *job) {
  print_setting(job);
  print_sizes(job->options);
  if (job->options->overlap)
    print_overlap_columns();
  else
    print_columns(job);
  if (job->flags_ns > 0)
    printf("# flags    a bare exchange of flags between these ranks takes %.2f us: the floor under a small call\n",
           job->flags_ns / 1000);
  for (int g = 0; g < job->group_count; g++)
    printf("# %-8s %s: %s\n", job->group[g].launcher->name, job->group[g].version, job->group[g].command);
}

int bench_column_width(const bench_group *group) {
  size_t width = strlen(group->launcher->name);
  return width > 9 ? (int)width : 9;
}

void bench_print_header(const bench_job *job) {
  const bench_options *options = job->options;
  int width = bench_params_width(options);
  bench_progress_clear();
  print_legend(job);
  printf("%-*s %7s", bench_name_width(options), "collective", "size");
  if (width > 0)
    printf(" %-*s", width, "params");
  if (options->overlap)
    printf(" %-12s %5s %9s %9s %9s %7s", "library", "tests", "call us", "comp. us", "both us", "hidden");
  else
    printf(" %9s %9s %7s %7s %9s %6s", "us", "p99 us", "GB/s", "bus", "copy us", "share");
  for (int g = 1; g < job->group_count && !options->overlap; g++)
    printf(" %*s %7s", bench_column_width(&job->group[g]), job->group[g].launcher->name, "x");
  puts(options->check ? "  data" : "");
  fflush(stdout);
}

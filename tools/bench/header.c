/* tools/bench/header.c - the comment lines above the table: what is measured, in which units, against which limits. */
#include "header.h"
#include "columns.h"
#include "say.h"

#include "bench/bound.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether any collective that was asked for has such a form. */
typedef bool (*property)(const bench_form *form);

static bool is_uneven(const bench_form *form) { return form->uneven && !form->neighbor; }
static bool is_typed(const bench_form *form) { return form->typed; }
static bool is_by_pair(const bench_form *form) { return form->cut == BENCH_BY_PAIR; }
static bool is_neighbor(const bench_form *form) { return form->neighbor; }
static bool has_root(const bench_form *form) { return form->from_root || form->to_root; }
static bool sums(const bench_form *form) { return form->sums; }

static bool any(const bench_options *options, property has) {
  for (int c = 0; c < options->rows.collective_count; c++) {
    bench_form form = bench_form_of(options->rows.collective[c]);
    if (has(&form))
      return true;
  }
  return false;
}

static bool any_sparse(const bench_options *options) {
  for (int c = 0; c < options->rows.collective_count; c++)
    if (options->call.sparse && bench_may_be_sparse(options->rows.collective[c]))
      return true;
  return false;
}

static int64_t busy_cores(const bench_job *job) {
  return job->core_count < job->options->ranks.count ? job->core_count : job->options->ranks.count;
}

static void print_where(const bench_job *job) {
  int64_t ranks = job->options->ranks.count, cores = busy_cores(job);
  printf("# %" PRId64 " rank%s on ", ranks, ranks == 1 ? "" : "s");
  if (job->map)
    printf("%d machine%s", job->map->machines, job->map->machines == 1 ? "" : "s");
  else
    printf("%" PRId64 " core%s (rank r on core r mod %d)", cores, cores == 1 ? "" : "s", job->core_count);
}

/* Workers of other libraries make blocking calls in any mode. */
static const char *mode_text(const bench_job *job) {
  if (job->options->call.mode != BENCH_PERSISTENT)
    return "";
  for (int g = 0; g < job->group_count; g++)
    if (job->group[g].launcher->kind->worker)
      return ", persistent calls of tutti, blocking ones of the others";
  return ", persistent calls";
}

static void print_setting(const bench_job *job) {
  const bench_options *options = job->options;
  bool combines = any(options, sums);
  print_where(job);
  printf(", %s%s%s, roots rotate%s%s%s\n", tutti_type_name(options->call.type), combines ? ", " : "",
         combines ? tutti_op_name(options->call.op) : "", mode_text(job),
         options->call.apart ? ", a barrier before each call" : "", options->call.alloc ? ", tutti_alloc" : "");
  if (options->call.delay > 0)
    printf("# calls of %s are delayed by %g %%\n", job->group[0].launcher->name, options->call.delay * 100);
  const char *progress = getenv("TUTTI_PROGRESS");
  if (options->call.overlap && progress)
    printf("# TUTTI_PROGRESS=%s\n", progress);
}

/* What a size is of, and how it is cut. */
static void print_sizes(const bench_options *options) {
  int32_t ranks = (int32_t)options->ranks.count, rows = bench_grid_rows(ranks), neighbor[4];
  if (options->rows.per_pair)
    puts("# size     bytes of one block, such as one rank has for another; bytes of the vector if it is not cut");
  else
    puts("# size     bytes of the whole vector, as in nccl-tests: all ranks' parts together in allgather, gather, "
         "scatter, ...");
  if (any(options, is_by_pair) && !options->rows.per_pair)
    puts("#          all-to-all: of each rank's vector, its blocks for all ranks together");
  if (any(options, is_neighbor))
    printf("# neighbor a grid of %d x %d ranks, closed around: %d neighbor%s each\n", rows, ranks / rows,
           bench_neighbors(ranks, 0, neighbor), bench_neighbors(ranks, 0, neighbor) == 1 ? "" : "s");
  if (any(options, is_uneven))
    puts("# v        uneven blocks, the same in all libraries: rank r has r + 1 of p (p + 1) / 2 shares, rounded to "
         "whole\n#          elements; rank r sends rank s the share of rank (r + s) mod p");
  if (any_sparse(options))
    puts("# sparse   all-to-allv, -w: ranks r + 1 and r + 2 get one and two thirds of rank r's vector, the others get "
         "nothing");
  if (any(options, is_typed))
    puts("# w        as v, with bytes instead of elements in every second block");
}

/* ---- jobs of a launcher of the user's ---- */

static bool alike(const bench_machine *a, const bench_machine *b) {
  bool equal = a->ranks == b->ranks && a->cores == b->cores && a->nic_count == b->nic_count;
  for (int n = 0; equal && n < a->nic_count; n++)
    equal = strcmp(a->nic[n].name, b->nic[n].name) == 0 && a->nic[n].bits_per_second == b->nic[n].bits_per_second;
  return equal;
}

static void print_nics(const bench_machine *machine, int64_t given) {
  fputs(" NICs:", stdout);
  for (int n = 0; n < machine->nic_count; n++) {
    int64_t rate = given > 0 ? given : machine->nic[n].bits_per_second;
    printf("%s %s", n ? "," : "", machine->nic[n].name);
    if (rate > 0)
      printf(" at %g Mbit/s", (double)rate / 1e6);
  }
  puts(machine->nic_count == 0 ? " none" : given > 0 ? " (--rate)" : "");
}

/* Machines that are alike, one after the other, are a line. */
static void print_machines(const bench_job *job) {
  const bench_map *map = job->map;
  for (int32_t m = 0, next; m < map->machines; m = next) {
    const bench_machine *machine = &map->machine[m];
    for (next = m + 1; next < map->machines && alike(machine, &map->machine[next]);)
      next++;
    printf("# machine  %s", machine->name);
    if (next > m + 1)
      printf(" .. %s: %d machines of", map->machine[next - 1].name, next - m);
    else
      putchar(':');
    printf(" %d rank%s, %d core%s,", machine->ranks, machine->ranks == 1 ? "" : "s", machine->cores,
           machine->cores == 1 ? "" : "s");
    print_nics(machine, job->options->launch.rate);
  }
}

static void print_bound(const bench_job *job) {
  const bench_map *map = job->map;
  bool known = true;
  for (int32_t m = 0; m < map->machines; m++)
    known = known && bench_machine_rate(map, m, job->options->launch.rate) > 0;
  if (!known) {
    puts("# bound    unknown: the system does not report the rate of the NICs; give it, for example --rate 100M");
    return;
  }
  puts("# bound us the link bound: the time in which all that must leave or enter the busiest machine crosses its "
       "NICs\n#          (the best possible with TCP is 1.05)");
  if (any(job->options, has_root))
    puts(job->options->call.apart
             ? "#          median of the roots' bounds"
             : "#          of a whole turn of roots, whose calls overlap; with --apart of single calls");
  if (map->hosts < map->machines)
    puts("#          pretended machines share their host's NICs");
}

/* Ranks of one machine have one clock. */
static const char *apart_words(const bench_job *job) {
  if (!job->options->call.apart)
    return "";
  return job->map && job->map->hosts > 1
             ? " of one call"
             : " of one call,\n#          from the first rank's beginning to the last one's end";
}

static void print_launched_columns(const bench_job *job) {
  const char *name = job->group[0].launcher->name;
  printf("# us       a call of %s, slowest rank: median and 99th percentile over batches%s%s\n"
         "# GB/s     size / time; bus: times nccl-tests' factor\n",
         name, apart_words(job), job->options->launch.given ? " of a job; of these, medians over jobs" : "");
  if (job->map->machines > 1)
    print_bound(job);
  if (job->group_count > 1)
    printf("# x        time of the other library / time of %s, in pairs of jobs that ran one after the other: mean and "
           "95 %% interval\n#          (geometric; Student's t)\n",
           name);
  if (job->options->launch.nics)
    puts("# nics     bytes a call that each NIC has sent and received, including headers and all other traffic, as\n#  "
         "        shares of what the busiest machine must move");
}

/* What is set for those that poll: without it, crowded ranks need a time slice for each message. */
static void print_yielding(const bench_job *job) {
  for (int g = 0; g < job->group_count && job->map && bench_map_is_crowded(job->map); g++)
    if (job->group[g].launcher->kind->yields)
      printf("# ranks of %s share cores: they run with %s\n", job->group[g].launcher->name,
             job->group[g].launcher->kind->yields);
}

/* ---- all ---- */

static void print_columns(const bench_job *job) {
  const char *name = job->group[0].launcher->name;
  puts("# by       the media by which ranks sent: cells, slots, lent ... (docs/plan.md)");
  printf("# us       a call of %s, slowest rank: median and 99th percentile over batches%s\n"
         "# GB/s     size / time; bus: times nccl-tests' factor\n"
         "# copy us  the copy bound: %" PRId64 " core%s combine and copy at once what ranks must receive\n",
         name, apart_words(job), busy_cores(job), busy_cores(job) == 1 ? "" : "s");
  if (any(job->options, has_root) && !job->options->call.apart)
    puts("#          (with roots: in a batch, over its calls, each of another root; long calls are a batch each)");
  puts("# share    copy us / us");
  if (job->group_count > 1)
    printf("# x        time of the other library / time of %s: median over interleaved pairs, the other one asleep\n",
           name);
}

static void print_overlap_columns(void) {
  printf("# tests    tests for completion between the %d pieces of the computation\n"
         "# us       post and wait; the computation alone; both. Slowest rank, medians\n"
         "# hidden   (call + computation - both) / the shorter of them: median over rounds\n",
         BENCH_PIECES);
}

static int name_width(const bench_job *job) {
  size_t width = 8;
  for (int g = 0; g < job->group_count; g++)
    width = strlen(job->group[g].launcher->name) > width ? strlen(job->group[g].launcher->name) : width;
  return (int)width;
}

static void print_levels(void) {
  puts("# levels   where the time of a call goes, mean over ranks, in calls that are measured separately:\n"
       "#          moves: copying, combining, handing data to the transport and taking it from there; waits: nothing\n"
       "#          to do until something of that level came or could go; other: belongs to no level\n"
       "#          near, far: with ranks of the same machine, of other machines; own: within a rank");
}

static void print_legend(const bench_job *job) {
  print_setting(job);
  print_sizes(job->options);
  if (job->options->call.overlap)
    print_overlap_columns();
  else if (job->map)
    print_launched_columns(job);
  else
    print_columns(job);
  if (job->options->levels)
    print_levels();
  if (job->flags_ns > 0)
    printf("# flags    a bare exchange of flags between these ranks takes %.2f us: the floor under a small call\n",
           job->flags_ns / 1000);
  int width = name_width(job);
  for (int g = 0; g < job->group_count; g++)
    printf("# %-*s %s: %s\n", width, job->group[g].launcher->name, job->group[g].version, job->group[g].command);
  if (job->map)
    print_machines(job);
  if (job->options->launch.given)
    print_yielding(job);
}

void bench_print_header(const bench_job *job) {
  const bench_options *options = job->options;
  int width = bench_params_width(options);
  bench_progress_clear();
  print_legend(job);
  if (options->rows.search)
    return;
  printf("%-*s %7s", bench_name_width(options), "collective", "size");
  if (width > 0)
    printf(" %-*s", width, "params");
  if (bench_has_media(job))
    printf(" %-*s", BENCH_BY, "by");
  if (options->call.overlap)
    printf(" %-12s %5s %9s %9s %9s %7s", "library", "tests", "call us", "comp. us", "both us", "hidden");
  else
    printf(" %9s %9s %7s %7s", "us", "p99 us", "GB/s", "bus");
  if (bench_has_bound(job))
    printf(" %9s %8s", "bound us", "of bound");
  else if (!job->map && !options->call.overlap)
    printf(" %9s %6s", "copy us", "share");
  for (int g = 1; g < job->group_count && !options->call.overlap; g++)
    printf(" %*s %7s%*s", bench_column_width(&job->group[g]), job->group[g].launcher->name, "x",
           options->launch.given ? BENCH_INTERVAL : 0, options->launch.given ? "95 %" : "");
  puts(options->call.check ? "  data" : "");
  fflush(stdout);
}

/* tools/tune/mpi/main.c - libexec/tutti/tune-openmpi, tune-mpich: an MPI program that `tutti tune --mpi` starts with
 * tutti in front of the MPI. Each task runs on tutti and on the MPI itself by turns; rank 0 writes into the wisdom
 * which is faster.
 *
 * All ranks go through all tasks; what depends on the clock, rank 0 decides and tells. */
#include "tools/tune/load.h"
#include "tools/tune/mpi/calls.h"
#include "tools/tune/options.h"
#include "tools/tune/ratios.h"

#include "bench/pace.h"
#include "bindings/mpi/library.h"
#include "call/call.h"
#include "tools/shared/shared.h"

#ifdef MPICH
/* Programs have an MPICH that never yields. Only scripts/bench_mpi.py, whose programs yield, asks for that here. */
#define YIELD_VARIABLE "TUNE_YIELD"
#include "bench/mpi/yield.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BETWEEN = 4 }; /* tasks that are not foreseen, for which there is time too */

typedef struct job {
  tune_options options;
  int rank, size; /* of all */
  tune_mpi_calls calls;
  char library[TT_MPI_LIBRARY_TEXT];
  /* ---- rank 0 ---- */
  tutti_context *context; /* a second one: it knows the machine as tutti before the MPI does */
  char path[TT_WISDOM_PATH], machine[TT_MACHINE_TEXT];
  tt_wisdom *known; /* with what was found */
  tt_random random;
  int64_t tasks, done, disturbed, start_ns;
} job;

static void fail(const char *what) {
  fprintf(stderr, "tutti tune: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(tutti_status status) {
  if (status != TUTTI_OK)
    fail(tutti_last_error());
}

/* What rank 0 has decided. */
static int told(const tune_mpi_calls *calls, int value) {
  PMPI_Bcast(&value, 1, MPI_INT, 0, calls->words);
  return value;
}

/* ---- one task ---- */

typedef struct result {
  double tutti_ns, time_ns; /* of the MPI */
  bool wins;
  double others;  /* processors that other programs used meanwhile */
  bool disturbed; /* by them: nothing is known */
} result;

/* Of all ranks, at rank 0. */
static tune_load load_of(const tune_mpi_calls *calls) {
  const tune_load own = tune_load_of_rank();
  tune_load *all = calloc((size_t)calls->size, sizeof *all);
  if (!all)
    fail("no memory for the ranks' loads");
  PMPI_Gather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, 0, calls->words);
  tune_load sum = tune_load_sum(all, calls->size);
  free(all);
  return sum;
}

static int64_t calibrate(tune_mpi_calls *calls) {
  int64_t each = 0;
  for (double batch_ns = 0; batch_ns < TUNE_BATCH_NS; batch_ns = tune_mpi_calls_time(calls, true, each) * (double)each)
    each = bench_more_calls(each, (int64_t)batch_ns, TUNE_BATCH_NS);
  return each;
}

/* One stands before and behind the other; chance says which. */
static void run_round(tune_mpi_calls *calls, bool tutti_inside, int64_t each, double *tutti_ns, double *time_ns) {
  double before = tune_mpi_calls_time(calls, !tutti_inside, each);
  double inside = tune_mpi_calls_time(calls, tutti_inside, each);
  double around = (before + tune_mpi_calls_time(calls, !tutti_inside, each)) / 2;
  *tutti_ns = tutti_inside ? inside : around;
  *time_ns = tutti_inside ? around : inside;
}

static result measure(job *of, int64_t budget_ns) {
  double tutti_ns[TUNE_ROUNDS_MOST], time_ns, ratio[TUNE_ROUNDS_MOST];
  int64_t start_ns = tt_clock_ns(), each = calibrate(&of->calls);
  int rounds = 0;
  for (; rounds < TUNE_ROUNDS_MOST; rounds++) {
    bool over = rounds >= TUNE_ROUNDS_LEAST && tt_clock_ns() - start_ns > budget_ns;
    int next = told(&of->calls, over ? -1 : (int)tt_random_below(&of->random, 2));
    if (next < 0)
      break;
    run_round(&of->calls, next != 0, each, &tutti_ns[rounds], &time_ns);
    ratio[rounds] = time_ns / tutti_ns[rounds];
  }
  result made = {.tutti_ns = bench_median(tutti_ns, rounds), .wins = tune_ratios_win(ratio, rounds)};
  made.time_ns = made.tutti_ns * tune_ratios_median(ratio, rounds);
  return made;
}

static result measure_alone(job *of, int64_t budget_ns) {
  const tune_load begin = load_of(&of->calls);
  result made = measure(of, budget_ns);
  const tune_load end = load_of(&of->calls);
  made.others = tune_load_others(&begin, &end);
  made.disturbed = tune_load_disturbs(made.others, end.cores, of->calls.size) && !of->options.busy;
  return made;
}

/* ---- what it comes to ---- */

static void keep(job *of, const tt_region *region, const result *found) {
  tt_wisdom *one;
  const tt_outside row = {.region = *region,
                          .library = of->library,
                          .time_ns = (int64_t)found->time_ns,
                          .tutti_ns = (int64_t)found->tutti_ns,
                          .wins = found->wins};
  check(tt_wisdom_create(of->machine, "tutti " TUTTI_VERSION, &one));
  check(tt_wisdom_put_outside(one, &row));
  check(tt_wisdom_write(of->path, one));
  tt_wisdom_destroy(one);
  check(tt_wisdom_put_outside(of->known, &row));
}

static void print_row(const job *of, const tt_region *region, const result *found) {
  char bytes[16], tutti[32], time[32];
  tt_format_bytes(region->bytes, bytes);
  tool_format_time(found->tutti_ns, tutti);
  tool_format_time(found->time_ns, time);
  printf("  %-15s %5" PRId64 " %6s %11s %11s ", tt_compose_info(region->collective).name, region->rank_count, bytes,
         tutti, time);
  if (found->disturbed)
    printf("%6s  not kept: others use %.1f processors\n", "", found->others);
  else
    printf("%5.2fx  %s\n", found->tutti_ns / found->time_ns, found->wins ? of->library : "tutti");
  fflush(stdout);
}

static bool is_known(const job *of, const tt_region *region) {
  return !of->options.again && tt_wisdom_outside_of(of->known, of->library, region);
}

/* No block is empty; a barrier has 8 bytes. */
static int64_t bytes_of(const job *of, tt_collective collective, int64_t bytes) {
  bool cut = tt_compose_side(collective, TT_IN).unit != TT_ONE_BLOCK ||
             tt_compose_side(collective, TT_OUT).unit != TT_ONE_BLOCK;
  int64_t least = (int64_t)sizeof(float) * (cut ? of->calls.size : 1);
  return collective == TT_BARRIER ? 8 : bytes < least ? least : bytes;
}

/* shape: rank 0's. left: tasks that are still to come, with this one. */
static void run_task(job *of, const tt_region *shape, tt_collective collective, int64_t bytes, int64_t left) {
  tt_region region = *shape;
  region.collective = collective;
  region.bytes = bytes_of(of, collective, bytes);
  if (told(&of->calls, of->rank == 0 && is_known(of, &region)))
    return;
  if (!tune_mpi_calls_open(&of->calls, collective, region.bytes))
    fail("no memory for the buffers, or more elements than MPI can count: see --sizes");
  int64_t left_ns = of->options.budget_ns - (tt_clock_ns() - of->start_ns);
  result found = measure_alone(of, left_ns > 0 ? left_ns / (left + BETWEEN) : 0);
  tune_mpi_calls_close(&of->calls);
  if (of->rank > 0)
    return;
  of->done++;
  of->disturbed += found.disturbed;
  if (!found.disturbed)
    keep(of, &region, &found);
  print_row(of, &region, &found);
}

/* ---- ranks ---- */

static int sizes_of(const job *of, tt_collective collective) {
  return collective == TT_BARRIER ? 1 : of->options.size_count;
}

/* Of all ranks; local. */
static tt_region shape_of(const job *of) {
  tutti_comm *comm;
  int64_t *list = calloc((size_t)of->size, sizeof *list);
  for (int r = 0; list && r < of->size; r++)
    list[r] = r;
  if (!list)
    fail("no memory");
  check(tutti_comm_create_group(of->context, tutti_comm_next_number(of->context), of->size, list, &comm));
  check(tt_comm_place(comm));
  tt_region shape = tt_comm_region(comm, TT_BARRIER, 0);
  tutti_comm_destroy(comm);
  free(list);
  return shape;
}

/* Whether the MPI is faster for one of the two lengths alone. */
static bool differ(const job *of, const tt_region *shape, tt_collective collective, int64_t low, int64_t high) {
  tt_region ends[] = {*shape, *shape};
  ends[0].collective = ends[1].collective = collective;
  ends[0].bytes = bytes_of(of, collective, low);
  ends[1].bytes = bytes_of(of, collective, high);
  const tt_outside *first = tt_wisdom_outside_of(of->known, of->library, &ends[0]);
  const tt_outside *second = tt_wisdom_outside_of(of->known, of->library, &ends[1]);
  return first && second && first->wins != second->wins;
}

/* Between these two, which are not 0, lies the length from which on another one is faster: half-way they are measured
 * again, until lengths are no further apart than a factor of two. */
static void refine(job *of, const tt_region *shape, tt_collective collective, int64_t low, int64_t high, int64_t left) {
  int64_t middle = low;
  for (int64_t width = high / low; width >= 4; width /= 4)
    middle *= 2;
  bool apart = middle > low && of->rank == 0 && differ(of, shape, collective, low, high);
  if (!told(&of->calls, apart))
    return;
  run_task(of, shape, collective, middle, left);
  refine(of, shape, collective, low, middle, left);
  refine(of, shape, collective, middle, high, left);
}

static void run_tasks(job *of) {
  tt_region shape = of->rank == 0 ? shape_of(of) : (tt_region){.bytes = 0};
  const int64_t *size = of->options.size;
  int64_t left = of->tasks;
  for (int c = 0; c < of->options.collective_count; c++) {
    tt_collective collective = of->options.collective[c];
    for (int s = 0; s < sizes_of(of, collective); s++)
      run_task(of, &shape, collective, size[s], left--);
    for (int s = 1; s < sizes_of(of, collective); s++)
      refine(of, &shape, collective, bytes_of(of, collective, size[s - 1]), bytes_of(of, collective, size[s]), left);
  }
}

/* ---- begin and end ---- */

static tutti_status allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  (void)user, (void)timeout_ns, (void)missing, (void)missing_size;
  PMPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
  return TUTTI_OK;
}

/* Whether tutti stands in front of the MPI and has joined the job: its shared memory is there. Else the MPI would be
 * compared with itself. */
static bool is_served(void) {
  char line[TOOL_PATH + 128];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && !found && fgets(line, sizeof line, maps))
    found = strstr(line, "memfd:tutti") != NULL;
  if (maps)
    fclose(maps);
  return found;
}

static void begin(job *of) {
  MPI_Comm here;
  int size_here;
  char name[TT_WISDOM_PATH];
  const char *given = getenv("TUTTI_WISDOM");
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  PMPI_Comm_size(here, &size_here);
  PMPI_Comm_free(&here);
  tt_mpi_library_name(of->library);
  if (size_here < of->size || of->size < 2 || !*of->library)
    fail("--mpi: needs at least 2 ranks, all on one machine, and an MPI that says its version");
  if (!is_served())
    fail("--mpi: tutti does not serve this job: start it by `tutti tune --mpi`");
  snprintf(name, sizeof name, "%s", given ? given : "");
  setenv("TUTTI_WISDOM", "off", 1); /* of the second context */
  tutti_boot boot = {.size = sizeof boot, .rank = of->rank, .rank_count = of->size, .allgather = allgather};
  tutti_context_options options;
  tutti_context_options_init(&options);
  options.boot = &boot;
  check(tutti_context_create(&options, &of->context));
  if (of->rank == 0)
    check(tt_wisdom_find(name, true, of->path, of->machine));
  if (of->rank == 0)
    check(tt_wisdom_open(of->path, of->machine, "", &of->known));
  tt_random_init(&of->random, 1);
  of->calls = (tune_mpi_calls){.target = MPI_COMM_WORLD, .rank = of->rank, .size = of->size};
  PMPI_Comm_dup(MPI_COMM_WORLD, &of->calls.words);
}

static void print_end(const job *of) {
  if (of->done == 0)
    puts("  all of it was measured before; --again measures it again");
  if (of->disturbed > 0)
    printf("\n  %" PRId64 " of %" PRId64 " tasks not kept: other programs used the processors. Run it again when the "
           "machine is quiet,\n  or with --busy to keep all.\n",
           of->disturbed, of->done);
}

static void run(job *of) {
  for (int c = 0; c < of->options.collective_count; c++)
    of->tasks += sizes_of(of, of->options.collective[c]);
  if (of->rank == 0)
    printf("tutti tune: %d ranks, %" PRId64 " tasks, at most about %.0f s\nwisdom of machine %s goes to %s\n\n"
           "  %-15s %5s %6s %11s %11s %6s  %s\n",
           of->size, of->tasks, (double)of->options.budget_ns / 1e9, of->machine, of->path, "collective", "ranks",
           "bytes", "tutti", of->library, "gain", "faster");
  of->start_ns = tt_clock_ns();
  run_tasks(of);
  if (of->rank == 0)
    print_end(of);
}

int main(int argc, char **argv) {
  static job of;
  if (tune_options_parse(argc, argv, &of.options) != TOOL_GO_ON)
    return TOOL_MISUSED;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &of.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &of.size);
  begin(&of);
  run(&of);
  PMPI_Comm_free(&of.calls.words);
  tt_wisdom_destroy(of.known);
  tutti_context_destroy(of.context);
  return MPI_Finalize();
}

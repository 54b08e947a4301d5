/* tools/tune/ranks.c - see ranks.h. Batches are those of `tutti bench`: a barrier, then calls one behind the other
 * whose roots rotate; or those of `tutti bench --apart`, with a barrier before each call. */
#include "ranks.h"

#include "bench/pace.h"
#include "bench/stats.h"

#include "base/base.h"
#include "job/comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RENEWED_AFTER 48 /* tries on one communicator */
#define BRIEF_NS 1e6     /* a call for which single readings say little */
#define IN_STEP 8        /* calls, after which those that follow take as long as any later ones */

/* ---- life ---- */

tutti_status tune_ranks_open(tune_ranks *all) {
  *all = (tune_ranks){.rank = -1};
  tutti_status status = tutti_context_create(NULL, &all->context);
  if (status == TUTTI_OK)
    status = tutti_comm_create(all->context, &all->world);
  if (status == TUTTI_OK) {
    all->rank = tutti_comm_rank(all->world);
    all->size = tutti_comm_size(all->world);
  }
  return status;
}

static void free_cell(tune_ranks *all) {
  bench_layout_finish(&all->layout);
  all->layout = (bench_layout){.peers = 0};
  free(all->in);
  free(all->out);
  all->in = all->out = NULL;
}

static void leave(tune_ranks *all) {
  free_cell(all);
  tutti_comm_destroy(all->target);
  tutti_comm_destroy(all->words);
  all->target = all->words = NULL;
  all->group_size = 0;
}

void tune_ranks_close(tune_ranks *all) {
  leave(all);
  tutti_comm_destroy(all->world);
  tutti_context_destroy(all->context);
}

/* ---- what is said ---- */

static tutti_status say(tutti_comm *comm, tune_command *command) {
  return tutti_broadcast(command, command, (int64_t)sizeof *command, TUTTI_BYTE, 0, comm);
}

static tutti_status join(tune_ranks *all, int64_t count) {
  bool member = all->rank < count;
  tutti_status status = tutti_comm_split(all->world, member ? 0 : -1, all->rank, &all->words);
  if (status == TUTTI_OK && member)
    status = tutti_comm_split(all->words, 0, all->rank, &all->target);
  all->group_size = status == TUTTI_OK && member ? count : 0;
  return status;
}

/* Another communicator of the same ranks, without the plans and streams that the last one has gathered. */
static tutti_status renew(tune_ranks *all) {
  tutti_comm_destroy(all->target);
  all->target = NULL;
  tutti_status status = tutti_comm_split(all->words, 0, all->rank, &all->target);
  all->call.comm = all->target;
  return status;
}

/* ---- a cell ---- */

static void set_arguments(tune_ranks *all) {
  const bench_form form = bench_form_of(all->collective);
  all->rooted = form.from_root || form.to_root;
  all->root_keeps = form.from_root && form.cut == BENCH_WHOLE;
  all->call = (bench_arguments){.in = all->in,
                                .out = all->out,
                                .count = all->layout.count,
                                .in_count = all->layout.in_elements,
                                .out_count = all->layout.out_elements,
                                .in_counts = all->layout.in_count,
                                .in_offsets = all->layout.in_offset,
                                .out_counts = all->layout.out_count,
                                .out_offsets = all->layout.out_offset,
                                .type = TUTTI_FLOAT32,
                                .op = TUTTI_SUM,
                                .comm = all->target};
  all->calls = 0;
}

static void *zeros(int64_t elements) {
  void *memory = NULL;
  size_t bytes = (size_t)(elements > 16 ? elements : 16) * sizeof(float);
  if (posix_memalign(&memory, 4096, bytes) != 0)
    return NULL;
  return memset(memory, 0, bytes);
}

/* Memory that is lacking on one rank is the end of the job. */
static tutti_status open_cell(tune_ranks *all, tt_collective collective, int64_t bytes) {
  bench_problem problem = bench_problem_of(collective, (int32_t)all->group_size, false, bytes / (int64_t)sizeof(float));
  void *before[] = {all->in, all->out}; /* kept meanwhile: the memory is to be another one */
  all->in = all->out = NULL;
  free_cell(all);
  all->collective = collective;
  bool made = bench_layout_init(&problem, (int32_t)all->rank, &all->layout);
  all->in =
      made ? zeros(all->layout.in_elements > problem.elements ? all->layout.in_elements : problem.elements) : NULL;
  all->out =
      made ? zeros(all->layout.out_elements > problem.elements ? all->layout.out_elements : problem.elements) : NULL;
  free(before[0]);
  free(before[1]);
  if (!all->in || !all->out) {
    tutti_comm_abort(all->words, "no memory for the buffers");
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for buffers of %zu bytes", (size_t)bytes);
  }
  set_arguments(all);
  return TUTTI_OK;
}

/* ---- a try ---- */

static tutti_status call(tune_ranks *all) {
  int64_t root = all->rooted ? all->calls++ % all->group_size : 0;
  all->call.root = root;
  if (all->root_keeps) {
    all->call.in = all->rank == root ? all->in : NULL;
    all->call.out = all->rank == root ? all->in : all->out;
  }
  return bench_invoke(all->collective, BENCH_NOW, &all->call, NULL);
}

static tutti_status run_calls(tune_ranks *all, int64_t calls) {
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < calls && status == TUTTI_OK; n++)
    status = call(all);
  return status;
}

static int64_t calls_of_reading(const tune_command *command) { return command->apart ? 1 : command->count; }

static int64_t readings_of(const tune_command *command) {
  return command->batches * command->count / calls_of_reading(command);
}

/* Of calls with nothing between them, behind a barrier: when the last rank has ended, and when the first one has begun.
 * As negative numbers, the first beginning is the largest. */
typedef struct reading {
  double end_ns, minus_begin_ns;
} reading;

static tutti_status read_calls(tune_ranks *all, const tune_command *command, reading *at) {
  tutti_status status = tutti_barrier(all->words);
  double begin_ns = (double)tt_clock_ns();
  if (status == TUTTI_OK)
    status = run_calls(all, calls_of_reading(command));
  at->end_ns = (double)tt_clock_ns();
  at->minus_begin_ns = -begin_ns;
  if (!command->apart) { /* ranks of other machines have other clocks: only what a rank takes can be compared */
    at->end_ns -= begin_ns;
    at->minus_begin_ns = 0;
  }
  return status;
}

/* The first calls compile, for each root that there will be, and ranks that share cores come into step; they are not
 * timed. */
static int64_t untimed_calls(const tune_ranks *all, const tune_command *command) {
  int64_t timed = command->count * command->batches;
  int64_t roots = !all->rooted ? 1 : command->root == TUNE_TURNS || timed > all->group_size ? all->group_size : timed;
  return roots + (!command->apart ? command->count / 8 : command->count < IN_STEP ? command->count : IN_STEP);
}

static tutti_status run_untimed(tune_ranks *all, const tune_command *command) {
  int64_t calls = untimed_calls(all, command);
  if (!command->apart)
    return run_calls(all, calls);
  tutti_status status = TUTTI_OK;
  for (reading ignored; calls > 0 && status == TUTTI_OK; calls--)
    status = read_calls(all, command, &ignored);
  return status;
}

static void set_turn(tune_ranks *all, const tune_command *command) {
  if (command->root != TUNE_TURNS)
    all->calls = command->root;
}

static tutti_status run_try(tune_ranks *all, const tune_command *command, reading *readings) {
  const char *name = tt_compose_info(all->collective).name;
  tutti_status status = tutti_comm_set_params(all->target, name, *command->params ? command->params : NULL);
  set_turn(all, command);
  if (status == TUTTI_OK)
    status = run_untimed(all, command);
  set_turn(all, command);
  for (int64_t n = 0; n < readings_of(command) && status == TUTTI_OK; n++)
    status = read_calls(all, command, &readings[n]);
  return status;
}

static double time_of(const tune_command *command, const reading *readings, double *room) {
  for (int64_t n = 0; n < readings_of(command); n++)
    room[n] = readings[n].end_ns + readings[n].minus_begin_ns;
  return bench_median(room, readings_of(command)) / (double)calls_of_reading(command);
}

/* What all ranks have come to: a plan that cannot be made is so for all, before anything has moved. Other errors have
 * broken the communicator, or will. mine, most: room for the readings and one more, the status. */
static tutti_status measure_in(tune_ranks *all, const tune_command *command, reading *mine, reading *most,
                               double *time_ns) {
  const int64_t count = readings_of(command);
  tutti_status own = run_try(all, command, mine);
  mine[count].end_ns = own;
  if (own != TUTTI_OK && own != TUTTI_ERR_PLAN)
    return own;
  tutti_status status = tutti_allreduce(mine, most, 2 * (count + 1), TUTTI_FLOAT64, TUTTI_MAX, all->words);
  if (status != TUTTI_OK)
    return status;
  status = (tutti_status)most[count].end_ns;
  if (status == TUTTI_OK)
    *time_ns = time_of(command, most, (double *)mine);
  return status;
}

static tutti_status measure(tune_ranks *all, const tune_command *command, double *time_ns) {
  size_t room = (size_t)readings_of(command) + 1;
  reading *mine = calloc(2 * room, sizeof *mine);
  if (!mine) {
    tutti_comm_abort(all->words, "no memory for readings");
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the times of %zu calls", room);
  }
  tutti_status status = measure_in(all, command, mine, mine + room, time_ns);
  free(mine);
  return status;
}

static tutti_status sum_load(tune_ranks *all, tune_load *load) {
  tune_load own = tune_load_of_rank();
  tune_load *of = calloc((size_t)all->group_size, sizeof *of);
  if (!of) {
    tutti_comm_abort(all->words, "no memory for the ranks' loads");
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the loads of %" PRId64 " ranks", all->group_size);
  }
  tutti_status status = tutti_allgather(&own, of, (int64_t)sizeof own, TUTTI_BYTE, all->words);
  *load = tune_load_sum(of, all->group_size);
  free(of);
  return status;
}

/* ---- ranks that are told ---- */

static tutti_status obey(tune_ranks *all, const tune_command *command) {
  double ignored_ns;
  tune_load load;
  static tune_fit ignored_fit;
  switch (command->verb) {
  case TUNE_CELL:
    return open_cell(all, (tt_collective)command->collective, command->count);
  case TUNE_RENEW:
    return renew(all);
  case TUNE_FIT:
    return tune_fit_measure(all->target, all->words, false, &ignored_fit);
  case TUNE_TRY: {
    tutti_status status = measure(all, command, &ignored_ns);
    return status == TUTTI_ERR_PLAN ? TUTTI_OK : status;
  }
  case TUNE_LOAD:
    return sum_load(all, &load);
  default:
    leave(all);
    return TUTTI_OK;
  }
}

tutti_status tune_ranks_serve(tune_ranks *all) {
  tune_command command = {.verb = TUNE_LEAVE};
  tutti_status status = TUTTI_OK;
  while (status == TUTTI_OK && command.verb != TUNE_END) {
    status = say(all->group_size > 0 ? all->words : all->world, &command);
    if (status != TUTTI_OK || command.verb == TUNE_END)
      break;
    status = command.verb == TUNE_GROUP ? join(all, command.count) : obey(all, &command);
  }
  return status;
}

/* ---- rank 0 ---- */

bool tune_ranks_apart(const tune_ranks *all) { return !all->words->apart && tune_load_shares_cores(all->group_size); }

int64_t tune_ranks_least_calls(const tune_ranks *all, double call_ns) {
  return tune_ranks_apart(all) && call_ns < BRIEF_NS ? IN_STEP : 1;
}

tutti_status tune_lead_group(tune_ranks *all, int64_t count) {
  tune_command command = {.verb = TUNE_GROUP, .count = count};
  tutti_status status = say(all->world, &command);
  return status == TUTTI_OK ? join(all, count) : status;
}

tutti_status tune_lead_leave(tune_ranks *all) {
  tune_command command = {.verb = TUNE_LEAVE};
  tutti_status status = say(all->words, &command);
  leave(all);
  return status;
}

tutti_status tune_lead_end(tune_ranks *all) {
  tune_command command = {.verb = TUNE_END};
  return say(all->world, &command);
}

tutti_status tune_lead_cell(tune_ranks *all, const tt_task *task) {
  tt_collective collective = task->problem.collective;
  tune_command command = {.verb = TUNE_CELL, .collective = (int32_t)collective, .count = task->bytes};
  tutti_status status = say(all->words, &command);
  return status == TUTTI_OK ? open_cell(all, collective, task->bytes) : status;
}

tutti_status tune_lead_fit(tune_ranks *all, bool says, tune_fit *fit) {
  tune_command command = {.verb = TUNE_FIT};
  tutti_status status = say(all->words, &command);
  return status == TUTTI_OK ? tune_fit_measure(all->target, all->words, says, fit) : status;
}

static tutti_status lead_renew(tune_ranks *all) {
  tune_command command = {.verb = TUNE_RENEW};
  tutti_status status = say(all->words, &command);
  all->tries = 0;
  return status == TUTTI_OK ? renew(all) : status;
}

tutti_status tune_lead_try(tune_ranks *all, const char *params, int64_t root, int64_t calls, int64_t batches,
                           double *time_ns) {
  tune_command command = {
      .verb = TUNE_TRY, .count = calls, .batches = batches, .root = root, .apart = tune_ranks_apart(all)};
  snprintf(command.params, sizeof command.params, "%s", params);
  tutti_status status = ++all->tries == RENEWED_AFTER ? lead_renew(all) : TUTTI_OK;
  if (status == TUTTI_OK)
    status = say(all->words, &command);
  return status == TUTTI_OK ? measure(all, &command, time_ns) : status;
}

tutti_status tune_lead_calibrate(tune_ranks *all, int64_t batch_ns, int64_t *calls, double *call_ns) {
  tutti_status status = TUTTI_OK;
  int64_t took_ns = 0, least = 1;
  for (*calls = 0; status == TUTTI_OK && (*calls < least || took_ns < batch_ns);) {
    *calls = bench_more_calls(*calls, took_ns, batch_ns);
    status = tune_lead_try(all, "", TUNE_TURNS, *calls, 3, call_ns);
    took_ns = (int64_t)(*call_ns * (double)*calls);
    least = tune_ranks_least_calls(all, *call_ns);
  }
  return status;
}

tutti_status tune_lead_load(tune_ranks *all, tune_load *load) {
  tune_command command = {.verb = TUNE_LOAD};
  tutti_status status = say(all->words, &command);
  return status == TUTTI_OK ? sum_load(all, load) : status;
}

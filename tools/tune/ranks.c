/* tools/tune/ranks.c - see ranks.h. Batches are those of `tutti bench`: a barrier, then calls one behind the other
 * whose roots rotate. */
#include "ranks.h"

#include "bench/stats.h"

#include "base/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RENEWED_AFTER 48 /* tries on one communicator */

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

static tutti_status run_batch(tune_ranks *all, int64_t calls, int64_t *elapsed_ns) {
  tutti_status status = tutti_barrier(all->words);
  int64_t start_ns = tt_clock_ns();
  if (status == TUTTI_OK)
    status = run_calls(all, calls);
  *elapsed_ns = tt_clock_ns() - start_ns;
  return status;
}

/* The first calls compile, for each root that there will be; they are not timed. */
static int64_t untimed_calls(const tune_ranks *all, const tune_command *command) {
  int64_t timed = command->count * command->batches;
  int64_t roots = !all->rooted ? 1 : command->root == TUNE_TURNS || timed > all->group_size ? all->group_size : timed;
  return roots + command->count / 8;
}

static void set_turn(tune_ranks *all, const tune_command *command) {
  if (command->root != TUNE_TURNS)
    all->calls = command->root;
}

static tutti_status run_try(tune_ranks *all, const tune_command *command, int64_t *batch_ns) {
  const char *name = tt_compose_info(all->collective).name;
  tutti_status status = tutti_comm_set_params(all->target, name, *command->params ? command->params : NULL);
  set_turn(all, command);
  if (status == TUTTI_OK)
    status = run_calls(all, untimed_calls(all, command));
  set_turn(all, command);
  for (int64_t b = 0; b < command->batches && b < TUNE_BATCHES && status == TUTTI_OK; b++)
    status = run_batch(all, command->count, &batch_ns[b]);
  return status;
}

/* What all ranks have come to: a plan that cannot be made is so for all, before anything has moved. Other errors have
 * broken the communicator, or will. */
static tutti_status measure(tune_ranks *all, const tune_command *command, int64_t slowest_ns[static TUNE_BATCHES]) {
  int64_t mine[TUNE_BATCHES + 1] = {0}, most[TUNE_BATCHES + 1];
  tutti_status own = run_try(all, command, mine + 1);
  mine[0] = own;
  if (own != TUTTI_OK && own != TUTTI_ERR_PLAN)
    return own;
  tutti_status status = tutti_allreduce(mine, most, TUNE_BATCHES + 1, TUTTI_INT64, TUTTI_MAX, all->words);
  if (status != TUTTI_OK)
    return status;
  memcpy(slowest_ns, most + 1, TUNE_BATCHES * sizeof *most);
  return (tutti_status)most[0];
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
  int64_t ignored[TUNE_BATCHES];
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
    tutti_status status = measure(all, command, ignored);
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
  tune_command command = {.verb = TUNE_TRY, .count = calls, .batches = batches, .root = root};
  int64_t slowest_ns[TUNE_BATCHES];
  double call_ns[TUNE_BATCHES];
  snprintf(command.params, sizeof command.params, "%s", params);
  tutti_status status = ++all->tries == RENEWED_AFTER ? lead_renew(all) : TUTTI_OK;
  if (status == TUTTI_OK)
    status = say(all->words, &command);
  if (status == TUTTI_OK)
    status = measure(all, &command, slowest_ns);
  if (status != TUTTI_OK)
    return status;
  for (int64_t b = 0; b < batches; b++)
    call_ns[b] = (double)slowest_ns[b] / (double)calls;
  *time_ns = bench_median(call_ns, batches);
  return TUTTI_OK;
}

tutti_status tune_lead_load(tune_ranks *all, tune_load *load) {
  tune_command command = {.verb = TUNE_LOAD};
  tutti_status status = say(all->words, &command);
  return status == TUTTI_OK ? sum_load(all, load) : status;
}

/* api/context.c - a process's part of a job: boot, transport, profile, and a hidden communicator that makes the others.
 *
 * What must be equal on all ranks for their decisions to be equal (profile, parameters, sizes) is compared once, here.
 */
#include "api/api.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- facts that must be equal ---- */

typedef struct facts {
  uint64_t profile, params, groups, nodes, far;
  int64_t medium;
  int64_t topology; /* whether ranks say where they run */
  int64_t direct_bytes, slot_bytes, slot_count, far_slots;
  int64_t verify;
  int64_t transport; /* whose: tutti's, the user's, or his between machines */
  int64_t status;    /* what went wrong on this rank so far */
  char text[200];
  uint64_t machine; /* from here on they may differ; equal for a user's transport that reaches all */
  uint64_t processes;
  int64_t process;
  int64_t wisdom; /* numbers of rank 0's, for all (tt_wisdom_pack); 0: it has none */
  int64_t nics;   /* that carry data between machines */
  int64_t l2_bytes, cores;
  tt_locality locality;
} facts;

enum { OURS, THEIRS, THEIRS_BETWEEN };

_Static_assert(offsetof(facts, machine) % sizeof(int64_t) == 0, "facts up to it are compared as bytes");

static uint64_t text_hash(const char *text) { return tt_hash(0, text, strlen(text)); }

static facts own_facts(const tutti_context *context, const tutti_context_options *given, tutti_status status) {
  const tt_options *options = tt_options_get();
  facts mine;
  memset(&mine, 0, sizeof mine); /* compared as bytes */
  if (status == TUTTI_OK)
    status = tt_machine_own(context, given, &mine.machine, &mine.locality);
  mine.status = status;
  if (status != TUTTI_OK)
    snprintf(mine.text, sizeof mine.text, "%s", tutti_last_error());
  mine.nics = tt_machine_nics(given); /* what is wrong there leaves a text only */
  mine.l2_bytes = tt_host_l2_bytes();
  mine.cores = tt_host_cores();
  mine.profile = context->profile ? context->profile->hash : 0;
  mine.params = text_hash(options->choice.params);
  mine.groups = text_hash(options->groups);
  mine.nodes = text_hash(options->nodes);
  mine.far = text_hash(options->far);
  mine.medium = context->medium;
  mine.topology = *options->topology != '\0';
  mine.direct_bytes = options->direct_bytes;
  mine.slot_bytes = options->slot_bytes;
  mine.slot_count = options->slot_count;
  mine.far_slots = tt_options_far_slots();
  mine.verify = options->verify;
  mine.processes = tt_host_processes();
  mine.process = getpid();
  mine.transport = !given || !given->transport ? OURS : given->node < 0 ? THEIRS : THEIRS_BETWEEN;
  return mine;
}

static const char *difference(const facts *a, const facts *b) {
  if (a->profile != b->profile)
    return "profiles (TUTTI_PROFILE)";
  if (a->params != b->params)
    return "parameters (TUTTI_PARAMS)";
  if (a->groups != b->groups)
    return "group maps (TUTTI_GROUPS)";
  if (a->nodes != b->nodes)
    return "maps of machines (TUTTI_NODES)";
  if (a->far != b->far)
    return "transports between machines (TUTTI_FAR)";
  if (a->medium != b->medium)
    return "media (TUTTI_MEDIUM)";
  if (a->topology != b->topology)
    return "topologies (only one of them has TUTTI_TOPOLOGY)";
  if (a->transport != b->transport)
    return "transports (options->transport, or an options->node of -1)";
  if (a->verify != b->verify) /* a proof takes time, and may fail where it is made */
    return "settings of TUTTI_VERIFY";
  return "sizes (TUTTI_DIRECT_BYTES, TUTTI_SLOT_BYTES, TUTTI_SLOT_COUNT or TUTTI_FAR_SLOTS)";
}

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* NICs, caches and cores: of the machine that has least of each. */
static void find_least(tutti_context *context, const facts *all) {
  context->machine.nic_count = all->nics;
  context->machine.l2_bytes = all->l2_bytes;
  context->machine.core_count = all->cores;
  for (int64_t r = 1; r < context->size; r++) {
    context->machine.nic_count = lesser(context->machine.nic_count, all[r].nics);
    context->machine.l2_bytes = lesser(context->machine.l2_bytes, all[r].l2_bytes);
    context->machine.core_count = lesser(context->machine.core_count, all[r].cores);
  }
}

static tutti_status find_difference(const tutti_context *context, const facts *all) {
  for (int64_t r = 0; r < context->size; r++)
    if (all[r].status != TUTTI_OK)
      return tt_fail((tutti_status)all[r].status, "tutti_context_create: rank %" PRId64 ": %s", r, all[r].text);
  for (int64_t r = 1; r < context->size; r++)
    if (memcmp(&all[r], &all[0], offsetof(facts, machine)) != 0)
      return tt_fail(TUTTI_ERR_MISMATCH, "tutti_context_create: ranks 0 and %" PRId64 " have different %s", r,
                     difference(&all[0], &all[r]));
  return TUTTI_OK;
}

/* Those that may share cores. */
static tutti_status find_processes(tutti_context *context, const facts *all) {
  int64_t count = 0, *process = malloc((size_t)context->size * sizeof *process);
  if (!process)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a job of %" PRId64 " ranks", context->size);
  for (int64_t r = 0; r < context->size; r++)
    if (all[r].processes == all[context->rank].processes)
      process[count++] = all[r].process;
  assert(count > 0); /* this one */
  tutti_status status = tt_contention_open(&context->contention, process, count);
  free(process);
  return status;
}

/* The boot's own words, where it has some. */
static tutti_status fail_boot(const tutti_context *context, tutti_status status, const char *missing) {
  char why[400];
  snprintf(why, sizeof why, "%s", tutti_last_error());
  if (*missing)
    return tt_fail(status, "tutti_context_create: rank %" PRId64 " gave up waiting for ranks: %s", context->rank,
                   missing);
  return tt_fail(status, "tutti_context_create: rank %" PRId64 ": %s", context->rank,
                 *why ? why : "the boot's allgather failed");
}

static tutti_status compare_versions(const tutti_context *context, const tutti_boot *boot) {
  char missing[256] = "";
  tt_fail_clear();
  tutti_status status = tt_boot_compare(boot, context->create_timeout_ns, missing, sizeof missing);
  return status == TUTTI_OK ? TUTTI_OK : fail_boot(context, status, missing);
}

/* `status`: what this rank has come to so far. It takes part in any case, so that nobody waits for it. *wisdom: how
 * many numbers this rank's has, then how many rank 0's. */
static tutti_status compare_facts(tutti_context *context, const tutti_context_options *given, const tutti_boot *boot,
                                  tutti_status status, int64_t *wisdom) {
  int64_t timeout_ns = context->create_timeout_ns;
  facts mine = own_facts(context, given, status), *all = calloc((size_t)context->size, sizeof *all);
  char missing[256] = "";
  if (!all)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a job of %" PRId64 " ranks", context->size);
  tt_fail_clear();
  mine.wisdom = *wisdom;
  tutti_status met = boot->allgather(boot->user, &mine, all, sizeof mine, timeout_ns, missing, sizeof missing);
  met = met == TUTTI_OK ? find_difference(context, all) : fail_boot(context, met, missing);
  if (met == TUTTI_OK)
    met = tt_machines_find(context, &all->machine, sizeof *all);
  find_least(context, all);
  *wisdom = all[0].wisdom;
  if (met == TUTTI_OK)
    met = find_processes(context, all);
  if (met == TUTTI_OK)
    met = tt_machines_localities(context, &all->locality, sizeof *all);
  free(all);
  return met;
}

/* ---- create ---- */

static tutti_status read_groups(tutti_context *context) {
  const char *text = tt_options_get()->groups;
  if (!*text)
    return TUTTI_OK;
  context->machine.groups = calloc((size_t)context->size, sizeof *context->machine.groups);
  return context->machine.groups ? tt_machine_map("TUTTI_GROUPS", text, context->size, context->machine.groups)
                                 : tt_fail(TUTTI_ERR_MEMORY, "no memory for a job of %" PRId64 " ranks", context->size);
}

static tutti_status open_control(tutti_context *context) {
  int64_t *job_rank = malloc((size_t)context->size * sizeof *job_rank);
  if (!job_rank)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a job of %" PRId64 " ranks", context->size);
  for (int64_t r = 0; r < context->size; r++)
    job_rank[r] = r;
  assert(!context->made.list); /* it is the first */
  tutti_status status = tt_comm_open(context, 0, job_rank, context->size, context->rank, &context->made.control);
  free(job_rank);
  context->made.next_number = 1;
  if (status == TUTTI_OK)
    status = tt_agree_prepare(context->made.control);
  if (status == TUTTI_OK && context->made.control->agree.board)
    context->contention.news = &context->made.control->agree.board[context->made.control->head]->contention;
  return status;
}

/* What the user's transport lacks of this version is NULL. */
static tutti_context_options take_transport(tutti_context *context, const tutti_context_options *options) {
  tutti_context_options taken = *options;
  if (!options->transport)
    return taken;
  size_t all = sizeof context->given;
  context->given = (tutti_transport_ops){.size = 0};
  memcpy(&context->given, options->transport, options->transport->size < all ? options->transport->size : all);
  context->given.size = all;
  taken.transport = &context->given;
  return taken;
}

static int64_t choose_timeout(const tutti_context_options *options) {
  int64_t timeout_ns = options && options->timeout_ns > 0 ? options->timeout_ns : tt_options_get()->create_timeout_ns;
  return timeout_ns > 0 && timeout_ns < TT_CLOCK_LONGEST ? timeout_ns : TT_CLOCK_LONGEST;
}

/* From here on the ranks know of each other. */
static tutti_status open_job(tutti_context *context, const tutti_context_options *options, const tutti_boot *boot) {
  tt_wisdom_found *found = NULL;
  tutti_status status = read_groups(context);
  if (status == TUTTI_OK)
    status = tt_medium_read(&context->medium);
  if (status == TUTTI_OK)
    status = tt_profile_open(tt_options_get()->choice.profile, &context->profile);
  if (status == TUTTI_OK)
    status = tt_wisdom_begin(context, &found);
  int64_t wisdom = found ? found->number_count : 0;
  status = compare_facts(context, options, boot, status, &wisdom);
  if (status == TUTTI_OK)
    status = tt_machines_open(context, options, boot);
  if (status == TUTTI_OK)
    status = open_control(context);
  if (status == TUTTI_OK && wisdom > 0)
    status = tt_wisdom_share(context, found, wisdom);
  tt_wisdom_end(found);
  return status;
}

static tutti_status open_all(tutti_context *context, const tutti_context_options *options) {
  int64_t timeout_ns = choose_timeout(options);
  const tutti_boot *boot = options ? options->boot : NULL;
  tutti_status status = TUTTI_OK;
  if (!boot) {
    status = tt_boot_open(timeout_ns, &context->boot);
    if (status != TUTTI_OK)
      return status;
    boot = tt_boot_get(context->boot);
  }
  if ((status = tt_context_check_boot(boot)) != TUTTI_OK)
    return status;
  context->rank = boot->rank;
  context->size = boot->rank_count;
  context->idle.call = options ? options->idle : NULL;
  context->idle.user = options ? options->idle_user : NULL;
  context->create_timeout_ns = timeout_ns;
  tt_log_rank(context->rank);
  if ((status = compare_versions(context, boot)) != TUTTI_OK)
    return status;
  if (context->rank == 0)
    tt_options_warn();
  return open_job(context, options, boot);
}

tutti_status tutti_context_create(const tutti_context_options *options, tutti_context **context) {
  if (!context)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_create: context is NULL");
  tutti_status status = options ? tt_context_check_options(options) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  tutti_context *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a context");
  status = tt_fork_join(made);
  if (status != TUTTI_OK) {
    free(made);
    return status;
  }
  tutti_context_options taken;
  if (options)
    taken = take_transport(made, options);
  status = open_all(made, options ? &taken : NULL);
  bool progresses = false;
  if (status == TUTTI_OK)
    status = tt_progress_asked(&progresses);
  if (status == TUTTI_OK && progresses)
    status = tt_progress_start(made, tt_request_tend);
  if (status != TUTTI_OK) {
    tutti_context_destroy(made);
    return status;
  }
  *context = made;
  return TUTTI_OK;
}

void tutti_context_destroy(tutti_context *context) {
  if (!context)
    return;
  if (tt_context_is_copy(context)) {
    tt_log(TT_LOG_WARN, "tutti_context_destroy: this process is a fork of the process that joined the job");
    return;
  }
  if (!tt_context_let_go(context))
    return;
  if (context->made.list != context->made.control) { /* they lean on it; keeping both is better than a crash later */
    tt_log(TT_LOG_ERROR, "tutti_context_destroy: the context still has communicators; destroy them first");
    return;
  }
  tt_progress_stop(context);
  tutti_comm_destroy(context->made.control);
  assert(!context->made.list && !context->running && context->outstanding == 0);
  tt_teams_finish(&context->teams);
  tt_index_finish(&context->made.by_number);
  tt_index_finish(&context->made.left);
  if (context->transport)
    context->ops->close(context->transport);
  tt_profile_close(context->profile);
  tt_wisdom_destroy(context->wisdom);
  tt_boot_close(context->boot);
  tt_context_forget_users(context);
  tt_contention_close(&context->contention);
  free(context->machine.groups);
  free(context->machine.head_of);
  free(context->machine.first_rail);
  free(context->machine.locality);
  free(context);
}

static int64_t no_context(const char *function) {
  tt_fail(TUTTI_ERR_ARGUMENT, "%s: context is NULL", function);
  return -1;
}

int64_t tutti_context_rank(const tutti_context *context) {
  return context ? context->rank : no_context("tutti_context_rank");
}

int64_t tutti_context_size(const tutti_context *context) {
  return context ? context->size : no_context("tutti_context_size");
}

/* ---- memory that peers can read ---- */

tutti_status tutti_alloc(tutti_context *context, size_t bytes, void **memory) {
  if (!context || !memory)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_alloc: %s is NULL", context ? "memory" : "context");
  if (tt_context_is_copy(context))
    return tt_fork_refuse(context, "tutti_alloc");
  TT_HOLD(context);
  if (context->ops->alloc)
    return context->ops->alloc(context->transport, bytes, memory);
  void *made = bytes <= PTRDIFF_MAX ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "tutti_alloc: no memory for %zu bytes", bytes);
  *memory = made;
  return TUTTI_OK;
}

void tutti_free(tutti_context *context, void *memory) {
  if (!context || !memory || tt_context_is_copy(context))
    return;
  TT_HOLD(context);
  if (context->ops->alloc)
    context->ops->free(context->transport, memory);
  else
    free(memory);
}

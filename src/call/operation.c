/* call/operation.c - one call on its way: started, stepped, finished. Errors that concern everyone break the
 * communicator. */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- its number and key ---- */

void tt_operation_key(tutti_comm *comm, const tt_bound *bound, tt_operation *operation) {
  uint64_t key = bound->said.key ^ operation->made;
  comm->calls.history = ((comm->calls.history ^ key) * 0x9e3779b97f4a7c15u) ^ key >> 32;
  operation->key = (comm->calls.history & ~TT_KEY_MEANING) | tt_said_meaning(bound->said.type);
}

void tt_operation_number(tutti_comm *comm, const tt_bound *bound, tt_operation *operation) {
  operation->number = ++comm->calls.last_number;
  operation->made = comm->persistent.keys;
  tt_operation_key(comm, bound, operation);
}

/* ---- on its way ---- */

/* The executor's error becomes everyone's, with the cause as all ranks together know it. peer: job rank that it names,
 * or -1. */
static tutti_status fail(tutti_comm *comm, const tt_operation *operation, tutti_status status, int64_t peer) {
  tutti_status known = TUTTI_OK;
  char said[512];
  assert(status != TUTTI_OK);
  snprintf(said, sizeof said, "%s", tutti_last_error()); /* whoever looks at other ranks may leave another */
  if (tt_agree_poisoned(comm))                           /* a verdict is stronger than a refusal */
    return tt_agree_verdict(comm);
  if (tt_refuse_concerns(comm, operation->number)) /* others have stopped in the middle of it */
    return TUTTI_ERR_REFUSED;
  if (status == TUTTI_ERR_MISMATCH)
    return tt_agree_mismatch(comm, operation->number, peer);
  if (status == TUTTI_ERR_PEER)
    known = tt_agree_lost(comm, operation->number, peer);
  if (known != TUTTI_OK)
    return known;
  if (*said)
    return tt_agree_break(comm, status, "rank %" PRId64 ": %s", comm->rank, said);
  if (peer >= 0)
    return tt_agree_break(comm, status, "rank %" PRId64 ": rank %" PRId64 " of the job is lost", comm->rank, peer);
  return tt_agree_break(comm, status, "rank %" PRId64 ": transport %s returned %s", comm->rank,
                        comm->context->ops->name, tutti_status_name(status));
}

void tt_operation_drop_copy(tutti_comm *comm) {
  if (comm->calls.copy)
    munmap(comm->calls.copy, comm->calls.copy_bytes);
  comm->calls.copy = NULL;
  comm->calls.copy_bytes = 0;
}

/* What lies between blocks of lists may be gigabytes, or no memory at all: it costs addresses, and nobody touches it.
 */
static bool make_copy(tutti_comm *comm, size_t bytes) {
  if (bytes <= comm->calls.copy_bytes)
    return true;
  tt_operation_drop_copy(comm);
  void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    return false;
  comm->calls.copy = made;
  comm->calls.copy_bytes = bytes;
  comm->calls.copy_gaps = false;
  return true;
}

/* Calls with gaps may touch all of it one after the other: it stays memory no longer than one needs it. */
static void copy_blocks(tutti_comm *comm, const tt_run *run, const char *in, int64_t begin, size_t bytes) {
  const tt_block_table *table = &run->blocks;
  int64_t element = run->element_bytes ? run->element_bytes : (int64_t)tutti_type_size(run->type);
  if (!table->in_count) { /* all of it */
    tt_copy(comm->calls.copy, in + begin, bytes);
    return;
  }
  assert(table->kind == TT_TABLE_SQUARE && table->in_offset);
  int64_t used = 0;
  for (int64_t r = 0; r < comm->size; r++) {
    int64_t at = table->in_offset[r] * element, length = table->in_count[r] * element;
    if (length > 0)
      tt_copy(comm->calls.copy + (at - begin), in + at, (size_t)length);
    used += length;
  }
  comm->calls.copy_gaps = comm->calls.copy_gaps || (size_t)used < bytes / 2;
}

/* What `out` replaces is read from a copy; again, the copy is what is left of it. */
static tutti_status copy_input(tutti_comm *comm, tt_operation *operation, const char *in) {
  tt_bound *bound = operation->bound;
  int64_t begin = bound->places.begin[TT_IN];
  size_t bytes = (size_t)(bound->places.end[TT_IN] - begin);
  assert(begin <= bound->places.end[TT_IN] && (!operation->copied || bytes <= comm->calls.copy_bytes));
  if (!operation->copied && comm->calls.copy_gaps)
    tt_operation_drop_copy(comm);
  if (!make_copy(comm, bytes))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to copy %zu bytes of input", bytes);
  if (!operation->copied)
    copy_blocks(comm, &bound->run, in, begin, bytes);
  operation->copied = true;
  bound->run.in = (const void *)((uintptr_t)comm->calls.copy - (uintptr_t)begin);
  return TUTTI_OK;
}

/* Executors of an epoch that is over are on streams that are closed. */
static tutti_status renew(tutti_comm *comm, tt_bound *bound) {
  tt_entry *entry = bound->entry;
  if (entry->epoch != comm->refused.epoch) {
    tt_executors_destroy(entry->executor);
  }
  entry->epoch = comm->refused.epoch;
  return tt_bound_make_executor(comm, bound);
}

static inline bool is_ready(const tutti_comm *comm, const tt_bound *bound) {
  const tt_entry *entry = bound->entry;
  return entry->epoch == comm->refused.epoch && entry->executor[bound->blocks];
}

static tutti_status start(tutti_comm *comm, const tt_call *call, tt_operation *operation) {
  tt_bound *bound = operation->bound;
  tutti_status status = bound->copies ? copy_input(comm, operation, call->in) : TUTTI_OK;
  if (status == TUTTI_OK && !is_ready(comm, bound))
    status = renew(comm, bound);
  if (status == TUTTI_OK && comm->calls.tally)
    status = tt_tally_foresee(comm, bound);
  operation->executor = bound->entry->executor[bound->blocks];
  if (status != TUTTI_OK)
    return status;
  return operation->executor->ops->start(operation->executor, &bound->run);
}

tutti_status tt_operation_start(tutti_comm *comm, const tt_call *call, tt_operation *operation) {
  tt_bound *bound = operation->bound;
  tt_run *run = &bound->run;
  assert(bound->entry && operation->number > 0 && operation->number <= comm->calls.last_number);
  run->in = call->in;
  run->out = call->out;
  run->call = operation->number;
  run->key = operation->key;
  comm->calls.last_params = bound->entry->runs;
  comm->calls.last_decision = bound->decision;
  if (comm->context->machine.foreign) /* a user's transport leaves no text: an older one must not stand for it */
    tt_fail_clear();
  tutti_status status = tt_record_reach(comm, operation->number);
  if (status == TUTTI_OK && bound->blocks == TT_CLASS_STREAMS)
    tt_record_publish(comm, operation->number, &bound->said);
  if (status == TUTTI_OK)
    status = start(comm, call, operation);
  if (bound->blocks !=
      TT_CLASS_STREAMS) /* while others' data is on its way; whoever finds a difference waits for the record */
    tt_record_publish(comm, operation->number, &bound->said);
  return status == TUTTI_OK ? TUTTI_OK : fail(comm, operation, status, -1);
}

tutti_status tt_operation_step(tutti_comm *comm, const tt_operation *operation, bool *done, bool *moved) {
  int64_t peer = -1;
  tutti_status status = operation->executor->ops->step(operation->executor, done, moved, &peer);
  return status == TUTTI_OK ? TUTTI_OK : fail(comm, operation, status, peer);
}

void tt_operation_note(tutti_comm *comm, const tt_operation *operation) {
  comm->context->made.gives_up = false;
  /* Any thread may ask: tutti_comm_last_media. */
  atomic_store_explicit(&comm->calls.last_media, operation->executor->went, memory_order_relaxed);
}

/* Who has left the call with an error may already write to what this rank has read in place. */
tutti_status tt_operation_end(tutti_comm *comm, const tt_operation *operation) {
  tt_operation_note(comm, operation);
  if (operation->executor->ops->in_cells(operation->executor)) /* they are not written before the next call */
    return TUTTI_OK;
  atomic_thread_fence(
      memory_order_acquire); /* first the reading, then the look: pairs with tt_refuse_may_leave, flag_all */
  if (tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  return tt_refuse_concerns(comm, operation->number) ? TUTTI_ERR_REFUSED : TUTTI_OK;
}

/* What a rank has put into its cells before it died or left is the others': where one is through, all come through. */
static bool is_whole(tutti_comm *comm, const tt_operation *operation, tutti_status status) {
  bool done = false, moved = false;
  return status != TUTTI_ERR_MISMATCH && operation->executor->ops->in_cells(operation->executor) &&
         tt_operation_step(comm, operation, &done, &moved) == TUTTI_OK && done;
}

static tutti_status finish(tutti_comm *comm, const tt_operation *operation) {
  tt_waiter waiter = {0};
  for (;;) {
    bool done = false, moved = false;
    tutti_status status = tt_operation_step(comm, operation, &done, &moved);
    if (status != TUTTI_OK || done)
      return status == TUTTI_OK ? tt_operation_end(comm, operation) : status;
    bool others = false;
    if (moved) {
      waiter = (tt_waiter){0};
      continue;
    }
    if (comm->context->outstanding > 0) /* others may wait for these before they come here */
      tt_request_progress(comm->context, &others);
    waiter.polls = others ? 0 : waiter.polls;
    status = others ? tt_wait_watch(comm, operation->number, &waiter, comm->context->machine.foreign)
                    : tt_wait_pause(comm, operation->executor, operation->number, &waiter);
    if (status != TUTTI_OK)
      return is_whole(comm, operation, status) ? tt_operation_end(comm, operation) : status;
  }
}

tutti_status tt_operation_finish(tutti_comm *comm, const tt_operation *operation) {
  comm->calls.busy = true;
  tutti_status status = finish(comm, operation);
  comm->calls.busy = false;
  return status;
}

static tutti_status run(tutti_comm *comm, const tt_call *call, tt_operation *operation) {
  tutti_status status = tt_operation_start(comm, call, operation);
  if (status != TUTTI_OK)
    return status;
  if (operation->bound->blocks != TT_CLASS_STREAMS) { /* mostly it is done at once */
    bool done = false, moved = false;
    status = tt_operation_step(comm, operation, &done, &moved);
    if (status != TUTTI_OK || done)
      return status == TUTTI_OK ? tt_operation_end(comm, operation) : status;
  }
  return tt_operation_finish(comm, operation);
}

/* ---- where calls are refused ---- */

bool tt_operation_spoils(const tt_operation *operation) {
  return operation->bound->in_place && !operation->bound->run.moves_only;
}

static tutti_status wait_for_all(tutti_comm *comm, uint64_t number) {
  assert(number > comm->refused.over);
  tt_waiter waiter = {0};
  tutti_status status = TUTTI_OK;
  comm->refused.settling = true;
  while (status == TUTTI_OK && !tt_refuse_settle(comm, number - 1)) {
    bool moved = false;
    status = tt_wait_settle(comm, number, &waiter);
    tt_request_progress(comm->context, &moved);
  }
  comm->refused.settling = false;
  return status == TUTTI_OK ? comm->agree.broken : status;
}

/* Until all ranks have stopped. TUTTI_OK: it may begin. */
static tutti_status await_stop(tutti_comm *comm, uint64_t number) {
  tutti_status status = TUTTI_OK;
  if (tt_refuse_concerns(comm, number) && tt_refuse_may_leave(comm, number))
    return tt_refuse_fail(comm, number);
  while (status == TUTTI_OK && number > comm->refused.over && tt_refuse_concerns(comm, number))
    status = wait_for_all(comm, number);
  if (status != TUTTI_OK)
    return comm->agree.broken == TUTTI_OK ? status : tt_agree_verdict(comm);
  return number > comm->refused.over ? TUTTI_OK : tt_refuse_fail(comm, number);
}

/* It waits for the next epoch, and begins there, once or more. */
static tutti_status run_later(tutti_comm *comm, const tt_call *call, tt_operation *operation, tutti_status status) {
  while (status == TUTTI_ERR_REFUSED) {
    bool spoilt = operation->again && tt_operation_spoils(operation);
    uint32_t epoch = comm->refused.epoch;
    status = await_stop(comm, operation->number);
    if (operation->number <= comm->refused.over)
      comm->calls.history = comm->refused.first_history;
    if (status != TUTTI_OK)
      return status;
    if (spoilt) {
      tt_refuse_spoilt(comm, operation->number);
      return tt_refuse_fail(comm, operation->number);
    }
    if (epoch != comm->refused.epoch) { /* it is the first there */
      comm->calls.history = comm->refused.first_history;
      tt_operation_key(comm, operation->bound, operation);
    }
    status = run(comm, call, operation);
    operation->again = true;
  }
  return status;
}

tutti_status tt_operation_run(tutti_comm *comm, const tt_call *call, tt_bound *bound) {
  tt_operation operation = {.bound = bound};
  tutti_status status = TUTTI_ERR_REFUSED;
  tt_operation_number(comm, bound, &operation);
  if (!tt_refuse_looms(comm)) {
    status = run(comm, call, &operation);
    if (status != TUTTI_ERR_REFUSED)
      return status;
    operation.again = true;
  }
  return run_later(comm, call, &operation, status);
}

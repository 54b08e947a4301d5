/* api/agree.c - all ranks do the same, or all get an error that says who differs.
 *
 * Each rank writes a record of a call before its first step. Whoever receives another call's key, or has waited a
 * while, compares the records. The first to find something wrong writes the verdict in rank 0's cell and flags every
 * rank's own cell, so that ranks inside the call and ranks that have long returned get the same text. */
#include "api/api.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define VERDICT_NS 100000000

void tt_agree_publish(tutti_comm *comm, uint64_t number, const tt_bound *bound) {
  if (!comm->board)
    return;
  const tt_record_words made = {.record = {.key = bound->key,
                                           .count = bound->count,
                                           .params = bound->entry->hash,
                                           .root = (int32_t)bound->root,
                                           .collective = (uint8_t)bound->collective,
                                           .type = (uint8_t)bound->type,
                                           .op = (uint8_t)bound->op}};
  uint64_t *word = comm->board[comm->rank]->record[number % TT_RECORDS].word;
  __atomic_store_n(&word[0], 0, __ATOMIC_RELAXED); /* readers that see 0 or a change skip it; pairs with read_record */
  for (int n = 1; n < TT_RECORD_WORDS; n++)
    __atomic_store_n(&word[n], made.word[n], __ATOMIC_RELEASE); /* none before the 0 */
  __atomic_store_n(&word[0], number, __ATOMIC_RELEASE);
}

/* Rank's record of that call; false where it has none (not called yet, or long ago). */
static bool read_record(const tutti_comm *comm, int64_t rank, uint64_t number, tt_record *record) {
  const uint64_t *word = comm->board[rank]->record[number % TT_RECORDS].word;
  tt_record_words read = {.word = {number}};
  if (__atomic_load_n(&word[0], __ATOMIC_ACQUIRE) != number)
    return false;
  for (int n = 1; n < TT_RECORD_WORDS; n++)
    read.word[n] = __atomic_load_n(&word[n], __ATOMIC_ACQUIRE); /* none after the look at the number again */
  *record = read.record;
  return __atomic_load_n(&word[0], __ATOMIC_RELAXED) == number;
}

static uint64_t last_number(const tutti_comm *comm, int64_t rank) {
  uint64_t last = 0;
  for (int n = 0; n < TT_RECORDS; n++) {
    uint64_t number = __atomic_load_n(&comm->board[rank]->record[n].word[0], __ATOMIC_ACQUIRE);
    last = number > last ? number : last;
  }
  return last;
}

/* ---- text ---- */

typedef struct text {
  char *at;
  size_t size, used;
} text;

static void add(text *to, const char *format, ...) TT_PRINTF(2, 3);

static void add(text *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (to->used < to->size) {
    int length = vsnprintf(to->at + to->used, to->size - to->used, format, arguments);
    to->used += length > 0 ? (size_t)length : 0;
  }
  va_end(arguments);
}

static void add_call(text *to, const tt_record *record) {
  tt_collective_info info = tt_compose_info((tt_collective)record->collective);
  add(to, "%s(count %" PRId64, info.name ? info.name : "?", record->count);
  if (record->collective != TT_BARRIER)
    add(to, ", %s", tutti_type_name((tutti_type)record->type));
  if (info.reduces && record->collective != TT_BARRIER)
    add(to, ", %s", tutti_op_name((tutti_op)record->op));
  if (info.has_root)
    add(to, ", root %d", record->root);
  add(to, ")");
}

static bool same_record(const tt_record *a, const tt_record *b) { return a->key == b->key; }

/* "ranks 1, 2 and 5 called X" for all that called the same as `first`. */
static void add_group(text *to, const tutti_comm *comm, uint64_t number, int64_t first, const tt_record *record) {
  int64_t count = 0, shown = 0;
  tt_record other;
  for (int64_t r = first; r < comm->size; r++)
    count += read_record(comm, r, number, &other) && same_record(&other, record);
  add(to, count == 1 ? "rank" : "ranks");
  for (int64_t r = first; r < comm->size; r++) {
    if (!read_record(comm, r, number, &other) || !same_record(&other, record))
      continue;
    if (++shown > 8) {
      add(to, " and %" PRId64 " more", count - 8);
      break;
    }
    add(to, "%s %" PRId64, shown == 1 ? "" : shown == count ? " and" : ",", r);
  }
  add(to, " called ");
  add_call(to, record);
}

static bool seen_before(const tutti_comm *comm, uint64_t number, int64_t rank, const tt_record *record) {
  tt_record other;
  for (int64_t r = 0; r < rank; r++)
    if (read_record(comm, r, number, &other) && same_record(&other, record))
      return true;
  return false;
}

static void describe_difference(text *to, const tutti_comm *comm, uint64_t number) {
  tt_record record;
  int groups = 0;
  bool same_call = true;
  uint64_t params = 0;
  uint8_t collective = 0;
  add(to, "ranks differ in call %" PRIu64 " on a communicator of %" PRId64 ": ", number, comm->size);
  for (int64_t r = 0; r < comm->size; r++) {
    if (!read_record(comm, r, number, &record) || seen_before(comm, number, r, &record))
      continue;
    add(to, "%s", groups ? "; " : "");
    add_group(to, comm, number, r, &record);
    same_call = same_call && (groups == 0 || (params != record.params && collective == record.collective));
    params = record.params;
    collective = record.collective;
    groups++;
  }
  if (same_call && groups > 1)
    add(to, "; their parameters differ");
}

/* ---- breaking a communicator ---- */

/* Another rank writes the verdict: a moment for it, but no more, since it may be dead. */
static void await_verdict(const tt_board *head) {
  int64_t until_ns = tt_clock_ns() + VERDICT_NS;
  while (__atomic_load_n(&head->verdict, __ATOMIC_ACQUIRE) == 1 && tt_clock_ns() < until_ns)
    sched_yield();
}

static void write_verdict(tutti_comm *comm, tutti_status status, const char *why) {
  tt_board *head = comm->board[0];
  uint32_t none = 0;
  if (!__atomic_compare_exchange_n(&head->verdict, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    await_verdict(head);
    return;
  }
  head->status = (uint32_t)status;
  snprintf(head->text, sizeof head->text, "%s", why);
  __atomic_store_n(&head->verdict, 2, __ATOMIC_RELEASE); /* pairs with take_verdict */
  for (int64_t r = 0; r < comm->size; r++) {
    __atomic_store_n(&comm->board[r]->poisoned, 1, __ATOMIC_RELEASE); /* pairs with tt_agree_poisoned */
    if (comm->context->ops->wake && r != comm->rank)
      comm->context->ops->wake(comm->context->transport, comm->job_rank[r]);
  }
}

static void take_verdict(tutti_comm *comm) {
  const tt_board *head = comm->board[0];
  if (__atomic_load_n(&head->verdict, __ATOMIC_ACQUIRE) != 2)
    return;
  comm->broken = (tutti_status)head->status;
  snprintf(comm->broken_text, sizeof comm->broken_text, "%s", head->text);
}

tutti_status tt_agree_verdict(tutti_comm *comm) {
  if (comm->broken == TUTTI_OK && comm->board)
    take_verdict(comm);
  if (comm->broken == TUTTI_OK)
    return tt_fail(TUTTI_ERR_PEER, "another rank broke the communicator and died before it could say why");
  return tt_fail(comm->broken, "%s", comm->broken_text);
}

tutti_status tt_agree_break(tutti_comm *comm, tutti_status status, const char *format, ...) {
  char why[TT_VERDICT_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  if (comm->broken == TUTTI_OK && comm->board) {
    write_verdict(comm, status, why);
    take_verdict(comm);
  }
  if (comm->broken == TUTTI_OK) {
    comm->broken = status;
    memcpy(comm->broken_text, why, sizeof why);
  }
  return tt_fail(comm->broken, "%s", comm->broken_text);
}

/* ---- checks ---- */

static bool records_differ(const tutti_comm *comm, uint64_t number) {
  tt_record mine, other;
  if (!read_record(comm, comm->rank, number, &mine))
    return false;
  for (int64_t r = 0; r < comm->size; r++)
    if (read_record(comm, r, number, &other) && !same_record(&mine, &other))
      return true;
  return false;
}

/* The first call up to `number` of which records differ; 0: none that is still known. */
static uint64_t first_difference(const tutti_comm *comm, uint64_t number) {
  uint64_t oldest = number > TT_RECORDS ? number - TT_RECORDS + 1 : 1;
  for (uint64_t n = oldest; comm->board && n <= number; n++)
    if (records_differ(comm, n))
      return n;
  return 0;
}

static tutti_status break_for_difference(tutti_comm *comm, uint64_t number) {
  char why[TT_VERDICT_TEXT] = "";
  text to = {why, sizeof why, 0};
  describe_difference(&to, comm, number);
  return tt_agree_break(comm, TUTTI_ERR_MISMATCH, "%s", why);
}

static int peer_gone(const tutti_context *context, int64_t job_rank) {
  return context->ops->peer_dead && job_rank != context->rank ? context->ops->peer_dead(context->transport, job_rank)
                                                              : 0;
}

/* A rank has left, perhaps because another one, which need not be in this communicator, has died. */
static tutti_status break_for_leaver(tutti_comm *comm, uint64_t number, int64_t peer) {
  const tutti_context *context = comm->context;
  char why[TT_VERDICT_TEXT] = "";
  text to = {why, sizeof why, 0};
  add(&to, "rank %" PRId64 " (rank %" PRId64 " of the job) has left the job and never came to call %" PRIu64, peer,
      comm->job_rank[peer], number);
  for (int64_t r = 0; r < context->size; r++)
    if (peer_gone(context, r) == 1)
      add(&to, "; rank %" PRId64 " of the job died", r);
  return tt_agree_break(comm, TUTTI_ERR_PEER, "%s", why);
}

/* Whoever is dead breaks the communicator; whoever has left the job only when it had not come to this call. */
static tutti_status check_peer(tutti_comm *comm, uint64_t number, int64_t peer) {
  int gone = peer_gone(comm->context, comm->job_rank[peer]);
  if (gone == 1)
    return tt_agree_break(comm, TUTTI_ERR_PEER, "rank %" PRId64 " (rank %" PRId64 " of the job) died", peer,
                          comm->job_rank[peer]);
  if (gone == 2 && comm->board && last_number(comm, peer) < number)
    return break_for_leaver(comm, number, peer);
  return TUTTI_OK;
}

static tutti_status check_peers(tutti_comm *comm, uint64_t number) {
  tutti_status status = TUTTI_OK;
  for (int64_t r = 0; r < comm->size && status == TUTTI_OK; r++)
    status = check_peer(comm, number, r);
  return status;
}

tutti_status tt_agree_check(tutti_comm *comm, uint64_t number) {
  if (tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  uint64_t different =
      first_difference(comm, number); /* a rank that ran ahead may know of a call that others still wait in */
  if (different > 0)
    return break_for_difference(comm, different);
  return check_peers(comm, number);
}

/* The same where one is known to be: a rank's record may come a moment after its data. */
static uint64_t await_difference(const tutti_comm *comm, uint64_t number) {
  int64_t until_ns = tt_clock_ns() + VERDICT_NS;
  uint64_t different = first_difference(comm, number);
  while (different == 0 && comm->board && tt_clock_ns() < until_ns) {
    sched_yield();
    different = first_difference(comm, number);
  }
  return different;
}

tutti_status tt_agree_mismatch(tutti_comm *comm, uint64_t number, int64_t peer) {
  if (tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  uint64_t different = await_difference(comm, number);
  if (different > 0)
    return break_for_difference(comm, different);
  return tt_agree_break(comm, TUTTI_ERR_MISMATCH,
                        "call %" PRIu64 ": rank %" PRId64 " of the job sent data of another call than "
                        "rank %" PRId64 " made",
                        number, peer, comm->job_rank[comm->rank]);
}

tutti_status tt_agree_leave(tutti_comm *comm) {
  if (comm->broken != TUTTI_OK)
    return TUTTI_OK; /* told before */
  if (tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  uint64_t different = first_difference(comm, comm->last_number);
  return different > 0 ? break_for_difference(comm, different) : TUTTI_OK;
}

tutti_status tt_agree_timeout(tutti_comm *comm, uint64_t number, int64_t waited_ns) {
  char why[TT_VERDICT_TEXT] = "";
  text to = {why, sizeof why, 0};
  add(&to, "call %" PRIu64 " waited %.3f s (%s)", number, (double)waited_ns * 1e-9,
      comm->creates ? "TUTTI_CREATE_TIMEOUT" : "TUTTI_TIMEOUT");
  int shown = 0;
  for (int64_t r = 0; comm->board && r < comm->size && shown < 8; r++) {
    uint64_t last = last_number(comm, r);
    if (last < number)
      add(&to, "%s rank %" PRId64 " has not come to it (its last call was %" PRIu64 ")", shown++ ? "," : ":", r, last);
  }
  if (comm->board && shown == 0)
    add(&to, ": all ranks have begun it, one of them does not go on");
  return tt_agree_break(comm, TUTTI_ERR_TIMEOUT, "%s", why);
}

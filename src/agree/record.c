/* agree/record.c - records of calls: each rank writes one before its first step (agree.h), all others can read it. */
#include "agree/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATER_ID (UINT32_MAX - 32) /* lanes are fewer */

_Static_assert(sizeof(tt_record) == 64 && offsetof(tt_record, number) == 0,
               "a record is a line, its number the first word");
_Static_assert(offsetof(tt_board, record) % 64 == 0 && offsetof(tt_board, verdict) % 64 == 0, "lines of their own");
_Static_assert(TT_RECORDS > TT_RECORDS_FIRST, "a place holds no call of the board");

/* ---- where records are ---- */

tutti_status tt_record_open(tutti_comm *comm) {
  assert(!comm->agree.later && !comm->side.main);
  tt_record **later = calloc((size_t)comm->size, sizeof(tt_record *));
  if (!later)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the records of %" PRId64 " ranks", comm->size);
  tutti_status status = tt_comm_open_cells(comm, LATER_ID, TT_RECORDS * sizeof(tt_record), (void **)later);
  if (status == TUTTI_OK)
    comm->agree.later = later;
  else
    free(later);
  return status;
}

void tt_record_close(tutti_comm *comm) {
  if (!comm->agree.later)
    return;
  tt_comm_close_cells(comm, LATER_ID, (void **)comm->agree.later);
  free(comm->agree.later);
}

static void *zeroed(size_t bytes) {
  void *memory = aligned_alloc(64, bytes);
  return memory ? memset(memory, 0, bytes) : NULL;
}

void tt_record_make(const tutti_comm *comm, int64_t rank) {
  if (comm->side.main) {
    if (!comm->agree.record[rank])
      comm->agree.record[rank] = zeroed(sizeof(tt_record));
    return;
  }
  if (!comm->agree.board[rank])
    comm->agree.board[rank] = zeroed(sizeof(tt_board));
  if (comm->agree.later && !comm->agree.later[rank])
    comm->agree.later[rank] = zeroed(TT_RECORDS * sizeof(tt_record));
}

void tt_record_keep(tutti_comm *comm, int64_t rank, const tt_record *record) {
  assert(comm->far[rank]); /* others write their own */
  tt_record_make(comm, rank);
  tt_record *place = tt_record_place(comm, rank, record->number);
  if (place)
    *place = *record;
}

/* ---- read ---- */

/* What a rank says of a start of a persistent request holds for all before. */
bool tt_record_read(const tutti_comm *comm, int64_t rank, uint64_t number, tt_record *record) {
  const tt_record *place = tt_record_place(comm, rank, number);
  if (!place)
    return false;
  const uint64_t *word = place->word;
  tt_record read = {.word = {atomic_load_explicit(tt_atomic_word(&word[0]), memory_order_acquire)}};
  if (comm->side.main ? read.word[0] < number : read.word[0] != number)
    return false;
  for (int n = 1; n < TT_RECORD_WORDS; n++)
    /* none after the look at the number again */
    read.word[n] = atomic_load_explicit(tt_atomic_word(&word[n]), memory_order_acquire);
  *record = read;
  uint64_t now = atomic_load_explicit(tt_atomic_word(&word[0]), memory_order_relaxed);
  return comm->side.main ? now >= read.word[0] : now == read.word[0];
}

static uint64_t last_of(const tt_record *record, int count, uint64_t last) {
  for (int n = 0; n < count; n++) {
    uint64_t number = atomic_load_explicit(tt_atomic_word(&record[n].word[0]), memory_order_acquire);
    last = number > last ? number : last;
  }
  return last;
}

uint64_t tt_record_last(const tutti_comm *comm, int64_t rank) {
  assert(!comm->far[rank]);
  if (comm->side.main)
    return last_of(comm->agree.record[rank], 1, 0);
  uint64_t last = last_of(comm->agree.board[rank]->record, TT_RECORDS_FIRST, 0);
  return comm->agree.later ? last_of(comm->agree.later[rank], TT_RECORDS, last) : last;
}

static bool same_record(const tt_record *a, const tt_record *b) { return a->key == b->key && a->type == b->type; }

static bool agree(const tt_record *a, const tt_record *b) {
  return a->key == b->key && (a->type == b->type || !tt_said_meaning(a->type) || !tt_said_meaning(b->type));
}

/* From `count` ranks, beginning with the first. Who says nothing of what the bytes mean compares what others say. */
static bool differs_from(const tutti_comm *comm, uint64_t number, int64_t first, int64_t count) {
  tt_record one, other;
  if (!tt_record_read(comm, comm->rank, number, &one))
    return false;
  for (int64_t n = 0; n < count; n++) {
    if (!tt_record_read(comm, (first + n) % comm->size, number, &other))
      continue;
    if (!agree(&one, &other))
      return true;
    if (!tt_said_meaning(one.type))
      one = other;
  }
  return false;
}

bool tt_record_differs(const tutti_comm *comm, uint64_t number) { return differs_from(comm, number, 0, comm->size); }

bool tt_record_differs_beside(const tutti_comm *comm, uint64_t number) {
  return differs_from(comm, number, comm->rank + comm->size - 1, 3);
}

/* ---- text ---- */

void tt_text_add(tt_text *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (to->used < to->size) {
    int length = vsnprintf(to->at + to->used, to->size - to->used, format, arguments);
    to->used += length > 0 ? (size_t)length : 0;
  }
  va_end(arguments);
}

void tt_record_add_number(tt_text *to, const tutti_comm *comm, uint64_t number) {
  if (comm->side.main && number > 1)
    tt_text_add(to, "start %" PRIu64 " of ", number - 1);
  if (comm->side.main)
    tt_text_add(to, "persistent request %" PRIu64, comm->side.init);
  else
    tt_text_add(to, "call %" PRIu64, number);
}

static bool is_named(int32_t type) { return tt_said_meaning(type) <= TUTTI_TYPE_COUNT; }

static void add_type(tt_text *to, int32_t type) {
  int32_t meaning = tt_said_meaning(type);
  if (meaning > 0)
    tt_text_add(to, ", %s", is_named(type) ? tutti_type_name((tutti_type)(meaning - 1)) : "bytes of mixed elements");
  else if (type < TUTTI_TYPE_COUNT)
    tt_text_add(to, ", %s", tutti_type_name((tutti_type)type));
  else
    tt_text_add(to, ", elements of %" PRId64 " bytes", tt_said_type_bytes(type));
}

static void add_op(tt_text *to, int32_t op) {
  if (op < TUTTI_OP_COUNT)
    tt_text_add(to, ", %s", tutti_op_name((tutti_op)op));
  else
    tt_text_add(to, ", a user's operator that %s", tt_said_op_commutes(op) ? "commutes" : "does not commute");
}

/* What the ranks of a call have in common, each after ", ". */
static void add_facts(tt_text *to, const tt_record *record, tt_collective_info info) {
  bool listed = tt_compose_side((tt_collective)record->collective, TT_IN).length == TT_BY_RANK ||
                tt_compose_side((tt_collective)record->collective, TT_OUT).length == TT_BY_RANK;
  int64_t unit = tt_said_meaning(record->type) > 0 ? tt_said_type_bytes(record->type) : 1; /* what the bytes mean */
  if (info.lengths == TT_LENGTHS_ALL)
    tt_text_add(to, listed ? ", counts with a sum of %" PRId64 : ", count %" PRId64, record->count / unit);
  if (!tt_compose_side((tt_collective)record->collective, TT_IN).typed)
    add_type(to, record->type);
  if (info.reduces)
    add_op(to, record->op);
  if (info.has_root)
    tt_text_add(to, ", root %" PRId32, record->root);
  if (info.has_graph)
    tt_text_add(to, ", graph %" PRIu64, record->lists);
}

void tt_record_add_call(tt_text *to, const tt_record *record) {
  char facts[160] = "";
  tt_text list = {facts, sizeof facts, 0};
  tt_collective_info info = tt_compose_info((tt_collective)record->collective);
  if (info.name && record->collective != TT_BARRIER)
    add_facts(&list, record, info);
  tt_text_add(to, "%s(%s)", info.name ? info.name : "composition", *facts ? facts + 2 : "");
}

/* Each rank's record, as it is now; number 0: it has none. NULL: no memory. */
static tt_record *read_all(const tutti_comm *comm, uint64_t number) {
  tt_record *all = calloc((size_t)comm->size, sizeof *all);
  for (int64_t r = 0; r < comm->size && all; r++)
    if (!tt_record_read(comm, r, number, &all[r]))
      all[r].number = 0;
  return all;
}

static bool is_same(const tt_record *a, const tt_record *b) {
  return a->number > 0 && b->number > 0 && same_record(a, b);
}

/* "ranks 1, 2 and 5 called X" for all that called the same as `first`, the lowest of them. */
static void add_group(tt_text *to, const tt_record *all, int64_t ranks, int64_t first) {
  int64_t count = 0, shown = 0;
  for (int64_t r = first; r < ranks; r++)
    count += is_same(&all[r], &all[first]);
  assert(count > 0);
  tt_text_add(to, count == 1 ? "rank" : "ranks");
  for (int64_t r = first; r < ranks; r++) {
    if (!is_same(&all[r], &all[first]))
      continue;
    if (++shown > 8) {
      tt_text_add(to, " and %" PRId64 " more", count - 8);
      break;
    }
    tt_text_add(to, "%s %" PRId64, shown == 1 ? "" : shown == count ? " and" : ",", r);
  }
  tt_text_add(to, " called ");
  tt_record_add_call(to, &all[first]);
}

static bool seen_before(const tt_record *all, int64_t rank) {
  for (int64_t r = 0; r < rank; r++)
    if (is_same(&all[r], &all[rank]))
      return true;
  return false;
}

/* Whether the two read the same in an error. */
static bool look_alike(const tt_record *a, const tt_record *b) {
  bool same_type = a->type == b->type || (!is_named(a->type) && !is_named(b->type));
  return a->collective == b->collective && a->count == b->count && a->root == b->root && same_type && a->op == b->op &&
         (a->lists == b->lists || !tt_compose_info((tt_collective)a->collective).has_graph);
}

/* What they differ in, where the calls alone do not show it. */
static void add_hidden_difference(tt_text *to, const tt_record *first, bool same_counts, bool same_keys) {
  if (same_keys)
    tt_text_add(to, "; the types of their elements differ");
  else if (tt_record_is_composition(first))
    tt_text_add(to, "; their primitives or parameters differ");
  else
    tt_text_add(to, same_counts ? "; their parameters differ" : "; their counts differ");
}

static void add_groups(tt_text *to, const tt_record *all, int64_t ranks) {
  const tt_record *first = NULL;
  bool several = false, alike = true, same_counts = true, same_keys = true;
  for (int64_t r = 0; r < ranks; r++) {
    if (all[r].number == 0 || seen_before(all, r))
      continue;
    several = first != NULL;
    first = first ? first : &all[r];
    tt_text_add(to, several ? "; " : "");
    add_group(to, all, ranks, r);
    alike = alike && look_alike(first, &all[r]);
    same_counts = same_counts && first->lists == all[r].lists;
    same_keys = same_keys && first->key == all[r].key;
  }
  if (alike && several)
    add_hidden_difference(to, first, same_counts, same_keys);
}

/* Of records that were all read before the first word is written: ranks that come meanwhile are left out. */
void tt_record_add_difference(tt_text *to, const tutti_comm *comm, uint64_t number) {
  tt_record *all = read_all(comm, number);
  tt_text_add(to, "ranks differ in ");
  tt_record_add_number(to, comm, number);
  tt_text_add(to, " on a communicator of %" PRId64 ": ", comm->size);
  if (all)
    add_groups(to, all, comm->size);
  else
    tt_text_add(to, "there is no memory for the details");
  free(all);
}

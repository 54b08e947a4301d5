/* api/split.c - the making of communicators: one allgather of colors, keys and numbers on the parent.
 *
 * A communicator's number is the largest that any rank of the parent could use next. The parts of one split share it;
 * they have no rank in common, and streams and cells are told apart by their ranks as well. Users that agree on numbers
 * by other means need no parent (tutti_comm_create_group). A rank that has no memory
 * for its part says so in the context's hidden communicator, where others look who wait for it (agree.c). Where ranks
 * share no cells they tell each other at once. */
#include "api/api.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct member {
  int64_t color, key, next_comm, rank;
} member;

enum { MEMBER_WORDS = sizeof(member) / sizeof(int64_t) };
_Static_assert(sizeof(member) == MEMBER_WORDS * sizeof(int64_t), "members are exchanged as words");

static int by_key(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The members of my color, in their order, at the beginning of all. Returns how many. */
static int64_t keep_color(member *all, int64_t count, int64_t color) {
  int64_t kept = 0;
  for (int64_t n = 0; n < count; n++)
    if (all[n].color == color)
      all[kept++] = all[n];
  qsort(all, (size_t)kept, sizeof *all, by_key);
  return kept;
}

static tutti_status open_part(tutti_comm *parent, const member *members, int64_t count, uint64_t id,
                              tutti_comm **part) {
  int64_t *job_rank = malloc((size_t)count * sizeof *job_rank), rank = -1;
  if (!job_rank)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", count);
  for (int64_t n = 0; n < count; n++) {
    job_rank[n] = parent->job_rank[members[n].rank];
    if (members[n].rank == parent->rank)
      rank = n;
  }
  assert(count > 0 && rank >= 0); /* this rank has its own color */
  tutti_status status = tt_comm_open(parent->context, id, job_rank, count, rank, part);
  free(job_rank);
  return status;
}

static uint64_t next_number(const tutti_comm *comm, const member *all) {
  uint64_t number = comm->context->made.next_number;
  for (int64_t n = 0; n < comm->size; n++)
    number = (uint64_t)all[n].next_comm > number ? (uint64_t)all[n].next_comm : number;
  return number;
}

/* All have made their parts, or nobody gets one. `status`: this rank's. all: room for a number of each rank. */
static tutti_status confirm(tutti_comm *comm, tutti_status status, int64_t *all) {
  int64_t mine = status;
  char why[400];
  snprintf(why, sizeof why, "%s", tutti_last_error());
  tutti_status met = tt_comm_exchange(comm, &mine, all, 1);
  if (met != TUTTI_OK)
    return met;
  for (int64_t r = 0; r < comm->size; r++)
    if (all[r] != TUTTI_OK)
      return tt_fail((tutti_status)all[r], "tutti_comm_split: rank %" PRId64 " could not make its part: %s", r,
                     r == comm->rank ? why : tutti_status_name((tutti_status)all[r]));
  return TUTTI_OK;
}

static tutti_status split(tutti_comm *comm, int64_t color, int64_t key, member *all, tutti_comm **part) {
  const member mine = {color < 0 ? -1 : color, key, (int64_t)comm->context->made.next_number, comm->rank};
  tutti_comm *made = NULL;
  tutti_status status = tt_comm_exchange(comm, (const int64_t *)&mine, (int64_t *)all, MEMBER_WORDS);
  if (status != TUTTI_OK)
    return status;
  uint64_t id = next_number(comm, all);
  if (id >= TUTTI_OWN_NUMBERS) /* all of them find so */
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "tutti_comm_split: no communicator number is left");
  comm->context->made.next_number = id + 1;
  if (color >= 0)
    status = open_part(comm, all, keep_color(all, comm->size, color), id, &made);
  if (!comm->agree.board || comm->apart)
    status = confirm(comm, status, &all->color);
  else if (status != TUTTI_OK)
    tt_agree_lack(comm->context, id, status);
  if (status == TUTTI_OK)
    *part = made;
  else
    tutti_comm_destroy(made);
  return status;
}

tutti_status tutti_comm_split(tutti_comm *comm, int64_t color, int64_t key, tutti_comm **part) {
  if (!comm || !part)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_split: %s is NULL", comm ? "part" : "comm");
  if (tt_context_is_copy(comm->context))
    return tt_fork_refuse(comm->context, "tutti_comm_split");
  TT_HOLD(comm->context);
  if (tt_agree_prepare(comm) != TUTTI_OK) /* before anything fails that the others should hear of */
    return tt_agree_verdict(comm);
  member *all = calloc((size_t)comm->size, sizeof *all);
  if (!all)
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory to split a communicator", comm->rank);
  tutti_status status = split(comm, color, key, all, part);
  free(all);
  return status;
}

tutti_status tutti_comm_create(tutti_context *context, tutti_comm **comm) {
  if (!context || !comm)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_create: %s is NULL", context ? "comm" : "context");
  if (tt_context_is_copy(context))
    return tt_fork_refuse(context, "tutti_comm_create");
  return tutti_comm_split(context->made.control, 0, 0, comm);
}

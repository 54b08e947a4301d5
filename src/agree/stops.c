/* agree/stops.c - what each rank of a communicator says of refused calls: where it stands, how it is written and read.
 *
 * There is no place for it before the first refusal. From then on each rank has a cell that the others of its machine
 * read, and copies of what those of other machines have told. Each writes its own only. */
#include "agree/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOPS_ID (UINT32_MAX - 40) /* lanes are fewer */
#define WORDS (sizeof(tt_stop) / sizeof(uint64_t))

_Static_assert(sizeof(tt_stop) == WORDS * sizeof(uint64_t), "written and read by words");

/* ---- where it stands ---- */

static tutti_status open_cells(tutti_comm *comm) {
  assert(!comm->side.main);
  tt_stops *made = calloc(1, sizeof *made + (size_t)comm->size * sizeof made->of[0]);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the refused calls of a communicator of %" PRId64, comm->size);
  tutti_status status = tt_comm_open_cells(comm, STOPS_ID, sizeof(tt_stop_cell), (void **)made->of);
  if (status == TUTTI_OK)
    comm->refused.stops = made;
  else
    free(made);
  return status;
}

bool tt_stops_open(tutti_comm *comm) {
  tutti_status status = comm->refused.stops ? TUTTI_OK : open_cells(comm);
  if (status != TUTTI_OK)
    tt_agree_break_here(comm, status);
  return status == TUTTI_OK;
}

void tt_stops_close(tutti_comm *comm) {
  if (!comm->refused.stops)
    return;
  tt_comm_close_cells(comm, STOPS_ID, (void **)comm->refused.stops->of);
  free(comm->refused.stops);
}

/* ---- written and read: each word that write_words stores pairs with its load in tt_stops_read ---- */

static void write_words(tt_stop_cell *cell, const tt_stop_words *from) {
  uint64_t next = atomic_load_explicit(&cell->written, memory_order_relaxed) + 1;
  for (size_t n = 0; n < WORDS; n++)
    /* none before the last end */
    atomic_store_explicit(tt_atomic_word(&cell->words[next % 2].word[n]), from->word[n], memory_order_release);
  atomic_store_explicit(&cell->written, next, memory_order_release);
}

void tt_stops_say(tutti_comm *comm) {
  assert(comm->refused.stops->own.said.epoch >= comm->refused.epoch);
  comm->refused.stops->own.said.version++;
  write_words(comm->refused.stops->of[comm->rank], &comm->refused.stops->own);
}

void tt_stops_read(const tutti_comm *comm, int64_t rank, tt_stop *said) {
  assert(rank >= 0 && rank < comm->size);
  const tt_stop_cell *cell = comm->refused.stops->of[rank];
  tt_stop_words read = {.said = {.version = 0}};
  for (uint64_t first = 1, last = 0; cell && first != last;) { /* twice only if it has ended one meanwhile */
    first = atomic_load_explicit(&cell->written, memory_order_acquire);
    for (size_t n = 0; n < WORDS; n++)
      /* none after the next look */
      read.word[n] = atomic_load_explicit(tt_atomic_word(&cell->words[first % 2].word[n]), memory_order_acquire);
    last = atomic_load_explicit(&cell->written, memory_order_relaxed);
  }
  *said = read.said;
}

/* Notes overtake each other. */
void tt_stops_keep(tutti_comm *comm, int64_t rank, const tt_stop *told) {
  assert(comm->far[rank]); /* others write their own */
  tt_stop_cell **copy = &comm->refused.stops->of[rank];
  tt_stop kept;
  if (!*copy)
    *copy = calloc(1, sizeof **copy);
  tt_stops_read(comm, rank, &kept);
  if (*copy && told->version > kept.version)
    write_words(*copy, &(tt_stop_words){.said = *told});
}

/* ---- refusals ---- */

/* A rank that refuses one call after the other, for many reasons, while others are late names one of them for the last
 * ones. Calls of its own between two refused ones cannot end before the first of these is over, and are then refused
 * with them. */
void tt_stops_refuse(tutti_comm *comm, uint64_t number, const char *why) {
  tt_stop *own = &comm->refused.stops->own.said;
  assert(own->newest < TT_REFUSALS && number > own->over);
  tt_refusal *newest = &own->refusal[own->newest];
  uint64_t next = (own->newest + 1) % TT_REFUSALS;
  bool same = newest->last + 1 == number && strncmp(newest->text, why, sizeof newest->text - 1) == 0;
  if (same || own->refusal[next].last > own->over) {
    newest->first = number < newest->first ? number : newest->first;
    newest->last = number > newest->last ? number : newest->last;
    return;
  }
  own->newest = next;
  newest = &own->refusal[next];
  *newest = (tt_refusal){.first = number, .last = number};
  snprintf(newest->text, sizeof newest->text, "%s", why);
}

bool tt_stop_refuses(const tt_stop *said, uint64_t number) {
  for (int n = 0; n < TT_REFUSALS; n++)
    if (number > 0 && said->refusal[n].first <= number && number <= said->refusal[n].last)
      return true;
  return false;
}

/* The lowest of its calls from `from` on. */
static uint64_t lowest_of(const tt_refusal *of, uint64_t from) {
  return of->last < from ? UINT64_MAX : of->first < from ? from : of->first;
}

uint64_t tt_stop_first(const tt_stop *said, uint64_t over) {
  uint64_t least = UINT64_MAX;
  for (int n = 0; n < TT_REFUSALS && over < UINT64_MAX; n++) {
    uint64_t number = lowest_of(&said->refusal[n], over + 1);
    least = number < least ? number : least;
  }
  return least;
}

tt_reason tt_stops_reason_from(const tutti_comm *comm, uint64_t from) {
  tt_reason reason = {.number = 0};
  tt_stop said;
  for (int64_t r = 0; r < comm->size; r++) {
    tt_stops_read(comm, r, &said);
    for (int n = 0; n < TT_REFUSALS; n++) {
      uint64_t number = lowest_of(&said.refusal[n], from);
      if (number == UINT64_MAX || (reason.number > 0 && number >= reason.number))
        continue;
      reason = (tt_reason){.number = number, .rank = r};
      memcpy(reason.text, said.refusal[n].text, sizeof reason.text);
    }
  }
  return reason;
}

tt_reason tt_stops_reason(const tutti_comm *comm, uint64_t number) {
  tt_reason reason = tt_stops_reason_from(comm, number);
  return reason.number == number ? reason : comm->refused.stops->own.said.reason;
}

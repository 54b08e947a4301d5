/* api/refuse.h - a call that one rank alone refuses, and how its communicator goes on: see refuse.c. */
#ifndef TT_API_REFUSE_H
#define TT_API_REFUSE_H

#include "api/stops.h"

/* Something was refused that concerns this rank, or may; calls go the slow way then. The starts of persistent requests
 * go on beside it. */
static inline bool tt_refuse_looms(const tutti_comm *comm) {
  return !comm->main && (comm->last_number <= comm->over ||
                         (comm->board && __atomic_load_n(&comm->board[comm->rank]->disturbed, __ATOMIC_ACQUIRE) !=
                                             0)); /* pairs with disturb */
}

/* Whether call `number` is the refused one, or a later one. */
bool tt_refuse_concerns(tutti_comm *comm, uint64_t number);
/* This rank has ended its calls up to `ended` and stops there. True: all ranks have stopped, and comm->over is the last
 * call that is over; those behind it begin (again). */
bool tt_refuse_settle(tutti_comm *comm, uint64_t ended);
/* The same for a blocking call: waits. TUTTI_OK: it may begin. */
tutti_status tt_refuse_await(tutti_comm *comm, uint64_t number);
/* Whether just that call is refused, and this rank, which is in it, need not wait for the others to leave it. */
bool tt_refuse_leave(tutti_comm *comm, uint64_t number);
/* Goes on where nothing of this rank is under way on the communicator, but others may wait for it. */
void tt_refuse_tend(tutti_comm *comm);
/* The same for all communicators, from time to time, of one who has waited for so long in a call. */
void tt_refuse_tend_all(tutti_context *context, int64_t waited_ns, int64_t now);
/* This rank refuses that call, which has its number already: it had begun, and has overwritten what it reads. */
void tt_refuse_spoilt(tutti_comm *comm, uint64_t number);
/* TUTTI_ERR_REFUSED with a text for that call. */
tutti_status tt_refuse_tell(const tutti_comm *comm, uint64_t number);
/* The same text, for later; NULL: no memory. */
char *tt_refuse_text(const tutti_comm *comm, uint64_t number);
/* What a rank of another machine has told. */
void tt_refuse_told(tutti_comm *comm, int64_t rank, const tt_stop *told);
/* It has destroyed the communicator. */
void tt_refuse_left(const tutti_comm *comm, int64_t rank);
/* This rank does. */
void tt_refuse_finish(tutti_comm *comm);

#endif

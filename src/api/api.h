/* api/api.h - what the files of this folder know of each other: life cycles, public calls, compositions of users.
 *
 *     tutti_allreduce(...)    collective.c
 *       -> check, bind, run   call/: checked, with its plan, block table and key, and a number
 *       -> publish            agree/: a record of the call for the others
 *       -> step ... step      exec/, until it is done
 *       -> pause              wait/, where nothing moves; and then: does everyone do the same? */
#ifndef TT_API_API_H
#define TT_API_API_H

#include "call/call.h"

/* ---- comm.c ---- */
tutti_status tt_comm_open(tutti_context *context, uint64_t id, const int64_t *job_rank, int64_t size, int64_t rank,
                          tutti_comm **comm);

/* ---- options.c ---- */
tutti_status tt_context_check_boot(const tutti_boot *boot);
tutti_status tt_context_check_options(const tutti_context_options *options);

/* ---- share.c ---- */
bool tt_context_let_go(tutti_context *context); /* one who has it less; true: nobody has it any more */

/* ---- wisdom.c ---- */
/* Rank 0's; elsewhere, and where there is none, NULL. tt_wisdom_end afterwards. */
tutti_status tt_wisdom_begin(tutti_context *context, tt_wisdom_found **found);
/* Gives it to all ranks, with what its lessons say of the job's communicators, once there is the hidden communicator.
 * found: rank 0's, which has some. count: its numbers, as all know. */
tutti_status tt_wisdom_share(tutti_context *context, tt_wisdom_found *found, int64_t count);
void tt_wisdom_end(tt_wisdom_found *found);

/* ---- graph.c ---- */
void tt_comm_free_graphs(tutti_comm *comm); /* that the user has destroyed */

#endif

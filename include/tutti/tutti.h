/* tutti/tutti.h - collectives for C programs: everything that the library has.
 *
 * A *context* is this process's part of a job. A *communicator* is an ordered group of its ranks. Every rank of a
 * communicator calls the same collectives on it in the same order; ranks that differ get an error that says who called
 * what.
 *
 * Sizes are counts of elements, 64-bit. Buffers are borrowed until the call (or its request) is complete. `in == out`
 * positions that the field calls in place are stated at each function. A count of 0 is legal.
 *
 * Threads: one thread at a time in the calls on one context. Errors: each function returns a tutti_status and
 * tutti_last_error() has the text. Outputs are written only on success. After TUTTI_ERR_MISMATCH, _PEER, _TIMEOUT,
 * _ABORTED, and after _MEMORY or _SYSTEM in a collective (others wait for this rank), the communicator is broken: each
 * later call on it returns the same error, tutti_comm_destroy still works. After _ARGUMENT and _PLAN it is as before.
 */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#define TUTTI_VERSION "0.1.0"

#include <tutti/collectives.h>
#include <tutti/comm.h>
#include <tutti/context.h>
#include <tutti/requests.h>

#endif

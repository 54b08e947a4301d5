/* tutti/tutti.h - includes all that C programs need.
 *
 * A *context* is this process's part of a job. A *communicator* is an ordered group of the job's ranks. Every rank of a
 * communicator calls the same collectives on it in the same order. Ranks that differ get an error that says which rank
 * called what.
 *
 * Sizes: 64-bit counts of elements. A count of 0 is legal.
 * Buffers: tutti borrows them until the call, or its request, is complete. Each function says where it works in place.
 * Threads: one thread at a time calls tutti for a context. Once it has a thread of tutti's (tutti_context_progress) any
 * may, each on communicators of its own: a call that waits lets others call, unless it makes communicators or graphs.
 * Errors: each function returns a tutti_status, and tutti_last_error() returns the text. Outputs are written only on
 * success. TUTTI_ERR_MISMATCH, _PEER, _TIMEOUT and _ABORTED break the communicator; so do _MEMORY and _SYSTEM in a
 * collective, where others wait for this rank, and _UNSUPPORTED where a persistent request is made. Each later call on
 * a broken communicator returns the same error; tutti_comm_destroy still works. _ARGUMENT and _PLAN leave the
 * communicator as it was. */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#define TUTTI_VERSION "0.1.0"

#include <tutti/collectives.h>
#include <tutti/comm.h>
#include <tutti/context.h>
#include <tutti/requests.h>

#endif

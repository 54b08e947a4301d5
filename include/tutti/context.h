/* tutti/context.h - a context: a process's part of a job, with its memory, operators and element types. */
#ifndef TUTTI_CONTEXT_H
#define TUTTI_CONTEXT_H

#include <tutti/boot.h>
#include <tutti/status.h>
#include <tutti/transport.h>
#include <tutti/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A context belongs to the process that made it. In a fork of that process (fork, _Fork, clone without CLONE_VM) every
 * call that would touch the job returns TUTTI_ERR_UNSUPPORTED, with the function and the rank in the text; calls that
 * only end or free something do nothing. A fork may exec, or make a context with a boot of its own: the launcher's rank
 * stays its parent's. A child of vfork runs in its parent's memory, so it must not call tutti before exec. */
typedef struct tutti_context tutti_context;

typedef struct tutti_context_options {
  size_t size;                          /* set by tutti_context_options_init */
  const tutti_boot *boot;               /* NULL: that of the launcher, or a job of one rank if there is none */
  const tutti_transport_ops *transport; /* NULL: shared memory on a machine, TUTTI_FAR between machines */
  const void *transport_config;         /* passed to transport->open */
  int64_t node; /* with `transport`: the number of this rank's machine. Ranks of equal node use tutti's shared memory
                   with each other, and `transport` reaches the other ranks. -1 (set by init): it reaches all ranks */
  void (*idle)(void *user); /* tutti calls it again and again once a call has waited for some microseconds, so that
                               another library can make progress. It must not call tutti. NULL: nothing to call */
  void *idle_user;          /* passed to idle */
  int64_t timeout_ns;       /* time limit of creation, nanoseconds; 0: TUTTI_CREATE_TIMEOUT */
} tutti_context_options;

/* Sets the size and the defaults of options. */
TUTTI_API void tutti_context_options_init(tutti_context_options *options);

/* Joins the job. Collective, blocking. After the time limit it returns TUTTI_ERR_TIMEOUT and names the missing ranks.
 * options may be NULL: the defaults. */
TUTTI_API tutti_status tutti_context_create(const tutti_context_options *options, tutti_context **context);
/* Leaves the job; the context's communicators must have been destroyed before. Accepts NULL, never waits for other
 * ranks. In a fork of the process that joined the job it does nothing. */
TUTTI_API void tutti_context_destroy(tutti_context *context);
/* This rank, 0 .. size-1, and the number of ranks of the job; -1 if context is NULL. */
TUTTI_API int64_t tutti_context_rank(const tutti_context *context);
TUTTI_API int64_t tutti_context_size(const tutti_context *context);

/* From now on tutti asks `interrupted` every 10 ms or so while a call waits, for programs with something to look at:
 * signals, a user who has had enough. Other than 0: the call gives up, which breaks its communicator on all ranks with
 * TUTTI_ERR_ABORTED. It must not call tutti. Other threads may do so meanwhile where any thread may call tutti and what
 * waits is a collective, tutti_wait or tutti_wait_for. NULL: nobody is asked. */
TUTTI_API tutti_status tutti_context_set_interrupted(tutti_context *context, int (*interrupted)(void *user),
                                                     void *user);
/* From now on a thread of the context moves outstanding requests on while the program does other things, as with
 * TUTTI_PROGRESS=thread. It ends with the context. Another call changes nothing. The first one may not be made while
 * another thread is in a call of the context. */
TUTTI_API tutti_status tutti_context_progress(tutti_context *context);

/* Other parts of the process may use this context, too: tutti_context_shared finds it, instead of one that was shared
 * before. NULL: none, from now on. hold: called with 1, then with 0, by the first thread that asks for the context; in
 * between no other thread may be in a call of it. NULL: there never is one. */
TUTTI_API tutti_status tutti_context_share(tutti_context *context, void (*hold)(int begins));
/* The context that is shared in this process; *context is NULL if there is none. Under `tutti mpirun` it is that of
 * MPI_COMM_WORLD's ranks, from MPI_Init to MPI_Finalize; docs/mpi.md says where there is none. Whoever has it from here
 * calls tutti_context_destroy in the end, and it ends with the last one: after MPI_Finalize it still works for those
 * who have it. This calls tutti_context_progress, so all of its users may call tutti from threads of their own, and who
 * waits moves all others' requests on. It counts as a call of MPI: without MPI_THREAD_MULTIPLE the thread that called
 * MPI_Init makes it. */
TUTTI_API tutti_status tutti_context_shared(tutti_context **context);

/* Allocates memory that ranks of this machine can read in place. Every call accepts any buffer; this memory may be
 * faster. 64-byte aligned. TUTTI_ERR_MEMORY: there is not as much left, without swapping. Free it with tutti_free
 * before the context is destroyed. Some of what was freed is kept for the next ones, up to 256 MiB. */
TUTTI_API tutti_status tutti_alloc(tutti_context *context, size_t bytes, void **memory);
TUTTI_API void tutti_free(tutti_context *context, void *memory);

/* ---- the user's own operators and types ----
 *
 * These functions are local. Ranks of a call compare the size of an element and whether the operator commutes. They
 * cannot compare the functions: all ranks must pass the same operator. Numbers of operators and types are never reused.
 * An element that is combined must fit into a slot, else the call returns TUTTI_ERR_ARGUMENT: 16 KiB always fit, unless
 * TUTTI_SLOT_BYTES says less. */

/* Makes an operator for all types with elements of element_bytes bytes, built-in or from tutti_type_create. tutti calls
 * `reduce` as tutti/types.h says and passes `user` to it. commutes: 1 if operands may be combined in any order, 0 for
 * rank order. The operator must be associative in both cases. */
TUTTI_API tutti_status tutti_op_create(tutti_context *context, tutti_reduce_function reduce, void *user,
                                       size_t element_bytes, int commutes, tutti_op *op);
/* Frees the operator; no call or request may use it afterwards. Ignores an invalid or built-in operator. */
TUTTI_API void tutti_op_destroy(tutti_context *context, tutti_op op);
/* Makes a type with elements of `bytes` bytes, bytes >= 1. Its elements are moved as they are, or combined by operators
 * of tutti_op_create with the same element_bytes. It lives as long as the context. tutti_type_size and tutti_type_name,
 * which take no context, return 0 and "?" for it. */
TUTTI_API tutti_status tutti_type_create(tutti_context *context, size_t bytes, tutti_type *type);
/* Returns TUTTI_BYTE with a meaning, for front ends of other libraries' types. A rank that receives bytes of another
 * meaning than its own gets TUTTI_ERR_MISMATCH, as for another type. meaning: 1 + a built-in type, which errors then
 * name; or any number from 1 + TUTTI_TYPE_COUNT to 65535; 0 and all other numbers return TUTTI_BYTE, which agrees with
 * every meaning. Elements of such types are moved, not combined. */
TUTTI_API tutti_type tutti_type_of_bytes(int32_t meaning);

#ifdef __cplusplus
}
#endif
#endif

/* tutti/context.h - a process's part of a job; memory, operators and element types that belong to it. */
#ifndef TUTTI_CONTEXT_H
#define TUTTI_CONTEXT_H

#include <tutti/boot.h>
#include <tutti/status.h>
#include <tutti/transport.h>
#include <tutti/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* It belongs to the process that has made it. In one that is forked from it (fork, _Fork, clone without CLONE_VM) every
 * call that would touch the job is TUTTI_ERR_UNSUPPORTED, whose text names the function and the rank; what only ends or
 * frees something does nothing. A fork may exec, or make a context with a boot of its own: the launcher's rank is its
 * parent. Until it calls exec a child of vfork must not call tutti: it runs in its parent's memory. */
typedef struct tutti_context tutti_context;

typedef struct tutti_context_options {
  size_t size;                          /* set by tutti_context_options_init */
  const tutti_boot *boot;               /* NULL: what `tutti run` put in the environment, or a job of one rank */
  const tutti_transport_ops *transport; /* NULL: shared memory */
  const void *transport_config;         /* given to transport->open */
  int64_t node; /* with `transport`: this rank's machine. Ranks of equal node share memory and use tutti's shared memory
                   among themselves, `transport` reaches the others. -1, set by init: `transport` reaches all */
  void (*idle)(void *user); /* called again and again while a call of tutti has waited for some microseconds, so that
                               a library beside tutti may move on; must not call tutti. NULL: not wanted */
  void *idle_user;
  int64_t timeout_ns; /* for creation; 0: TUTTI_CREATE_TIMEOUT */
} tutti_context_options;

TUTTI_API void tutti_context_options_init(tutti_context_options *options);

/* Joins the job. Collective, blocking, bounded by the timeout; names who is missing. options may be NULL. */
TUTTI_API tutti_status tutti_context_create(const tutti_context_options *options, tutti_context **context);
/* Leaves the job. Its communicators must have been destroyed. Accepts NULL. Never blocks for others. In a fork of the
 * process that has joined it does nothing. */
TUTTI_API void tutti_context_destroy(tutti_context *context);
/* -1 where context is NULL. */
TUTTI_API int64_t tutti_context_rank(const tutti_context *context);
TUTTI_API int64_t tutti_context_size(const tutti_context *context);

/* Memory that peers on this machine can read without a copy; any buffer works in every call, this one may be faster.
 * 64-byte aligned; to be freed before the context is destroyed. */
TUTTI_API tutti_status tutti_alloc(tutti_context *context, size_t bytes, void **memory);
TUTTI_API void tutti_free(tutti_context *context, void *memory);

/* ---- operators and types of the user's own ----
 *
 * They are local and cost nothing to others. Ranks compare the bytes of an element and whether the operator commutes,
 * not the function, which they cannot: all ranks of a call have to mean the same. A number is never used again.
 * Elements that are combined must fit into a slot: 16 KiB always do (TUTTI_SLOT_BYTES); a longer one breaks the
 * communicator with TUTTI_ERR_ARGUMENT. */

/* An operator for all types whose elements have element_bytes bytes: of tutti_type_create, or of tutti's own. `reduce`
 * is called as tutti/types.h says, with `user` passed on. commutes: whether operands may be combined in any order; 0:
 * they are combined in rank order. In both cases it has to be associative. */
TUTTI_API tutti_status tutti_op_create(tutti_context *context, tutti_reduce_function reduce, void *user,
                                       size_t element_bytes, int commutes, tutti_op *op);
/* No call or request may use it any more. An operator that is none, or tutti's own, is left as it is. */
TUTTI_API void tutti_op_destroy(tutti_context *context, tutti_op op);
/* A type whose elements are `bytes` bytes, 1 or more: moved as they are, or combined by operators of tutti_op_create of
 * that size. It lives as long as the context. tutti_type_size and tutti_type_name, which know no context, say 0 and "?"
 * of it. */
TUTTI_API tutti_status tutti_type_create(tutti_context *context, size_t bytes, tutti_type *type);
/* TUTTI_BYTE of one who knows what the bytes mean, though tutti need not: a front end for another library's types. A
 * rank that is sent bytes of another meaning than it has said gets TUTTI_ERR_MISMATCH, as for another type. meaning: 1
 * + a type of tutti's, which errors name; any other number from 1 + TUTTI_TYPE_COUNT to 65535; or 0, which agrees with
 * all, as do all others: that is TUTTI_BYTE. Such types are moved, not combined. */
TUTTI_API tutti_type tutti_type_of_bytes(int32_t meaning);

#ifdef __cplusplus
}
#endif
#endif

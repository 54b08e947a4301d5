/* tests/conformance/invoke.h - the public function of a call, in its three forms. */
#ifndef TEST_CONFORMANCE_INVOKE_H
#define TEST_CONFORMANCE_INVOKE_H

#include "conformance/definition.h"

/* What a rank passes. */
typedef struct call_arguments {
  const void *in;
  void *out;
  int64_t count, in_count, out_count;
  const int64_t *in_counts, *in_offsets, *out_counts, *out_offsets; /* offsets: bytes where there are types */
  const tutti_type *in_types, *out_types;
  tutti_type type;
  tutti_op op;
  int64_t root;
  tutti_comm *comm;
  tutti_graph *graph;
} call_arguments;

#define A(name) with->name
#define TT_COLLECTIVE(id, function, name, kind, lengths, in, out, operands, ...)                                       \
  case TT_##id:                                                                                                        \
    return mode == CALL_BLOCK   ? tutti_##function(__VA_ARGS__)                                                        \
           : mode == CALL_START ? tutti_##function##_start(__VA_ARGS__, request)                                       \
                                : tutti_##function##_init(__VA_ARGS__, request);

static inline tutti_status call_invoke(tt_collective collective, call_mode mode, const call_arguments *with,
                                       tutti_request **request) {
  switch (collective) {
#include "compose/collectives.inc"
  default:
    return TUTTI_ERR_UNSUPPORTED;
  }
}

#undef A

#endif

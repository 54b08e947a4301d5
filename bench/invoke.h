/* bench/invoke.h - the public function of a collective, in its three forms, by the rows of compose/collectives.inc. */
#ifndef BENCH_INVOKE_H
#define BENCH_INVOKE_H

#include "compose/compose.h"

#include <tutti/tutti.h>

/* What the functions take, each some of it. */
typedef struct bench_arguments {
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
} bench_arguments;

/* Blocking; started; as a persistent request. */
typedef enum bench_way { BENCH_NOW, BENCH_START, BENCH_INIT } bench_way;

#define BENCH_WITH(name) with->name
#define TT_COLLECTIVE(id, function, name, kind, lengths, in, out, operands, arguments)                                 \
  case TT_##id:                                                                                                        \
    return way == BENCH_NOW     ? tutti_##function(arguments(BENCH_WITH))                                              \
           : way == BENCH_START ? tutti_##function##_start(arguments(BENCH_WITH), request)                             \
                                : tutti_##function##_init(arguments(BENCH_WITH), request);

static inline tutti_status bench_invoke(int64_t collective, bench_way way, const bench_arguments *with,
                                        tutti_request **request) {
  switch (collective) {
#include "compose/collectives.inc"
  default:
    return TUTTI_ERR_ARGUMENT;
  }
}

#endif

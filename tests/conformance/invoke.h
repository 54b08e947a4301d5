/* tests/conformance/invoke.h - the public function of a call, in its three forms. */
#ifndef TEST_CONFORMANCE_INVOKE_H
#define TEST_CONFORMANCE_INVOKE_H

#include "../../bench/invoke.h"

#include "conformance/definition.h"

typedef bench_arguments call_arguments; /* of a rank */

static inline tutti_status call_invoke(tt_collective collective, call_mode mode, const call_arguments *with,
                                       tutti_request **request) {
  static const bench_way ways[] = {[CALL_BLOCK] = BENCH_NOW, [CALL_START] = BENCH_START, [CALL_INIT] = BENCH_INIT};
  return bench_invoke(collective, ways[mode], with, request);
}

#endif

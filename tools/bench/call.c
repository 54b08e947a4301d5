/* tools/bench/call.c - what the calls of a row are: their problem, and what ranks are told of them. */
#include "call.h"

bench_problem bench_call_problem(const bench_options *options, tt_collective collective, int64_t bytes) {
  return bench_problem_of(collective, (int32_t)options->ranks.count, options->call.sparse,
                          bytes / (int64_t)tutti_type_size(options->call.type));
}

int64_t bench_call_blocks(const bench_options *options, tt_collective collective, bool *even) {
  bench_problem problem = bench_call_problem(options, collective, 0);
  *even = !bench_form_of(collective).uneven;
  return bench_block_count(&problem);
}

bench_command bench_call_command(const bench_options *options) {
  const bench_call_options *call = &options->call;
  return (bench_command){.type = (int32_t)call->type,
                         .op = (int32_t)call->op,
                         .sparse = call->sparse,
                         .mode = (int32_t)call->mode,
                         .apart = call->apart,
                         .shared = call->alloc};
}

bench_task bench_call_task(const bench_options *options) {
  return (bench_task){.command = bench_call_command(options),
                      .seconds = options->seconds,
                      .check = options->call.check,
                      .nics = options->launch.nics,
                      .levels = options->levels};
}

/* tools/run/options.h - the command line of `tutti run`. */
#ifndef TUTTI_TOOLS_RUN_OPTIONS_H
#define TUTTI_TOOLS_RUN_OPTIONS_H

#include "base/base.h"
#include "tools/wrap/wrap.h"

typedef enum run_bind { RUN_BIND_AUTO, RUN_BIND_CORE, RUN_BIND_NONE } run_bind;

typedef struct run_options {
  int64_t rank_count;
  bool label;
  run_bind bind;
  int64_t timeout_ns; /* 0: none */
  int64_t grace_ns;   /* what the others have after a rank failed */
  wrap_list wraps;    /* ranks that start under another program; the caller's to finish */
  char **program;     /* with arguments, ends with NULL */
} run_options;

/* TOOL_GO_ON, TOOL_HELPED, or TOOL_MISUSED after it was said. */
int run_options_parse(int argc, char **argv, run_options *options);

#endif

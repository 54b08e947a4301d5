/* tools/explain/options.h - the call that is asked about. */
#ifndef TUTTI_TOOLS_EXPLAIN_OPTIONS_H
#define TUTTI_TOOLS_EXPLAIN_OPTIONS_H

#include "tools/plan/options.h"

#include <tutti/types.h>

typedef struct explain_options {
  plan_options plan; /* collective, ranks, nodes, model */
  int64_t length;    /* bytes of the whole vector, as the user says; -1: not given */
  tutti_type type;
  tutti_op op;
  const char *set; /* what the program would say by tutti_comm_set_params; NULL: nothing */
  bool apart;      /* nodes are machines, where there are several */
  int64_t nics;    /* of a node; -1: as many as this machine has */
  int64_t cores;   /* the same; 0 */
  bool brief;      /* only who decides */
  bool all;        /* all candidates, and what is none */
  bool json;
} explain_options;

/* As tool_options_read (tools/shared/shared.h). explain_options_finish is called afterwards in any case. */
int explain_options_parse(int argc, char **argv, explain_options *options);
void explain_options_finish(explain_options *options);

#endif

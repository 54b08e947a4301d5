/* tools/explain/explain.h - `tutti explain`. */
#ifndef TUTTI_TOOLS_EXPLAIN_EXPLAIN_H
#define TUTTI_TOOLS_EXPLAIN_EXPLAIN_H

int tt_tool_explain(int argc, char **argv);

#endif

/* tools/plan/plan.h - `tutti plan`.
 *
 *     options   what the user asked for; graph: the neighbors that go with it
 *     work      composition, topology, lowering and ranks' plans of one request, and what they would cost
 *     report    what is printed of one request: composition, levels, counts
 *     media     and how what is sent goes: cells, slots, lent ...
 *     ranking   what is printed of all presets: a table, the cheapest first
 *     measure   rates of this machine
 *     picture   what is written to files: SVG, DOT
 *     text      short texts */
#ifndef TUTTI_TOOLS_PLAN_H
#define TUTTI_TOOLS_PLAN_H

/* The arguments from the command's own name on. Returns the exit code. */
int tt_tool_plan(int argc, char **argv);

#endif

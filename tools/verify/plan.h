/* tools/verify/plan.h - `tutti verify --plan FILE`. */
#ifndef TUTTI_TOOLS_VERIFY_PLAN_H
#define TUTTI_TOOLS_VERIFY_PLAN_H

/* Proves the plans in the file, "-" for standard input. Returns the exit code: 0 proven, 1 refused, 2 where there is
 * nothing to prove. */
int verify_plan_file(const char *path);

#endif

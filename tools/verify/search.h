/* tools/verify/search.h - `tutti verify --search COLLECTIVE -n N`. */
#ifndef TUTTI_TOOLS_VERIFY_SEARCH_H
#define TUTTI_TOOLS_VERIFY_SEARCH_H

/* The arguments from --search on. Proves all candidates of a task. Returns the exit code: 0 proven, 1 a proof failed,
 * 2 where there is nothing to prove. */
int verify_search(int argc, char **argv);

#endif

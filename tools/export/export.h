/* tools/export/export.h - `tutti tune --export`: the winners of wisdom as rules of other libraries.
 *
 *     table       which lengths have which winner, for each size of communicator
 *     algorithm   the textbook's algorithm that parameters come nearest to
 *     openmpi ... a file for each library: its format, and its counterparts */
#ifndef TUTTI_TOOLS_EXPORT_EXPORT_H
#define TUTTI_TOOLS_EXPORT_EXPORT_H

/* The wisdom that a job would use, to a file; "-": standard output. What has no counterpart is said on stderr. Returns
 * the exit code. */
int export_run(const char *library, const char *path);

#endif

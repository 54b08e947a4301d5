/* tools/tune/options.h - what the user asked for. */
#ifndef TUTTI_TOOLS_TUNE_OPTIONS_H
#define TUTTI_TOOLS_TUNE_OPTIONS_H

#include "compose/compose.h"

enum { TUNE_SIZES = 64, TUNE_RANKS = 64, TUNE_NAMED = 6 };

/* A file that says how calls run: "profile", or "wisdom". */
typedef struct tune_named {
  const char *kind, *file;
} tune_named;

typedef struct tune_options {
  int64_t rank_count; /* of the job that this starts; 0: one a core, at least 2 */
  int64_t ranks[TUNE_RANKS];
  int rank_kinds; /* 0: chosen */
  int64_t size[TUNE_SIZES];
  int size_count;
  tt_collective collective[TT_COLLECTIVE_COUNT];
  int collective_count;
  int64_t budget_ns;
  bool again;         /* measure also what the file has */
  bool fit;           /* the machine's rates, no collectives */
  bool check;         /* with fit: and how well they predict collectives */
  bool learn;         /* from samples, who decides where nothing was measured */
  bool busy;          /* keep also what was measured beside other programs */
  const char *regret; /* file of what --regret measures; NULL: it tunes */
  tune_named named[TUNE_NAMED];
  int named_count;
  const char *mpi;         /* compare with that MPI, openmpi or mpich; NULL: tutti alone */
  const char *launch;      /* further arguments of its launcher; NULL: none */
  const char *library;     /* of --export, whose rules are written; NULL: it tunes */
  const char *export_path; /* to this file */
} tune_options;

/* As tool_options_read (tools/shared/shared.h). */
int tune_options_parse(int argc, char **argv, tune_options *options);

#endif

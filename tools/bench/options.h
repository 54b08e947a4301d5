/* tools/bench/options.h - what the user asked for. */
#ifndef TUTTI_TOOLS_BENCH_OPTIONS_H
#define TUTTI_TOOLS_BENCH_OPTIONS_H

#include "launcher.h"

#include "bench/protocol.h"

#define BENCH_GROUPS 8 /* the library that is measured, and others */
#define BENCH_SIZES 64
#define BENCH_PARAMS 64
#define BENCH_ROUNDS_MAX 1000
#define BENCH_SEARCH "search" /* in the place of parameters */

/* Which rows: all of these with each other. */
typedef struct bench_row_options {
  tt_collective collective[TT_COLLECTIVE_COUNT];
  int collective_count;
  int64_t size[BENCH_SIZES];
  int size_count;
  bool per_pair;                    /* sizes are those of one block */
  const char *params[BENCH_PARAMS]; /* "": the profile's choice */
  int params_count;
  bool params_all; /* rows whose parameters make no plan are no failure */
  bool search;     /* all candidates of the space instead */
  int64_t limit;   /* of so many; 0: all */
} bench_row_options;

/* What a call is, and how calls follow each other. */
typedef struct bench_call_options {
  tutti_type type;
  tutti_op op;
  bench_mode mode;
  bool alloc, sparse;
  bool overlap; /* beside computation */
  bool apart;   /* a barrier before each call */
  bool check;
  double delay; /* of the measured library's calls: a share of their time */
} bench_call_options;

typedef struct bench_library_options {
  const char *measured;              /* its name */
  const char *against[BENCH_GROUPS]; /* lists of names, and variants */
  int against_count;
  bool reproducible;                      /* tutti with these parameters, too */
  const bench_launcher *at[BENCH_GROUPS]; /* [0] is measured, the others are compared with */
  int count;
  bench_variant variant[BENCH_GROUPS]; /* some of the libraries are these */
  int variant_count;
} bench_library_options;

/* Jobs of launchers of the user's. */
typedef struct bench_launch_options {
  const char *command[BENCH_LAUNCHES]; /* command lines, without the program; NULL: not said */
  bool given;                          /* some are */
  int64_t round_count;
  int64_t rate; /* bits a second of a NIC; 0: what the system says */
  bool nics;    /* count what passes them */
} bench_launch_options;

typedef struct bench_rank_options {
  int64_t count;
  bool given;     /* -n was */
  int core_count; /* 0: all */
} bench_rank_options;

typedef struct bench_options {
  bench_row_options rows;
  bench_call_options call;
  bench_library_options library;
  bench_launch_options launch;
  bench_rank_options ranks;
  double seconds;   /* a point */
  bool levels;      /* say where the time goes */
  const char *json; /* path or NULL */
} bench_options;

/* As tool_options_read (tools/shared/shared.h). Libraries are names yet: libraries.h. */
int bench_options_parse(int argc, char **argv, bench_options *options);

#endif

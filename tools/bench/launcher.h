/* tools/bench/launcher.h - the libraries that can be measured, and what starts their ranks: rows of a table. */
#ifndef TUTTI_TOOLS_BENCH_LAUNCHER_H
#define TUTTI_TOOLS_BENCH_LAUNCHER_H

/* Launchers that the user may name: for every library, or for one. */
enum { BENCH_LAUNCH, BENCH_LAUNCH_OPENMPI, BENCH_LAUNCH_MPICH, BENCH_LAUNCHES };

/* What its ranks are. */
typedef struct bench_kind {
  const char *worker;        /* in libexec/tutti; NULL: this executable's bench-worker */
  const char *rank_variable; /* by which a rank knows its number */
  const char *yielding;      /* arguments of its own launcher where ranks share cores */
  const char *yields;        /* the same in the environment, for any launcher. NULL: they yield anyway */
} bench_kind;

typedef struct bench_launcher {
  const char *name;
  const bench_kind *kind;
  const char *program[2]; /* commands to look for; NULL: this executable */
  const char *arguments;  /* before "-n N", separated by blanks */
  int launch;             /* BENCH_LAUNCH_...: which of the user's starts it; BENCH_LAUNCHES: none can */
  const char *params;     /* put behind those of a row of a reduction; others are left out. NULL: any row, nothing */
  const char *more;       /* arguments for the launcher, of a variant; else NULL */
} bench_launcher;

typedef struct bench_variant {
  char name[64]; /* "openmpi:han" */
  bench_launcher launcher;
} bench_variant;

const bench_launcher *bench_launcher_find(const char *name); /* NULL where there is none */

#endif

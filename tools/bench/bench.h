/* tools/bench/bench.h - the parts of `tutti bench`.
 *
 *     options   what the user asked for; libraries: what can be measured, and who starts it
 *     rows      what is measured, one after the other
 *     joined    this process is a rank itself; rounds: jobs of the user's launchers in turn. Neither uses what follows:
 *     group     the ranks of one library: started once, told point by point what to run, asleep in between
 *     runner    what a group or the copy does in a row: calibration, interleaved rounds, statistics
 *     point     one row: calls; overlap: one row of calls beside computation
 *     print     the table; header and summary; flow and levels below a row; json writes the same to a file
 *
 * Errors: functions return 0 or -1; whoever decides an error prints it (bench_fail). */
#ifndef TUTTI_TOOLS_BENCH_H
#define TUTTI_TOOLS_BENCH_H

#include "base/base.h"

#include "bench/layout.h"
#include "bench/map.h"

#include <stdio.h>
#include <sys/types.h>

#define BENCH_GROUPS 8 /* the library that is measured, and others */
#define BENCH_SIZES 64
#define BENCH_PARAMS 64
#define BENCH_ROUNDS_MAX 1000

/* ---- libraries: rows of a table ---- */

/* Launchers that the user may name: for every library, or for one. */
enum { BENCH_LAUNCH, BENCH_LAUNCH_OPENMPI, BENCH_LAUNCH_MPICH, BENCH_LAUNCHES };

typedef struct bench_launcher {
  const char *name;
  const char *program[2]; /* commands to look for; NULL: this executable */
  const char *arguments;  /* before "-n N", separated by blanks */
  const char *yielding;   /* more of them where ranks share cores */
  const char *worker;     /* in libexec/tutti; NULL: this executable's bench-worker */
  const char *rank_variable;
  const char *params; /* put behind those of a row of a reduction; others are left out. NULL: any row, nothing */
  const char *more;   /* arguments for the launcher, of a variant; else NULL */
  const char *yields; /* in the environment of its ranks: they yield where they share cores. NULL: they do anyway */
  int launch;         /* BENCH_LAUNCH_...: which of the user's starts it; BENCH_LAUNCHES: none can */
} bench_launcher;

typedef struct bench_variant {
  char name[64]; /* "openmpi:han" */
  bench_launcher launcher;
} bench_variant;

const bench_launcher *bench_launcher_find(const char *name); /* NULL where there is none */

/* ---- options ---- */

typedef struct bench_options {
  tt_collective collective[TT_COLLECTIVE_COUNT];
  int collective_count;
  tutti_type type;
  tutti_op op;
  int64_t rank_count;
  int64_t size[BENCH_SIZES];
  int size_count;
  const char *params[BENCH_PARAMS]; /* "": the profile's choice */
  int params_count;
  bool params_all;                             /* rows whose parameters make no plan are no failure */
  const bench_launcher *library[BENCH_GROUPS]; /* [0] is measured, the others are compared with */
  int library_count;
  bench_variant variant[BENCH_GROUPS]; /* some of the libraries are these */
  int variant_count;
  const char *launch[BENCH_LAUNCHES]; /* command lines, without the program; NULL: not said */
  bool launched;                      /* some are */
  bool ranks_given;                   /* -n was */
  int64_t round_count;                /* of launches */
  int64_t rate;                       /* bits a second of a NIC; 0: what the system says */
  bool nics;                          /* count what passes them */
  bool levels;                        /* say where the time goes */
  const char *json;                   /* path or NULL */
  double seconds;                     /* a point */
  double delay;                       /* of the measured library's calls: a share of their time */
  bool check, shared_memory, sparse;
  bool per_pair; /* sizes are those of one block */
  bool overlap;
  int core_count; /* 0: all */
  bool apart;     /* a barrier before each call */
  bench_mode mode;
} bench_options;

/* 0: go on; 1: help was printed; -1: an error was printed. */
int bench_options_parse(int argc, char **argv, bench_options *options);

/* Adds "openmpi,mpich", or a variant such as "openmpi:han=--mca coll_han_priority 100". */
int bench_libraries_add(bench_options *options, const char *text);
/* Whether all of them can be started as the options say. */
int bench_libraries_check(const bench_options *options);
/* The user's launcher for it; NULL: he has named none. */
const char *bench_libraries_launch(const bench_options *options, const bench_launcher *launcher);

/* ---- groups ---- */

typedef struct bench_rank {
  int link;  /* socket; -1: not there yet */
  int pidfd; /* of the worker */
} bench_rank;

typedef struct bench_group {
  const bench_launcher *launcher;
  int number;
  int64_t rank_count;
  pid_t pid;                /* of the launcher; 0: gone */
  int output;               /* what launcher and ranks print; memfd */
  int stuck_count;          /* of jobs of the user's launchers: ended by force after their last word */
  char command[1024];       /* as a person would type it */
  char version[BENCH_TEXT]; /* library and version, as rank 0 says */
  char lack[BENCH_TEXT];    /* what it has said last that it has not */
  bench_rank *rank;
} bench_group;

typedef struct bench_job {
  const bench_options *options;
  bool interrupted;      /* by a signal: nothing more is to be started */
  int listener, signals; /* socket the ranks connect to; signalfd of SIGINT, SIGTERM, SIGHUP, SIGCHLD */
  char address[32];
  int core_count;
  int core[1024]; /* numbers of the cores that this process may use; rank r runs on core[r mod core_count] */
  int group_count;
  bench_group group[BENCH_GROUPS];
  double flags_ns;      /* a bare exchange of flags between as many ranks: bench/flags.h; 0: not known */
  const bench_map *map; /* of ranks that a launcher of the user's has started; NULL: they are this program's, here */
} bench_job;

/* Starts every library and waits until all ranks are ready. bench_job_close is always called afterwards. */
int bench_job_open(const bench_options *options, bench_job *job);
/* Ends everything: politely after success, by force otherwise. */
void bench_job_close(bench_job *job, bool success);
/* Tells ranks 0..rank_count-1 of the group and waits for their answers. -1: the job is over, the reason has been
 * printed. */
int bench_group_ask(bench_job *job, bench_group *group, const bench_command *command, int64_t rank_count,
                    bench_answer *answer);

/* ---- points ---- */

typedef struct bench_stats {
  bool present;             /* else the library has no such type or operator: not compared */
  bench_ran ran;            /* empty: it is not known */
  double median_ns, p99_ns; /* of a call */
  double ratio;             /* its time / the measured library's over rounds: median, or the middle of the interval */
  double ratio_low, ratio_high; /* 95 % interval of pairs of launches; 0: none */
  int64_t pair_count;
  double *round_ns;     /* of each pair; NULL: none */
  bench_flow *flow;     /* of each host; NULL: not counted */
  bench_levels *levels; /* NULL: not asked, or not known */
  int64_t calls;        /* in a batch */
  int64_t batch_count;
} bench_stats;

/* A call beside computation: without and with tests in between. */
typedef struct bench_overlapped {
  double both_ns;
  double hidden; /* (call + computation - both) / the shorter of them: median over rounds */
} bench_overlapped;

typedef struct bench_overlap_stats {
  bool present;
  double call_ns, compute_ns;
  bench_overlapped tests[2]; /* none; one after each piece */
} bench_overlap_stats;

typedef struct bench_row {
  tt_collective collective;
  const char *params;
  int64_t bytes;
  int result; /* bench_result of the measured library or of the peer that failed */
  char text[BENCH_TEXT];
  int64_t round_count;
  double copy_ns;     /* the copy bound; 0 where nothing moves */
  double bound_ns;    /* the link bound; 0: nothing crosses, or a rate is unknown */
  double bound_bytes; /* what has to leave or enter the busiest machine */
  bench_stats stats[BENCH_GROUPS];
  bench_overlap_stats overlap[BENCH_GROUPS];
} bench_row;

typedef struct bench_rows {
  bench_row *row;
  int count;
  bool failed;
} bench_rows;

/* Whether this process is a rank of a job that a launcher has started. `rank`: which one, as far as it has said. */
bool bench_joined(int64_t *rank);
/* Measures as one of them; only rank 0 prints. The exit code's: 0 or -1. */
int bench_joined_run(bench_options *options, bench_rows *rows);
/* Starts every library's job again and again by the user's launchers. */
int bench_rounds_run(bench_options *options, bench_rows *rows, FILE *json);
int bench_rows_alloc(const bench_options *options, bench_rows *rows);
void bench_rows_free(bench_rows *rows);
/* Where the job has a map. */
void bench_row_set_bound(const bench_job *job, bench_row *row);
/* Every row that the options ask for, in order: `visit` gets it with collective, parameters and bytes. Its result: 0;
 * 1: and so for every other size; -1: the job is over. */
typedef int (*bench_visit)(bench_job *job, bench_rows *rows, bench_row *row);
int bench_rows_visit(bench_job *job, bench_rows *rows, bench_visit visit);
/* Prints the row and notes whether it is a failure. Returns as a visit. */
int bench_rows_done(bench_job *job, bench_rows *rows, bench_row *row);
/* The problem of a size in bytes. */
bench_problem bench_point_problem(const bench_options *options, tt_collective collective, int64_t bytes);

/* Measures one row. -1: the job is over. */
int bench_point_run(bench_job *job, bench_row *row);
int bench_overlap_run(bench_job *job, bench_row *row);
/* Blocks that the stated size is cut into (bench/layout.h), and whether they are equally long. */
int64_t bench_block_number(const bench_options *options, tt_collective collective, bool *even);

/* ---- output ---- */

void bench_print_header(const bench_job *job); /* legend and names of columns */
void bench_print_row(const bench_job *job, const bench_row *row);
void bench_print_summary(const bench_job *job, const bench_row *row, int row_count);
/* A comment line: what is not compared. */
void bench_print_note(const char *format, ...) TT_PRINTF(1, 2);
void bench_print_ratio(double ratio); /* coloured: green where the other library takes longer */
int bench_name_width(const bench_options *options);
int bench_params_width(const bench_options *options); /* 0: no column */
#define BENCH_BY 14                                   /* width of the media */
bool bench_has_media(const bench_job *job);           /* whether there is a column of them */
int bench_column_width(const bench_group *group);
#define BENCH_INTERVAL 15                   /* width of a 95 % interval */
bool bench_has_bound(const bench_job *job); /* whether there are columns of the link bound */
void bench_print_flow(const bench_job *job, const bench_row *row);
void bench_print_levels(const bench_job *job, const bench_row *row);
/* Of the last job, where there are several. */
void bench_stats_set_levels(bench_stats *stats, const bench_levels *levels);
int bench_json_write(const bench_job *job, const bench_row *row, int row_count, FILE *file);

/* One line on stderr, replaced by the next where that is a terminal. */
void bench_progress(const char *format, ...) TT_PRINTF(1, 2);
void bench_progress_clear(void);
void bench_be_quiet(void); /* this process is a rank whose errors others say, too */
bool bench_is_quiet(void);
int bench_fail(const char *format, ...) TT_PRINTF(1, 2); /* prints a red line to stderr, returns -1 */

/* Bandwidths in GB/s by nccl-tests' definitions. */
double bench_algorithm_bandwidth(const bench_row *row);
double bench_bus_bandwidth(const bench_row *row, int64_t rank_count);

#endif

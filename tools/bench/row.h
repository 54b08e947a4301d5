/* tools/bench/row.h - what is measured, and what came out. */
#ifndef TUTTI_TOOLS_BENCH_ROW_H
#define TUTTI_TOOLS_BENCH_ROW_H

#include "options.h"

#include "bench/levels.h"
#include "bench/place.h"

/* What a NIC has sent and received: bytes a call. */
typedef struct bench_nic_flow {
  char name[BENCH_NAME];
  double sent, received;
} bench_nic_flow;

/* By name, since each library may use others. */
typedef struct bench_host_flow {
  int nic_count;
  bench_nic_flow nic[BENCH_NICS];
} bench_host_flow;

typedef struct bench_stats {
  bool present;             /* else the library has no such type or operator: not compared */
  bench_ran ran;            /* empty: it is not known */
  double median_ns, p99_ns; /* of a call */
  double ratio;             /* its time / the measured library's over rounds: median, or the middle of the interval */
  double ratio_low, ratio_high; /* 95 % interval of pairs of launches; 0: none */
  int64_t pair_count;
  double *round_ns;      /* of each pair; NULL: none */
  bench_host_flow *flow; /* of each host; NULL: not counted */
  bench_levels *levels;  /* NULL: not asked, or not known */
  int64_t calls;         /* in a batch */
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

#endif

/* exec/testing.h - for the tests of this folder: a job of n ranks that run hand-made plans on the loop transport.
 *
 * Elements are small whole numbers, exact in every type, so that a result has one right value. */
#ifndef TT_EXEC_TESTING_H
#define TT_EXEC_TESTING_H

#include "bind/bind.h"
#include "exec/exec.h"
#include "transport/loop/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST_RANKS 64
#define TEST_THRESHOLDS                                                                                                \
  {.lend = 64, .keep = 200, .fetch = 320, .combine = 192, .nontemporal = 4096} /* small data reaches all */
#define TEST_TYPES (TUTTI_BFLOAT16 + 1) /* those of numbers that test_put knows */
#define TEST_OPS (TUTTI_AVERAGE + 1)

typedef struct test_job {
  int64_t rank_count;
  tt_loop *loop;
  void *transport[TEST_RANKS];
  tt_stream_table *streams[TEST_RANKS];
  tt_plan *plan[TEST_RANKS];
  tt_bound_plan *bound[TEST_RANKS][TT_CLASS_COUNT]; /* made when first asked for */
  const int64_t *machine;                           /* of each rank; NULL: all are on one */
  tt_executor *instance[TEST_RANKS];
  int64_t job_rank[TEST_RANKS];
} test_job;

static inline void test_ok(tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s: %s", tutti_status_name(status), tutti_last_error());
}

/* ---- plans as text ---- */

typedef struct test_text {
  char data[1 << 16];
  size_t used;
} test_text;

static inline void test_add(test_text *text, const char *format, ...) TT_PRINTF(2, 3);
static inline void test_add(test_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text->used += (size_t)vsnprintf(text->data + text->used, sizeof text->data - text->used, format, arguments);
  va_end(arguments);
  assert_true(text->used < sizeof text->data);
}

/* ---- elements ---- */

/* binary16 of a normal number, and back: the exponent's bias is 112 less. */
static inline uint16_t test_half(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits >> 13) - (112u << 10));
}

static inline double test_unhalf(uint16_t half) {
  uint32_t bits = ((uint32_t)half + (112u << 10)) << 13;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static inline void test_put(tutti_type type, void *data, int64_t index, double value) {
  float narrow = (float)value;
  switch (type) {
  case TUTTI_FLOAT32:
    ((float *)data)[index] = narrow;
    break;
  case TUTTI_FLOAT64:
    ((double *)data)[index] = value;
    break;
  case TUTTI_INT32:
    ((int32_t *)data)[index] = (int32_t)value;
    break;
  case TUTTI_INT64:
    ((int64_t *)data)[index] = (int64_t)value;
    break;
  case TUTTI_FLOAT16:
    ((uint16_t *)data)[index] = test_half(narrow);
    break;
  default:
    memcpy((char *)data + 2 * index, (char *)&narrow + 2, 2);
  }
}

static inline double test_get(tutti_type type, const void *data, int64_t index) {
  float narrow = 0;
  switch (type) {
  case TUTTI_FLOAT32:
    return (double)((const float *)data)[index];
  case TUTTI_FLOAT64:
    return ((const double *)data)[index];
  case TUTTI_INT32:
    return ((const int32_t *)data)[index];
  case TUTTI_INT64:
    return (double)((const int64_t *)data)[index];
  case TUTTI_FLOAT16:
    return test_unhalf(((const uint16_t *)data)[index]);
  default:
    memcpy((char *)&narrow + 2, (const char *)data + 2 * index, 2);
    return (double)narrow;
  }
}

/* Element `index` of rank's input: 1 or 2, times `scale` so that averages are whole. */
static inline double test_value(int64_t rank, int64_t index, int64_t scale) {
  return (double)(scale * (1 + (rank * 5 + index * 3 + index / 7) % 2));
}

/* What all ranks' elements of that index combine to. */
static inline double test_combined(tutti_op op, int64_t rank_count, int64_t index, int64_t scale) {
  double all = test_value(0, index, scale);
  for (int64_t rank = 1; rank < rank_count; rank++) {
    double value = test_value(rank, index, scale);
    if (op == TUTTI_PRODUCT)
      all *= value;
    else if (op == TUTTI_MIN)
      all = value < all ? value : all;
    else if (op == TUTTI_MAX)
      all = value > all ? value : all;
    else
      all += value;
  }
  return op == TUTTI_AVERAGE ? all / (double)rank_count : all;
}

static inline int64_t test_scale(tutti_op op, int64_t rank_count) { return op == TUTTI_AVERAGE ? rank_count : 1; }

/* ---- elements of the user's, of any size, and an operator on them that does not commute ----
 *
 * Two bytes a, b are the map x -> a x + b modulo 256, and the operator composes maps; a last byte alone is added. */

typedef struct test_maps {
  int64_t bytes;           /* of an element */
  _Atomic bool misaligned; /* the operator saw an address that is not aligned as elements are */
} test_maps;

static inline unsigned char test_map_byte(int64_t rank, int64_t index, int64_t byte) {
  uint64_t mixed = ((uint64_t)rank * 1000003 + (uint64_t)index * 31 + (uint64_t)byte + 1) * 0x9E3779B97F4A7C15u;
  return (unsigned char)(mixed >> 40 | (byte % 2 == 0)); /* odd: maps keep all that they see */
}

static inline void test_put_map(const test_maps *of, void *data, int64_t rank, int64_t index) {
  for (int64_t byte = 0; byte < of->bytes; byte++)
    ((unsigned char *)data)[byte] = test_map_byte(rank, index, byte);
}

static inline void test_compose_one(const unsigned char *left, const unsigned char *right, unsigned char *out,
                                    int64_t bytes) {
  for (int64_t n = 0; n + 1 < bytes; n += 2) {
    unsigned char a = (unsigned char)(left[n] * right[n]), b = (unsigned char)(left[n] * right[n + 1] + left[n + 1]);
    out[n] = a;
    out[n + 1] = b;
  }
  if (bytes % 2)
    out[bytes - 1] = (unsigned char)(left[bytes - 1] + right[bytes - 1]);
}

static inline void test_compose(const void *left, const void *right, void *out, int64_t count, void *user) {
  test_maps *of = user;
  uintptr_t align = (uintptr_t)(of->bytes & -of->bytes);
  align = align > 64 ? 64 : align;
  if (((uintptr_t)left | (uintptr_t)right | (uintptr_t)out) % align)
    of->misaligned = true;
  for (int64_t n = 0; n < count; n++)
    test_compose_one((const unsigned char *)left + n * of->bytes, (const unsigned char *)right + n * of->bytes,
                     (unsigned char *)out + n * of->bytes, of->bytes);
}

/* ---- a job ---- */

static inline void test_job_open(test_job *job, const tt_loop_options *options, size_t slot_bytes) {
  memset(job, 0, sizeof *job);
  job->rank_count = options->rank_count;
  test_ok(tt_loop_create(options, &job->loop));
  for (int64_t rank = 0; rank < job->rank_count; rank++) {
    tt_loop_config config = {job->loop, rank};
    test_ok(tt_loop_ops()->open(&config, NULL, &job->transport[rank]));
    job->job_rank[rank] = rank;
  }
  for (int64_t rank = 0; rank < job->rank_count; rank++) {
    tt_stream_table_spec spec = {.ops = tt_loop_ops(),
                                 .transport = job->transport[rank],
                                 .job_rank = job->job_rank,
                                 .rank = rank,
                                 .ids = TT_STREAM_TABLE_IDS,
                                 .rank_count = job->rank_count,
                                 .stream_base = 1000,
                                 .thresholds = TEST_THRESHOLDS,
                                 .slot_bytes_minimum = slot_bytes};
    test_ok(tt_stream_table_create(&spec, &job->streams[rank]));
  }
}

/* A plan bound with all that loop can do. machine: of each rank; NULL: all are on one. */
static inline tt_bound_plan *test_bind_on(const tt_plan *plan, tt_class blocks, const int64_t *machine) {
  tt_bind_facts facts = {
      .blocks = blocks, .able = TT_MEDIA_LENT, .wide = blocks == TT_CLASS_STREAMS, .machine = machine};
  tt_bound_plan *bound = NULL;
  test_ok(tt_bind(plan, &facts, &bound));
  return bound;
}

static inline tt_bound_plan *test_bind(const tt_plan *plan, tt_class blocks) {
  return test_bind_on(plan, blocks, NULL);
}

static inline const tt_bound_plan *test_job_bound(test_job *job, int64_t rank, tt_class blocks) {
  tt_bound_plan **bound = &job->bound[rank][blocks];
  if (!*bound)
    *bound = test_bind_on(job->plan[rank], blocks, job->machine);
  return *bound;
}

static inline void test_job_instance(test_job *job, int64_t rank) {
  test_ok(tt_executor_create(test_job_bound(job, rank, TT_CLASS_STREAMS), job->streams[rank], &job->instance[rank]));
}

static inline void test_job_direct(test_job *job, int64_t rank, tt_class blocks, tt_executor **direct) {
  test_ok(tt_executor_create(test_job_bound(job, rank, blocks), job->streams[rank], direct));
}

static inline void test_job_forget_plan(test_job *job, int64_t rank) {
  tt_executor_destroy(job->instance[rank]);
  for (int n = 0; n < TT_CLASS_COUNT; n++) {
    tt_bound_plan_destroy(job->bound[rank][n]);
    job->bound[rank][n] = NULL;
  }
  tt_plan_destroy(job->plan[rank]);
}

/* Gives the rank a plan in text form, in place of the one it had. */
static inline void test_job_plan(test_job *job, int64_t rank, const char *text) {
  test_job_forget_plan(job, rank);
  test_ok(tt_plan_parse(text, &job->plan[rank]));
  test_job_instance(job, rank);
}

static inline void test_job_close(test_job *job) {
  for (int64_t rank = 0; rank < job->rank_count; rank++) {
    test_job_forget_plan(job, rank);
    tt_stream_table_destroy(job->streams[rank]);
    tt_loop_ops()->close(job->transport[rank]);
  }
  tt_loop_destroy(job->loop);
}

#endif

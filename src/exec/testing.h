/* exec/testing.h - for the tests of this folder: a job of n ranks that run hand-made plans on the loop transport.
 *
 * Elements are small whole numbers, exact in every type, so that a result has one right value. */
#ifndef TT_EXEC_TESTING_H
#define TT_EXEC_TESTING_H

#include "exec/exec.h"
#include "transport/loop/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST_RANKS 64

typedef struct test_job {
  int64_t rank_count;
  tt_loop *loop;
  void *transport[TEST_RANKS];
  tt_link *link[TEST_RANKS];
  tt_plan *plan[TEST_RANKS];
  tt_instance *instance[TEST_RANKS];
  int64_t job_rank[TEST_RANKS];
} test_job;

static inline void test_ok(tutti_status status) {
  if (status)
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
    tt_link_spec spec = {.ops = tt_loop_ops(),
                         .transport = job->transport[rank],
                         .job_rank = job->job_rank,
                         .rank = rank,
                         .rank_count = job->rank_count,
                         .stream_base = 1000,
                         .slot_bytes_minimum = slot_bytes};
    test_ok(tt_link_create(&spec, &job->link[rank]));
  }
}

/* Gives the rank a plan in text form, in place of the one it had. */
static inline void test_job_plan(test_job *job, int64_t rank, const char *text) {
  tt_instance_destroy(job->instance[rank]);
  tt_plan_destroy(job->plan[rank]);
  test_ok(tt_plan_parse(text, &job->plan[rank]));
  test_ok(tt_instance_create(job->plan[rank], job->link[rank], &job->instance[rank]));
}

static inline void test_job_close(test_job *job) {
  for (int64_t rank = 0; rank < job->rank_count; rank++) {
    tt_instance_destroy(job->instance[rank]);
    tt_plan_destroy(job->plan[rank]);
    tt_link_destroy(job->link[rank]);
    tt_loop_ops()->close(job->transport[rank]);
  }
  tt_loop_destroy(job->loop);
}

#endif

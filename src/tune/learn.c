/* tune/learn.c - what lessons say of a call, and of all calls of a shape: rows for lengths from one to another. The
 * ranks that get these rows compute nothing. */
#include "tune/lessons.h"
#include "tune/wisdom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 4 /* buckets beyond the trained lengths, as wisdom holds beyond the measured ones */

const char *const tt_teacher_name[TT_TEACHER_COUNT] = {"rules", "classifier", "nearest", "model"};

/* ---- where a call lies ---- */

static void features_of(const tt_region *of, double at[static TT_FEATURES]) {
  at[0] = log2(of->bytes > 1 ? (double)of->bytes : 1);
  at[1] = log2((double)of->rank_count);
  at[2] = log2((double)of->node_count);
  at[3] = log2((double)of->ranks_per_node);
  at[4] = of->node_count > 1 ? (double)of->nic_count : 0; /* else none is used */
}

typedef struct frame { /* what a lesson was trained with lies in */
  double least[TT_FEATURES], most[TT_FEATURES];
} frame;

static frame frame_of(const tt_lesson *of) {
  frame made;
  features_of(&of->least, made.least);
  features_of(&of->most, made.most);
  return made;
}

static void place(const frame *in, const tt_region *region, double at[static TT_FEATURES]) {
  features_of(region, at);
  for (int k = 0; k < TT_FEATURES; k++)
    at[k] = in->most[k] > in->least[k] ? 2 * (at[k] - in->least[k]) / (in->most[k] - in->least[k]) - 1 : 0;
}

void tt_lesson_place(const tt_lesson *of, const tt_region *region, double at[static TT_FEATURES]) {
  frame in = frame_of(of);
  place(&in, region, at);
}

void tt_lesson_place_points(tt_lesson *of) {
  frame in = frame_of(of);
  for (int64_t n = 0; n < of->point_count; n++)
    place(&in, &of->point[n].region, of->point[n].at);
}

static bool is_between(int64_t value, int64_t least, int64_t most) { return value >= least && value <= most; }

static bool has_length(const tt_lesson *of, int64_t bytes) {
  return is_between(tt_dispatch_bucket(bytes), tt_dispatch_bucket(of->least.bytes) - NEAR,
                    tt_dispatch_bucket(of->most.bytes) + NEAR);
}

static bool has_shape(const tt_lesson *of, const tt_region *region) {
  return is_between(region->rank_count, of->least.rank_count, of->most.rank_count) &&
         is_between(region->node_count, of->least.node_count, of->most.node_count) &&
         is_between(region->ranks_per_node, of->least.ranks_per_node, of->most.ranks_per_node) &&
         (region->node_count == 1 || is_between(region->nic_count, of->least.nic_count, of->most.nic_count));
}

/* ---- what each says ---- */

static double square_distance(const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < TT_FEATURES; k++)
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

static const char *ask_nearest(const tt_lesson *of, const double at[static TT_FEATURES]) {
  double nearest = INFINITY;
  const char *text = NULL;
  for (int64_t n = 0; n < of->point_count; n++) {
    double distance = square_distance(at, of->point[n].at);
    if (!of->point[n].simulated && distance < nearest) {
      nearest = distance;
      text = of->point[n].text;
    }
  }
  return text;
}

static bool is_of_shape(const tt_region *point, const tt_region *region) {
  return point->rank_count == region->rank_count && point->node_count == region->node_count &&
         point->ranks_per_node == region->ranks_per_node &&
         (region->node_count == 1 || point->nic_count == region->nic_count);
}

/* A simulation holds for its shape, and for lengths near it. */
static const char *ask_model(const tt_lesson *of, const tt_region *region) {
  int nearest = NEAR + 1, bucket = tt_dispatch_bucket(region->bytes);
  const char *text = NULL;
  for (int64_t n = 0; n < of->point_count; n++) {
    const tt_point *point = &of->point[n];
    if (!point->simulated || !is_of_shape(&point->region, region))
      continue;
    int apart = abs(tt_dispatch_bucket(point->region.bytes) - bucket);
    text = apart < nearest ? point->text : text;
    nearest = apart < nearest ? apart : nearest;
  }
  return text;
}

static const char *ask_classifier(const tt_lesson *of, const double at[static TT_FEATURES]) {
  return of->classifier.class_count > 0 ? of->class[tt_classify(&of->classifier, at)] : NULL;
}

/* Whether it says anything of calls of that shape. */
static bool knows(const tt_lesson *of, tt_teacher who, const tt_region *shape) {
  if (who != TT_TEACHER_MODEL)
    return who == TT_TEACHER_RULES || has_shape(of, shape);
  for (int64_t n = 0; n < of->point_count; n++)
    if (of->point[n].simulated && is_of_shape(&of->point[n].region, shape))
      return true;
  return false;
}

/* Of a shape that it knows. */
static const char *ask(const tt_lesson *of, tt_teacher who, const frame *in, const tt_region *region) {
  double at[TT_FEATURES];
  if (who == TT_TEACHER_RULES)
    return "";
  if (who == TT_TEACHER_MODEL)
    return ask_model(of, region);
  if (!has_length(of, region->bytes))
    return NULL;
  place(in, region, at);
  return who == TT_TEACHER_NEAREST ? ask_nearest(of, at) : ask_classifier(of, at);
}

const char *tt_lesson_ask(const tt_lesson *of, tt_teacher who, const tt_region *region) {
  frame in = frame_of(of);
  return knows(of, who, region) ? ask(of, who, &in, region) : NULL;
}

/* ---- what a job needs ---- */

static void prune(tt_lesson *of) {
  int64_t kept = 0;
  memset(of->score, 0, sizeof of->score);
  if (of->by != TT_TEACHER_CLASSIFIER)
    of->classifier = (tt_classifier){.class_count = 0};
  for (int64_t n = 0; n < of->point_count; n++)
    if (of->by == (of->point[n].simulated ? TT_TEACHER_MODEL : TT_TEACHER_NEAREST))
      of->point[kept++] = of->point[n];
  of->point_count = kept;
}

void tt_lessons_prune(tt_lessons *lessons) {
  for (int64_t n = 0; n < lessons->count; n++)
    prune(&lessons->lesson[n]);
}

/* ---- all lengths of a shape ---- */

#define POWERS (TT_BUCKETS / 2 - 2) /* longer ones are no lengths */

/* Rows of what it says of one power of two after another; both buckets of it go together. */
static tutti_status infer(const tt_lesson *of, const tt_region *shape, tt_wisdom *wisdom) {
  tt_inferred row = {
      .region = *shape, .by = of->by == TT_TEACHER_MODEL ? TT_BY_MODEL : TT_BY_LEARNED, .text = "", .line = of->line};
  tutti_status status = TUTTI_OK;
  frame in = frame_of(of);
  row.region.collective = of->collective;
  for (int power = 0; power <= POWERS && status == TUTTI_OK; power++) {
    tt_region call = row.region;
    call.bytes = tt_dispatch_bytes(2 * power);
    const char *said = power < POWERS ? ask(of, of->by, &in, &call) : NULL, *text = said ? said : "";
    if (strcmp(text, row.text) != 0) {
      status = *row.text ? tt_wisdom_append_inferred(wisdom, &row) : TUTTI_OK;
      row.text = text;
      row.region.bytes = call.bytes;
    }
    row.bytes_last = tt_dispatch_bytes(2 * power + 1);
  }
  return status;
}

tutti_status tt_lessons_infer(const tt_lessons *lessons, const tt_region *shape, tt_wisdom *wisdom) {
  tutti_status status = TUTTI_OK;
  if (!*wisdom->lessons)
    wisdom->lessons = tt_arena_format(&wisdom->arena, "%s", lessons->path);
  if (!wisdom->lessons)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for lessons");
  for (int64_t n = 0; n < lessons->count && status == TUTTI_OK; n++) {
    const tt_lesson *of = &lessons->lesson[n];
    if (of->by != TT_TEACHER_RULES && knows(of, of->by, shape))
      status = infer(of, shape, wisdom);
  }
  return status;
}

/* tune/lessons.c - lessons as a file, beside the wisdom:
 *
 *   {"tutti-learned": 2, "machine": "0123456789abcdef", "about": "...", "collectives": [
 *     {"collective": "allreduce", "by": "classifier",
 *      "scores": {"rules": {"cells": 18, "right": 0.4, "regret": 1.2, "worst": 2.1}, "classifier": {...}, ...},
 *      "from": {"bytes": 64, "ranks": 2, "nodes": 1, "ranks_per_node": 2, "nics": 1}, "to": {...},
 *      "classes": ["", "ring"], "gamma": 0.5, "vectors_of": [3, 4], "rho": [0.1],
 *      "vectors": [
 *       [-1, 0.5, 0, 0.5, 0, 1.5], ...],
 *      "points": [
 *       "measured 2 1 2 1 64: ring", ...]}]}
 *
 * A vector is its place and its weight against each other class. A point is measured, or of the model; then come ranks,
 * nodes, ranks of a node, NICs, bytes and the parameters. It is one text because a job reads some hundred of them when
 * it starts. A class or point without parameters is left to the rules. A file may come from anybody: every member is
 * checked; that parameters make a right plan is the compiler's business. */
#include "tune/lessons.h"
#include "tune/file.h"
#include "tune/wisdom.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 2
#define RANKS_MOST INT32_MAX
#define TEXT_MOST 511
#define NUMBER_MOST 1e12 /* of what is computed with, such as a time in ns over another */

/* ---- life ---- */

static tutti_status no_memory(void) { return tt_fail(TUTTI_ERR_MEMORY, "no memory for lessons"); }

tutti_status tt_lessons_create(const char *machine, const char *about, tt_lessons **lessons) {
  if (strlen(machine) != TT_MACHINE_TEXT - 1 || strspn(machine, "0123456789abcdef") != TT_MACHINE_TEXT - 1)
    return tt_fail(TUTTI_ERR_ARGUMENT, "\"machine\": '%.40s' is not a fingerprint of 16 digits 0-9, a-f", machine);
  tt_lessons *made = calloc(1, sizeof *made);
  if (!made)
    return no_memory();
  tt_arena_init(&made->arena);
  memcpy(made->machine, machine, sizeof made->machine);
  made->about = tt_arena_format(&made->arena, "%s", about);
  made->path = "";
  if (!made->about) {
    tt_lessons_destroy(made);
    return no_memory();
  }
  *lessons = made;
  return TUTTI_OK;
}

void tt_lessons_destroy(tt_lessons *lessons) {
  if (!lessons)
    return;
  tt_arena_finish(&lessons->arena);
  free(lessons);
}

const char *tt_lessons_machine(const tt_lessons *lessons) { return lessons->machine; }

/* ---- what is wrong ---- */

typedef struct place { /* in the file, for errors */
  int64_t lesson;      /* from 1 */
  const char *list;    /* of the lesson: "vectors"; NULL: in none */
  int64_t row;         /* of the list, from 1 */
} place;

static tutti_status bad(const place *at, const char *member, const char *why) {
  if (at->list)
    return tt_fail(TUTTI_ERR_ARGUMENT, "collective %" PRId64 ", \"%s\" %" PRId64 "%s%s: %s", at->lesson, at->list,
                   at->row, *member ? ", " : "", member, why);
  return tt_fail(TUTTI_ERR_ARGUMENT, "collective %" PRId64 ", \"%s\": %s", at->lesson, member, why);
}

static tutti_status bad_whole(const place *at, const char *member, int64_t least, int64_t most) {
  char why[96];
  snprintf(why, sizeof why, "is not a whole number from %" PRId64 " to %" PRId64, least, most);
  return bad(at, member, why);
}

static tutti_status read_whole(const place *at, const json_t *from, const char *member, int64_t least, int64_t most,
                               int64_t *value) {
  const json_t *found = json_object_get(from, member);
  if (!json_is_integer(found) || json_integer_value(found) < least || json_integer_value(found) > most)
    return bad_whole(at, member, least, most);
  *value = json_integer_value(found);
  return TUTTI_OK;
}

static tutti_status take_real(const place *at, const json_t *found, const char *member, double least, double *value) {
  *value = json_number_value(found);
  if (json_is_number(found) && *value >= least && *value <= NUMBER_MOST)
    return TUTTI_OK;
  char why[96];
  snprintf(why, sizeof why, "is not a number from %.0f to %.0f", least, NUMBER_MOST);
  return bad(at, member, why);
}

/* Parameters, or "". */
static tutti_status take_params(const place *at, const char *value, const char *member, tt_arena *arena,
                                const char **text) {
  tt_params params;
  if (!value || strlen(value) > TEXT_MOST)
    return bad(at, member, "is not a text of parameters");
  if (*value && tt_params_parse(value, &params) != TUTTI_OK) {
    char why[256];
    snprintf(why, sizeof why, "%s", tutti_last_error());
    return bad(at, member, why);
  }
  *text = tt_arena_format(arena, "%s", value);
  return *text ? TUTTI_OK : no_memory();
}

/* ---- members ---- */

static tutti_status read_region(const place *at, const json_t *from, tt_region *region) {
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < TT_REGION_MEMBERS && status == TUTTI_OK; n++) {
    const tt_region_member *is = &tt_region_members[n];
    status = read_whole(at, from, is->name, is->least, is->most, tt_region_value(region, is));
  }
  return status;
}

static tutti_status read_scores(const place *at, const json_t *from, tt_lesson *lesson) {
  tutti_status status = TUTTI_OK;
  for (int t = 0; t < TT_TEACHER_COUNT && status == TUTTI_OK; t++) {
    const json_t *one = json_object_get(from, tt_teacher_name[t]);
    tt_score *score = &lesson->score[t];
    if (!one)
      continue;
    status = read_whole(at, one, "cells", 1, RANKS_MOST, &score->cells);
    if (status == TUTTI_OK)
      status = take_real(at, json_object_get(one, "right"), "right", 0, &score->right);
    if (status == TUTTI_OK)
      status = take_real(at, json_object_get(one, "regret"), "regret", 0, &score->regret);
    if (status == TUTTI_OK)
      status = take_real(at, json_object_get(one, "worst"), "worst", 0, &score->worst);
  }
  return status;
}

/* ---- the classifier ---- */

static tutti_status read_classes(const place *at, const json_t *from, tt_arena *arena, tt_lesson *lesson) {
  const json_t *classes = json_object_get(from, "classes"), *counts = json_object_get(from, "vectors_of");
  tt_classifier *of = &lesson->classifier;
  size_t count = json_array_size(classes);
  if (count > TT_CLASSES)
    return bad(at, "classes", "has too many");
  if (json_array_size(counts) != count)
    return bad(at, "vectors_of", "is not a number for each class");
  tutti_status status = TUTTI_OK;
  for (size_t c = 0; c < count && status == TUTTI_OK; c++) {
    const json_t *vectors = json_array_get(counts, c);
    status = take_params(at, json_string_value(json_array_get(classes, c)), "classes", arena, &lesson->class[c]);
    of->vectors_of[c] = json_integer_value(vectors);
    if (status == TUTTI_OK && (!json_is_integer(vectors) || of->vectors_of[c] < 0))
      status = bad(at, "vectors_of", "has something that is no number of vectors");
    if (status == TUTTI_OK && of->vectors_of[c] > TT_VECTORS_MOST - of->vector_count)
      status = bad(at, "vectors_of", "has too many");
    of->vector_count += status == TUTTI_OK ? of->vectors_of[c] : 0;
  }
  of->class_count = (int64_t)count;
  return status;
}

static tutti_status read_vector(const place *at, const json_t *row, tt_classifier *of, int64_t n) {
  int64_t weights = of->class_count - 1;
  if ((int64_t)json_array_size(row) != TT_FEATURES + weights)
    return bad(at, "", "is not a list of 5 numbers and a weight against each other class");
  tutti_status status = TUTTI_OK;
  for (int64_t k = 0; k < TT_FEATURES + weights && status == TUTTI_OK; k++)
    status = take_real(at, json_array_get(row, (size_t)k), "", -NUMBER_MOST,
                       k < TT_FEATURES ? &of->vector[n * TT_FEATURES + k] : &of->weight[n * weights + k - TT_FEATURES]);
  return status;
}

static tutti_status read_vectors(place at, const json_t *from, tt_arena *arena, tt_classifier *of) {
  const json_t *rho = json_object_get(from, "rho"), *vectors = json_object_get(from, "vectors");
  int64_t pairs = of->class_count * (of->class_count - 1) / 2;
  if ((int64_t)json_array_size(rho) != pairs)
    return bad(&at, "rho", "is not a number for each pair of classes");
  if ((int64_t)json_array_size(vectors) != of->vector_count)
    return bad(&at, "vectors", "has not as many as \"vectors_of\" says");
  tutti_status status = take_real(&at, json_object_get(from, "gamma"), "gamma", 0, &of->gamma);
  for (int64_t n = 0; n < pairs && status == TUTTI_OK; n++)
    status = take_real(&at, json_array_get(rho, (size_t)n), "rho", -NUMBER_MOST, &of->rho[n]);
  of->vector = tt_arena_alloc(arena, (size_t)of->vector_count + 1, TT_FEATURES * sizeof *of->vector);
  of->weight = tt_arena_alloc(arena, (size_t)of->vector_count + 1, TT_CLASSES * sizeof *of->weight);
  if (!of->vector || !of->weight)
    return no_memory();
  at.list = "vectors";
  for (at.row = 1; at.row <= of->vector_count && status == TUTTI_OK; at.row++)
    status = read_vector(&at, json_array_get(vectors, (size_t)at.row - 1), of, at.row - 1);
  return status;
}

/* ---- points ---- */

/* The text goes on behind the word. */
static bool skip_word(const char **text, const char *word) {
  size_t length = strlen(word);
  bool found = strncmp(*text, word, length) == 0;
  *text += found ? length : 0;
  return found;
}

/* " 64" */
static tutti_status take_whole(const place *at, const char **text, const tt_region_member *is, tt_region *region) {
  int64_t *value = tt_region_value(region, is);
  bool good = skip_word(text, " ") && **text >= '0' && **text <= '9';
  for (*value = 0; good && **text >= '0' && **text <= '9'; ++*text)
    good = !__builtin_mul_overflow(*value, 10, value) && !__builtin_add_overflow(*value, **text - '0', value);
  return good && *value >= is->least && *value <= is->most ? TUTTI_OK : bad_whole(at, is->name, is->least, is->most);
}

static tutti_status read_point(const place *at, const json_t *row, tt_arena *arena, tt_lesson *lesson) {
  tt_point *point = &lesson->point[lesson->point_count];
  const char *text = json_string_value(row);
  if (!text || !((point->simulated = skip_word(&text, "model")) || skip_word(&text, "measured")))
    return bad(at, "", "is no text that begins with measured or model");
  point->region.collective = lesson->collective;
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < TT_REGION_MEMBERS && status == TUTTI_OK; n++)
    status = take_whole(at, &text, &tt_region_members[n], &point->region);
  if (status == TUTTI_OK && !skip_word(&text, ": "))
    return bad(at, "", "has no ': ' between its numbers and its parameters");
  if (status == TUTTI_OK)
    status = take_params(at, text, "params", arena, &point->text);
  lesson->point_count += status == TUTTI_OK;
  return status;
}

static tutti_status read_points(place at, const json_t *from, tt_arena *arena, tt_lesson *lesson) {
  const json_t *points = json_object_get(from, "points");
  int64_t count = (int64_t)json_array_size(points);
  if (!json_is_array(points) || count > TT_POINTS_MOST)
    return bad(&at, "points", json_is_array(points) ? "has too many" : "is not a list");
  if (!(lesson->point = tt_arena_alloc(arena, (size_t)count + 1, sizeof *lesson->point)))
    return no_memory();
  tutti_status status = TUTTI_OK;
  at.list = "points";
  for (at.row = 1; at.row <= count && status == TUTTI_OK; at.row++)
    status = read_point(&at, json_array_get(points, (size_t)at.row - 1), arena, lesson);
  return status;
}

/* ---- a lesson ---- */

static tutti_status read_who(const place *at, const json_t *from, const tt_lessons *lessons, tt_lesson *lesson) {
  const char *name = json_string_value(json_object_get(from, "collective"));
  const char *by = json_string_value(json_object_get(from, "by"));
  lesson->collective = name ? tt_compose_find(name) : TT_COLLECTIVE_COUNT;
  if (lesson->collective == TT_COLLECTIVE_COUNT)
    return bad(at, "collective", "does not name a collective");
  for (int64_t n = 0; n < lessons->count; n++)
    if (lessons->lesson[n].collective == lesson->collective)
      return bad(at, "collective", "is there twice");
  while (lesson->by < TT_TEACHER_COUNT && (!by || strcmp(by, tt_teacher_name[lesson->by]) != 0))
    lesson->by++;
  return lesson->by < TT_TEACHER_COUNT ? TUTTI_OK : bad(at, "by", "is not rules, classifier, nearest or model");
}

static tutti_status read_lesson(const place *at, const json_t *from, tt_lessons *lessons) {
  tt_lesson *lesson = &lessons->lesson[lessons->count];
  tutti_status status = read_who(at, from, lessons, lesson);
  if (status == TUTTI_OK)
    status = read_scores(at, json_object_get(from, "scores"), lesson);
  if (status == TUTTI_OK)
    status = read_region(at, json_object_get(from, "from"), &lesson->least);
  if (status == TUTTI_OK)
    status = read_region(at, json_object_get(from, "to"), &lesson->most);
  if (status == TUTTI_OK)
    status = read_classes(at, from, &lessons->arena, lesson);
  if (status == TUTTI_OK && lesson->classifier.class_count > 0)
    status = read_vectors(*at, from, &lessons->arena, &lesson->classifier);
  if (status == TUTTI_OK)
    status = read_points(*at, from, &lessons->arena, lesson);
  if (status == TUTTI_OK)
    tt_lesson_place_points(lesson);
  lessons->count += status == TUTTI_OK;
  return status;
}

static tutti_status read_all(const tt_json_file *file, const char *path, tt_lessons **made) {
  const json_t *rows = json_object_get(file->root, "collectives");
  const char *machine = json_string_value(json_object_get(file->root, "machine"));
  const char *about = json_string_value(json_object_get(file->root, "about"));
  int64_t count = (int64_t)json_array_size(rows), line[TT_COLLECTIVE_COUNT];
  if (json_integer_value(json_object_get(file->root, "tutti-learned")) != VERSION)
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "\"tutti-learned\" is not %d: another version of tutti wrote the file; remove it to learn anew",
                   VERSION);
  if (!machine || !json_is_array(rows))
    return tt_fail(TUTTI_ERR_ARGUMENT, "it has no \"%s\"", machine ? "collectives" : "machine");
  if (count > TT_COLLECTIVE_COUNT)
    return tt_fail(TUTTI_ERR_ARGUMENT, "it has %" PRId64 " collectives; there are %d", count, TT_COLLECTIVE_COUNT);
  tutti_status status = tt_lessons_create(machine, about ? about : "", made);
  if (status == TUTTI_OK && !((*made)->path = tt_arena_format(&(*made)->arena, "%s", path)))
    status = no_memory();
  tt_json_file_lines(file, "collectives", count, line);
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++) {
    (*made)->lesson[n].line = line[n];
    status = read_lesson(&(place){.lesson = n + 1}, json_array_get(rows, (size_t)n), *made);
    if (status == TUTTI_ERR_ARGUMENT)
      tt_fail_about(status, "line %" PRId64, line[n]);
  }
  return status;
}

tutti_status tt_lessons_read(const char *path, tt_lessons **lessons) {
  tt_json_file file;
  tt_lessons *made = NULL;
  tutti_status status = tt_json_file_open(path, &file);
  if (status == TUTTI_OK)
    status = read_all(&file, path, &made);
  tt_json_file_close(&file);
  if (status == TUTTI_OK) {
    *lessons = made;
    return TUTTI_OK;
  }
  tt_lessons_destroy(made);
  return tt_fail_about(status, "%s", path);
}

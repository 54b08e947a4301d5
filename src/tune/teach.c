/* tune/teach.c - lessons to a file, for people and programs; lessons.c says what it looks like. A vector or a point a
 * line. */
#include "tune/lessons.h"
#include "tune/store.h"
#include "tune/wisdom.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_text(FILE *file, const char *text) {
  json_t *json = json_string(text);
  char *quoted = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
  fputs(quoted ? quoted : "\"\"", file);
  free(quoted);
  json_decref(json);
}

static void put_region(FILE *file, const tt_region *of) {
  for (size_t n = 0; n < TT_REGION_MEMBERS; n++)
    fprintf(file, "%s\"%s\": %" PRId64, n ? ", " : "", tt_region_members[n].name,
            tt_region_number(of, &tt_region_members[n]));
}

static void put_scores(FILE *file, const tt_lesson *of) {
  const char *before = "";
  fputs("\n   \"scores\": {", file);
  for (int t = 0; t < TT_TEACHER_COUNT; t++) {
    const tt_score *score = &of->score[t];
    if (score->cells == 0)
      continue;
    fprintf(file, "%s\"%s\": {\"cells\": %" PRId64 ", \"right\": %.3f, \"regret\": %.4f, \"worst\": %.4f}", before,
            tt_teacher_name[t], score->cells, score->right, score->regret, score->worst);
    before = ", ";
  }
  fputs("},\n   \"from\": {", file);
  put_region(file, &of->least);
  fputs("},\n   \"to\": {", file);
  put_region(file, &of->most);
  fputs("},", file);
}

static void put_reals(FILE *file, const double *value, int64_t count, const char *before) {
  for (int64_t n = 0; n < count; n++)
    fprintf(file, "%s%.17g", n ? ", " : before, value[n]);
}

static void put_classifier(FILE *file, const tt_lesson *of) {
  const tt_classifier *is = &of->classifier;
  fputs("\n   \"classes\": [", file);
  for (int64_t c = 0; c < is->class_count; c++) {
    fputs(c ? ", " : "", file);
    put_text(file, of->class[c]);
  }
  fprintf(file, "], \"gamma\": %.17g, \"vectors_of\": [", is->gamma);
  for (int64_t c = 0; c < is->class_count; c++)
    fprintf(file, "%s%" PRId64, c ? ", " : "", is->vectors_of[c]);
  fputs("], \"rho\": [", file);
  put_reals(file, is->rho, is->class_count * (is->class_count - 1) / 2, "");
  fputs("],\n   \"vectors\": [", file);
  for (int64_t n = 0; n < is->vector_count; n++) {
    fputs(n ? ",\n    [" : "\n    [", file);
    put_reals(file, &is->vector[n * TT_FEATURES], TT_FEATURES, "");
    put_reals(file, &is->weight[n * (is->class_count - 1)], is->class_count - 1, ", ");
    fputs("]", file);
  }
  fputs("],", file);
}

static void put_point(FILE *file, const tt_point *of) {
  char text[1024];
  int length = snprintf(text, sizeof text, "%s", of->simulated ? "model" : "measured");
  for (size_t n = 0; n < TT_REGION_MEMBERS; n++)
    length += snprintf(text + length, sizeof text - (size_t)length, " %" PRId64,
                       tt_region_number(&of->region, &tt_region_members[n]));
  snprintf(text + length, sizeof text - (size_t)length, ": %s", of->text);
  put_text(file, text);
}

static void put_points(FILE *file, const tt_lesson *of) {
  fputs("\n   \"points\": [", file);
  for (int64_t n = 0; n < of->point_count; n++) {
    fputs(n ? ",\n    " : "\n    ", file);
    put_point(file, &of->point[n]);
  }
  fputs("]", file);
}

static bool put_all(FILE *file, const void *user) {
  const tt_lessons *lessons = user;
  fprintf(file, "{\"tutti-learned\": 2, \"machine\": \"%s\", \"about\": ", lessons->machine);
  put_text(file, lessons->about);
  fputs(", \"collectives\": [", file);
  for (int64_t n = 0; n < lessons->count; n++) {
    const tt_lesson *of = &lessons->lesson[n];
    fprintf(file, "%s\n  {\"collective\": \"%s\", \"by\": \"%s\",", n ? "," : "", tt_compose_info(of->collective).name,
            tt_teacher_name[of->by]);
    put_scores(file, of);
    put_classifier(file, of);
    put_points(file, of);
    fputs("}", file);
  }
  fputs("\n]}\n", file);
  return !ferror(file);
}

/* What is not this machine's is left alone. */
static tutti_status check_before(const char *path, const char *machine) {
  tt_lessons *before = NULL;
  if (tt_store_is_missing(path))
    return TUTTI_OK;
  tutti_status status = tt_lessons_read(path, &before);
  if (status == TUTTI_OK && strcmp(before->machine, machine) != 0)
    status = tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: it is of machine %s, and this is %s; it is left alone", path,
                     before->machine, machine);
  tt_lessons_destroy(before);
  return status;
}

tutti_status tt_lessons_write(const char *path, const tt_lessons *lessons) {
  int lock;
  tutti_status status = tt_store_lock(path, &lock);
  if (status != TUTTI_OK)
    return status;
  status = check_before(path, lessons->machine);
  if (status == TUTTI_OK)
    status = tt_store_replace(path, put_all, lessons);
  tt_store_unlock(lock);
  return status;
}

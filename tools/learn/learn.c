/* tools/learn/learn.c - samples -> cells -> the model's choices -> lessons, one for each collective -> a table for
 * people, learned.all.json, and what of it jobs need: learned.json. What the model has said before is kept: it stands
 * in the former. */
#include "learn.h"
#include "model.h"
#include "svm.h"
#include "teach.h"

#include "job/job.h"
#include "tools/tune/samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOWER 1.1 /* what the classifier did not say, than what it said */

typedef struct learning {
  char path[TT_WISDOM_PATH + 32]; /* of the lessons */
  char path_of_all[TT_WISDOM_PATH + 32];
  learn_book book;
  tt_lessons *before; /* what the file has; NULL: there is none */
  tt_lessons *made;
} learning;

/* ---- what the file has ---- */

/* Of ranks that were not measured. How long each text was predicted to take is gone; the classifier learned from it. */
static learn_cell *add_predicted(learn_book *book, const tt_lesson *before, const tt_region *region) {
  const learn_pool *pool = &book->pool[region->collective];
  const char *said = tt_lesson_ask(before, TT_TEACHER_CLASSIFIER, region);
  learn_cell *cell = learn_book_add(book, region);
  for (int k = 0; cell && k < pool->count; k++)
    cell->pool_ns[k] = said && strcmp(pool->text[k], said) == 0 ? 1 : SLOWER;
  if (cell)
    cell->best_ns = 1;
  return cell;
}

static bool recall_point(learn_book *book, const tt_lesson *before, const tt_point *point) {
  if (!point->simulated)
    return true;
  learn_cell *cell = learn_book_find(book, &point->region);
  if (!cell && !(cell = add_predicted(book, before, &point->region)))
    return false;
  cell->model = point->text;
  cell->model_ns = learn_cell_time(cell, NULL, point->text);
  return true;
}

static tutti_status recall(learning *of) {
  bool good = true;
  for (int64_t n = 0; good && of->before && n < of->before->count; n++) {
    const tt_lesson *before = &of->before->lesson[n];
    for (int64_t p = 0; good && p < before->point_count; p++)
      good = recall_point(&of->book, before, &before->point[p]);
  }
  return good ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for cells");
}

static tutti_status begin(const char *wisdom, const char *machine, bool again, learning *of) {
  char samples[TUNE_SAMPLES_PATH], about[200], day[32];
  time_t now = time(NULL);
  strftime(day, sizeof day, "%Y-%m-%d", localtime(&now));
  snprintf(about, sizeof about, "tutti " TUTTI_VERSION ", %s", day);
  tune_samples_path(wisdom, samples);
  tt_lessons_path(wisdom, of->path);
  tt_lessons_path_of_all(wisdom, of->path_of_all);
  tutti_status status = learn_book_open(samples, machine, &of->book);
  if (status == TUTTI_OK && access(of->path_of_all, F_OK) == 0 && !again)
    status = tt_lessons_read(of->path_of_all, &of->before);
  if (status == TUTTI_OK)
    status = recall(of);
  return status == TUTTI_OK ? tt_lessons_create(machine, about, &of->made) : status;
}

static void end(learning *of) {
  tt_lessons_destroy(of->made);
  tt_lessons_destroy(of->before);
  learn_book_close(&of->book);
}

/* ---- for people ---- */

static void print_head(void) {
  printf("\n  what was not seen is chosen by:   part of the best, regret (mean, worst)\n\n  %-15s %5s", "collective",
         "cells");
  for (int t = 0; t < TT_TEACHER_COUNT; t++)
    printf("  %-17s", tt_teacher_name[t]);
  printf("  used\n");
}

static void print_lesson(const tt_lesson *of) {
  printf("  %-15s %5" PRId64, tt_compose_info(of->collective).name, of->score[TT_TEACHER_RULES].cells);
  for (int t = 0; t < TT_TEACHER_COUNT; t++)
    if (of->score[t].cells > 0)
      printf("  %3.0f%% %5.3f %6.2f", 100 * of->score[t].right, of->score[t].regret, of->score[t].worst);
    else
      printf("  %-17s", "-");
  printf("  %s\n", tt_teacher_name[of->by]);
}

/* ---- lessons ---- */

static tutti_status teach_all(learning *of) {
  tutti_status status = TUTTI_OK;
  for (int c = 0; c < TT_COLLECTIVE_COUNT && status == TUTTI_OK; c++) {
    tt_lesson *lesson = &of->made->lesson[of->made->count];
    *lesson = (tt_lesson){.collective = (tt_collective)c};
    status = learn_teach(&of->book, &of->made->arena, lesson);
    of->made->count += status == TUTTI_OK && lesson->score[TT_TEACHER_RULES].cells > 0;
  }
  return status;
}

static tutti_status write_both(learning *of) {
  tutti_status status = tt_lessons_write(of->path_of_all, of->made);
  tt_lessons_prune(of->made);
  return status == TUTTI_OK ? tt_lessons_write(of->path, of->made) : status;
}

static tutti_status finish(learning *of, bool says) {
  tutti_status status = teach_all(of);
  if (status != TUTTI_OK)
    return status;
  if (says && of->made->count == 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "no collective has %d cells with samples: run `tutti tune` first",
                   LEARN_CELLS_LEAST);
  if (of->made->count == 0)
    return TUTTI_OK;
  print_head();
  for (int64_t n = 0; n < of->made->count; n++)
    print_lesson(&of->made->lesson[n]);
  if (!learn_svm_is_there())
    puts("\n  no classifier: this tutti was built without libsvm (libsvm-dev)");
  if (of->book.wrong > 0)
    printf("\n  %" PRId64 " lines of samples were not understood\n", of->book.wrong);
  printf("\nwhat was learned of machine %s goes to %s\n", of->made->machine, of->path);
  return write_both(of);
}

/* ---- all ---- */

tutti_status learn_run(tune_ranks *all, const tune_options *options, const char *wisdom, const char *machine) {
  learning of = {.before = NULL};
  tutti_status status = begin(wisdom, machine, options->again, &of);
  if (status == TUTTI_OK)
    status = learn_model_ask(all, options, wisdom, machine, &of.book);
  if (status == TUTTI_OK)
    status = finish(&of, true);
  end(&of);
  return status;
}

tutti_status learn_again(const char *wisdom, const char *machine) {
  learning of = {.before = NULL};
  tutti_status status = begin(wisdom, machine, false, &of);
  if (status == TUTTI_OK)
    status = finish(&of, false);
  end(&of);
  return status;
}

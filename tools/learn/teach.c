/* tools/learn/teach.c - five-fold cross-validation of all that could choose parameters: the rules, a classifier, the
 * nearest cell that was measured, the simulator's first.
 *
 * The classifier's classes are few: one after another the text that makes what is chosen best of the classes so far
 * fastest. Its cost and gamma are found by cross-validation inside what it may see, so that what is held out stays
 * unseen. Cells that were only simulated are seen always and held out never. */
#include "teach.h"
#include "svm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS 5
#define GAIN 0.995 /* of the mean time: what a further class is worth */
#define CLASSES 6  /* at most */
#define RIGHT 1.02 /* times the best: nobody could tell them apart */

typedef struct class_set {
  int text[TT_CLASSES]; /* numbers in the pool */
  int count;
} class_set;

typedef struct pupil {     /* what is seen, and what comes of it */
  const tt_lesson *lesson; /* its range */
  const learn_pool *pool;
  learn_cell *const *cell; /* all of the collective; the measured ones first */
  const bool *seen;
  int64_t count;
  tt_arena *arena;
  class_set classes;
  int text[TT_CLASSES]; /* of the classifier's classes, in the pool */
  tt_classifier classifier;
} pupil;

/* ---- classes ---- */

static double best_of(const learn_cell *cell, const class_set *classes, int *class) {
  int best = 0;
  for (int c = 1; c < classes->count; c++)
    if (cell->pool_ns[classes->text[c]] < cell->pool_ns[classes->text[best]])
      best = c;
  *class = best;
  return cell->pool_ns[classes->text[best]];
}

/* The mean logarithm of what is chosen best. */
static double cost_of(const pupil *of, const class_set *classes) {
  double sum = 0;
  int64_t seen = 0;
  int class;
  for (int64_t n = 0; n < of->count; n++) {
    if (!of->seen[n])
      continue;
    sum += log(best_of(of->cell[n], classes, &class) / of->cell[n]->best_ns);
    seen++;
  }
  return seen > 0 ? sum / (double)seen : 0;
}

static void choose_classes(pupil *of) {
  of->classes = (class_set){.text = {0}, .count = 1}; /* the rules */
  double before = cost_of(of, &of->classes);
  while (of->classes.count < CLASSES) {
    class_set more = of->classes, best = of->classes;
    double least = before;
    more.count++;
    for (int k = 1; k < of->pool->count; k++) {
      more.text[more.count - 1] = k;
      double cost = cost_of(of, &more);
      best = cost < least ? more : best;
      least = fmin(least, cost);
    }
    if (best.count == of->classes.count || least > before + log(GAIN))
      return;
    of->classes = best;
    before = least;
  }
}

/* ---- the classifier ---- */

static int64_t list_examples(const pupil *of, int64_t without, learn_example *example) {
  int64_t count = 0;
  for (int64_t n = 0; n < of->count && count < TT_VECTORS_MOST; n++) {
    if (!of->seen[n] || (without >= 0 && of->cell[n]->measured && n % FOLDS == without))
      continue;
    tt_lesson_place(of->lesson, &of->cell[n]->region, example[count].at);
    best_of(of->cell[n], &of->classes, &example[count].class);
    count++;
  }
  return count;
}

static tutti_status train(pupil *of, int64_t without, double cost, double gamma) {
  learn_example *example = calloc(TT_VECTORS_MOST, sizeof *example);
  int label[TT_CLASSES];
  if (!example)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for what is learned from");
  int64_t count = list_examples(of, without, example);
  tutti_status status = learn_svm_train(example, count, cost, gamma, of->arena, &of->classifier, label);
  for (int c = 0; status == TUTTI_OK && c < of->classifier.class_count; c++)
    of->text[c] = of->classes.text[label[c]];
  free(example);
  return status;
}

static int ask_classifier(const pupil *of, const learn_cell *cell) {
  double at[TT_FEATURES];
  tt_lesson_place(of->lesson, &cell->region, at);
  return of->text[tt_classify(&of->classifier, at)];
}

/* How it does on what it is not shown of what it may see. */
static tutti_status try_numbers(pupil *of, double cost, double gamma, double *regret) {
  tutti_status status = TUTTI_OK;
  *regret = 0;
  for (int64_t fold = 0; fold < FOLDS && status == TUTTI_OK; fold++) {
    status = train(of, fold, cost, gamma);
    for (int64_t n = 0; n < of->count && status == TUTTI_OK; n++)
      if (of->seen[n] && of->cell[n]->measured && n % FOLDS == fold)
        *regret += log(of->cell[n]->pool_ns[ask_classifier(of, of->cell[n])] / of->cell[n]->best_ns);
  }
  return status;
}

static tutti_status learn(pupil *of) {
  static const double costs[] = {1, 10, 100}, gammas[] = {0.25, 1, 4};
  double best[2] = {costs[0], gammas[0]}, least = INFINITY, regret;
  tutti_status status = TUTTI_OK;
  choose_classes(of);
  for (size_t n = 0; n < TT_COUNT(costs) * TT_COUNT(gammas) && status == TUTTI_OK; n++) {
    const double numbers[2] = {costs[n / TT_COUNT(gammas)], gammas[n % TT_COUNT(gammas)]};
    status = try_numbers(of, numbers[0], numbers[1], &regret);
    if (status != TUTTI_OK || regret >= least)
      continue;
    least = regret;
    memcpy(best, numbers, sizeof best);
  }
  return status == TUTTI_OK ? train(of, -1, best[0], best[1]) : status;
}

/* ---- the nearest ---- */

/* The pool has not all that was the best somewhere. */
static double time_of(const learn_pool *pool, learn_cell *cell, const char *text) {
  for (int k = 0; k < pool->count; k++)
    if (strcmp(pool->text[k], text) == 0)
      return cell->pool_ns[k];
  return learn_cell_time(cell, NULL, text);
}

/* As tt_lesson_ask does. */
static const char *ask_nearest(const pupil *of, const learn_cell *cell) {
  double at[TT_FEATURES], other[TT_FEATURES], nearest = INFINITY;
  const char *text = "";
  tt_lesson_place(of->lesson, &cell->region, at);
  for (int64_t n = 0; n < of->count; n++) {
    double square = 0;
    if (!of->seen[n] || !of->cell[n]->measured)
      continue;
    tt_lesson_place(of->lesson, &of->cell[n]->region, other);
    for (int k = 0; k < TT_FEATURES; k++)
      square += (at[k] - other[k]) * (at[k] - other[k]);
    if (square < nearest) {
      nearest = square;
      text = of->cell[n]->best;
    }
  }
  return text;
}

/* ---- scores ---- */

static void count_one(tt_score *score, double time_ns, double best_ns) {
  double ratio = fmax(1, time_ns / best_ns);
  score->right += ratio <= RIGHT;
  score->regret += log(ratio);
  score->worst = fmax(score->worst, ratio);
  score->cells++;
}

static tutti_status try_fold(pupil *of, bool *seen, int64_t fold, int64_t measured, tt_score *score) {
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < of->count; n++)
    seen[n] = n >= measured || n % FOLDS != fold;
  if (learn_svm_is_there())
    status = learn(of);
  for (int64_t n = fold; n < measured && status == TUTTI_OK; n += FOLDS) {
    learn_cell *cell = of->cell[n];
    count_one(&score[TT_TEACHER_RULES], cell->rules_ns, cell->best_ns);
    count_one(&score[TT_TEACHER_NEAREST], time_of(of->pool, cell, ask_nearest(of, cell)), cell->best_ns);
    if (learn_svm_is_there())
      count_one(&score[TT_TEACHER_CLASSIFIER], cell->pool_ns[ask_classifier(of, cell)], cell->best_ns);
    if (cell->model)
      count_one(&score[TT_TEACHER_MODEL], cell->model_ns, cell->best_ns);
  }
  return status;
}

/* Whoever was not asked everywhere is not compared. */
static void decide(int64_t measured, tt_lesson *lesson) {
  lesson->by = TT_TEACHER_RULES;
  for (int t = 0; t < TT_TEACHER_COUNT; t++) {
    tt_score *score = &lesson->score[t];
    if (score->cells < measured)
      *score = (tt_score){.cells = 0};
    if (score->cells == 0)
      continue;
    score->right /= (double)score->cells;
    score->regret = exp(score->regret / (double)score->cells);
    if (score->regret < lesson->score[lesson->by].regret)
      lesson->by = (tt_teacher)t;
  }
}

/* ---- the lesson ---- */

static void widen(tt_lesson *lesson, const tt_region *with) {
  int64_t *least[] = {&lesson->least.bytes, &lesson->least.rank_count, &lesson->least.node_count,
                      &lesson->least.ranks_per_node, &lesson->least.nic_count};
  int64_t *most[] = {&lesson->most.bytes, &lesson->most.rank_count, &lesson->most.node_count,
                     &lesson->most.ranks_per_node, &lesson->most.nic_count};
  const int64_t is[] = {with->bytes, with->rank_count, with->node_count, with->ranks_per_node, with->nic_count};
  for (size_t n = 0; n < TT_COUNT(is); n++) {
    *least[n] = is[n] < *least[n] ? is[n] : *least[n];
    *most[n] = is[n] > *most[n] ? is[n] : *most[n];
  }
}

static tutti_status keep_points(const pupil *of, tt_arena *arena, tt_lesson *lesson) {
  lesson->point = tt_arena_alloc(arena, 2 * (size_t)of->count + 1, sizeof *lesson->point);
  if (!lesson->point)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a lesson");
  for (int64_t n = 0; n < of->count && lesson->point_count + 2 <= TT_POINTS_MOST; n++) {
    const learn_cell *cell = of->cell[n];
    if (cell->measured)
      lesson->point[lesson->point_count++] = (tt_point){.region = cell->region, .text = cell->best};
    if (cell->model)
      lesson->point[lesson->point_count++] = (tt_point){.region = cell->region, .simulated = true, .text = cell->model};
  }
  return TUTTI_OK;
}

static tutti_status keep_classifier(pupil *of, tt_lesson *lesson) {
  if (!learn_svm_is_there())
    return TUTTI_OK;
  tutti_status status = learn(of);
  for (int c = 0; status == TUTTI_OK && c < of->classifier.class_count; c++)
    lesson->class[c] = of->pool->text[of->text[c]];
  lesson->classifier = of->classifier;
  return status;
}

static tutti_status teach(pupil *of, bool *seen, int64_t measured, tt_arena *arena, tt_lesson *lesson) {
  tutti_status status = TUTTI_OK;
  for (int64_t fold = 0; fold < FOLDS && status == TUTTI_OK; fold++)
    status = try_fold(of, seen, fold, measured, lesson->score);
  if (status != TUTTI_OK)
    return status;
  decide(measured, lesson);
  memset(seen, true, (size_t)of->count);
  status = keep_classifier(of, lesson);
  return status == TUTTI_OK ? keep_points(of, arena, lesson) : status;
}

/* The measured ones first, in a random order, but always in the same: folds are no neighbors. Returns how many they
 * are. */
static int64_t list_cells(const learn_book *book, tt_collective collective, learn_cell **cell, int64_t *count) {
  int64_t measured = 0;
  tt_random random;
  tt_random_init(&random, 1);
  *count = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int64_t n = 0; n < book->count; n++)
      if (book->cell[n].region.collective == collective && book->cell[n].measured == (pass == 0)) {
        cell[(*count)++] = &book->cell[n];
        measured += pass == 0;
      }
  tt_random_shuffle(&random, cell, measured, sizeof *cell);
  return measured;
}

tutti_status learn_teach(const learn_book *book, tt_arena *arena, tt_lesson *lesson) {
  int64_t count, measured;
  learn_cell **cell = calloc((size_t)book->count + 1, sizeof *cell);
  bool *seen = calloc((size_t)book->count + 1, sizeof *seen);
  tutti_status status = cell && seen ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for a lesson");
  if (status == TUTTI_OK) {
    measured = list_cells(book, lesson->collective, cell, &count);
    lesson->least = lesson->most = cell[0] ? cell[0]->region : (tt_region){.bytes = 0};
    for (int64_t n = 0; n < count; n++)
      widen(lesson, &cell[n]->region);
    pupil of = {.lesson = lesson,
                .pool = &book->pool[lesson->collective],
                .cell = cell,
                .seen = seen,
                .count = count,
                .arena = arena};
    if (measured >= LEARN_CELLS_LEAST)
      status = teach(&of, seen, measured, arena, lesson);
  }
  free(cell);
  free(seen);
  return status;
}

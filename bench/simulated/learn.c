/* bench/simulated/learn.c - how well a classifier says which of two plans is faster where it has not seen it.
 *
 * Reads cells, a line each: COLLECTIVE BYTES NODES PER_NODE NICS RING_US HALVING_US. For each collective, of the cells
 * that either wins four fifths are seen and one fifth is held out (a stratified split, in an order that is always the
 * same). Cost and gamma are found by five-fold cross-validation inside what is seen. The classifier and its features
 * are those of `tutti tune --learn` (tools/learn/svm.c, tune/classify.c). Prints a row for each collective. */
#include "../../tools/learn/svm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MOST = 4096, FOLDS = 5 };

typedef struct cell {
  tt_region region;
  double time_us[2]; /* of the ring, and of halving */
  bool held_out;
} cell;

typedef struct cells {
  cell of[CELLS_MOST];
  int count;
  tt_lesson range;
  tt_arena arena;
} cells;

typedef struct judged {
  double right, regret, worst;
  int count;
} judged;

static int faster(const cell *of) { return of->time_us[1] < of->time_us[0]; }

static void judge(const cell *of, int class, judged *to) {
  double ratio = of->time_us[class] / of->time_us[faster(of)];
  to->right += class == faster(of);
  to->regret += log(ratio);
  to->worst = fmax(to->worst, ratio);
  to->count++;
}

/* ---- cells ---- */

static void widen(tt_lesson *range, const tt_region *with) {
  int64_t *least[] = {&range->least.bytes, &range->least.rank_count, &range->least.node_count,
                      &range->least.ranks_per_node, &range->least.nic_count};
  int64_t *most[] = {&range->most.bytes, &range->most.rank_count, &range->most.node_count, &range->most.ranks_per_node,
                     &range->most.nic_count};
  const int64_t is[] = {with->bytes, with->rank_count, with->node_count, with->ranks_per_node, with->nic_count};
  for (size_t n = 0; n < TT_COUNT(is); n++) {
    *least[n] = is[n] < *least[n] ? is[n] : *least[n];
    *most[n] = is[n] > *most[n] ? is[n] : *most[n];
  }
}

static void read_cells(FILE *file, cells *all) {
  char name[64];
  long bytes, nodes, per_node, nics;
  double ring_us, halving_us;
  while (fscanf(file, "%63s %ld %ld %ld %ld %lf %lf", name, &bytes, &nodes, &per_node, &nics, &ring_us, &halving_us) ==
         7) {
    cells *to = &all[tt_compose_find(name)];
    if (to == &all[TT_COLLECTIVE_COUNT] || to->count == CELLS_MOST)
      continue;
    cell *one = &to->of[to->count++];
    *one = (cell){.region = {.bytes = bytes,
                             .rank_count = nodes * per_node,
                             .node_count = nodes,
                             .ranks_per_node = per_node,
                             .nic_count = nics},
                  .time_us = {ring_us, halving_us}};
    if (to->count == 1)
      to->range.least = to->range.most = one->region;
    widen(&to->range, &one->region);
  }
}

/* Every fifth of those that one class wins. */
static void split(cells *all) {
  int seen[2] = {0, 0};
  for (int n = 0; n < all->count; n++)
    all->of[n].held_out = seen[faster(&all->of[n])]++ % FOLDS == FOLDS - 1;
}

/* ---- the classifier ---- */

typedef struct trained {
  tt_classifier classifier;
  int label[TT_CLASSES];
} trained;

/* Without those whose number modulo FOLDS is `without`; -1: all that are seen. */
static tutti_status train(cells *all, int without, double cost, double gamma, trained *made) {
  learn_example *example = calloc(CELLS_MOST, sizeof *example);
  int64_t count = 0;
  if (!example)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for what is learned from");
  for (int n = 0; n < all->count; n++) {
    if (all->of[n].held_out || n % FOLDS == without)
      continue;
    tt_lesson_place(&all->range, &all->of[n].region, example[count].at);
    example[count++].class = faster(&all->of[n]);
  }
  tutti_status status = learn_svm_train(example, count, cost, gamma, &all->arena, &made->classifier, made->label);
  free(example);
  return status;
}

static int ask(const cells *all, const trained *of, const cell *about) {
  double at[TT_FEATURES];
  tt_lesson_place(&all->range, &about->region, at);
  return of->label[tt_classify(&of->classifier, at)];
}

static double regret_of(cells *all, double cost, double gamma) {
  judged found = {.count = 0};
  trained made;
  for (int fold = 0; fold < FOLDS; fold++) {
    if (train(all, fold, cost, gamma, &made) != TUTTI_OK)
      return INFINITY;
    for (int n = 0; n < all->count; n++)
      if (!all->of[n].held_out && n % FOLDS == fold)
        judge(&all->of[n], ask(all, &made, &all->of[n]), &found);
  }
  return found.regret;
}

static tutti_status learn(cells *all, trained *made) {
  static const double costs[] = {1, 10, 100, 1000}, gammas[] = {0.25, 1, 4};
  double best[2] = {costs[0], gammas[0]}, least = INFINITY;
  for (size_t n = 0; n < TT_COUNT(costs) * TT_COUNT(gammas); n++) {
    double cost = costs[n / TT_COUNT(gammas)], gamma = gammas[n % TT_COUNT(gammas)];
    double regret = regret_of(all, cost, gamma);
    if (regret < least) {
      least = regret;
      best[0] = cost;
      best[1] = gamma;
    }
  }
  return train(all, -1, best[0], best[1], made);
}

/* ---- the table ---- */

static void print_judged(const judged *of) {
  printf(" %.1f %% | %.3f | %.2f |", 100 * of->right / of->count, exp(of->regret / of->count), of->worst);
}

static tutti_status print_row(const char *name, cells *all) {
  trained made;
  judged by_classifier = {.count = 0}, by_one[2] = {{.count = 0}, {.count = 0}};
  tt_random random;
  tt_random_init(&random, 1);
  tt_random_shuffle(&random, all->of, all->count, sizeof *all->of);
  split(all);
  tutti_status status = learn(all, &made);
  for (int n = 0; n < all->count && status == TUTTI_OK; n++) {
    if (!all->of[n].held_out)
      continue;
    judge(&all->of[n], ask(all, &made, &all->of[n]), &by_classifier);
    for (int class = 0; class < 2; class ++)
      judge(&all->of[n], class, &by_one[class]);
  }
  if (status != TUTTI_OK)
    return status;
  printf("| %s | %d | %d |", name, all->count - by_classifier.count, by_classifier.count);
  print_judged(&by_classifier);
  print_judged(&by_one[0]);
  print_judged(&by_one[1]);
  puts("");
  return TUTTI_OK;
}

int main(void) {
  static cells all[TT_COLLECTIVE_COUNT + 1];
  tutti_status status = TUTTI_OK;
  read_cells(stdin, all);
  puts("| collective | seen | held out | classifier: right | regret | worst | always the ring: right | regret | worst "
       "| always halving: right | regret | worst |\n|---|---|---|---|---|---|---|---|---|---|---|---|");
  for (int c = 0; c < TT_COLLECTIVE_COUNT && status == TUTTI_OK; c++) {
    tt_arena_init(&all[c].arena);
    if (all[c].count > 0)
      status = print_row(tt_compose_info((tt_collective)c).name, &all[c]);
    tt_arena_finish(&all[c].arena);
  }
  if (status != TUTTI_OK)
    fprintf(stderr, "simulated_learn: %s\n", tutti_last_error());
  return status != TUTTI_OK;
}

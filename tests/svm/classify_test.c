/* tests/svm/classify_test.c - what tt_classify says is what libsvm's svm_predict says, of the same model: for two to
 * six classes, clean ones and mixed ones. Where two classes are as good as equal, a last bit may decide otherwise. */
#include "../../tools/learn/svm.h"

#include <libsvm/svm.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EXAMPLES = 120, ASKED = 2000 };

static void say_nothing(const char *text) { (void)text; }

static void draw(tt_random *random, double at[static TT_FEATURES]) {
  for (int k = 0; k < TT_FEATURES; k++)
    at[k] = (double)tt_random_below(random, 2001) / 1000 - 1;
}

/* By the first coordinates; some at random. */
static int class_of(tt_random *random, const double *at, int classes, bool mixed) {
  int band = (int)((at[0] + at[1] + 2) / 4 * classes);
  if (mixed && tt_random_below(random, 4) == 0)
    band = (int)tt_random_below(random, (uint64_t)classes);
  return band < classes ? band : classes - 1;
}

static void set_nodes(const double *at, struct svm_node *node) {
  for (int k = 0; k < TT_FEATURES; k++)
    node[k] = (struct svm_node){.index = k + 1, .value = at[k]};
  node[TT_FEATURES] = (struct svm_node){.index = -1};
}

/* The same training as svm.c's. */
static struct svm_model *model_of(const learn_example *example, double cost, double gamma) {
  static struct svm_node node[EXAMPLES][TT_FEATURES + 1], *row[EXAMPLES]; /* the model points to them */
  static double class[EXAMPLES];
  static const struct svm_parameter usual = {
      .svm_type = C_SVC, .kernel_type = RBF, .cache_size = 16, .eps = 1e-3, .shrinking = 1};
  struct svm_parameter how = usual;
  how.C = cost;
  how.gamma = gamma;
  for (int n = 0; n < EXAMPLES; n++) {
    set_nodes(example[n].at, node[n]);
    row[n] = node[n];
    class[n] = example[n].class;
  }
  svm_set_print_string_function(say_nothing);
  return svm_train(&(struct svm_problem){.l = EXAMPLES, .y = class, .x = row}, &how);
}

static double least_margin(const struct svm_model *model, const struct svm_node *node) {
  double value[TT_PAIRS], least = INFINITY;
  svm_predict_values(model, node, value);
  for (int n = 0; n < model->nr_class * (model->nr_class - 1) / 2; n++)
    least = fmin(least, fabs(value[n]));
  return least;
}

static void compare(int classes, bool mixed, double cost, double gamma, int met[static TT_CLASSES]) {
  static learn_example example[EXAMPLES];
  struct svm_node node[TT_FEATURES + 1];
  int label[TT_CLASSES];
  tt_classifier made;
  tt_random random;
  tt_arena arena;
  tt_arena_init(&arena);
  tt_random_init(&random, (uint64_t)(classes + 10 * mixed));
  for (int n = 0; n < EXAMPLES; n++) {
    draw(&random, example[n].at);
    example[n].class = class_of(&random, example[n].at, classes, mixed);
  }
  struct svm_model *model = model_of(example, cost, gamma);
  assert_int_equal(learn_svm_train(example, EXAMPLES, cost, gamma, &arena, &made, label), TUTTI_OK);
  assert_int_equal(made.class_count, classes);
  for (int n = 0; n < ASKED; n++) {
    double at[TT_FEATURES];
    draw(&random, at);
    set_nodes(at, node);
    int said = label[tt_classify(&made, at)], expected = (int)svm_predict(model, node);
    if (said != expected && least_margin(model, node) > 1e-9)
      fail_msg("%d classes: libsvm says %d, tt_classify %d", classes, expected, said);
    met[expected]++;
  }
  svm_free_and_destroy_model(&model);
  tt_arena_finish(&arena);
}

static void test_it_says_what_libsvm_says(void **state) {
  (void)state;
  static const double costs[] = {1, 100}, gammas[] = {0.25, 4};
  for (int classes = 2; classes <= 6; classes++) {
    int met[TT_CLASSES] = {0};
    for (size_t n = 0; n < 8; n++)
      compare(classes, n / 4, costs[n % 2], gammas[n / 2 % 2], met);
    for (int c = 0; c < classes; c++)
      assert_true(met[c] > 0);
  }
}

/* libsvm has no vectors for what is only one. */
static void test_one_class_is_always_chosen(void **state) {
  (void)state;
  learn_example example[3] = {{{0.5}, 4}, {{-0.5}, 4}, {{0}, 4}};
  const double at[TT_FEATURES] = {1};
  int label[TT_CLASSES];
  tt_classifier made;
  tt_arena arena;
  tt_arena_init(&arena);
  assert_int_equal(learn_svm_train(example, 3, 1, 1, &arena, &made, label), TUTTI_OK);
  assert_int_equal(made.class_count, 1);
  assert_int_equal(label[tt_classify(&made, at)], 4);
  tt_arena_finish(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_says_what_libsvm_says),
                                     cmocka_unit_test(test_one_class_is_always_chosen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

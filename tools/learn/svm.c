/* tools/learn/svm.c - see svm.h. */
#include "svm.h"

#include <libsvm/svm.h>
#include <stdlib.h>
#include <string.h>

bool learn_svm_is_there(void) { return true; }

static void say_nothing(const char *text) { (void)text; }

/* Numbers from 1; one more ends them. */
static void set_nodes(const learn_example *of, struct svm_node *node) {
  for (int k = 0; k < TT_FEATURES; k++)
    node[k] = (struct svm_node){.index = k + 1, .value = of->at[k]};
  node[TT_FEATURES] = (struct svm_node){.index = -1};
}

/* libsvm leaves out what is 0 in files only: here each vector has all features. */
static tutti_status take(const struct svm_model *model, tt_arena *arena, tt_classifier *made,
                         int label[static TT_CLASSES]) {
  int classes = model->nr_class, vectors = classes > 1 ? model->l : 0;
  *made = (tt_classifier){.class_count = classes, .vector_count = vectors, .gamma = model->param.gamma};
  made->vector = tt_arena_alloc(arena, (size_t)vectors + 1, TT_FEATURES * sizeof *made->vector);
  made->weight = tt_arena_alloc(arena, (size_t)vectors + 1, TT_CLASSES * sizeof *made->weight);
  if (!made->vector || !made->weight)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a classifier");
  for (int c = 0; c < classes; c++) {
    label[c] = model->label[c];
    made->vectors_of[c] = classes > 1 ? model->nSV[c] : 0;
  }
  for (int n = 0; n < classes * (classes - 1) / 2; n++)
    made->rho[n] = model->rho[n];
  for (int v = 0; v < vectors; v++) {
    for (int k = 0; k < TT_FEATURES; k++)
      made->vector[v * TT_FEATURES + k] = model->SV[v][k].value;
    for (int c = 0; c + 1 < classes; c++)
      made->weight[v * (classes - 1) + c] = model->sv_coef[c][v];
  }
  return TUTTI_OK;
}

tutti_status learn_svm_train(const learn_example *example, int64_t count, double cost, double gamma, tt_arena *arena,
                             tt_classifier *made, int label[static TT_CLASSES]) {
  struct svm_node *node = calloc((size_t)count * (TT_FEATURES + 1), sizeof *node),
                  **row = calloc((size_t)count, sizeof *row);
  double *class = calloc((size_t)count, sizeof *class);
  const struct svm_parameter how = {
      .svm_type = C_SVC, .kernel_type = RBF, .gamma = gamma, .cache_size = 16, .eps = 1e-3, .C = cost, .shrinking = 1};
  tutti_status status = node && row && class ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory to train a classifier");
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++) {
    row[n] = &node[n * (TT_FEATURES + 1)];
    set_nodes(&example[n], row[n]);
    class[n] = example[n].class;
  }
  if (status == TUTTI_OK) {
    svm_set_print_string_function(say_nothing);
    struct svm_model *model = svm_train(&(struct svm_problem){.l = (int)count, .y = class, .x = row}, &how);
    status = take(model, arena, made, label);
    svm_free_and_destroy_model(&model);
  }
  free(node);
  free(row);
  free(class);
  return status;
}

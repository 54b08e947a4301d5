/* tools/learn/svm.h - libsvm trains, where this tutti was built with it. tune/classify.c asks what it has trained. */
#ifndef TUTTI_TOOLS_LEARN_SVM_H
#define TUTTI_TOOLS_LEARN_SVM_H

#include "tune/lessons.h"

typedef struct learn_example {
  double at[TT_FEATURES];
  int class;
} learn_example;

bool learn_svm_is_there(void);
/* C-SVC with radial basis functions. label: the classes in the order in which the classifier has them. The numbers are
 * in the arena. TUTTI_ERR_UNSUPPORTED: there is no libsvm. */
tutti_status learn_svm_train(const learn_example *example, int64_t count, double cost, double gamma, tt_arena *arena,
                             tt_classifier *made, int label[static TT_CLASSES]);

#endif

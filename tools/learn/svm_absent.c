/* tools/learn/svm_absent.c - stands for svm.c where there is no libsvm. */
#include "svm.h"

bool learn_svm_is_there(void) { return false; }

tutti_status learn_svm_train(const learn_example *example, int64_t count, double cost, double gamma, tt_arena *arena,
                             tt_classifier *made, int label[static TT_CLASSES]) {
  (void)example, (void)count, (void)cost, (void)gamma, (void)arena, (void)made, (void)label;
  return tt_fail(TUTTI_ERR_UNSUPPORTED, "this tutti was built without libsvm");
}

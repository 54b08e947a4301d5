/* tools/learn/model.h - what the simulator would choose, and how long that took where it was measured. */
#ifndef TUTTI_TOOLS_LEARN_MODEL_H
#define TUTTI_TOOLS_LEARN_MODEL_H

#include "book.h"

#include "tools/tune/options.h"
#include "tools/tune/ranks.h"

/* Goes through communicators of each number of ranks: cells of the book that have that shape find out which texts run
 * alike; where the machine's rates are known the model is asked, and cells that were not measured are added with what
 * it predicts. A cell that the model was asked before stays as it is. */
tutti_status learn_model_ask(tune_ranks *all, const tune_options *options, const char *wisdom, const char *machine,
                             learn_book *book);

#endif
